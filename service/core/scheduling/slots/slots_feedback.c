/*
 * The policies with feedback of B. Ghit and D. Epema, "Reducing job slowdown variability for
 * data-intensive workloads", MASCOTS 2015: a job enters the first queue and goes on to the next one
 * each time its service has reached the sum of the limits so far. "fbq" serves the first queue
 * first, "tags" gives each queue slots of its own.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/scheduling/slots/slots_queues.h"

/* A job that crosses, and its queue and place there. */
struct crossing {
    uint64_t standing;
    size_t job;
};

struct feedback {
    struct slots_queues queues;
    double *reached_s;          /* by queue: the service at which a job leaves it */
    struct crossing *crossings; /* room for all jobs */
};

static enum pv_code begin(const struct slots_view *view,
                          const struct slots_terms *terms,
                          bool divided,
                          struct arena *arena,
                          void **state,
                          struct pv_error *err)
{
    struct feedback *feedback = arena_calloc(arena, 1, sizeof *feedback);
    double sum = 0;
    assert(terms->n_limits > 0);
    if (feedback == NULL)
        return pv_no_memory(err);
    feedback->reached_s = arena_array(arena, terms->n_limits + 1, sizeof *feedback->reached_s);
    feedback->crossings = arena_array(arena, view->n_jobs, sizeof *feedback->crossings);
    if (feedback->reached_s == NULL || feedback->crossings == NULL)
        return pv_no_memory(err);
    for (size_t q = 0; q < terms->n_limits; q++) {
        sum += terms->limits_s[q];
        feedback->reached_s[q] = sum;
    }
    feedback->reached_s[terms->n_limits] = HUGE_VAL;
    *state = feedback;
    return slots_queues_init(&feedback->queues, view, terms->n_limits + 1, divided, arena, err);
}

static enum pv_code fbq_begin(const struct slots_view *view,
                              const struct slots_terms *terms,
                              struct slots_partitions *partitions,
                              struct arena *arena,
                              void **state,
                              struct pv_error *err)
{
    (void)partitions;
    return begin(view, terms, false, arena, state, err);
}

static enum pv_code tags_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    PV_TRY(begin(view, terms, true, arena, state, err));
    struct feedback *feedback = *state;
    return slots_queues_divide(&feedback->queues, terms->partitions, partitions, arena, err);
}

static void enter(struct feedback *feedback, size_t job, size_t queue)
{
    feedback->queues.view->limit_s[job] = feedback->reached_s[queue];
    slots_queues_enter(&feedback->queues, job, queue);
}

static void feedback_arrived(void *state, size_t job)
{
    enter(state, job, 0);
}

static int order_by_standing(const void *a, const void *b)
{
    const struct crossing *x = a;
    const struct crossing *y = b;
    return (x->standing > y->standing) - (x->standing < y->standing);
}

/* By queue, then place: so they stand at the end of the next queue in the order of this one. */
static void feedback_crossed(void *state, const size_t jobs[], size_t n)
{
    struct feedback *feedback = state;
    const struct slots_queues *queues = &feedback->queues;
    for (size_t i = 0; i < n; i++)
        feedback->crossings[i] = (struct crossing){queues->standing_of[jobs[i]], jobs[i]};
    if (n > 1)
        qsort(feedback->crossings, n, sizeof *feedback->crossings, order_by_standing);
    for (size_t i = 0; i < n; i++) {
        size_t job = feedback->crossings[i].job;
        enter(feedback, job, slots_queues_of(queues, job) + 1);
    }
}

static void feedback_changed(void *state, enum slots_kind kind, size_t job)
{
    struct feedback *feedback = state;
    slots_queues_changed(&feedback->queues, kind, job);
}

static size_t feedback_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    struct feedback *feedback = state;
    (void)most;
    return slots_queues_choose(&feedback->queues, kind, partition);
}

static uint64_t feedback_standing(const void *state, size_t job)
{
    const struct feedback *feedback = state;
    return feedback->queues.standing_of[job];
}

const struct slots_policy slots_policy_fbq = {
    .name = "fbq",
    .container_order = SLOTS_BY_STANDING,
    .standing = feedback_standing,
    .begin = fbq_begin,
    .arrived = feedback_arrived,
    .crossed = feedback_crossed,
    .changed = feedback_changed,
    .choose = feedback_choose,
};

const struct slots_policy slots_policy_tags = {
    .name = "tags",
    .begin = tags_begin,
    .arrived = feedback_arrived,
    .crossed = feedback_crossed,
    .changed = feedback_changed,
    .choose = feedback_choose,
};

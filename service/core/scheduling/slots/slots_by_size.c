/*
 * The policies that go by a job's predicted size (B. Ghit and D. Epema, "Reducing job slowdown
 * variability for data-intensive workloads", MASCOTS 2015). A job stays in the queue that it enters
 * on arrival: "sita" chooses it by limits and gives each queue slots of its own, "comp" chooses it
 * by how many of the last K - 1 jobs that ended were smaller, and serves the first queue first.
 */
#include <assert.h>
#include <string.h>

#include "base/rounding.h"
#include "core/scheduling/slots/slots_queues.h"

struct by_size {
    struct slots_queues queues;
    const double *limits_s;
    size_t n_limits;
    double *ended_size_s; /* of the last jobs that ended, queues - 1 at most */
    size_t n_ended;
};

static enum pv_code begin(const struct slots_view *view,
                          const struct slots_terms *terms,
                          size_t n_queues,
                          bool divided,
                          struct arena *arena,
                          struct by_size **state,
                          struct pv_error *err)
{
    struct by_size *by_size = arena_alloc(arena, sizeof *by_size);
    assert(n_queues >= 2);
    if (by_size == NULL)
        return pv_no_memory(err);
    *by_size = (struct by_size){.limits_s = terms->limits_s, .n_limits = terms->n_limits};
    *state = by_size;
    return slots_queues_init(&by_size->queues, view, n_queues, divided, arena, err);
}

static enum pv_code sita_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    struct by_size *by_size;
    PV_TRY(begin(view, terms, terms->n_limits + 1, true, arena, &by_size, err));
    *state = by_size;
    return slots_queues_divide(&by_size->queues, terms->partitions, partitions, arena, err);
}

static enum pv_code comp_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    struct by_size *by_size;
    /* Not more jobs can have ended before one arrives. */
    size_t n_queues = terms->queues <= view->n_jobs ? terms->queues : view->n_jobs + 1;
    (void)partitions;
    PV_TRY(begin(view, terms, n_queues, false, arena, &by_size, err));
    *state = by_size;
    by_size->ended_size_s = arena_array(arena, n_queues, sizeof *by_size->ended_size_s);
    return by_size->ended_size_s != NULL ? PV_OK : pv_no_memory(err);
}

static void sita_arrived(void *state, size_t job)
{
    struct by_size *by_size = state;
    double size_s = by_size->queues.view->predicted_size_s[job];
    size_t queue = 0;
    for (size_t l = 0; l < by_size->n_limits; l++)
        queue += by_size->limits_s[l] < size_s && !rounding_equal(by_size->limits_s[l], size_s);
    slots_queues_enter(&by_size->queues, job, queue);
}

static void comp_arrived(void *state, size_t job)
{
    struct by_size *by_size = state;
    double size_s = by_size->queues.view->predicted_size_s[job];
    size_t queue = 0;
    for (size_t i = 0; i < by_size->n_ended; i++)
        queue += by_size->ended_size_s[i] < size_s;
    slots_queues_enter(&by_size->queues, job, queue);
}

/* It takes the place of the one that ended first, once there are enough. */
static void comp_job_ended(void *state, size_t job)
{
    struct by_size *by_size = state;
    double *ended = by_size->ended_size_s;
    if (by_size->n_ended + 1 == by_size->queues.n) {
        by_size->n_ended--;
        memmove(ended, ended + 1, by_size->n_ended * sizeof *ended);
    }
    ended[by_size->n_ended++] = by_size->queues.view->size_s[job];
}

static void by_size_changed(void *state, enum slots_kind kind, size_t job)
{
    struct by_size *by_size = state;
    slots_queues_changed(&by_size->queues, kind, job);
}

static size_t by_size_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    struct by_size *by_size = state;
    (void)most;
    return slots_queues_choose(&by_size->queues, kind, partition);
}

static uint64_t by_size_standing(const void *state, size_t job)
{
    const struct by_size *by_size = state;
    return by_size->queues.standing_of[job];
}

const struct slots_policy slots_policy_sita = {
    .name = "sita",
    .begin = sita_begin,
    .arrived = sita_arrived,
    .changed = by_size_changed,
    .choose = by_size_choose,
};

const struct slots_policy slots_policy_comp = {
    .name = "comp",
    .container_order = SLOTS_BY_STANDING,
    .standing = by_size_standing,
    .begin = comp_begin,
    .arrived = comp_arrived,
    .job_ended = comp_job_ended,
    .changed = by_size_changed,
    .choose = by_size_choose,
};

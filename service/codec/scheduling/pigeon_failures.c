#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/scheduling/tasks_simulation_internal.h"

enum { FAILURES_MAX = 1000 };

static const char *const recoveries[] = {[PIGEON_SECOND_TAKES_OVER] = "second",
                                         [PIGEON_WORKER_TAKES_OVER] = "worker",
                                         [PIGEON_GROUP_LOST] = "none",
                                         NULL};

/* --- one failure --- */

static void check_failure(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_pigeon_failure *failure = object;
    (void)limits;
    if (codec_member(node, "return_s").json == NULL)
        return;
    if (failure->recovery != PIGEON_GROUP_LOST)
        codec_fault_member(node, "return_s", "conflict",
                           "somebody takes over: only a group that is lost (recovery \"none\") "
                           "returns");
    else if (failure->return_s <= failure->detection_s)
        codec_fault_member(node, "return_s", "out_of_range", "must be more than detection_s, %s s",
                           quantity_digits(failure->detection_s, 6).text);
}

#define F struct codec_pigeon_failure
static const struct shape_member members[] = {
    {"group", SHAPE_SIZE(F, group), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX - 1},
    {"at_s", SHAPE_NUMBER(F, at_s), .flags = CODEC_REQUIRED, .low = 0, .high = CODEC_SECONDS_MAX},
    {"detection_s", SHAPE_NUMBER(F, detection_s), .flags = SHAPE_KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"recovery", SHAPE_WORD(F, recovery, recoveries), .flags = SHAPE_KEEP},
    {"return_s", SHAPE_NUMBER(F, return_s), .flags = CODEC_ABOVE | SHAPE_OMIT_UNKNOWN, .low = 0,
     .high = CODEC_SECONDS_MAX},
};
const struct shape codec_pigeon_failure_shape = {
    .request = "PigeonFailure", SHAPE_OF(members, F), .check = check_failure};

void codec_pigeon_failures_decode(const struct codec_node *policy,
                                  struct codec_pigeon_layout *layout)
{
    struct codec_node list;
    layout->failures = codec_list(policy, "failures", CODEC_OPTIONAL, 1, FAILURES_MAX,
                                  sizeof *layout->failures, &list, &layout->n_failures);
    for (size_t i = 0; i < layout->n_failures; i++) {
        struct codec_node item = codec_item(&list, i);
        if (codec_expect_object(&item))
            shape_decode(&item, &codec_pigeon_failure_shape, NULL, &layout->failures[i]);
    }
}

void codec_pigeon_failures_encode(struct writer *w, const void *terms)
{
    const struct codec_pigeon_layout *layout = codec_pigeon_layout_of(terms);
    if (layout == NULL || layout->n_failures == 0)
        return;
    writer_member_array(w, "failures");
    for (size_t i = 0; i < layout->n_failures; i++)
        shape_encode(w, &codec_pigeon_failure_shape, &layout->failures[i], 0, NULL);
    writer_end_array(w);
}

/* --- all of them --- */

/* HUGE_VAL: never. */
static double over_s(const struct codec_pigeon_failure *failure, double hop_s)
{
    if (failure->recovery != PIGEON_GROUP_LOST)
        return failure->at_s + failure->detection_s + 2 * hop_s;
    return isnan(failure->return_s) ? HUGE_VAL : failure->at_s + failure->return_s + hop_s;
}

static bool
overlap(const struct codec_pigeon_failure *a, const struct codec_pigeon_failure *b, double hop_s)
{
    return a->group == b->group && a->at_s <= over_s(b, hop_s) && b->at_s <= over_s(a, hop_s);
}

static void check_apart(const struct codec_node *list,
                        const struct codec_pigeon_failure failures[],
                        size_t i,
                        double hop_s)
{
    for (size_t k = 0; k < i; k++)
        if (overlap(&failures[i], &failures[k], hop_s)) {
            struct codec_node item = codec_item(list, i);
            codec_fault_member(&item, "at_s", "conflict",
                               "it overlaps with another failure of group %zu", failures[i].group);
            return;
        }
}

void codec_pigeon_failures_complete(const struct codec_node *top,
                                    const struct codec_tasks_simulation *asked,
                                    size_t policy,
                                    struct codec_pigeon_layout *layout)
{
    size_t groups = asked->policies[policy].groups;
    struct codec_node policies = codec_member(top, "policies");
    struct codec_node node = codec_item(&policies, policy);
    struct codec_node list = codec_member(&node, "failures");
    struct pigeon_failure *failures = NULL;
    if (layout->n_failures > 0)
        failures = codec_allocate(top, layout->n_failures, sizeof *failures);
    for (size_t i = 0; failures != NULL && i < layout->n_failures; i++) {
        const struct codec_pigeon_failure *sent = &layout->failures[i];
        struct codec_node item = codec_item(&list, i);
        if (sent->group >= groups)
            codec_fault_member(&item, "group", "out_of_range", "there %s %zu group%s, from 0 on",
                               PLURAL_VERB(groups, "is", "are"), groups, PLURAL(groups));
        check_apart(&list, layout->failures, i, asked->communication_s);
        failures[i] = (struct pigeon_failure){(uint32_t)sent->group, sent->recovery, sent->at_s,
                                              sent->detection_s,
                                              isnan(sent->return_s) ? HUGE_VAL : sent->return_s};
    }
    layout->layout.failures = failures;
    layout->layout.n_failures = failures != NULL ? (uint32_t)layout->n_failures : 0;
}

double codec_pigeon_failures_last_s(const struct tasks_terms *terms)
{
    const struct pigeon_layout *layout = terms->layout;
    double last_s = 0;
    for (uint32_t i = 0; layout != NULL && i < layout->n_failures; i++) {
        const struct pigeon_failure *failure = &layout->failures[i];
        bool returns = failure->recovery == PIGEON_GROUP_LOST && isfinite(failure->return_s);
        last_s = fmax(last_s, failure->at_s + (returns ? failure->return_s : failure->detection_s));
    }
    return last_s;
}

/* --- groups that do not return --- */

/* Workers of such a group. */
struct loss {
    uint32_t first;
    uint32_t end;
    double at_s;
};

struct losses {
    struct loss items[FAILURES_MAX]; /* by first; groups do not fail twice for good */
    size_t n;
    double all_s; /* when the last group fails; HUGE_VAL: one is left */
};

static int by_first(const void *a, const void *b)
{
    const struct loss *x = a;
    const struct loss *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void
find_losses(const struct tasks_model *model, const struct tasks_terms *terms, struct losses *losses)
{
    double last_s = 0;
    losses->n = 0;
    for (uint32_t i = 0; i < terms->layout->n_failures; i++) {
        const struct pigeon_failure *failure = &terms->layout->failures[i];
        if (failure->recovery != PIGEON_GROUP_LOST || isfinite(failure->return_s))
            continue;
        uint32_t first = pigeon_layout_first(model, terms, failure->group);
        uint32_t n = pigeon_layout_group(model, terms, failure->group).workers;
        losses->items[losses->n++] = (struct loss){first, first + n, failure->at_s};
        last_s = fmax(last_s, failure->at_s);
    }
    losses->all_s = losses->n == pigeon_layout_groups(terms) ? last_s : HUGE_VAL;
    qsort(losses->items, losses->n, sizeof *losses->items, by_first);
}

/* When the group of a worker fails for good; HUGE_VAL: never. */
static double lost_s(const struct losses *losses, uint32_t worker)
{
    size_t low = 0;
    size_t high = losses->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (losses->items[middle].end <= worker)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < losses->n && losses->items[low].first <= worker;
    return found ? losses->items[low].at_s : HUGE_VAL;
}

/* Whether all workers of a task are lost when it is at their masters, at an instant. */
static bool
is_stranded(const struct losses *losses, const struct tasks_binding *binding, double at_s)
{
    for (uint32_t k = 0; k < binding->n; k++)
        if (lost_s(losses, binding->workers[k]) > at_s)
            return false;
    return binding->n > 0;
}

static void check_bound(const struct codec_node *job,
                        const struct tasks_job *tasks,
                        const struct losses *losses,
                        double at_s)
{
    struct codec_node list = codec_member(job, "bound_to");
    for (uint32_t i = 0; tasks->bindings != NULL && i < tasks->tasks; i++) {
        struct codec_node item = codec_item(&list, i);
        if (is_stranded(losses, &tasks->bindings[i], at_s))
            codec_fault(&item, "conflict",
                        "under a policy the groups of these workers fail before the task arrives, "
                        "and do not return");
    }
}

static void check_losses(const struct codec_node *top,
                         const struct codec_tasks_simulation *asked,
                         size_t policy,
                         const struct losses *losses)
{
    struct codec_node policies = codec_member(top, "policies");
    struct codec_node node = codec_item(&policies, policy);
    struct codec_node jobs = codec_member(top, "jobs");
    for (size_t j = 0; j < asked->n_jobs && losses->n > 0; j++) {
        double at_s = asked->jobs[j].arrival_s + asked->communication_s;
        struct codec_node job = codec_item(&jobs, j);
        if (at_s >= losses->all_s) {
            codec_fault_member(&node, "failures", "conflict",
                               "all groups have failed when job %zu is there, and none returns", j);
            return;
        }
        check_bound(&job, &asked->jobs[j], losses, at_s);
    }
}

void codec_pigeon_losses_check(const struct codec_node *top,
                               const struct codec_tasks_simulation *asked)
{
    struct losses *losses = codec_allocate(top, 1, sizeof *losses);
    for (size_t p = 0; losses != NULL && p < asked->common.n_policies; p++) {
        size_t faults = top->reader->err->n_faults;
        if (asked->policies[p].layout == NULL)
            continue;
        find_losses(&asked->model, &asked->policies[p], losses);
        check_losses(top, asked, p, losses);
        if (top->reader->err->n_faults > faults)
            return; /* the same tasks would be named for other policies, too */
    }
}

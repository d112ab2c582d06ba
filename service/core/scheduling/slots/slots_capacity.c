/*
 * The policy "capacity": tenants with shares of the slots, of which each may hold more up to its
 * maximum. Of those that have a candidate and may hold one more slot, the one that holds least of
 * its share is next; of its jobs the first in order of arrival.
 */
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/slots/slots_candidates.h"
#include "core/scheduling/slots/slots_policy.h"

struct capacity {
    const struct slots_view *view;
    const struct slots_tenant *tenants;
    size_t n_tenants;
    struct slots_candidates candidates[SLOTS_KINDS]; /* groups are tenants */
    double *held[SLOTS_KINDS];                       /* slots, by tenant */
    double *most[SLOTS_KINDS];                       /* that it may hold */
    size_t *job_held[SLOTS_KINDS];                   /* by job, as counted in `held` */
};

static enum pv_code
prepare_kind(struct capacity *capacity, size_t kind, struct arena *arena, struct pv_error *err)
{
    size_t n = capacity->n_tenants;
    size_t n_jobs = capacity->view->n_jobs;
    capacity->held[kind] = arena_calloc(arena, n, sizeof **capacity->held);
    capacity->most[kind] = arena_calloc(arena, n, sizeof **capacity->most);
    capacity->job_held[kind] = arena_calloc(arena, n_jobs, sizeof **capacity->job_held);
    if (capacity->held[kind] == NULL || capacity->most[kind] == NULL ||
        capacity->job_held[kind] == NULL ||
        !slots_candidates_init(&capacity->candidates[kind], n_jobs, n, arena))
        return pv_no_memory(err);
    for (size_t t = 0; t < n; t++)
        capacity->most[kind][t] =
            fmax(1, rounding_floor(capacity->tenants[t].max_share *
                                   (double)capacity->view->cluster.slots[kind]));
    return PV_OK;
}

static enum pv_code capacity_begin(const struct slots_view *view,
                                   const struct slots_terms *terms,
                                   struct slots_partitions *partitions,
                                   struct arena *arena,
                                   void **state,
                                   struct pv_error *err)
{
    struct capacity *capacity = arena_alloc(arena, sizeof *capacity);
    (void)partitions;
    if (capacity == NULL)
        return pv_no_memory(err);
    *capacity =
        (struct capacity){.view = view, .tenants = terms->tenants, .n_tenants = terms->n_tenants};
    *state = capacity;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        PV_TRY(prepare_kind(capacity, kind, arena, err));
    return PV_OK;
}

static void capacity_changed(void *state, enum slots_kind kind, size_t job)
{
    struct capacity *capacity = state;
    size_t tenant = capacity->view->jobs[job].queue;
    size_t held = capacity->view->counts[job].held[kind];
    capacity->held[kind][tenant] += (double)held - (double)capacity->job_held[kind][job];
    capacity->job_held[kind][job] = held;
    if (slots_is_candidate(capacity->view, kind, job))
        slots_candidates_put(&capacity->candidates[kind], job, tenant, job);
    else
        slots_candidates_remove(&capacity->candidates[kind], job);
}

static void capacity_arrived(void *state, size_t job)
{
    capacity_changed(state, SLOTS_MAP, job);
    capacity_changed(state, SLOTS_REDUCE, job);
}

static size_t capacity_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    struct capacity *capacity = state;
    size_t best = SLOTS_NOBODY;
    double least = 0;
    (void)partition;
    *most = 1;
    for (size_t t = 0; t < capacity->n_tenants; t++) {
        size_t job = slots_candidates_first(&capacity->candidates[kind], t);
        double held = capacity->held[kind][t];
        double part = held / capacity->tenants[t].share;
        if (job == SLOTS_NOBODY || held >= capacity->most[kind][t])
            continue;
        if (best == SLOTS_NOBODY || (part < least && !rounding_equal(part, least))) {
            best = job;
            least = part;
        }
    }
    return best;
}

const struct slots_policy slots_policy_capacity = {
    .name = "capacity",
    .container_order = SLOTS_BY_QUEUE,
    .begin = capacity_begin,
    .arrived = capacity_arrived,
    .changed = capacity_changed,
    .choose = capacity_choose,
};

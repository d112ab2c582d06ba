/*
 * The policy "fair": a slot goes to the candidate that holds fewest of its kind, of equal ones to
 * the first in order of arrival.
 *
 * With a concurrency k, at most k jobs are in the map phase and k in the reduce phase, and only
 * they get slots of that kind (J. Wang, dissertation, UMass Boston 2017, section 3.3: FRESH's lists
 * M, P and R): a job's reduces then wait for all of its maps.
 */
#include <assert.h>

#include "core/scheduling/slots_candidates.h"
#include "core/scheduling/slots_policy.h"

/* Jobs in order of entry; each enters once. */
struct job_list {
    size_t *jobs;
    size_t first;
    size_t n; /* entered so far */
};

struct fair {
    const struct slots_view *view;
    struct slots_candidates candidates[SLOTS_KINDS];
    size_t concurrency;                   /* 0: phases do not matter */
    bool *in_phase[SLOTS_KINDS];          /* by job: it is in M, in R */
    size_t n_in_phase[SLOTS_KINDS];       /* |M|, |R| */
    struct job_list waiting[SLOTS_KINDS]; /* for M, and P */
};

static enum pv_code
prepare_kind(struct fair *fair, size_t kind, struct arena *arena, struct pv_error *err)
{
    size_t n = fair->view->n_jobs;
    if (!slots_candidates_init(&fair->candidates[kind], n, 1, arena))
        return pv_no_memory(err);
    if (fair->concurrency == 0)
        return PV_OK;
    fair->in_phase[kind] = arena_calloc(arena, n, sizeof **fair->in_phase);
    fair->waiting[kind].jobs = arena_array(arena, n, sizeof *fair->waiting[kind].jobs);
    if (fair->in_phase[kind] == NULL || fair->waiting[kind].jobs == NULL)
        return pv_no_memory(err);
    return PV_OK;
}

static enum pv_code fair_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    struct fair *fair = arena_alloc(arena, sizeof *fair);
    (void)partitions;
    if (fair == NULL)
        return pv_no_memory(err);
    *fair = (struct fair){.view = view, .concurrency = terms->concurrency};
    *state = fair;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        PV_TRY(prepare_kind(fair, kind, arena, err));
    return PV_OK;
}

static void fair_changed(void *state, enum slots_kind kind, size_t job)
{
    struct fair *fair = state;
    uint64_t held = fair->view->counts[job].held[kind];
    assert(held < UINT32_MAX && job < UINT32_MAX);
    if (slots_is_candidate(fair->view, kind, job) &&
        (fair->concurrency == 0 || fair->in_phase[kind][job]))
        slots_candidates_put(&fair->candidates[kind], job, 0, held << 32 | job);
    else
        slots_candidates_remove(&fair->candidates[kind], job);
}

/* --- phases --- */

static void wait_for(struct fair *fair, enum slots_kind kind, size_t job)
{
    fair->waiting[kind].jobs[fair->waiting[kind].n++] = job;
}

static void enter_waiting(struct fair *fair, enum slots_kind kind)
{
    struct job_list *waiting = &fair->waiting[kind];
    while (waiting->first < waiting->n && fair->n_in_phase[kind] < fair->concurrency) {
        size_t job = waiting->jobs[waiting->first++];
        fair->in_phase[kind][job] = true;
        fair->n_in_phase[kind]++;
        fair_changed(fair, kind, job);
    }
}

static void leave(struct fair *fair, enum slots_kind kind, size_t job)
{
    if (!fair->in_phase[kind][job])
        return;
    fair->in_phase[kind][job] = false;
    fair->n_in_phase[kind]--;
}

static void enter_phases(struct fair *fair)
{
    enter_waiting(fair, SLOTS_REDUCE);
    enter_waiting(fair, SLOTS_MAP);
}

static void fair_arrived(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->concurrency == 0) {
        fair_changed(fair, SLOTS_MAP, job);
        fair_changed(fair, SLOTS_REDUCE, job);
        return;
    }
    bool has_maps = fair->view->counts[job].pending[SLOTS_MAP] > 0;
    wait_for(fair, has_maps ? SLOTS_MAP : SLOTS_REDUCE, job);
    enter_phases(fair);
}

static void fair_maps_ended(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->concurrency == 0)
        return;
    leave(fair, SLOTS_MAP, job);
    if (fair->view->counts[job].pending[SLOTS_REDUCE] > 0)
        wait_for(fair, SLOTS_REDUCE, job);
    enter_phases(fair);
}

static void fair_job_ended(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->concurrency == 0)
        return;
    leave(fair, SLOTS_REDUCE, job);
    enter_phases(fair);
}

static size_t fair_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    struct fair *fair = state;
    (void)partition;
    *most = 1;
    return slots_candidates_first(&fair->candidates[kind], 0);
}

const struct slots_policy slots_policy_fair = {
    .name = "fair",
    .begin = fair_begin,
    .arrived = fair_arrived,
    .maps_ended = fair_maps_ended,
    .job_ended = fair_job_ended,
    .changed = fair_changed,
    .choose = fair_choose,
};

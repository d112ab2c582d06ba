#include "core/advice/allocation_record.h"

#include <math.h>
#include <stdlib.h>

#include "core/advice/driver_order.h"

/* An event of the recorded run: an executor comes or goes, or a stage is submitted. */
struct happening {
    double at_s;
    size_t stage; /* ALLOCATION_START if it concerns an executor */
    int more;     /* executors */
    bool lost;    /* the platform took the executor away */
};

/* An executor that comes at the instant of a submission comes after the submission. */
static int earlier_first(const void *left, const void *right)
{
    const struct happening *a = left;
    const struct happening *b = right;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    if ((a->stage == ALLOCATION_START) != (b->stage == ALLOCATION_START))
        return a->stage == ALLOCATION_START ? 1 : -1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

static size_t list_happenings(const struct run *run,
                              const struct stage_instants *stages,
                              struct happening happenings[])
{
    size_t n = 0;
    for (size_t s = 0; s < stages->n; s++)
        happenings[n++] = (struct happening){stages->start_s[s], s, 0, false};
    for (size_t i = 0; i < run->n_executor_lifetimes; i++) {
        const struct executor_lifetime *executor = &run->executor_lifetimes[i];
        happenings[n++] = (struct happening){executor->added_s, ALLOCATION_START, 1, false};
        if (isfinite(executor->removed_s))
            happenings[n++] =
                (struct happening){executor->removed_s, ALLOCATION_START, -1, executor->lost};
    }
    qsort(happenings, n, sizeof *happenings, earlier_first);
    return n;
}

/* Executors that exist after the event. Without losses, an executor that comes behind one that was lost
 * replaces it: neither changes the number. */
static int64_t
count_there(int64_t there, const struct happening *now, bool losses, int64_t *missing)
{
    if (losses)
        return there + now->more;
    if (now->lost) {
        (*missing)++;
        return there;
    }
    if (now->more > 0 && *missing > 0) {
        (*missing)--;
        return there;
    }
    return there + now->more;
}

/* Changes of the number of executors, at most one for each instant; at_s has the instants. */
static size_t list_changes(const struct happening happenings[],
                           size_t n,
                           bool losses,
                           struct allocation_change changes[],
                           double at_s[])
{
    struct happening submitted = {0.0, ALLOCATION_START, 0, false};
    int64_t there = 0, missing = 0;
    size_t n_changes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct happening *now = &happenings[i];
        if (now->stage != ALLOCATION_START)
            submitted = *now;
        there = count_there(there, now, losses, &missing);
        bool last_of_instant = i + 1 == n || happenings[i + 1].at_s > now->at_s;
        int64_t before = n_changes == 0 ? 0 : changes[n_changes - 1].executors;
        if (!last_of_instant || there == before)
            continue;
        at_s[n_changes] = now->at_s;
        changes[n_changes++] =
            (struct allocation_change){submitted.stage, now->at_s - submitted.at_s, there};
    }
    return n_changes;
}

/* Number of changes up to that instant. */
static size_t count_until(const double at_s[], size_t n, double instant_s)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at_s[middle] <= instant_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Did an executor exist at some time during each stage that has tasks? */
static bool can_be(const struct edf_job *job,
                   const struct stage_instants *stages,
                   const struct allocation_record *record,
                   const double at_s[])
{
    for (size_t s = 0; s < stages->n; s++) {
        size_t since = count_until(at_s, record->n, stages->start_s[s]);
        size_t i = count_until(at_s, record->n, stages->end_s[s]);
        while (i > since && record->changes[i - 1].executors == 0)
            i--;
        if (job->stages[s].tasks > 0 && (i == 0 || record->changes[i - 1].executors == 0))
            return false;
    }
    return true;
}

/* Did all executors exist from the first submission to the last end? */
static bool is_fixed(const struct stage_instants *stages,
                     const struct allocation_record *record,
                     const double at_s[])
{
    double first_s = (double)INFINITY, last_s = (double)-INFINITY;
    for (size_t s = 0; s < stages->n; s++) {
        first_s = fmin(first_s, stages->start_s[s]);
        last_s = fmax(last_s, stages->end_s[s]);
    }
    size_t before = count_until(at_s, record->n, first_s);
    return before > 0 && record->changes[before - 1].executors == record->most &&
           (before == record->n || at_s[before] >= last_s);
}

enum pv_code allocation_record_of_run(const struct run *run,
                                      const struct edf_job *job,
                                      bool losses,
                                      struct arena *arena,
                                      struct allocation_record *record,
                                      struct pv_error *err)
{
    const struct property_list list = {run->spark_properties, run->n_spark_properties};
    struct stage_instants stages;
    *record =
        (struct allocation_record){.leave = allocation_is_enabled(&list) ? ALLOCATION_LEAVE_IDLE
                                            : run->tasks_failed > 0      ? ALLOCATION_LEAVE_LOST
                                                                         : ALLOCATION_LEAVE_DONE};
    if (run->n_executor_lifetimes == 0)
        return PV_OK;
    PV_TRY(stage_instants_read(run, job, arena, &stages, err));
    size_t room = stages.n + 2 * run->n_executor_lifetimes;
    struct happening *happenings = arena_array(arena, room, sizeof *happenings);
    struct allocation_change *changes = arena_array(arena, room, sizeof *changes);
    double *at_s = arena_array(arena, room, sizeof *at_s);
    if (happenings == NULL || changes == NULL || at_s == NULL)
        return pv_no_memory(err);
    record->changes = changes;
    record->n =
        list_changes(happenings, list_happenings(run, &stages, happenings), losses, changes, at_s);
    for (size_t i = 0; i < record->n; i++)
        record->most = changes[i].executors > record->most ? changes[i].executors : record->most;
    if (stages.n == 0 || !can_be(job, &stages, record, at_s) || is_fixed(&stages, record, at_s))
        record->n = 0;
    return PV_OK;
}

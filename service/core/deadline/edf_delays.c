/*
 * What delays a job (docs/design.md, "What delays a job"): one replay, which adds up the core time
 * of every job. What it grows by while a late job waits goes into that job's row; so a task costs
 * O(1), and a change between waiting and not costs O(jobs).
 */
#include "core/deadline/edf_delays.h"

#include <assert.h>
#include <stdlib.h>

#include "core/deadline/clairvoyant_edf_internal.h"

struct watched_job {
    size_t running; /* tasks */
    double since_s; /* core_s is up to then */
    double core_s;
    size_t stages_ready; /* that have tasks to start */
    bool touched;        /* at this instant: whether it waits may have changed */
    bool waits;
    double waits_since_s;
    double waiting_s;
    double *row; /* core time by job, while it waited; behind it, what core_s was when it last began
                  * to wait; NULL: not late */
};

struct delays_watch {
    struct edf_watch watch;
    struct watched_job *jobs;
    size_t n;
    uint32_t *touched;
    size_t n_touched;
};

static struct watched_job *
touch(struct delays_watch *delays, const struct edf_replay *replay, uint32_t s)
{
    uint32_t j = replay->plan->stages[s].job;
    struct watched_job *job = &delays->jobs[j];
    if (!job->touched && job->row != NULL) {
        job->touched = true;
        delays->touched[delays->n_touched++] = j;
    }
    return job;
}

static void bring_up(struct watched_job *job, double now)
{
    job->core_s += (double)job->running * (now - job->since_s);
    job->since_s = now;
}

static void delays_opened(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s)
{
    touch((struct delays_watch *)watch, replay, s)->stages_ready++;
}

static void
delays_started(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct watched_job *job = touch((struct delays_watch *)watch, replay, s);
    bring_up(job, replay->now);
    job->running += n;
    job->stages_ready -= replay->started[s] + n == replay->plan->stages[s].tasks;
}

static void
delays_ended(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct delays_watch *delays = (struct delays_watch *)watch;
    struct watched_job *job = &delays->jobs[replay->plan->stages[s].job];
    bring_up(job, replay->now);
    job->running -= n;
}

static void change_waiting(struct delays_watch *delays, struct watched_job *job, double now)
{
    if (job->waits)
        job->waiting_s += now - job->waits_since_s;
    job->waits = !job->waits;
    job->waits_since_s = now;
    for (size_t j = 0; j < delays->n; j++) {
        bring_up(&delays->jobs[j], now);
        if (job->waits)
            job->row[delays->n + j] = delays->jobs[j].core_s;
        else /* exactly 0 for a job that ran nothing meanwhile */
            job->row[j] += delays->jobs[j].core_s - job->row[delays->n + j];
    }
}

static void delays_settled(struct edf_watch *watch, const struct edf_replay *replay)
{
    struct delays_watch *delays = (struct delays_watch *)watch;
    for (size_t i = 0; i < delays->n_touched; i++) {
        struct watched_job *job = &delays->jobs[delays->touched[i]];
        job->touched = false;
        if (job->waits != (job->stages_ready > 0))
            change_waiting(delays, job, replay->now);
    }
    delays->n_touched = 0;
}

static bool init_watch(struct delays_watch *delays,
                       const struct edf_outcome outcomes[],
                       const struct edf_plan *plan,
                       struct arena *scratch)
{
    size_t n = plan->n_jobs;
    *delays = (struct delays_watch){
        .watch = {delays_opened, delays_started, delays_ended, delays_settled}, .n = n};
    delays->jobs = arena_calloc(scratch, n, sizeof *delays->jobs);
    delays->touched = arena_array(scratch, n, sizeof *delays->touched);
    if (delays->jobs == NULL || delays->touched == NULL)
        return false;
    for (size_t j = 0; j < n; j++) {
        delays->jobs[j].since_s = plan->jobs[j].release_s;
        if (outcomes[j].met)
            continue;
        delays->jobs[j].row = arena_calloc(scratch, 2 * n, sizeof *delays->jobs[j].row);
        if (delays->jobs[j].row == NULL)
            return false;
    }
    return true;
}

/* --- the rows --- */

static int compare_delays(const void *a, const void *b)
{
    const struct edf_delay *x = a;
    const struct edf_delay *y = b;
    if (x->core_s != y->core_s)
        return x->core_s > y->core_s ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static bool take_row(const double row[], size_t n, struct arena *arena, struct edf_job_delays *out)
{
    double sum = 0;
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        count += row[j] > 0;
        sum += row[j] > 0 ? row[j] : 0;
    }
    out->items = arena_array(arena, count, sizeof *out->items);
    if (out->items == NULL)
        return false;
    for (size_t j = 0; j < n; j++)
        if (row[j] > 0)
            out->items[out->n++] = (struct edf_delay){j, row[j], row[j] / sum};
    qsort(out->items, out->n, sizeof *out->items, compare_delays);
    return true;
}

static enum pv_code find_delays(const struct edf_job jobs[],
                                size_t n_jobs,
                                size_t cores,
                                const struct edf_outcome outcomes[],
                                struct arena *arena,
                                struct arena *scratch,
                                struct edf_job_delays delays[],
                                struct pv_error *err)
{
    struct edf_plan plan;
    struct edf_replay replay;
    struct delays_watch watch;
    PV_TRY(edf_plan_make(jobs, n_jobs, scratch, &plan, err));
    double *starts = arena_array(scratch, plan.n_stages, sizeof *starts);
    double *ends = arena_array(scratch, n_jobs, sizeof *ends);
    double *deadlines = arena_array(scratch, n_jobs, sizeof *deadlines);
    if (starts == NULL || ends == NULL || deadlines == NULL ||
        !init_watch(&watch, outcomes, &plan, scratch) ||
        !edf_replay_init(&replay, &plan, cores, false, scratch))
        return pv_no_memory(err);
    edf_plan_ideal(&plan, starts, ends);
    for (size_t j = 0; j < n_jobs; j++)
        deadlines[j] = jobs[j].deadline_s;
    replay.watch = &watch.watch;
    enum edf_replay_end end = edf_replay_run(&replay, deadlines, cores, false, UINT64_MAX, NULL);
    assert(end == EDF_REPLAY_DONE);
    (void)end;
    for (size_t j = 0; j < n_jobs; j++) {
        delays[j] = (struct edf_job_delays){.waiting_s = watch.jobs[j].waiting_s,
                                            .critical_path_s = ends[j] - jobs[j].release_s};
        if (watch.jobs[j].row != NULL && !take_row(watch.jobs[j].row, n_jobs, arena, &delays[j]))
            return pv_no_memory(err);
    }
    return PV_OK;
}

enum pv_code edf_find_delays(const struct edf_job jobs[],
                             size_t n_jobs,
                             size_t cores,
                             const struct edf_outcome outcomes[],
                             struct arena *arena,
                             struct arena *scratch,
                             struct edf_job_delays delays[],
                             struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = find_delays(jobs, n_jobs, cores, outcomes, arena, scratch, delays, err);
    arena_rewind(scratch, mark);
    return code;
}

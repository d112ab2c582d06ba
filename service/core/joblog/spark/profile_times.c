/* Jobs and stages run concurrently, so the time of all of them is a union of intervals. */
#include <math.h>
#include <stdlib.h>

#include "core/joblog/spark/profile.h"

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *left = a;
    const struct interval *right = b;
    return (left->from_ms > right->from_ms) - (left->from_ms < right->from_ms);
}

int64_t profile_union_length(struct interval *intervals, size_t n)
{
    if (n == 0)
        return 0;
    qsort(intervals, n, sizeof *intervals, compare_intervals);
    int64_t length = 0;
    int64_t reached = NO_TIME;
    for (size_t i = 0; i < n; i++) {
        int64_t from = intervals[i].from_ms > reached ? intervals[i].from_ms : reached;
        if (intervals[i].to_ms > from) {
            length += intervals[i].to_ms - from;
            reached = intervals[i].to_ms;
        }
    }
    return length;
}

/* What did not end lasts to the end of the run. False when it is not known when it began. */
static bool
make_interval(const struct sparklog *log, int64_t from_ms, int64_t to_ms, struct interval *out)
{
    if (from_ms == NO_TIME)
        return false;
    int64_t to = to_ms == NO_TIME ? profile_end(log) : to_ms;
    *out = (struct interval){from_ms, to < from_ms ? from_ms : to};
    return true;
}

static bool set_job_time(struct sparklog *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, log->n_jobs_seen, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < log->n_jobs_seen; i++) {
        const struct job *job = &log->jobs_seen[i];
        n += make_interval(log, job->submitted_ms, job->completed_ms, &intervals[n]);
        if (job->submitted_ms != NO_TIME && job->completed_ms != NO_TIME)
            (void)sparklog_elapsed(log, job->submitted_ms, job->completed_ms); /* counts */
    }
    /* Spark 1.0 to 1.1 do not say when their jobs ran. */
    bool known = n > 0 || log->n_jobs_seen == 0;
    run->job_time_s = known ? profile_seconds(profile_union_length(intervals, n)) : (double)NAN;
    arena_rewind(arena, mark);
    return true;
}

/* Every attempt, also one that failed: the cluster was at work. */
static bool set_stage_time(const struct sparklog *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, log->n_attempts, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < log->n_stages; i++) {
        for (size_t k = 0; k < log->stages[i].n_attempts; k++) {
            const struct attempt *attempt = &log->stages[i].attempts[k];
            n += make_interval(log, attempt->submitted_ms, attempt->completed_ms, &intervals[n]);
        }
    }
    run->stage_time_s = profile_seconds(profile_union_length(intervals, n));
    arena_rewind(arena, mark);
    return true;
}

bool profile_build_times(struct sparklog *log, struct arena *arena, struct run *run)
{
    return set_job_time(log, arena, run) && set_stage_time(log, arena, run);
}

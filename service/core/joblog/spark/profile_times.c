/* The start and the end of an application, checked against the times of its stages and jobs. */
#include "core/joblog/spark/profile.h"
#include "core/joblog/spark/state.h"

/* Events of one moment are logged within this time. A clock that was set is off by more. */
enum { SAME_MOMENT_MS = 10000 };

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Latest end of a stage or a job; NO_TIME if none is known. The end of a single task may be odd. */
static int64_t last_end(const struct sparklog *log)
{
    int64_t last = NO_TIME;
    for (size_t i = 0; i < log->n_stages; i++)
        for (size_t k = 0; k < log->stages[i].n_attempts; k++)
            last = later(last, log->stages[i].attempts[k].completed_ms);
    for (size_t i = 0; i < log->n_jobs_seen; i++)
        last = later(last, log->jobs_seen[i].completed_ms);
    return last;
}

/* --- a clock that was set back while the application ran --- */

/* True if an event has an earlier instant than an event before it. The instant 0 is a missing one. */
static bool goes_back(int64_t before_ms, int64_t after_ms)
{
    return before_ms > 0 && after_ms > 0 && after_ms < before_ms - SAME_MOMENT_MS;
}

/* A job must end after its start. Spark numbers jobs as it starts them. */
static bool jobs_go_back(const struct sparklog *log)
{
    const struct job *latest = NULL;
    for (size_t i = 0; i < log->n_jobs_seen; i++) {
        const struct job *job = &log->jobs_seen[i];
        if (goes_back(job->submitted_ms, job->completed_ms) ||
            (latest != NULL && job->id > latest->id &&
             goes_back(latest->submitted_ms, job->submitted_ms)))
            return true;
        if (latest == NULL || job->submitted_ms > latest->submitted_ms)
            latest = job;
    }
    return false;
}

/* The first attempt of a stage must end after its start, and start after its parent's first end. */
static bool stage_goes_back(const struct sparklog *log, const struct stage *stage)
{
    if (stage->n_attempts == 0)
        return false;
    const struct attempt *first = &stage->attempts[0];
    for (size_t i = 0; i < stage->n_parents; i++) {
        const uint32_t *at = idmap_find(&log->stage_at, stage->parents[i]);
        const struct stage *parent = at == NULL ? NULL : &log->stages[*at];
        if (parent != NULL && parent->n_attempts > 0 &&
            goes_back(parent->attempts[0].completed_ms, first->submitted_ms))
            return true;
    }
    return goes_back(first->submitted_ms, first->completed_ms);
}

bool profile_clock_set_back(const struct sparklog *log)
{
    return log->reader.notices[NOTICE_CLOCK] > 0;
}

/* Two applications in one log have jobs and stages with the same ids. */
static bool was_set_back(const struct sparklog *log)
{
    if (log->reader.notices[NOTICE_STARTED_AGAIN] > 0)
        return false;
    for (size_t i = 0; i < log->n_stages; i++)
        if (stage_goes_back(log, &log->stages[i]))
            return true;
    return jobs_go_back(log);
}

/* --- impossible starts and ends --- */

/* The earliest event; the first stage if that event is of another day: executors that several
 * applications share may be old. */
static int64_t first_event(const struct sparklog *log)
{
    bool far = profile_is_far(log->reader.first_ms, log->first_stage_ms);
    return far ? log->first_stage_ms : log->reader.first_ms;
}

static void replace_start(struct sparklog *log)
{
    int64_t *start_ms = &log->application.start_ms;
    bool unusable = *start_ms == NO_TIME ||
                    (*start_ms == 0 && profile_is_far(0, log->first_stage_ms)) ||
                    (log->first_stage_ms != NO_TIME && log->first_stage_ms < *start_ms);
    if (!unusable)
        return;
    log->reader.notices[NOTICE_BAD_START] = log->reader.notices[NOTICE_NO_START] == 0;
    *start_ms = first_event(log);
}

static void drop_end(struct sparklog *log)
{
    struct application *application = &log->application;
    int64_t last = last_end(log);
    bool early = last != NO_TIME && last - SAME_MOMENT_MS > application->end_ms;
    if (application->end_ms == NO_TIME || (!early && application->end_ms > application->start_ms))
        return;
    log->reader.notices[NOTICE_BACKWARDS] += early || application->end_ms < application->start_ms;
    application->end_ms = NO_TIME;
}

void profile_drop_impossible_times(struct sparklog *log)
{
    log->reader.notices[NOTICE_CLOCK] = was_set_back(log);
    if (!profile_clock_set_back(log) || log->application.start_ms == NO_TIME)
        replace_start(log);
    drop_end(log);
}

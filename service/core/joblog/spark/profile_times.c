/* The start and the end of an application, checked against the times of its stages and jobs. */
#include "core/joblog/spark/profile.h"
#include "core/joblog/spark/state.h"

/* Events of one moment are logged within it; a clock that was set is off by more. */
enum { SAME_MOMENT_MS = 10000 };

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The latest end of a stage or a job; NO_TIME. An end that only one task has may be an odd one. */
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

/* The earliest event; the first stage if that event is of another day: executors that several
 * applications share may be old. */
static int64_t first_event(const struct sparklog *log)
{
    bool far = profile_is_far(log->reader.first_ms, log->first_stage_ms);
    return far ? log->first_stage_ms : log->reader.first_ms;
}

static void replace_start(struct sparklog *log)
{
    struct application *application = &log->application;
    if (application->start_ms == 0)
        log->reader.notices[NOTICE_BAD_TIME]++;
    else if (application->start_ms != NO_TIME)
        log->reader.notices[NOTICE_BACKWARDS]++;
    application->start_ms = first_event(log);
}

void profile_drop_impossible_times(struct sparklog *log)
{
    struct application *application = &log->application;
    int64_t *notices = log->reader.notices;
    int64_t last = last_end(log);
    bool ended_early = application->end_ms != NO_TIME && last != NO_TIME &&
                       last - SAME_MOMENT_MS > application->end_ms;
    bool began_late = application->start_ms != NO_TIME && log->first_stage_ms != NO_TIME &&
                      log->first_stage_ms < application->start_ms;
    /* Stages on both sides of the start, and an end before theirs: the clock was set back. */
    application->clock_set_back = began_late && last >= application->start_ms &&
                                  (ended_early || application->end_ms < application->start_ms);
    notices[NOTICE_CLOCK] = application->clock_set_back;
    bool never = application->start_ms == NO_TIME ||
                 (application->start_ms == 0 && profile_is_far(0, log->first_stage_ms));
    if (!application->clock_set_back && (began_late || never))
        replace_start(log);
    if (application->end_ms == NO_TIME)
        return;
    if (ended_early || application->end_ms <= application->start_ms) {
        notices[NOTICE_BACKWARDS] += application->end_ms < application->start_ms || ended_early;
        application->end_ms = NO_TIME;
    }
}

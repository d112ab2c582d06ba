/*
 * Crossings change when tasks begin and end, and not between: with w tasks working, service s at t
 * reaches B at t + (B - s)/w, and what counts as B somewhat earlier. A heap of each. O(log n) a
 * change.
 */
#include "core/scheduling/slots/slots_service.h"

#include <math.h>
#include <stdint.h>

static const double TOLERANCE = 1e-9;

#define NOWHERE SIZE_MAX

struct slots_job_service {
    double served_s; /* at since_s */
    double since_s;
    size_t working; /* tasks, since then */
};

static bool ahead_init(struct slots_ahead *ahead, size_t n_jobs, struct arena *arena)
{
    *ahead = (struct slots_ahead){
        .jobs = arena_array(arena, n_jobs, sizeof *ahead->jobs),
        .places = arena_array(arena, n_jobs, sizeof *ahead->places),
        .at_s = arena_array(arena, n_jobs, sizeof *ahead->at_s),
    };
    for (size_t i = 0; ahead->places != NULL && i < n_jobs; i++)
        ahead->places[i] = NOWHERE;
    return ahead->jobs != NULL && ahead->places != NULL && ahead->at_s != NULL;
}

bool slots_service_init(struct slots_service *service, size_t n_jobs, struct arena *arena)
{
    *service = (struct slots_service){
        .limit_s = arena_array(arena, n_jobs, sizeof *service->limit_s),
        .of = arena_calloc(arena, n_jobs, sizeof *service->of),
    };
    for (size_t i = 0; service->limit_s != NULL && i < n_jobs; i++)
        service->limit_s[i] = HUGE_VAL;
    return service->limit_s != NULL && service->of != NULL &&
           ahead_init(&service->crossings, n_jobs, arena) &&
           ahead_init(&service->tolerances, n_jobs, arena);
}

/* --- heaps --- */

static bool before(const struct slots_ahead *ahead, size_t a, size_t b)
{
    return ahead->at_s[a] < ahead->at_s[b];
}

static void put(struct slots_ahead *ahead, size_t place, size_t job)
{
    ahead->jobs[place] = job;
    ahead->places[job] = place;
}

/* The job, whose place is free, belongs there, above or below. */
static void settle(struct slots_ahead *ahead, size_t place, size_t job)
{
    while (place > 0 && before(ahead, job, ahead->jobs[(place - 1) / 2])) {
        put(ahead, place, ahead->jobs[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (size_t child = 2 * place + 1; child < ahead->n; child = 2 * place + 1) {
        if (child + 1 < ahead->n && before(ahead, ahead->jobs[child + 1], ahead->jobs[child]))
            child++;
        if (!before(ahead, ahead->jobs[child], job))
            break;
        put(ahead, place, ahead->jobs[child]);
        place = child;
    }
    put(ahead, place, job);
}

static void ahead_set(struct slots_ahead *ahead, size_t job, double at_s)
{
    ahead->at_s[job] = at_s;
    settle(ahead, ahead->places[job] == NOWHERE ? ahead->n++ : ahead->places[job], job);
}

static void ahead_remove(struct slots_ahead *ahead, size_t job)
{
    size_t place = ahead->places[job];
    if (place == NOWHERE)
        return;
    size_t last = ahead->jobs[--ahead->n];
    ahead->places[job] = NOWHERE;
    if (last != job)
        settle(ahead, place, last);
}

static double ahead_next(const struct slots_ahead *ahead)
{
    return ahead->n > 0 ? ahead->at_s[ahead->jobs[0]] : HUGE_VAL;
}

/* --- service --- */

static double served_until(const struct slots_job_service *of, double now_s)
{
    return of->working > 0 ? of->served_s + (double)of->working * (now_s - of->since_s)
                           : of->served_s;
}

void slots_service_end(struct slots_service *service, size_t job)
{
    ahead_remove(&service->crossings, job);
    ahead_remove(&service->tolerances, job);
}

void slots_service_predict(struct slots_service *service, size_t job, double now_s)
{
    const struct slots_job_service *of = &service->of[job];
    double limit_s = service->limit_s[job];
    double left_s = limit_s - served_until(of, now_s);
    double slack_s = TOLERANCE * fmax(1, limit_s);
    double working = (double)of->working;
    if (!isfinite(limit_s) || (of->working == 0 && left_s > slack_s)) {
        slots_service_end(service, job);
    } else if (left_s <= slack_s) {
        ahead_set(&service->crossings, job, now_s);
        ahead_set(&service->tolerances, job, now_s);
    } else {
        ahead_set(&service->crossings, job, now_s + left_s / working);
        ahead_set(&service->tolerances, job, now_s + (left_s - slack_s) / working);
    }
}

void slots_service_work(struct slots_service *service, size_t job, double now_s, size_t count)
{
    struct slots_job_service *of = &service->of[job];
    of->served_s = served_until(of, now_s);
    of->since_s = now_s;
    of->working += count;
    slots_service_predict(service, job, now_s);
}

void slots_service_rest(struct slots_service *service,
                        size_t job,
                        double now_s,
                        size_t count,
                        double begun_s,
                        double duration_s)
{
    struct slots_job_service *of = &service->of[job];
    /* Of tasks that are over, what counts is their durations, not differences of instants, whose
     * rounding errors would add up. */
    of->served_s = served_until(of, now_s) + (double)count * (duration_s - (now_s - begun_s));
    of->since_s = now_s;
    of->working -= count;
    slots_service_predict(service, job, now_s);
}

/* --- crossings --- */

double slots_service_next(const struct slots_service *service)
{
    return ahead_next(&service->crossings);
}

bool slots_service_belongs(double crossing_s, double t)
{
    return fabs(crossing_s - t) <= TOLERANCE * fmax(1, t);
}

size_t slots_service_take_due(struct slots_service *service, double now_s, size_t jobs[])
{
    size_t n = 0;
    for (double next_s = ahead_next(&service->crossings);
         next_s <= now_s || slots_service_belongs(next_s, now_s);
         next_s = ahead_next(&service->crossings)) {
        jobs[n] = service->crossings.jobs[0];
        slots_service_end(service, jobs[n++]);
    }
    while (ahead_next(&service->tolerances) <= now_s) {
        jobs[n] = service->tolerances.jobs[0];
        slots_service_end(service, jobs[n++]);
    }
    return n;
}

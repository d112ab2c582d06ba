/*
 * A heap of jobs by their next crossing. That changes when tasks begin and end, and not between:
 * with w tasks working, service s at t reaches B at t + (B - s)/w. O(log n) a change.
 */
#include "core/scheduling/slots_service.h"

#include <math.h>
#include <stdint.h>

static const double TOLERANCE = 1e-9;

#define NOWHERE SIZE_MAX

struct slots_job_service {
    double served_s; /* at since_s */
    double since_s;
    size_t working;    /* tasks, since then */
    double crossing_s; /* where it stands in the heap */
    size_t place;      /* in the heap, or NOWHERE */
};

bool slots_service_init(struct slots_service *service, size_t n_jobs, struct arena *arena)
{
    *service = (struct slots_service){
        .limit_s = arena_array(arena, n_jobs, sizeof *service->limit_s),
        .of = arena_calloc(arena, n_jobs, sizeof *service->of),
        .heap = arena_array(arena, n_jobs, sizeof *service->heap),
    };
    if (service->limit_s == NULL || service->of == NULL || service->heap == NULL)
        return false;
    for (size_t i = 0; i < n_jobs; i++) {
        service->limit_s[i] = HUGE_VAL;
        service->of[i].place = NOWHERE;
    }
    return true;
}

/* --- the heap --- */

static bool before(const struct slots_service *service, size_t a, size_t b)
{
    return service->of[a].crossing_s < service->of[b].crossing_s;
}

static void put(struct slots_service *service, size_t place, size_t job)
{
    service->heap[place] = job;
    service->of[job].place = place;
}

/* The job, whose place is free, belongs there, above or below. */
static void settle(struct slots_service *service, size_t place, size_t job)
{
    while (place > 0 && before(service, job, service->heap[(place - 1) / 2])) {
        put(service, place, service->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (size_t child = 2 * place + 1; child < service->n; child = 2 * place + 1) {
        if (child + 1 < service->n &&
            before(service, service->heap[child + 1], service->heap[child]))
            child++;
        if (!before(service, service->heap[child], job))
            break;
        put(service, place, service->heap[child]);
        place = child;
    }
    put(service, place, job);
}

void slots_service_end(struct slots_service *service, size_t job)
{
    size_t place = service->of[job].place;
    if (place == NOWHERE)
        return;
    size_t last = service->heap[--service->n];
    service->of[job].place = NOWHERE;
    if (last != job)
        settle(service, place, last);
}

/* --- service --- */

static double served_until(const struct slots_job_service *of, double now_s)
{
    return of->working > 0 ? of->served_s + (double)of->working * (now_s - of->since_s)
                           : of->served_s;
}

static bool reached(double served_s, double limit_s)
{
    return served_s >= limit_s - TOLERANCE * fmax(1, limit_s);
}

void slots_service_predict(struct slots_service *service, size_t job, double now_s)
{
    struct slots_job_service *of = &service->of[job];
    double limit_s = service->limit_s[job];
    double served_s = served_until(of, now_s);
    if (!isfinite(limit_s) || (of->working == 0 && !reached(served_s, limit_s))) {
        slots_service_end(service, job);
        return;
    }
    service->highest_limit_s = fmax(service->highest_limit_s, limit_s);
    of->crossing_s =
        reached(served_s, limit_s) ? now_s : now_s + (limit_s - served_s) / (double)of->working;
    settle(service, of->place == NOWHERE ? service->n++ : of->place, job);
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
    return service->n > 0 ? service->of[service->heap[0]].crossing_s : HUGE_VAL;
}

bool slots_service_belongs(double crossing_s, double t)
{
    return fabs(crossing_s - t) <= TOLERANCE * fmax(1, t);
}

/* Those at `place` of the heap and below. A job may be due for its service although its crossing is
 * a little later than that of one below it, which is not: so the search goes as far as any can be
 * due. */
static size_t find_due(
    const struct slots_service *service, size_t place, double now_s, double latest_s, size_t jobs[])
{
    if (place >= service->n || service->of[service->heap[place]].crossing_s > latest_s)
        return 0;
    size_t job = service->heap[place];
    const struct slots_job_service *of = &service->of[job];
    bool due = of->crossing_s <= now_s || slots_service_belongs(of->crossing_s, now_s) ||
               reached(served_until(of, now_s), service->limit_s[job]);
    size_t n = 0;
    if (due)
        jobs[n++] = job;
    n += find_due(service, 2 * place + 1, now_s, latest_s, jobs + n);
    n += find_due(service, 2 * place + 2, now_s, latest_s, jobs + n);
    return n;
}

size_t slots_service_take_due(struct slots_service *service, double now_s, size_t jobs[])
{
    double latest_s = now_s + 2 * TOLERANCE * fmax(fmax(1, now_s), service->highest_limit_s);
    size_t n = find_due(service, 0, now_s, latest_s, jobs);
    for (size_t i = 0; i < n; i++)
        slots_service_end(service, jobs[i]);
    return n;
}

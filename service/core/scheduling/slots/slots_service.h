#ifndef CORE_SCHEDULING_SLOTS_SLOTS_SERVICE_H
#define CORE_SCHEDULING_SLOTS_SLOTS_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * The service of jobs, which is the time that their tasks have worked, those that are working up to
 * now; and when it reaches each job's limit (its crossing).
 *
 * Service s is at a limit B when it is within 1e-9 max(1, B) of it or above. A crossing belongs to
 * an instant t when it is not after it, or within 1e-9 max(1, t) of it.
 */
struct slots_job_service;

/* When jobs reach something, the earliest first. */
struct slots_ahead {
    size_t *jobs;   /* a heap */
    size_t *places; /* by job: in the heap */
    double *at_s;   /* by job in the heap */
    size_t n;
};

struct slots_service {
    double *limit_s; /* by job; HUGE_VAL: none. The caller's, who predicts anew after a change */
    struct slots_job_service *of;
    struct slots_ahead crossings;  /* their limits */
    struct slots_ahead tolerances; /* service so close to their limits that it is at them */
};

/* Nobody has been served, and has no limit. false: out of memory. */
bool slots_service_init(struct slots_service *service, size_t n_jobs, struct arena *arena);

/* `count` tasks of a job begin to work. */
void slots_service_work(struct slots_service *service, size_t job, double now_s, size_t count);

/* `count` tasks of a job end that have worked since begun_s, for duration_s each. */
void slots_service_rest(struct slots_service *service,
                        size_t job,
                        double now_s,
                        size_t count,
                        double begun_s,
                        double duration_s);

/* Its limit has changed. */
void slots_service_predict(struct slots_service *service, size_t job, double now_s);

/* The job has ended: it crosses no more. */
void slots_service_end(struct slots_service *service, size_t job);

/* The earliest crossing; HUGE_VAL: there is none ahead. */
double slots_service_next(const struct slots_service *service);

/* Whether a crossing, not after an instant t or soon after it, belongs to t. */
bool slots_service_belongs(double crossing_s, double t);

/* The jobs whose crossings belong to now, in any order; they have none ahead until they are
 * predicted anew. Returns how many. */
size_t slots_service_take_due(struct slots_service *service, double now_s, size_t jobs[]);

#endif

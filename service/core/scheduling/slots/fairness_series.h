#ifndef CORE_SCHEDULING_SLOTS_FAIRNESS_SERIES_H
#define CORE_SCHEDULING_SLOTS_FAIRNESS_SERIES_H

#include "base/arena.h"

/*
 * How evenly jobs are served as time goes on: at equally distant instants, Jain's index (fairness.h)
 * of the consumption of all jobs under way, which is the time that a job's tasks have held slots so
 * far by the time since it arrived (J. Wang, dissertation, UMass Boston 2017, eq. 3.1), 0 at its
 * arrival. Without jobs under way it is 1.
 *
 * There are never more than FAIRNESS_SAMPLES_MAX instants: when one more is due, every second one is
 * dropped and they are from then on twice as far apart.
 */
enum { FAIRNESS_SAMPLES_MAX = 200 };

struct fairness_points {
    double start_s; /* of the first one */
    double step_s;  /* between two */
    size_t n;
    double values[FAIRNESS_SAMPLES_MAX];
};

struct fairness_job; /* of a job, its consumption */

struct fairness_series {
    struct fairness_points points;
    struct fairness_job *jobs;
    size_t *active; /* jobs under way, in order of arrival, and some that have ended */
    size_t n_active;
    size_t n_ended; /* of these, less than half */
};

/* Nobody has arrived; the first sample is at start_s. Lives in the arena. false: out of memory. */
bool fairness_series_begin(struct fairness_series *series,
                           size_t n_jobs,
                           double start_s,
                           struct arena *arena);

/* Nothing has changed since the last call, up to an instant: samples before it are taken. O(jobs under
 * way) for each. */
void fairness_series_advance(struct fairness_series *series, double at_s);

/* At an instant up to which the series was advanced: a job arrives; it holds so many slots more, or
 * fewer; it ends. O(1), amortized. */
void fairness_series_arrive(struct fairness_series *series, size_t job, double at_s);
void fairness_series_hold(struct fairness_series *series, size_t job, double at_s, double by);
void fairness_series_end(struct fairness_series *series, size_t job);

#endif

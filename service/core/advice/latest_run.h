#ifndef CORE_ADVICE_LATEST_RUN_H
#define CORE_ADVICE_LATEST_RUN_H

#include "core/advice/advise.h"
#include "core/scaling/history/run_observations.h"

/*
 * Does the newest run deviate from what the runs before it let expect at its size and executors?
 *
 * Runs are read in the order of time, without those that lost executors, whose time does not recur.
 * Each is predicted from those before it whose size and cores are like those of the newest (within a factor of LATEST_RUN_LIKE): ln T is linear in ln N and
 * ln K (K = executors x cores), by least squares with weak priors on both slopes,
 *
 *     ln T = c + a ln N - b ln K + e       a ~ N(0.7, 0.35^2), b ~ N(0.6, 0.4^2)
 *
 * so that runs of one configuration are compared with their mean, and sizes that differ a little
 * with a mean that is moved a little. e has Student's t with the prior of replays
 * (CURVE_PRIOR_FREEDOM runs of CURVE_PRIOR_SPREAD): a few runs that agree do not make a narrow
 * interval. A run outside the interval of LATEST_RUN_CONFIDENCE deviates; it and the runs behind it
 * that deviate to the same side are a streak. The runs of a streak are not learnt from until
 * the streak ends, or has LATEST_RUN_SETTLED runs: then its level is expected.
 *
 * The next run has the level of the streak with the probability
 *
 *     (1 + stays) / (2 + stays + returns)
 *
 * (Laplace's rule of succession), where `stays` counts runs of any streak that came behind another
 * of it, and `returns` the streaks that ended. After a first slow run it is 1/2, after k of them
 * k / (k + 1), and less for an application whose slow runs used to stay alone.
 */
#define LATEST_RUN_CONFIDENCE 0.95
#define LATEST_RUN_LIKE 2.0
enum { LATEST_RUN_SETTLED = 6, LATEST_RUN_LOOKED_AT = 60 };

struct latest_run {
    bool deviates;     /* false: as expected, or nothing to compare it with. Then all else is 0 */
    bool slower;       /* than expected */
    char run_id[37];   /* "": not stored */
    double duration_s; /* of the newest run */
    double expected_s; /* from the runs before the streak */
    double interval_s[2]; /* that it was expected in, with LATEST_RUN_CONFIDENCE */
    double problem_size;
    int64_t executors;
    size_t compared;                 /* runs before the streak that it is compared with */
    size_t streak;                   /* newest runs in a row that deviate; >= 1 */
    size_t rows[LATEST_RUN_SETTLED]; /* of the streak, newest first */
    double shift;                    /* mean ln(actual / expected) of the streak */
    double persistence;              /* probability that the next run has its level */
    /* The stage that took most of the difference, compared with its median in the other runs. */
    bool has_stage;
    bool other_stages; /* no run that it could be compared with has its stages */
    int64_t stage_id;
    double stage_s;
    double stage_usual_s;
};

/* Judges the newest run whose labels are those asked about. O(n^2) with n <= LATEST_RUN_LOOKED_AT. */
struct latest_run latest_run_find(const struct run_observations *seen);

/* Does the run belong to the streak? */
bool latest_run_has(const struct latest_run *latest,
                    const struct run_observations *seen,
                    const char *run_id);

/*
 * Finds the stage that took the extra time.
 *
 * runs     n with stages, the newest among them or not; borrowed.
 * scratch  back at its mark. PV_E_MEMORY.
 */
enum pv_code latest_run_find_stage(struct latest_run *latest,
                                   const struct run_observations *seen,
                                   const struct run runs[],
                                   size_t n,
                                   struct arena *scratch,
                                   struct pv_error *err) PV_MUSTCHECK;

/*
 * Makes of *curve, which predicts from the runs before the streak, a curve of two levels
 * (curve->other): that of the streak with the probability latest->persistence, that of *curve
 * else. The likelier level becomes the curve, the other one curve->other. Does nothing unless the
 * newest run is slower than expected.
 *
 * of_streak  what the runs of the streak predict, with the same points; NULL: *curve times
 *            exp(latest->shift), with the prior of replays
 * is_of_streak  *curve itself predicts from runs of the streak alone
 * arena      holds the other curve. PV_E_MEMORY.
 */
enum pv_code latest_run_mix(const struct latest_run *latest,
                            const struct curve *of_streak,
                            bool is_of_streak,
                            struct arena *arena,
                            struct curve *curve,
                            struct pv_error *err) PV_MUSTCHECK;

/* The warning latest_run_deviates. PV_E_MEMORY. */
enum pv_code latest_run_explain(const struct latest_run *latest,
                                struct advice *advice,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

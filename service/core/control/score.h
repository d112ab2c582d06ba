#ifndef CORE_CONTROL_SCORE_H
#define CORE_CONTROL_SCORE_H

#include "core/control/baseline.h"
#include "core/control/penalty.h"

/*
 * Configurations of the control loop side by side: each is simulated with the same random numbers,
 * once for each repetition, and has a score, the mean of its penalties (docs/design.md,
 * "Penalties").
 */

/* Everything but the configuration. */
struct control_problem {
    const struct edf_job *jobs;
    const struct control_job *terms;
    const struct control_stake *stakes;
    size_t n;
    struct control_cluster cluster;
    struct control_options options; /* seed: of the first repetition; each next one has the next */
    size_t repetitions;             /* >= 1 */
};

/* A configuration. */
struct control_point {
    const struct contention_strategy *strategy;
    double gamma;
    double alpha; /* of all jobs; NAN: that of each */
    double gain;
    double integral_time_s;
};

/* Means over the repetitions. Numbers that are not known are NAN. */
struct control_score {
    double *totals;    /* of each repetition: the sum of weight x penalty over all jobs */
    double *penalties; /* of each job, without its weight */
    size_t repetitions;
    double total;
    double deviation; /* standard, of the totals; NAN: there is but one */
    double least;
    double most;
    double core_s; /* of quotas, over all jobs */
    double used_s; /* by tasks */
    double late;   /* jobs */
};

/* What simulations may cost, what they have cost, and who is to know. */
struct control_effort {
    double steps_max;
    double steps;
    size_t simulations;
    struct control_progress progress; /* report NULL: nobody */
};

/* Nothing yet, with room for all repetitions. false: out of memory. */
bool control_score_init(struct control_score *score,
                        const struct control_problem *problem,
                        struct arena *arena);

/* What came of the next repetition. After the last one the score is complete. */
void control_score_add(struct control_score *score,
                       const struct control_problem *problem,
                       const struct control_model *model,
                       const struct control_result *result);

/* Two sums differ by more than those of the same numbers in another order do: 1 core for 40 s is what
 * 40 grants of a second add up to. */
bool control_totals_differ(double a, double b);

/* a goes before b: a smaller total, then fewer core seconds. */
bool control_score_is_better(const struct control_score *a, const struct control_score *b);

/* The standard error of the difference of two totals, repetition by repetition; NAN with one. */
double control_score_error(const struct control_score *a, const struct control_score *b);

/*
 * The repetitions from number `first` on of n configurations, and of the baselines unless that is
 * NULL; scores have those before. scratch is back at its mark. As control_simulate.
 */
enum pv_code control_score_points(const struct control_problem *problem,
                                  const struct control_point points[],
                                  size_t n,
                                  size_t first,
                                  struct control_effort *effort,
                                  struct arena *scratch,
                                  struct control_score scores[],
                                  struct control_score baselines[],
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

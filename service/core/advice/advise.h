#ifndef CORE_ADVICE_ADVISE_H
#define CORE_ADVICE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"
#include "core/advice/curve.h"
#include "core/cluster/billing.h"

/*
 * Choose an executor count from a predicted curve. Every point of the curve is looked at: list
 * scheduling with precedence is not monotone in the number of cores, so nothing here bisects.
 */
enum advise_objective {
    ADVISE_MIN_EXECUTORS, /* the fewest executors that meet the deadline */
    ADVISE_MIN_COST,      /* the least cost, by what is billed of executors or machines; without a
                             price the least executors x time. Ties: fewer executors, or the shorter
                             time where more than their time is billed */
    ADVISE_MIN_TIME,      /* the shortest predicted time; ties: fewer executors */
    ADVISE_MAX_SPEEDUP,   /* the fewest executors within one percent of the greatest speedup */
    ADVISE_EFFICIENCY,    /* the knee: the greatest speedup x efficiency (= S^2 / m) */
    ADVISE_OBJECTIVES
};

/* Names on the wire, in the order of the enum. */
const char *advise_objective_name(enum advise_objective objective);

struct advise_goal {
    enum advise_objective objective;
    double deadline_s; /* > 0; NAN: none */
    double confidence; /* 0 < confidence < 1 */
    int64_t min_executors;
    int64_t max_executors;
    const char *limited_by; /* who sets max_executors, static; NULL: only what can be predicted */
    struct billing billing; /* its price NAN: unknown */
    double max_cost;        /* NAN: no limit; needs a price */
    /* Without a deadline and with ADVISE_MIN_EXECUTORS: not slower than so many executors by more
     * than the tolerance, at the least cost. */
    int64_t last_executors;   /* of the last run; RUN_UNKNOWN: unknown */
    double tolerance_percent; /* >= 0 */
};

/* An interval whose ends differ by a larger factor supports no recommendation: the verdict is
 * unknown. */
#define ADVISE_INTERVAL_WIDEST 10.0

/* Share of the shortest time by which an answer that is late anyway may be slower. */
#define ADVISE_NEAR_FASTEST 0.02

/* Probability by which an answer that is at risk may be worse than the best: more executors for
 * less than that are not worth their cost. */
#define ADVISE_NEAR_BEST 0.02

/* Probability, and share of the time, that a few runs do not tell apart: for a gain of no more the
 * executors of the last run are not left for more. */
#define ADVISE_NOISE 0.05

/* What advice comes to. An answer is fit to be acted on without a look only where it is met. */
enum advise_verdict {
    ADVISE_MET,     /* the recommendation meets the deadline with the asked confidence; also where
                       there is no deadline to miss */
    ADVISE_AT_RISK, /* some allowed count is predicted to be in time, none with that confidence */
    ADVISE_MISSED,  /* no allowed count is predicted to be in time */
    ADVISE_UNKNOWN, /* the history does not allow an answer (core/advice/history_limits.h) */
    ADVISE_VERDICTS
};

/* Names on the wire, in the order of the enum. */
const char *advise_verdict_name(enum advise_verdict verdict);

/* One executor count with everything that follows from the curve. */
struct advise_choice {
    int64_t executors;
    double predicted_duration_s;
    double lower_s; /* interval whose probability is the asked confidence */
    double upper_s;
    double deadline_probability; /* NAN without a deadline */
    double speedup;
    double efficiency;
    double executor_s;
    double cost; /* NAN without a price */
};

struct advise_remedies {
    double deadline_s;     /* the least that an allowed count meets with confidence; NAN: none */
    int64_t max_executors; /* within the cost; RUN_UNKNOWN: no count on the curve helps */
    double max_cost;       /* the least of an allowed count that would do; NAN: without max_cost, or
                              none does */
};

/* A slowdown of the newest runs (curve->other), and what more executors would do about it. */
struct advise_slowdown {
    bool known;               /* there is one, and a deadline */
    int64_t usual_executors;  /* that would be advised without it */
    int64_t supported;        /* up to so many, runs show what more executors do */
    int64_t guess_executors;  /* beyond them, more likely to meet the deadline; RUN_UNKNOWN */
    double guess_probability; /* if the extra work is shared as the replay has it */
};

struct advice {
    enum advise_verdict verdict;
    struct advise_slowdown slowdown;
    enum advise_objective objective; /* the one followed: least cost where a deadline was lacking,
                                        efficiency where the last run is unknown, too */
    struct advise_choice recommendation;
    struct advise_choice *alternatives; /* Pareto front of time and cost, the recommendation and the
                          next fewer executors; fastest first */
    size_t n_alternatives;
    struct advise_remedies remedies; /* where the verdict is at risk or missed */
    struct findings reasons;
    struct findings warnings;
    int64_t data_needed_runs; /* 0: none */
    bool data_needed_decides; /* whether stages follow the cores, on which the answer rests */
    const char *data_needed_why;
    double data_needed_problem_size; /* of the runs that would help most, and on how many */
    int64_t data_needed_executors[2];
    size_t n_data_needed; /* executor counts; 0: any run of the job helps */
};

/* Is it within the cost that is allowed? */
bool advise_is_affordable(const struct advise_goal *goal, const struct curve_point *point);

/* May this point be chosen: within the executors and the cost that are allowed? */
bool advise_is_allowed(const struct advise_goal *goal, const struct curve_point *point);

/* The allowed point with the next fewer executors than `point` of the same curve, or NULL. */
const struct curve_point *advise_point_below(const struct curve *curve,
                                             const struct advise_goal *goal,
                                             const struct curve_point *point);

/*
 * Data that decide whether stages follow the cores: one run on the executors of `point` if the
 * hypotheses differ there, else on half as many as the nearest run had. Returns false, and changes
 * nothing, if no stage is undecided. point may be NULL.
 */
bool advise_need_deciding_run(const struct curve *curve,
                              const struct curve_point *point,
                              struct advice *advice);

/*
 * Choose, and say why. Where the verdict is
 *
 * met      the best by the objective of the allowed points that meet the deadline with confidence;
 * at risk  the fewest executors within ADVISE_NEAR_BEST of the best probability;
 * missed   the fewest executors within ADVISE_NEAR_FASTEST of the shortest time.
 *
 * At risk or missed, the executors of the last run stay if more gain at most ADVISE_NOISE. While the
 * newest runs are slower than expected (curve->other), no more executors are chosen for that than
 * ran, or than would have been chosen without the slowdown: that more of them help is a guess.
 *
 * Of the fewest executors that meet a deadline an earlier one, or a higher confidence, never asks
 * for fewer. That ends where the verdict changes: the last deadline met with confidence may take
 * all executors allowed, and of those at risk nearly as probable fewer ones are advised.
 *
 * curve      must hold a point within [min_executors, max_executors]; points beyond max_executors
 *            serve the remedies. Borrowed.
 * advice     what it points at lives in `arena`.
 * PV_E_INVALID with a fault at /constraints when no point is allowed (also: none within max_cost).
 * PV_E_MEMORY.
 */
enum pv_code advise(const struct curve *curve,
                    const struct advise_goal *goal,
                    struct arena *arena,
                    struct advice *advice,
                    struct pv_error *err) PV_MUSTCHECK;

#endif

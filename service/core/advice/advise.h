#ifndef CORE_ADVICE_ADVISE_H
#define CORE_ADVICE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"
#include "core/advice/curve.h"

/*
 * Choose an executor count from a predicted curve. Every point of the curve is looked at: list
 * scheduling with precedence is not monotone in the number of cores, so nothing here bisects.
 */
enum advise_objective {
    ADVISE_MIN_EXECUTORS, /* the fewest executors that meet the deadline */
    ADVISE_MIN_COST,      /* the least executors x time (times the price, where one is given) */
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
    double price_per_executor_hour; /* NAN: unknown */
    double max_cost;                /* NAN: no limit; needs a price */
};

/* Share of the shortest time by which an answer that is late anyway may be slower. */
#define ADVISE_NEAR_FASTEST 0.02

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
    int64_t max_executors; /* RUN_UNKNOWN: no count on the curve helps */
};

struct advice {
    bool feasible;
    enum advise_objective objective; /* the one followed: efficiency where a deadline was lacking */
    struct advise_choice recommendation;
    struct advise_choice
        *alternatives; /* Pareto front of time and executor seconds, the recommendation and the
                          next fewer executors; fastest first */
    size_t n_alternatives;
    struct advise_remedies remedies; /* only when not feasible */
    struct findings reasons;
    struct findings warnings;
    int64_t data_needed_runs; /* 0: none */
    const char *data_needed_why;
};

/* May this point be chosen: within the executors and the cost that are allowed? */
bool advise_is_allowed(const struct advise_goal *goal, const struct curve_point *point);

/* The allowed point with the next fewer executors than `point` of the same curve, or NULL. */
const struct curve_point *advise_point_below(const struct curve *curve,
                                             const struct advise_goal *goal,
                                             const struct curve_point *point);

/*
 * Choose, and say why. Where no allowed point is predicted to meet the deadline, the recommendation
 * is the fewest executors within ADVISE_NEAR_FASTEST of the shortest time allowed.
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

#ifndef CORE_ADVICE_CURVE_H
#define CORE_ADVICE_CURVE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/same_runs.h"
#include "core/history/task_slots.h"
#include "core/history/warned_runs.h"
#include "core/scaling/model/predicted_times.h"
#include "core/scaling/model/predictive.h"

/*
 * The predicted duration over the number of executors: from replays of recorded runs
 * (core/advice/replay_curve.h), or from a fitted model (core/advice/model_curve.h).
 */

struct curve_question {
    double problem_size;
    int64_t cores_per_executor;
    const int64_t *executors; /* the counts to predict, ascending, >= 1 */
    size_t n_executors;
    uint64_t task_budget;  /* simulated tasks over all replays; far runs are left out beyond it */
    size_t least_runs;     /* as many must fit the budget (where there are so many) */
    int64_t executors_max; /* with fewer cores each, the counts extend as far; 0: they stay */
};

/* The prior of the spread: as if three runs had shown residuals of 10 percent. */
#define CURVE_PRIOR_FREEDOM 3.0
#define CURVE_PRIOR_SPREAD 0.10

#define CURVE_GROWN 1.05 /* ratio of sizes that shows growth */

/* Outside the range, and not the same as either end of it (problem_size_is_same)? */
bool curve_beyond_sizes(double size, double least, double most);

struct curve_point {
    int64_t executors;
    double duration_s; /* median */
    /* Durations if undecided stages follow the machines (first) and if they do not (second). The
     * distribution is the mixture of both. n_centres is 0 if the runs decide or both agree. */
    struct predictive_centre centres[PREDICTIVE_CENTRES_MAX];
    size_t n_centres;
    double spread; /* scale of ln T, Student's t with the curve's freedom; see `own` */
    /* The distribution of a point that is not replayed; NULL: the one above. */
    const struct predictive *own;
    const struct same_runs *ran; /* of this configuration; NULL: none */
    /* What bounds it, from the nearest run: */
    double fixed_s;
    double critical_path_s;
    double work_s;
    double work_per_slot_s;
    double longest_task_s;
    int64_t longest_stage_id; /* as in struct replay_outcome */
    bool longest_is_cut_anew;
    bool longest_follows_cores;
    double recorded_work_s;
    double overhead_per_task_s;
    double waiting_s; /* for executors, as replay_outcome has it, and so the two below */
    double cache_hit;
    double cache_doubt_s;
    double tasks;
    bool extrapolated; /* cores outside what the runs cover */
};

/* Task slots of stages of one resource profile, on executors that are asked about. */
enum { CURVE_SLOTS_MAX = 4, CURVE_RESOURCE_MAX = 32 };
struct curve_slots {
    struct task_slots of; /* its resource is NULL: a curve outlives its runs, so it has a copy */
    char resource[CURVE_RESOURCE_MAX]; /* "": only cores count */
    int64_t per_executor;              /* slots */
    int64_t cores;                     /* of an executor */
};

/* A run from which the platform took executors away, and what that cost. */
struct curve_losses {
    char run_id[37]; /* "": not stored */
    int64_t executors;
    int64_t lost;
    double duration_s;
    double cost_s; /* of it; 0: nothing, or it is not known when they went */
};

struct curve {
    const char *size_measure; /* of problem sizes, of size_measure_words; NULL: unknown */
    /* Another level at which the job may run, by the newest runs (core/advice/latest_run.h): with that
     * probability its points hold. Their executors are those of `points`. NULL: there is none. */
    const struct curve *other;
    double other_weight;
    bool other_is_usual;    /* `points` are what the newest runs show, because that is likelier */
    const char *model_kind; /* NULL: replayed; else the model it is from (model_curve.h) */
    struct curve_point *points; /* one a count asked, same order */
    size_t n_points;
    double problem_size;
    int64_t cores_per_executor;
    double single_s;          /* predicted with one executor */
    double freedom;           /* degrees of freedom of the spread */
    size_t runs;              /* replayed */
    size_t runs_left_out;     /* beyond the budget */
    size_t runs_unusable;     /* that cannot be replayed */
    const char *unusable_why; /* of the first of them, in the arena; NULL: none */
    double loo_mape_percent;  /* NAN with fewer than two runs, or none that the budget let judge */
    double residual_spread;   /* scale before distance */
    bool size_extrapolated;   /* curve_beyond_sizes */
    bool executor_cores_extrapolated; /* no run had as many cores per executor */
    size_t stages_assumed;   /* of one run: follow the cores, as far as one number of cores shows */
    double growth_deviation; /* of the exponent of the duration over N, outside the runs' sizes */
    bool graph_changed;      /* the runs do not all have the same stages */
    double least_size, most_size;
    int64_t least_cores, most_cores;
    struct curve_slots slots[CURVE_SLOTS_MAX]; /* of stages that differ, of the nearest run */
    size_t n_slots;           /* 0: each core takes a task, for all that is known */
    int64_t fewest_executors; /* that each barrier stage needs; 1 without barrier stages */
    char nearest_run_id[37];
    double nearest_size;
    int64_t nearest_executors;
    /* Replays do not simulate these of the nearest run: task seconds of attempts that failed or lost
     * against a copy, their share of all task seconds, and excluded executors. */
    double attempts_s;
    double attempts_share;
    int64_t executors_excluded;
    size_t distinct_cores;
    size_t runs_with_losses;    /* replayed runs from which the platform took executors away */
    struct curve_losses losses; /* of the nearest of them */
    struct warned_runs warned;  /* of the runs that were replayed, or that the model is fitted to */
};

/* How many distinct executor counts a curve over 1..most has at the most. */
enum { CURVE_POINTS_MAX = 512 };

/*
 * Executor counts to predict: all from 1 on for half of `room` points, then growing steps up to
 * `most`, and every count in `extra` (zeros are passed over). Ascending, distinct. out has room for
 * CURVE_POINTS_MAX; `room` is kept within 8 and that, extras included. Returns how many.
 */
size_t curve_grid(size_t room, int64_t most, const int64_t extra[], size_t n_extra, int64_t out[]);

/* How long a run may take there, by the prediction at the usual level alone. Probabilities, quantiles
 * and intervals come from it, from the other level, and from what runs of the configuration showed
 * (core/advice/same_runs.h): their distribution is the lesser of both at every duration. */
struct predictive curve_predictive(const struct curve *curve, const struct curve_point *point);

/* P(T <= deadline_s) at a point. GSL's error handler must be off. */
double
curve_probability(const struct curve *curve, const struct curve_point *point, double deadline_s);

/* The duration that is not exceeded with probability p, 0 < p < 1; NAN: no bound. */
double curve_quantile(const struct curve *curve, const struct curve_point *point, double p);

/* Both ends of the interval that holds T with that probability; NAN: open, or unknown. */
void curve_interval(const struct curve *curve,
                    const struct curve_point *point,
                    double confidence,
                    double ends_s[2]);

/* Speedup over one executor of the same kind. */
double curve_speedup(const struct curve *curve, const struct curve_point *point);

/*
 * Its points with a time, for a law to continue to other sizes.
 *
 * confidence  of the intervals, inside (0, 1).
 * interval_of the executor count to give an interval for; RUN_UNKNOWN: all of them.
 * arena       holds what *times points at.
 * PV_E_MEMORY.
 */
enum pv_code curve_predicted_times(const struct curve *curve,
                                   double confidence,
                                   int64_t interval_of,
                                   struct arena *arena,
                                   struct predicted_times *times,
                                   struct pv_error *err) PV_MUSTCHECK;

/* The point of that executor count, or NULL. */
const struct curve_point *curve_find(const struct curve *curve, int64_t executors);

#endif

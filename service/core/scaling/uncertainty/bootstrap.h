#ifndef CORE_SCALING_UNCERTAINTY_BOOTSTRAP_H
#define CORE_SCALING_UNCERTAINTY_BOOTSTRAP_H

#include <stdint.h>

#include "core/scaling/selection/selection.h"
#include "core/scaling/uncertainty/resample.h"

/*
 * How sure one may be of a fitted model: the kind is fitted again to many histories like the one
 * observed (core/scaling/uncertainty/resample.h), and the spread of what comes out gives intervals
 * for its parameters and predictions (core/scaling/uncertainty/bca.h).
 *
 * Beside that, selection stability: which kind `auto` selects when some cells are missing. As many
 * cells are left out at random as the root of their number, which is what the jackknife needs to be
 * consistent for choices that jump (J. Shao, C. F. J. Wu, "A general theory for jackknife variance
 * estimation", Annals of Statistics 17, 1989). They are left out and not drawn twice, since a run
 * whose copy stays behind is no run left out.
 *
 * The work is cut into steps. A step is a function of the order and its number alone: it draws from
 * its own stream of the seed and writes its own slots. Any order of steps on any number of threads
 * gives the same answer, and whoever runs them can stop between two.
 */

struct bootstrap_point {
    double problem_size;
    double executors;
};

/* What is asked; arrays are borrowed until bootstrap_finish. */
struct bootstrap_order {
    const struct model_kind *kind;
    enum model_weights weights;
    const struct observation *rows; /* of one form */
    size_t n;
    const struct bootstrap_point *points;
    size_t n_points;
    size_t resamples;  /* >= 1 */
    size_t selections; /* how often `auto` is asked; none of a history of less than 3 cells */
    double confidence; /* of intervals, inside (0, 1) */
    uint64_t seed;
};

/* Runs are drawn again from one group of labels: what was selected, or the best single kind where
 * that learns from other groups. NULL: no kind that learns from the group alone can be compared. */
const struct model_kind *bootstrap_kind(const struct model_selection *selection);

/* The configurations observed, in order, thinned evenly where there are more than `most`. They live
 * in `arena`. PV_E_MEMORY. */
enum pv_code bootstrap_observed_points(const struct observation rows[],
                                       size_t n,
                                       size_t most,
                                       struct arena *arena,
                                       struct bootstrap_point **points,
                                       size_t *n_points,
                                       struct pv_error *err) PV_MUSTCHECK;

struct bootstrap;

/*
 * Fit the kind and make room for all answers in `arena`, which has to outlive *made.
 *
 * What model_fit answers where the kind cannot be fitted; PV_E_TOO_FEW where nothing shows how far
 * the law is off (resample_make); PV_E_MEMORY.
 */
enum pv_code bootstrap_begin(const struct bootstrap_order *order,
                             struct arena *arena,
                             struct bootstrap **made,
                             struct pv_error *err) PV_MUSTCHECK;

/* How many steps there are: resamples, selections, and fits without a part of the cells. Some cost
 * a hundred times others and stand together. Taken by permutation_step
 * (core/numerics/permutation.h) they mix: so progress goes on evenly, and the estimate of the end
 * can be trusted. */
size_t bootstrap_steps(const struct bootstrap *bootstrap);

/*
 * Do step i. scratch is working memory, back at its mark when the call returns; threads have one
 * each. PV_E_MEMORY: the step is not done. The time of one fit, or of one model_select.
 */
enum pv_code bootstrap_step(struct bootstrap *bootstrap,
                            size_t i,
                            struct arena *scratch,
                            struct pv_error *err) PV_MUSTCHECK;

struct bootstrap_figure {
    double estimate;  /* by the fit to all rows; NAN: there is none */
    double std_error; /* over resamples; NAN: unknown, as are the ends of the interval */
    double interval[2];
};

struct bootstrap_prediction {
    struct bootstrap_point point;
    struct bootstrap_figure expected; /* what the law says: duration, or speedup */
    double next_run[2];               /* interval of one more run there; NAN: unknown */
};

struct bootstrap_choice {
    const struct model_kind *kind;
    size_t times;
};

struct bootstrap_result {
    const struct model_fit *fit; /* to all rows; in the arena of bootstrap_begin */
    enum resample_method method;
    bool cell_errors; /* cells stray from the law by more than their runs do */
    size_t cells;
    double freedom; /* degrees of freedom of the errors */
    size_t resamples;
    size_t failed; /* resamples to which the kind could not be fitted */
    struct bootstrap_figure parameters[MODEL_PARAMETERS_MAX]; /* in the order of the kind */
    struct bootstrap_prediction *predictions;                 /* of each point asked for */
    size_t n_predictions;
    size_t selections; /* how often `auto` was asked; 0: too few cells to leave any out */
    size_t left_out;   /* cells each time */
    size_t undecided;  /* times that no kind could be compared */
    struct bootstrap_choice *choices; /* most often selected first */
    size_t n_choices;
};

/* After all steps. Where half of the resamples failed no figure has an interval. PV_E_MEMORY. */
enum pv_code bootstrap_finish(const struct bootstrap *bootstrap,
                              struct arena *arena,
                              struct bootstrap_result *result,
                              struct pv_error *err) PV_MUSTCHECK;

#endif

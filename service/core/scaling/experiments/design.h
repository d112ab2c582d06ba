#ifndef CORE_SCALING_EXPERIMENTS_DESIGN_H
#define CORE_SCALING_EXPERIMENTS_DESIGN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/experiments/factor_effects.h"
#include "core/scaling/model/law.h"
#include "core/scaling/model/observation.h"
#include "core/scaling/model/predicted_times.h"

/*
 * Which runs to make next (docs/design.md, "Next experiments"): those among the allowed
 * (problem size, executors) that teach most about how an application scales.
 *
 * IMSE: one run after another, the one that is expected to reduce the mean squared error at the
 * points asked about most (imse.h). It follows no model: the prior that it starts from does with no
 * run at all.
 *
 * Cheapest: likewise, the one that reduces it most for the square root of the executor-seconds it
 * costs. So that not the tiniest run wins by costing nothing, only those take part that reduce it
 * by at least EXPERIMENTS_WORTH of what the best does.
 *
 * D-optimal: the set of runs that, with those already there, makes the determinant of the
 * information greatest. Greedy, then exchanged pair by pair as long as that gains (V. V. Fedorov,
 * "Theory of Optimal Experiments", 1972, chapter 3; A. C. Atkinson, A. N. Donev, "Optimum
 * Experimental Designs", 1992, chapter 15). The laws are not linear in their parameters, so this is
 * a local design at the estimates. No single exchange improves what is returned; without a budget
 * the log determinant gained is no less than 1 - 1/e of the greatest possible, for it is a
 * submodular function of the runs (G. Nemhauser, L. Wolsey, M. Fisher, Math. Programming 14, 1978).
 * A model without parameters to move (interpolation) is filled where its gap is widest: the
 * distance to the nearest run in (ln N, ln m) (M. Johnson, L. Moore, D. Ylvisaker, "Minimax and
 * maximin distance designs", J. Statistical Planning and Inference 26, 1990).
 *
 * Without a model, factor_effects.h says what is assumed of times; with no runs either, D-optimal
 * is the design that Ernest makes before its first run (S. Venkataraman and others, NSDI 2016,
 * section 3), with a determinant in place of a trace.
 *
 * Ties (to one part in 10^9) go to the run that costs less, then to the smaller one.
 */
enum { EXPERIMENTS_MAX = 20 };
/* Of what the best run does: one that does less is not suggested as cheapest. */
#define EXPERIMENTS_WORTH 0.1

enum experiments_criterion { EXPERIMENTS_IMSE, EXPERIMENTS_CHEAPEST, EXPERIMENTS_D_OPTIMAL };

struct experiments_question {
    const struct effects_point *allowed; /* N >= 1, m >= 1; a point may be chosen more than once */
    size_t n_allowed;                    /* >= 1 */
    const struct effects_point *asked;   /* where the time is wanted */
    size_t n_asked;                      /* >= 1 */
    enum experiments_criterion criterion;
    size_t count;          /* runs: 1 to EXPERIMENTS_MAX */
    double confidence;     /* of the interval to narrow */
    double executor_s_max; /* all of them together may cost; NAN: no limit. Counts only where times
                              are known */
    double doubt;          /* of effects the law leaves out: EFFECTS_DOUBT */
    /* What runs cost, and the interval asked about, where somebody knows better than the law; n = 0:
     * nobody does. */
    struct predicted_times predicted;
};

/* What makes a run worth while, the first that applies. */
enum experiments_reason {
    EXPERIMENTS_FIRST,         /* there is none at all */
    EXPERIMENTS_NEW_EXECUTORS, /* all others have one executor count */
    EXPERIMENTS_NEW_SIZE,      /* all others have one problem size */
    EXPERIMENTS_NEW_SHARE,     /* all others have one N/m */
    EXPERIMENTS_REPEATS,       /* a configuration that is there: separates noise from effect */
    EXPERIMENTS_WIDENS,        /* beyond the range of the others */
    EXPERIMENTS_WIDEST_GAP,
    EXPERIMENTS_LEAST_CERTAIN,
    EXPERIMENTS_MOST_CERTAINTY,
    EXPERIMENTS_MOST_FOR_COST
};

/* One configuration to run, once or more often. */
struct experiment {
    struct effects_point at;
    enum experiments_reason reason;
    size_t there;                  /* runs of this configuration that are there already */
    size_t repeat;                 /* how often to run it now: >= 1 */
    double uncertainty_percent;    /* of the time there before it: one standard deviation; NAN */
    double duration_s;             /* expected of one run; NAN: unknown */
    double executor_s;             /* of all its runs */
    double cut_percent;            /* of the interval asked about, by its runs alone; NAN */
    double cumulative_cut_percent; /* by them and those of all items before it */
};

struct experiments_plan {
    struct experiment *items; /* different configurations, in the order they were first chosen */
    size_t n;
    size_t runs;          /* repetitions counted: fewer than asked where the budget ends */
    bool from_model;      /* else from what is assumed before there is a model */
    size_t without_time;  /* allowed points for which the model has no time */
    double cheapest_s;    /* executor seconds of the cheapest allowed point; NAN: unknown */
    double interval_s[2]; /* of the first point asked about, as it is now; NAN */
    double expected_interval_s[2]; /* after all of them */
};

/*
 * rows   n >= 0 observations of durations, borrowed; their order changes no digit.
 * model  fitted to durations, or NULL. Points asked about where it has no time > 0 are passed over;
 *        where that is all of them it is not followed.
 * arena  holds plan->items and working memory.
 *
 * What question->predicted says of times and of the interval replaces what the law says of them; the
 * law still says what the runs teach.
 *
 * The cut is of the mean width of the intervals at the points asked about, each as a share of its
 * time. Of a model it is that of its own intervals (model_predict) after the run came out as
 * expected: parameters' covariance, degrees of freedom, the range observed and the score of the run
 * itself move; the scatter of residuals and the scores of the other runs stay. Without a model, or
 * where an interval has an open end, it is of the standard deviation that effects still unknown and
 * the noise of a run leave there.
 *
 * PV_E_MEMORY. D-optimal O(sweeps count n_allowed k^2), k effects; the others as imse_begin and
 * `count` times imse_add.
 */
enum pv_code experiments_choose(const struct observation rows[],
                                size_t n,
                                const struct model *model,
                                const struct experiments_question *question,
                                struct arena *arena,
                                struct experiments_plan *plan,
                                struct pv_error *err) PV_MUSTCHECK;

/* Word on the wire. */
const char *experiments_reason_name(enum experiments_reason reason);

#endif

#ifndef CORE_SCALING_EXPERIMENTS_IMSE_H
#define CORE_SCALING_EXPERIMENTS_IMSE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/experiments/factor_effects.h"
#include "core/scaling/model/observation.h"

/*
 * By how much a run is expected to reduce the mean squared error of predictions, integrated over
 * the points asked about: the IMSE criterion (J. Sacks, W. Welch, T. Mitchell, H. Wynn, "Design and
 * analysis of computer experiments", Statistical Science 4, 1989), one run after another.
 *
 * The logarithm of the duration is a Gaussian process over x and u, ln N and ln m scaled to [0, 1]
 * over the region (allowed points, points asked about, runs); an axis on which the region has one
 * value stands at 1/2. Before any run the covariance of two cells (x, u) and (y, v) is
 *
 *     1 + (x - 1/2)(y - 1/2) + 4 (u - 1/2)(v - 1/2) + tau^2 exp(-hypot(x - y, u - v) / 0.5)
 *
 * with tau = 0.15: a power law in N and m whose level and exponents are unknown, and a smooth
 * departure from it. A run errs with variance 0.03^2; a weight w counts as w runs. No fitted model
 * takes part, so that a model that is wrong where nothing was measured cannot mislead the choice.
 *
 * With C the covariance after the runs that are there, one run at i reduces the variances at the
 * points a asked about by the sum of C_ai^2 / (C_ii + 0.03^2).
 *
 * A history of more than IMSE_CELLS_MAX different cells is thinned: cells of one square of a 16 by
 * 16 grid over the region count as runs at its centre.
 */
enum { IMSE_GRID = 16, IMSE_CELLS_MAX = IMSE_GRID * IMSE_GRID };

struct imse_cell;

/* Points are the candidates, then the points asked about, then the cells of the runs. */
struct imse {
    const struct imse_cell *cells; /* of the n_points points */
    size_t n_candidates;
    size_t n_asked;
    size_t n_points;
    double *variance; /* of the points, after all runs */
    double *between;  /* covariance of candidates and points asked about: n_asked rows */
    /* A column of n_points for every run conditioned on: that of the Cholesky factor of the
     * covariance of the runs, extended to all points. */
    double *factor;
    size_t n_runs;
    size_t capacity;
};

/*
 * Start from the runs that are there.
 *
 * candidates  n_candidates >= 1 points, N >= 1, m >= 1, borrowed for the call.
 * asked       n_asked >= 1 points, likewise.
 * rows        n_rows >= 0 observations, borrowed for the call; their order changes no digit. One
 *             whose problem size or executor count is unknown says nothing and is passed over.
 * n_more      how often imse_add may be called.
 * arena       owns what *imse points at, and holds working memory.
 * imse        written only on PV_OK.
 *
 * PV_E_MEMORY. With c <= IMSE_CELLS_MAX cells and p points, O(c p (c + n_asked)) time and
 * O(p (c + n_more)) memory. No global state: safe from any thread.
 */
enum pv_code imse_begin(const struct effects_point candidates[],
                        size_t n_candidates,
                        const struct effects_point asked[],
                        size_t n_asked,
                        const struct observation rows[],
                        size_t n_rows,
                        size_t n_more,
                        struct arena *arena,
                        struct imse *imse,
                        struct pv_error *err) PV_MUSTCHECK;

/* What a run of a candidate would take off the sum of the variances (of ln duration) at the points
 * asked about; >= 0. O(n_asked). */
double imse_reduction(const struct imse *imse, size_t candidate);

/* Take a run of a candidate as made. At most n_more times. O(n_points (n_runs + n_asked)). */
void imse_add(struct imse *imse, size_t candidate);

#endif

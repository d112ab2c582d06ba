#ifndef CORE_SCALING_UNCERTAINTY_RESAMPLE_H
#define CORE_SCALING_UNCERTAINTY_RESAMPLE_H

#include "base/rng.h"
#include "core/scaling/model/fit_types.h"

/*
 * Histories like a given one, drawn at random: what a bootstrap fits again.
 *
 * Runs of the same size, executors and context form a cell. A history with many cells speaks for
 * itself: whole cells are drawn with replacement, each with all of its runs (resampling of cases,
 * by clusters), which assumes nothing of the law or of how its errors are spread. With few cells
 * such a draw often lacks what determines a parameter; then every cell stays and the times are
 * drawn: what the law says plus errors drawn from the residuals (model-based resampling).
 *
 * A. C. Davison, D. V. Hinkley, "Bootstrap Methods and their Application", 1997, sections 6.2.3
 * and 6.2.4; C. A. Field, A. H. Welsh, "Bootstrapping clustered data", JRSS B 69, 2007.
 *
 * Residuals are divided by the root of 1 - leverage, as shown by fits without a run. Where cells
 * differ from the law by more than their runs differ among themselves (F test of lack of fit at one
 * in ten), an error has two parts, one that a cell's runs share and one of each run, so that
 * repeating a run does not pass for learning the law. A run of less weight has errors larger by the
 * root of that.
 */
enum resample_method { RESAMPLE_CASES, RESAMPLE_RESIDUALS };

/* Cases are drawn from this many cells on, and where there are that many for each parameter. */
enum { RESAMPLE_CASES_CELLS = 30, RESAMPLE_CASES_CELLS_PER_PARAMETER = 5 };

struct resample {
    const struct observation *rows; /* those the fit used, in canonical order */
    size_t n;
    const size_t *first; /* row at which each cell begins; cells + 1 of them */
    size_t cells;
    enum resample_method method;
    bool relative;            /* errors are shares of the law's time, not seconds */
    const double *actual;     /* of each row: the time (or speedup) observed */
    const double *law;        /* and what the law says */
    const double *run_errors; /* n_run_errors to draw from, of runs of weight 1 */
    size_t n_run_errors;
    const double *cell_errors; /* cells of them; NULL: cells have no error of their own */
    double freedom;            /* degrees of freedom of these errors; > 0 */
};

/* Word for a method, as it stands on the wire. */
const char *resample_method_name(enum resample_method method);

/*
 * Copy n rows in canonical order. PV_E_MEMORY.
 */
enum pv_code resample_sort(const struct observation rows[],
                           size_t n,
                           struct arena *arena,
                           struct observation **sorted,
                           struct pv_error *err) PV_MUSTCHECK;

/*
 * rows        in canonical order, borrowed
 * fit         to these rows, borrowed
 * parameters  that it estimated
 *
 * PV_E_TOO_FEW  there are no more runs, or no more cells with an error of their own, than
 *               parameters: nothing shows how far the law is off
 * PV_E_MEMORY; *made is written only on PV_OK.
 */
enum pv_code resample_make(const struct observation rows[],
                           const struct model_fit *fit,
                           size_t parameters,
                           struct arena *arena,
                           struct resample *made,
                           struct pv_error *err) PV_MUSTCHECK;

/* A history: room for resample_rows_max() rows; returns how many were drawn. */
size_t resample_rows_max(const struct resample *from);
size_t resample_draw(const struct resample *from, struct rng *rng, struct observation rows[]);

/* The time (or speedup) of one more run for which the law says `law`. */
double resample_next_run(const struct resample *from, struct rng *rng, double law);

/* All runs but those of `out` cells drawn at random; order[] is room for `cells` numbers. */
size_t resample_leave_out(const struct resample *from,
                          size_t out,
                          struct rng *rng,
                          size_t order[],
                          struct observation rows[]);

/* All runs but those of the cells with number = part, counted modulo parts. */
size_t
resample_without(const struct resample *from, size_t part, size_t parts, struct observation rows[]);

#endif

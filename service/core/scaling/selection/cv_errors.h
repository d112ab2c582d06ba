#ifndef CORE_SCALING_SELECTION_CV_ERRORS_H
#define CORE_SCALING_SELECTION_CV_ERRORS_H

#include "core/scaling/model/fit_types.h"

/*
 * Errors of several fits to the same rows on what was held out of them, side by side: absolute
 * percentage errors, in cells. Left out one by one, each run is a cell; left out with all others of
 * its executor count, each count is (neighbouring counts together where holdout.h leaves them out
 * together), with the weighted mean over its runs. Differences between fits are taken cell by cell,
 * and so are their standard errors: runs of one count err alike.
 */
enum cv_by { CV_BY_RUNS, CV_BY_SCALES };

struct cv_term {
    double value;
    double weight;
};

struct cv_errors {
    size_t fits;
    size_t cells;
    double *errors;       /* fits x cells */
    double *weights;      /* of the cells */
    size_t runs;          /* that all fits used */
    struct cv_term *room; /* for the sums */
};

/* Does a fit predict every run it used from the runs with other executor counts? */
bool cv_errors_has_scales(const struct model_fit *fit);

/*
 * fits  n_fits of them, of which NULL takes no part (its errors are NAN); to rows of which there
 *       are n. A run that one of them did not use is taken from all; where none is left, cells is
 * 0. Sums do not hang on the order of rows or residuals. PV_E_MEMORY; *table written on PV_OK only.
 */
enum pv_code cv_errors_make(const struct model_fit *const fits[],
                            size_t n_fits,
                            size_t n,
                            enum cv_by by,
                            struct arena *arena,
                            struct cv_errors *table,
                            struct pv_error *err) PV_MUSTCHECK;

/* The weighted mean of a fit's errors; NAN without cells. */
double cv_errors_mean(const struct cv_errors *table, size_t fit);

/* The standard error of the mean of error a - error b over the cells; 0 below two cells. */
double cv_errors_noise(const struct cv_errors *table, size_t a, size_t b);

#endif

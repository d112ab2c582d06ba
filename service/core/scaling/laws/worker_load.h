#ifndef CORE_SCALING_LAWS_WORKER_LOAD_H
#define CORE_SCALING_LAWS_WORKER_LOAD_H

#include "core/scaling/laws/load_cells.h"

/*
 * The law of the load of a worker, of which the members of core/scaling/laws/combined.c are cases:
 *
 *     T(N, m) = fixed + grows N + shared N / w^exponent + spill N / m^2
 *               + overflow max(0, N / w - limit),        w = max(m - idle, m / 2)
 *
 * Of m machines one often holds the master or the driver and does no work: w = m - 1 are left to
 * share the load. Executors of an event log work all, and idle is 0. m / 2 bounds what one of few
 * is believed to cost.
 *
 * `limit` is the load that the memory of a worker holds; each unit beyond it costs `overflow` more.
 * Other than a jump below some executor count this continues to larger problems, where more workers
 * are needed to stay below it.
 *
 * All coefficients are >= 0. A robust fit weights each cell of runs again and again by
 * 1 / (1 + (e / 0.04)^2), e its error in ln T: the estimate of a Cauchy distribution of errors, for
 * which a cell that follows another law (a cache that no longer holds, a machine that was slow)
 * counts little (P. J. Huber, "Robust Statistics", 1981, chapter 7).
 */
enum worker_load_parameter {
    WORKER_FIXED,
    WORKER_GROWS,
    WORKER_SHARED,
    WORKER_EXPONENT,
    WORKER_IDLE,
    WORKER_SPILL,
    WORKER_OVERFLOW,
    WORKER_LIMIT,
    WORKER_PARAMETERS
};

/* Which case of the law is fitted. */
struct worker_form {
    bool robust;
    bool has_exponent;
    bool has_spill;
    double idle;
};

/* Machines that work, of m. */
double worker_count(double idle, double m);

double worker_load_duration(const double p[WORKER_PARAMETERS], double problem_size, double m);

/*
 * Fit that form to the cells that are not absent.
 *
 * limit    load beyond which a worker overflows; INFINITY: none does
 * weights  in: where weights[0] > 0, the weights to start from, of a fit to nearly the same cells;
 *          out: the weight of each cell in the end. NULL: neither.
 * PV_E_MEMORY.
 */
enum pv_code worker_load_fit(const struct load_cells *cells,
                             const struct worker_form *form,
                             double limit,
                             struct load_absence absence,
                             double weights[],
                             double p[WORKER_PARAMETERS],
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * What the same fit without that row, one of the cell's, predicts for it. The exponent and the limit
 * stay, since one run among many moves them little; where the cell has other runs, or there are more
 * than WORKER_CELLS_FEW cells, their weights, too. PV_E_MEMORY.
 */
enum { WORKER_CELLS_FEW = 64 };

enum pv_code worker_load_without(const struct load_cells *cells,
                                 const struct worker_form *form,
                                 const double weights[],
                                 const double p[WORKER_PARAMETERS],
                                 const struct load_cell *cell,
                                 size_t row,
                                 double *predicted_s,
                                 struct pv_error *err) PV_MUSTCHECK;

/* What a cell of Cauchy-distributed errors loses by an error of ln T: -ln of its density, but for a
 * constant. */
double worker_load_loss(double log_error);

#endif

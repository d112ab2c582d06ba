#ifndef CORE_SCALING_LAWS_LOAD_CELLS_H
#define CORE_SCALING_LAWS_LOAD_CELLS_H

#include "core/scaling/model/fit_types.h"

/* The runs of one (N, m), which are one row of least squares: all have the same regressors. */
struct load_cell {
    double problem_size;
    double executors;
    double mean_s; /* weighted by squared factors */
    double weight; /* root of the sum of the rows' squared factors */
    size_t first;  /* of its rows, which stand together */
    size_t rows;
};

struct load_cells {
    const struct model_data *data;
    struct load_cell *at; /* by N, then m */
    size_t n;
    size_t sizes;   /* different N */
    double *counts; /* executor counts, ascending, each once */
    size_t n_counts;
};

/* Executor counts that a fit does without; from > to: none. */
struct load_absence {
    double from;
    double to;
};

#define LOAD_NOTHING_ABSENT ((struct load_absence){1, 0})

static inline bool load_is_absent(const struct load_cell *cell, struct load_absence absence)
{
    return cell->executors >= absence.from && cell->executors <= absence.to;
}

/* The cells of rows in canonical order, in data->scratch. PV_E_MEMORY. */
enum pv_code load_cells_gather(const struct model_data *data,
                               struct load_cells *cells,
                               struct pv_error *err) PV_MUSTCHECK;

#endif

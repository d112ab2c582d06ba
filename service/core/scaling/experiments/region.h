#ifndef CORE_SCALING_EXPERIMENTS_REGION_H
#define CORE_SCALING_EXPERIMENTS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/experiments/factor_effects.h"
#include "core/scaling/model/observation.h"

/* The (problem size, executors) that a next run may have, and those asked about. */

enum {
    EXPERIMENT_SIZES_MAX = 8,      /* observed, where none are given */
    EXPERIMENT_ASKED_MAX = 16,     /* executor counts asked about, where none are given */
    EXPERIMENT_EXECUTORS_MOST = 32 /* where neither runs nor the request say */
};

struct experiment_bounds {
    const double *problem_sizes; /* NULL: those of the runs and the one asked about; without a model
                                    also half, a quarter and an eighth of that, and with no runs
                                    these alone: where to start is small */
    size_t n_sizes;
    double problem_size;     /* asked about; NAN: the greatest of the runs, which there must be */
    const double *executors; /* asked about; NULL: those allowed, thinned */
    size_t n_executors;
    double executors_included; /* allowed, too, within what is given as the range; NAN: none */
    int64_t min_executors;     /* RUN_UNKNOWN: 1 */
    int64_t max_executors;     /* RUN_UNKNOWN: twice the most of the runs, the most asked about or
                               included, or EXPERIMENT_EXECUTORS_MOST with none of them */
    int64_t executors_step; /* RUN_UNKNOWN: powers of two and halfway between, and those of the runs
                               and asked about */
    int64_t executors_max;  /* of the service; max_executors is kept within */
    size_t points_max;
};

struct experiment_region {
    double problem_size;
    double *problem_sizes; /* ascending */
    size_t n_sizes;
    int64_t min_executors;
    int64_t max_executors;
    struct effects_point *allowed;
    size_t n_allowed;
    struct effects_point *asked;
    size_t n_asked;
};

/*
 * Points with more executors than problem size, which would leave some without work, are allowed
 * only where there are such runs already or no others.
 *
 * PV_E_INVALID as a fault of the parameter: problem_size is needed and not there; min_executors
 * above max_executors; more than points_max points. PV_E_MEMORY. Deterministic; what the region
 * points at lives in `arena`.
 */
enum pv_code experiment_region_make(const struct experiment_bounds *bounds,
                                    const struct observation rows[],
                                    size_t n,
                                    bool has_model,
                                    struct arena *arena,
                                    struct experiment_region *region,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef CORE_SCALING_MODEL_FIT_TYPES_H
#define CORE_SCALING_MODEL_FIT_TYPES_H

#include "base/finding.h"
#include "core/scaling/model/law.h"
#include "core/scaling/model/observation.h"

/* What a kind of model is given to be fitted, and what a fit gives. */

struct process_shape;
struct process_theta;

enum model_weights { MODEL_SECONDS, MODEL_RELATIVE };

/*
 * The rows of a fit as a kind sees them: in canonical order, of one form, weights > 0.
 *
 * A fit minimises the sum of (factor (predicted - actual))^2, and so do the fits without one row:
 * factors[i] is sqrt(weight) times 1 or, for relative errors, 1 / actual.
 */
struct model_data {
    const struct observation *rows;
    size_t n;
    enum model_form form;
    enum model_weights weights;
    double *factors;
    bool knows_initialization; /* every row has it */
    /* What the fit to all rows found that fits without some of them take over (fit->carried). */
    const double *carried;
    bool whole; /* nobody asks for left_out[]: a kind may leave it untouched */
    const struct observation
        *others; /* of other contexts, for kinds that pool or learn: by context,
                                       * then in canonical order */
    size_t n_others;
    double idle_evidence;                /* of others (core/scaling/laws/idle_node.h) */
    const struct process_shape *process; /* of all (core/scaling/laws/context_process.h) */
    struct arena *scratch;               /* outlives the fit */
};

struct model_residual {
    size_t observation; /* index into the rows that were given */
    double problem_size;
    double executors;
    double actual; /* total duration, or speedup; of stages: serial, busiest core and induced */
    double weight;
    double predicted;
    double left_out; /* predicted from all other rows; NAN: they do not determine it */
    /* Predicted from the rows with other executor counts; NAN likewise, and for other forms than
     * durations. */
    double left_scale_out;
    double error_percent; /* 100 (predicted - actual) / actual */
};

struct model_peak {
    double problem_size; /* NAN: at any */
    double executors;    /* 0: there is no peak */
    double speedup;
};

struct model_fit {
    struct model model;
    struct model_residual *residuals; /* in the order of the rows given */
    size_t n;                         /* rows used */
    double r_squared;                 /* NAN where all rows are equal */
    double mape_percent;
    double max_error_percent;
    double loo_mape_percent;  /* NAN where some row cannot be left out */
    const char *scaling_type; /* NULL: the kind has none */
    struct model_peak peak;
    size_t scale_outs_judged; /* executor counts left out, or blocks of them */
    double
        scale_out_squares; /* of their errors per gap, added up (core/scaling/model/grouped_cv.h) */
    struct findings warnings; /* in the arena of the fit */
    /* What a kind reports to model_fit. */
    double *left_out; /* the value of each row, predicted from all others */
    double freedom[MODEL_PARAMETERS_MAX];
    const double *carried; /* for fits without some of the rows (data->carried); NULL: nothing */
    const struct process_theta *theta; /* of a kind with a process; NULL: none */
};

#endif

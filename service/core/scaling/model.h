#ifndef CORE_SCALING_MODEL_H
#define CORE_SCALING_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * Scaling models (design.md section 4 "Speedup laws and IPSO", "USBA"): how long an application
 * runs, or how much faster, with problem size N on m executors. A kind of model is a row of
 * model_kinds: a new one is a file pair in this folder and that row.
 *
 * A fitted struct model is plain data. It holds all that a prediction needs, the interval included,
 * so that it can be stored, sent and read back.
 */
enum { MODEL_PARAMETERS_MAX = 8, MODEL_SCORES_MAX = 64, MODEL_WARNINGS_MAX = 8 };

/* One run. What was not measured is NAN. N and m are counts >= 1. */
struct observation {
    double problem_size;
    double executors;
    double duration_s;       /* > 0; NAN where speedup is given */
    double initialization_s; /* 0 to duration_s */
    double speedup;          /* > 0; NAN where duration_s is given */
    double stages_s;         /* durations of the stages added up; 0: unknown. Only compared. */
};

/* What is observed: all rows of a fit are of one form. Bits, for what a kind takes. */
enum model_form { MODEL_OF_DURATIONS = 1, MODEL_OF_SPEEDUPS = 2 };

enum model_weights { MODEL_SECONDS, MODEL_RELATIVE };

/* Where the time of size 1 on one executor comes from. */
enum model_reference {
    MODEL_NO_REFERENCE, /* the kind knows none */
    MODEL_MEASURED,
    MODEL_EXTRAPOLATED,
    MODEL_RATIO
};

struct model_parameter {
    double estimate;  /* NAN: a model of this form has no such parameter */
    double std_error; /* NAN: unknown, or on a bound */
    double p_value;   /* two-sided, Student's t, against 0; NAN: unknown */
    bool dropped;     /* set to 0 as not significant */
};

/* What an interval is made of. observations == 0: nothing is known, predictions carry no interval.
 */
struct model_uncertainty {
    size_t observations;
    double confidence; /* of intervals, inside (0, 1) */
    double freedom;    /* degrees of freedom of residual_std; 0: unknown */
    double residual_std;
    bool relative; /* residual_std is a share of the prediction, not seconds (or speedup) */
    double problem_size[2]; /* the range observed */
    double executors[2];
    /* Of the parameters, in the order of the kind; rows and columns of 0 where not estimated. */
    double covariance[MODEL_PARAMETERS_MAX][MODEL_PARAMETERS_MAX];
    /* |ln(actual / predicted without that run)|, ascending; of more than MODEL_SCORES_MAX runs that
     * many quantiles, each the next higher one. */
    double scores[MODEL_SCORES_MAX];
    size_t n_scores;
};

struct model_kind;

struct model {
    const struct model_kind *kind;
    enum model_form form;
    enum model_reference reference;
    struct model_parameter parameters[MODEL_PARAMETERS_MAX]; /* kind->n_parameters of them */
    struct model_uncertainty uncertainty;
};

/* --- fitting --- */

struct model_warning {
    char code[32];
    char message[200];
    size_t count; /* of observations concerned; 0: does not apply */
};

struct model_residual {
    size_t observation; /* index into the rows that were given */
    double problem_size;
    double executors;
    double actual; /* total duration, or speedup */
    double predicted;
    double left_out;      /* predicted from all other rows; NAN: they do not determine it */
    double error_percent; /* 100 (predicted - actual) / actual */
};

struct model_peak {
    double problem_size; /* 0: there is no peak */
    double executors;
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
    struct model_warning warnings[MODEL_WARNINGS_MAX];
    size_t n_warnings;
};

/*
 * Fit a kind to n rows of one form, borrowed. Rows are sorted first, so that their order changes no
 * digit of the answer. Rows that lack an initialization time others have are left out where the
 * kind needs it, with a warning. Errors are on the total duration, or on the speedup where that was
 * observed.
 *
 * weights  of durations; speedups are always fitted on relative error.
 * arena    holds fit->residuals and working memory.
 *
 * PV_E_TOO_FEW    fewer distinct (N, m) than the kind needs; the detail tells how many there are
 * PV_E_SINGULAR   the rows do not tell the effects apart; the detail tells what is missing
 * PV_E_INVALID    rows of a form that the kind does not take, or of two forms
 * PV_E_MEMORY
 * *fit is written only on PV_OK. No global state.
 */
enum pv_code model_fit(const struct model_kind *kind,
                       const struct observation rows[],
                       size_t n,
                       enum model_weights weights,
                       struct arena *arena,
                       struct model_fit *fit,
                       struct pv_error *err) PV_MUSTCHECK;

/* --- predicting --- */

struct model_prediction {
    double duration_s;    /* <= 0: the law has left its domain; NAN: of a model of speedups */
    double speedup;       /* NAN: not defined, such as by a reference time <= 0 */
    double interval_s[2]; /* NAN: unknown */
    bool extrapolated;    /* outside the range observed */
};

/* Quantiles of a model, looked up once for many predictions. */
struct model_spread {
    double t;     /* of Student's t with the fit's degrees of freedom; NAN: no interval */
    double score; /* of the leave-one-out scores */
};

/* Of two-sided intervals of that confidence, inside (0, 1). */
struct model_spread model_spread(const struct model *model, double confidence);

/*
 * N >= 1, m >= 1. The interval joins two: conformal, prediction times or over exp(score), widened
 * outside the observed range (by as much again for each width of the range, in logarithms); and the
 * fit's own, prediction +- t sqrt(g'Cg + s^2), g the gradient by the parameters. Below a
 * microsecond or so.
 */
void model_predict(const struct model *model,
                   const struct model_spread *spread,
                   double problem_size,
                   double executors,
                   struct model_prediction *prediction);

/* The executor count in [1, most] of least duration (or highest speedup) for a problem size, by the
 * formula of the kind; usba_scaled is meant for most <= problem_size, where ln(N/m) >= 0. *rising
 * (may be NULL): it would go on getting faster beyond `most`. */
double
model_best_executors(const struct model *model, double problem_size, double most, bool *rising);

/* --- kinds --- */

struct model_parameter_rule {
    const char *name;
    double low; /* of the estimate, inclusive */
    double high;
    unsigned forms; /* model forms that have it */
};

/* The rows of a fit as a kind sees them: in canonical order, of one form. */
struct model_data {
    const struct observation *rows;
    size_t n;
    enum model_form form;
    enum model_weights weights;
    double *factors;           /* of each row in a fit of durations: 1, or 1 / duration */
    bool knows_initialization; /* every row has it */
};

struct model_kind {
    const char *name;
    unsigned forms;            /* that it can be fitted to */
    bool wants_initialization; /* rows without one are left out if others have it */
    const struct model_parameter_rule *rules;
    size_t n_parameters;
    /* Fills in model.parameters[].estimate, model.reference and the covariance, freedom[] of each
     * parameter's p-value, left_out[] of each row, and warnings; model_fit does the rest. */
    enum pv_code (*fit)(const struct model_data *data,
                        struct arena *scratch,
                        double left_out[],
                        double freedom[],
                        struct model_fit *fit,
                        struct pv_error *err);
    /* p: estimates. duration_s is not asked of models of speedups; NULL: there are none. */
    double (*duration_s)(const double p[], double problem_size, double executors);
    /* NULL: T(N, 1) / T(N, m). */
    double (*speedup)(const double p[],
                      enum model_form form,
                      double problem_size,
                      double executors);
    /* Executor counts, not rounded, among which the best lies; returns how many (at most 4). NULL:
     * the more the better. */
    size_t (*turning_points)(const double p[],
                             enum model_form form,
                             double problem_size,
                             double m[]);
    const char *(*scaling_type)(const double p[]); /* NULL: none */
};

extern const struct model_kind *const model_kinds[]; /* NULL-terminated */

/* NULL: unknown. */
const struct model_kind *model_find_kind(const char *name);

/* Model of the given estimates, none of whose uncertainty is known. */
struct model model_bare(const struct model_kind *kind);

/* Printf-like; dropped when there is no room. */
void model_warn(struct model_fit *fit, size_t count, const char *code, const char *format, ...)
    PV_PRINTF(4, 5);

#endif

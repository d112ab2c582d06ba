#ifndef CORE_SCALING_MODEL_LAW_H
#define CORE_SCALING_MODEL_LAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/model/extrapolation.h"
#include "core/scaling/model/predictive.h"

/*
 * Scaling models (docs/design.md, "Speedup laws and IPSO", "USBA"): how long an application
 * runs, or how much faster, with problem size N on m executors. A kind of model is a row of
 * model_kinds (core/scaling/laws/kinds.h): a new one is a file in that folder and that row.
 *
 * A fitted struct model is plain data. It holds all that a prediction needs, the interval included,
 * so that it can be stored, sent and read back. Tables of a size of their own (struct model_tables)
 * lie in the arena it was fitted or decoded in.
 */
enum { MODEL_PARAMETERS_MAX = 13 };

struct model_kind;
struct model_data;
struct model_fit;
struct findings;

/* What is observed: all rows of a fit are of one form. Bits, for what a kind takes. */
enum model_form {
    MODEL_OF_DURATIONS = 1,
    MODEL_OF_SPEEDUPS = 2,
    MODEL_OF_STAGES = 4 /* serial_s, induced_s, max_task_s or parallel_s or both */
};

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

/* How far a law errs where nothing was observed: ln T is Student's t about the prediction. */
struct model_error_scale {
    double std;     /* for a gap of 1 (core/scaling/model/extrapolation.h) */
    double freedom; /* 0: nothing is known */
};

/* How far a law errs at other problem sizes, of ln T for a gap of 1, on so many executors. */
struct model_size_error {
    double executors;
    struct model_error_scale scale;
};

/* Bounds that the recorded runs of one (N, m) give to others (core/scaling/model/physical_bounds.h). */
struct model_recorded {
    double problem_size;
    double executors;
    double least_s; /* of problems that cannot be faster */
    double most_s;  /* of problems that cannot be slower */
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
    /* Of runs left out one at a time: what a run meets where others like it were seen. */
    struct score_table seen;
    /* Of whole executor counts and problem sizes left out (core/scaling/model/grouped_cv.h). */
    struct model_error_scale new_executors;
    struct model_error_scale new_sizes;
    /* The scale of new_sizes by executor count, ascending; none: it is the same at all counts. */
    struct model_size_error size_errors[GAP_VALUES_MAX];
    size_t n_size_errors;
    double repetition_std; /* of ln T of runs of one (N, m); 0: unknown */
    struct gap_axis seen_executors;
    struct gap_axis seen_sizes;
    /* Where runs in other contexts show the curve, least and most; NAN: nowhere. */
    double pooled_executors[2];
    const struct model_recorded *recorded; /* ascending by N, then m; each pair once */
    size_t n_recorded;                     /* 0: nothing bounds what the law predicts */
    double size_exponent;                  /* greatest exponent of N beyond the recorded sizes */
};

struct model_component;

enum {
    MODEL_KNOTS_MAX = 1024,
    MODEL_COMPONENTS_MAX = 8,
    MODEL_CONTEXTS_MAX = 256 /* that runs are divided into */
};

/* A time that was seen (or smoothed) at one (N, m). */
struct model_knot {
    double problem_size;
    double executors;
    double duration_s; /* > 0 */
};

/* What the times seen at one (N, m) leave a law unexplained, as a term of ln T that fades with the
 * distance from there (core/scaling/laws/deviations.h). */
struct model_deviation {
    double problem_size;
    double executors;
    double coefficient;
};

/* What a kind needs beyond its parameters; all of it is stored, sent and read back. */
struct model_tables {
    const struct model_knot *knots; /* ascending by N, then m; each pair once */
    size_t n_knots;
    const struct model_component *components; /* of a combination */
    size_t n_components;
    const struct model_deviation *deviations; /* ascending by N, then m; may be none */
    size_t n_deviations;
};

/* A law with its numbers: what a prediction is computed from, without what is known of its errors.
 */
struct model_law {
    const struct model_kind *kind;
    enum model_form form;
    unsigned context;               /* the one asked for, from 1; 0: none in particular */
    double p[MODEL_PARAMETERS_MAX]; /* estimates */
    struct model_tables tables;
};

/* One of the laws that are combined. How weights combine is the business of the combining kind. */
struct model_component {
    double weight;
    struct model_law law; /* of durations; has no components itself */
};

struct model {
    const struct model_kind *kind;
    enum model_form form;
    enum model_reference reference;
    unsigned context; /* that predictions are for, from 1; 0: none in particular */
    struct model_parameter parameters[MODEL_PARAMETERS_MAX]; /* kind->n_parameters of them */
    struct model_tables tables;
    struct model_uncertainty uncertainty;
};

/* The law of a model: its estimates, tables and context. */
struct model_law model_law(const struct model *model);

/* Beside the forms that have a parameter: what stands for it where it is absent is the kind's
 * business. */
enum { MODEL_OPTIONAL = 256 };

struct model_parameter_rule {
    const char *name;
    double low; /* of the estimate, inclusive */
    double high;
    unsigned forms; /* model forms that have it, and perhaps MODEL_OPTIONAL */
};

/* How a law predicts a problem size that was not fitted. */
enum model_size_use {
    MODEL_USES_SIZE,
    MODEL_NEEDS_TWO_SIZES, /* only if it was fitted to two sizes or more */
    MODEL_IGNORES_SIZE     /* the law has no N */
};

enum { MODEL_HAS_KNOTS = 1, MODEL_HAS_COMPONENTS = 2, MODEL_HAS_DEVIATIONS = 4 };

struct model_kind {
    const char *name;
    unsigned forms;            /* that it can be fitted to */
    bool wants_initialization; /* rows without one are left out if others have it */
    unsigned tables;           /* MODEL_HAS_*: what its models have in addition to parameters */
    enum model_size_use size_use;
    bool pools; /* its models predict from runs of other contexts, too */
    /* What it learns of runs of other contexts (data->others), once for all fits to parts of the
     * own rows. NULL: they are not looked at. */
    enum pv_code (*learn)(struct model_data *data, struct pv_error *err);
    const struct model_parameter_rule *rules;
    size_t n_parameters;
    /* Fills in model.parameters[].estimate, model.tables, model.reference and the covariance,
     * freedom[] of each parameter's p-value, left_out[] of each row, and warnings, for stage
     * measures also scaling_type and peak; model_fit does the rest. freedom[0] becomes that of the
     * residuals, also where there is no parameter. Tables stay in data->scratch. */
    enum pv_code (*fit)(const struct model_data *data, struct model_fit *fit, struct pv_error *err);
    /* duration_s is not asked of models of speedups; NULL: there are none. */
    double (*duration_s)(const struct model_law *law, double problem_size, double executors);
    /* NULL: T(N, 1) / T(N, m). */
    double (*speedup)(const struct model_law *law, double problem_size, double executors);
    /* Executor counts, not rounded, among which the best lies; returns how many (at most
     * MODEL_TURNS_MAX). NULL: the more the better. */
    size_t (*turning_points)(const struct model_law *law, double problem_size, double m[]);
    const char *(*scaling_type)(const struct model *model); /* NULL: none */
    /* What the law says of the application; NULL: nothing. */
    void (*describe)(const struct model *model, struct findings *findings);
};

enum { MODEL_TURNS_MAX = 64 };

/* Model of the given estimates, none of whose uncertainty is known. */
struct model model_bare(const struct model_kind *kind);

/* Numbers taken from the observations: estimates that were kept, knots, weights and estimates of
 * components, effects of contexts. */
size_t model_count_parameters(const struct model *model);

#endif

#ifndef CORE_SCALING_MODEL_MODEL_H
#define CORE_SCALING_MODEL_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/scaling/model/extrapolation.h"
#include "core/scaling/model/predictive.h"

/*
 * Scaling models (design.md section 4 "Speedup laws and IPSO", "USBA"): how long an application
 * runs, or how much faster, with problem size N on m executors. A kind of model is a row of
 * model_kinds: a new one is a file pair in this folder and that row.
 *
 * A fitted struct model is plain data. It holds all that a prediction needs, the interval included,
 * so that it can be stored, sent and read back. Tables of a size of their own (struct model_tables)
 * lie in the arena it was fitted or decoded in.
 */
enum { MODEL_PARAMETERS_MAX = 13, MODEL_WARNINGS_MAX = 8 };

/*
 * One run. N and m are counts >= 1. Start from MODEL_OBSERVATION, in which nothing is measured and
 * the run counts in full. Members that are left out of an initializer, and so are 0, do no harm:
 * they read as "unknown", and weight as 1.
 */
struct observation {
    double problem_size;     /* NAN: unknown; only stage measures do without */
    double executors;        /* n, where stages were measured */
    double duration_s;       /* > 0; NAN where only a speedup or stage measures are known */
    double initialization_s; /* 0 to duration_s; NAN: unknown */
    double speedup;          /* > 0; NAN where duration_s is given */
    double stages_s;         /* durations of the stages added up; 0: unknown. Only compared. */
    /* How much the run counts beside the others: its share of a sum of squares, of a mean error, of
     * a leave-one-out error. Less than 1 for outliers and for old runs that fade. 0: 1. */
    double weight;
    /* Which of the label contexts of a history it belongs to: 0 or 1 the one a fit is for; others
     * are left to the kinds that pool. */
    unsigned context;
    /* What IPSO takes from the stages of a run on n executors (design.md section 4). */
    double parallel_s; /* task time added up, > 0; else unknown */
    double serial_s;   /* time after initialization in which no stage runs */
    double induced_s;  /* stage durations beyond their busiest core */
    double max_task_s; /* task time of the busiest core, > 0; else unknown. Without this and
                        * parallel_s no stage was measured. */
};

#define MODEL_OBSERVATION                                                                          \
    ((struct observation){.problem_size = (double)NAN,                                             \
                          .executors = (double)NAN,                                                \
                          .duration_s = (double)NAN,                                               \
                          .initialization_s = (double)NAN,                                         \
                          .speedup = (double)NAN,                                                  \
                          .weight = 1,                                                             \
                          .parallel_s = (double)NAN,                                               \
                          .serial_s = (double)NAN,                                                 \
                          .induced_s = (double)NAN,                                                \
                          .max_task_s = (double)NAN})

/* A run of known size on known executors, seen to take that long (initialization_s may be NAN), or
 * to be that much faster than one executor. Everything else is as in MODEL_OBSERVATION. */
struct observation
model_seen(double problem_size, double executors, double duration_s, double initialization_s);
struct observation model_seen_speedup(double problem_size, double executors, double speedup);

/* What is observed: all rows of a fit are of one form. Bits, for what a kind takes. */
enum model_form {
    MODEL_OF_DURATIONS = 1,
    MODEL_OF_SPEEDUPS = 2,
    MODEL_OF_STAGES = 4 /* serial_s, induced_s, max_task_s or parallel_s or both */
};

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
    /* Of runs left out one at a time: what a run meets where others like it were seen. */
    struct score_table seen;
    /* Of whole executor counts and problem sizes left out, for a gap
     * (core/scaling/model/extrapolation.h) of 1. */
    struct score_table new_executors;
    struct score_table new_sizes;
    struct gap_axis seen_executors;
    struct gap_axis seen_sizes;
};

struct model_kind;
struct model_component;

enum {
    MODEL_KNOTS_MAX = 1024,
    MODEL_COMPONENTS_MAX = 8,
    MODEL_CONTEXTS_MAX = 256 /* that runs are told apart into */
};

/* A time that was seen (or smoothed) at one (N, m). */
struct model_knot {
    double problem_size;
    double executors;
    double duration_s; /* > 0 */
};

/* What a kind needs beyond its parameters; all of it is stored, sent and read back. */
struct model_tables {
    const struct model_knot *knots; /* ascending by N, then m; each pair once */
    size_t n_knots;
    const struct model_component *components; /* of a combination */
    size_t n_components;
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
    struct model_warning warnings[MODEL_WARNINGS_MAX];
    size_t n_warnings;
};

/*
 * Fit a kind to n rows of one form, borrowed. Rows are sorted first, so that their order changes no
 * digit of the answer. Rows that lack an initialization time others have are left out where the
 * kind needs it, with a warning; a kind of stage measures leaves out rows without them. Errors are
 * on the total duration, or on the speedup where that was observed, and on the time after
 * initialization for stage measures; means are weighted by the rows' weights.
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
    double interval_s[2]; /* NAN: that end is open, or nothing is known */
    bool extrapolated;    /* outside the range observed */
};

/* Quantiles of a model, looked up once for many predictions. NAN: unknown. */
struct model_spread {
    double t;             /* of Student's t with the fit's degrees of freedom */
    double seen;          /* of the leave-one-out scores */
    double new_executors; /* of the scores of executor counts left out, for a gap of 1 */
    double new_sizes;
};

#define MODEL_NO_SPREAD ((struct model_spread){(double)NAN, (double)NAN, (double)NAN, (double)NAN})

/* Of two-sided intervals of that confidence, inside (0, 1). */
struct model_spread model_spread(const struct model *model, double confidence);

/*
 * N >= 1, m >= 1. The interval is the widest of three, at each end:
 *
 * conformal   prediction times or over exp(score), from leaving runs out one at a time; outside the
 *             observed range the score counts as much again for each width of the range
 * by groups   where N or m was never observed: from leaving whole executor counts or problem sizes
 *             out, in proportion to the gap (core/scaling/model/extrapolation.h). Without at least
 * two that could be left out no run tells how far a law may be off there: both ends are open the
 * fit's prediction
 * +- t sqrt(g'Cg + s^2), g the gradient by the parameters
 *
 * An end that is no time (not above 0, not finite) is open. Below a microsecond or so.
 */
void model_predict(const struct model *model,
                   const struct model_spread *spread,
                   double problem_size,
                   double executors,
                   struct model_prediction *prediction);

/*
 * The distribution behind that interval, of a model of durations: predictive_interval gives the
 * same ends. Borrows the model's tables. false: the law gives no time above 0 there. `predictive`
 * without parts: no run tells.
 */
bool model_predictive(const struct model *model,
                      double problem_size,
                      double executors,
                      struct predictive *predictive);

/* The executor count in [1, most] of least duration (or highest speedup) for a problem size, by the
 * formula of the kind; usba_scaled is meant for most <= problem_size, where ln(N/m) >= 0. *rising
 * (may be NULL): it would go on getting faster beyond `most`. */
double
model_best_executors(const struct model *model, double problem_size, double most, bool *rising);

/* --- kinds --- */

/* Beside the forms that have a parameter: what stands for it where it is absent is the kind's
 * business. */
enum { MODEL_OPTIONAL = 256 };

struct model_parameter_rule {
    const char *name;
    double low; /* of the estimate, inclusive */
    double high;
    unsigned forms; /* model forms that have it, and perhaps MODEL_OPTIONAL */
};

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
    bool whole;                /* nobody asks for left_out[]: a kind may leave it untouched */
    const struct observation *others; /* of other contexts, for kinds that pool; canonical order */
    size_t n_others;
};

/* --- what a law says of an application --- */

enum { MODEL_FINDINGS_MAX = 8, MODEL_EVIDENCE_MAX = 4 };

/* One statement: a stable word, a sentence, and the numbers in it. */
struct model_finding {
    char code[32];
    char message[280];
    struct {
        const char *name; /* static */
        double value;     /* NAN: unknown */
    } evidence[MODEL_EVIDENCE_MAX];
    size_t n_evidence;
};

struct model_account {
    struct model_finding findings[MODEL_FINDINGS_MAX];
    size_t n;
};

/* Add a statement, printf-like; NULL when there is no room. */
struct model_finding *
model_tell(struct model_account *account, const char *code, const char *format, ...)
    PV_PRINTF(3, 4);
/* Add a number to it; finding may be NULL. */
void model_add_evidence(struct model_finding *finding, const char *name, double value);

/* What the law says of the application, in plain words: what bounds the speedup, where it peaks,
 * which part of the time is which. Empty for a kind without describe. */
void model_describe(const struct model *model, struct model_account *account);

enum { MODEL_HAS_KNOTS = 1, MODEL_HAS_COMPONENTS = 2 };

struct model_kind {
    const char *name;
    unsigned forms;            /* that it can be fitted to */
    bool wants_initialization; /* rows without one are left out if others have it */
    unsigned tables;           /* MODEL_HAS_*: what its models have besides parameters */
    bool pools;                /* it learns from runs of other contexts, too */
    const struct model_parameter_rule *rules;
    size_t n_parameters;
    /* Fills in model.parameters[].estimate, model.tables, model.reference and the covariance,
     * freedom[] of each parameter's p-value, left_out[] of each row, and warnings, for stage
     * measures also scaling_type and peak; model_fit does the rest. freedom[0] becomes that of the
     * residuals, also where there is no parameter. Tables and left_out stay in `scratch`, which
     * outlives the fit. */
    enum pv_code (*fit)(const struct model_data *data,
                        struct arena *scratch,
                        double left_out[],
                        double freedom[],
                        struct model_fit *fit,
                        struct pv_error *err);
    /* duration_s is not asked of models of speedups; NULL: there are none. */
    double (*duration_s)(const struct model_law *law, double problem_size, double executors);
    /* NULL: T(N, 1) / T(N, m). */
    double (*speedup)(const struct model_law *law, double problem_size, double executors);
    /* Executor counts, not rounded, among which the best lies; returns how many (at most
     * MODEL_TURNS_MAX). NULL: the more the better. */
    size_t (*turning_points)(const struct model_law *law, double problem_size, double m[]);
    const char *(*scaling_type)(const struct model *model); /* NULL: none */
    /* Tell what the law says of the application; NULL: nothing. */
    void (*describe)(const struct model *model, struct model_account *account);
};

enum { MODEL_TURNS_MAX = 64 };

extern const struct model_kind *const model_kinds[]; /* NULL-terminated */

/* NULL: unknown. */
const struct model_kind *model_find_kind(const char *name);

/* Model of the given estimates, none of whose uncertainty is known. */
struct model model_bare(const struct model_kind *kind);

/* Numbers taken from the observations: estimates that were kept, knots, weights and estimates of
 * components, effects of contexts. */
size_t model_count_parameters(const struct model *model);

/* Printf-like; dropped when there is no room. */
void model_warn(struct model_fit *fit, size_t count, const char *code, const char *format, ...)
    PV_PRINTF(4, 5);

#endif

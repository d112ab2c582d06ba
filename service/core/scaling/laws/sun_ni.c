/*
 * X.-H. Sun, L. M. Ni, "Another view on parallel speedup", Supercomputing 1990 (memory-bounded
 * speedup); docs/design.md, "Speedup laws and IPSO", with n = executors:
 *
 *     S = (eta g + 1 - eta) / (eta g/n + 1 - eta)
 *
 * g is how much the parallel work has grown once the problem fills the memory of n executors. Here
 * it is fitted: g = (N/s)^b, where N is the problem size, s = `size_per_executor` the size of one
 * executor's share (given by the observations: mean N over mean n) and b = `growth`, in [0, 3]. b =
 * 0 is Amdahl's law, b = 1 Gustafson's at N = s n, and b > 1 work that grows faster than the data,
 * such as 3/2 for products of dense matrices.
 *
 *     T(N, n) = T1 (1 - eta + eta g/n),  T1 = `sequential_s`: the time of size s on one executor
 *
 * Durations: eta, b and T1; speedups: eta and b on relative error; by
 * core/numerics/levenberg_marquardt.h, each row left out by descending anew. At one problem size g
 * is one number that nothing separates from eta: such a fit is refused, as is one where nothing
 * runs in parallel and g has no effect.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/numerics/levenberg_marquardt.h"
#include "core/scaling/laws/configurations.h"
#include "core/scaling/model/describe.h"

enum { ETA, GROWTH, SEQUENTIAL, SIZE, PARAMETERS };
/* A bound for the descent: the valley of eta and growth can be long and flat. */
enum { STEPS = 200 };

/* The cube, as dense matrix products grow with their side. Steeper is taken for noise. */
#define GROWTH_MAX 3

static const struct model_parameter_rule rules[PARAMETERS] = {
    [ETA] = {"eta", 0, 1, MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS},
    [GROWTH] = {"growth", 0, GROWTH_MAX, MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS},
    [SEQUENTIAL] = {"sequential_s", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [SIZE] = {"size_per_executor", 1e-12, 1e12, MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS},
};

/* --- the law --- */

static double sun_ni_work(const double p[], double problem_size)
{
    return exp(p[GROWTH] * log(problem_size / p[SIZE]));
}

static double sun_ni_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    return p[SEQUENTIAL] * (1 - p[ETA] + p[ETA] * sun_ni_work(p, problem_size) / executors);
}

static double sun_ni_speedup(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    double parallel = p[ETA] * sun_ni_work(p, problem_size);
    return (parallel + 1 - p[ETA]) / (parallel / executors + 1 - p[ETA]);
}

/* --- rows --- */

/* Rows are sorted by size, so what depends on it alone is mostly that of the row before. */
struct problem {
    const struct model_data *data;
    const double *logs; /* ln(N/s) of each row */
    double size;        /* s */
    double growth;      /* that `work` was last computed for */
    double log;
    double work;
};

static double work_of(struct problem *problem, double growth, size_t i)
{
    double log = problem->logs[i];
    if (log < problem->log || log > problem->log || growth < problem->growth ||
        growth > problem->growth || isnan(problem->growth)) {
        problem->growth = growth;
        problem->log = log;
        problem->work = exp(growth * log);
    }
    return problem->work;
}

static double duration_row(void *context, const double p[], size_t i, double slope[])
{
    struct problem *problem = context;
    const struct observation *row = &problem->data->rows[i];
    double factor = problem->data->factors[i];
    double share = work_of(problem, p[GROWTH], i) / row->executors;
    double part = 1 - p[ETA] + p[ETA] * share;
    if (slope != NULL) {
        slope[ETA] = factor * p[SEQUENTIAL] * (share - 1);
        slope[GROWTH] = factor * p[SEQUENTIAL] * p[ETA] * share * problem->logs[i];
        slope[SEQUENTIAL] = factor * part;
    }
    return factor * (p[SEQUENTIAL] * part - row->duration_s);
}

static double speedup_row(void *context, const double p[], size_t i, double slope[])
{
    struct problem *problem = context;
    const struct observation *row = &problem->data->rows[i];
    double factor = problem->data->factors[i];
    double g = work_of(problem, p[GROWTH], i);
    double above = p[ETA] * g + 1 - p[ETA];
    double below = p[ETA] * g / row->executors + 1 - p[ETA];
    double s = above / below;
    if (slope != NULL) {
        slope[ETA] = factor * (g - 1 - s * (g / row->executors - 1)) / below;
        slope[GROWTH] = factor * p[ETA] * g * problem->logs[i] * (1 - s / row->executors) / below;
    }
    return factor * (s - row->speedup);
}

/* --- starts --- */

/* eta and T1 of least squares for a given b, with both parts >= 0: T = a + c g/n. */
static void start_durations(const struct descent *d, double p[])
{
    struct problem *problem = d->context;
    double ww = 0, wx = 0, wy = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct observation *row = &problem->data->rows[i];
        double w = problem->data->factors[i] * problem->data->factors[i];
        double x = work_of(problem, p[GROWTH], i) / row->executors;
        ww += w;
        wx += w * x;
        wy += w * row->duration_s;
        xx += w * x * x;
        xy += w * x * row->duration_s;
    }
    double below = ww * xx - wx * wx;
    double c = below > 1e-12 * ww * xx ? fmax(0, (ww * xy - wx * wy) / below) : xy / xx;
    double a = (wy - c * wx) / ww;
    if (a < 0) {
        a = 0;
        c = xy / xx;
    }
    p[SEQUENTIAL] = a + c;
    p[ETA] = c / (a + c);
}

static void find_start(const struct descent *d, bool durations, double best[])
{
    double least = (double)INFINITY;
    for (size_t g = 0; g <= 12; g++) {
        for (size_t e = 1; e <= (durations ? 1u : 15u); e++) {
            double p[PARAMETERS] = {0};
            p[GROWTH] = GROWTH_MAX * (double)g / 12;
            p[ETA] = (double)e / 16;
            if (durations)
                start_durations(d, p);
            double sum = descent_squares(d, p, d->n);
            if (sum < least) {
                least = sum;
                for (size_t j = 0; j < d->k; j++)
                    best[j] = p[j];
            }
        }
    }
}

/* --- the fit --- */

/* Where g has no effect, or the same as another parameter, there is nothing to report of it. */
static enum pv_code check_known(const struct model_data *data,
                                const struct descent *d,
                                const struct descent_sums *sums,
                                const double p[],
                                double inverse[DESCENT_MAX][DESCENT_MAX],
                                size_t *freed,
                                struct pv_error *err)
{
    bool shared = sums->curvature[GROWTH][GROWTH] > 0 && p[ETA] > 1e-9;
    if (!shared)
        return pv_fail(err, PV_E_SINGULAR,
                       "by sun_ni nothing of the %zu observation%s runs in parallel (eta is %s): "
                       "how the parallel work grows is unknown",
                       data->n, PLURAL(data->n), quantity_number(p[ETA]).text);
    if (!descent_inverse(d, sums, p, inverse, freed))
        return pv_fail(
            err, PV_E_SINGULAR,
            "the %zu observation%s %s not separate the growth of the work from eta: add runs "
            "of other problem sizes on the same executors",
            data->n, PLURAL(data->n), PLURAL_VERB(data->n, "does", "do"));
    return PV_OK;
}

static void sun_ni_set_parameters(const struct model_data *data,
                                  const struct descent *d,
                                  double squares,
                                  const double p[],
                                  double inverse[DESCENT_MAX][DESCENT_MAX],
                                  size_t freed,
                                  struct model_fit *fit)
{
    double left = data->n > freed ? (double)(data->n - freed) : 0;
    double scale = 0;
    for (size_t i = 0; i < data->n; i++) {
        double seen =
            data->form == MODEL_OF_SPEEDUPS ? data->rows[i].speedup : data->rows[i].duration_s;
        scale += data->factors[i] * data->factors[i] * seen * seen;
    }
    /* Exact data leave only rounding, which must not pass for knowledge of every digit. */
    double variance = left > 0 ? fmax(squares, 2e-28 * scale) / left : 0;
    for (size_t a = 0; a < d->k; a++) {
        fit->model.parameters[a].estimate = p[a];
        fit->freedom[a] = left;
        for (size_t b = 0; b < d->k; b++)
            fit->model.uncertainty.covariance[a][b] = variance * inverse[a][b];
    }
}

static void sun_ni_leave_out(const struct descent *d,
                             const struct descent_sums *sums,
                             const double p[],
                             struct model_fit *fit)
{
    struct problem *problem = d->context;
    for (size_t i = 0; i < d->n; i++) {
        const struct observation *row = &problem->data->rows[i];
        struct model_law law = {.form = fit->model.form, .p = {[SIZE] = problem->size}};
        for (size_t j = 0; j < d->k; j++)
            law.p[j] = p[j];
        descent_find_without(d, sums, i, 1e-6, law.p);
        fit->left_out[i] = fit->model.form == MODEL_OF_SPEEDUPS
                               ? sun_ni_speedup(&law, row->problem_size, row->executors)
                               : sun_ni_duration(&law, row->problem_size, row->executors);
    }
}

static double mean_share(const struct model_data *data)
{
    double sizes = 0;
    double executors = 0;
    for (size_t i = 0; i < data->n; i++) {
        sizes += data->rows[i].weight * data->rows[i].problem_size;
        executors += data->rows[i].weight * data->rows[i].executors;
    }
    return sizes / executors;
}

static enum pv_code
fit_sun_ni(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    struct descent_sums sums;
    double p[DESCENT_MAX] = {0};
    double inverse[DESCENT_MAX][DESCENT_MAX];
    size_t freed = 0;
    bool durations = data->form == MODEL_OF_DURATIONS;
    PV_TRY(configurations_require(data, &sun_ni_kind, durations ? 4 : 3, 2, &design, err));
    if (design.sizes < 2)
        return pv_fail(
            err, PV_E_SINGULAR,
            "sun_ni needs runs of different problem sizes: at one size (%s in all of the %zu "
            "observation%s) nothing separates the growth of the work from eta; amdahl is the law "
            "there",
            quantity_number(data->rows[0].problem_size).text, data->n, PLURAL(data->n));
    double *logs = arena_array(data->scratch, data->n, sizeof *logs);
    if (logs == NULL)
        return pv_no_memory(err);
    struct problem problem = {
        .data = data, .logs = logs, .size = mean_share(data), .growth = (double)NAN};
    for (size_t i = 0; i < data->n; i++)
        logs[i] = log(data->rows[i].problem_size / problem.size);
    const struct descent d = {.n = data->n,
                              .k = durations ? 3 : 2,
                              .high = {[ETA] = 1, [GROWTH] = GROWTH_MAX, [SEQUENTIAL] = HUGE_VAL},
                              .context = &problem,
                              .row = durations ? duration_row : speedup_row};
    find_start(&d, durations, p);
    (void)descent_find(&d, d.n, STEPS, 1e-6, p);
    (void)descent_polish(&d, 1e-12, p);
    descent_sum(&d, p, d.n, &sums);
    PV_TRY(check_known(data, &d, &sums, p, inverse, &freed, err));
    sun_ni_set_parameters(data, &d, sums.squares, p, inverse, freed, fit);
    fit->model.parameters[SIZE].estimate = problem.size;
    fit->model.reference = durations ? MODEL_EXTRAPOLATED : MODEL_RATIO;
    if (p[GROWTH] >= GROWTH_MAX)
        (void)finding_add(
            &fit->warnings, "growth_on_bound",
            "the work seems to grow faster than the problem size to the power of %d, the "
            "most that is tried",
            GROWTH_MAX);
    descent_sharpen(&d, p, &sums);
    if (!data->whole)
        sun_ni_leave_out(&d, &sums, p, fit);
    return PV_OK;
}

static void describe_growth(const struct model *model, struct findings *findings)
{
    const struct model_parameter *growth = &model->parameters[GROWTH];
    const char *like = growth->estimate < 0.25   ? "hardly at all, as in Amdahl's law"
                       : growth->estimate < 0.75 ? "more slowly than the problem"
                       : growth->estimate < 1.25 ? "about as the problem, as in Gustafson's law"
                                                 : "faster than the problem";
    struct finding *finding =
        finding_add(findings, "work_growth",
                    "The parallel work grows with the problem size to the power of %s: %s.",
                    quantity_number(growth->estimate).text, like);
    finding_number(finding, "growth", growth->estimate);
    finding_number(finding, "std_error", growth->std_error);
}

static void sun_ni_describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double size;
    double m;
    describe_growth(model, findings);
    if (!describe_corner(model, &size, &m))
        return;
    double ratio = law.p[ETA] * sun_ni_work(law.p, size) / (1 - law.p[ETA]);
    describe_limit(findings, "the largest problem seen", 1 + ratio, ratio);
    describe_doubling(model, findings);
}

const struct model_kind sun_ni_kind = {
    .name = "sun_ni",
    .forms = MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS,
    .rules = rules,
    .n_parameters = PARAMETERS,
    .fit = fit_sun_ni,
    .duration_s = sun_ni_duration,
    .speedup = sun_ni_speedup,
    .describe = sun_ni_describe,
};

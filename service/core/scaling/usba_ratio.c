/*
 * USBA from speedups (design.md section 4 "USBA"): alpha, beta, gamma, epsilon, theta and r = t0/T1
 * by nonlinear least squares on relative error (GSL, Levenberg-Marquardt),
 *
 *     minimise sum (S(N_i, m_i)/S_i - 1)^2,  S = (r + N)/D,  D = r q(m) + p(N, m).
 *
 * Bounds by transforms: epsilon = logistic(e), theta = 1 + (M - 1) logistic(h) with M the largest
 * m, r = exp(l). Given theta and r, D is linear in the others and (r + N)/S_i is its observed
 * value: a grid over both gives the starts, all deterministic. theta enters by a kink, so the sum
 * has several minima and the starts lie on both sides of each executor count.
 */
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/scaling/linear.h"
#include "core/scaling/startup.h"
#include "core/scaling/usba_internal.h"

enum { FREE_MAX = 6, GAPS_MAX = 8, STARTS_MAX = 5, STEPS_MAX = 100, REFITS_MAX = 64 };

/* The free parameters in the order of the solver: alpha, beta, epsilon, theta, r, and gamma last,
 * so that a fit without it has one less. */
static const size_t order[FREE_MAX] = {USBA_ALPHA, USBA_BETA,  USBA_EPSILON,
                                       USBA_THETA, USBA_RATIO, USBA_GAMMA};
enum { EPSILON_AT = 2, THETA_AT = 3, RATIO_AT = 4 };

struct problem {
    const struct model_data *data;
    struct arena *scratch;
    double most; /* M */
    size_t k;    /* free parameters: 6, or 5 without gamma */
    size_t skip; /* a row that takes no part, or n */
};

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double logit(double share)
{
    share = fmin(1 - 1e-6, fmax(1e-6, share));
    return log(share / (1 - share));
}

/* Solver's numbers -> estimates, indexed as USBA_*. */
static void unpack(const struct problem *problem, const double u[], double p[USBA_PARAMETERS])
{
    memset(p, 0, USBA_PARAMETERS * sizeof *p);
    for (size_t j = 0; j < problem->k; j++)
        p[order[j]] = u[j];
    p[USBA_EPSILON] = logistic(u[EPSILON_AT]);
    p[USBA_THETA] = 1 + (problem->most - 1) * logistic(u[THETA_AT]);
    p[USBA_RATIO] = exp(u[RATIO_AT]);
}

static void pack(const struct problem *problem, const double p[], double u[])
{
    for (size_t j = 0; j < problem->k; j++)
        u[j] = p[order[j]];
    u[EPSILON_AT] = logit(p[USBA_EPSILON]);
    u[THETA_AT] = logit((p[USBA_THETA] - 1) / (problem->most - 1));
    u[RATIO_AT] = log(p[USBA_RATIO]);
}

/* S of a row; D below a tiny number counts as that, so that such steps are turned down. */
static double speedup_of(const double p[], const struct observation *row, double *denominator)
{
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], row->executors);
    double d = p[USBA_RATIO] * q + usba_growth(p, row->problem_size, row->executors);
    *denominator = fmax(d, 1e-9);
    return (p[USBA_RATIO] + row->problem_size) / *denominator;
}

/* Weighted relative error of a row. */
static double
error_of(const struct problem *problem, const double p[], size_t i, double *denominator)
{
    const struct observation *row = &problem->data->rows[i];
    return problem->data->factors[i] * (speedup_of(p, row, denominator) - row->speedup);
}

/* Derivatives of that error by the free parameters. */
static void
differentiate(const struct problem *problem, const double p[], size_t i, double row_out[])
{
    const struct observation *row = &problem->data->rows[i];
    double d;
    double s = speedup_of(p, row, &d) * problem->data->factors[i];
    double reached = fmin(row->executors, p[USBA_THETA]);
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], row->executors);
    double each[FREE_MAX] = {
        -s / d * log(row->problem_size / row->executors),
        -s / d * (row->executors - 1),
        -s / d * p[USBA_RATIO] * (reached - 1),
        row->executors > p[USBA_THETA] ? -s / d * p[USBA_RATIO] * p[USBA_EPSILON] : 0,
        s / (p[USBA_RATIO] + row->problem_size) - s / d * q,
        -s / d * (row->problem_size - 1),
    };
    for (size_t j = 0; j < problem->k; j++)
        row_out[j] = each[j];
}

static double sum_of_squares(const struct problem *problem, const double p[])
{
    double sum = 0;
    for (size_t i = 0; i < problem->data->n; i++) {
        double d;
        double off = error_of(problem, p, i, &d);
        if (i != problem->skip)
            sum += off * off;
    }
    return sum;
}

/* --- the solver --- */

static int tell_residuals(const gsl_vector *u, void *context, gsl_vector *f)
{
    const struct problem *problem = context;
    double p[USBA_PARAMETERS];
    unpack(problem, u->data, p);
    size_t at = 0;
    for (size_t i = 0; i < problem->data->n; i++) {
        double d;
        if (i != problem->skip)
            gsl_vector_set(f, at++, error_of(problem, p, i, &d));
    }
    return GSL_SUCCESS;
}

static int tell_jacobian(const gsl_vector *u, void *context, gsl_matrix *jacobian)
{
    const struct problem *problem = context;
    double p[USBA_PARAMETERS];
    double row[FREE_MAX];
    unpack(problem, u->data, p);
    double share = (p[USBA_THETA] - 1) / (problem->most - 1);
    size_t at = 0;
    for (size_t i = 0; i < problem->data->n; i++) {
        if (i == problem->skip)
            continue;
        differentiate(problem, p, i, row);
        row[EPSILON_AT] *= p[USBA_EPSILON] * (1 - p[USBA_EPSILON]);
        row[THETA_AT] *= (problem->most - 1) * share * (1 - share);
        row[RATIO_AT] *= p[USBA_RATIO];
        for (size_t j = 0; j < problem->k; j++)
            gsl_matrix_set(jacobian, at, j, row[j]);
        at++;
    }
    return GSL_SUCCESS;
}

/* From p to the minimum near it, in place. A step that cannot be taken ends the descent where it
 * is.
 */
static enum pv_code
descend(struct problem *problem, double p[USBA_PARAMETERS], struct pv_error *err)
{
    double u[FREE_MAX];
    int info;
    size_t rows = problem->data->n - (problem->skip < problem->data->n ? 1 : 0);
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {
        .f = tell_residuals, .df = tell_jacobian, .n = rows, .p = problem->k, .params = problem};
    double before = sum_of_squares(problem, p);
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, rows, problem->k);
    if (work == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the fit");
    pack(problem, p, u);
    gsl_vector_view start = gsl_vector_view_array(u, problem->k);
    if (gsl_multifit_nlinear_init(&start.vector, &system, work) == GSL_SUCCESS) {
        double found[USBA_PARAMETERS];
        (void)gsl_multifit_nlinear_driver(STEPS_MAX, 1e-12, 1e-12, 0, NULL, NULL, &info, work);
        unpack(problem, gsl_multifit_nlinear_position(work)->data, found);
        if (sum_of_squares(problem, found) < before)
            memcpy(p, found, sizeof found);
    }
    gsl_multifit_nlinear_free(work);
    return PV_OK;
}

/* --- starts --- */

struct start {
    double p[USBA_PARAMETERS];
    double sum;
};

static int by_sum(const void *a, const void *b)
{
    double x = ((const struct start *)a)->sum;
    double y = ((const struct start *)b)->sum;
    return (x > y) - (x < y);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values of theta between neighbouring executor counts, spread over all of them. */
static size_t choose_thetas(const struct problem *problem, double values[], double thetas[GAPS_MAX])
{
    size_t n = problem->data->n;
    for (size_t i = 0; i < n; i++)
        values[i] = problem->data->rows[i].executors;
    qsort(values, n, sizeof *values, ascending);
    size_t distinct = 1;
    for (size_t i = 1; i < n; i++)
        if (values[i] > values[distinct - 1])
            values[distinct++] = values[i];
    size_t gaps = distinct - 1 < GAPS_MAX ? distinct - 1 : GAPS_MAX;
    for (size_t g = 0; g < gaps; g++) {
        size_t at = g * (distinct - 1) / gaps;
        thetas[g] = sqrt(values[at] * values[at + 1]);
    }
    return gaps;
}

/* The rest of the parameters given theta and r, by linear least squares on 1/S; false: dependent.
 */
static bool fill_start(const struct problem *problem,
                       double theta,
                       double ratio,
                       double x[],
                       double y[],
                       double weights[],
                       struct start *start)
{
    struct linear_fit linear;
    size_t k = problem->k - 2;
    for (size_t i = 0; i < problem->data->n; i++) {
        const struct observation *row = &problem->data->rows[i];
        double observed = (ratio + row->problem_size) / row->speedup;
        x[i * k] = log(row->problem_size / row->executors);
        x[i * k + 1] = row->executors - 1;
        x[i * k + 2] = ratio * (fmin(row->executors, theta) - 1);
        if (k > 3)
            x[i * k + 3] = row->problem_size - 1;
        y[i] = observed - ratio - 1;
        weights[i] = problem->data->factors[i] * row->speedup / observed;
    }
    if (linear_fit(x, problem->data->n, k, y, weights, problem->scratch, &linear, NULL) != PV_OK)
        return false;
    memset(start->p, 0, sizeof start->p);
    start->p[USBA_ALPHA] = linear.coefficients[0];
    start->p[USBA_BETA] = linear.coefficients[1];
    start->p[USBA_EPSILON] = fmin(0.9, fmax(0.01, linear.coefficients[2]));
    start->p[USBA_GAMMA] = k > 3 ? linear.coefficients[3] : 0;
    start->p[USBA_THETA] = theta;
    start->p[USBA_RATIO] = ratio;
    start->sum = sum_of_squares(problem, start->p);
    return isfinite(start->sum);
}

static enum pv_code make_starts(const struct problem *problem,
                                struct start starts[],
                                size_t *n_starts,
                                struct pv_error *err)
{
    static const double ratios[] = {0.05, 0.2, 0.6, 1.5, 5};
    double thetas[GAPS_MAX];
    size_t n = problem->data->n;
    double *x = arena_array(problem->scratch, n, FREE_MAX * sizeof *x);
    double *y = arena_array(problem->scratch, n, sizeof *y);
    double *weights = arena_array(problem->scratch, n, sizeof *weights);
    if (x == NULL || y == NULL || weights == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the fit");
    size_t gaps = choose_thetas(problem, y, thetas);
    *n_starts = 0;
    for (size_t g = 0; g < gaps; g++) {
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            struct arena_mark mark = arena_mark(problem->scratch);
            if (fill_start(problem, thetas[g], ratios[r], x, y, weights, &starts[*n_starts]))
                ++*n_starts;
            arena_rewind(problem->scratch, mark);
        }
    }
    qsort(starts, *n_starts, sizeof *starts, by_sum);
    return PV_OK;
}

static enum pv_code
solve(struct problem *problem, const struct design *design, double p[], struct pv_error *err)
{
    size_t n = 0;
    double least = (double)INFINITY;
    struct start *starts = arena_array(problem->scratch, (size_t)GAPS_MAX * 5, sizeof *starts);
    if (starts == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the fit");
    enum pv_code code = make_starts(problem, starts, &n, err);
    if (code == PV_OK && n == 0)
        return design_blame(design, problem->data, "usba", err);
    for (size_t s = 0; code == PV_OK && s < n && s < STARTS_MAX; s++) {
        code = descend(problem, starts[s].p, err);
        double sum = sum_of_squares(problem, starts[s].p);
        if (sum < least) {
            least = sum;
            memcpy(p, starts[s].p, sizeof starts[s].p);
        }
    }
    return code;
}

/* --- what is known of the parameters --- */

/* Which free parameters the data can tell: not those on a bound. */
static size_t select_known(const struct problem *problem, const double p[], size_t known[])
{
    size_t n = 0;
    bool inner = p[USBA_EPSILON] > USBA_BOUND && p[USBA_EPSILON] < 1 - USBA_BOUND;
    bool saturates = p[USBA_EPSILON] > USBA_BOUND && p[USBA_THETA] > 1 + USBA_BOUND &&
                     p[USBA_THETA] < problem->most * (1 - USBA_BOUND);
    for (size_t j = 0; j < problem->k; j++)
        if ((j != EPSILON_AT || inner) && (j != THETA_AT || saturates))
            known[n++] = j;
    return n;
}

/* Least squares of the linearised law; its leverages too. PV_E_SINGULAR: nothing can be told. */
static enum pv_code linearise(const struct problem *problem,
                              const double p[],
                              const size_t known[],
                              size_t k,
                              struct linear_fit *linear,
                              struct pv_error *err)
{
    size_t n = problem->data->n;
    double row[FREE_MAX];
    double *x = arena_array(problem->scratch, n, k * sizeof *x);
    double *y = arena_array(problem->scratch, n, sizeof *y);
    if (x == NULL || y == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the fit");
    for (size_t i = 0; i < n; i++) {
        double d;
        differentiate(problem, p, i, row);
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = row[known[j]];
        y[i] = -error_of(problem, p, i, &d);
    }
    return linear_fit(x, n, k, y, NULL, problem->scratch, linear, err);
}

static enum pv_code tell_parameters(const struct problem *problem,
                                    const double p[],
                                    double freedom[],
                                    struct model *model,
                                    struct pv_error *err)
{
    struct linear_fit linear;
    struct pv_error why = {0};
    size_t known[FREE_MAX];
    size_t k = select_known(problem, p, known);
    for (size_t j = 0; j < FREE_MAX; j++)
        model->parameters[order[j]].estimate = p[order[j]];
    enum pv_code code = linearise(problem, p, known, k, &linear, &why);
    if (code == PV_E_SINGULAR)
        return PV_OK;
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    double left = problem->data->n > k ? (double)(problem->data->n - k) : 0;
    double rounding = (double)problem->data->n * 2e-28;
    double variance = fmax(sum_of_squares(problem, p), rounding) / left;
    for (size_t a = 0; a < k && left > 0; a++) {
        freedom[order[known[a]]] = left;
        for (size_t b = 0; b < k; b++)
            model->uncertainty.covariance[order[known[a]]][order[known[b]]] =
                variance * linear.inverse[a][b];
    }
    return PV_OK;
}

/* --- without one row --- */

static enum pv_code refit_without_each(struct problem *problem,
                                       const double p[],
                                       double left_out[],
                                       struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (size_t i = 0; code == PV_OK && i < problem->data->n; i++) {
        double moved[USBA_PARAMETERS];
        double d;
        memcpy(moved, p, sizeof moved);
        problem->skip = i;
        code = descend(problem, moved, err);
        left_out[i] = speedup_of(moved, &problem->data->rows[i], &d);
    }
    problem->skip = problem->data->n;
    return code;
}

/* Of many rows each moves the fit little: one step of the linearised law takes it there. */
static enum pv_code step_without_each(const struct problem *problem,
                                      const double p[],
                                      double left_out[],
                                      struct pv_error *err)
{
    struct linear_fit linear = {.leverage = NULL};
    struct pv_error why = {0};
    size_t known[FREE_MAX];
    size_t k = select_known(problem, p, known);
    enum pv_code code = linearise(problem, p, known, k, &linear, &why);
    if (code != PV_OK && code != PV_E_SINGULAR)
        return pv_fail(err, code, "%s", why.detail);
    for (size_t i = 0; i < problem->data->n; i++) {
        double d;
        const struct observation *row = &problem->data->rows[i];
        double off = speedup_of(p, row, &d) / row->speedup - 1;
        double rest = linear.leverage == NULL ? 0 : 1 - linear.leverage[i];
        left_out[i] = rest > 0 ? row->speedup * (1 + off / rest) : (double)NAN;
    }
    return PV_OK;
}

enum pv_code usba_fit_ratio(const struct model_data *data,
                            const struct design *design,
                            struct arena *scratch,
                            double left_out[],
                            double freedom[],
                            struct model_fit *fit,
                            struct pv_error *err)
{
    double p[USBA_PARAMETERS] = {0};
    struct problem problem = {.data = data, .scratch = scratch, .k = FREE_MAX, .skip = data->n};
    for (size_t i = 0; i < data->n; i++)
        problem.most = fmax(problem.most, data->rows[i].executors);
    fit->model.reference = MODEL_RATIO;
    enum pv_code code = solve(&problem, design, p, err);
    if (code == PV_OK)
        code = tell_parameters(&problem, p, freedom, &fit->model, err);
    if (code != PV_OK)
        return code;
    double variance = fit->model.uncertainty.covariance[USBA_GAMMA][USBA_GAMMA];
    if (linear_p_value(p[USBA_GAMMA], sqrt(variance), freedom[USBA_GAMMA]) > USBA_SIGNIFICANT) {
        problem.k = FREE_MAX - 1;
        memset(fit->model.uncertainty.covariance, 0, sizeof fit->model.uncertainty.covariance);
        model_warn(fit, 0, "gamma_dropped", "gamma is not significant (p > %g) and was left out",
                   USBA_SIGNIFICANT);
        code = solve(&problem, design, p, err);
        if (code == PV_OK)
            code = tell_parameters(&problem, p, freedom, &fit->model, err);
        fit->model.parameters[USBA_GAMMA].dropped = true;
        if (code != PV_OK)
            return code;
    }
    if (p[USBA_THETA] > problem.most * (1 - USBA_BOUND) || p[USBA_EPSILON] < USBA_BOUND)
        model_warn(fit, 0, "theta_not_reached",
                   "initialization does not level off within the executor counts observed");
    usba_judge_startup(p, problem.most, data->n, freedom, fit);
    if (data->n <= REFITS_MAX)
        return refit_without_each(&problem, p, left_out, err);
    model_warn(
        fit, data->n, "leave_one_out_linearised",
        "with more than %d observations leave-one-out errors are those of the linearised law",
        REFITS_MAX);
    return step_without_each(&problem, p, left_out, err);
}

/*
 * USBA from speedups (docs/design.md, "USBA"): alpha, beta, gamma, epsilon, theta and r = t0/T1
 * by nonlinear least squares on relative error (core/numerics/levenberg_marquardt.h),
 *
 *     minimise sum (S(N_i, m_i)/S_i - 1)^2,  S = (r + N)/D,  D = r q(m) + p(N, m).
 *
 * with 0 <= epsilon <= 1 and 1 <= theta <= M, the largest m; r > 0 by its logarithm. Given theta
 * and r, D is linear in the others and (r + N)/S_i is its observed value: a grid over both gives
 * the starts, all deterministic. theta enters by a kink, so the sum has several minima and the
 * starts lie on both sides of each executor count.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/least_squares.h"
#include "core/numerics/levenberg_marquardt.h"
#include "core/scaling/laws/startup_overhead.h"
#include "core/scaling/laws/usba_internal.h"

enum { FREE_MAX = 6, GAPS_MAX = 8, STARTS_MAX = 5, STEPS_FIRST = 12, KEPT_MAX = 2, STEPS_MAX = 60 };

/* Of ln r: beyond it initialization or all the rest is nothing. */
#define LOG_RATIO_MAX 14.0

/* The free parameters in the order of the solver: alpha, beta, epsilon, theta, r, and gamma last,
 * so that a fit without it has one less. */
static const size_t order[FREE_MAX] = {USBA_ALPHA, USBA_BETA,  USBA_EPSILON,
                                       USBA_THETA, USBA_RATIO, USBA_GAMMA};
enum { ALPHA_AT, BETA_AT, EPSILON_AT, THETA_AT, RATIO_AT, GAMMA_AT };

struct problem {
    const struct model_data *data;
    const double *logs; /* ln(N/m) of each row */
    struct arena *scratch;
    double most; /* M */
    size_t k;    /* free parameters: 6, or 5 without gamma */
    /* The last ln r and its r: the solver asks row after row at one place. */
    double log_ratio;
    double ratio;
};

/* Solver's numbers -> estimates, indexed as USBA_*, and back. */
static void unpack(const struct problem *problem, const double u[], double p[USBA_PARAMETERS])
{
    memset(p, 0, USBA_PARAMETERS * sizeof *p);
    for (size_t j = 0; j < problem->k; j++)
        p[order[j]] = u[j];
    p[USBA_RATIO] = exp(u[RATIO_AT]);
}

static void pack(const struct problem *problem, const double p[], double u[])
{
    for (size_t j = 0; j < problem->k; j++)
        u[j] = p[order[j]];
    u[RATIO_AT] = log(p[USBA_RATIO]);
}

/* S of a row; D below a tiny number counts as that, so that such steps are turned down. */
static double speedup_of(const double p[], const struct observation *row)
{
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], row->executors);
    double d = p[USBA_RATIO] * q + usba_growth(p, row->problem_size, row->executors);
    return (p[USBA_RATIO] + row->problem_size) / fmax(d, 1e-9);
}

/* Weighted relative error of a row, and its derivatives by the solver's numbers. */
static double error_of(void *context, const double u[], size_t i, double slope[])
{
    struct problem *problem = context;
    const struct observation *row = &problem->data->rows[i];
    double m = row->executors;
    double theta = u[THETA_AT];
    if (u[RATIO_AT] < problem->log_ratio || u[RATIO_AT] > problem->log_ratio) {
        problem->log_ratio = u[RATIO_AT];
        problem->ratio = exp(u[RATIO_AT]);
    }
    double r = problem->ratio;
    double gamma = problem->k > GAMMA_AT ? u[GAMMA_AT] : 0;
    double reached = m < theta ? m : theta;
    double q = 1 + u[EPSILON_AT] * (reached - 1);
    double growth =
        1 + u[ALPHA_AT] * problem->logs[i] + u[BETA_AT] * (m - 1) + gamma * (row->problem_size - 1);
    double d = r * q + growth;
    d = d > 1e-9 ? d : 1e-9;
    double factor = problem->data->factors[i];
    double s = factor * (r + row->problem_size) / d;
    if (slope != NULL) {
        double fall = -s / d;
        slope[ALPHA_AT] = fall * problem->logs[i];
        slope[BETA_AT] = fall * (m - 1);
        slope[EPSILON_AT] = fall * r * (reached - 1);
        slope[THETA_AT] = m > theta ? fall * r * u[EPSILON_AT] : 0;
        slope[RATIO_AT] = r * (s / (r + row->problem_size) + fall * q);
        if (problem->k > GAMMA_AT)
            slope[GAMMA_AT] = fall * (row->problem_size - 1);
    }
    return s - factor * row->speedup;
}

static struct descent make_descent(struct problem *problem)
{
    struct descent d = {
        .n = problem->data->n, .k = problem->k, .context = problem, .row = error_of};
    for (size_t j = 0; j < problem->k; j++) {
        d.low[j] = -HUGE_VAL;
        d.high[j] = HUGE_VAL;
    }
    d.low[EPSILON_AT] = 0;
    d.high[EPSILON_AT] = 1;
    d.low[THETA_AT] = 1;
    d.high[THETA_AT] = problem->most;
    d.low[RATIO_AT] = -LOG_RATIO_MAX;
    d.high[RATIO_AT] = LOG_RATIO_MAX;
    return d;
}

/* --- starts --- */

struct start {
    double u[DESCENT_MAX];
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
static bool fill_start(struct problem *problem,
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
        x[i * k] = problem->logs[i];
        x[i * k + 1] = row->executors - 1;
        x[i * k + 2] = ratio * (fmin(row->executors, theta) - 1);
        if (k > 3)
            x[i * k + 3] = row->problem_size - 1;
        y[i] = observed - ratio - 1;
        weights[i] = problem->data->factors[i] * row->speedup / observed;
    }
    if (linear_fit(x, problem->data->n, k, y, weights, problem->scratch, &linear, NULL) != PV_OK)
        return false;
    const struct descent d = make_descent(problem);
    start->u[ALPHA_AT] = linear.coefficients[0];
    start->u[BETA_AT] = linear.coefficients[1];
    start->u[EPSILON_AT] = fmin(0.9, fmax(0.01, linear.coefficients[2]));
    start->u[THETA_AT] = theta;
    start->u[RATIO_AT] = log(ratio);
    start->u[GAMMA_AT] = k > 3 ? linear.coefficients[3] : 0;
    start->sum = descent_squares(&d, start->u, d.n);
    return isfinite(start->sum);
}

static enum pv_code
make_starts(struct problem *problem, struct start starts[], size_t *n_starts, struct pv_error *err)
{
    static const double ratios[] = {0.05, 0.2, 0.6, 1.5, 5};
    double thetas[GAPS_MAX];
    size_t n = problem->data->n;
    double *x = arena_array(problem->scratch, n, FREE_MAX * sizeof *x);
    double *y = arena_array(problem->scratch, n, sizeof *y);
    double *weights = arena_array(problem->scratch, n, sizeof *weights);
    if (x == NULL || y == NULL || weights == NULL)
        return pv_no_memory(err);
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
        return pv_no_memory(err);
    enum pv_code code = make_starts(problem, starts, &n, err);
    if (code == PV_OK && n == 0)
        return design_blame(design, problem->data, "usba", err);
    const struct descent d = make_descent(problem);
    n = n < STARTS_MAX ? n : STARTS_MAX;
    /* Some steps tell which starts lead anywhere. */
    for (size_t s = 0; code == PV_OK && s < n; s++)
        starts[s].sum = descent_find(&d, d.n, STEPS_FIRST, 1e-6, starts[s].u);
    qsort(starts, n, sizeof *starts, by_sum);
    for (size_t s = 0; code == PV_OK && s < n && s < KEPT_MAX; s++) {
        (void)descent_find(&d, d.n, STEPS_MAX, 1e-6, starts[s].u);
        double sum = descent_polish(&d, 1e-12, starts[s].u);
        if (sum < least) {
            least = sum;
            unpack(problem, starts[s].u, p);
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

/* Least squares of the linearised law. PV_E_SINGULAR: nothing can be told. */
static enum pv_code linearise(struct problem *problem,
                              const double p[],
                              const size_t known[],
                              size_t k,
                              struct linear_fit *linear,
                              struct pv_error *err)
{
    size_t n = problem->data->n;
    double u[DESCENT_MAX];
    double row[FREE_MAX];
    double *x = arena_array(problem->scratch, n, k * sizeof *x);
    double *y = arena_array(problem->scratch, n, sizeof *y);
    if (x == NULL || y == NULL)
        return pv_no_memory(err);
    pack(problem, p, u);
    for (size_t i = 0; i < n; i++) {
        y[i] = -error_of(problem, u, i, row);
        row[RATIO_AT] /= p[USBA_RATIO];
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = row[known[j]];
    }
    return linear_fit(x, n, k, y, NULL, problem->scratch, linear, err);
}

static double squares_at(struct problem *problem, const double p[])
{
    const struct descent d = make_descent(problem);
    double u[DESCENT_MAX];
    pack(problem, p, u);
    return descent_squares(&d, u, d.n);
}

static enum pv_code tell_parameters(struct problem *problem,
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
    double variance = fmax(squares_at(problem, p), rounding) / left;
    for (size_t a = 0; a < k && left > 0; a++) {
        freedom[order[known[a]]] = left;
        for (size_t b = 0; b < k; b++)
            model->uncertainty.covariance[order[known[a]]][order[known[b]]] =
                variance * linear.inverse[a][b];
    }
    return PV_OK;
}

/* --- without one row --- */

static void leave_out(struct problem *problem, const double p[], double left_out[])
{
    const struct descent d = make_descent(problem);
    struct descent_sums sums;
    double u[DESCENT_MAX];
    pack(problem, p, u);
    descent_sum(&d, u, d.n, &sums);
    descent_sharpen(&d, u, &sums);
    for (size_t i = 0; i < d.n; i++) {
        double moved[DESCENT_MAX];
        double without[USBA_PARAMETERS];
        memcpy(moved, u, sizeof moved);
        descent_find_without(&d, &sums, i, 1e-5, moved);
        unpack(problem, moved, without);
        left_out[i] = speedup_of(without, &problem->data->rows[i]);
    }
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
    double *logs = arena_array(scratch, data->n, sizeof *logs);
    if (logs == NULL)
        return pv_no_memory(err);
    struct problem problem = {
        .data = data, .logs = logs, .scratch = scratch, .k = FREE_MAX, .ratio = 1};
    for (size_t i = 0; i < data->n; i++) {
        logs[i] = log(data->rows[i].problem_size / data->rows[i].executors);
        problem.most = fmax(problem.most, data->rows[i].executors);
    }
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
        (void)finding_add(&fit->warnings, "gamma_dropped",
                          "gamma is not significant (p > %g) and was left out", USBA_SIGNIFICANT);
        code = solve(&problem, design, p, err);
        if (code == PV_OK)
            code = tell_parameters(&problem, p, freedom, &fit->model, err);
        fit->model.parameters[USBA_GAMMA].dropped = true;
        if (code != PV_OK)
            return code;
    }
    if (p[USBA_THETA] > problem.most * (1 - USBA_BOUND) || p[USBA_EPSILON] < USBA_BOUND)
        (void)finding_add(&fit->warnings, "theta_not_reached",
                          "initialization does not level off within the executor counts observed");
    usba_judge_startup(p, problem.most, data->n, freedom, fit);
    leave_out(&problem, p, left_out);
    return PV_OK;
}

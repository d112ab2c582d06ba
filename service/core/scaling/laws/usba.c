#include "core/scaling/laws/usba.h"
#include "base/order.h"
#include "base/quantity_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/least_squares.h"
#include "core/numerics/levenberg_marquardt.h"
#include "core/numerics/student.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/laws/startup_overhead.h"
#include "core/scaling/model/describe.h"

/* Beyond this p-value gamma is dropped. */
#define USBA_SIGNIFICANT 0.05

/* So near its bound a free parameter counts as on it. */
#define USBA_BOUND 1e-4

#define BOTH (MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS)

const struct model_parameter_rule usba_rules[USBA_PARAMETERS] = {
    [USBA_ALPHA] = {"alpha", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_BETA] = {"beta", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_GAMMA] = {"gamma", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_EPSILON] = {"epsilon", 0, 1, BOTH},
    [USBA_THETA] = {"theta", 1, HUGE_VAL, BOTH},
    [USBA_INITIALIZATION] = {"initialization_s", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [USBA_PARALLEL] = {"parallel_s", -HUGE_VAL, HUGE_VAL, MODEL_OF_DURATIONS},
    [USBA_RATIO] = {"initialization_ratio", 0, HUGE_VAL, MODEL_OF_SPEEDUPS},
};

/* --- the law --- */

double usba_growth(const double p[], double problem_size, double executors)
{
    return 1 - p[USBA_BETA] - p[USBA_GAMMA] + p[USBA_ALPHA] * log(problem_size / executors) +
           p[USBA_BETA] * executors + p[USBA_GAMMA] * problem_size;
}

static double usba_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], executors);
    return p[USBA_INITIALIZATION] * q + p[USBA_PARALLEL] * usba_growth(p, problem_size, executors);
}

static double usba_speedup(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    if (law->form == MODEL_OF_DURATIONS)
        return (p[USBA_INITIALIZATION] + problem_size * p[USBA_PARALLEL]) /
               usba_duration(law, problem_size, executors);
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], executors);
    return (p[USBA_RATIO] + problem_size) /
           (p[USBA_RATIO] * q + usba_growth(p, problem_size, executors));
}

/* Where -alpha ln m + beta m + t0/T1 epsilon min(m, theta) can be least: flat below theta, at
 * theta, flat above it. */
static size_t usba_turn(const struct model_law *law, double problem_size, double m[])
{
    const double *p = law->p;
    (void)problem_size;
    double ratio =
        law->form == MODEL_OF_SPEEDUPS ? p[USBA_RATIO] : p[USBA_INITIALIZATION] / p[USBA_PARALLEL];
    m[0] = p[USBA_ALPHA] / (p[USBA_BETA] + ratio * p[USBA_EPSILON]);
    m[1] = p[USBA_THETA];
    m[2] = p[USBA_ALPHA] / p[USBA_BETA];
    return 3;
}

/* --- how sure the startup's parameters are --- */

/* Half the estimate: the interval at 95 percent then reaches about 0. */
static const double weak_share = 0.5;

static void usba_judge(size_t which, double low, double high, size_t rows, struct model_fit *fit)
{
    const char *name = fit->model.kind->rules[which].name;
    double estimate = fit->model.parameters[which].estimate;
    double variance = fit->model.uncertainty.covariance[which][which];
    if (!(variance > 0)) {
        finding_count(
            finding_add(&fit->warnings, "poorly_determined",
                        "%s is not determined: the observations leave %s without a standard error",
                        name, quantity_number(estimate).text),
            rows);
        return;
    }
    double error = sqrt(variance);
    double reach = student_quantile(0.95, fit->freedom[which]) * error;
    bool covers = estimate - reach <= low && estimate + reach >= high;
    if (covers || error > weak_share * estimate)
        finding_count(finding_add(&fit->warnings, "poorly_determined",
                                  "%s is poorly determined: %s with a standard error of %s%s", name,
                                  quantity_number(estimate).text, quantity_number(error).text,
                                  covers ? ", so any value allowed is as good" : ""),
                      rows);
}

/*
 * Warn where epsilon or theta of a fit to speedups is poorly determined. p: estimates by USBA_*;
 * most: the largest executor count; rows: observations.
 *
 * Both only show in how initialization grows, a small part of a speedup: where few executor counts
 * lie on either side of theta, many pairs fit about as well. theta on its bound has a warning of
 * its own; epsilon next to 0 is a finding, which leaves nothing to say of theta.
 */
static void judge_startup(const double p[], double most, size_t rows, struct model_fit *fit)
{
    bool grows = p[USBA_EPSILON] > USBA_BOUND;
    bool reached = grows && p[USBA_THETA] < most * (1 - USBA_BOUND);
    if (grows)
        usba_judge(USBA_EPSILON, 0, 1, rows, fit);
    if (reached)
        usba_judge(USBA_THETA, 1, most, rows, fit);
}

void usba_describe_startup(const struct model *model, struct findings *findings)
{
    double epsilon = model->parameters[USBA_EPSILON].estimate;
    double theta = model->parameters[USBA_THETA].estimate;
    struct finding *finding;
    if (!(epsilon > USBA_BOUND))
        finding = finding_add(findings, "constant_initialization",
                              "Starting takes as long on many executors as on one.");
    else
        finding = finding_add(findings, "growing_initialization",
                              "Starting takes %s longer with each executor, up to %s of "
                              "them.",
                              quantity_share(epsilon).text, quantity_number(theta).text);
    finding_number(finding, "epsilon", epsilon);
    finding_number(finding, "theta", theta);
    finding_number(finding, "initialization_s", model->parameters[USBA_INITIALIZATION].estimate);
}

/* --- from speedups --- */

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

/* Of the starts (a theta in each of GAPS_MAX gaps, five ratios) the STARTS_MAX of least squares get
 * STEPS_FIRST steps; the best KEPT_MAX of these go on to STEPS_MAX. */
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
    double most;        /* M */
    size_t k;           /* free parameters: 6, or 5 without gamma */
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

static void usba_pack(const struct problem *problem, const double p[], double u[])
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
    return compare_double(((const struct start *)a)->sum, ((const struct start *)b)->sum);
}

/* Values of theta between neighbouring executor counts, spread over all of them. */
static size_t choose_thetas(const struct problem *problem, double values[], double thetas[GAPS_MAX])
{
    size_t n = problem->data->n;
    for (size_t i = 0; i < n; i++)
        values[i] = problem->data->rows[i].executors;
    size_t distinct = sort_distinct(values, n);
    size_t gaps = distinct - 1 < GAPS_MAX ? distinct - 1 : GAPS_MAX;
    for (size_t g = 0; g < gaps; g++) {
        size_t at = g * (distinct - 1) / gaps;
        thetas[g] = sqrt(values[at] * values[at + 1]);
    }
    return gaps;
}

/* The rest of the parameters given theta and r, by linear least squares on 1/S. PV_E_SINGULAR,
 * PV_E_DOMAIN: nothing to start from. PV_E_MEMORY.
 */
static enum pv_code fill_start(struct problem *problem,
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
    PV_TRY(linear_fit(x, problem->data->n, k, y, weights, problem->data->scratch, &linear, NULL));
    const struct descent d = make_descent(problem);
    start->u[ALPHA_AT] = linear.coefficients[0];
    start->u[BETA_AT] = linear.coefficients[1];
    start->u[EPSILON_AT] = fmin(0.9, fmax(0.01, linear.coefficients[2]));
    start->u[THETA_AT] = theta;
    start->u[RATIO_AT] = log(ratio);
    start->u[GAMMA_AT] = k > 3 ? linear.coefficients[3] : 0;
    start->sum = descent_squares(&d, start->u, d.n);
    return isfinite(start->sum) ? PV_OK : PV_E_DOMAIN;
}

static enum pv_code
make_starts(struct problem *problem, struct start starts[], size_t *n_starts, struct pv_error *err)
{
    /* t0/T1, each about three times the last, around 0.5 to 2.1: with those the source's table
     * 3.1(a) gives its table 3.3. */
    static const double ratios[] = {0.05, 0.2, 0.6, 1.5, 5};
    double thetas[GAPS_MAX];
    size_t n = problem->data->n;
    double *x = arena_array(problem->data->scratch, n, FREE_MAX * sizeof *x);
    double *y = arena_array(problem->data->scratch, n, sizeof *y);
    double *weights = arena_array(problem->data->scratch, n, sizeof *weights);
    if (x == NULL || y == NULL || weights == NULL)
        return pv_no_memory(err);
    size_t gaps = choose_thetas(problem, y, thetas);
    *n_starts = 0;
    for (size_t g = 0; g < gaps; g++) {
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            struct arena_mark mark = arena_mark(problem->data->scratch);
            enum pv_code code =
                fill_start(problem, thetas[g], ratios[r], x, y, weights, &starts[*n_starts]);
            arena_rewind(problem->data->scratch, mark);
            if (code == PV_E_MEMORY)
                return pv_no_memory(err);
            *n_starts += code == PV_OK;
        }
    }
    qsort(starts, *n_starts, sizeof *starts, by_sum);
    return PV_OK;
}

static enum pv_code usba_solve(struct problem *problem,
                               const struct configurations *design,
                               double p[],
                               struct pv_error *err)
{
    size_t n = 0;
    double least = (double)INFINITY;
    struct start *starts =
        arena_array(problem->data->scratch, (size_t)GAPS_MAX * 5, sizeof *starts);
    if (starts == NULL)
        return pv_no_memory(err);
    PV_TRY(make_starts(problem, starts, &n, err));
    if (n == 0)
        return configurations_blame(design, err);
    const struct descent d = make_descent(problem);
    n = n < STARTS_MAX ? n : STARTS_MAX;
    /* A few steps show which starts lead anywhere. */
    for (size_t s = 0; s < n; s++)
        starts[s].sum = descent_find(&d, d.n, STEPS_FIRST, 1e-6, starts[s].u);
    qsort(starts, n, sizeof *starts, by_sum);
    for (size_t s = 0; s < n && s < KEPT_MAX; s++) {
        (void)descent_find(&d, d.n, STEPS_MAX, 1e-6, starts[s].u);
        double sum = descent_polish(&d, 1e-12, starts[s].u);
        if (sum < least) {
            least = sum;
            unpack(problem, starts[s].u, p);
        }
    }
    return PV_OK;
}

/* --- what is known of the parameters --- */

/* Which free parameters the data determine: not those on a bound. */
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

/* Least squares of the linearised law. PV_E_SINGULAR: nothing is determined. */
static enum pv_code usba_linearise(struct problem *problem,
                                   const double p[],
                                   const size_t known[],
                                   size_t k,
                                   struct linear_fit *linear,
                                   struct pv_error *err)
{
    size_t n = problem->data->n;
    double u[DESCENT_MAX];
    double row[FREE_MAX];
    double *x = arena_array(problem->data->scratch, n, k * sizeof *x);
    double *y = arena_array(problem->data->scratch, n, sizeof *y);
    if (x == NULL || y == NULL)
        return pv_no_memory(err);
    usba_pack(problem, p, u);
    for (size_t i = 0; i < n; i++) {
        y[i] = -error_of(problem, u, i, row);
        row[RATIO_AT] /= p[USBA_RATIO];
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = row[known[j]];
    }
    return linear_fit(x, n, k, y, NULL, problem->data->scratch, linear, err);
}

static double squares_at(struct problem *problem, const double p[])
{
    const struct descent d = make_descent(problem);
    double u[DESCENT_MAX];
    usba_pack(problem, p, u);
    return descent_squares(&d, u, d.n);
}

static enum pv_code set_estimates(struct problem *problem,
                                  const double p[],
                                  struct model_fit *fit,
                                  struct pv_error *err)
{
    struct model *model = &fit->model;
    struct linear_fit linear;
    struct pv_error why = {0};
    size_t known[FREE_MAX];
    size_t k = select_known(problem, p, known);
    for (size_t j = 0; j < FREE_MAX; j++)
        model->parameters[order[j]].estimate = p[order[j]];
    enum pv_code code = usba_linearise(problem, p, known, k, &linear, &why);
    if (code == PV_E_SINGULAR)
        return PV_OK;
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    double left = problem->data->n > k ? (double)(problem->data->n - k) : 0;
    double rounding = (double)problem->data->n * 2e-28;
    double variance = fmax(squares_at(problem, p), rounding) / left;
    for (size_t a = 0; a < k && left > 0; a++) {
        fit->freedom[order[known[a]]] = left;
        for (size_t b = 0; b < k; b++)
            model->uncertainty.covariance[order[known[a]]][order[known[b]]] =
                variance * linear.inverse[a][b];
    }
    return PV_OK;
}

/* --- without one row --- */

static void ratio_leave_out(struct problem *problem, const double p[], double left_out[])
{
    const struct descent d = make_descent(problem);
    struct descent_sums sums;
    double u[DESCENT_MAX];
    usba_pack(problem, p, u);
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

static bool gamma_is_insignificant(const struct model_fit *fit)
{
    double variance = fit->model.uncertainty.covariance[USBA_GAMMA][USBA_GAMMA];
    return linear_p_value(fit->model.parameters[USBA_GAMMA].estimate, sqrt(variance),
                          fit->freedom[USBA_GAMMA]) > USBA_SIGNIFICANT;
}

static enum pv_code
fit_ratio(const struct configurations *design, struct model_fit *fit, struct pv_error *err)
{
    const struct model_data *data = design->data;
    double p[USBA_PARAMETERS] = {0};
    double *logs = arena_array(data->scratch, data->n, sizeof *logs);
    if (logs == NULL)
        return pv_no_memory(err);
    struct problem problem = {.data = data, .logs = logs, .k = FREE_MAX, .ratio = 1};
    for (size_t i = 0; i < data->n; i++) {
        logs[i] = log(data->rows[i].problem_size / data->rows[i].executors);
        problem.most = fmax(problem.most, data->rows[i].executors);
    }
    fit->model.reference = MODEL_RATIO;
    PV_TRY(usba_solve(&problem, design, p, err));
    PV_TRY(set_estimates(&problem, p, fit, err));
    if (gamma_is_insignificant(fit)) {
        problem.k = FREE_MAX - 1;
        memset(fit->model.uncertainty.covariance, 0, sizeof fit->model.uncertainty.covariance);
        (void)finding_add(&fit->warnings, "gamma_dropped",
                          "gamma is not significant (p > %s) and was left out",
                          quantity_number(USBA_SIGNIFICANT).text);
        PV_TRY(usba_solve(&problem, design, p, err));
        PV_TRY(set_estimates(&problem, p, fit, err));
        fit->model.parameters[USBA_GAMMA].dropped = true;
    }
    if (p[USBA_THETA] > problem.most * (1 - USBA_BOUND) || p[USBA_EPSILON] < USBA_BOUND)
        (void)finding_add(&fit->warnings, "theta_not_reached",
                          "initialization does not level off within the executor counts observed");
    judge_startup(p, problem.most, data->n, fit);
    ratio_leave_out(&problem, p, fit->left_out);
    return PV_OK;
}

/* --- the two parts of a duration --- */

double *usba_parallel_times(const struct model_data *data)
{
    double *times_s = arena_array(data->scratch, data->n, sizeof *times_s);
    for (size_t i = 0; times_s != NULL && i < data->n; i++) {
        double before_s = data->rows[i].initialization_s;
        times_s[i] = data->rows[i].duration_s - (isnan(before_s) ? 0 : before_s);
    }
    return times_s;
}

enum pv_code
usba_set_startup(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    static const size_t at[3] = {USBA_INITIALIZATION, USBA_EPSILON, USBA_THETA};
    struct startup startup;
    double *executors = arena_array(data->scratch, data->n, sizeof *executors);
    double *times_s = arena_array(data->scratch, data->n, sizeof *times_s);
    double *before_s = arena_array(data->scratch, data->n, sizeof *before_s);
    if (executors == NULL || times_s == NULL || before_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        executors[i] = data->rows[i].executors;
        times_s[i] = data->knows_initialization ? data->rows[i].initialization_s : 0;
    }
    PV_TRY(startup_fit(executors, times_s, data->factors, data->n, data->scratch,
                       data->whole ? NULL : before_s, &startup, err));
    for (size_t i = 0; !data->whole && i < data->n; i++)
        fit->left_out[i] += before_s[i];
    struct model *model = &fit->model;
    model->parameters[USBA_INITIALIZATION].estimate = startup.t0_s;
    model->parameters[USBA_EPSILON].estimate = startup.epsilon;
    model->parameters[USBA_THETA].estimate = startup.theta;
    for (size_t a = 0; a < 3; a++) {
        fit->freedom[at[a]] = startup.freedom;
        for (size_t b = 0; b < 3; b++)
            model->uncertainty.covariance[at[a]][at[b]] =
                data->knows_initialization ? startup.covariance[a][b] : 0;
    }
    if (data->knows_initialization && !startup.saturates)
        (void)finding_add(
            &fit->warnings, "theta_not_reached",
            "initialization does not level off within the executor counts observed: theta "
            "stands at the largest of them");
    return PV_OK;
}

/* Derivatives of alpha, beta, gamma, T1 by c0..c3. */
static void usba_differentiate(const double c[4], double t1, double jacobian[4][4])
{
    for (size_t i = 0; i < 3; i++) {
        /* Each is c[i + 1] / T1, and T1 = c0 + c2 + c3. */
        double value = c[i + 1] / t1;
        for (size_t j = 0; j < 4; j++)
            jacobian[i][j] = ((j == i + 1 ? 1 : 0) - (j == 1 ? 0 : value)) / t1;
    }
    for (size_t j = 0; j < 4; j++)
        jacobian[3][j] = j == 1 ? 0 : 1;
}

enum pv_code usba_set_parallel(const double c[4],
                               double covariance[4][4],
                               struct model *model,
                               struct pv_error *err)
{
    static const size_t at[4] = {USBA_ALPHA, USBA_BETA, USBA_GAMMA, USBA_PARALLEL};
    double jacobian[4][4];
    double t1 = c[0] + c[2] + c[3];
    double size = fabs(c[0]) + fabs(c[1]) + fabs(c[2]) + fabs(c[3]);
    if (!(fabs(t1) > 1e-9 * size))
        return pv_fail(
            err, PV_E_SINGULAR,
            "the time at problem_size 1 on one executor comes out as 0: add runs at small "
            "sizes, best at problem_size 1 on one executor");
    usba_differentiate(c, t1, jacobian);
    for (size_t i = 0; i < 3; i++)
        model->parameters[at[i]].estimate = c[i + 1] / t1;
    model->parameters[USBA_PARALLEL].estimate = t1;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            double sum = 0;
            for (size_t a = 0; a < 4; a++)
                for (size_t b = 0; b < 4; b++)
                    sum += jacobian[i][a] * covariance[a][b] * jacobian[j][b];
            model->uncertainty.covariance[at[i]][at[j]] = sum;
        }
    }
    return PV_OK;
}

/* --- the parallel part by least squares --- */

struct parallel {
    const struct model_data *data;
    const struct configurations *design;
    const double *times_s;
    double t1_s;        /* mean over the runs at N = m = 1; NAN without any */
    double unit_weight; /* of those together */
    size_t units;       /* how many those are */
};

static bool is_unit(const struct observation *row)
{
    return row->problem_size == 1 && row->executors == 1;
}

/* Rows for the fit: all of them, or those that are not at N = m = 1. gamma's column is the last. */
static size_t lay_out(
    const struct parallel *part, size_t skip, bool gamma, double x[], double y[], double weights[])
{
    bool measured = part->units > 0 && skip == part->data->n;
    size_t k = (measured ? 2u : 3u) + (gamma ? 1u : 0u);
    size_t n = 0;
    for (size_t i = 0; i < part->data->n; i++) {
        const struct observation *row = &part->data->rows[i];
        if (i == skip || (measured && is_unit(row)))
            continue;
        double one = measured ? 1 : 0;
        double *to = &x[n * k];
        if (!measured)
            *to++ = 1;
        *to++ = log(row->problem_size / row->executors);
        *to++ = row->executors - one;
        if (gamma)
            *to++ = row->problem_size - one;
        y[n] = measured ? part->times_s[i] / part->t1_s - 1 : part->times_s[i];
        weights[n++] = part->data->factors[i];
    }
    return n;
}

/* skip: the row that is left out (then always the extrapolated form), or n. */
static enum pv_code fit_linear(const struct parallel *part,
                               size_t skip,
                               bool gamma,
                               const double **y_out,
                               struct linear_fit *linear,
                               struct pv_error *err)
{
    size_t n = part->data->n;
    double *x = arena_array(part->data->scratch, n, 4 * sizeof *x);
    double *y = arena_array(part->data->scratch, n, sizeof *y);
    double *weights = arena_array(part->data->scratch, n, sizeof *weights);
    if (x == NULL || y == NULL || weights == NULL)
        return pv_no_memory(err);
    size_t rows = lay_out(part, skip, gamma, x, y, weights);
    size_t k = (part->units > 0 && skip == n ? 2u : 3u) + (gamma ? 1u : 0u);
    *y_out = y;
    return linear_fit(x, rows, k, y, weights, part->data->scratch, linear, err);
}

static void
set_measured(const struct parallel *part, const struct linear_fit *linear, struct model_fit *fit)
{
    struct model *model = &fit->model;
    double squares = 0;
    for (size_t i = 0; i < part->data->n; i++)
        if (is_unit(&part->data->rows[i]))
            squares += part->data->rows[i].weight * (part->times_s[i] - part->t1_s) *
                       (part->times_s[i] - part->t1_s);
    double units = (double)part->units;
    model->reference = MODEL_MEASURED;
    model->parameters[USBA_PARALLEL].estimate = part->t1_s;
    fit->freedom[USBA_PARALLEL] = units - 1;
    model->uncertainty.covariance[USBA_PARALLEL][USBA_PARALLEL] =
        part->units > 1 ? squares / (units - 1) / part->unit_weight : 0;
    for (size_t a = 0; a < linear->k; a++) {
        model->parameters[a].estimate = linear->coefficients[a];
        for (size_t b = 0; b < linear->k; b++)
            model->uncertainty.covariance[a][b] =
                isnan(linear->variance) ? 0 : linear->variance * linear->inverse[a][b];
    }
}

static enum pv_code usba_set_parameters(const struct parallel *part,
                                        const struct linear_fit *linear,
                                        struct model_fit *fit,
                                        struct pv_error *err)
{
    for (size_t j = USBA_ALPHA; j <= USBA_GAMMA; j++)
        fit->freedom[j] = (double)(linear->n - linear->k);
    fit->model.parameters[USBA_GAMMA].estimate = 0;
    if (part->units > 0) {
        set_measured(part, linear, fit);
        return PV_OK;
    }
    double c[4] = {0};
    double covariance[4][4] = {{0}};
    for (size_t a = 0; a < linear->k; a++) {
        c[a] = linear->coefficients[a];
        for (size_t b = 0; b < linear->k && !isnan(linear->variance); b++)
            covariance[a][b] = linear->variance * linear->inverse[a][b];
    }
    fit->freedom[USBA_PARALLEL] = fit->freedom[USBA_ALPHA];
    fit->model.reference = MODEL_EXTRAPOLATED;
    return usba_set_parallel(c, covariance, &fit->model, err);
}

static void drop_gamma(struct model *model)
{
    model->parameters[USBA_GAMMA].dropped = true;
    for (size_t j = 0; j < USBA_PARAMETERS; j++)
        model->uncertainty.covariance[USBA_GAMMA][j] =
            model->uncertainty.covariance[j][USBA_GAMMA] = 0;
}

/* With gamma if the observations know it, else without. */
static enum pv_code choose_form(const struct parallel *part,
                                struct linear_fit *linear,
                                const double **y,
                                struct model_fit *fit,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    struct model kept = fit->model;
    enum pv_code code = fit_linear(part, part->data->n, true, y, linear, &why);
    if (code == PV_OK)
        code = usba_set_parameters(part, linear, fit, err);
    else if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    bool known = code == PV_OK;
    if (known && !gamma_is_insignificant(fit))
        return PV_OK;
    fit->model = kept;
    pv_error_clear(err);
    code = fit_linear(part, part->data->n, false, y, linear, &why);
    if (code == PV_E_SINGULAR)
        return configurations_blame(part->design, err);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    PV_TRY(usba_set_parameters(part, linear, fit, err));
    drop_gamma(&fit->model);
    if (known)
        (void)finding_add(&fit->warnings, "gamma_dropped",
                          "gamma is not significant (p > %s) and was left out",
                          quantity_number(USBA_SIGNIFICANT).text);
    else
        (void)finding_add(
            &fit->warnings, "gamma_dropped",
            "the problem sizes observed do not separate gamma from the other effects: it was left "
            "out");
    return PV_OK;
}

/* A lone run at N = m = 1: without it the reference is extrapolated. */
static enum pv_code leave_reference_out(
    const struct parallel *part, size_t i, bool gamma, double *left_out_s, struct pv_error *err)
{
    struct linear_fit linear;
    struct pv_error why = {0};
    const double *y;
    enum pv_code code = fit_linear(part, i, gamma, &y, &linear, &why);
    *left_out_s = (double)NAN;
    if (code == PV_E_SINGULAR)
        return PV_OK;
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    *left_out_s = linear.coefficients[0] + linear.coefficients[2];
    if (gamma)
        *left_out_s += linear.coefficients[3];
    return PV_OK;
}

/* Mean of the runs at N = m = 1 other than row i. */
static double without_unit(const struct parallel *part, size_t i)
{
    double w = part->data->rows[i].weight;
    return (part->unit_weight * part->t1_s - w * part->times_s[i]) / (part->unit_weight - w);
}

static enum pv_code usba_leave_out(const struct parallel *part,
                                   const struct linear_fit *linear,
                                   const double y[],
                                   bool gamma,
                                   double left_out_s[],
                                   struct pv_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < part->data->n; i++) {
        if (part->units == 0)
            left_out_s[i] = linear_left_out(linear, y, i);
        else if (!is_unit(&part->data->rows[i]))
            left_out_s[i] = part->t1_s * (1 + linear_left_out(linear, y, at++));
        else if (part->units > 1)
            left_out_s[i] = without_unit(part, i);
        else {
            PV_TRY(leave_reference_out(part, i, gamma, &left_out_s[i], err));
        }
    }
    return PV_OK;
}

static enum pv_code
usba_prepare(const struct configurations *design, struct parallel *part, struct pv_error *err)
{
    const struct model_data *data = design->data;
    *part = (struct parallel){.data = data, .design = design};
    part->times_s = usba_parallel_times(data);
    if (part->times_s == NULL)
        return pv_no_memory(err);
    double sum = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (!is_unit(&data->rows[i]))
            continue;
        sum += data->rows[i].weight * part->times_s[i];
        part->unit_weight += data->rows[i].weight;
        part->units++;
    }
    part->t1_s = part->units > 0 ? sum / part->unit_weight : (double)NAN;
    if (part->units > 0 && !(part->t1_s > 0))
        return pv_fail(
            err, PV_E_DOMAIN,
            "the runs at problem_size 1 on one executor take no time after initialization");
    return PV_OK;
}

static enum pv_code
fit_durations(const struct configurations *design, struct model_fit *fit, struct pv_error *err)
{
    const struct model_data *data = design->data;
    struct parallel part;
    struct linear_fit linear = {.n = 0};
    const double *y = NULL;
    PV_TRY(usba_prepare(design, &part, err));
    PV_TRY(choose_form(&part, &linear, &y, fit, err));
    bool gamma = !fit->model.parameters[USBA_GAMMA].dropped;
    if (!data->whole)
        PV_TRY(usba_leave_out(&part, &linear, y, gamma, fit->left_out, err));
    PV_TRY(usba_set_startup(data, fit, err));
    if (!(fit->model.parameters[USBA_PARALLEL].estimate > 0))
        (void)finding_add(
            &fit->warnings, "negative_reference",
            "the time at problem_size 1 on one executor is extrapolated to less than 0: "
            "durations can be predicted, speedups cannot");
    return PV_OK;
}

static enum pv_code
fit_usba(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    bool speedups = data->form == MODEL_OF_SPEEDUPS;
    PV_TRY(
        configurations_require(data, &usba_kind, speedups ? 7 : 4, speedups ? 3 : 2, &design, err));
    return speedups ? fit_ratio(&design, fit, err) : fit_durations(&design, fit, err);
}

/* What bounds the speedup: a part that grows with executors, or nothing that was seen. */
static void usba_describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double beta = law.p[USBA_BETA];
    struct finding *finding =
        beta > 0 ? finding_add(findings, "executor_overhead",
                               "Each executor adds %s of the time of a problem of size 1 to the "
                               "parallel part: that is what ends the speedup.",
                               quantity_share(beta).text)
                 : finding_add(findings, "no_executor_overhead",
                               "Executors add nothing to the parallel part: it falls with their "
                               "logarithm as far as the law holds.");
    finding_number(finding, "beta", beta);
    finding_number(finding, "p_value", model->parameters[USBA_BETA].p_value);
    usba_describe_startup(model, findings);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

const struct model_kind usba_kind = {
    .name = "usba",
    .forms = BOTH,
    .wants_initialization = true,
    .rules = usba_rules,
    .n_parameters = USBA_PARAMETERS,
    .size_use = MODEL_NEEDS_TWO_SIZES,
    .fit = fit_usba,
    .duration_s = usba_duration,
    .speedup = usba_speedup,
    .turning_points = usba_turn,
    .describe = usba_describe,
};

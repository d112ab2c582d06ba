/*
 * How IPSO's parameters are estimated from measured runs.
 *
 * Model (IPSO eqs. 2.1 to 2.9). A job on n units has parallel work W_p(n), serial work W_s(n) and
 * work W_o(n) that scaling out itself induces. It takes
 *
 *     T(n) = E[max T_p(n)] + W_s(n) + W_o(n)             (denominator of eq. 2.7)
 *
 * and its speedup is (W_p(n) + W_s(n)) / T(n). The factors and their laws are
 *
 *     EX = W_p(n)/W_p(1)        n^x                                            (eq. 2.3)
 *     IN = W_s(n)/W_s(1)        (a + c n^i)/W_s(1)   for n > 1                 (eq. 2.4)
 *     q  = n W_o(n)/W_p(n)      beta n^gamma         for n > 1, q(1) = 0       (eqs. 2.6, 2.15)
 *     E[max T_p(n)]             t n^u                (the example of eq. 2.18 fits a curve, too)
 *
 * Objective. The times are measured one by one, so that each law is fitted to its own column by
 * least squares on the values. One fit to the sum T(n) could not separate them: over the few
 * executor counts of a history t n^u, c n^i and beta n^gamma are nearly collinear.
 *
 * Steps, in this order because each needs the one before:
 *
 * 1. x: power law of W_p. The paper knows the two cases x = 0 (fixed size) and x = 1 (fixed time)
 *    (eq. 2.13). If the 95 % interval of x holds exactly one of these, x is set to it and W_p(1) is
 *    estimated again, as sum n^x W_p / sum n^2x: the noise of the exponent would otherwise enter
 *    delta and decide the type. If it holds both or neither the workload is mixed and x stays as it
 *    is. The caller may know the case, which then overrides the test. Without W_p the size is
 *    fixed.
 * 2. t, u: power law of the longest task. Without such a measure all tasks are alike (deterministic
 *    form, eq. 2.10): t = W_p(1), u = x - 1. Without W_p, W_p(1) = t: the law's value at n = 1, the
 *    time of the one task that does everything.
 * 3. IN: growth_law.c, and beyond a step, if ipso_step.c finds one, the growth of the rows there.
 *    W_s(1) is the law's value at 1, not the measured one, and eta = W_p(1)/(W_p(1) + W_s(1)) (eq.
 *    2.9). The leading terms of EX/IN ~ alpha n^delta (eqs. 2.5, 2.14) are
 *
 *        n^x / (c n^i / W_s(1)),   so that   alpha = W_s(1)/c   and   delta = x - i.
 *
 *    The offset a does not appear in them; it is a parameter of its own, used in predictions.
 * 4. Fixed size: serial work cannot grow in proportion to anything, so IN = 1, alpha = 1, delta = 0
 *    by definition, and what W_s gained since n = 1 belongs to W_o (IPSO section 2.4). No step is
 *    looked for: it would be part of that gain.
 * 5. beta, gamma: power law of n W_o/W_p over the rows with n > 1. Overhead measured at n = 1 was
 *    not induced by scaling out; it is reported and not used. W_p is the row's own where it was
 *    measured, since q is relative to it.
 *
 * Uncertainty. beta, gamma, t, u and W_p(1) have the covariance of their fits. eta, alpha and delta
 * are functions of W_p(1), W_s(1), c, i, x, and get theirs by first order from the derivatives
 *
 *     eta:    W_s/(W_p + W_s)^2 by W_p,  -W_p/(W_p + W_s)^2 by W_s     (both at n = 1)
 *     alpha:  1/c by W_s(1),  -W_s(1)/c^2 by c
 *     delta:  1 by x,  -1 by i
 *
 * where the columns are taken to be independent of each other and W_s(1), c, i share the covariance
 * of one growth fit. With a step W_s(1) is from the line before it and c, i from the rows beyond;
 * the variance of W_s(1) is then not counted.
 *
 * Bounds. With r = W_s(1)/W_p(1) = 1/eta - 1 eq. 2.10 reads S = (EX + r IN)/(EX (1 + q)/n + r IN).
 * Letting n grow:
 *
 *     IIIt,1   EX = n, IN -> n/alpha, q/n -> 0        S -> 1 + alpha/r
 *     IIIt,2   EX = n, IN -> n/alpha, q = beta n      S -> (alpha + r)/(alpha beta + r)
 *              the same with delta > 0 or r = 0       S -> 1/beta
 *     IIIs,1   EX = IN = 1, q/n -> 0                  S -> 1 + 1/r
 *     IIIs,2   EX = IN = 1, q = beta n                S -> (1 + r)/(beta + r)
 *
 * Guards. - A constant W_s whose interval reaches 0 is no serial part, nor is a W_s(1) not above 0.
 *   Then eta = 1, eqs. 2.14 and 2.5 are undefined, and eq. 2.17 holds. - W_o that is 0 everywhere
 *   gives beta = 0 even if there are too few rows for a law. - Where gamma's interval holds both 0
 *   and 1 but W_o is below a hundredth of every duration, gamma counts as 0: growth of so little
 *   cannot be measured, nor does it matter. - A line in IN grows with order 1, so that in a
 *   fixed-time series delta is 0 exactly; likewise 1 for a constant. Their intervals would only
 *   reflect noise. - A peak beyond the observed counts is believed only where gamma > 1 (type IV).
 *   Other types have none, so theirs would come from the noise of the exponents. - Rows are sorted
 *   first, so that sums are the same whatever order the caller has. - Leave-one-out fits keep
 *   workload and forms of the fit to all rows and start at its exponents: they measure the error of
 *   this law. At most 64 of them are made; with more rows, every 64th row is left out together.
 *
 * Cost: O(n log n) for sorting, O(n) for each law, O(n^2) for the search of a step; leaving out
 * repeats the laws 64 times at most, with the step where it was.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/scaling/laws/ipso/ipso.h"

enum { LEFT_OUT_PARTS = 64 };

/* Overhead below this share of every duration, whose growth is unclear, counts as none. */
static const double negligible = 0.01;
/* More units than any cluster has: what peaks beyond has no peak. */
static const double peak_most = 1e9;

/* The columns of the rows, ascending by n, and the laws found in them. */
struct parts {
    const struct ipso_observation *rows;
    size_t rows_n;
    size_t distinct;
    double *n;
    double *y; /* the column looked at */
    bool has_parallel;
    bool has_max_task;
    struct power_law parallel;
    struct power_law task;
    struct power_law induced;
    struct growth serial;
    struct growth tail; /* of serial time beyond the step */
    struct step step;
    enum ipso_workload workload;
    double external;
    double external_variance; /* 0: it counts as 0 or 1 */
    double parallel_s;        /* W_p(1) */
    double parallel_variance;
    double serial_s; /* W_s(1) */
    bool is_serial;
    bool serial_induced;
    enum ipso_workload given; /* IPSO_MIXED: none was */
};

/* --- rows --- */

static int by_value(const void *a, const void *b)
{
    const struct ipso_observation *x = a;
    const struct ipso_observation *y = b;
    int order = compare_double(x->n, y->n);
    if (order == 0)
        order = compare_double(x->max_task_s, y->max_task_s);
    if (order == 0)
        order = compare_double(x->parallel_s, y->parallel_s);
    if (order == 0)
        order = compare_double(x->serial_s, y->serial_s);
    return order != 0 ? order : compare_double(x->induced_s, y->induced_s);
}

static enum pv_code
ipso_fit_check(const struct ipso_observation rows[], size_t n, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct ipso_observation *row = &rows[i];
        if (isnan(row->parallel_s) != isnan(rows[0].parallel_s) ||
            isnan(row->max_task_s) != isnan(rows[0].max_task_s))
            return pv_fail(err, PV_E_DOMAIN, "a measure must be given of all observations or none");
        if (!(row->n >= 1) || !(row->serial_s >= 0) || !(row->induced_s >= 0) ||
            row->parallel_s <= 0 || row->max_task_s <= 0 || !isfinite(ipso_duration(row)))
            return pv_fail(err, PV_E_DOMAIN,
                           "times must be finite, those of tasks above 0, n at least 1");
    }
    return PV_OK;
}

static enum pv_code sort_rows(const struct ipso_observation rows[],
                              size_t n,
                              struct arena *scratch,
                              struct parts *parts,
                              struct pv_error *err)
{
    struct ipso_observation *sorted = arena_array(scratch, n, sizeof *sorted);
    *parts = (struct parts){.rows_n = n,
                            .n = arena_array(scratch, n, sizeof(double)),
                            .y = arena_array(scratch, n, sizeof(double))};
    if (sorted == NULL || parts->n == NULL || parts->y == NULL)
        return pv_no_memory(err);
    if (n > 0)
        memcpy(sorted, rows, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    parts->rows = sorted;
    for (size_t i = 0; i < n; i++) {
        parts->n[i] = sorted[i].n;
        parts->distinct += i == 0 || sorted[i].n != sorted[i - 1].n;
    }
    if (parts->distinct < 2)
        return pv_fail(err, PV_E_TOO_FEW,
                       "ipso needs observations at two executor counts at least, there %s %zu",
                       parts->distinct == 1 ? "is" : "are", parts->distinct);
    parts->has_parallel = !isnan(sorted[0].parallel_s);
    parts->has_max_task = !isnan(sorted[0].max_task_s);
    return PV_OK;
}

/* --- estimates --- */

static struct ipso_estimate estimate_of(double value, double variance, double freedom)
{
    double reach = growth_reach(variance, freedom);
    return (struct ipso_estimate){
        .value = value,
        .std_error = variance >= 0 ? sqrt(variance) : (double)NAN,
        .freedom = freedom,
        .interval = {value - reach, value + reach},
    };
}

static struct ipso_estimate fixed_at(double value)
{
    return (struct ipso_estimate){value, (double)NAN, 0, {(double)NAN, (double)NAN}};
}

/* --- external scaling --- */

/* W_p(1) where the exponent is given, by least squares. */
static void fit_scale(struct parts *parts)
{
    double xy = 0;
    double xx = 0;
    double rss = 0;
    for (size_t i = 0; i < parts->rows_n; i++) {
        double x = pow(parts->n[i], parts->external);
        xy += x * parts->y[i];
        xx += x * x;
    }
    parts->parallel_s = xy / xx;
    for (size_t i = 0; i < parts->rows_n; i++) {
        double off = parts->y[i] - parts->parallel_s * pow(parts->n[i], parts->external);
        rss += off * off;
    }
    parts->parallel_variance = rss / (double)(parts->rows_n - 1) / xx;
}

static enum pv_code
fit_external(struct parts *parts, const struct parts *near, struct pv_error *err)
{
    for (size_t i = 0; i < parts->rows_n; i++)
        parts->y[i] = parts->rows[i].parallel_s;
    double start = near == NULL ? (double)NAN : near->parallel.exponent;
    PV_TRY(power_law_fit(parts->n, parts->y, parts->rows_n, start, &parts->parallel, err));
    struct ipso_estimate external = estimate_of(
        parts->parallel.exponent, parts->parallel.covariance[1][1], parts->parallel.freedom);
    enum ipso_order order = ipso_order_of(&external);
    if (order == IPSO_ZERO)
        parts->workload = IPSO_FIXED_SIZE;
    else
        parts->workload = order == IPSO_ONE ? IPSO_FIXED_TIME : IPSO_MIXED;
    if (parts->given != IPSO_MIXED)
        parts->workload = parts->given;
    if (near != NULL)
        parts->workload = near->workload;
    if (parts->workload == IPSO_MIXED) {
        parts->external = parts->parallel.exponent;
        parts->external_variance = parts->parallel.covariance[1][1];
        parts->parallel_s = parts->parallel.coefficient;
        parts->parallel_variance = parts->parallel.covariance[0][0];
        return PV_OK;
    }
    parts->external = parts->workload == IPSO_FIXED_TIME ? 1 : 0;
    fit_scale(parts);
    return PV_OK;
}

static enum pv_code fit_tasks(struct parts *parts, const struct parts *near, struct pv_error *err)
{
    if (!parts->has_max_task) {
        parts->task =
            (struct power_law){.coefficient = parts->parallel_s, .exponent = parts->external - 1};
        return PV_OK;
    }
    for (size_t i = 0; i < parts->rows_n; i++)
        parts->y[i] = parts->rows[i].max_task_s;
    double start = near == NULL ? (double)NAN : near->task.exponent;
    PV_TRY(power_law_fit(parts->n, parts->y, parts->rows_n, start, &parts->task, err));
    if (!parts->has_parallel) {
        parts->workload = IPSO_FIXED_SIZE;
        parts->external = 0;
        parts->parallel_s = parts->task.coefficient;
        parts->parallel_variance = parts->task.covariance[0][0];
    }
    return PV_OK;
}

/* --- internal scaling --- */

static enum pv_code
fit_step(struct parts *parts, const struct parts *near, struct arena *scratch, struct pv_error *err)
{
    if (near == NULL && parts->workload != IPSO_FIXED_SIZE)
        return step_find(parts->n, parts->y, parts->rows_n, scratch, &parts->step, err);
    if (near != NULL)
        parts->step = near->step;
    if (parts->step.found)
        step_refit(parts->n, parts->y, parts->rows_n, &parts->step);
    return PV_OK;
}

/* Beyond the step, and at one from the line before it. */
static enum pv_code
fit_tail(struct parts *parts, const struct parts *near, struct arena *scratch, struct pv_error *err)
{
    size_t first = 0;
    while (first < parts->rows_n && parts->n[first] < parts->step.first_after)
        first++;
    const double *n = parts->n + first;
    const double *y = parts->y + first;
    size_t rows = parts->rows_n - first;
    if (near != NULL)
        return growth_refit(n, y, rows, &near->tail, scratch, &parts->tail, err);
    return growth_fit(n, y, rows, scratch, &parts->tail, err);
}

static enum pv_code fit_internal(struct parts *parts,
                                 const struct parts *near,
                                 struct arena *scratch,
                                 struct pv_error *err)
{
    for (size_t i = 0; i < parts->rows_n; i++)
        parts->y[i] = parts->rows[i].serial_s;
    PV_TRY(fit_step(parts, near, scratch, err));
    PV_TRY(near != NULL
               ? growth_refit(parts->n, parts->y, parts->rows_n, &near->serial, scratch,
                              &parts->serial, err)
               : growth_fit(parts->n, parts->y, parts->rows_n, scratch, &parts->serial, err));
    parts->tail = parts->serial;
    if (parts->step.found)
        PV_TRY(fit_tail(parts, near, scratch, err));
    parts->serial_s = parts->step.found ? parts->step.before.offset + parts->step.before.slope
                                        : parts->serial.at_one;
    double reach =
        growth_reach(parts->serial.covariance[GROWTH_AT_ONE][GROWTH_AT_ONE], parts->serial.freedom);
    bool steady = parts->serial.form == GROWTH_CONSTANT && !parts->step.found;
    double least = steady && !isnan(reach) ? parts->serial_s - reach : parts->serial_s;
    parts->is_serial = least > 0;
    if (!parts->is_serial)
        parts->serial_s = 0;
    parts->serial_induced = parts->workload == IPSO_FIXED_SIZE && !steady;
    return PV_OK;
}

/* --- scale-out-induced scaling --- */

/* W_o of a row: where the workload is of fixed size what serial time grew by is part of it. */
static double induced_of(const struct parts *parts, size_t i)
{
    const struct ipso_observation *row = &parts->rows[i];
    double more = parts->serial_induced ? fmax(0, row->serial_s - parts->serial_s) : 0;
    return row->induced_s + more;
}

static enum pv_code fit_induced(struct parts *parts, const struct parts *near, struct pv_error *err)
{
    size_t first = 0;
    while (first < parts->rows_n && parts->n[first] <= 1)
        first++;
    size_t rows = parts->rows_n - first;
    double sum = 0;
    for (size_t i = first; i < parts->rows_n; i++) {
        double work_s = parts->has_parallel ? parts->rows[i].parallel_s : parts->parallel_s;
        parts->y[i] = parts->n[i] * induced_of(parts, i) / work_s;
        sum += parts->y[i];
    }
    double start = near == NULL ? (double)NAN : near->induced.exponent;
    enum pv_code code = power_law_fit(parts->n + first, parts->y + first, rows, start,
                                      &parts->induced, sum > 0 ? err : NULL);
    if (code == PV_E_TOO_FEW && !(sum > 0)) {
        parts->induced = (struct power_law){.coefficient = 0};
        return PV_OK;
    }
    return code;
}

static bool is_negligible(const struct parts *parts)
{
    for (size_t i = 0; i < parts->rows_n; i++)
        if (parts->n[i] > 1 && induced_of(parts, i) > negligible * ipso_duration(&parts->rows[i]))
            return false;
    return true;
}

/* --- all parts --- */

/* near: laws of the same forms, for the start; NULL: everything is open. */
static enum pv_code fit_parts(const struct ipso_observation rows[],
                              size_t n,
                              enum ipso_workload given,
                              const struct parts *near,
                              struct arena *scratch,
                              struct parts *parts,
                              struct pv_error *err)
{
    PV_TRY(sort_rows(rows, n, scratch, parts, err));
    parts->given = given;
    if (parts->has_parallel)
        PV_TRY(fit_external(parts, near, err));
    PV_TRY(fit_tasks(parts, near, err));
    PV_TRY(fit_internal(parts, near, scratch, err));
    return fit_induced(parts, near, err);
}

static void put_values(const struct parts *parts, double p[IPSO_PARAMETERS])
{
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        p[j] = (double)NAN;
    p[IPSO_ETA] = parts->parallel_s / (parts->parallel_s + parts->serial_s);
    p[IPSO_BETA] = parts->induced.coefficient;
    p[IPSO_GAMMA] = parts->induced.exponent;
    p[IPSO_TASK_TIME] = parts->task.coefficient;
    p[IPSO_TASK_EXPONENT] = parts->task.exponent;
    p[IPSO_EXTERNAL] = parts->external;
    if (parts->has_parallel)
        p[IPSO_PARALLEL] = parts->parallel_s;
    if (!parts->is_serial)
        return;
    p[IPSO_ALPHA] = 1;
    p[IPSO_DELTA] = 0;
    if (parts->workload == IPSO_FIXED_SIZE)
        return;
    p[IPSO_ALPHA] = parts->serial_s / parts->tail.coefficient;
    p[IPSO_DELTA] = parts->external - parts->tail.exponent;
    if (parts->tail.offset != 0)
        p[IPSO_INTERNAL_OFFSET] = parts->tail.offset / parts->serial_s;
    if (parts->step.found) {
        p[IPSO_STEP_AT] = parts->step.last_before;
        p[IPSO_STEP_OFFSET] = parts->step.before.offset / parts->serial_s;
        p[IPSO_STEP_SLOPE] = parts->step.before.slope / parts->serial_s;
    }
}

/* --- what is known of the parameters --- */

static void put_law(struct ipso_fit *fit, const struct power_law *law, size_t c, size_t e)
{
    const size_t at[2] = {c, e};
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            fit->covariance[at[a]][at[b]] = law->freedom > 0 ? law->covariance[a][b] : 0;
    fit->parameters[c] = estimate_of(law->coefficient, law->covariance[0][0], law->freedom);
    fit->parameters[e] = estimate_of(law->exponent, law->covariance[1][1], law->freedom);
}

/* eta, alpha and delta by first order, from W_p(1), the law of W_s and the exponent of W_p. */
static void know_shares(const struct parts *parts, const double p[], struct ipso_fit *fit)
{
    enum { WORK, SERIAL, COEFFICIENT, EXPONENT, EXTERNAL, SOURCES };
    static const size_t made[] = {IPSO_ETA, IPSO_ALPHA, IPSO_DELTA};
    const struct growth *tail = &parts->tail;
    double v[SOURCES][SOURCES] = {{0}};
    double whole = parts->parallel_s + parts->serial_s;
    double c = tail->coefficient;
    v[WORK][WORK] = parts->parallel_variance;
    v[EXTERNAL][EXTERNAL] = parts->external_variance;
    for (size_t a = 0; a < GROWTH_KNOWN; a++)
        for (size_t b = 0; b < GROWTH_KNOWN; b++)
            v[SERIAL + a][SERIAL + b] = tail->covariance[a][b];
    if (parts->step.found)
        for (size_t b = 0; b < GROWTH_KNOWN; b++)
            v[SERIAL][SERIAL + b] = v[SERIAL + b][SERIAL] = 0;
    double by[3][SOURCES] = {
        {parts->serial_s / (whole * whole), -parts->parallel_s / (whole * whole), 0, 0, 0},
        {0, 1 / c, -parts->serial_s / (c * c), 0, 0},
        {0, 0, 0, -1, 1},
    };
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            double sum = 0;
            for (size_t i = 0; i < SOURCES; i++)
                for (size_t j = 0; j < SOURCES; j++)
                    sum += by[a][i] == 0 || by[b][j] == 0 ? 0 : by[a][i] * v[i][j] * by[b][j];
            fit->covariance[made[a]][made[b]] = isfinite(sum) && tail->freedom > 0 ? sum : 0;
            if (a == b)
                fit->parameters[made[a]] =
                    estimate_of(p[made[a]], fmax(sum, 0), isfinite(sum) ? tail->freedom : 0);
        }
    }
}

static void know_parameters(const struct parts *parts, const double p[], struct ipso_fit *fit)
{
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        fit->parameters[j] = fixed_at(p[j]);
    put_law(fit, &parts->induced, IPSO_BETA, IPSO_GAMMA);
    if (parts->has_max_task)
        put_law(fit, &parts->task, IPSO_TASK_TIME, IPSO_TASK_EXPONENT);
    if (parts->has_parallel) {
        fit->parameters[IPSO_EXTERNAL] =
            estimate_of(parts->external, parts->external_variance, parts->parallel.freedom);
        fit->parameters[IPSO_PARALLEL] =
            estimate_of(parts->parallel_s, parts->parallel_variance, parts->parallel.freedom);
        fit->covariance[IPSO_PARALLEL][IPSO_PARALLEL] =
            isfinite(parts->parallel_variance) ? parts->parallel_variance : 0;
    }
    if (!parts->is_serial)
        return;
    know_shares(parts, p, fit);
    if (parts->workload == IPSO_FIXED_SIZE) {
        fit->parameters[IPSO_ALPHA] = fixed_at(1);
        fit->parameters[IPSO_DELTA] = fixed_at(0);
        for (size_t j = 0; j < IPSO_PARAMETERS; j++) {
            fit->covariance[IPSO_ALPHA][j] = fit->covariance[j][IPSO_ALPHA] = 0;
            fit->covariance[IPSO_DELTA][j] = fit->covariance[j][IPSO_DELTA] = 0;
        }
    }
}

/* The law as n grows, for the types that level off. */
static double find_bound(const struct ipso_fit *fit, const double p[])
{
    double serial = fit->serial ? 1 / p[IPSO_ETA] - 1 : 0; /* for each second of parallel work */
    switch (fit->type) {
    case IPSO_III_T1:
        return 1 + p[IPSO_ALPHA] / serial;
    case IPSO_III_T2:
        if (fit->serial && fit->delta == IPSO_ZERO)
            return (p[IPSO_ALPHA] + serial) / (p[IPSO_ALPHA] * p[IPSO_BETA] + serial);
        return 1 / p[IPSO_BETA];
    case IPSO_III_S1:
        return 1 + 1 / serial;
    case IPSO_III_S2:
        return (1 + serial) / (p[IPSO_BETA] + serial);
    case IPSO_UNDETERMINED:
    case IPSO_I_T:
    case IPSO_II_T:
    case IPSO_IV_T:
    case IPSO_I_S:
    case IPSO_II_S:
    case IPSO_IV_S:
        break;
    }
    return (double)NAN;
}

/* Beyond what was observed only a type that has a peak is believed one. */
static void ipso_fit_judge(const struct parts *parts, const double p[], struct ipso_fit *fit)
{
    fit->gamma = ipso_order_of(&fit->parameters[IPSO_GAMMA]);
    if (p[IPSO_BETA] == 0 || (fit->gamma == IPSO_UNCLEAR && is_negligible(parts)))
        fit->gamma = IPSO_ZERO;
    fit->delta =
        parts->tail.form == GROWTH_LINE ? IPSO_ZERO : ipso_order_of(&fit->parameters[IPSO_DELTA]);
    if (parts->workload == IPSO_FIXED_SIZE)
        fit->delta = IPSO_ZERO;
    if (parts->workload == IPSO_FIXED_TIME && parts->tail.form == GROWTH_CONSTANT)
        fit->delta = IPSO_ONE;
    fit->type = ipso_type_of(parts->workload, parts->is_serial, fit->delta, fit->gamma);
    fit->peak = ipso_find_peak(p, peak_most);
    if (fit->gamma != IPSO_ABOVE_ONE && fit->peak.n > fit->n_range[1])
        fit->peak = (struct ipso_peak){0, 0};
    fit->bound = find_bound(fit, p);
}

/* Numbers that were estimated. */
static size_t count_laws(const struct parts *parts)
{
    size_t count = parts->has_max_task ? 2 : 1;
    if (parts->is_serial)
        count += parts->tail.form == GROWTH_CONSTANT ? 1 : 2;
    if (parts->step.found)
        count += 3;
    return count + (parts->induced.coefficient > 0 ? 2 : 0);
}

enum pv_code ipso_fit(const struct ipso_observation rows[],
                      size_t n,
                      struct arena *scratch,
                      struct ipso_fit *fit,
                      struct pv_error *err)
{
    return ipso_fit_workload(rows, n, IPSO_MIXED, scratch, fit, err);
}

enum pv_code ipso_fit_workload(const struct ipso_observation rows[],
                               size_t n,
                               enum ipso_workload workload,
                               struct arena *scratch,
                               struct ipso_fit *fit,
                               struct pv_error *err)
{
    struct parts parts;
    double p[IPSO_PARAMETERS];
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = ipso_fit_check(rows, n, err);
    if (code == PV_OK)
        code = fit_parts(rows, n, workload, NULL, scratch, &parts, err);
    if (code == PV_OK) {
        *fit = (struct ipso_fit){.workload = parts.workload,
                                 .serial = parts.is_serial,
                                 .serial_induced = parts.serial_induced,
                                 .statistical = parts.has_max_task,
                                 .overhead_at_one = parts.n[0] <= 1 && parts.rows[0].induced_s > 0,
                                 .step = parts.step,
                                 .n_range = {parts.n[0], parts.n[n - 1]},
                                 .rows = n,
                                 .distinct = parts.distinct,
                                 .laws = count_laws(&parts)};
        put_values(&parts, p);
        know_parameters(&parts, p, fit);
        ipso_fit_judge(&parts, p, fit);
    }
    arena_rewind(scratch, mark);
    return code;
}

/* --- without some rows --- */

static enum pv_code predict_without(const struct ipso_observation rows[],
                                    size_t n,
                                    size_t part,
                                    const struct parts *near,
                                    struct arena *scratch,
                                    double left_out[],
                                    struct pv_error *err)
{
    struct parts parts;
    struct pv_error why = {0};
    double p[IPSO_PARAMETERS];
    size_t kept = 0;
    struct ipso_observation *rest = arena_array(scratch, n, sizeof *rest);
    if (rest == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (i % LEFT_OUT_PARTS != part)
            rest[kept++] = rows[i];
    enum pv_code code = fit_parts(rest, kept, IPSO_MIXED, near, scratch, &parts, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    if (code == PV_OK)
        put_values(&parts, p);
    for (size_t i = part; i < n; i += LEFT_OUT_PARTS) {
        struct ipso_prediction there = {.duration_s = (double)NAN};
        if (code == PV_OK)
            ipso_predict(p, rows[i].n, &there);
        left_out[i] = there.duration_s;
    }
    return PV_OK;
}

enum pv_code ipso_leave_out(const struct ipso_observation rows[],
                            size_t n,
                            struct arena *scratch,
                            double left_out[],
                            struct pv_error *err)
{
    struct parts near;
    struct arena_mark start = arena_mark(scratch);
    enum pv_code code = ipso_fit_check(rows, n, err);
    if (code == PV_OK)
        code = fit_parts(rows, n, IPSO_MIXED, NULL, scratch, &near, err);
    for (size_t part = 0; code == PV_OK && part < LEFT_OUT_PARTS && part < n; part++) {
        struct arena_mark mark = arena_mark(scratch);
        code = predict_without(rows, n, part, &near, scratch, left_out, err);
        arena_rewind(scratch, mark);
    }
    arena_rewind(scratch, start);
    return code;
}

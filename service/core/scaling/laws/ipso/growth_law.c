/*
 * How the growth of a measured time with the scale-out degree is estimated. IPSO needs this for
 * IN(n) = W_s(n)/W_s(1) (IPSO eq. 2.4), of which the source gives only the order for large n
 * (eq. 2.14); the forms and the choice among them are ours.
 *
 * Model. Rows (n_i, y_i), n_i >= 1, with independent normal errors of one unknown variance:
 *
 *     y(n) = at_one           for n <= 1
 *     y(n) = a + c n^e        for n > 1
 *
 * and each form fixes some of the numbers:
 *
 *     constant    a = 0, e = 0, at_one = c           1 number, the mean of y
 *     power       a = 0, at_one = c                  2 numbers, c and e
 *     line        e = 1, at_one = a + c              2 numbers, a and c
 *     anchored    a = 0, at_one of its own           3 numbers
 *     bent        at_one = a + c                     3 numbers
 *
 * Objective: the sum of squared residuals of y itself. On logarithms the smallest times, which are
 * measured worst, would weigh as much as the largest, and a time of 0 could not be used.
 *
 * Solutions. Constant and line are linear. In the power law c follows from e, c = sum x y / sum x^2
 * with x = n^e, which leaves a search in one variable (core/numerics/power_regression.h). In a bent
 * line a and c follow from e as a regression of y on x; e is searched on a grid and then by thirds.
 * An anchored curve separates: at_one is the mean of the rows at n = 1, and the power law is fitted
 * to the others.
 *
 * Choice. With the variance at its estimate rss/rows, minus twice the log likelihood is
 * rows ln(rss/rows) plus a constant, so that for k numbers
 *
 *     BIC = rows ln(rss/rows) + k ln(rows).
 *
 * BIC alone would accept growth on weak evidence: with few rows its price of a second number is
 * low. So there are two stages. First a test: the form is constant unless the exponent of the power
 * or the slope of the line differs from 0 by Student's t at 95 %. Then BIC decides between power
 * and line. Both are needed: a merge that costs a + c n looks like n^e with e < 1, and a power law
 * extrapolated in its place grows too slowly. An anchored curve, with one number more and one
 * observation (n = 1) all for itself, must be better by 6, which is strong evidence.
 *
 * Uncertainty. Every form states a covariance of (at_one, c, e), since IPSO's alpha and delta need
 * these three. It is s^2 (J'J)^-1 with s^2 = rss/(rows - k) and J the derivatives of y by a, c, e:
 *
 *     dy/da = 1    dy/dc = n^e    dy/de = c n^e ln n
 *
 * With at_one = a + c, V(at_one) = V(a) + 2 V(a, c) + V(c) and V(at_one, c) = V(a, c) + V(c).
 * The power law takes its own, which allows for unequal scatter (power_regression.c). Where a form
 * fixes e, the exponent would appear to be known exactly. It is not, so its variance is that of the
 * smallest form in which e is free, taken at the fixed value: for a constant, J = (1, c ln n) at
 * e = 0 gives V(e) = s^2 / (c^2 sum (ln n - mean)^2); for a line, J = (1, n, c n ln n) at e = 1.
 *
 * Guards.
 *   - Exact data leave rss = 0, and ln 0 would beat any number of parameters. rss counts as at
 *     least 1e-18 sum y^2: residuals of a billionth of the values are rounding.
 *   - Two rows leave no degrees of freedom and so no test: there an exponent beyond 0.05 counts as
 *     growth.
 *   - A line is considered only if it rises and does not start below 0 (but for rounding): times
 *     below 0 at small n are no explanation.
 *   - Equal BIC (within 1e-9) keeps the power law, so that rounding does not decide.
 *   - An anchored curve needs three distinct n above 1, one more than its power law has numbers.
 *   - The exponent of a bent line stays above 0.05. Towards 0, n^e approaches 1 + e ln n; a and c
 *     then run off to opposite infinities, although the curve hardly changes.
 *   - Sums of a bent line are taken about the means, because a nearly flat curve would otherwise be
 *     lost to cancellation.
 *
 * Refits (growth_refit) keep the form, so that a prediction without some rows measures the error of
 * that form and does not choose again. An anchored curve whose rows at n = 1 are all left out is
 * refitted as a power law.
 *
 * Cost: O(rows) time and memory; a power law evaluates the sum of squares about 100 times, a bent
 * line 200 times.
 */
#include "core/scaling/laws/ipso/growth_law.h"

#include <math.h>
#include <string.h>

#include "core/numerics/least_squares.h"
#include "core/numerics/student.h"

/* An exponent this near to 0 counts as 0 (docs/design.md, "Scaling types"). */
static const double few_points = 0.05;

/* What a curve is fitted to: ascending n >= 1 and their values. */
struct samples {
    const double *n;
    const double *y;
    size_t rows;
    struct arena *scratch;
};

double growth_reach(double variance, double freedom)
{
    if (!(freedom > 0) || !(variance >= 0))
        return (double)NAN;
    return student_quantile(0.95, freedom) * sqrt(variance);
}

double growth_bic(double rss, size_t k, const double y[], size_t rows)
{
    double n = (double)rows;
    double exact = 1e-18 * power_law_squares(y, rows);
    return n * log(fmax(rss, exact) / n) + (double)k * log(n);
}

static double growth_at(const struct growth *growth, double n)
{
    if (n <= 1)
        return growth->at_one;
    return growth->offset + growth->coefficient * pow(n, growth->exponent);
}

static double squares_left(const struct growth *growth, const struct samples *s)
{
    double rss = 0;
    for (size_t i = 0; i < s->rows; i++) {
        double off = s->y[i] - growth_at(growth, s->n[i]);
        rss += off * off;
    }
    return rss;
}

static void know_nothing(struct growth *growth)
{
    for (size_t a = 0; a < GROWTH_KNOWN; a++)
        for (size_t b = 0; b < GROWTH_KNOWN; b++)
            growth->covariance[a][b] = (double)NAN;
}

/* --- the forms --- */

/* Least squares of y, or of nothing, on k columns in `arena`; what is known goes into linear. */
static enum pv_code regress(const struct samples *s,
                            double slope,
                            size_t k,
                            struct linear_fit *linear,
                            struct pv_error *err)
{
    double *x = arena_array(s->scratch, s->rows, k * sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < s->rows; i++) {
        x[i * k] = 1;
        x[i * k + 1] = s->n[i];
        if (k > 2)
            x[i * k + 2] = slope * s->n[i] * log(s->n[i]);
    }
    return linear_fit(x, s->rows, k, s->y, NULL, s->scratch, linear, err);
}

/* A constant; its exponent is known as well as that of a power law that happens to be flat. */
static void make_constant(const struct samples *s, struct growth *growth)
{
    double mean = 0;
    double centre = 0;
    double spread = 0;
    for (size_t i = 0; i < s->rows; i++) {
        mean += s->y[i] / (double)s->rows;
        centre += log(s->n[i]) / (double)s->rows;
    }
    for (size_t i = 0; i < s->rows; i++)
        spread += (log(s->n[i]) - centre) * (log(s->n[i]) - centre);
    *growth = (struct growth){.form = GROWTH_CONSTANT, .at_one = mean, .coefficient = mean};
    growth->rss = squares_left(growth, s);
    growth->freedom = s->rows > 1 ? (double)(s->rows - 1) : 0;
    growth->bic = growth_bic(growth->rss, 1, s->y, s->rows);
    know_nothing(growth);
    double variance = growth->rss / growth->freedom;
    if (!(growth->freedom > 0))
        return;
    memset(growth->covariance, 0, sizeof growth->covariance);
    double of_mean = variance / (double)s->rows;
    growth->covariance[GROWTH_AT_ONE][GROWTH_AT_ONE] = of_mean;
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT] = of_mean;
    growth->covariance[GROWTH_AT_ONE][GROWTH_COEFFICIENT] = of_mean;
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_AT_ONE] = of_mean;
    if (mean > 0 && spread > 0)
        growth->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT] = variance / (mean * mean * spread);
}

static void make_power(const struct power_law *law, const struct samples *s, struct growth *growth)
{
    static const size_t part[GROWTH_KNOWN] = {0, 0, 1};
    *growth = (struct growth){.form = GROWTH_POWER,
                              .at_one = law->coefficient,
                              .coefficient = law->coefficient,
                              .exponent = law->exponent,
                              .freedom = law->freedom};
    growth->rss = squares_left(growth, s);
    growth->bic = growth_bic(growth->rss, 2, s->y, s->rows);
    for (size_t a = 0; a < GROWTH_KNOWN; a++)
        for (size_t b = 0; b < GROWTH_KNOWN; b++)
            growth->covariance[a][b] = law->covariance[part[a]][part[b]];
}

/* How far the exponent of a line may be from 1: as well as a bent line knows its own. */
static enum pv_code
know_exponent(const struct samples *s, struct growth *growth, struct pv_error *err)
{
    struct linear_fit bent;
    struct pv_error why = {0};
    enum pv_code code = regress(s, growth->coefficient, 3, &bent, &why);
    if (code != PV_OK && code != PV_E_SINGULAR)
        return pv_fail(err, code, "%s", why.detail);
    growth->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT] =
        code == PV_OK && s->rows > 3 ? bent.variance * bent.inverse[2][2] : (double)NAN;
    return PV_OK;
}

static enum pv_code make_line(const struct samples *s, struct growth *growth, struct pv_error *err)
{
    struct linear_fit line;
    PV_TRY(regress(s, 0, 2, &line, err));
    double offset = line.coefficients[0];
    double slope = line.coefficients[1];
    *growth = (struct growth){.form = GROWTH_LINE,
                              .at_one = offset + slope,
                              .offset = offset,
                              .coefficient = slope,
                              .exponent = 1,
                              .freedom = s->rows > 2 ? (double)(s->rows - 2) : 0};
    growth->rss = squares_left(growth, s);
    growth->bic = growth_bic(growth->rss, 2, s->y, s->rows);
    know_nothing(growth);
    if (!(growth->freedom > 0))
        return PV_OK;
    double v = line.variance;
    double cross = v * (line.inverse[0][1] + line.inverse[1][1]);
    memset(growth->covariance, 0, sizeof growth->covariance);
    growth->covariance[GROWTH_AT_ONE][GROWTH_AT_ONE] =
        v * (line.inverse[0][0] + 2 * line.inverse[0][1] + line.inverse[1][1]);
    growth->covariance[GROWTH_AT_ONE][GROWTH_COEFFICIENT] = cross;
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_AT_ONE] = cross;
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT] = v * line.inverse[1][1];
    return know_exponent(s, growth, err);
}

/* Rows at 1, which come first, determine at_one, and the others the power law. */
static enum pv_code make_anchored(const struct samples *s,
                                  size_t at_one,
                                  double start,
                                  struct growth *growth,
                                  struct pv_error *err)
{
    struct power_law law;
    double mean = 0;
    for (size_t i = 0; i < at_one; i++)
        mean += s->y[i] / (double)at_one;
    PV_TRY(power_law_fit(s->n + at_one, s->y + at_one, s->rows - at_one, start, &law, err));
    make_power(&law, s, growth);
    growth->form = GROWTH_ANCHORED;
    growth->at_one = mean;
    growth->rss = squares_left(growth, s);
    growth->bic = growth_bic(growth->rss, 3, s->y, s->rows);
    for (size_t j = 0; j < GROWTH_KNOWN; j++)
        growth->covariance[GROWTH_AT_ONE][j] = growth->covariance[j][GROWTH_AT_ONE] = 0;
    double rest = law.freedom > 0 ? law.rss / law.freedom : (double)NAN;
    growth->covariance[GROWTH_AT_ONE][GROWTH_AT_ONE] = rest / (double)at_one;
    return PV_OK;
}

/* --- the choice --- */

static size_t count_at_one(const double n[], size_t rows)
{
    size_t count = 0;
    while (count < rows && n[count] <= 1)
        count++;
    return count;
}

static size_t count_distinct(const double n[], size_t rows)
{
    size_t count = rows > 0 ? 1 : 0;
    for (size_t i = 1; i < rows; i++)
        count += n[i] != n[i - 1];
    return count;
}

static bool is_flat(double slope, double variance, double freedom)
{
    double reach = growth_reach(variance, freedom);
    return fabs(slope) <= (isnan(reach) ? 0 : reach);
}

static bool grows(const struct growth *power, const struct growth *line)
{
    double of_power = power->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT];
    double of_line = line->covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT];
    if (!(power->freedom > 0))
        return fabs(power->exponent) > few_points;
    return !is_flat(power->exponent, of_power, power->freedom) ||
           !is_flat(line->coefficient, of_line, line->freedom);
}

static void keep_better(const struct growth *other, struct growth *best)
{
    /* Of two that fit the data equally well, the first stays. */
    if (other->bic < best->bic - 1e-9)
        *best = *other;
}

/* Where the first rows are measured at 1 and the others follow a power that does not lead there. */
static enum pv_code try_anchored(const struct samples *s, struct growth *best, struct pv_error *err)
{
    /* Strong evidence (R. E. Kass, A. E. Raftery, "Bayes factors", JASA 90, 1995). */
    static const double strong = 6;
    struct growth anchored;
    size_t at_one = count_at_one(s->n, s->rows);
    if (at_one == 0 || count_distinct(s->n + at_one, s->rows - at_one) < 3)
        return PV_OK;
    PV_TRY(make_anchored(s, at_one, (double)NAN, &anchored, err));
    if (anchored.bic + strong < best->bic)
        *best = anchored;
    return PV_OK;
}

static enum pv_code
growth_law_choose(const struct samples *s, struct growth *growth, struct pv_error *err)
{
    struct power_law law;
    struct growth best;
    struct growth line;
    PV_TRY(power_law_fit(s->n, s->y, s->rows, (double)NAN, &law, err));
    PV_TRY(make_line(s, &line, err));
    make_power(&law, s, &best);
    if (!grows(&best, &line))
        make_constant(s, &best);
    else if (line.coefficient > 0 && line.offset >= -1e-9 * line.coefficient)
        keep_better(&line, &best);
    PV_TRY(try_anchored(s, &best, err));
    *growth = best;
    return PV_OK;
}

enum pv_code growth_fit(const double n[],
                        const double y[],
                        size_t rows,
                        struct arena *scratch,
                        struct growth *growth,
                        struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct samples samples = {n, y, rows, scratch};
    enum pv_code code = growth_law_choose(&samples, growth, err);
    arena_rewind(scratch, mark);
    return code;
}

static enum pv_code
refit_power(const struct samples *s, double start, struct growth *growth, struct pv_error *err)
{
    struct power_law law;
    PV_TRY(power_law_fit(s->n, s->y, s->rows, start, &law, err));
    make_power(&law, s, growth);
    return PV_OK;
}

enum pv_code growth_refit(const double n[],
                          const double y[],
                          size_t rows,
                          const struct growth *near,
                          struct arena *scratch,
                          struct growth *growth,
                          struct pv_error *err)
{
    const struct samples samples = {n, y, rows, scratch};
    struct arena_mark mark = arena_mark(scratch);
    size_t at_one = count_at_one(n, rows);
    enum pv_code code = PV_OK;
    switch (near->form) {
    case GROWTH_CONSTANT:
        make_constant(&samples, growth);
        break;
    case GROWTH_LINE:
        code = make_line(&samples, growth, err);
        break;
    case GROWTH_ANCHORED:
        /* Without its anchor it is a power law. */
        if (at_one > 0 && count_distinct(n + at_one, rows - at_one) >= 2)
            code = make_anchored(&samples, at_one, near->exponent, growth, err);
        else
            code = refit_power(&samples, near->exponent, growth, err);
        break;
    case GROWTH_POWER:
    case GROWTH_BENT:
        code = refit_power(&samples, near->exponent, growth, err);
        break;
    }
    arena_rewind(scratch, mark);
    return code;
}

/* --- bent lines --- */

/* Given the exponent the rest is a line in n^exponent. Sums about the means, as cancellation would
 * eat what a flat curve differs by. */
static double bend(const struct samples *s, double exponent, struct growth *growth)
{
    double x_mean = 0;
    double y_mean = 0;
    double xx = 0;
    double xy = 0;
    for (size_t i = 0; i < s->rows; i++) {
        x_mean += pow(s->n[i], exponent) / (double)s->rows;
        y_mean += s->y[i] / (double)s->rows;
    }
    for (size_t i = 0; i < s->rows; i++) {
        double x = pow(s->n[i], exponent) - x_mean;
        xx += x * x;
        xy += x * (s->y[i] - y_mean);
    }
    growth->exponent = exponent;
    growth->coefficient = xy / xx;
    growth->offset = y_mean - growth->coefficient * x_mean;
    growth->at_one = growth->offset + growth->coefficient;
    growth->rss = squares_left(growth, s);
    return growth->rss;
}

static void search_bend(const struct samples *s, struct growth *growth)
{
    /* Below: see the guards above. Above: steeper than any overhead in the source (gamma 2). */
    static const double least = 0.05;
    static const double most = 4;
    static const double step = 0.1;
    double best = least;
    double rss = bend(s, best, growth);
    for (double e = least + step; e <= most; e += step) {
        double other = bend(s, e, growth);
        if (other < rss) {
            rss = other;
            best = e;
        }
    }
    double low = fmax(least, best - step);
    double high = fmin(most, best + step);
    for (int i = 0; i < 80; i++) {
        double a = low + (high - low) / 3;
        double b = high - (high - low) / 3;
        if (bend(s, a, growth) < bend(s, b, growth))
            high = b;
        else
            low = a;
    }
    (void)bend(s, (low + high) / 2, growth);
}

static enum pv_code know_bend(const struct samples *s, struct growth *growth, struct pv_error *err)
{
    struct linear_fit tangent;
    double *x = arena_array(s->scratch, s->rows, 3 * sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < s->rows; i++) {
        double power = pow(s->n[i], growth->exponent);
        x[3 * i] = 1;
        x[3 * i + 1] = power;
        x[3 * i + 2] = growth->coefficient * power * log(s->n[i]);
    }
    know_nothing(growth);
    struct pv_error why = {0};
    enum pv_code code = linear_fit(x, s->rows, 3, s->y, NULL, s->scratch, &tangent, &why);
    if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    if (code != PV_OK)
        return PV_OK; /* flat: the exponent means nothing */
    double variance = fmax(growth->rss / growth->freedom, 0);
    double(*v)[LINEAR_COLUMNS_MAX] = tangent.inverse;
    growth->covariance[GROWTH_AT_ONE][GROWTH_AT_ONE] = variance * (v[0][0] + 2 * v[0][1] + v[1][1]);
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT] = variance * v[1][1];
    growth->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT] = variance * v[2][2];
    growth->covariance[GROWTH_AT_ONE][GROWTH_COEFFICIENT] =
        growth->covariance[GROWTH_COEFFICIENT][GROWTH_AT_ONE] = variance * (v[0][1] + v[1][1]);
    growth->covariance[GROWTH_AT_ONE][GROWTH_EXPONENT] =
        growth->covariance[GROWTH_EXPONENT][GROWTH_AT_ONE] = variance * (v[0][2] + v[1][2]);
    growth->covariance[GROWTH_COEFFICIENT][GROWTH_EXPONENT] =
        growth->covariance[GROWTH_EXPONENT][GROWTH_COEFFICIENT] = variance * v[1][2];
    return PV_OK;
}

enum pv_code growth_fit_bent(const double n[],
                             const double y[],
                             size_t rows,
                             struct arena *scratch,
                             struct growth *growth,
                             struct pv_error *err)
{
    if (rows < 4 || count_distinct(n, rows) < 3)
        return pv_fail(err, PV_E_TOO_FEW, "a bent line needs four values at three counts");
    const struct samples samples = {n, y, rows, scratch};
    struct arena_mark mark = arena_mark(scratch);
    struct growth made = {.form = GROWTH_BENT, .freedom = (double)(rows - 3)};
    search_bend(&samples, &made);
    made.bic = growth_bic(made.rss, 3, y, rows);
    enum pv_code code = know_bend(&samples, &made, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *growth = made;
    return code;
}

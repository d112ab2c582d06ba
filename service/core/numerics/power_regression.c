#include "core/numerics/power_regression.h"

#include <float.h>
#include <math.h>

/* A bracket of two steps of the grid shrinks by 0.618^30, to 3e-7 of an exponent, from where
 * Gauss-Newton converges quadratically: it rarely takes five steps, and 30 bound it. */
enum { GOLDEN_STEPS = 30, POLISH_STEPS = 30 };

static const double exponent_most = 8;
static const double grid_step = 0.25;

/* Rows with n as a multiple of its geometric mean, so that no power gets out of hand. */
struct scaled {
    const double *n;
    const double *y;
    size_t rows;
    double centre; /* ln of the mean */
};

static double log_of(const struct scaled *s, size_t i)
{
    return log(s->n[i]) - s->centre;
}

/* The best coefficient of that exponent, and what it leaves. */
static double profile(const struct scaled *s, double exponent, double *coefficient)
{
    double xy = 0;
    double xx = 0;
    double rss = 0;
    for (size_t i = 0; i < s->rows; i++) {
        double x = exp(exponent * log_of(s, i));
        xy += x * s->y[i];
        xx += x * x;
    }
    *coefficient = xy / xx;
    for (size_t i = 0; i < s->rows; i++) {
        double off = s->y[i] - *coefficient * exp(exponent * log_of(s, i));
        rss += off * off;
    }
    return rss;
}

static double power_regression_search(const struct scaled *s)
{
    static const double ratio = 0.61803398874989485;
    double c;
    double best = -exponent_most;
    double least = profile(s, best, &c);
    for (double e = -exponent_most + grid_step; e <= exponent_most; e += grid_step) {
        double rss = profile(s, e, &c);
        if (rss < least) {
            least = rss;
            best = e;
        }
    }
    double low = best - grid_step;
    double high = best + grid_step;
    double a = high - ratio * (high - low);
    double b = low + ratio * (high - low);
    double at_a = profile(s, a, &c);
    double at_b = profile(s, b, &c);
    for (int step = 0; step < GOLDEN_STEPS; step++) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = profile(s, a, &c);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = profile(s, b, &c);
        }
    }
    return (low + high) / 2;
}

/* The normal equations of the law made linear at (c, e): j'j and j'r. */
static void power_regression_linearise(
    const struct scaled *s, double c, double e, double j[2][2], double r[2], double *rss)
{
    j[0][0] = j[0][1] = j[1][1] = r[0] = r[1] = *rss = 0;
    for (size_t i = 0; i < s->rows; i++) {
        double l = log_of(s, i);
        double by_c = exp(e * l);
        double by_e = c * by_c * l;
        double off = s->y[i] - c * by_c;
        j[0][0] += by_c * by_c;
        j[0][1] += by_c * by_e;
        j[1][1] += by_e * by_e;
        r[0] += by_c * off;
        r[1] += by_e * off;
        *rss += off * off;
    }
    j[1][0] = j[0][1];
}

/* Towards the minimum, as long as each step leaves less. */
static void polish(const struct scaled *s, double *c, double *e)
{
    double j[2][2];
    double r[2];
    double rss;
    power_regression_linearise(s, *c, *e, j, r, &rss);
    for (int step = 0; step < POLISH_STEPS; step++) {
        double determinant = j[0][0] * j[1][1] - j[0][1] * j[0][1];
        if (!(determinant > 1e-14 * j[0][0] * j[1][1]))
            return;
        double next_c = *c + (j[1][1] * r[0] - j[0][1] * r[1]) / determinant;
        double next_e = *e + (j[0][0] * r[1] - j[0][1] * r[0]) / determinant;
        double left;
        if (!(fabs(next_e) <= exponent_most))
            return;
        power_regression_linearise(s, next_c, next_e, j, r, &left);
        if (!(left < rss))
            return;
        *c = next_c;
        *e = next_e;
        rss = left;
    }
}

/*
 * The sandwich (J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix
 * estimators", J. Econometrics 29, 1985, HC3): right where long times scatter more than short ones,
 * as times do. v is the inverse of j'j.
 */
static void spread_out(const struct scaled *s, double c, double e, double v[2][2], double out[2][2])
{
    double middle[2][2] = {{0}};
    for (size_t i = 0; i < s->rows; i++) {
        double l = log_of(s, i);
        double by[2] = {exp(e * l), c * exp(e * l) * l};
        double leverage = by[0] * (v[0][0] * by[0] + 2 * v[0][1] * by[1]) + by[1] * v[1][1] * by[1];
        double off = (s->y[i] - c * by[0]) / fmax(1 - leverage, 1e-3);
        for (size_t a = 0; a < 2; a++)
            for (size_t b = 0; b < 2; b++)
                middle[a][b] += off * off * by[a] * by[b];
    }
    for (size_t a = 0; a < 2; a++) {
        for (size_t b = 0; b < 2; b++) {
            out[a][b] = 0;
            for (size_t k = 0; k < 2; k++)
                for (size_t l = 0; l < 2; l++)
                    out[a][b] += v[a][k] * middle[k][l] * v[l][b];
        }
    }
}

/* The larger of what equal and what unequal scatter give: the latter alone is too sure of itself
 * with few rows. */
static void know(const struct scaled *s, double c, double e, double variance, double own[2][2])
{
    double v[2][2];
    double r[2];
    double rss;
    double apart[2][2];
    power_regression_linearise(s, c, e, v, r, &rss);
    double determinant = v[0][0] * v[1][1] - v[0][1] * v[0][1];
    double inverse[2][2] = {{v[1][1] / determinant, -v[0][1] / determinant},
                            {-v[0][1] / determinant, v[0][0] / determinant}};
    spread_out(s, c, e, inverse, apart);
    bool unequal = apart[1][1] > variance * inverse[1][1];
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            own[a][b] = unequal ? apart[a][b] : variance * inverse[a][b];
}

/* What is known of (c, e), in the numbers of the caller: c = c' g^-e. */
static void
power_regression_report(const struct scaled *s, double c, double e, struct power_law *law)
{
    double own[2][2];
    double shrink = exp(-e * s->centre);
    double residue = 0;
    *law = (struct power_law){.coefficient = c * shrink,
                              .exponent = e,
                              .freedom = s->rows > 2 ? (double)(s->rows - 2) : 0};
    for (size_t i = 0; i < s->rows; i++) {
        double off = s->y[i] - c * exp(e * log_of(s, i));
        residue += off * off;
    }
    law->rss = residue;
    double rounding = 4096 * DBL_EPSILON * DBL_EPSILON * power_law_squares(s->y, s->rows);
    know(s, c, e, fmax(residue, rounding) / law->freedom, own);
    double by_c = shrink;
    double by_e = -s->centre * law->coefficient;
    if (!(law->freedom > 0) || !(own[1][1] > 0))
        own[0][0] = own[0][1] = own[1][0] = own[1][1] = (double)NAN;
    law->covariance[0][0] =
        by_c * by_c * own[0][0] + 2 * by_c * by_e * own[0][1] + by_e * by_e * own[1][1];
    law->covariance[0][1] = law->covariance[1][0] = by_c * own[0][1] + by_e * own[1][1];
    law->covariance[1][1] = own[1][1];
}

double power_law_squares(const double y[], size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += y[i] * y[i];
    return sum;
}

enum pv_code power_law_fit(const double n[],
                           const double y[],
                           size_t rows,
                           double start,
                           struct power_law *law,
                           struct pv_error *err)
{
    struct scaled s = {n, y, rows, 0};
    bool differs = false;
    for (size_t i = 0; i < rows; i++) {
        s.centre += log(n[i]) / (double)rows;
        differs = differs || n[i] != n[0];
    }
    if (!differs)
        return pv_fail(err, PV_E_TOO_FEW, "a power law needs values at two counts at least");
    if (!(power_law_squares(y, rows) > 0)) {
        *law = (struct power_law){.freedom = rows > 2 ? (double)(rows - 2) : 0};
        return PV_OK;
    }
    double c;
    double e = isnan(start) ? power_regression_search(&s) : start;
    (void)profile(&s, e, &c);
    polish(&s, &c, &e);
    power_regression_report(&s, c, e, law);
    return PV_OK;
}

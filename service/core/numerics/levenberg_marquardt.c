#include "core/numerics/levenberg_marquardt.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Damping of the matrix with unit diagonal. At the most of it a step is 1e-12 of steepest descent,
 * less than any tolerance asked for; the first is small compared with 1, so that a step that
 * Gauss-Newton nearly gets right is hardly shortened. */
static const double damping_max = 1e12;
static const double damping_first = 1e-4;
/* A pivot below this, of a matrix with unit diagonal, is rounding: some 500 units of the last
 * place, what DESCENT_MAX eliminations of sums over many rows may leave. */
static const double dependent = 1e-13;

/* --- sums --- */

static void
add_row(size_t k, double sign, double residual, const double slope[], struct descent_sums *sums)
{
    sums->squares += sign * residual * residual;
    for (size_t a = 0; a < k; a++) {
        sums->gradient[a] += sign * slope[a] * residual;
        for (size_t b = 0; b <= a; b++)
            sums->curvature[a][b] += sign * slope[a] * slope[b];
    }
}

static void mirror(size_t k, struct descent_sums *sums)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < a; b++)
            sums->curvature[b][a] = sums->curvature[a][b];
}

void descent_sum(const struct descent *d, const double p[], size_t skip, struct descent_sums *sums)
{
    double slope[DESCENT_MAX];
    memset(sums, 0, sizeof *sums);
    for (size_t i = 0; i < d->n; i++) {
        if (i == skip)
            continue;
        double residual = d->row(d->context, p, i, slope);
        add_row(d->k, 1, residual, slope, sums);
    }
    mirror(d->k, sums);
}

double descent_squares(const struct descent *d, const double p[], size_t skip)
{
    double sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        double residual = i == skip ? 0 : d->row(d->context, p, i, NULL);
        sum += residual * residual;
    }
    return sum;
}

/* --- one step --- */

/* Parameters that may move: not at a wall that the sum falls towards, and not without effect. */
static size_t
choose_free(const struct descent *d, const struct descent_sums *sums, const double p[], size_t at[])
{
    size_t n = 0;
    for (size_t j = 0; j < d->k; j++) {
        bool low = p[j] <= d->low[j] && sums->gradient[j] > 0;
        bool high = p[j] >= d->high[j] && sums->gradient[j] < 0;
        if (!low && !high && sums->curvature[j][j] > 0)
            at[n++] = j;
    }
    return n;
}

/* L of A = LL' in the lower triangle; false: not positive definite. */
static bool factorise(double a[DESCENT_MAX][DESCENT_MAX], size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double pivot = a[j][j];
        for (size_t c = 0; c < j; c++)
            pivot -= a[j][c] * a[j][c];
        if (!(pivot > dependent))
            return false;
        a[j][j] = sqrt(pivot);
        for (size_t i = j + 1; i < n; i++) {
            double sum = a[i][j];
            for (size_t c = 0; c < j; c++)
                sum -= a[i][c] * a[j][c];
            a[i][j] = sum / a[j][j];
        }
    }
    return true;
}

static void substitute(double a[DESCENT_MAX][DESCENT_MAX], size_t n, double x[])
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < i; c++)
            x[i] -= a[i][c] * x[c];
        x[i] /= a[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t c = i + 1; c < n; c++)
            x[i] -= a[c][i] * x[c];
        x[i] /= a[i][i];
    }
}

/* Where the damped step leads, within the box; false: there is none. */
static bool step_from(const struct descent *d,
                      const struct descent_sums *sums,
                      const double p[],
                      double damping,
                      double to[])
{
    size_t at[DESCENT_MAX];
    double a[DESCENT_MAX][DESCENT_MAX];
    double scale[DESCENT_MAX];
    double x[DESCENT_MAX];
    size_t n = choose_free(d, sums, p, at);
    for (size_t i = 0; i < n; i++)
        scale[i] = 1 / sqrt(sums->curvature[at[i]][at[i]]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            a[i][j] = sums->curvature[at[i]][at[j]] * scale[i] * scale[j];
        a[i][i] = 1 + damping;
        x[i] = -sums->gradient[at[i]] * scale[i];
    }
    if (n == 0 || !factorise(a, n))
        return false;
    substitute(a, n, x);
    memcpy(to, p, d->k * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        double value = p[at[i]] + x[i] * scale[i];
        to[at[i]] = fmin(d->high[at[i]], fmax(d->low[at[i]], value));
        if (!isfinite(to[at[i]]))
            return false;
    }
    return true;
}

static bool is_still(const struct descent *d, const double p[], const double to[], double tolerance)
{
    for (size_t j = 0; j < d->k; j++) {
        double width = d->high[j] - d->low[j];
        double size = fmax(fabs(p[j]), isfinite(width) ? 1e-3 * width : DBL_MIN);
        if (fabs(to[j] - p[j]) > tolerance * size)
            return false;
    }
    return true;
}

/* --- the descent --- */

double
descent_find(const struct descent *d, size_t skip, size_t steps, double tolerance, double p[])
{
    struct descent_sums sums;
    double damping = 0;
    descent_sum(d, p, skip, &sums);
    for (size_t step = 0; step < steps && damping < damping_max;) {
        double to[DESCENT_MAX];
        bool possible = step_from(d, &sums, p, damping, to);
        double after = possible ? descent_squares(d, to, skip) : (double)INFINITY;
        step++;
        if (possible && is_still(d, p, to, tolerance)) {
            if (after < sums.squares) {
                memcpy(p, to, d->k * sizeof *p);
                return after;
            }
            return sums.squares;
        }
        if (!(after < sums.squares)) {
            damping = fmax(damping_first, 10 * damping);
            continue;
        }
        memcpy(p, to, d->k * sizeof *p);
        damping = damping > damping_first ? damping / 10 : 0;
        descent_sum(d, p, skip, &sums);
    }
    return sums.squares;
}

/* --- without one row --- */

enum { STEPS_NEWTON = 6, STEPS_AGAIN = 100, ROUNDS_NEWTON = 4 };

/* Of so many rows one moves the minimum so little that the first step takes it there. */
enum { ROWS_ONE_STEP = 5000 };

static double difference_step(const struct descent *d, const double p[], size_t j)
{
    double width = d->high[j] - d->low[j];
    double size = fmax(fabs(p[j]), isfinite(width) ? 1e-3 * width : 1e-3);
    /* Over a third power of the rounding the two errors of a central difference balance. */
    return 6e-6 * size;
}

/* Second derivatives of the squares of the rows from `first` to `last`, halved. */
static void differ(const struct descent *d,
                   const double p[],
                   size_t first,
                   size_t last,
                   double out[DESCENT_MAX][DESCENT_MAX])
{
    double at[DESCENT_MAX];
    double slope[DESCENT_MAX];
    memcpy(at, p, d->k * sizeof *at);
    for (size_t j = 0; j < d->k; j++) {
        double step = difference_step(d, p, j);
        for (size_t a = 0; a < d->k; a++)
            out[j][a] = 0;
        for (int side = -1; side <= 1; side += 2) {
            at[j] = p[j] + side * step;
            for (size_t i = first; i < last; i++) {
                double residual = d->row(d->context, at, i, slope);
                for (size_t a = 0; a < d->k; a++)
                    out[j][a] += side * slope[a] * residual / (2 * step);
            }
        }
        at[j] = p[j];
    }
    for (size_t a = 0; a < d->k; a++)
        for (size_t b = 0; b < a; b++)
            out[a][b] = out[b][a] = (out[a][b] + out[b][a]) / 2;
}

void descent_sharpen(const struct descent *d, const double p[], struct descent_sums *sums)
{
    differ(d, p, 0, d->n, sums->curvature);
}

/* Squares and gradient at p; the second derivatives stay. */
static void
refresh(const struct descent *d, const double p[], size_t skip, struct descent_sums *sums)
{
    double slope[DESCENT_MAX];
    sums->squares = 0;
    memset(sums->gradient, 0, sizeof sums->gradient);
    for (size_t i = 0; i < d->n; i++) {
        if (i == skip)
            continue;
        double residual = d->row(d->context, p, i, slope);
        sums->squares += residual * residual;
        for (size_t a = 0; a < d->k; a++)
            sums->gradient[a] += slope[a] * residual;
    }
}

/* Sums without the row: at p, no pass over the others. */
static void
take_off(const struct descent *d, const double p[], size_t skip, struct descent_sums *sums)
{
    double slope[DESCENT_MAX];
    double own[DESCENT_MAX][DESCENT_MAX];
    double residual = d->row(d->context, p, skip, slope);
    differ(d, p, skip, skip + 1, own);
    sums->squares -= residual * residual;
    for (size_t a = 0; a < d->k; a++) {
        sums->gradient[a] -= slope[a] * residual;
        for (size_t b = 0; b < d->k; b++)
            sums->curvature[a][b] -= own[a][b];
    }
}

/* Newton's steps by the second derivatives in `sums`, which also hold the rest at p. True: they
 * came to a stop. p is only ever moved down. */
static bool levenberg_marquardt_follow(
    const struct descent *d, struct descent_sums *sums, size_t skip, double tolerance, double p[])
{
    double at[DESCENT_MAX];
    double to[DESCENT_MAX];
    memcpy(at, p, d->k * sizeof *at);
    for (size_t step = 0; step < STEPS_NEWTON && step_from(d, sums, at, 0, to); step++) {
        if (is_still(d, at, to, tolerance)) {
            memcpy(p, to, d->k * sizeof *p);
            return true;
        }
        double before = sums->squares;
        refresh(d, to, skip, sums);
        if (!(sums->squares <= before * (1 + 1e-12)))
            return false;
        memcpy(at, to, d->k * sizeof *at);
        memcpy(p, to, d->k * sizeof *p);
    }
    return false;
}

double descent_polish(const struct descent *d, double tolerance, double p[])
{
    struct descent_sums sums;
    for (size_t round = 0; round < ROUNDS_NEWTON; round++) {
        refresh(d, p, d->n, &sums);
        descent_sharpen(d, p, &sums);
        if (levenberg_marquardt_follow(d, &sums, d->n, tolerance, p))
            return descent_squares(d, p, d->n);
    }
    return descent_find(d, d->n, STEPS_AGAIN, tolerance, p);
}

void descent_find_without(const struct descent *d,
                          const struct descent_sums *sums,
                          size_t skip,
                          double tolerance,
                          double p[])
{
    struct descent_sums rest = *sums;
    take_off(d, p, skip, &rest);
    if (d->n > ROWS_ONE_STEP) {
        double to[DESCENT_MAX];
        if (step_from(d, &rest, p, 0, to))
            memcpy(p, to, d->k * sizeof *p);
        return;
    }
    if (!levenberg_marquardt_follow(d, &rest, skip, tolerance, p))
        (void)descent_find(d, skip, STEPS_AGAIN, tolerance, p);
}

bool descent_inverse(const struct descent *d,
                     const struct descent_sums *sums,
                     const double p[],
                     double inverse[DESCENT_MAX][DESCENT_MAX],
                     size_t *freed)
{
    size_t at[DESCENT_MAX];
    double a[DESCENT_MAX][DESCENT_MAX];
    double scale[DESCENT_MAX];
    size_t n = 0;
    for (size_t j = 0; j < d->k; j++)
        if (p[j] > d->low[j] && p[j] < d->high[j] && sums->curvature[j][j] > 0)
            at[n++] = j;
    for (size_t i = 0; i < n; i++)
        scale[i] = 1 / sqrt(sums->curvature[at[i]][at[i]]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i][j] = i == j ? 1 : sums->curvature[at[i]][at[j]] * scale[i] * scale[j];
    if (!factorise(a, n))
        return false;
    memset(inverse, 0, DESCENT_MAX * sizeof *inverse);
    for (size_t j = 0; j < n; j++) {
        double x[DESCENT_MAX] = {0};
        x[j] = 1;
        substitute(a, n, x);
        for (size_t i = 0; i < n; i++)
            inverse[at[i]][at[j]] = x[i] * scale[i] * scale[j];
    }
    *freed = n;
    return true;
}

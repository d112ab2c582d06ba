#include "core/numerics/nonnegative.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/numerics/nnls.h"

struct problem {
    const double *x;
    const double *y;
    const double *weights;
    size_t n;
    size_t k;
    struct arena *scratch;
};

static double weight_of(const struct problem *p, size_t i)
{
    return p->weights == NULL ? 1 : p->weights[i];
}

static double value_at(const struct problem *p, const double b[], size_t i)
{
    double sum = 0;
    for (size_t j = 0; j < p->k; j++)
        sum += p->x[i * p->k + j] * b[j];
    return sum;
}

/* Least squares over the free columns only. */
static enum pv_code fit_free(const struct problem *p,
                             const bool free[],
                             size_t at[],
                             struct linear_fit *linear,
                             struct pv_error *err)
{
    size_t k = 0;
    for (size_t j = 0; j < p->k; j++)
        if (free[j])
            at[k++] = j;
    double *x = arena_array(p->scratch, p->n, k * sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = p->x[i * p->k + at[j]];
    return linear_fit(x, p->n, k, p->y, p->weights, p->scratch, linear, err);
}

/* Sums over all rows, off which those of one are taken. */
struct sums {
    double xx[LINEAR_COLUMNS_MAX][LINEAR_COLUMNS_MAX]; /* of w^2 x x' */
    double xy[LINEAR_COLUMNS_MAX];
    double scale[LINEAR_COLUMNS_MAX]; /* of w^2 |x y| */
};

static void sum_up(const struct problem *p, struct sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (size_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i) * weight_of(p, i);
        const double *x = &p->x[i * p->k];
        for (size_t a = 0; a < p->k; a++) {
            sums->xy[a] += w * x[a] * p->y[i];
            sums->scale[a] += w * fabs(x[a] * p->y[i]);
            for (size_t b = 0; b < p->k; b++)
                sums->xx[a][b] += w * x[a] * x[b];
        }
    }
}

/* Without row i: would any column at its bound lower the sum if it entered? Where rounding leaves
 * that open, entering would change nothing to speak of. */
static bool is_optimal_without(
    const struct problem *p, const struct sums *sums, size_t i, const double b[], const bool free[])
{
    double w = weight_of(p, i) * weight_of(p, i);
    const double *x = &p->x[i * p->k];
    double off = p->y[i] - value_at(p, b, i);
    for (size_t j = 0; j < p->k; j++) {
        if (free[j])
            continue;
        double gradient = sums->xy[j] - w * x[j] * off;
        for (size_t c = 0; c < p->k; c++)
            gradient -= sums->xx[j][c] * b[c];
        if (gradient > 1e-12 * sums->scale[j])
            return false;
    }
    return true;
}

static enum pv_code
solve_without(const struct problem *p, size_t i, double b[], struct pv_error *err)
{
    bool passive[LINEAR_COLUMNS_MAX];
    double *weights = arena_array(p->scratch, p->n, sizeof *weights);
    if (weights == NULL)
        return pv_no_memory(err);
    for (size_t r = 0; r < p->n; r++)
        weights[r] = r == i ? 0 : weight_of(p, r);
    return nnls_solve(p->x, p->n, p->k, p->y, weights, p->scratch, b, passive, err);
}

/* b as it would be without row i, if the same columns stayed free. */
static bool move_without(const struct problem *p,
                         const struct linear_fit *linear,
                         const size_t at[],
                         size_t i,
                         double b[])
{
    double rest = 1 - linear->leverage[i];
    if (rest < 1e-9)
        return false;
    double w = weight_of(p, i);
    double share = w * w * linear->residuals[i] / rest;
    bool inside = true;
    for (size_t a = 0; a < linear->k; a++) {
        double shift = 0;
        for (size_t c = 0; c < linear->k; c++)
            shift += linear->inverse[a][c] * p->x[i * p->k + at[c]];
        b[at[a]] = linear->coefficients[a] - shift * share;
        inside = inside && b[at[a]] > 0;
    }
    return inside;
}

static enum pv_code nonnegative_leave_out(const struct problem *p,
                                          const struct linear_fit *linear,
                                          const size_t at[],
                                          const bool free[],
                                          double left_out[],
                                          struct pv_error *err)
{
    struct sums sums;
    sum_up(p, &sums);
    for (size_t i = 0; i < p->n; i++) {
        double b[LINEAR_COLUMNS_MAX] = {0};
        if (!move_without(p, linear, at, i, b) || !is_optimal_without(p, &sums, i, b, free)) {
            struct arena_mark mark = arena_mark(p->scratch);
            PV_TRY(solve_without(p, i, b, err));
            arena_rewind(p->scratch, mark);
        }
        left_out[i] = value_at(p, b, i);
    }
    return PV_OK;
}

enum pv_code nonnegative_fit(const double x[],
                             size_t n,
                             size_t k,
                             const double y[],
                             const double weights[],
                             struct arena *scratch,
                             double left_out[],
                             struct nonnegative_fit *fit,
                             struct pv_error *err)
{
    const struct problem p = {x, y, weights, n, k, scratch};
    struct linear_fit linear;
    struct nonnegative_fit made = {.freedom = 0};
    size_t at[LINEAR_COLUMNS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    PV_TRY(linear_fit(x, n, k, y, weights, scratch, &linear, err));
    bool inside = true;
    for (size_t j = 0; j < k; j++) {
        made.free[j] = linear.coefficients[j] > 0;
        inside = inside && made.free[j];
    }
    if (!inside) {
        PV_TRY(nnls_solve(x, n, k, y, weights, scratch, made.b, made.free, err));
        PV_TRY(fit_free(&p, made.free, at, &linear, err));
    }
    if (left_out != NULL)
        PV_TRY(nonnegative_leave_out(&p, &linear, at, made.free, left_out, err));
    made.freedom = n > linear.k ? (double)(n - linear.k) : 0;
    for (size_t a = 0; a < linear.k; a++) {
        /* What is 0 but for rounding may come out below it. */
        made.b[at[a]] = fmax(linear.coefficients[a], 0);
        for (size_t c = 0; c < linear.k && made.freedom > 0; c++)
            made.covariance[at[a]][at[c]] = linear.variance * linear.inverse[a][c];
    }
    *fit = made;
    return PV_OK;
}

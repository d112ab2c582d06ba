#include "core/numerics/least_squares.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>

#include "base/plural.h"

static const double dependent = 1e-9;
/* A leverage this near to 1 leaves nothing to predict the row from. */
static const double alone = 1e-9;

struct decomposition {
    double *u; /* n x k */
    double v[LINEAR_COLUMNS_MAX * LINEAR_COLUMNS_MAX];
    double s[LINEAR_COLUMNS_MAX];
    double length[LINEAR_COLUMNS_MAX]; /* of the weighted columns */
};

static double weight_of(const double weights[], size_t i)
{
    return weights == NULL ? 1.0 : weights[i];
}

/* Weighted columns of length 1 into d->u. False: a column is all zero. */
static bool
scale_columns(const double x[], size_t n, size_t k, const double weights[], struct decomposition *d)
{
    for (size_t j = 0; j < k; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            d->u[i * k + j] = weight_of(weights, i) * x[i * k + j];
            sum += d->u[i * k + j] * d->u[i * k + j];
        }
        d->length[j] = sqrt(sum);
        if (!(d->length[j] > 0) || !isfinite(d->length[j]))
            return false;
        for (size_t i = 0; i < n; i++)
            d->u[i * k + j] /= d->length[j];
    }
    return true;
}

static enum pv_code decompose(size_t n, size_t k, struct decomposition *d, struct pv_error *err)
{
    gsl_matrix_view u = gsl_matrix_view_array(d->u, n, k);
    gsl_matrix_view v = gsl_matrix_view_array(d->v, k, k);
    gsl_vector_view s = gsl_vector_view_array(d->s, k);
    int status = gsl_linalg_SV_decomp_jacobi(&u.matrix, &v.matrix, &s.vector);
    if (status != GSL_SUCCESS) /* it gives up after many sweeps: GSL_EMAXITER */
        return pv_fail(err, PV_E_SINGULAR, "the singular values do not converge: %s",
                       gsl_strerror(status));
    if (!(d->s[k - 1] > dependent * d->s[0]))
        return pv_fail(err, PV_E_SINGULAR, "the columns are linearly dependent");
    return PV_OK;
}

static void least_squares_solve(const struct decomposition *d,
                                const double y[],
                                const double weights[],
                                struct linear_fit *fit)
{
    size_t k = fit->k;
    double projected[LINEAR_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < fit->n; i++)
        for (size_t j = 0; j < k; j++)
            projected[j] += d->u[i * k + j] * weight_of(weights, i) * y[i];
    for (size_t a = 0; a < k; a++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += d->v[a * k + j] * projected[j] / d->s[j];
        fit->coefficients[a] = sum / d->length[a];
        for (size_t b = 0; b < k; b++) {
            double inverse = 0;
            for (size_t j = 0; j < k; j++)
                inverse += d->v[a * k + j] * d->v[b * k + j] / (d->s[j] * d->s[j]);
            fit->inverse[a][b] = inverse / (d->length[a] * d->length[b]);
        }
    }
}

static void least_squares_judge(const double x[],
                                const double y[],
                                const double weights[],
                                const struct decomposition *d,
                                struct linear_fit *fit)
{
    size_t k = fit->k;
    double squares = 0;
    size_t used = 0;
    fit->rss = 0;
    for (size_t i = 0; i < fit->n; i++) {
        double w = weight_of(weights, i);
        double predicted = 0;
        fit->leverage[i] = 0;
        for (size_t j = 0; j < k; j++) {
            predicted += x[i * k + j] * fit->coefficients[j];
            fit->leverage[i] += d->u[i * k + j] * d->u[i * k + j];
        }
        fit->residuals[i] = y[i] - predicted;
        fit->rss += w * w * fit->residuals[i] * fit->residuals[i];
        squares += w * w * y[i] * y[i];
        used += w != 0;
    }
    /* Exact data leave only rounding, which must not pass for knowledge of every digit. */
    double rounding = 4096 * DBL_EPSILON * DBL_EPSILON * squares;
    fit->variance = used > k ? fmax(fit->rss, rounding) / (double)(used - k) : (double)NAN;
}

enum pv_code linear_fit(const double x[],
                        size_t n,
                        size_t k,
                        const double y[],
                        const double weights[],
                        struct arena *arena,
                        struct linear_fit *fit,
                        struct pv_error *err)
{
    struct decomposition d;
    if (n < k || k == 0 || k > LINEAR_COLUMNS_MAX)
        return pv_fail(err, PV_E_SINGULAR, "%zu row%s %s not determine %zu coefficient%s", n,
                       PLURAL(n), PLURAL_VERB(n, "does", "do"), k, PLURAL(k));
    struct linear_fit made = {.n = n,
                              .k = k,
                              .leverage = arena_array(arena, n, sizeof(double)),
                              .residuals = arena_array(arena, n, sizeof(double))};
    d.u = arena_array(arena, n, k * sizeof(double));
    if (made.leverage == NULL || made.residuals == NULL || d.u == NULL)
        return pv_no_memory(err);
    if (!scale_columns(x, n, k, weights, &d))
        return pv_fail(err, PV_E_SINGULAR, "a column is all zero or not finite");
    PV_TRY(decompose(n, k, &d, err));
    least_squares_solve(&d, y, weights, &made);
    least_squares_judge(x, y, weights, &d, &made);
    *fit = made;
    return PV_OK;
}

double linear_left_out(const struct linear_fit *fit, const double y[], size_t i)
{
    double rest = 1 - fit->leverage[i];
    return rest > alone ? y[i] - fit->residuals[i] / rest : (double)NAN;
}

double linear_p_value(double estimate, double std_error, double freedom)
{
    if (!(std_error > 0) || !(freedom > 0))
        return (double)NAN;
    return 2 * gsl_cdf_tdist_Q(fabs(estimate / std_error), freedom);
}

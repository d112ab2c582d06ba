/*
 * Intervals of predictions (design.md section 4 "USBA"): conformal ones from
 * leave-one-out residuals (J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman,
 * "Distribution-free predictive inference for regression", JASA 113, 2018), on the logarithm since
 * run times err by factors, joined with the normal theory of the fit itself.
 *
 * With n scores the conformal rank is ceil((n + 1) confidence). Where that exceeds n the scores
 * alone promise nothing; then the largest is taken, or Student's t times their root mean square if
 * larger.
 */
#include "core/scaling/interval.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double interval_score(double actual, double predicted)
{
    return fabs(log(actual / fmax(predicted, actual / 1000)));
}

void interval_keep_scores(double scores[], size_t n, struct model_uncertainty *uncertainty)
{
    qsort(scores, n, sizeof *scores, ascending);
    size_t kept = n < MODEL_SCORES_MAX ? n : MODEL_SCORES_MAX;
    for (size_t i = 0; i < kept; i++)
        uncertainty->scores[i] = scores[(i + 1) * n / kept - 1];
    uncertainty->n_scores = kept;
}

/* The score that a new run stays below with the given confidence; NAN without scores. */
static double find_score(const struct model_uncertainty *u, double confidence)
{
    double squares = 0;
    if (u->n_scores == 0)
        return (double)NAN;
    for (size_t i = 0; i < u->n_scores; i++)
        squares += u->scores[i] * u->scores[i];
    double n = (double)u->observations;
    double rank = ceil((n + 1) * confidence - 1e-9);
    if (rank <= n) {
        size_t at = (size_t)ceil(rank * (double)u->n_scores / n);
        return u->scores[(at < 1 ? 1 : at > u->n_scores ? u->n_scores : at) - 1];
    }
    double spread = sqrt(squares / (double)u->n_scores);
    return fmax(u->scores[u->n_scores - 1],
                spread * gsl_cdf_tdist_Pinv(0.5 + confidence / 2, fmax(1, u->freedom)));
}

struct model_spread model_spread(const struct model *model, double confidence)
{
    const struct model_uncertainty *u = &model->uncertainty;
    struct model_spread spread = {(double)NAN, (double)NAN};
    if (u->observations == 0 || model->form == MODEL_OF_SPEEDUPS)
        return spread;
    spread.score = find_score(u, confidence);
    if (u->freedom > 0 && isfinite(u->residual_std))
        spread.t = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, u->freedom);
    return spread;
}

/* How far x lies outside a range, in widths of it; a range of one value counts as one doubling, an
 * unknown one as everything. */
static double overshoot(double x, const double range[2])
{
    if (isnan(range[0]))
        return 0;
    double width = fmax(log(range[1] / range[0]), log(2));
    return x < range[0] ? log(range[0] / x) / width : x > range[1] ? log(x / range[1]) / width : 0;
}

/* g'Cg with the gradient of the duration by central differences. */
static double parameter_variance(const struct model_uncertainty *u,
                                 const struct model_law *law,
                                 double size,
                                 double m)
{
    double gradient[MODEL_PARAMETERS_MAX] = {0};
    struct model_law at = *law;
    size_t n = law->kind->n_parameters;
    for (size_t j = 0; j < n; j++) {
        if (!(u->covariance[j][j] > 0))
            continue;
        double step = 1e-6 * fmax(fabs(law->p[j]), 1e-3);
        at.p[j] = law->p[j] + step;
        gradient[j] = law->kind->duration_s(&at, size, m);
        at.p[j] = law->p[j] - step;
        gradient[j] = (gradient[j] - law->kind->duration_s(&at, size, m)) / (2 * step);
        at.p[j] = law->p[j];
    }
    double variance = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; gradient[a] != 0 && b < n; b++)
            variance += gradient[a] * u->covariance[a][b] * gradient[b];
    return fmax(variance, 0);
}

static void set_interval(const struct model *model,
                         const struct model_spread *spread,
                         const struct model_law *law,
                         double size,
                         double m,
                         struct model_prediction *out)
{
    const struct model_uncertainty *u = &model->uncertainty;
    double low = (double)INFINITY;
    double high = (double)-INFINITY;
    double far = overshoot(size, u->problem_size) + overshoot(m, u->executors);
    out->extrapolated = far > 0;
    if (!(out->duration_s > 0))
        return;
    if (isfinite(spread->score)) {
        double factor = exp(spread->score * (1 + far));
        low = out->duration_s / factor;
        high = out->duration_s * factor;
    }
    if (isfinite(spread->t)) {
        double scale = u->relative ? out->duration_s : 1;
        double residual = u->residual_std * scale;
        double half = spread->t * sqrt(parameter_variance(u, law, size, m) + residual * residual);
        low = fmin(low, fmax(0, out->duration_s - half));
        high = fmax(high, out->duration_s + half);
    }
    if (isfinite(low)) {
        out->interval_s[0] = low;
        out->interval_s[1] = high;
    }
}

void model_predict(const struct model *model,
                   const struct model_spread *spread,
                   double problem_size,
                   double executors,
                   struct model_prediction *out)
{
    const struct model_kind *kind = model->kind;
    const struct model_law law = model_law(model);
    bool speedups = model->form == MODEL_OF_SPEEDUPS;
    *out = (struct model_prediction){(double)NAN, (double)NAN, {(double)NAN, (double)NAN}, false};
    if (!speedups)
        out->duration_s = kind->duration_s(&law, problem_size, executors);
    bool nonsense = !speedups && !(out->duration_s > 0);
    if (nonsense)
        out->speedup = (double)NAN;
    else if (kind->speedup != NULL)
        out->speedup = kind->speedup(&law, problem_size, executors);
    else
        out->speedup = kind->duration_s(&law, problem_size, 1) / out->duration_s;
    if (!(out->speedup > 0))
        out->speedup = (double)NAN;
    if (model->uncertainty.observations > 0)
        set_interval(model, spread, &law, problem_size, executors, out);
}

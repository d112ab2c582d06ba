#include "core/advice/model_curve.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The level at which the distribution takes in the model's own interval. */
static const double matched_confidence = 0.95;

struct maker {
    const struct model *model;
    struct model_spread spread;
    double problem_size;
    double t_matched;
    double residual_spread;
    double edge_s; /* at the most executors observed */
};

/* How far x lies outside a range, in logarithms. */
static double outside(double x, const double range[2])
{
    return x < range[0] ? log(range[0] / x) : x > range[1] ? log(x / range[1]) : 0.0;
}

static double squared_scores(const struct model_uncertainty *u)
{
    double squares = 0.0;
    for (size_t i = 0; i < u->n_scores; i++)
        squares += u->scores[i] * u->scores[i];
    return u->n_scores == 0 ? 0.0 : squares * (double)u->observations / (double)u->n_scores;
}

static struct model_prediction predict(const struct maker *maker, double executors)
{
    struct model_prediction prediction;
    model_predict(maker->model, &maker->spread, maker->problem_size, executors, &prediction);
    return prediction;
}

/* Positive, and beyond the range observed no faster than linear speedup from its edge. */
static bool is_believable(const struct maker *maker, double executors, double duration_s)
{
    double most = maker->model->uncertainty.executors[1];
    if (!isfinite(duration_s) || duration_s <= 0)
        return false;
    return executors <= most || duration_s >= maker->edge_s * most / executors * (1 - 1e-9);
}

static struct curve_point
make_point(const struct maker *maker, int64_t executors, const struct model_prediction *prediction)
{
    const struct model_uncertainty *u = &maker->model->uncertainty;
    double m = (double)executors;
    double far = outside(maker->problem_size, u->problem_size) + 0.5 * outside(m, u->executors);
    double spread = maker->residual_spread * (1.0 + far);
    double own = log(prediction->interval_s[1] / prediction->duration_s) / maker->t_matched;
    return (struct curve_point){.executors = executors,
                                .duration_s = prediction->duration_s,
                                .spread = isfinite(own) ? fmax(spread, own) : spread,
                                .extrapolated = m < u->executors[0] || m > u->executors[1]};
}

static size_t
make_points(const struct maker *maker, const struct curve_question *question, struct curve *curve)
{
    double most = maker->model->uncertainty.executors[1];
    size_t n = 0;
    for (size_t i = 0; i < question->n_executors; i++) {
        int64_t m = question->executors[i];
        struct model_prediction prediction = predict(maker, (double)m);
        if (is_believable(maker, (double)m, prediction.duration_s))
            curve->points[n++] = make_point(maker, m, &prediction);
        else if ((double)m > most)
            break;
    }
    return n;
}

static size_t count_distinct(const struct model_fit *fit, bool by_size)
{
    size_t distinct = 0;
    for (size_t i = 0; i < fit->n; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            const struct model_residual *a = &fit->residuals[i];
            const struct model_residual *b = &fit->residuals[j];
            seen = by_size ? !(a->problem_size < b->problem_size) &&
                                 !(a->problem_size > b->problem_size)
                           : !(a->executors < b->executors) && !(a->executors > b->executors);
        }
        distinct += !seen;
    }
    return distinct;
}

static void describe_fit(const struct model_fit *fit, struct curve *curve)
{
    const struct model_uncertainty *u = &fit->model.uncertainty;
    double size = (double)curve->problem_size;
    curve->model_kind = fit->model.kind->name;
    curve->runs = fit->n;
    curve->loo_mape_percent = fit->loo_mape_percent;
    curve->least_size = (int64_t)u->problem_size[0];
    curve->most_size = (int64_t)u->problem_size[1];
    curve->least_cores = (int64_t)u->executors[0] * curve->cores_per_executor;
    curve->most_cores = (int64_t)u->executors[1] * curve->cores_per_executor;
    curve->size_extrapolated = size < u->problem_size[0] || size > u->problem_size[1];
    curve->distinct_sizes = count_distinct(fit, true);
    curve->distinct_cores = count_distinct(fit, false);
}

enum pv_code model_curve_make(const struct model_fit *fit,
                              const struct curve_question *question,
                              struct arena *arena,
                              struct curve *curve,
                              struct pv_error *err)
{
    const struct model_uncertainty *u = &fit->model.uncertainty;
    struct curve made = {.problem_size = question->problem_size,
                         .cores_per_executor = question->cores_per_executor};
    made.points = arena_calloc(arena, question->n_executors, sizeof *made.points);
    if (made.points == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory to predict from the model");
    made.freedom = CURVE_PRIOR_FREEDOM + (double)u->observations;
    made.residual_spread =
        sqrt((CURVE_PRIOR_FREEDOM * CURVE_PRIOR_SPREAD * CURVE_PRIOR_SPREAD + squared_scores(u)) /
             made.freedom);
    struct maker maker = {.model = &fit->model,
                          .spread = model_spread(&fit->model, matched_confidence),
                          .problem_size = (double)question->problem_size,
                          .t_matched =
                              gsl_cdf_tdist_Pinv(0.5 + matched_confidence / 2, made.freedom),
                          .residual_spread = made.residual_spread};
    maker.edge_s = predict(&maker, u->executors[1]).duration_s;
    double single_s = predict(&maker, 1.0).duration_s;
    made.single_s = single_s > 0 ? single_s : (double)NAN;
    describe_fit(fit, &made);
    made.n_points = maker.edge_s > 0 ? make_points(&maker, question, &made) : 0;
    if (made.n_points == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the model predicts no believable time for this size");
    *curve = made;
    return PV_OK;
}

#include "core/advice/model_curve.h"

#include <math.h>

#include "core/scaling/model/predict.h"

struct maker {
    const struct model *model;
    double problem_size;
    struct predictive *distributions; /* one a point */
    double edge_s;                    /* at the most executors observed */
};

static struct model_prediction model_curve_predict(const struct maker *maker, double executors)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction prediction;
    model_predict(maker->model, &none, maker->problem_size, executors, &prediction);
    return prediction;
}

static bool is_time(double duration_s)
{
    return isfinite(duration_s) && duration_s > 0;
}

/* Beyond the range observed no faster than linear speedup from its edge: what lies around the
 * prediction moves along with it. */
static void
bound_speedup(const struct maker *maker, double executors, struct predictive *predictive)
{
    double most = maker->model->uncertainty.executors[1];
    double linear_s = maker->edge_s * most / executors;
    if (executors <= most || predictive->predicted_s >= linear_s)
        return;
    for (size_t i = 0; i < predictive->n; i++)
        if (predictive->parts[i].shape == PREDICTIVE_STUDENT)
            predictive->parts[i].scale *= linear_s / predictive->predicted_s;
    predictive->predicted_s = linear_s;
}

/* What no run shows starts from the prior that replays start from. */
static void fall_back(const struct maker *maker, double executors, struct predictive *predictive)
{
    const struct model_uncertainty *u = &maker->model->uncertainty;
    double far = gap_overshoot(u->problem_size, maker->problem_size) +
                 gap_overshoot(u->executors, executors);
    predictive_add(predictive, (struct predictive_part){.shape = PREDICTIVE_LOG_STUDENT,
                                                        .scale = CURVE_PRIOR_SPREAD * (1.0 + far),
                                                        .freedom = CURVE_PRIOR_FREEDOM});
}

static struct curve_point
make_point(const struct maker *maker, int64_t executors, struct predictive *predictive)
{
    const struct model_uncertainty *u = &maker->model->uncertainty;
    double m = (double)executors;
    if (model_predictive(maker->model, maker->problem_size, m, predictive) && predictive->n == 0)
        fall_back(maker, m, predictive);
    bound_speedup(maker, m, predictive);
    return (struct curve_point){.executors = executors,
                                .duration_s = predictive->predicted_s,
                                .own = predictive,
                                .cache_hit = 1.0, /* a model knows of no cached data */
                                .extrapolated = m < u->executors[0] || m > u->executors[1]};
}

static size_t
make_points(const struct maker *maker, const struct curve_question *question, struct curve *curve)
{
    double most = maker->model->uncertainty.executors[1];
    size_t n = 0;
    for (size_t i = 0; i < question->n_executors; i++) {
        int64_t m = question->executors[i];
        struct model_prediction prediction = model_curve_predict(maker, (double)m);
        if (is_time(prediction.duration_s)) {
            curve->points[n] = make_point(maker, m, &maker->distributions[n]);
            n++;
        } else if ((double)m > most) {
            break;
        }
    }
    return n;
}

static size_t count_executors(const struct model_fit *fit)
{
    size_t distinct = 0;
    for (size_t i = 0; i < fit->n; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            const struct model_residual *a = &fit->residuals[i];
            const struct model_residual *b = &fit->residuals[j];
            seen = !(a->executors < b->executors) && !(a->executors > b->executors);
        }
        distinct += !seen;
    }
    return distinct;
}

static void describe_fit(const struct model_fit *fit, struct curve *curve)
{
    const struct model_uncertainty *u = &fit->model.uncertainty;
    double size = curve->problem_size;
    curve->model_kind = fit->model.kind->name;
    curve->runs = fit->n;
    curve->loo_mape_percent = fit->loo_mape_percent;
    curve->least_size = u->problem_size[0];
    curve->most_size = u->problem_size[1];
    curve->least_cores = (int64_t)u->executors[0] * curve->cores_per_executor;
    curve->most_cores = (int64_t)u->executors[1] * curve->cores_per_executor;
    curve->size_extrapolated = curve_beyond_sizes(size, u->problem_size[0], u->problem_size[1]);
    curve->distinct_cores = count_executors(fit);
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
    struct model *model = arena_alloc(arena, sizeof *model); /* lends its tables to the points */
    struct predictive *distributions =
        arena_array(arena, question->n_executors, sizeof *distributions);
    made.points = arena_calloc(arena, question->n_executors, sizeof *made.points);
    if (made.points == NULL || model == NULL || distributions == NULL)
        return pv_no_memory(err);
    *model = fit->model;
    made.freedom = u->freedom;
    made.residual_spread = u->seen.n > 0 ? u->seen.spread : CURVE_PRIOR_SPREAD;
    struct maker maker = {
        .model = model, .problem_size = question->problem_size, .distributions = distributions};
    maker.edge_s = model_curve_predict(&maker, u->executors[1]).duration_s;
    double single_s = model_curve_predict(&maker, 1.0).duration_s;
    made.single_s = single_s > 0 ? single_s : (double)NAN;
    describe_fit(fit, &made);
    made.n_points = maker.edge_s > 0 ? make_points(&maker, question, &made) : 0;
    if (made.n_points == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the model predicts no time above 0 for this size");
    *curve = made;
    return PV_OK;
}

#include "api/advice/experiment_times.h"

#include <math.h>

void experiment_times_end(struct experiment_times *times)
{
    for (size_t i = 0; i < times->n; i++)
        advice_prediction_end(&times->predictions[i]);
}

/* The sizes allowed, thinned evenly where they are too many, and the one asked about. */
static void choose_sizes(const struct experiment_region *region, struct experiment_times *times)
{
    const size_t most = EXPERIMENT_TIMES_SIZES_MAX - 1;
    size_t n = region->n_sizes < most ? region->n_sizes : most;
    bool placed = false;
    for (size_t i = 0; i < n; i++) {
        size_t at = n < region->n_sizes ? i * (region->n_sizes - 1) / (n - 1) : i;
        double size = region->problem_sizes[at];
        if (!placed && region->problem_size < size)
            times->problem_sizes[times->n++] = region->problem_size;
        placed = placed || region->problem_size <= size;
        times->problem_sizes[times->n++] = size;
    }
    if (!placed)
        times->problem_sizes[times->n++] = region->problem_size;
}

/* PV_OK also where nothing can be predicted. */
static enum pv_code predict_size(struct api *api,
                                 struct http_request *request,
                                 const struct advice_question *question,
                                 double problem_size,
                                 struct advice_prediction *prediction,
                                 struct pv_error *err)
{
    /* What a cluster bounds is bounded already, and what is chosen by matters to no prediction. */
    struct advice_question sized = advice_question_open(question->goal.max_executors);
    struct advice_cluster cluster;
    struct pv_error why = {0};
    enum pv_code code = PV_OK;
    sized.problem_size = (int64_t)problem_size;
    sized.cores_per_executor = question->cores_per_executor;
    sized.application = question->application;
    sized.labels = question->labels;
    sized.n_labels = question->n_labels;
    sized.goal.min_executors = question->goal.min_executors;
    if (prediction->item == NULL && !prediction->is_loaded)
        code = advice_prediction_load(api, request, &sized, &cluster, prediction, &why);
    if (code == PV_OK)
        code = advice_prediction_make(api, request, &sized, prediction, &why);
    if (code == PV_E_TOO_FEW || code == PV_E_LIMIT)
        return PV_OK;
    if (code != PV_OK)
        *err = why;
    return code;
}

static bool is_own(const struct history_prediction *own, double problem_size)
{
    return own != NULL && (double)own->curve.problem_size == problem_size;
}

static enum pv_code copy_curve(const struct curve *from,
                               struct arena *arena,
                               struct predicted_curve *curve,
                               struct pv_error *err)
{
    double *executors = arena_array(arena, from->n_points, sizeof *executors);
    double *duration_s = arena_array(arena, from->n_points, sizeof *duration_s);
    if (executors == NULL || duration_s == NULL)
        return pv_no_memory(err);
    *curve = (struct predicted_curve){executors, duration_s, 0};
    for (size_t i = 0; i < from->n_points; i++) {
        if (!(from->points[i].duration_s > 0))
            continue;
        executors[curve->n] = (double)from->points[i].executors;
        duration_s[curve->n++] = from->points[i].duration_s;
    }
    return PV_OK;
}

static void take_interval(const struct curve *curve,
                          const struct effects_point *asked,
                          double confidence,
                          struct predicted_times *predicted)
{
    const struct curve_point *point = curve_find(curve, (int64_t)asked->executors);
    if (point == NULL || (double)curve->problem_size != asked->problem_size)
        return;
    const struct predictive predictive = curve_predictive(curve, point);
    predictive_interval(&predictive, confidence, predicted->interval_s);
}

static enum pv_code collect(const struct experiment_times *times,
                            const struct history_prediction *own,
                            struct api_experiments *asked,
                            struct arena *arena,
                            struct pv_error *err)
{
    double *sizes = arena_array(arena, times->n, sizeof *sizes);
    struct predicted_curve *curves = arena_array(arena, times->n, sizeof *curves);
    struct predicted_times made = {sizes, curves, 0, {(double)NAN, (double)NAN}};
    if (sizes == NULL || curves == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < times->n; i++) {
        const struct prediction_item *item = times->predictions[i].item;
        const struct curve *curve = item == NULL ? NULL : &item->prediction.curve;
        if (is_own(own, times->problem_sizes[i]))
            curve = &own->curve;
        if (curve == NULL)
            continue;
        PV_TRY(copy_curve(curve, arena, &curves[made.n], err));
        sizes[made.n] = times->problem_sizes[i];
        made.n += curves[made.n].n > 0;
        take_interval(curve, &asked->region.asked[0], asked->question.confidence, &made);
    }
    asked->question.predicted = made;
    return PV_OK;
}

enum pv_code experiment_times_predict(struct api *api,
                                      struct http_request *request,
                                      const struct advice_question *question,
                                      const struct history_prediction *own,
                                      struct api_experiments *asked,
                                      struct experiment_times *times,
                                      struct pv_error *err)
{
    if (times->n == 0)
        choose_sizes(&asked->region, times);
    for (size_t i = 0; i < times->n; i++) {
        if (times->done[i] || is_own(own, times->problem_sizes[i]) ||
            question->application.at == NULL)
            continue;
        PV_TRY(predict_size(api, request, question, times->problem_sizes[i], &times->predictions[i],
                            err));
        times->done[i] = true;
    }
    return collect(times, own, asked, request->arena, err);
}

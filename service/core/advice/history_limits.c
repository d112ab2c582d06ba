#include "core/advice/history_limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"

/* How many times as large, or as small, as the nearest of the runs' problem sizes. */
static double times_away(const struct curve *curve)
{
    double size = curve->problem_size;
    if (size > curve->most_size)
        return size / curve->most_size;
    return size < curve->least_size ? curve->least_size / size : 1.0;
}

static double most_times_away(const struct curve *curve, const struct advice_limits *limits)
{
    bool single = curve->model_kind == NULL && curve->runs == 1;
    return single ? limits->extrapolation : limits->extrapolation * limits->extrapolation;
}

/* Also if an end is unknown (NAN). */
static bool is_wide(const struct advise_choice *choice)
{
    return !(choice->upper_s <= ADVISE_INTERVAL_WIDEST * choice->lower_s);
}

enum history_lack history_limits_find(const struct history_prediction *prediction,
                                      const struct advise_choice *recommendation,
                                      const struct advice_limits *limits)
{
    const struct curve *curve = &prediction->curve;
    if (prediction->session)
        return HISTORY_SESSION;
    if (prediction->lack != NULL)
        return prediction->streaming ? HISTORY_STREAMING : HISTORY_UNUSABLE;
    if (prediction->unrelated.found)
        return HISTORY_UNRELATED;
    if (curve->loo_mape_percent > limits->error_percent)
        return HISTORY_ERRS;
    if (times_away(curve) > most_times_away(curve, limits) * (1.0 + 1e-9))
        return HISTORY_FAR;
    return is_wide(recommendation) ? HISTORY_WIDE : HISTORY_SUFFICES;
}

/* Runs of the size asked for, on the fewest and the most executors that ran; a single one on the most,
 * for it may be a large one. */
static void need_runs(const struct curve *curve, int64_t runs, struct advice *advice)
{
    int64_t cores = curve->cores_per_executor;
    int64_t fewest = curve->least_cores / cores, most = curve->most_cores / cores;
    advice->data_needed_runs = runs;
    advice->data_needed_problem_size = curve->problem_size;
    if (runs == 1)
        fewest = most;
    advice->data_needed_executors[0] = fewest < 1 ? 1 : fewest;
    advice->n_data_needed = 1;
    if (most > fewest && runs > 1)
        advice->data_needed_executors[advice->n_data_needed++] = most;
}

/* What a history from which nothing can be predicted is short of: so many more runs for a model, or one
 * that can be replayed. */
static void need_usable_runs(const struct history_prediction *prediction, struct advice *advice)
{
    const struct predictor *predictor = &prediction->predictor;
    advice->data_needed_runs = 1;
    advice->data_needed_problem_size = prediction->curve.problem_size;
    advice->data_needed_why =
        "a run that succeeded, recorded from an event log, can be replayed; without stages "
        "five runs with executors, cores and duration allow a model";
    if (predictor->model_runs > 0 && predictor->runs_missing > 0) {
        advice->data_needed_runs = predictor->runs_missing;
        advice->data_needed_why =
            "with so many more runs like those recorded, on other executor counts, a model can be "
            "fitted; a single run recorded from an event log can be replayed";
    } else if (predictor->model_runs > 0) {
        advice->data_needed_why = "a run on another executor count may allow a model; one recorded "
                                  "from an event log can be replayed";
    }
}

/* Runs that would narrow the interval most. */
static void need_narrowing_runs(const struct curve *curve, struct advice *advice)
{
    const struct curve_point *point = curve_find(curve, advice->recommendation.executors);
    if (point != NULL && point->n_centres > 0 && advise_need_deciding_run(curve, point, advice))
        return;
    if (curve->size_extrapolated) {
        need_runs(curve, 1, advice);
        advice->data_needed_why =
            "a run of the problem size asked for shows how the work grows with it";
    } else if (point != NULL && point->extrapolated) {
        need_runs(curve, 1, advice);
        advice->data_needed_executors[0] = point->executors;
        advice->data_needed_why = "a run on this number of executors shows how long the job takes "
                                  "there";
    } else {
        need_runs(curve, 2, advice);
        advice->data_needed_why = "runs of the problem size asked for, on the fewest and the most "
                                  "executors, narrow the interval";
    }
}

/* The interval of the choice that would have been recommended. */
static struct finding *describe_width(double confidence, struct advice *advice)
{
    const struct advise_choice *choice = &advice->recommendation;
    bool bounded = choice->lower_s > 0 && isfinite(choice->upper_s);
    char ends[120] = "has an end that the runs do not bound";
    if (bounded)
        (void)snprintf(ends, sizeof ends, "extends from %s",
                       quantity_interval(choice->lower_s, choice->upper_s).text);
    struct finding *note = finding_add(
        &advice->reasons, "history_insufficient",
        "The %s interval of the duration with %" PRId64
        " executor%s %s. The upper end may be at most %s times the lower end: no executor count is "
        "recommended.",
        quantity_share(confidence).text, choice->executors, PLURAL(choice->executors), ends,
        quantity_number(ADVISE_INTERVAL_WIDEST).text);
    finding_number(note, "lower_s", choice->lower_s);
    finding_number(note, "upper_s", choice->upper_s);
    finding_number(note, "interval_factor_max", ADVISE_INTERVAL_WIDEST);
    return note;
}

/* The size asked about is too far from those that ran. */
static struct finding *
refuse_far(const struct curve *curve, const struct advice_limits *limits, struct advice *advice)
{
    double nearest = curve->problem_size > curve->most_size ? curve->most_size : curve->least_size;
    struct finding *note =
        finding_add(&advice->reasons, "history_insufficient",
                    "The problem size %s is %s times away from the nearest of %zu run%s, "
                    "%s: beyond %s times no executor count is advised.",
                    quantity_problem_size(curve->problem_size, curve->size_measure).text,
                    quantity_number(times_away(curve)).text, curve->runs, PLURAL(curve->runs),
                    quantity_problem_size(nearest, curve->size_measure).text,
                    quantity_number(most_times_away(curve, limits)).text);
    finding_number(note, "problem_size", curve->problem_size);
    finding_number(note, "nearest_problem_size", nearest);
    finding_number(note, "extrapolation_max", limits->extrapolation);
    need_runs(curve, 1, advice);
    advice->data_needed_why =
        "a run of the problem size asked for shows how the work grows with it";
    return note;
}

static void describe_lack(const struct history_prediction *prediction,
                          const struct advice_limits *limits,
                          enum history_lack lack,
                          double confidence,
                          struct advice *advice)
{
    const struct curve *curve = &prediction->curve;
    struct finding *note = NULL;
    switch (lack) {
    case HISTORY_STREAMING:
        note = finding_add(&advice->reasons, "streaming_application",
                           "The runs are of a streaming application, which runs until someone "
                           "stops it: a deadline does not apply to it, and no executor count is "
                           "advised.");
        break;
    case HISTORY_SESSION:
        note = finding_add(&advice->reasons, "interactive_session",
                           "The runs are of shells, notebooks or servers, whose name says nothing "
                           "about what ran in them, so that no job can be predicted from them. No "
                           "executor count is advised.");
        advice->data_needed_runs = 1;
        advice->data_needed_why =
            "a run of one job under a name of its own (spark.app.name) can be replayed";
        break;
    case HISTORY_UNUSABLE:
        note = finding_add(&advice->reasons, "history_insufficient",
                           "Nothing can be predicted from the history: %s. No executor count is "
                           "advised.",
                           prediction->lack);
        need_usable_runs(prediction, advice);
        break;
    case HISTORY_UNRELATED:
        note = finding_add(&advice->reasons, "history_insufficient",
                           "The runs seem to be of different jobs: predictions of runs left out "
                           "are off by %s. No executor count is advised.",
                           quantity_percent(prediction->unrelated.error_percent).text);
        finding_number(note, "left_out_error_percent", prediction->unrelated.error_percent);
        advice->data_needed_runs = 5;
        advice->data_needed_why =
            "five runs of one job under an application name of its own allow a model";
        break;
    case HISTORY_ERRS:
        note = finding_add(&advice->reasons, "history_insufficient",
                           "Predictions of runs left out are off by %s; beyond %s "
                           "no executor count is advised.",
                           quantity_percent(curve->loo_mape_percent).text,
                           quantity_percent(limits->error_percent).text);
        finding_number(note, "left_out_error_percent", curve->loo_mape_percent);
        finding_number(note, "error_percent_max", limits->error_percent);
        need_runs(curve, 2, advice);
        advice->data_needed_why = "runs of the problem size asked for, on the fewest and the most "
                                  "executors, show whether the others are like them";
        break;
    case HISTORY_FAR:
        note = refuse_far(curve, limits, advice);
        break;
    case HISTORY_WIDE:
        note = describe_width(confidence, advice);
        need_narrowing_runs(curve, advice);
        break;
    case HISTORY_SUFFICES:
        break;
    }
    finding_number(note, "runs", (double)curve->runs);
}

enum pv_code history_limits_refuse(const struct history_prediction *prediction,
                                   const struct advice_limits *limits,
                                   enum history_lack lack,
                                   double confidence,
                                   struct arena *arena,
                                   struct advice *advice,
                                   struct pv_error *err)
{
    *advice = (struct advice){.verdict = ADVISE_UNKNOWN,
                              .objective = advice->objective,
                              .recommendation = advice->recommendation,
                              .remedies = {(double)NAN, RUN_UNKNOWN, (double)NAN},
                              .reasons = {.arena = arena},
                              .warnings = {.arena = arena}};
    describe_lack(prediction, limits, lack, confidence, advice);
    return advice->reasons.failed ? pv_no_memory(err) : PV_OK;
}

enum pv_code history_limits_warn(const struct history_prediction *prediction,
                                 const struct advice_limits *limits,
                                 struct advice *advice,
                                 struct pv_error *err)
{
    double error_percent = prediction->curve.loo_mape_percent;
    if (!(error_percent > limits->error_percent / 2))
        return PV_OK;
    struct finding *note = finding_add(&advice->warnings, "poor_model",
                                       "Predictions of runs left out are off by %s; beyond %s "
                                       "nothing would be advised.",
                                       quantity_percent(error_percent).text,
                                       quantity_percent(limits->error_percent).text);
    finding_number(note, "left_out_error_percent", error_percent);
    finding_number(note, "error_percent_max", limits->error_percent);
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

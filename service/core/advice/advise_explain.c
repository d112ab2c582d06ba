#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/advise_internal.h"
#include "core/advice/replay.h"

struct explanation {
    const struct view *view;
    const struct curve *curve;
    const struct curve_point *point;
    const struct advise_goal *goal;
    struct advice *advice;
};

/* --- the verdict --- */

static void explain_deadline_met(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_met",
                    "%" PRId64 " executor%s within %s with a probability of %s.", choice->executors,
                    choice->executors == 1 ? " finishes" : "s finish",
                    quantity_duration(e->goal->deadline_s).text,
                    quantity_probability(choice->deadline_probability).text);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "confidence", e->goal->confidence);
    const struct curve_point *below = advise_point_below(e->curve, e->goal, e->point);
    if (below != NULL && e->advice->objective == ADVISE_MIN_EXECUTORS) {
        finding_number(note, "fewer_executors", (double)below->executors);
        finding_number(note, "fewer_executors_probability",
                       curve_probability(e->curve, below, e->goal->deadline_s));
    }
}

static const struct curve_point *most_probable(const struct explanation *e, double *probability)
{
    const struct curve_point *best = NULL;
    *probability = -1.0;
    for (size_t i = 0; i < e->curve->n_points; i++) {
        const struct curve_point *point = &e->curve->points[i];
        double p = advise_is_allowed(e->goal, point)
                       ? curve_probability(e->curve, point, e->goal->deadline_s)
                       : -1.0;
        if (p > *probability) {
            *probability = p;
            best = point;
        }
    }
    return best;
}

/* How the count chosen compares with the most probable one, a relative clause. */
static void compare_with_best(const struct explanation *e,
                              const struct curve_point *best,
                              char *text,
                              size_t room)
{
    double probability = curve_probability(e->curve, best, e->goal->deadline_s);
    bool is_last = e->point->executors == e->goal->last_executors;
    if (best == e->point)
        (void)snprintf(text, room, "is the most probable count");
    else if (e->advice->slowdown.guess_executors != RUN_UNKNOWN)
        (void)snprintf(text, room, "is the best of the counts that the runs support");
    else
        (void)snprintf(
            text, room, "is within %.0f points of the best, %s with %" PRId64 " executor%s%s",
            100.0 * (is_last ? ADVISE_NOISE : ADVISE_NEAR_BEST),
            quantity_probability(probability).text, best->executors, PLURAL(best->executors),
            is_last && best->executors > e->point->executors
                ? ": the last run's count stays for so small a gain"
                : "");
}

/* "; 7, as in the last run, have 0.474"; "" if the last run's count was chosen or is not allowed. */
static void describe_last(const struct explanation *e, char *text, size_t room)
{
    const struct curve_point *last = curve_find(e->curve, e->goal->last_executors);
    text[0] = '\0';
    if (last != NULL && last != e->point && advise_is_allowed(e->goal, last))
        (void)snprintf(
            text, room, "; %" PRId64 ", as in the last run, %s %s", last->executors,
            PLURAL_VERB(last->executors, "has", "have"),
            quantity_probability(curve_probability(e->curve, last, e->goal->deadline_s)).text);
}

/* " (at most 3, by spark.executor.instances)"; "" if nothing but the prediction limits the count. */
static const char *describe_limit(const struct advise_goal *goal, char *text, size_t room)
{
    text[0] = '\0';
    if (goal->limited_by != NULL)
        (void)snprintf(text, room, " (at most %" PRId64 ", by %s)", goal->max_executors,
                       goal->limited_by);
    return text;
}

static void explain_deadline_at_risk(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double probability;
    const struct curve_point *best = most_probable(e, &probability);
    char instead[200], last[128], lack[280], limit[96];
    compare_with_best(e, best, instead, sizeof instead);
    describe_last(e, last, sizeof last);
    (void)snprintf(lack, sizeof lack,
                   "No %sexecutor count%s meets the deadline of %s with a probability of %s",
                   probability >= e->goal->confidence ? "supported " : "allowed ",
                   describe_limit(e->goal, limit, sizeof limit),
                   quantity_duration(e->goal->deadline_s).text,
                   quantity_share(e->goal->confidence).text);
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_at_risk",
                    "%s; %" PRId64 " executor%s with a probability of %s, which %s%s.", lack,
                    choice->executors, choice->executors == 1 ? " meets it" : "s meet it",
                    quantity_probability(choice->deadline_probability).text, instead, last);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "confidence", e->goal->confidence);
    finding_number(note, "best_executors", (double)best->executors);
    finding_number(note, "best_probability", probability);
}

static void explain_deadline_missed(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    const struct curve_point *fastest = advise_fastest(e->view);
    char nearest[240], limit[96], within[96] = "";
    if (!isnan(e->goal->max_cost))
        (void)snprintf(within, sizeof within, " at a cost of at most %s",
                       quantity_cost(e->goal->max_cost, NULL).text);
    if (fastest == e->point)
        (void)snprintf(nearest, sizeof nearest, "%" PRId64 " executor%s nearest with %s",
                       choice->executors, choice->executors == 1 ? " comes" : "s come",
                       quantity_duration(choice->predicted_duration_s).text);
    else
        (void)snprintf(nearest, sizeof nearest,
                       "%" PRId64 " executor%s %s, within %s of the shortest time "
                       "allowed (%s with %" PRId64 ")",
                       choice->executors, choice->executors == 1 ? " takes" : "s take",
                       quantity_duration(choice->predicted_duration_s).text,
                       quantity_share(ADVISE_NEAR_FASTEST).text,
                       quantity_duration(fastest->duration_s).text, fastest->executors);
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_missed",
                    "No allowed executor count%s is predicted to finish within %s%s; %s.",
                    describe_limit(e->goal, limit, sizeof limit),
                    quantity_duration(e->goal->deadline_s).text, within, nearest);
    finding_text(note, "limited_by", e->goal->limited_by);
    finding_number(note, "max_cost", e->goal->max_cost);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "max_executors", (double)e->goal->max_executors);
    finding_number(note, "fastest_executors", (double)fastest->executors);
    finding_number(note, "fastest_duration_s", fastest->duration_s);
}

/* Names the runs of this configuration that missed the deadline, if they limit the probability of the
 * recommended count, or if the count would have met the deadline without them. */
static void explain_late_runs(struct explanation *e, const struct curve_point *point)
{
    double deadline_s = e->goal->deadline_s;
    struct curve_point predicted = *point;
    predicted.ran = NULL;
    double by_prediction = curve_probability(e->curve, &predicted, deadline_s);
    double bound = same_runs_probability(point->ran, deadline_s);
    if (bound >= by_prediction || (point != e->point && by_prediction < e->goal->confidence))
        return;
    size_t in_time = same_runs_in_time(point->ran, deadline_s), late = point->ran->n - in_time;
    struct finding *note =
        finding_add(&e->advice->reasons, "late_runs",
                    "%zu run%s of this size on %" PRId64 " executor%s took longer than the "
                    "deadline, %zu met it: the probability there is at most %s.",
                    late, PLURAL(late), point->executors, PLURAL(point->executors), in_time,
                    quantity_probability(bound).text);
    finding_number(note, "executors", (double)point->executors);
    finding_number(note, "runs_late", (double)late);
    finding_number(note, "runs_in_time", (double)in_time);
    finding_number(note, "probability_at_most", bound);
}

/* --- a slowdown of the newest runs --- */

/* A clause: the runs that support more executors, or why no run does. */
static void describe_support(const struct explanation *e, bool answered, char *text, size_t room)
{
    const struct curve *curve = e->curve;
    int64_t least = curve->least_cores / curve->cores_per_executor;
    int64_t most = curve->most_cores / curve->cores_per_executor;
    int64_t last = e->goal->last_executors;
    if (curve->distinct_cores > 1)
        (void)snprintf(text, room, "%s%" PRId64 " to %" PRId64 " executors",
                       answered ? "there are runs on " : "the runs had ", least, most);
    else if (answered)
        (void)snprintf(text, room, "the last run had %" PRId64 " executor%s", last, PLURAL(last));
    else
        (void)snprintf(text, room, "all runs had the same number of cores");
}

/* More executors than would have been advised without the slowdown are explained by what supports
 * them; those that nothing supports are named as a guess. */
static void explain_slowdown(struct explanation *e)
{
    const struct advise_slowdown *slowdown = &e->advice->slowdown;
    int64_t chosen = e->advice->recommendation.executors, guess = slowdown->guess_executors;
    char support[120];
    struct finding *note = NULL;
    bool answered = chosen > slowdown->usual_executors;
    if (!slowdown->known)
        return;
    describe_support(e, answered, support, sizeof support);
    if (answered)
        note = finding_add(&e->advice->reasons, "slowdown_answered",
                           "The newest runs were slower than expected: %" PRId64
                           " executor%s %s recommended instead of %" PRId64 ", and %s.",
                           chosen, PLURAL(chosen), PLURAL_VERB(chosen, "is", "are"),
                           slowdown->usual_executors, support);
    else if (guess != RUN_UNKNOWN)
        note = finding_add(
            &e->advice->reasons, "slowdown_unsupported",
            "The newest runs were slower than expected. That more executors help is a guess, "
            "because %s: the extra time may be serial work, skew or more input. If the extra "
            "work is shared, %" PRId64 " executor%s the deadline with a probability of %s. A run "
            "on another count shows which is true.",
            support, guess, guess == 1 ? " meets" : "s meet",
            quantity_probability(slowdown->guess_probability).text);
    finding_number(note, "usual_executors", (double)slowdown->usual_executors);
    if (guess != RUN_UNKNOWN) {
        finding_number(note, "guess_executors", (double)guess);
        finding_number(note, "guess_probability", slowdown->guess_probability);
    }
}

/* --- the objective --- */

/* Of which counts the choice is the best. */
static const char *scope_of(const struct explanation *e)
{
    return isnan(e->goal->deadline_s)
               ? "all allowed executor counts"
               : "all allowed executor counts that meet the deadline with the confidence asked";
}

static void describe_objective(const struct explanation *e, char *text, size_t room)
{
    static const char *const texts[ADVISE_OBJECTIVES] = {
        "It has the fewest executors of", "It takes the fewest executor seconds of",
        "It has the shortest predicted time of",
        "It has the fewest executors within 1 % of the greatest speedup of",
        "It is the knee of the curve, the greatest product of speedup and efficiency, of"};
    const struct view *view = e->view;
    bool plain = billing_is_plain(&e->goal->billing);
    if (isinf(view->slowest_s)) {
        bool lacked = e->advice->objective != e->goal->objective;
        (void)snprintf(text, room, "%s%s %s.",
                       lacked ? "Without a deadline, or a last run to compare with, the choice "
                                "goes by efficiency. "
                              : "",
                       e->advice->objective == ADVISE_MIN_COST && !plain
                           ? "It costs the least of"
                           : texts[e->advice->objective],
                       scope_of(e));
    } else if (e->point->duration_s > view->slowest_s) {
        (void)snprintf(text, room,
                       "Without a deadline the last run's %" PRId64
                       " executor%s (%s) are the measure; no allowed count is predicted to be "
                       "less than %s slower, so it is one near the fastest.",
                       e->goal->last_executors, PLURAL(e->goal->last_executors),
                       quantity_duration(view->last_s).text,
                       quantity_percent(e->goal->tolerance_percent).text);
    } else {
        (void)snprintf(text, room,
                       "Without a deadline: the %s of all allowed executor "
                       "counts that are at most %s slower than the last run's %" PRId64 " (%s).",
                       plain ? "fewest executor seconds" : "least cost",
                       quantity_percent(e->goal->tolerance_percent).text, e->goal->last_executors,
                       quantity_duration(view->last_s).text);
    }
}

static void explain_objective(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    char text[480];
    describe_objective(e, text, sizeof text);
    struct finding *note = finding_add(&e->advice->reasons, "objective", "%s", text);
    finding_text(note, "objective", advise_objective_name(e->advice->objective));
    finding_number(note, "executors", (double)choice->executors);
    finding_number(note, "speedup", choice->speedup);
    finding_number(note, "efficiency", choice->efficiency);
    finding_number(note, "executor_s", choice->executor_s);
    if (isinf(e->view->slowest_s))
        return;
    finding_number(note, "last_executors", (double)e->goal->last_executors);
    finding_number(note, "last_predicted_duration_s", e->view->last_s);
    finding_number(note, "tolerance_percent", e->goal->tolerance_percent);
    if (e->point->duration_s > e->view->slowest_s) {
        note = finding_add(&e->advice->warnings, "slower_than_last_run",
                           "The job is predicted to take %s longer than with the last "
                           "run's %" PRId64 " executor%s, which are not allowed.",
                           quantity_share(e->point->duration_s / e->view->last_s - 1.0).text,
                           e->goal->last_executors, PLURAL(e->goal->last_executors));
        finding_number(note, "predicted_duration_s", e->point->duration_s);
        finding_number(note, "last_predicted_duration_s", e->view->last_s);
    }
}

/* --- where the numbers are from --- */

/* "50.5 GiB in 404 blocks", "2 to 16 tasks" */
static void describe_sizes(const struct curve *curve, char *text, size_t room)
{
    struct quantity_text least = quantity_problem_size(curve->least_size, curve->size_measure);
    struct quantity_text most = quantity_problem_size(curve->most_size, curve->size_measure);
    if (curve->most_size > curve->least_size)
        (void)snprintf(text, room, "%s to %s", least.text, most.text);
    else
        (void)snprintf(text, room, "%s", most.text);
}

/* A model has no nearest run, and does not know what bounds a duration. */
static void explain_fit(struct explanation *e)
{
    const struct curve *curve = e->curve;
    char sizes[128];
    describe_sizes(curve, sizes, sizeof sizes);
    struct finding *note = finding_add(
        &e->advice->reasons, "fitted_runs",
        "The model %s was fitted to the durations of %zu run%s, of problem size %s on %" PRId64
        " to %" PRId64 " executor%s.",
        curve->model_kind, curve->runs, PLURAL(curve->runs), sizes,
        curve->least_cores / curve->cores_per_executor,
        curve->most_cores / curve->cores_per_executor,
        PLURAL(curve->most_cores / curve->cores_per_executor));
    finding_text(note, "model", curve->model_kind);
    finding_number(note, "runs", (double)curve->runs);
    finding_number(note, "least_problem_size", curve->least_size);
    finding_number(note, "most_problem_size", curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

static void explain_runs(struct explanation *e)
{
    const struct curve *curve = e->curve;
    int64_t cores = e->point->executors * curve->cores_per_executor;
    struct finding *note =
        finding_add(&e->advice->reasons, "replayed_runs",
                    "The recorded tasks of %zu run%s were replayed on %" PRId64
                    " core%s; the nearest had problem size %s and %" PRId64 " executor%s.",
                    curve->runs, PLURAL(curve->runs), cores, PLURAL(cores),
                    quantity_problem_size(curve->nearest_size, curve->size_measure).text,
                    curve->nearest_executors, PLURAL(curve->nearest_executors));
    finding_number(note, "runs", (double)curve->runs);
    finding_text(note, "nearest_run", curve->nearest_run_id);
    finding_number(note, "least_problem_size", curve->least_size);
    finding_number(note, "most_problem_size", curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

/* Bounds of a duration. The cure is in the reason `bottleneck`, which depends on what tasks read. */
enum bound {
    BOUND_SERIAL_PART,
    BOUND_WORK,
    BOUND_CRITICAL_PATH,
    BOUND_CUT_TO_CORES,
    BOUND_STRAGGLER
};

static const struct {
    const char *kind;
    const char *what;
    const char *more; /* what follows the stage of the longest task; NULL: the stage is not named */
} bounds[] = {
    [BOUND_SERIAL_PART] = {"serial_part",
                           "the time outside any stage (start and driver), which "
                           "executors do not shorten",
                           NULL},
    [BOUND_WORK] = {"work", "work shared among the cores, which more cores shorten", NULL},
    [BOUND_CRITICAL_PATH] = {"critical_path", "the chain of stages with their longest tasks", NULL},
    [BOUND_CUT_TO_CORES] = {"stage_cut_to_cores", "the longest task",
                            ", whose number of tasks is taken to follow the cores"},
    [BOUND_STRAGGLER] = {"straggler", "a single long task", ", which executors do not shorten"},
};

/* A long task of a stage that is cut to the cores is the work of the stage, not a straggler. */
static enum bound bound_of(const struct curve_point *point, double share_s)
{
    if (point->fixed_s > share_s && point->fixed_s >= point->critical_path_s)
        return BOUND_SERIAL_PART;
    if (point->critical_path_s <= share_s)
        return BOUND_WORK;
    /* Half: one task that takes most of the longest chain is what to look at. */
    if (point->longest_task_s <= 0.5 * point->critical_path_s)
        return BOUND_CRITICAL_PATH;
    return point->longest_follows_cores ? BOUND_CUT_TO_CORES : BOUND_STRAGGLER;
}

/* What would have to change for the job to be faster here. */
static void explain_bound(struct explanation *e)
{
    const struct curve_point *point = e->point;
    double cores = (double)point->executors * (double)e->curve->cores_per_executor;
    double share_s = point->work_per_slot_s;
    double overhead_s = point->tasks * point->overhead_per_task_s;
    enum bound bound = bound_of(point, share_s);
    const char *more = bounds[bound].more;
    bool of_stage = more != NULL && point->longest_stage_id != RUN_UNKNOWN;
    char overhead[320] = "", stage[40] = "";
    /* Half a percent of the work: less is not worth a sentence. */
    if (overhead_s > 0.005 * point->work_s)
        (void)snprintf(overhead, sizeof overhead,
                       " Of the %s of work, %s are overhead of tasks (%s a task), set so that the "
                       "replay of the run takes as long as the run.",
                       quantity_duration(point->work_s).text, quantity_duration(overhead_s).text,
                       quantity_duration(point->overhead_per_task_s).text);
    if (of_stage)
        (void)snprintf(stage, sizeof stage, " of stage %" PRId64, point->longest_stage_id);
    struct finding *note =
        finding_add(&e->advice->reasons, "bound", "The duration is mostly %s%s%s.%s",
                    bounds[bound].what, stage, more == NULL ? "" : more, overhead);
    finding_text(note, "bound_by", bounds[bound].kind);
    if (of_stage)
        finding_number(note, "stage_id", (double)point->longest_stage_id);
    finding_number(note, "serial_s", point->fixed_s);
    finding_number(note, "critical_path_s", point->critical_path_s);
    finding_number(note, "work_s", point->work_s);
    finding_number(note, "work_per_core_s", point->work_s / cores);
    finding_number(note, "work_per_slot_s", share_s);
    finding_number(note, "recorded_work_s", point->recorded_work_s);
    finding_number(note, "task_overhead_s", point->overhead_per_task_s);
    finding_number(note, "longest_task_s", point->longest_task_s);
    finding_text(note, "longest_task_of",
                 point->longest_is_cut_anew ? "stage_cut_anew" : "stage_as_recorded");
}

/* The waiting time that executors caused by coming late or leaving early. */
static void explain_waiting(struct explanation *e)
{
    const struct curve_point *point = e->point;
    if (!(point->waiting_s > 0.005 * point->duration_s)) /* too little to report */
        return;
    struct finding *note =
        finding_add(&e->advice->reasons, "executors_awaited",
                    "The predicted time includes %s of waiting for executors: some executors of "
                    "the recorded run came after its first stage began, or left before its last "
                    "stage ended.",
                    quantity_duration(point->waiting_s).text);
    finding_number(note, "waiting_s", point->waiting_s);
    finding_number(note, "duration_s", point->duration_s);
}

/* Cached data that the executors cannot hold, or may not. */
static void warn_cached(struct explanation *e)
{
    const struct curve_point *point = e->point;
    bool misses = point->cache_hit < 0.995;
    double needed = misses ? cached_data_executors(point->cache_hit, point->executors) : 0.0;
    struct finding *note = NULL;
    if (misses)
        note =
            finding_add(&e->advice->warnings, "cached_data_exceeds_memory",
                        "The executors hold %s of the data that the application caches. Tasks "
                        "compute the other blocks again. %.0f executors hold all of it.%s",
                        quantity_share(point->cache_hit).text, needed,
                        point->cache_doubt_s > 0.0
                            ? " No run shows how long that takes, so the interval is wider upwards."
                            : "");
    else if (point->cache_doubt_s > 0.01 * point->duration_s)
        note =
            finding_add(&e->advice->warnings, "cached_data_unmeasured",
                        "The executors have less memory for the cached data than those of the run, "
                        "and no log shows how much it is: the interval is wider upwards. Set "
                        "spark.eventLog.logStageExecutorMetrics to log it.");
    if (note == NULL)
        return;
    if (misses) {
        finding_number(note, "share_in_memory", point->cache_hit);
        finding_number(note, "executors_needed", needed);
    }
    finding_number(note, "doubt_s", point->cache_doubt_s);
}

/* "30 cores", "16 to 64 cores" */
static void describe_cores(const struct curve *curve, char *text, size_t room)
{
    if (curve->least_cores == curve->most_cores)
        (void)snprintf(text, room, "%" PRId64 " core%s", curve->most_cores,
                       PLURAL(curve->most_cores));
    else
        (void)snprintf(text, room, "%" PRId64 " to %" PRId64 " core%s", curve->least_cores,
                       curve->most_cores, PLURAL(curve->most_cores));
}

static void warn_extrapolation(struct explanation *e)
{
    const struct curve *curve = e->curve;
    if (curve->size_extrapolated) {
        char sizes[128];
        describe_sizes(curve, sizes, sizeof sizes);
        struct finding *note = finding_add(
            &e->advice->warnings, "extrapolation",
            "Problem size %s is outside those of the runs %s (%s): the interval is widened.",
            quantity_problem_size(curve->problem_size, curve->size_measure).text,
            curve->model_kind == NULL ? "replayed" : "fitted", sizes);
        finding_number(note, "problem_size", curve->problem_size);
        finding_number(note, "least_problem_size", curve->least_size);
        finding_number(note, "most_problem_size", curve->most_size);
    }
    if (e->point->extrapolated) {
        int64_t cores = e->point->executors * curve->cores_per_executor;
        char recorded[64];
        describe_cores(curve, recorded, sizeof recorded);
        struct finding *note = finding_add(
            &e->advice->warnings, "extrapolation",
            "%" PRId64 " core%s %s outside the recorded runs, which had %s: the interval "
            "is widened.",
            cores, PLURAL(cores), PLURAL_VERB(cores, "is", "are"), recorded);
        finding_number(note, "cores", (double)cores);
        finding_number(note, "least_cores", (double)curve->least_cores);
        finding_number(note, "most_cores", (double)curve->most_cores);
    }
    if (curve->executor_cores_extrapolated) {
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "No replayed run had executors of %" PRId64
                        " core%s: what their memory and their garbage collection do to the time is "
                        "not in the prediction.",
                        curve->cores_per_executor, PLURAL(curve->cores_per_executor));
        finding_number(note, "cores_per_executor", (double)curve->cores_per_executor);
    }
}

/* Rounding, and what scatters from run to run, make a few percent. */
static void warn_superlinear(struct explanation *e)
{
    const double believable = 1.1;
    const struct advise_choice *choice = &e->advice->recommendation;
    if (!(choice->efficiency > believable))
        return;
    struct finding *note =
        finding_add(&e->advice->warnings, "superlinear_speedup",
                    "A speedup of %s on %" PRId64
                    " executors is more than linear: a single executor is predicted to take %s"
                    ", %s.",
                    quantity_number(choice->speedup).text, choice->executors,
                    quantity_duration(e->curve->single_s).text,
                    e->curve->least_cores > e->curve->cores_per_executor
                        ? "and no run was on one"
                        : "as where few executors have too little memory for the job");
    finding_number(note, "speedup", choice->speedup);
    finding_number(note, "efficiency", choice->efficiency);
    finding_number(note, "single_executor_s", e->curve->single_s);
}

/* One number of cores cannot tell a stage cut to the cores from one that happens to fit them. */
static void warn_assumed(struct explanation *e)
{
    size_t n = e->curve->stages_assumed;
    const struct curve_point *point = e->point;
    char differ[240] = "";
    if (n == 0)
        return;
    if (point->n_centres > 0)
        (void)snprintf(differ, sizeof differ,
                       " %" PRId64 " executor%s %s if it does (probability %s), else %s.",
                       point->executors, point->executors == 1 ? " takes" : "s take",
                       quantity_duration(point->centres[0].predicted_s).text,
                       quantity_probability(point->centres[0].probability).text,
                       quantity_duration(point->centres[1].predicted_s).text);
    struct finding *note = finding_add(
        &e->advice->warnings, "stages_assumed_to_follow_cores",
        "The number of tasks of %zu stage%s may follow the cores: it fits the cores of the "
        "replayed runs, but no run with the same stages had another number of cores.%s Record a "
        "run with another executor count to find out.",
        n, PLURAL(n), differ);
    finding_number(note, "stages", (double)n);
    if (e->curve->least_cores == e->curve->most_cores)
        finding_number(note, "cores", (double)e->curve->least_cores);
    if (point->n_centres == 0)
        return;
    finding_number(note, "follows_probability", point->centres[0].probability);
    finding_number(note, "follows_duration_s", point->centres[0].predicted_s);
    finding_number(note, "otherwise_duration_s", point->centres[1].predicted_s);
}

/* Replays repeat the attempts that succeeded, on all executors. */
static void warn_attempts(struct explanation *e)
{
    const double matters = 0.01; /* of the task time */
    const struct curve *curve = e->curve;
    char attempts[180] = "", excluded[64] = "";
    bool failed = curve->attempts_share >= matters;
    if (failed)
        (void)snprintf(attempts, sizeof attempts,
                       "%s of tasks (%s) in attempts that failed or lost against a copy",
                       quantity_duration(curve->attempts_s).text,
                       quantity_share(curve->attempts_share).text);
    if (curve->executors_excluded > 0)
        (void)snprintf(excluded, sizeof excluded, "%s%" PRId64 " excluded executor%s",
                       failed ? " and " : "", curve->executors_excluded,
                       PLURAL(curve->executors_excluded));
    if (!failed && excluded[0] == '\0')
        return;
    struct finding *note = finding_add(
        &e->advice->warnings, "attempts_not_simulated",
        "The nearest run had %s%s. The replay does not simulate them: the time that they cost "
        "counts as overhead of tasks or as time of the driver.",
        attempts, excluded);
    finding_number(note, "attempts_s", curve->attempts_s);
    finding_number(note, "attempts_share", curve->attempts_share);
    if (curve->executors_excluded > 0)
        finding_number(note, "executors_excluded", (double)curve->executors_excluded);
}

/* The reason without its common beginning. */
static const char *why_unusable(const struct curve *curve)
{
    const size_t n = sizeof REPLAY_NOT - 1;
    return strncmp(curve->unusable_why, REPLAY_NOT, n) == 0 ? curve->unusable_why + n
                                                            : curve->unusable_why;
}

static void warn_history(struct explanation *e)
{
    /* As many as the prior counts for (CURVE_PRIOR_FREEDOM): below it the prior outweighs them. */
    enum { FEW_RUNS = 3 };
    const struct curve *curve = e->curve;
    if (curve->runs < FEW_RUNS) {
        struct finding *note =
            finding_add(&e->advice->warnings, "few_runs",
                        "Only %zu run%s could be replayed: the interval is mostly based on "
                        "a prior of 10 %%.",
                        curve->runs, PLURAL(curve->runs));
        finding_number(note, "runs", (double)curve->runs);
    }
    if (curve->graph_changed) {
        (void)finding_add(&e->advice->warnings, "graph_changed",
                          "The replayed runs do not all have the same stages.");
    }
    if (curve->runs_unusable > 0) {
        struct finding *note = finding_add(
            &e->advice->warnings, "runs_ignored", "%zu run%s could not be replayed%s: %s.",
            curve->runs_unusable, PLURAL(curve->runs_unusable),
            curve->runs_unusable == 1 ? "" : "; the nearest in size", why_unusable(curve));
        finding_number(note, "runs", (double)curve->runs_unusable);
        finding_text(note, "why", why_unusable(curve));
    }
    if (curve->runs_left_out > 0) {
        struct finding *note = finding_add(&e->advice->warnings, "runs_left_out",
                                           "%zu run%s further away %s left out to bound the work.",
                                           curve->runs_left_out, PLURAL(curve->runs_left_out),
                                           curve->runs_left_out == 1 ? "was" : "were");
        finding_number(note, "runs", (double)curve->runs_left_out);
    }
}

enum pv_code advise_explain(const struct view *view,
                            const struct curve_point *point,
                            struct advice *advice,
                            struct pv_error *err)
{
    const struct curve *curve = view->curve;
    struct explanation e = {view, curve, point, view->goal, advice};
    if (advice->verdict == ADVISE_MISSED)
        explain_deadline_missed(&e);
    else if (advice->verdict == ADVISE_AT_RISK)
        explain_deadline_at_risk(&e);
    else if (!isnan(view->goal->deadline_s))
        explain_deadline_met(&e);
    if (advice->verdict == ADVISE_MET)
        explain_objective(&e);
    for (size_t i = 0; i < curve->n_points && !isnan(view->goal->deadline_s); i++)
        if (curve->points[i].ran != NULL && advise_is_allowed(view->goal, &curve->points[i]))
            explain_late_runs(&e, &curve->points[i]);
    explain_slowdown(&e);
    if (curve->model_kind == NULL) {
        explain_runs(&e);
        explain_bound(&e);
        explain_waiting(&e);
    } else {
        explain_fit(&e);
    }
    warn_extrapolation(&e);
    warn_cached(&e);
    warn_superlinear(&e);
    if (curve->model_kind == NULL) {
        warn_assumed(&e);
        warn_attempts(&e);
        warn_history(&e);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

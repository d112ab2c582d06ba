#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "core/advice/advise_internal.h"

struct explanation {
    const struct view *view;
    const struct curve *curve;
    const struct curve_point *point;
    const struct advise_goal *goal;
    struct advice *advice;
};

/* --- the verdict --- */

/* Nothing that a few runs predict is certain: the sentence stops at three nines. */
static void explain_deadline_met(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double p = choice->deadline_probability;
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_met",
                    "%" PRId64 " executor%s within %.6g s with probability %s%.3g.",
                    choice->executors, choice->executors == 1 ? " finishes" : "s finish",
                    e->goal->deadline_s, p > 0.999 ? "above " : "", fmin(p, 0.999));
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

static void explain_deadline_at_risk(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double probability;
    const struct curve_point *best = most_probable(e, &probability);
    char instead[160] = "is the most probable count";
    if (best != e->point)
        (void)snprintf(instead, sizeof instead,
                       "is within %.3g points of the best, %.3g with %" PRId64 " executor%s",
                       100.0 * ADVISE_NEAR_BEST, probability, best->executors,
                       PLURAL(best->executors));
    struct finding *note = finding_add(
        &e->advice->reasons, "deadline_at_risk",
        "No allowed executor count meets %.6g s with probability %.6g; %" PRId64
        " executor%s with probability %.3g, which %s.",
        e->goal->deadline_s, e->goal->confidence, choice->executors,
        choice->executors == 1 ? " meets it" : "s meet it", choice->deadline_probability, instead);
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
    char nearest[200], within[64] = "";
    if (!isnan(e->goal->max_cost))
        (void)snprintf(within, sizeof within, " at a cost of at most %.6g", e->goal->max_cost);
    if (fastest == e->point)
        (void)snprintf(nearest, sizeof nearest, "%" PRId64 " executor%s nearest with %.6g s",
                       choice->executors, choice->executors == 1 ? " comes" : "s come",
                       choice->predicted_duration_s);
    else
        (void)snprintf(nearest, sizeof nearest,
                       "%" PRId64 " executor%s %.6g s, within 2 percent of the shortest time "
                       "allowed (%.6g s with %" PRId64 ")",
                       choice->executors, choice->executors == 1 ? " takes" : "s take",
                       choice->predicted_duration_s, fastest->duration_s, fastest->executors);
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_missed",
                    "No allowed executor count is predicted to finish within %.6g s%s; %s.",
                    e->goal->deadline_s, within, nearest);
    finding_number(note, "max_cost", e->goal->max_cost);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "max_executors", (double)e->goal->max_executors);
    finding_number(note, "fastest_executors", (double)fastest->executors);
    finding_number(note, "fastest_duration_s", fastest->duration_s);
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
        "It has the fewest executors within one percent of the greatest speedup of",
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
                       " executor%s (%.6g s) are the measure; no allowed count is predicted to be "
                       "less than %.3g percent slower, so it is one near the fastest.",
                       e->goal->last_executors, PLURAL(e->goal->last_executors), view->last_s,
                       e->goal->tolerance_percent);
    } else {
        (void)snprintf(text, room,
                       "Without a deadline: the %s of all allowed executor "
                       "counts that are at most %.3g percent slower than the last run's %" PRId64
                       " (%.6g s).",
                       plain ? "fewest executor seconds" : "least cost", e->goal->tolerance_percent,
                       e->goal->last_executors, view->last_s);
    }
}

static void explain_objective(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    char text[400];
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
                           "The job is predicted to take %.3g percent longer than with the last "
                           "run's %" PRId64 " executor%s, which are not allowed.",
                           100.0 * (e->point->duration_s / e->view->last_s - 1.0),
                           e->goal->last_executors, PLURAL(e->goal->last_executors));
        finding_number(note, "predicted_duration_s", e->point->duration_s);
        finding_number(note, "last_predicted_duration_s", e->view->last_s);
    }
}

/* --- where the numbers are from --- */

/* A model has no nearest run, and does not know what bounds a duration. */
static void explain_fit(struct explanation *e)
{
    const struct curve *curve = e->curve;
    char sizes[64];
    if (curve->most_size > curve->least_size)
        (void)snprintf(sizes, sizeof sizes, "sizes %.7g to %.7g", curve->least_size,
                       curve->most_size);
    else
        (void)snprintf(sizes, sizeof sizes, "size %.7g", curve->least_size);
    struct finding *note = finding_add(
        &e->advice->reasons, "fitted_runs",
        "The model %s was fitted to the durations of %zu run%s, of problem %s on %" PRId64
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
                    " core%s; the nearest had problem size %.7g and %" PRId64 " executor%s.",
                    curve->runs, PLURAL(curve->runs), cores, PLURAL(cores), curve->nearest_size,
                    curve->nearest_executors, PLURAL(curve->nearest_executors));
    finding_number(note, "runs", (double)curve->runs);
    finding_text(note, "nearest_run", curve->nearest_run_id);
    finding_number(note, "least_problem_size", curve->least_size);
    finding_number(note, "most_problem_size", curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

struct bound {
    const char *kind;
    const char *text;
};

/*
 * What a chain of stages waits for. A long task of a stage that is cut to the cores is no
 * straggler: it is the stage's work, and more executors cut it shorter.
 */
static struct bound bound_of_chain(const struct curve_point *point)
{
    /* Half: one task that takes most of the longest chain is what to look at. */
    if (point->longest_task_s <= 0.5 * point->critical_path_s)
        return (struct bound){"critical_path", "the chain of stages with their longest tasks"};
    if (point->longest_follows_cores)
        return (struct bound){
            "stage_cut_to_cores",
            "the longest task of a stage whose number of tasks is taken to follow "
            "the cores: more executors cut it shorter"};
    return (struct bound){"straggler", "a single long task: split it or spread its keys"};
}

static struct bound bound_of(const struct curve_point *point, double share_s)
{
    if (point->fixed_s > share_s && point->fixed_s >= point->critical_path_s)
        return (struct bound){
            "serial_part",
            "the time outside any stage (start and driver), which executors do not shorten"};
    if (point->critical_path_s > share_s)
        return bound_of_chain(point);
    return (struct bound){"work", "work shared among the cores: more executors help"};
}

/* What would have to change for the job to be faster here. */
static void explain_bound(struct explanation *e)
{
    const struct curve_point *point = e->point;
    double cores = (double)point->executors * (double)e->curve->cores_per_executor;
    double share_s = point->work_s / cores;
    double overhead_s = point->tasks * point->overhead_per_task_s;
    struct bound bound = bound_of(point, share_s);
    char overhead[160] = "";
    /* Half a percent of the work: less is not worth a sentence. */
    if (overhead_s > 0.005 * point->work_s)
        (void)snprintf(overhead, sizeof overhead,
                       " Of the %.6g s of work %.6g s are no recorded task time but overhead: %.3g "
                       "s a task, set so that the run's own duration comes out.",
                       point->work_s, overhead_s, point->overhead_per_task_s);
    struct finding *note = finding_add(&e->advice->reasons, "bound", "The duration is mostly %s.%s",
                                       bound.text, overhead);
    finding_text(note, "bound_by", bound.kind);
    finding_number(note, "serial_s", point->fixed_s);
    finding_number(note, "critical_path_s", point->critical_path_s);
    finding_number(note, "work_s", point->work_s);
    finding_number(note, "work_per_core_s", share_s);
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
    struct finding *note = finding_add(
        &e->advice->reasons, "executors_awaited",
        "The predicted time includes %.3g s of waiting for executors: some executors of "
        "the recorded run came after its first stage began, or left before its last "
        "stage ended.",
        point->waiting_s);
    finding_number(note, "waiting_s", point->waiting_s);
    finding_number(note, "duration_s", point->duration_s);
}

static void warn_extrapolation(struct explanation *e)
{
    const struct curve *curve = e->curve;
    if (curve->size_extrapolated) {
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "Problem size %.7g lies outside those of the runs %s (%.7g"
                        " to %.7g): the interval is widened.",
                        curve->problem_size, curve->model_kind == NULL ? "replayed" : "fitted",
                        curve->least_size, curve->most_size);
        finding_number(note, "problem_size", curve->problem_size);
        finding_number(note, "least_problem_size", curve->least_size);
        finding_number(note, "most_problem_size", curve->most_size);
    }
    if (e->point->extrapolated) {
        int64_t cores = e->point->executors * curve->cores_per_executor;
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "%" PRId64 " core%s %s outside the recorded ones (%" PRId64 " to %" PRId64
                        "): the interval is widened.",
                        cores, PLURAL(cores), PLURAL_VERB(cores, "lies", "lie"), curve->least_cores,
                        curve->most_cores);
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
                    "A speedup of %.3g on %" PRId64
                    " executors is more than linear: a single executor is predicted to take %.6g "
                    "s, %s.",
                    choice->speedup, choice->executors, e->curve->single_s,
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
    if (n == 0)
        return;
    struct finding *note = finding_add(
        &e->advice->warnings, "stages_assumed_to_follow_cores",
        "The number of tasks of %zu stage%s is taken to follow the cores: it fits them in "
        "the replayed runs, but no run with the same stages had another number of cores "
        "(or of executors). Record a run with another executor count to find out.",
        n, PLURAL(n));
    finding_number(note, "stages", (double)n);
    if (e->curve->least_cores == e->curve->most_cores)
        finding_number(note, "cores", (double)e->curve->least_cores);
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
                        "a prior of 10 percent.",
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
    if (curve->model_kind == NULL) {
        explain_runs(&e);
        explain_bound(&e);
        explain_waiting(&e);
    } else {
        explain_fit(&e);
    }
    warn_extrapolation(&e);
    warn_superlinear(&e);
    if (curve->model_kind == NULL) {
        warn_assumed(&e);
        warn_history(&e);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

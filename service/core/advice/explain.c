#include "core/advice/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct explanation {
    const struct curve *curve;
    const struct curve_point *point;
    const struct advise_question *question;
    struct advice *advice;
};

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* Nothing that a few runs predict is certain: the sentence stops at three nines. */
static void explain_deadline_met(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double p = choice->deadline_probability;
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_met",
                    "%" PRId64 " executor%s within %.6g s with probability %s%.3g.",
                    choice->executors, choice->executors == 1 ? " finishes" : "s finish",
                    e->question->deadline_s, p > 0.999 ? "above " : "", fmin(p, 0.999));
    finding_number(note, "deadline_s", e->question->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "confidence", e->question->confidence);
    const struct curve_point *below = advise_point_below(e->curve, e->question, e->point);
    if (below != NULL && e->advice->objective == ADVISE_MIN_EXECUTORS) {
        finding_number(note, "fewer_executors", (double)below->executors);
        finding_number(note, "fewer_executors_probability",
                       curve_probability(e->curve, below, e->question->deadline_s));
    }
}

static const struct curve_point *fastest_allowed(const struct explanation *e)
{
    const struct curve_point *fastest = e->point;
    for (size_t i = 0; i < e->curve->n_points; i++) {
        const struct curve_point *point = &e->curve->points[i];
        if (advise_is_allowed(e->question, point) && point->duration_s < fastest->duration_s)
            fastest = point;
    }
    return fastest;
}

static void explain_deadline_missed(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    const struct curve_point *fastest = fastest_allowed(e);
    char nearest[160];
    if (fastest == e->point)
        (void)snprintf(nearest, sizeof nearest, "%" PRId64 " executor%s nearest with %.6g s",
                       choice->executors, choice->executors == 1 ? " comes" : "s come",
                       choice->predicted_duration_s);
    else
        (void)snprintf(nearest, sizeof nearest,
                       "%" PRId64 " executor%s %.6g s, the fewest within 2 percent of the shortest "
                       "time allowed (%.6g s with %" PRId64 ")",
                       choice->executors, choice->executors == 1 ? " takes" : "s take",
                       choice->predicted_duration_s, fastest->duration_s, fastest->executors);
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_missed",
                    "No allowed executor count is predicted to finish within %.6g s; %s.",
                    e->question->deadline_s, nearest);
    finding_number(note, "deadline_s", e->question->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "max_executors", (double)e->question->max_executors);
    finding_number(note, "fastest_executors", (double)fastest->executors);
    finding_number(note, "fastest_duration_s", fastest->duration_s);
}

static void explain_objective(struct explanation *e)
{
    static const char *const texts[ADVISE_OBJECTIVES] = {
        "It is the fewest executors that meet the deadline.",
        "It takes the fewest executor seconds of all that are allowed.",
        "It has the shortest predicted time of all that are allowed.",
        "It is the fewest executors within one percent of the greatest speedup.",
        "It is the knee of the curve: the greatest product of speedup and efficiency."};
    const struct advise_choice *choice = &e->advice->recommendation;
    bool lacked = e->advice->objective != e->question->objective;
    struct finding *note =
        finding_add(&e->advice->reasons, "objective", "%s%s",
                    lacked ? "Without a deadline the choice goes by efficiency. " : "",
                    texts[e->advice->objective]);
    finding_text(note, "objective", advise_objective_name(e->advice->objective));
    finding_number(note, "executors", (double)choice->executors);
    finding_number(note, "speedup", choice->speedup);
    finding_number(note, "efficiency", choice->efficiency);
    finding_number(note, "executor_s", choice->executor_s);
}

/* A model has no nearest run, and does not know what bounds a duration. */
static void explain_fit(struct explanation *e)
{
    const struct curve *curve = e->curve;
    struct finding *note = finding_add(
        &e->advice->reasons, "fitted_runs",
        "The model %s was fitted to the durations of %zu runs, of problem sizes %" PRId64
        " to %" PRId64 " on %" PRId64 " to %" PRId64 " executors.",
        curve->model_kind, curve->runs, curve->least_size, curve->most_size,
        curve->least_cores / curve->cores_per_executor,
        curve->most_cores / curve->cores_per_executor);
    finding_text(note, "model", curve->model_kind);
    finding_number(note, "runs", (double)curve->runs);
    finding_number(note, "least_problem_size", (double)curve->least_size);
    finding_number(note, "most_problem_size", (double)curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

static void explain_runs(struct explanation *e)
{
    const struct curve *curve = e->curve;
    struct finding *note = finding_add(
        &e->advice->reasons, "replayed_runs",
        "The recorded tasks of %zu run%s were replayed on %" PRId64
        " cores; the nearest had problem size %" PRId64 " and %" PRId64 " executor%s.",
        curve->runs, curve->runs == 1 ? "" : "s", e->point->executors * curve->cores_per_executor,
        curve->nearest_size, curve->nearest_executors, plural(curve->nearest_executors));
    finding_number(note, "runs", (double)curve->runs);
    finding_text(note, "nearest_run", curve->nearest_run_id);
    finding_number(note, "least_problem_size", (double)curve->least_size);
    finding_number(note, "most_problem_size", (double)curve->most_size);
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

static void warn_extrapolation(struct explanation *e)
{
    const struct curve *curve = e->curve;
    if (curve->size_extrapolated) {
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "Problem size %" PRId64 " lies outside the recorded sizes (%" PRId64
                        " to %" PRId64 "): the interval is widened.",
                        curve->problem_size, curve->least_size, curve->most_size);
        finding_number(note, "problem_size", (double)curve->problem_size);
        finding_number(note, "least_problem_size", (double)curve->least_size);
        finding_number(note, "most_problem_size", (double)curve->most_size);
    }
    if (e->point->extrapolated) {
        int64_t cores = e->point->executors * curve->cores_per_executor;
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "%" PRId64 " cores lie outside the recorded ones (%" PRId64 " to %" PRId64
                        "): the interval is widened.",
                        cores, curve->least_cores, curve->most_cores);
        finding_number(note, "cores", (double)cores);
        finding_number(note, "least_cores", (double)curve->least_cores);
        finding_number(note, "most_cores", (double)curve->most_cores);
    }
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
        n, n == 1 ? "" : "s");
    finding_number(note, "stages", (double)n);
    if (e->curve->least_cores == e->curve->most_cores)
        finding_number(note, "cores", (double)e->curve->least_cores);
}

static void warn_history(struct explanation *e)
{
    enum { FEW_RUNS = 3 };
    const struct curve *curve = e->curve;
    if (curve->runs < FEW_RUNS) {
        struct finding *note =
            finding_add(&e->advice->warnings, "few_runs",
                        "Only %zu run%s could be replayed: the interval rests mostly on "
                        "a prior of 10 percent.",
                        curve->runs, curve->runs == 1 ? "" : "s");
        finding_number(note, "runs", (double)curve->runs);
    }
    if (curve->graph_changed) {
        (void)finding_add(&e->advice->warnings, "graph_changed",
                          "The replayed runs do not all have the same stages.");
    }
    if (curve->runs_unusable > 0) {
        struct finding *note =
            finding_add(&e->advice->warnings, "runs_ignored",
                        "%zu run%s could not be replayed: task times or the size of "
                        "the cluster are unknown.",
                        curve->runs_unusable, curve->runs_unusable == 1 ? "" : "s");
        finding_number(note, "runs", (double)curve->runs_unusable);
    }
    if (curve->runs_left_out > 0) {
        struct finding *note = finding_add(
            &e->advice->warnings, "runs_left_out",
            "%zu run%s further away %s left out to bound the work.", curve->runs_left_out,
            curve->runs_left_out == 1 ? "" : "s", curve->runs_left_out == 1 ? "was" : "were");
        finding_number(note, "runs", (double)curve->runs_left_out);
    }
}

static void warn_below_confidence(struct explanation *e)
{
    struct finding *note = finding_add(
        &e->advice->warnings, "below_confidence",
        "No allowed executor count meets the deadline with probability %.6g; this is the "
        "most probable of those predicted to meet it.",
        e->question->confidence);
    finding_number(note, "confidence", e->question->confidence);
    finding_number(note, "deadline_probability", e->advice->recommendation.deadline_probability);
}

enum pv_code explain_advice(const struct curve *curve,
                            const struct curve_point *point,
                            const struct advise_question *question,
                            bool below_confidence,
                            struct advice *advice,
                            struct pv_error *err)
{
    struct explanation e = {curve, point, question, advice};
    if (!advice->feasible) {
        explain_deadline_missed(&e);
    } else {
        if (!isnan(question->deadline_s))
            explain_deadline_met(&e);
        if (!below_confidence)
            explain_objective(&e);
        else
            warn_below_confidence(&e);
    }
    if (curve->model_kind == NULL) {
        explain_runs(&e);
        explain_bound(&e);
    } else {
        explain_fit(&e);
    }
    warn_extrapolation(&e);
    if (curve->model_kind == NULL) {
        warn_assumed(&e);
        warn_history(&e);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

/* A reason that an earlier look gave without the running jobs must not read as the answer. */
static void mark_alone(struct arena *arena, struct advice *advice)
{
    for (size_t i = 0; i < advice->reasons.n; i++) {
        struct finding *note = &advice->reasons.items[i];
        bool met = strcmp(note->code, "deadline_met") == 0;
        if (!met && strcmp(note->code, "objective") != 0)
            continue;
        const char *message = arena_printf(arena, "Alone on the cluster: %s", note->message);
        advice->reasons.failed = advice->reasons.failed || message == NULL;
        note->message = message == NULL ? note->message : message;
        note->code = met ? "deadline_met_alone" : "objective_alone";
    }
}

/* The last reason becomes the first. */
static void move_to_front(struct findings *list)
{
    if (list->failed || list->n < 2)
        return;
    struct finding last = list->items[list->n - 1];
    memmove(&list->items[1], &list->items[0], (list->n - 1) * sizeof *list->items);
    list->items[0] = last;
}

static void explain_new_job(const struct beside_question *question,
                            const struct beside_outcome *outcome,
                            bool met_alone,
                            struct arena *arena,
                            struct advice *advice)
{
    bool turned = !outcome->met && met_alone;
    if (turned)
        mark_alone(arena, advice);
    const char *verdict = isnan(question->deadline_s) ? ""
                          : outcome->met              ? " and meets its deadline"
                                                      : " and misses its deadline";
    struct finding *note = finding_add(
        &advice->reasons, outcome->met ? "met_beside_running" : "missed_beside_running",
        "With the %zu running job%s, all sharing the cluster's %zu cores earliest deadline "
        "first, it ends after %.6g s%s; without "
        "them on the same cores after %.6g s. The recommended executors are no cap in "
        "either.",
        question->n_running, question->n_running == 1 ? "" : "s", question->cores,
        outcome->execution_s, verdict, outcome->alone_s);
    finding_number(note, "execution_s", outcome->execution_s);
    finding_number(note, "alone_s", outcome->alone_s);
    finding_number(note, "deadline_s", question->deadline_s);
    finding_number(note, "running", (double)question->n_running);
    finding_number(note, "cores", (double)question->cores);
    if (turned)
        move_to_front(&advice->reasons);
}

/* One warning for all running jobs that are late although (or because) the new one joins. */
static void warn_of_late_jobs(const struct beside_question *question,
                              const struct beside_outcome *outcome,
                              const char *const names[],
                              bool because,
                              struct advice *advice)
{
    size_t n = 0, first = 0;
    for (size_t i = question->n_running; i-- > 0;) {
        if (!outcome->running[i].met && outcome->running[i].met_alone == because) {
            n++;
            first = i;
        }
    }
    if (n == 0)
        return;
    struct finding *note =
        finding_add(&advice->warnings, because ? "running_jobs_delayed" : "running_jobs_late",
                    because ? "%zu running job%s would miss the deadline because of "
                              "this one."
                            : "%zu running job%s the deadline, with this one or "
                              "without.",
                    n, because ? (n == 1 ? "" : "s") : (n == 1 ? " misses" : "s miss"));
    finding_text(note, "first", names[first]);
    finding_number(note, "jobs", (double)n);
    finding_number(note, "execution_s", outcome->running[first].execution_s);
    finding_number(note, "deadline_s", question->running[first].deadline_s);
}

enum pv_code explain_beside(const struct beside_question *question,
                            const struct beside_outcome *outcome,
                            const char *const names[],
                            struct arena *arena,
                            struct advice *advice,
                            struct pv_error *err)
{
    bool met_alone = advice->feasible;
    advice->feasible = met_alone && outcome->met;
    explain_new_job(question, outcome, met_alone, arena, advice);
    warn_of_late_jobs(question, outcome, names, true, advice);
    warn_of_late_jobs(question, outcome, names, false, advice);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

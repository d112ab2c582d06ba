#include "core/advice/explain.h"

#include <inttypes.h>
#include <math.h>

struct explanation {
    const struct curve *curve;
    const struct curve_point *point;
    const struct advise_question *question;
    struct arena *arena;
    struct advice *advice;
    struct note spare;
};

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* The allowed point with the next fewer executors, or NULL. */
static const struct curve_point *point_below(const struct explanation *e)
{
    const struct curve_point *below = e->point - 1;
    return e->point > e->curve->points && below->executors >= e->question->min_executors ? below
                                                                                         : NULL;
}

/* Nothing that a few runs predict is certain: the sentence stops at three nines. */
static void explain_deadline_met(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double p = choice->deadline_probability;
    struct note *note =
        note_add(&e->advice->reasons, e->arena, &e->spare, "deadline_met",
                 "%" PRId64 " executor%s within %.6g s with probability %s%.3g.", choice->executors,
                 choice->executors == 1 ? " finishes" : "s finish", e->question->deadline_s,
                 p > 0.999 ? "above " : "", fmin(p, 0.999));
    note_number(note, "deadline_s", e->question->deadline_s);
    note_number(note, "predicted_duration_s", choice->predicted_duration_s);
    note_number(note, "deadline_probability", choice->deadline_probability);
    note_number(note, "confidence", e->question->confidence);
    const struct curve_point *below = point_below(e);
    if (below != NULL && e->advice->objective == ADVISE_MIN_EXECUTORS) {
        note_number(note, "fewer_executors", (double)below->executors);
        note_number(note, "fewer_executors_probability",
                    curve_probability(e->curve, below, e->question->deadline_s));
    }
}

static void explain_deadline_missed(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    struct note *note =
        note_add(&e->advice->reasons, e->arena, &e->spare, "deadline_missed",
                 "No allowed executor count is predicted to finish within %.6g s; %" PRId64
                 " executor%s come nearest with %.6g s.",
                 e->question->deadline_s, choice->executors, plural(choice->executors),
                 choice->predicted_duration_s);
    note_number(note, "deadline_s", e->question->deadline_s);
    note_number(note, "predicted_duration_s", choice->predicted_duration_s);
    note_number(note, "max_executors", (double)e->question->max_executors);
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
    struct note *note = note_add(&e->advice->reasons, e->arena, &e->spare, "objective", "%s%s",
                                 lacked ? "Without a deadline the choice goes by efficiency. " : "",
                                 texts[e->advice->objective]);
    note_text(note, "objective", advise_objective_name(e->advice->objective));
    note_number(note, "executors", (double)choice->executors);
    note_number(note, "speedup", choice->speedup);
    note_number(note, "efficiency", choice->efficiency);
    note_number(note, "executor_s", choice->executor_s);
}

static void explain_runs(struct explanation *e)
{
    const struct curve *curve = e->curve;
    struct note *note = note_add(
        &e->advice->reasons, e->arena, &e->spare, "replayed_runs",
        "The recorded tasks of %zu run%s were replayed on %" PRId64
        " cores; the nearest had problem size %" PRId64 " and %" PRId64 " executor%s.",
        curve->runs, curve->runs == 1 ? "" : "s", e->point->executors * curve->cores_per_executor,
        curve->nearest_size, curve->nearest_executors, plural(curve->nearest_executors));
    note_number(note, "runs", (double)curve->runs);
    note_text(note, "nearest_run", curve->nearest_run_id);
    note_number(note, "least_problem_size", (double)curve->least_size);
    note_number(note, "most_problem_size", (double)curve->most_size);
    note_number(note, "least_cores", (double)curve->least_cores);
    note_number(note, "most_cores", (double)curve->most_cores);
    note_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

/* What would have to change for the job to be faster here. */
static void explain_bound(struct explanation *e)
{
    const struct curve_point *point = e->point;
    double cores = (double)point->executors * (double)e->curve->cores_per_executor;
    double share_s = point->work_s / cores;
    const char *text = "work shared among the cores: more executors help";
    const char *kind = "work";
    if (point->fixed_s > share_s && point->fixed_s >= point->critical_path_s) {
        kind = "serial_part";
        text = "the time outside any stage (start and driver), which executors do not shorten";
    } else if (point->critical_path_s > share_s) {
        bool straggler = point->longest_task_s > 0.5 * point->critical_path_s;
        kind = straggler ? "straggler" : "critical_path";
        text = straggler ? "a single long task on the critical path: split it or spread its keys"
                         : "the chain of stages with their longest tasks, which executors do not "
                           "shorten";
    }
    struct note *note = note_add(&e->advice->reasons, e->arena, &e->spare, "bound",
                                 "The duration is mostly %s.", text);
    note_text(note, "bound_by", kind);
    note_number(note, "serial_s", point->fixed_s);
    note_number(note, "critical_path_s", point->critical_path_s);
    note_number(note, "work_s", point->work_s);
    note_number(note, "work_per_core_s", share_s);
    note_number(note, "longest_task_s", point->longest_task_s);
}

static void warn_extrapolation(struct explanation *e)
{
    const struct curve *curve = e->curve;
    if (curve->size_extrapolated) {
        struct note *note =
            note_add(&e->advice->warnings, e->arena, &e->spare, "extrapolation",
                     "Problem size %" PRId64 " lies outside the recorded sizes (%" PRId64
                     " to %" PRId64 "): the interval is widened.",
                     curve->problem_size, curve->least_size, curve->most_size);
        note_number(note, "problem_size", (double)curve->problem_size);
        note_number(note, "least_problem_size", (double)curve->least_size);
        note_number(note, "most_problem_size", (double)curve->most_size);
    }
    if (e->point->extrapolated) {
        int64_t cores = e->point->executors * curve->cores_per_executor;
        struct note *note = note_add(&e->advice->warnings, e->arena, &e->spare, "extrapolation",
                                     "%" PRId64 " cores lie outside the recorded ones (%" PRId64
                                     " to %" PRId64 "): the interval is widened.",
                                     cores, curve->least_cores, curve->most_cores);
        note_number(note, "cores", (double)cores);
        note_number(note, "least_cores", (double)curve->least_cores);
        note_number(note, "most_cores", (double)curve->most_cores);
    }
}

static void warn_history(struct explanation *e)
{
    enum { FEW_RUNS = 3 };
    const struct curve *curve = e->curve;
    if (curve->runs < FEW_RUNS) {
        struct note *note =
            note_add(&e->advice->warnings, e->arena, &e->spare, "few_runs",
                     "Only %zu run%s could be replayed: the interval rests mostly on "
                     "a prior of 10 percent.",
                     curve->runs, curve->runs == 1 ? "" : "s");
        note_number(note, "runs", (double)curve->runs);
    }
    if (curve->graph_changed) {
        (void)note_add(&e->advice->warnings, e->arena, &e->spare, "graph_changed",
                       "The replayed runs do not all have the same stages.");
    }
    if (curve->runs_unusable > 0) {
        struct note *note = note_add(&e->advice->warnings, e->arena, &e->spare, "runs_ignored",
                                     "%zu run%s could not be replayed: task times or the size of "
                                     "the cluster are unknown.",
                                     curve->runs_unusable, curve->runs_unusable == 1 ? "" : "s");
        note_number(note, "runs", (double)curve->runs_unusable);
    }
    if (curve->runs_left_out > 0) {
        struct note *note = note_add(&e->advice->warnings, e->arena, &e->spare, "runs_left_out",
                                     "%zu run%s further away %s left out to bound the work.",
                                     curve->runs_left_out, curve->runs_left_out == 1 ? "" : "s",
                                     curve->runs_left_out == 1 ? "was" : "were");
        note_number(note, "runs", (double)curve->runs_left_out);
    }
}

static void warn_below_confidence(struct explanation *e)
{
    struct note *note =
        note_add(&e->advice->warnings, e->arena, &e->spare, "below_confidence",
                 "No allowed executor count meets the deadline with probability %.6g; this is the "
                 "most probable of those predicted to meet it.",
                 e->question->confidence);
    note_number(note, "confidence", e->question->confidence);
    note_number(note, "deadline_probability", e->advice->recommendation.deadline_probability);
}

enum pv_code explain_advice(const struct curve *curve,
                            const struct curve_point *point,
                            const struct advise_question *question,
                            bool below_confidence,
                            struct arena *arena,
                            struct advice *advice,
                            struct pv_error *err)
{
    struct explanation e = {curve, point, question, arena, advice, {0}};
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
    explain_runs(&e);
    explain_bound(&e);
    warn_extrapolation(&e);
    warn_history(&e);
    return advice->reasons.failed || advice->warnings.failed
               ? pv_fail(err, PV_E_MEMORY, "not enough memory for the reasons")
               : PV_OK;
}

static void explain_new_job(const struct beside_question *question,
                            const struct beside_outcome *outcome,
                            struct arena *arena,
                            struct advice *advice)
{
    struct note spare;
    struct note *note =
        note_add(&advice->reasons, arena, &spare,
                 outcome->met ? "met_beside_running" : "missed_beside_running",
                 "Earliest deadline first beside %zu running job%s on %zu cores, it "
                 "ends after %.6g s%s.",
                 question->n_running, question->n_running == 1 ? "" : "s", question->cores,
                 outcome->execution_s, outcome->met ? "" : " and misses its deadline");
    note_number(note, "execution_s", outcome->execution_s);
    note_number(note, "deadline_s", question->deadline_s);
    note_number(note, "running", (double)question->n_running);
    note_number(note, "cores", (double)question->cores);
}

/* One warning for all running jobs that are late although (or because) the new one joins. */
static void warn_of_late_jobs(const struct beside_question *question,
                              const struct beside_outcome *outcome,
                              const char *const names[],
                              bool because,
                              struct arena *arena,
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
    struct note spare;
    struct note *note = note_add(&advice->warnings, arena, &spare,
                                 because ? "running_jobs_delayed" : "running_jobs_late",
                                 because ? "%zu running job%s would miss the deadline because of "
                                           "this one."
                                         : "%zu running job%s miss the deadline, with this one or "
                                           "without.",
                                 n, n == 1 ? "" : "s");
    note_text(note, "first", names[first]);
    note_number(note, "jobs", (double)n);
    note_number(note, "execution_s", outcome->running[first].execution_s);
    note_number(note, "deadline_s", question->running[first].deadline_s);
}

enum pv_code explain_beside(const struct beside_question *question,
                            const struct beside_outcome *outcome,
                            const char *const names[],
                            struct arena *arena,
                            struct advice *advice,
                            struct pv_error *err)
{
    advice->feasible = advice->feasible && outcome->met;
    explain_new_job(question, outcome, arena, advice);
    warn_of_late_jobs(question, outcome, names, true, arena, advice);
    warn_of_late_jobs(question, outcome, names, false, arena, advice);
    return advice->reasons.failed || advice->warnings.failed
               ? pv_fail(err, PV_E_MEMORY, "not enough memory for the reasons")
               : PV_OK;
}

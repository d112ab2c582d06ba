#include "core/advice/joint_feasibility.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "core/advice/advised_job.h"
#include "core/deadline/job_from_run.h"

/* Later than any job ends, and finite, as schedules compute with it. */
static const double no_deadline_s = 1e12;
static const double least_deadline_s = 1e-9; /* a deadline the fixed part alone exceeds */

/* The new application's job on the recommended configuration; *fixed_s: what needs no core. */
static enum pv_code make_new_job(const struct joint_question *question,
                                 struct arena *scratch,
                                 struct edf_job *job,
                                 double *fixed_s,
                                 struct pv_error *err)
{
    struct advised_job made;
    PV_TRY(advised_job_make(question->runs, question->n_runs, &question->target,
                            question->predicted_duration_s, scratch, &made, err));
    *job = made.job;
    *fixed_s = made.fixed_s;
    job->deadline_s = isnan(question->deadline_s)
                          ? no_deadline_s
                          : fmax(least_deadline_s, question->deadline_s - *fixed_s);
    return PV_OK;
}

/*
 * Take the first `seconds` of task time off a job, stage after stage in order of id: what a job
 * that reports its progress has behind it. A task cut in two keeps its rest.
 */
static enum pv_code
drop_done(struct edf_job *job, double seconds, struct arena *arena, struct pv_error *err)
{
    struct edf_stage *stages = arena_array(arena, job->n_stages, sizeof *stages);
    if (stages == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < job->n_stages; s++) {
        struct edf_stage *stage = &stages[s];
        *stage = job->stages[s];
        double *left_s = arena_array(arena, stage->tasks, sizeof *left_s);
        if (left_s == NULL)
            return pv_no_memory(err);
        size_t n = 0;
        for (size_t t = 0; t < stage->tasks; t++) {
            double task_s = stage->task_durations_s == NULL ? stage->task_duration_s
                                                            : stage->task_durations_s[t];
            double done_s = fmin(task_s, seconds);
            seconds -= done_s;
            if (done_s < task_s)
                left_s[n++] = task_s - done_s;
        }
        stage->tasks = n;
        stage->task_durations_s = left_s;
    }
    job->stages = stages;
    return PV_OK;
}

static double job_work(const struct edf_job *job)
{
    double sum = 0.0;
    for (size_t s = 0; s < job->n_stages; s++) {
        for (size_t t = 0; t < job->stages[s].tasks; t++) {
            sum += job->stages[s].task_durations_s == NULL ? job->stages[s].task_duration_s
                                                           : job->stages[s].task_durations_s[t];
        }
    }
    return sum;
}

static enum pv_code make_running_job(const struct joint_running *running,
                                     struct arena *scratch,
                                     struct edf_job *job,
                                     struct pv_error *err)
{
    PV_TRY(edf_job_from_run(running->run, scratch, job, err));
    job->release_s = running->release_s;
    job->deadline_s = running->deadline_s;
    if (isnan(running->progress))
        return PV_OK;
    /* What is left starts now, with what is left of the deadline. */
    job->release_s = fmax(0.0, running->release_s);
    job->deadline_s = fmax(least_deadline_s, running->deadline_s + fmin(0.0, running->release_s));
    return drop_done(job, running->progress * job_work(job), scratch, err);
}

static enum pv_code make_running_jobs(const struct joint_question *question,
                                      struct arena *scratch,
                                      struct edf_job jobs[],
                                      struct pv_error *err)
{
    for (size_t i = 0; i < question->n_running; i++)
        PV_TRY(make_running_job(&question->running[i], scratch, &jobs[i], err));
    return PV_OK;
}

static enum pv_code find_remedies(const struct joint_question *question,
                                  const struct edf_job jobs[],
                                  double fixed_s,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct joint_outcome *outcome,
                                  struct pv_error *err)
{
    struct edf_remedies remedies;
    size_t n = question->n_running + 1;
    PV_TRY(edf_find_remedies(jobs, n, question->cores, question->task_budget, arena, scratch,
                             &remedies, err));
    outcome->has_remedies = true;
    outcome->min_total_cores =
        remedies.has_min_total_cores ? (int64_t)remedies.min_total_cores : RUN_UNKNOWN;
    outcome->deadline_s = remedies.deadlines_s[question->n_running] + fixed_s;
    outcome->exact = remedies.exact;
    return PV_OK;
}

static enum pv_code check_jobs(const struct joint_question *question,
                               struct arena *arena,
                               struct arena *scratch,
                               struct joint_outcome *outcome,
                               struct pv_error *err)
{
    size_t n = question->n_running;
    struct edf_job *jobs = arena_calloc(scratch, n + 1, sizeof *jobs);
    struct edf_outcome *alone = arena_calloc(scratch, n + 1, sizeof *alone);
    struct edf_outcome *with = arena_calloc(scratch, n + 1, sizeof *with);
    if (jobs == NULL || alone == NULL || with == NULL)
        return pv_no_memory(err);
    double fixed_s = 0.0;
    PV_TRY(make_running_jobs(question, scratch, jobs, err));
    PV_TRY(make_new_job(question, scratch, &jobs[n], &fixed_s, err));
    if (n > 0)
        PV_TRY(edf_schedule(jobs, n, question->cores, scratch, alone, NULL, NULL, err));
    PV_TRY(edf_schedule(&jobs[n], 1, question->cores, scratch, &alone[n], NULL, NULL, err));
    PV_TRY(edf_schedule(jobs, n + 1, question->cores, scratch, with, NULL, NULL, err));
    for (size_t i = 0; i < n; i++) {
        outcome->running[i] =
            (struct joint_standing){alone[i].met, with[i].met, with[i].execution_s};
    }
    outcome->met = isnan(question->deadline_s) || with[n].met;
    outcome->execution_s = with[n].execution_s + fixed_s;
    outcome->alone_s = alone[n].execution_s + fixed_s;
    return outcome->met ? PV_OK
                        : find_remedies(question, jobs, fixed_s, arena, scratch, outcome, err);
}

enum pv_code joint_feasibility_check(const struct joint_question *question,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct joint_outcome *outcome,
                                     struct pv_error *err)
{
    struct joint_outcome made = {.min_total_cores = RUN_UNKNOWN, .deadline_s = (double)NAN};
    made.running = arena_calloc(arena, question->n_running, sizeof *made.running);
    if (made.running == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = check_jobs(question, arena, scratch, &made, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *outcome = made;
    return code;
}

/* --- in words --- */

/* A reason that an earlier look gave without the running jobs must not read as the answer. */
static void mark_alone(struct arena *arena, struct advice *advice)
{
    for (size_t i = 0; i < advice->reasons.n; i++) {
        struct finding *note = &advice->reasons.items[i];
        static const char *const marked[][2] = {{"deadline_met", "deadline_met_alone"},
                                                {"deadline_at_risk", "deadline_at_risk_alone"},
                                                {"objective", "objective_alone"}};
        const char *code = NULL;
        for (size_t k = 0; k < sizeof marked / sizeof *marked; k++)
            if (strcmp(note->code, marked[k][0]) == 0)
                code = marked[k][1];
        if (code == NULL)
            continue;
        const char *message = arena_printf(arena, "Alone on the cluster: %s", note->message);
        advice->reasons.failed = advice->reasons.failed || message == NULL;
        note->message = message == NULL ? note->message : message;
        note->code = code;
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

static void explain_new_job(const struct joint_question *question,
                            const struct joint_outcome *outcome,
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
        "It shares the cluster's %zu core%s with %zu running job%s, scheduled earliest deadline "
        "first, and ends after %.6g s%s; without them, on the same cores, it would end after "
        "%.6g s. The recommended executors are no cap in either case.",
        question->cores, PLURAL(question->cores), question->n_running, PLURAL(question->n_running),
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
static void warn_of_late_jobs(const struct joint_question *question,
                              const struct joint_outcome *outcome,
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
        because ? finding_add(&advice->warnings, "running_jobs_delayed",
                              "%zu running job%s would miss the deadline because of this one.", n,
                              PLURAL(n))
                : finding_add(&advice->warnings, "running_jobs_late",
                              "%zu running job%s %s the deadline, with this one or without.", n,
                              PLURAL(n), PLURAL_VERB(n, "misses", "miss"));
    finding_text(note, "first", names[first]);
    finding_number(note, "jobs", (double)n);
    finding_number(note, "execution_s", outcome->running[first].execution_s);
    finding_number(note, "deadline_s", question->running[first].deadline_s);
}

enum pv_code joint_feasibility_explain(const struct joint_question *question,
                                       const struct joint_outcome *outcome,
                                       const char *const names[],
                                       struct arena *arena,
                                       struct advice *advice,
                                       struct pv_error *err)
{
    bool met_alone = advice->verdict != ADVISE_MISSED;
    if (!outcome->met)
        advice->verdict = ADVISE_MISSED;
    explain_new_job(question, outcome, met_alone, arena, advice);
    warn_of_late_jobs(question, outcome, names, true, advice);
    warn_of_late_jobs(question, outcome, names, false, advice);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

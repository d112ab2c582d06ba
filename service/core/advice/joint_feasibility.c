#include "core/advice/joint_feasibility.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/advised_job.h"
#include "core/advice/recorded_job.h"

/* Later than any job ends, and finite, as schedules compute with it. */
static const double no_deadline_s = 1e12;
static const double least_deadline_s = 1e-9; /* a deadline the fixed part alone exceeds */

static double deadline_or_none(double deadline_s)
{
    return isnan(deadline_s) ? no_deadline_s : fmax(least_deadline_s, deadline_s);
}

/* The new application's job on the recommended configuration. */
static enum pv_code make_new_job(const struct joint_question *question,
                                 struct arena *scratch,
                                 struct edf_job *job,
                                 struct pv_error *err)
{
    struct advised_job made;
    const struct replay_target *target = &question->target;
    if (question->capped) {
        PV_TRY(recorded_job_block(target->executors * target->cores_per_executor,
                                  question->predicted_duration_s, scratch, job, err));
    } else {
        PV_TRY(advised_job_make(question->runs, question->n_runs, target,
                                question->predicted_duration_s, scratch, &made, err));
        PV_TRY(advised_job_delay(&made, target, scratch, job, err));
    }
    job->deadline_s = deadline_or_none(question->deadline_s);
    job->memory = question->memory;
    job->memory_bytes = question->memory_bytes;
    return PV_OK;
}

/* Shortens the start-up, which delays stages without parents, by the time since the release. */
static void drop_elapsed(struct edf_stage *stage, double elapsed_s)
{
    if (stage->n_parents == 0)
        stage->delay_s = fmax(0.0, stage->delay_s - elapsed_s);
}

/*
 * Take the first `seconds` of task time off a job that began elapsed_s ago, stage after stage in order
 * of id: what a job that reports its progress has behind it. A task cut in two keeps its rest; a stage
 * that has begun does not wait for the driver again.
 */
static enum pv_code drop_done(struct edf_job *job,
                              double seconds,
                              double elapsed_s,
                              struct arena *arena,
                              struct pv_error *err)
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
        drop_elapsed(stage, elapsed_s);
        if (seconds > 0.0 && stage->tasks > 0)
            stage->delay_s = 0.0;
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

/* The nearest recorded run, on the cluster's cores. */
static enum pv_code take_recorded(const struct joint_running *running,
                                  const struct joint_question *question,
                                  struct arena *scratch,
                                  struct edf_job *job,
                                  struct pv_error *err)
{
    const int64_t each = question->target.cores_per_executor;
    const int64_t executors = (int64_t)question->cores / each;
    const struct recorded_job_question asked = {
        .runs = running->runs,
        .n_runs = running->n_runs,
        .target = {running->problem_size, executors > 1 ? executors : 1, each},
        .predicted_duration_s = (double)NAN,
        .overhead_s = (double)NAN};
    struct recorded_job made;
    PV_TRY(recorded_job_make(&asked, scratch, &made, err));
    *job = made.job;
    return PV_OK;
}

static enum pv_code make_running_job(const struct joint_running *running,
                                     const struct joint_question *question,
                                     struct arena *scratch,
                                     struct edf_job *job,
                                     struct pv_error *err)
{
    if (running->n_runs == 0)
        PV_TRY(recorded_job_block(running->cores, running->duration_s, scratch, job, err));
    else
        PV_TRY(take_recorded(running, question, scratch, job, err));
    job->memory = question->memory;
    job->memory_bytes = running->memory_bytes;
    job->runs_already =
        running->release_s < 0 || (running->release_s <= 0 && !isnan(running->progress));
    job->release_s = running->release_s;
    job->deadline_s = running->deadline_s;
    if (isnan(running->progress))
        return PV_OK;
    /* What is left starts now, with what is left of the deadline. */
    job->release_s = fmax(0.0, running->release_s);
    job->deadline_s = fmax(least_deadline_s, running->deadline_s + fmin(0.0, running->release_s));
    return drop_done(job, running->progress * job_work(job), fmax(0.0, -running->release_s),
                     scratch, err);
}

static enum pv_code make_running_jobs(const struct joint_question *question,
                                      struct arena *scratch,
                                      struct edf_job jobs[],
                                      struct pv_error *err)
{
    for (size_t i = 0; i < question->n_running; i++)
        PV_TRY(make_running_job(&question->running[i], question, scratch, &jobs[i], err));
    return PV_OK;
}

static enum pv_code find_remedies(const struct joint_question *question,
                                  const struct edf_job jobs[],
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
    outcome->deadline_s = remedies.deadlines_s[question->n_running];
    outcome->exact = remedies.exact;
    return PV_OK;
}

struct crowd {
    struct edf_job *jobs; /* the running ones, and room for the new one */
    struct edf_outcome *alone;
    struct edf_outcome *with;
    size_t n; /* running */
};

static enum pv_code gather(const struct joint_question *question,
                           struct arena *scratch,
                           struct crowd *crowd,
                           struct pv_error *err)
{
    const size_t n = crowd->n = question->n_running;
    crowd->jobs = arena_calloc(scratch, n + 1, sizeof *crowd->jobs);
    crowd->alone = arena_calloc(scratch, n + 1, sizeof *crowd->alone);
    crowd->with = arena_calloc(scratch, n + 1, sizeof *crowd->with);
    if (crowd->jobs == NULL || crowd->alone == NULL || crowd->with == NULL)
        return pv_no_memory(err);
    PV_TRY(make_running_jobs(question, scratch, crowd->jobs, err));
    return n == 0 ? PV_OK
                  : edf_schedule(crowd->jobs, n, question->cores, scratch, crowd->alone, NULL, NULL,
                                 err);
}

static enum pv_code check_jobs(const struct joint_question *question,
                               struct arena *arena,
                               struct arena *scratch,
                               struct joint_outcome *outcome,
                               struct pv_error *err)
{
    struct crowd crowd;
    PV_TRY(gather(question, scratch, &crowd, err));
    const size_t n = crowd.n;
    struct edf_job *jobs = crowd.jobs;
    struct edf_outcome *alone = crowd.alone, *with = crowd.with;
    PV_TRY(make_new_job(question, scratch, &jobs[n], err));
    PV_TRY(edf_schedule(&jobs[n], 1, question->cores, scratch, &alone[n], NULL, NULL, err));
    PV_TRY(edf_schedule(jobs, n + 1, question->cores, scratch, with, NULL, NULL, err));
    for (size_t i = 0; i < n; i++) {
        outcome->running[i] = (struct joint_standing){alone[i].met, with[i].met,
                                                      with[i].execution_s, with[i].launched_s};
    }
    outcome->met = isnan(question->deadline_s) || with[n].met;
    outcome->execution_s = with[n].execution_s;
    outcome->alone_s = alone[n].execution_s;
    outcome->launched_s = with[n].launched_s;
    outcome->launches = launches_count(jobs, with, n + 1);
    return outcome->met ? PV_OK : find_remedies(question, jobs, arena, scratch, outcome, err);
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

/* --- with how many executors --- */

static size_t tasks_of_all(const struct edf_job jobs[], size_t n)
{
    size_t tasks = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < jobs[i].n_stages; s++)
            tasks += jobs[i].stages[s].tasks;
    return tasks;
}

static bool makes_nobody_late(const struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->n; i++)
        if (crowd->alone[i].met && !crowd->with[i].met)
            return false;
    return crowd->with[crowd->n].met;
}

/* Does the new job fit on the executors of the point? */
static enum pv_code try_point(const struct joint_question *question,
                              const struct curve *curve,
                              const struct curve_point *point,
                              int64_t each_bytes,
                              struct crowd *crowd,
                              struct arena *scratch,
                              bool *fits,
                              struct pv_error *err)
{
    struct joint_question asked = *question;
    asked.capped = true;
    asked.target.executors = point->executors;
    asked.target.cores_per_executor = curve->cores_per_executor;
    asked.predicted_duration_s = point->duration_s;
    *fits = question->memory == NULL || each_bytes <= question->memory->bytes / point->executors;
    if (!*fits)
        return PV_OK;
    asked.memory_bytes = question->memory == NULL ? 0 : each_bytes * point->executors;
    PV_TRY(make_new_job(&asked, scratch, &crowd->jobs[crowd->n], err));
    PV_TRY(edf_schedule(crowd->jobs, crowd->n + 1, question->cores, scratch, crowd->with, NULL,
                        NULL, err));
    *fits = makes_nobody_late(crowd);
    return PV_OK;
}

static enum pv_code try_points(const struct joint_question *question,
                               const struct curve *curve,
                               const struct advise_goal *goal,
                               const int64_t each_bytes[],
                               struct arena *scratch,
                               bool fits[],
                               bool *whole,
                               struct pv_error *err)
{
    struct crowd crowd;
    uint64_t spent = 0;
    PV_TRY(gather(question, scratch, &crowd, err));
    const uint64_t others = tasks_of_all(crowd.jobs, crowd.n);
    *whole = true;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        fits[i] = false;
        if (point->executors < goal->min_executors || point->executors > goal->max_executors)
            continue;
        spent += others + (uint64_t)(point->executors * curve->cores_per_executor);
        *whole = spent <= question->task_budget;
        if (!*whole)
            return PV_OK;
        struct arena_mark mark = arena_mark(scratch);
        enum pv_code code =
            try_point(question, curve, point, question->memory == NULL ? 0 : each_bytes[i], &crowd,
                      scratch, &fits[i], err);
        arena_rewind(scratch, mark);
        PV_TRY(code);
    }
    return PV_OK;
}

enum pv_code joint_feasibility_counts(const struct joint_question *question,
                                      const struct curve *curve,
                                      const struct advise_goal *goal,
                                      const int64_t each_bytes[],
                                      struct arena *scratch,
                                      bool fits[],
                                      bool *whole,
                                      struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = try_points(question, curve, goal, each_bytes, scratch, fits, whole, err);
    arena_rewind(scratch, mark);
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
        "first, and ends after %s%s; without them, on the same cores, it would end after "
        "%s. %s",
        question->cores, PLURAL(question->cores), question->n_running, PLURAL(question->n_running),
        quantity_duration(outcome->execution_s).text, verdict,
        quantity_duration(outcome->alone_s).text,
        question->capped ? "It has the recommended executors and no more."
                         : "The recommended executors are no cap in either case.");
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
    const size_t longest = outcome->launches.longest;
    launches_explain(&outcome->launches,
                     strview_of(longest < question->n_running ? names[longest] : "this job"),
                     &advice->reasons);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

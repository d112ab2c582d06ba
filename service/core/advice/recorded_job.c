#include "core/advice/recorded_job.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/advised_job.h"
#include "core/deadline/job_from_run.h"

const char *const job_overhead_words[] = {"replay", "idle_time", "given", "none", NULL};

static enum pv_code from_replay(const struct recorded_job_question *question,
                                struct arena *arena,
                                struct recorded_job *made,
                                struct pv_error *err)
{
    struct replay_target target = question->target;
    struct advised_job advised;
    const struct run *runs = question->runs;
    size_t n_runs = question->n_runs;
    if (isnan(target.problem_size))
        target.problem_size = runs[0].problem_size;
    if (!(target.problem_size > 0)) { /* unknown, and not asked for: the run at its own size */
        struct run *own = arena_alloc(arena, sizeof *own);
        if (own == NULL)
            return pv_no_memory(err);
        *own = runs[0];
        target.problem_size = own->problem_size = 1.0;
        runs = own;
        n_runs = 1;
    }
    PV_TRY(advised_job_make(runs, n_runs, &target, question->predicted_duration_s, arena, &advised,
                            err));
    made->run = advised.run;
    made->fixed_s = advised.fixed_s;
    made->overhead = JOB_OVERHEAD_REPLAY;
    return advised_job_delay(&advised, &target, arena, &made->job, err);
}

enum pv_code recorded_job_make(const struct recorded_job_question *question,
                               struct arena *arena,
                               struct recorded_job *made,
                               struct pv_error *err)
{
    struct recorded_job job = {.overhead = JOB_OVERHEAD_IDLE_TIME, .longer = (double)NAN};
    struct pv_error why = {0};
    enum pv_code code =
        question->idle_time ? PV_E_TOO_FEW : from_replay(question, arena, &job, &why);
    if (code == PV_E_TOO_FEW) {
        job.run = &question->runs[0];
        job.not_replayed = !question->idle_time;
        PV_TRY(edf_job_from_run(job.run, arena, &job.job, err));
        job.job.release_s = 0.0;
        job.job.deadline_s = 1.0;
    } else if (code != PV_OK) {
        return pv_fail(err, code, "%s", why.detail);
    }
    if (!isnan(question->overhead_s)) {
        job.job.overhead_per_task_s = question->overhead_s;
        job.overhead = JOB_OVERHEAD_GIVEN;
    }
    size_t n = question->idle_time || job.not_replayed ? 1 : question->n_runs;
    for (size_t i = 0; i < n; i++)
        warned_runs_add_run(&job.warned, &question->runs[i]);
    *made = job;
    return PV_OK;
}

enum pv_code recorded_job_block(int64_t cores,
                                double duration_s,
                                struct arena *arena,
                                struct edf_job *job,
                                struct pv_error *err)
{
    struct edf_stage *stage = arena_calloc(arena, 1, sizeof *stage);
    if (stage == NULL)
        return pv_no_memory(err);
    *stage = (struct edf_stage){.tasks = (size_t)cores, .task_duration_s = duration_s};
    *job = (struct edf_job){.deadline_s = 1.0, .stages = stage, .n_stages = 1};
    return PV_OK;
}

/* --- in words --- */

static size_t count_kind(const struct recorded_job jobs[], size_t n, bool blocks, size_t *first)
{
    size_t found = 0;
    for (size_t i = n; i-- > 0;) {
        if (blocks ? jobs[i].overhead == JOB_OVERHEAD_NONE : jobs[i].not_replayed) {
            found++;
            *first = i;
        }
    }
    return found;
}

static void name_jobs(struct finding *warning, struct strview name, size_t n, struct arena *arena)
{
    finding_count(warning, n);
    finding_text(warning, "job", arena_strndup(arena, name.at, name.n));
}

void recorded_jobs_warn(const struct strview names[],
                        const struct recorded_job jobs[],
                        size_t n,
                        struct findings *warnings)
{
    struct warned_runs warned = {.runs = 0};
    size_t first = 0;
    size_t found = count_kind(jobs, n, true, &first);
    struct finding *warning;
    if (found > 0) {
        const struct recorded_job *block = &jobs[first];
        warning = finding_add(
            warnings, "jobs_without_stages",
            "%zu job%s, such as %.*s, %s scheduled as a block of the predicted duration, because "
            "the recorded runs have no stages with task times: %.*s takes %s on %lld "
            "executor%s.",
            found, PLURAL(found), (int)names[first].n, names[first].at,
            PLURAL_VERB(found, "is", "are"), (int)names[first].n, names[first].at,
            quantity_duration(block->job.stages[0].task_duration_s).text,
            (long long)block->block_executors, PLURAL(block->block_executors));
        name_jobs(warning, names[first], found, warnings->arena);
        finding_number(warning, "predicted_duration_s", block->job.stages[0].task_duration_s);
        finding_number(warning, "executors", (double)block->block_executors);
    }
    found = count_kind(jobs, n, false, &first);
    if (found > 0) {
        warning = finding_add(
            warnings, "jobs_not_replayed",
            "The runs of %zu job%s, such as %.*s, cannot be replayed: the overhead of the tasks is "
            "all idle core time of the run, which is too much where stages leave cores idle.",
            found, PLURAL(found), (int)names[first].n, names[first].at);
        name_jobs(warning, names[first], found, warnings->arena);
    }
    for (size_t i = 0; i < n; i++)
        warned_runs_merge(&warned, &jobs[i].warned);
    warned_runs_explain(&warned, false, warnings);
}

static bool is_recorded(const struct recorded_job *job)
{
    return job->run != NULL || job->overhead == JOB_OVERHEAD_NONE;
}

/* The job that meets its deadline as predicted, and that an error makes late first; n: there
 * is none. */
static size_t find_least_sure(const struct edf_job jobs[],
                              const struct edf_outcome outcomes[],
                              const struct recorded_job recorded[],
                              size_t n)
{
    size_t found = n;
    double least = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double sure = jobs[i].deadline_s / (outcomes[i].execution_s * recorded[i].longer);
        if (!is_recorded(&recorded[i]) || !outcomes[i].met || isnan(sure) ||
            (found < n && sure >= least))
            continue;
        found = i;
        least = sure;
    }
    return found;
}

static void explain_error(struct strview name,
                          const struct edf_job *job,
                          const struct edf_outcome *outcome,
                          double longer,
                          struct findings *reasons)
{
    const double margin_percent = 100 * (job->deadline_s / outcome->execution_s - 1);
    const double longer_percent = 100 * (longer - 1);
    struct finding *note = finding_add(
        reasons, "durations_as_predicted",
        "Durations are taken as predicted, without their error: %.*s is late if it takes %s "
        "longer, "
        "and with a probability of %s a run takes %s longer than predicted, or more.",
        (int)name.n, name.at, quantity_percent(margin_percent).text,
        quantity_share(1 - RECORDED_CONFIDENCE).text, quantity_percent(longer_percent).text);
    finding_text(note, "job", arena_strndup(reasons->arena, name.at, name.n));
    finding_number(note, "margin_percent", margin_percent);
    finding_number(note, "error_percent", longer_percent);
    finding_number(note, "confidence", RECORDED_CONFIDENCE);
}

void recorded_jobs_explain(const struct strview names[],
                           const struct edf_job jobs[],
                           const struct edf_outcome outcomes[],
                           const struct recorded_job recorded[],
                           size_t n,
                           struct findings *reasons)
{
    const size_t least = find_least_sure(jobs, outcomes, recorded, n);
    bool met = true;
    for (size_t i = 0; i < n; i++)
        met = met && outcomes[i].met;
    if (least < n)
        explain_error(names[least], &jobs[least], &outcomes[least], recorded[least].longer,
                      reasons);
    else
        (void)finding_add(reasons, "durations_as_predicted",
                          "Durations are taken as recorded and predicted, without an error.");
    if (n > 1)
        (void)finding_add(
            reasons, "stages_share_cores",
            "Jobs share the cores stage by stage: a free core takes the next task of the job with "
            "the earliest deadline.%s",
            met ? " A batch of recommendations lets each job hold its recommended executors, and "
                  "may need more cores for the same jobs."
                : "");
}

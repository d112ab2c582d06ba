#include "core/advice/recorded_job.h"

#include <math.h>

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
    if (isnan(target.problem_size))
        target.problem_size = question->runs[0].problem_size;
    PV_TRY(advised_job_make(question->runs, question->n_runs, &target, (double)NAN, arena, &advised,
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
    struct recorded_job job = {.overhead = JOB_OVERHEAD_IDLE_TIME};
    struct pv_error why = {0};
    enum pv_code code =
        question->idle_time ? PV_E_TOO_FEW : from_replay(question, arena, &job, &why);
    if (code == PV_E_TOO_FEW) {
        job.run = &question->runs[0];
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

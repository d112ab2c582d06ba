#include "core/advice/first_stages.h"

#include "core/deadline/job_from_run.h"

/* The graphs of the runs; those that have none, or others than the first, are left out. */
static enum pv_code take_graphs(const struct run runs[],
                                size_t n,
                                struct arena *scratch,
                                struct replay alike[],
                                size_t *n_alike,
                                struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct pv_error why = {0};
        struct replay *made = &alike[*n_alike];
        *made = (struct replay){.run = &runs[i]};
        enum pv_code code = edf_job_from_run(&runs[i], scratch, &made->job, i == 0 ? err : &why);
        if (code != PV_OK && (i == 0 || code != PV_E_TOO_FEW))
            return i == 0 ? code : pv_fail(err, code, "%s", why.detail);
        made->graph = made->job.stages;
        bool sized =
            runs[i].problem_size > 0 && runs[i].executors >= 1 && runs[i].cores_per_executor >= 1;
        if (i == 0 && !sized)
            return pv_fail(err, PV_E_TOO_FEW, "the size of the run is unknown");
        if (code == PV_OK && sized && (i == 0 || replay_same_graph(&alike[0], made)))
            ++*n_alike;
    }
    return PV_OK;
}

static const struct run_stage *first_stages_find_stage(const struct run *run, int64_t id)
{
    for (size_t i = 0; i < run->n_stages; i++)
        if (run->stages[i].id == id)
            return &run->stages[i];
    return NULL;
}

static double sum_work(const struct edf_stage *stage)
{
    double sum = 0;
    if (stage->task_durations_s == NULL)
        return (double)stage->tasks * stage->task_duration_s;
    for (size_t t = 0; t < stage->tasks; t++)
        sum += stage->task_durations_s[t];
    return sum;
}

/* How many tasks stage s of the graph has on the target, by what all runs show. */
static double first_stages_count_tasks(const struct replay alike[],
                                       size_t n,
                                       size_t s,
                                       const struct replay_target *target,
                                       struct stage_sighting seen[])
{
    for (size_t i = 0; i < n; i++) {
        const struct run *run = alike[i].run;
        const struct edf_stage *stage = &alike[i].graph[s];
        seen[i] = (struct stage_sighting){.problem_size = run->problem_size,
                                          .executors = run->executors,
                                          .cores_per_executor = run->cores_per_executor,
                                          .tasks = stage->tasks,
                                          .work_s = sum_work(stage)};
    }
    struct stage_law law = stage_law_learn(seen, n);
    return stage_law_tasks(&law, &seen[0], target->problem_size, target->executors,
                           target->cores_per_executor);
}

static enum pv_code find_stages(const struct replay alike[],
                                size_t n,
                                const struct replay_target *target,
                                struct arena *scratch,
                                struct first_stage stages[],
                                size_t *n_stages,
                                struct pv_error *err)
{
    const struct run *run = alike[0].run;
    double growth = target->problem_size / run->problem_size;
    struct stage_sighting *seen = arena_array(scratch, n, sizeof *seen);
    if (seen == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < alike[0].job.n_stages; s++) {
        const struct edf_stage *edf = &alike[0].graph[s];
        const struct run_stage *stage = first_stages_find_stage(run, edf->id);
        if (edf->n_parents > 0 || edf->tasks == 0 || stage == NULL ||
            stage->metrics.input_bytes == 0)
            continue;
        if (stage->metrics.input_bytes == RUN_UNKNOWN)
            return pv_fail(err, PV_E_TOO_FEW,
                           "stage %lld of the run, one of its first, has no input_bytes",
                           (long long)stage->id);
        double tasks = first_stages_count_tasks(alike, n, s, target, seen);
        if (tasks > (double)(SIZE_MAX / 16))
            return pv_no_memory(err);
        stages[(*n_stages)++] =
            (struct first_stage){.id = stage->id,
                                 .name = stage->name,
                                 .tasks = (size_t)tasks,
                                 .input_bytes = (double)stage->metrics.input_bytes * growth};
    }
    return *n_stages > 0 ? PV_OK
                         : pv_fail(err, PV_E_TOO_FEW,
                                   "none of the first stages of the run reads from storage");
}

static enum pv_code find_of_run(const struct run runs[],
                                size_t n,
                                const struct replay_target *target,
                                struct arena *arena,
                                struct arena *scratch,
                                struct first_stage **stages,
                                size_t *n_stages,
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t n_alike = 0, found = 0;
    struct first_stage *made = NULL;
    struct replay *alike = arena_array(scratch, n, sizeof *alike);
    enum pv_code code =
        alike == NULL ? pv_no_memory(err) : take_graphs(runs, n, scratch, alike, &n_alike, err);
    if (code == PV_OK) {
        made = arena_array(arena, alike[0].job.n_stages, sizeof *made);
        code = made == NULL ? pv_no_memory(err)
                            : find_stages(alike, n_alike, target, scratch, made, &found, err);
    }
    arena_rewind(scratch, mark);
    if (code == PV_OK) {
        *stages = made;
        *n_stages = found;
    }
    return code;
}

enum pv_code first_stages_find(const struct run runs[],
                               size_t n,
                               const struct replay_target *target,
                               struct arena *arena,
                               struct arena *scratch,
                               struct first_stage **stages,
                               size_t *n_stages,
                               struct pv_error *err)
{
    struct pv_error first = {0};
    enum pv_code code = PV_E_TOO_FEW;
    for (size_t i = 0; i < n && code == PV_E_TOO_FEW; i++) {
        struct pv_error why = {0};
        code = find_of_run(&runs[i], n - i, target, arena, scratch, stages, n_stages, &why);
        if (i == 0 || code != PV_E_TOO_FEW)
            first = why;
    }
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", first.detail);
}

#include "core/deadline/job_from_run.h"

#include <math.h>
#include <string.h>

#include "core/history/task_sketch.h"

enum { NOT_KEPT = -1 };

/* Stages of a run ascend by id. Returns the position, or n_stages. */
static size_t job_from_run_find_stage(const struct run *run, int64_t id)
{
    size_t low = 0;
    size_t high = run->n_stages;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->stages[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->n_stages && run->stages[low].id == id ? low : run->n_stages;
}

/* The mean task duration: as it stands, or from the sum. NAN when neither is known. */
static double mean_task_s(const struct run_stage *stage)
{
    if (!isnan(stage->task_duration_s))
        return stage->task_duration_s;
    return stage->n_tasks > 0 ? stage->task_time_s / (double)stage->n_tasks : (double)NAN;
}

static enum pv_code
take_tasks(const struct run_stage *stage, struct edf_stage *out, struct pv_error *err)
{
    if (stage->n_tasks == RUN_UNKNOWN)
        return pv_fail(err, PV_E_TOO_FEW, "the number of tasks of stage %lld is not known",
                       (long long)stage->id);
    out->id = stage->id;
    out->tasks = (size_t)stage->n_tasks;
    out->task_durations_s = stage->task_durations_s;
    if (stage->task_durations_s != NULL || stage->n_tasks == 0)
        return PV_OK;
    out->task_duration_s = mean_task_s(stage);
    if (isnan(out->task_duration_s))
        return pv_fail(err, PV_E_TOO_FEW, "the task times of stage %lld are not known",
                       (long long)stage->id);
    return PV_OK;
}

/* A walk up from one stage to the nearest ancestors that ran. */
struct walk {
    const struct run *run;
    const ptrdiff_t *kept; /* by position in the run: index in the job, or NOT_KEPT */
    size_t *seen;          /* by position: 1 + the walk that came by last */
    size_t *stack;
    size_t number;
    size_t n;
};

static void push_parents(struct walk *walk, size_t position)
{
    const struct run_stage *stage = &walk->run->stages[position];
    for (size_t p = 0; p < stage->n_parents; p++) {
        size_t parent = job_from_run_find_stage(walk->run, stage->parents[p]);
        if (parent == walk->run->n_stages || walk->seen[parent] == walk->number)
            continue; /* never described, or met already */
        walk->seen[parent] = walk->number;
        walk->stack[walk->n++] = parent;
    }
}

/* Fills in parents (room for every stage); returns how many. */
static size_t collect_parents(struct walk *walk, size_t position, size_t parents[])
{
    size_t n = 0;
    walk->number++;
    walk->n = 0;
    push_parents(walk, position);
    while (walk->n > 0) {
        size_t at = walk->stack[--walk->n];
        if (walk->kept[at] != NOT_KEPT)
            parents[n++] = (size_t)walk->kept[at];
        else
            push_parents(walk, at);
    }
    return n;
}

static enum pv_code hand_on_parents(const struct run *run,
                                    const ptrdiff_t *kept,
                                    struct arena *arena,
                                    struct edf_stage *stages,
                                    struct pv_error *err)
{
    struct walk walk = {.run = run, .kept = kept};
    walk.seen = arena_calloc(arena, run->n_stages, sizeof *walk.seen);
    walk.stack = arena_array(arena, run->n_stages, sizeof *walk.stack);
    size_t *found = arena_array(arena, run->n_stages, sizeof *found);
    if (walk.seen == NULL || walk.stack == NULL || found == NULL)
        return pv_no_memory(err);
    for (size_t at = 0; at < run->n_stages; at++) {
        if (kept[at] == NOT_KEPT)
            continue;
        size_t n = collect_parents(&walk, at, found);
        size_t *own = arena_array(arena, n, sizeof *own);
        if (own == NULL)
            return pv_no_memory(err);
        if (n > 0)
            memcpy(own, found, n * sizeof *own);
        stages[kept[at]].parents = own;
        stages[kept[at]].n_parents = n;
    }
    return PV_OK;
}

/* `(duration - serialized/K_run) / (tasks/K_run)`, never below 0; 0 where the run lacks them. */
static double overhead_per_task(const struct run *run, const struct edf_job *job)
{
    if (run->executors < 1 || run->cores_per_executor < 1 || isnan(run->duration_s))
        return 0;
    double cores = (double)run->executors * (double)run->cores_per_executor;
    double serialized = 0;
    double tasks = 0;
    for (size_t s = 0; s < job->n_stages; s++) {
        const struct edf_stage *stage = &job->stages[s];
        tasks += (double)stage->tasks;
        if (stage->task_durations_s == NULL)
            serialized += (double)stage->tasks * stage->task_duration_s;
        else
            serialized += task_time_sum(stage->task_durations_s, stage->tasks);
    }
    if (tasks <= 0)
        return 0;
    return fmax(0, (run->duration_s - serialized / cores) / (tasks / cores));
}

enum pv_code edf_job_from_run(const struct run *run,
                              struct arena *arena,
                              struct edf_job *job,
                              struct pv_error *err)
{
    struct edf_job made = {0};
    struct edf_stage *stages = arena_calloc(arena, run->n_stages, sizeof *stages);
    ptrdiff_t *kept = arena_array(arena, run->n_stages, sizeof *kept);
    if (stages == NULL || kept == NULL)
        return pv_no_memory(err);
    for (size_t at = 0; at < run->n_stages; at++) {
        kept[at] = NOT_KEPT;
        if (run->stages[at].skipped)
            continue;
        PV_TRY(take_tasks(&run->stages[at], &stages[made.n_stages], err));
        kept[at] = (ptrdiff_t)made.n_stages++;
    }
    if (made.n_stages == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the run has no stages that ran");
    PV_TRY(hand_on_parents(run, kept, arena, stages, err));
    made.stages = stages;
    made.overhead_per_task_s = overhead_per_task(run, &made);
    job->stages = made.stages;
    job->n_stages = made.n_stages;
    job->overhead_per_task_s = made.overhead_per_task_s;
    return PV_OK;
}

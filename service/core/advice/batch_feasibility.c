#include "core/advice/batch_feasibility.h"

#include <math.h>

#include "core/deadline/clairvoyant_edf.h"
#include "core/history/run.h"

/* Later than any job ends, and finite, as schedules compute with it. */
static const double no_deadline_s = 1e12;

struct table {
    const struct edf_memory *memory;
    struct edf_job *jobs;
    struct edf_stage *stages; /* one a job */
    struct edf_outcome *outcomes;
    size_t n;
};

static bool is_scheduled(const struct batch_job *job, const struct edf_memory *memory)
{
    return job->cores != RUN_UNKNOWN && !isnan(job->duration_s) &&
           (memory == NULL || job->memory_bytes <= memory->bytes);
}

static bool
make_table(const struct batch_job jobs[], size_t n, struct arena *scratch, struct table *table)
{
    table->jobs = arena_calloc(scratch, n, sizeof *table->jobs);
    table->stages = arena_calloc(scratch, n, sizeof *table->stages);
    table->outcomes = arena_calloc(scratch, n, sizeof *table->outcomes);
    table->n = 0;
    if (table->jobs == NULL || table->stages == NULL || table->outcomes == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_scheduled(&jobs[i], table->memory))
            continue;
        struct edf_stage *stage = &table->stages[table->n];
        *stage = (struct edf_stage){.tasks = (size_t)jobs[i].cores,
                                    .task_duration_s = jobs[i].duration_s};
        table->jobs[table->n++] = (struct edf_job){
            .release_s = jobs[i].release_s,
            .deadline_s = isnan(jobs[i].deadline_s) ? no_deadline_s : jobs[i].deadline_s,
            .stages = stage,
            .n_stages = 1,
            .memory = table->memory,
            .memory_bytes = jobs[i].memory_bytes == RUN_UNKNOWN ? 0 : jobs[i].memory_bytes};
    }
    return true;
}

static void read_outcomes(const struct table *table, struct batch_job jobs[], size_t n, bool *met)
{
    size_t k = 0;
    *met = true;
    for (size_t i = 0; i < n; i++) {
        const bool scheduled = is_scheduled(&jobs[i], table->memory);
        jobs[i].launched_s = scheduled ? table->outcomes[k].launched_s : (double)NAN;
        jobs[i].completion_s = scheduled ? table->outcomes[k].completion_s : (double)NAN;
        jobs[i].met = scheduled && (isnan(jobs[i].deadline_s) || table->outcomes[k].met);
        *met = *met && jobs[i].met;
        k += scheduled;
    }
}

static enum pv_code schedule(struct batch_job jobs[],
                             size_t n,
                             size_t cores,
                             const struct edf_memory *memory,
                             uint64_t task_budget,
                             struct arena *scratch,
                             struct batch_outcome *outcome,
                             struct pv_error *err)
{
    struct table table = {.memory = memory};
    struct edf_remedies remedies;
    if (!make_table(jobs, n, scratch, &table))
        return pv_no_memory(err);
    if (table.n > 0)
        PV_TRY(edf_schedule(table.jobs, table.n, cores, scratch, table.outcomes, NULL, NULL, err));
    read_outcomes(&table, jobs, n, &outcome->feasible);
    outcome->launches = launches_count(table.jobs, table.outcomes, table.n);
    if (outcome->feasible || table.n < n)
        return PV_OK;
    PV_TRY(edf_find_remedies(table.jobs, table.n, cores, task_budget, scratch, scratch, &remedies,
                             err));
    if (remedies.has_min_total_cores)
        outcome->min_total_cores = (int64_t)remedies.min_total_cores;
    return PV_OK;
}

enum pv_code batch_feasibility_check(struct batch_job jobs[],
                                     size_t n,
                                     size_t cores,
                                     const struct edf_memory *memory,
                                     uint64_t task_budget,
                                     struct arena *scratch,
                                     struct batch_outcome *outcome,
                                     struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    *outcome = (struct batch_outcome){.min_total_cores = RUN_UNKNOWN};
    enum pv_code code = schedule(jobs, n, cores, memory, task_budget, scratch, outcome, err);
    arena_rewind(scratch, mark);
    return code;
}

void batch_feasibility_explain(const struct batch_outcome *outcome,
                               size_t n,
                               struct findings *reasons)
{
    const char *other =
        " The check of feasibility lets jobs share the cores stage by stage, and may find that all "
        "deadlines are met.";
    (void)finding_add(reasons, "jobs_hold_executors",
                      "Each job holds the executors that are recommended for it during its whole "
                      "predicted duration.%s",
                      outcome->feasible || n < 2 ? "" : other);
}

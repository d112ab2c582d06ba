/*
 * Spark: delay scheduling among jobs treated fairly (M. Zaharia et al., "Delay scheduling", EuroSys
 * 2010) with Spark's own speculation (spark.locality.wait, spark.speculation.quantile and
 * .multiplier of its configuration).
 *
 * Observes which clusters hold a task's inputs, idle slots, how long tasks have waited, and of each
 * job's stage how many tasks are done and the median of their durations; not the speeds of clusters
 * and links.
 *
 * One copy at a time goes to the job that uses the fewest slots (ties: in order). Of that job first
 * the tasks that can run in a cluster of one of their inputs (a task without inputs: anywhere),
 * then, anywhere, those that have waited for wait_s, then speculation: a task with one running
 * copy, once `quantile` of its stage is done, gets a second one in another cluster when the first
 * has run longer than `multiplier` times the median; near an input where that is possible. Among
 * clusters the one with the most idle slots, as Spark spreads tasks.
 *
 * Spark counts the wait per job, from the last task that it launched near its input; here it counts
 * per task.
 */
#include <math.h>

#include "core/geo/planner.h"
#include "core/geo/search.h"

/* Indices into the parameters. */
enum { WAIT_S, QUANTILE, MULTIPLIER };

/* Spark does not speculate on tasks younger than this (spark.speculation.minTaskRuntime). */
static const double YOUNG_S = 0.1;

enum phase { NEAR, ANYWHERE, SPECULATION, OVER };

/* How far the tasks of a job have been gone through. */
struct cursor {
    enum phase phase;
    size_t task;
};

/* --- clusters --- */

/* The cluster, where it can take the task and has more idle slots than the best so far. */
static enum pv_code spark_consider(struct allocation *allocation,
                                   const struct geo_task *task,
                                   const struct task_allocation *state,
                                   size_t cluster,
                                   struct candidate *best)
{
    double idle = (double)allocation->idle[cluster];
    bool more = best->found ? idle > best->value || (idle == best->value && cluster < best->cluster)
                            : idle > 0;
    if (!more || geo_rates_upper_bounds(allocation->rates, state->task_class)[cluster] <= 0 ||
        allocation_has_copy(state, cluster))
        return PV_OK;
    double rate = geo_rates_mean(allocation->rates, state->task_class, cluster);
    if (rate < 0)
        return PV_E_MEMORY;
    if (allocation_passes_gates(allocation, task, cluster, rate))
        *best = (struct candidate){true, cluster, rate, idle};
    return PV_OK;
}

static enum pv_code
find_anywhere(struct allocation *allocation, size_t job, size_t index, struct candidate *candidate)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    enum pv_code code = PV_OK;
    *candidate = (struct candidate){.found = false};
    for (size_t m = 0; m < allocation->problem->n_clusters && code == PV_OK; m++)
        code = spark_consider(allocation, task, &allocation->tasks[job][index], m, candidate);
    return code;
}

static enum pv_code
find_near(struct allocation *allocation, size_t job, size_t index, struct candidate *candidate)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    enum pv_code code = PV_OK;
    if (task->n_inputs == 0)
        return find_anywhere(allocation, job, index, candidate);
    *candidate = (struct candidate){.found = false};
    for (size_t i = 0; i < task->n_inputs && code == PV_OK; i++)
        code = spark_consider(allocation, task, &allocation->tasks[job][index], task->inputs[i],
                              candidate);
    return code;
}

/* --- tasks --- */

static bool has_waited(const struct allocation *allocation, const struct geo_task *task)
{
    double waited_s = isnan(task->waited_s) ? 0 : task->waited_s;
    return waited_s >= allocation->parameters[WAIT_S];
}

static enum pv_code
try_near(struct allocation *allocation, size_t job, size_t index, struct candidate *candidate)
{
    *candidate = (struct candidate){.found = false};
    return allocation->tasks[job][index].n > 0 ? PV_OK
                                               : find_near(allocation, job, index, candidate);
}

/* A task that gets nothing here waits. */
static enum pv_code
try_anywhere(struct allocation *allocation, size_t job, size_t index, struct candidate *candidate)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    enum pv_code code = PV_OK;
    *candidate = (struct candidate){.found = false};
    if (state->n > 0)
        return PV_OK;
    if (has_waited(allocation, task))
        code = find_anywhere(allocation, job, index, candidate);
    if (code != PV_OK || candidate->found)
        return code;
    state->waits = true;
    code = search_reason(allocation, task, state, &state->reason);
    /* Slots and gates would do: it waits for its turn near an input. */
    if (state->reason == GEO_RATE_BELOW_FLOOR)
        state->reason = GEO_LOCALITY;
    return code;
}

static bool is_speculatable(const struct allocation *allocation, size_t job, size_t index)
{
    const double *parameters = allocation->parameters;
    const struct geo_job *of = &allocation->problem->jobs[job];
    const struct geo_task *task = &of->tasks[index];
    double enough = fmax(1, floor(parameters[QUANTILE] * (double)of->stage_tasks));
    if (of->stage_tasks == 0 || (double)of->done_tasks < enough || !(of->median_duration_s > 0))
        return false;
    return task->n_copies == 1 && allocation->tasks[job][index].n == 1 &&
           task->copies[0].elapsed_s >
               fmax(parameters[MULTIPLIER] * of->median_duration_s, YOUNG_S);
}

static enum pv_code
speculate(struct allocation *allocation, size_t job, size_t index, struct candidate *candidate)
{
    *candidate = (struct candidate){.found = false};
    if (!is_speculatable(allocation, job, index))
        return PV_OK;
    enum pv_code code = find_near(allocation, job, index, candidate);
    return code == PV_OK && !candidate->found ? find_anywhere(allocation, job, index, candidate)
                                              : code;
}

/* --- jobs --- */

static enum pv_code try_task(struct allocation *allocation,
                             size_t job,
                             enum phase phase,
                             size_t index,
                             struct candidate *candidate)
{
    if (phase == NEAR)
        return try_near(allocation, job, index, candidate);
    if (phase == ANYWHERE)
        return try_anywhere(allocation, job, index, candidate);
    return speculate(allocation, job, index, candidate);
}

/* On to the job's next copy; what is not to be had now is not to be had later, as slots only go. */
static enum pv_code advance(struct allocation *allocation, size_t job, struct cursor *cursor)
{
    while (cursor->phase != OVER) {
        if (cursor->task == allocation->problem->jobs[job].n_tasks) {
            *cursor = (struct cursor){cursor->phase + 1, 0};
            continue;
        }
        size_t index = cursor->task++;
        struct candidate candidate;
        PV_TRY(try_task(allocation, job, cursor->phase, index, &candidate));
        int64_t round = cursor->phase == SPECULATION ? 2 : 1;
        if (candidate.found)
            return allocation_grant(allocation, job, index, round, &candidate) ? PV_OK
                                                                               : PV_E_MEMORY;
    }
    return PV_OK;
}

/* The job that is not through and uses the fewest slots; SIZE_MAX: none. */
static size_t find_poorest(const struct allocation *allocation, const struct cursor cursors[])
{
    size_t best = SIZE_MAX;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        if (cursors[j].phase != OVER &&
            (best == SIZE_MAX || allocation->used[j] < allocation->used[best]))
            best = j;
    return best;
}

static enum pv_code spark_run(struct allocation *allocation)
{
    struct cursor *cursors =
        arena_calloc(allocation->arena, allocation->problem->n_jobs, sizeof *cursors);
    if (cursors == NULL)
        return PV_E_MEMORY;
    for (size_t job; (job = find_poorest(allocation, cursors)) != SIZE_MAX;) {
        PV_TRY(advance(allocation, job, &cursors[job]));
    }
    return PV_OK;
}

static const struct geo_parameter parameters[] = {
    [WAIT_S] = {"wait_s", 0, 1e12, .standard = 3},
    [QUANTILE] = {"quantile", 0, 1, .standard = 0.75},
    [MULTIPLIER] = {"multiplier", 0, 1e6, .standard = 1.5}};

const struct geo_planner geo_planner_spark = {
    .name = "spark",
    .run = spark_run,
    .parameters = parameters,
    .n_parameters = sizeof parameters / sizeof *parameters,
    .observes_running_copies = true,
    .observes_time = true,
};

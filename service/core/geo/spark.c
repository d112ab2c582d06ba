#include "core/geo/spark.h"

#include <math.h>

#include "core/geo/search.h"

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
static enum pv_code consider(struct desk *desk,
                             const struct geo_task *task,
                             const struct state *state,
                             size_t cluster,
                             struct offer *best)
{
    double idle = (double)desk->idle[cluster];
    bool more = best->found ? idle > best->value || (idle == best->value && cluster < best->cluster)
                            : idle > 0;
    if (!more || geo_rates_limits(desk->rates, state->sort)[cluster] <= 0 ||
        desk_has_copy(state, cluster))
        return PV_OK;
    double rate = geo_rates_mean(desk->rates, state->sort, cluster);
    if (rate < 0)
        return PV_E_MEMORY;
    if (desk_passes_gates(desk, task, cluster, rate))
        *best = (struct offer){true, cluster, rate, idle};
    return PV_OK;
}

static enum pv_code find_anywhere(struct desk *desk, size_t job, size_t index, struct offer *offer)
{
    const struct geo_task *task = desk_task(desk, job, index);
    enum pv_code code = PV_OK;
    *offer = (struct offer){.found = false};
    for (size_t m = 0; m < desk->problem->n_clusters && code == PV_OK; m++)
        code = consider(desk, task, &desk->states[job][index], m, offer);
    return code;
}

static enum pv_code find_near(struct desk *desk, size_t job, size_t index, struct offer *offer)
{
    const struct geo_task *task = desk_task(desk, job, index);
    enum pv_code code = PV_OK;
    if (task->n_inputs == 0)
        return find_anywhere(desk, job, index, offer);
    *offer = (struct offer){.found = false};
    for (size_t i = 0; i < task->n_inputs && code == PV_OK; i++)
        code = consider(desk, task, &desk->states[job][index], task->inputs[i], offer);
    return code;
}

/* --- tasks --- */

static bool has_waited(const struct desk *desk, const struct geo_task *task)
{
    double waited_s = isnan(task->waited_s) ? 0 : task->waited_s;
    return waited_s >= desk->terms->spark.wait_s;
}

static enum pv_code try_near(struct desk *desk, size_t job, size_t index, struct offer *offer)
{
    *offer = (struct offer){.found = false};
    return desk->states[job][index].n > 0 ? PV_OK : find_near(desk, job, index, offer);
}

/* A task that gets nothing here waits. */
static enum pv_code try_anywhere(struct desk *desk, size_t job, size_t index, struct offer *offer)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    enum pv_code code = PV_OK;
    *offer = (struct offer){.found = false};
    if (state->n > 0)
        return PV_OK;
    if (has_waited(desk, task))
        code = find_anywhere(desk, job, index, offer);
    if (code != PV_OK || offer->found)
        return code;
    state->waits = true;
    code = search_reason(desk, task, state, &state->reason);
    /* Slots and gates would do: it waits for its turn near an input. */
    if (state->reason == GEO_RATE_BELOW_FLOOR)
        state->reason = GEO_LOCALITY;
    return code;
}

static bool is_speculatable(const struct desk *desk, size_t job, size_t index)
{
    const struct spark_terms *terms = &desk->terms->spark;
    const struct geo_job *of = &desk->problem->jobs[job];
    const struct geo_task *task = &of->tasks[index];
    double enough = fmax(1, floor(terms->quantile * (double)of->stage_tasks));
    if (of->stage_tasks == 0 || (double)of->done_tasks < enough || !(of->median_duration_s > 0))
        return false;
    return task->n_copies == 1 && desk->states[job][index].n == 1 &&
           task->copies[0].elapsed_s > fmax(terms->multiplier * of->median_duration_s, YOUNG_S);
}

static enum pv_code speculate(struct desk *desk, size_t job, size_t index, struct offer *offer)
{
    *offer = (struct offer){.found = false};
    if (!is_speculatable(desk, job, index))
        return PV_OK;
    enum pv_code code = find_near(desk, job, index, offer);
    return code == PV_OK && !offer->found ? find_anywhere(desk, job, index, offer) : code;
}

/* --- jobs --- */

static enum pv_code
try_task(struct desk *desk, size_t job, enum phase phase, size_t index, struct offer *offer)
{
    if (phase == NEAR)
        return try_near(desk, job, index, offer);
    if (phase == ANYWHERE)
        return try_anywhere(desk, job, index, offer);
    return speculate(desk, job, index, offer);
}

/* On to the job's next copy; what is not to be had now is not to be had later, as slots only go. */
static enum pv_code advance(struct desk *desk, size_t job, struct cursor *cursor)
{
    while (cursor->phase != OVER) {
        if (cursor->task == desk->problem->jobs[job].n_tasks) {
            *cursor = (struct cursor){cursor->phase + 1, 0};
            continue;
        }
        size_t index = cursor->task++;
        struct offer offer;
        enum pv_code code = try_task(desk, job, cursor->phase, index, &offer);
        if (code != PV_OK)
            return code;
        int64_t round = cursor->phase == SPECULATION ? 2 : 1;
        if (offer.found)
            return desk_grant(desk, job, index, round, &offer) ? PV_OK : PV_E_MEMORY;
    }
    return PV_OK;
}

/* The job that is not through and uses the fewest slots; SIZE_MAX: none. */
static size_t find_poorest(const struct desk *desk, const struct cursor cursors[])
{
    size_t best = SIZE_MAX;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        if (cursors[j].phase != OVER && (best == SIZE_MAX || desk->used[j] < desk->used[best]))
            best = j;
    return best;
}

enum pv_code spark_run(struct desk *desk)
{
    struct cursor *cursors = arena_calloc(desk->arena, desk->problem->n_jobs, sizeof *cursors);
    if (cursors == NULL)
        return PV_E_MEMORY;
    for (size_t job; (job = find_poorest(desk, cursors)) != SIZE_MAX;) {
        enum pv_code code = advance(desk, job, &cursors[job]);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

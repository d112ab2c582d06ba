#include "core/deadline/clairvoyant_edf_internal.h"

#include <math.h>
#include <stdlib.h>

/* Jobs and their stages as flat arrays with one numbering, which every replay then shares. */

struct sortable {
    double key;
    int64_t id;
    uint32_t index;
};

static int edf_plan_compare(const void *a, const void *b)
{
    const struct sortable *x = a;
    const struct sortable *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Neumaier's compensated sum: a million rounding errors must not decide the utilization. */
static double sum_of(const double values[], size_t n, double added)
{
    double sum = 0;
    double lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = values[i] + added;
        double next = sum + term;
        lost += fabs(sum) >= fabs(term) ? (sum - next) + term : (term - next) + sum;
        sum = next;
    }
    return sum + lost;
}

static void measure_stage(const struct edf_stage *stage, struct edf_plan_stage *out)
{
    if (stage->tasks == 0)
        return;
    if (stage->task_durations_s == NULL) {
        out->work_s = out->uniform_s * (double)stage->tasks;
        out->shortest_s = out->longest_s = out->uniform_s;
        return;
    }
    double shortest = stage->task_durations_s[0];
    double longest = shortest;
    for (size_t i = 1; i < stage->tasks; i++) {
        shortest = fmin(shortest, stage->task_durations_s[i]);
        longest = fmax(longest, stage->task_durations_s[i]);
    }
    out->shortest_s = shortest + out->overhead_s;
    out->longest_s = longest + out->overhead_s;
    out->work_s = sum_of(stage->task_durations_s, stage->tasks, out->overhead_s);
}

static void
flatten_job(const struct edf_job *job, uint32_t j, uint32_t first, struct edf_plan *plan)
{
    plan->jobs[j] =
        (struct edf_plan_job){.release_s = job->release_s,
                              .memory_bytes = job->memory == NULL ? 0 : job->memory_bytes,
                              .runs_already = job->runs_already,
                              .first_stage = first,
                              .n_stages = (uint32_t)job->n_stages};
    if (plan->jobs[j].memory_bytes > 0)
        plan->memory = job->memory;
    for (size_t s = 0; s < job->n_stages; s++) {
        const struct edf_stage *stage = &job->stages[s];
        struct edf_plan_stage *out = &plan->stages[first + s];
        *out = (struct edf_plan_stage){
            .durations = stage->task_durations_s,
            .uniform_s = stage->task_duration_s + job->overhead_per_task_s,
            .overhead_s = job->overhead_per_task_s,
            .delay_s = stage->delay_s,
            .tasks = stage->tasks,
            .job = j,
            .n_parents = (uint32_t)stage->n_parents,
        };
        measure_stage(stage, out);
        plan->n_delayed += stage->delay_s > 0;
        plan->tasks += stage->tasks;
        plan->work_s += out->work_s;
    }
}

/* order_in_job, by stage id. */
static void order_stages(const struct edf_job *job,
                         uint32_t first,
                         struct sortable *work,
                         struct edf_plan *plan)
{
    for (size_t s = 0; s < job->n_stages; s++)
        work[s] = (struct sortable){.id = job->stages[s].id, .index = (uint32_t)s};
    qsort(work, job->n_stages, sizeof *work, edf_plan_compare);
    for (size_t at = 0; at < job->n_stages; at++)
        plan->stages[first + work[at].index].order_in_job = (uint32_t)at;
}

/* The lists of parents turned round, in one array: first_child counts, then points. */
static void turn_parents(const struct edf_job jobs[], struct edf_plan *plan)
{
    for (size_t j = 0; j < plan->n_jobs; j++)
        for (size_t s = 0; s < jobs[j].n_stages; s++)
            for (size_t p = 0; p < jobs[j].stages[s].n_parents; p++)
                plan->stages[plan->jobs[j].first_stage + jobs[j].stages[s].parents[p]]
                    .first_child++;
    size_t end = 0;
    for (size_t s = 0; s < plan->n_stages; s++) {
        end += plan->stages[s].first_child;
        plan->stages[s].first_child = end;
    }
    plan->stages[plan->n_stages].first_child = end;
    for (size_t j = 0; j < plan->n_jobs; j++)
        for (size_t s = jobs[j].n_stages; s-- > 0;)
            for (size_t p = 0; p < jobs[j].stages[s].n_parents; p++) {
                size_t parent = plan->jobs[j].first_stage + jobs[j].stages[s].parents[p];
                plan->children[--plan->stages[parent].first_child] =
                    plan->jobs[j].first_stage + (uint32_t)s;
            }
}

/* Parents before children; false: a cycle. left: scratch, one a stage. */
static bool sort_topologically(struct edf_plan *plan, uint32_t *left)
{
    size_t n = 0;
    for (size_t s = 0; s < plan->n_stages; s++) {
        left[s] = plan->stages[s].n_parents;
        if (left[s] == 0)
            plan->topological[n++] = (uint32_t)s;
    }
    for (size_t at = 0; at < n; at++) {
        const struct edf_plan_stage *stage = &plan->stages[plan->topological[at]];
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++)
            if (--left[plan->children[c]] == 0)
                plan->topological[n++] = plan->children[c];
    }
    return n == plan->n_stages;
}

static void order_releases(const struct edf_plan *plan, struct sortable *work)
{
    for (size_t j = 0; j < plan->n_jobs; j++)
        work[j] = (struct sortable){.key = plan->jobs[j].release_s, .index = (uint32_t)j};
    qsort(work, plan->n_jobs, sizeof *work, edf_plan_compare);
    for (size_t j = 0; j < plan->n_jobs; j++)
        plan->by_release[j] = work[j].index;
}

struct sizes {
    size_t stages;
    size_t edges;
    size_t sortables;
};

/* False: there are more stages than can be numbered. Every job has at least one. */
static bool edf_plan_measure(const struct edf_job jobs[], size_t n_jobs, struct sizes *sizes)
{
    *sizes = (struct sizes){.sortables = n_jobs};
    for (size_t j = 0; j < n_jobs; j++) {
        sizes->stages += jobs[j].n_stages;
        if (jobs[j].n_stages > sizes->sortables)
            sizes->sortables = jobs[j].n_stages;
    }
    if (sizes->stages >= UINT32_MAX)
        return false;
    for (size_t j = 0; j < n_jobs; j++)
        for (size_t s = 0; s < jobs[j].n_stages; s++)
            sizes->edges += jobs[j].stages[s].n_parents;
    return true;
}

enum pv_code edf_plan_make(const struct edf_job jobs[],
                           size_t n_jobs,
                           struct arena *arena,
                           struct edf_plan *plan,
                           struct pv_error *err)
{
    struct sizes sizes;
    if (!edf_plan_measure(jobs, n_jobs, &sizes))
        return pv_fail(err, PV_E_LIMIT, "more than 2^32 - 1 stages");
    struct edf_plan made = {.n_jobs = n_jobs, .n_stages = sizes.stages};
    made.stages = arena_calloc(arena, sizes.stages + 1, sizeof *made.stages);
    made.jobs = arena_array(arena, n_jobs, sizeof *made.jobs);
    made.children = arena_array(arena, sizes.edges, sizeof *made.children);
    made.topological = arena_array(arena, sizes.stages, sizeof *made.topological);
    made.by_release = arena_array(arena, n_jobs, sizeof *made.by_release);
    struct sortable *work = arena_array(arena, sizes.sortables, sizeof *work);
    uint32_t *left = arena_array(arena, sizes.stages, sizeof *left);
    if (made.stages == NULL || made.jobs == NULL || made.children == NULL ||
        made.topological == NULL || made.by_release == NULL || work == NULL || left == NULL)
        return pv_no_memory(err);
    uint32_t first = 0;
    for (size_t j = 0; j < n_jobs; j++) {
        flatten_job(&jobs[j], (uint32_t)j, first, &made);
        order_stages(&jobs[j], first, work, &made);
        first += (uint32_t)jobs[j].n_stages;
    }
    for (size_t j = 0; j < n_jobs; j++)
        if (made.memory != NULL && made.jobs[j].memory_bytes > made.memory->bytes)
            return pv_fail(err, PV_E_DOMAIN, "a job needs more memory than there is");
    turn_parents(jobs, &made);
    order_releases(&made, work);
    if (!sort_topologically(&made, left))
        return pv_fail(err, PV_E_DOMAIN, "the stages of a job depend on each other in a circle");
    *plan = made;
    return PV_OK;
}

void edf_plan_ideal(const struct edf_plan *plan, double starts_s[], double completions_s[])
{
    for (size_t j = 0; j < plan->n_jobs; j++)
        completions_s[j] = plan->jobs[j].release_s;
    for (size_t s = 0; s < plan->n_stages; s++)
        starts_s[s] = plan->jobs[plan->stages[s].job].release_s;
    /* Until a stage's turn comes, starts_s holds when its last parent ends. */
    for (size_t at = 0; at < plan->n_stages; at++) {
        const struct edf_plan_stage *stage = &plan->stages[plan->topological[at]];
        starts_s[plan->topological[at]] += stage->delay_s;
        double end = starts_s[plan->topological[at]] + stage->longest_s;
        completions_s[stage->job] = fmax(completions_s[stage->job], end);
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++)
            starts_s[plan->children[c]] = fmax(starts_s[plan->children[c]], end);
    }
}

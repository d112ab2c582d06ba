/* Plans of slots (FRESH static) against figures that others computed: golden/vectors/slot-plans. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/slots/fresh_plan.h"
#include "vectors.h"

enum { JOBS_MAX = 64, SWEEP_MAX = 16 };

static struct vectors_figures figures;

static void expect_split(const char *where, json_t *want, const struct fresh_split *split)
{
    vectors_expect(&figures, where, want, "map_slots", (double)split->map_slots);
    vectors_expect(&figures, where, want, "reduce_slots", (double)split->reduce_slots);
    vectors_expect(&figures, where, want, "makespan_s", split->makespan_s);
}

/* Names stand where the plan has indices. */
static void
expect_order(const char *where, json_t *asked, json_t *want, const struct fresh_plan *plan)
{
    size_t i;
    json_t *name;
    json_array_foreach(want, i, name)
    {
        json_t *job = json_array_get(asked, plan->order[i]);
        figures.compared++;
        if (json_equal(name, json_object_get(job, "name")))
            continue;
        figures.differ++;
        printf("# %s: job %zu of the order is not %s\n", where, i, json_string_value(name));
    }
}

static void expect_jobs(const char *where, json_t *want, const struct fresh_job_times times[])
{
    size_t i;
    json_t *job;
    json_array_foreach(want, i, job)
    {
        vectors_expect(&figures, where, job, "start_s", times[i].start_s);
        vectors_expect(&figures, where, job, "map_end_s", times[i].map_end_s);
        vectors_expect(&figures, where, job, "reduce_start_s", times[i].reduce_start_s);
        vectors_expect(&figures, where, job, "finish_s", times[i].finish_s);
    }
}

static void expect_sensitivity(const char *where, json_t *want, const struct fresh_sensitivity *got)
{
    vectors_expect(&figures, where, want, "map_factor", got->map_factor);
    vectors_expect(&figures, where, want, "reduce_factor", got->reduce_factor);
    vectors_expect(&figures, where, want, "best_map_slots", (double)got->best_map_slots);
    vectors_expect(&figures, where, want, "best_makespan_s", got->best_makespan_s);
    vectors_expect(&figures, where, want, "makespan_s", got->makespan_s);
    vectors_expect(&figures, where, want, "regret_percent", got->regret_percent);
}

static void expect_plan(const char *file, size_t slots, json_t *want, const struct fresh_plan *plan)
{
    size_t i;
    json_t *item;
    json_t *splits = json_object_get(want, "splits");
    expect_split(file, want, &plan->best);
    vectors_expect(&figures, file, want, "fairness", plan->fairness);
    expect_jobs(file, json_object_get(want, "jobs"), plan->times);
    if (json_array_size(splits) != plan->n_splits)
        figures.differ++;
    json_array_foreach(splits, i, item)
    {
        const struct fresh_split split = {i + 1, slots - i - 1, plan->makespan_s[i], (double)NAN};
        expect_split(file, item, &split);
    }
    if (json_object_get(want, "per_node") != NULL)
        expect_split(file, json_object_get(want, "per_node"), &plan->per_node);
    json_array_foreach(json_object_get(want, "sweep"), i, item)
    {
        const struct fresh_sweep_point *point = &plan->sweep[i];
        vectors_expect(&figures, file, item, "concurrency", (double)point->concurrency);
        expect_split(file, item, &point->best);
        vectors_expect(&figures, file, item, "fairness", point->fairness);
    }
    json_array_foreach(json_object_get(want, "sensitivity"), i, item)
        expect_sensitivity(file, item, &plan->sensitivity[i]);
}

static bool run_file(const char *file, json_t *vector)
{
    json_t *request = json_object_get(vector, "request");
    json_t *want = json_object_get(vector, "expect");
    json_t *given = json_object_get(request, "jobs");
    json_t *sweep = json_object_get(request, "sweep");
    const char *order = json_string_value(json_object_get(request, "order"));
    struct fresh_work jobs[JOBS_MAX];
    size_t concurrencies[SWEEP_MAX];
    struct fresh_plan plan;
    struct arena arena;
    size_t i;
    json_t *item;
    const struct fresh_plan_terms terms = {
        .jobs = jobs,
        .n = json_array_size(given),
        .slots = (size_t)vectors_number(request, "slots", 0),
        .concurrency = (size_t)vectors_number(request, "concurrency", 0),
        .johnson = order != NULL && strcmp(order, "johnson") == 0,
        .nodes = (size_t)vectors_number(request, "nodes", 0),
        .sweep = concurrencies,
        .n_sweep = json_array_size(sweep),
        .profile_error = vectors_number(request, "profile_error_percent", (double)NAN) / 100,
    };
    if (terms.n > JOBS_MAX || terms.n_sweep > SWEEP_MAX)
        abort();
    json_array_foreach(given, i, item)
    {
        jobs[i] = fresh_work_of(
            vectors_number(item, "maps", 0), vectors_number(item, "map_task_s", 0),
            vectors_number(item, "reduces", 0), vectors_number(item, "reduce_task_s", 0));
    }
    for (i = 0; i < terms.n_sweep; i++)
        concurrencies[i] = (size_t)json_number_value(json_array_get(sweep, i));
    arena_init(&arena, 0);
    if (fresh_plan_make(&terms, &arena, &plan, NULL) != PV_OK)
        abort();
    expect_plan(file, terms.slots, want, &plan);
    expect_order(file, given, json_object_get(want, "order"), &plan);
    arena_fini(&arena);
    return true;
}

int main(void)
{
    size_t files;
    if (!vectors_each("slot-plans", SHARED_DEFAULT, JSON_DECODE_INT_AS_REAL, run_file, &files))
        return SKIPPED;
    printf("# %zu requests, %zu figures, %zu differ\n", files, figures.compared, figures.differ);
    return figures.differ == 0 && figures.compared > 500 ? 0 : 1;
}

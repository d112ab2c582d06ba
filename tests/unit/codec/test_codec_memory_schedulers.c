/* Simulations of schedulers and decisions at run time, when memory fails. */
#include <criterion/criterion.h>

#include "codec/scheduling/slot_decision.h"
#include "codec/scheduling/slot_plan.h"
#include "codec/scheduling/slots_simulation.h"
#include "codec/scheduling/speculation.h"
#include "codec/scheduling/tasks_simulation.h"
#include "codec_memory.h"
#include "two_jobs.h"

TestSuite(codec_memory_schedulers, .init = codec_memory_set_up, .timeout = 300);

/* --- schedulers --- */

static const struct codec_comparison_limits comparison_limits = {.workload = &two_jobs,
                                                                 .jobs = 10,
                                                                 .splits = 10000,
                                                                 .tasks = 200,
                                                                 .runs = 100,
                                                                 .task_runs = 10000,
                                                                 .probes_per_task = 5,
                                                                 .auto_nodes = 100,
                                                                 .looks = 100000,
                                                                 .job_rows = 1000,
                                                                 .memory_bytes = (size_t)1 << 30,
                                                                 .search_task_runs = 2000,
                                                                 .search_task_runs_max = 2000};

/* Candidates that are the better the later they come. */
static enum pv_code search_for(const struct codec_comparison *common,
                               struct policy_search_plan *plan,
                               struct arena *arena,
                               struct policy_search_found **found,
                               struct pv_error *err)
{
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    *found = arena_array(arena, loads, sizeof **found);
    plan->budget = (double)common->search.task_runs / (double)loads;
    plan->error_chance = common->search.error_chance;
    for (size_t l = 0; *found != NULL && l < loads; l++) {
        struct policy_search *search = policy_search_begin(plan, arena);
        struct policy_search_batch batch;
        while (search != NULL && policy_search_next(search, &batch)) {
            double *values = arena_array(arena, batch.n, sizeof *values);
            if (values == NULL)
                return pv_no_memory(err);
            for (size_t i = 0; i < batch.n; i++)
                values[i] = 1000 - (double)batch.cells[i].candidate;
            policy_search_give(search, values);
        }
        if (search == NULL || !policy_search_conclude(search, arena, &(*found)[l]))
            return pv_no_memory(err);
    }
    return *found != NULL ? PV_OK : pv_no_memory(err);
}

static enum pv_code search_slots(const struct codec_slots_simulation *asked,
                                 struct slots_comparison *comparison,
                                 struct arena *arena,
                                 struct policy_search_found **found,
                                 struct pv_error *err)
{
    struct policy_search_plan plan;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    if (!slots_search_plan(comparison, &asked->tried, arena, &plan))
        return pv_no_memory(err);
    PV_TRY(search_for(&asked->common, &plan, arena, found, err));
    comparison->found =
        slots_search_best(&asked->tried, *found, policy_comparison_loads(&comparison->plan), arena);
    return comparison->found != NULL ? PV_OK : pv_no_memory(err);
}

static enum pv_code search_tasks(struct codec_tasks_simulation *asked,
                                 struct tasks_comparison *comparison,
                                 struct arena *arena,
                                 struct policy_search_found **found,
                                 struct pv_error *err)
{
    struct policy_search_plan plan;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    if (!tasks_search_plan(&asked->model, &asked->tried, asked->common.n_loads > 0, arena, &plan))
        return pv_no_memory(err);
    PV_TRY(search_for(&asked->common, &plan, arena, found, err));
    comparison->found =
        tasks_search_best(&asked->tried, *found, policy_comparison_loads(&comparison->plan), arena);
    if (comparison->found == NULL)
        return pv_no_memory(err);
    asked->draws[asked->common.n_policies] = tasks_terms_draw(&comparison->found[0]);
    return PV_OK;
}

static enum pv_code slots_simulation(const struct codec_node *top, struct pv_error *err)
{
    struct arena *arena = top->reader->arena;
    struct codec_slots_simulation *asked = arena_calloc(arena, 1, sizeof *asked);
    struct slots_comparison comparison;
    struct policy_search_found *found;
    struct writer w;
    size_t n;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_slots_simulation_decode(top, &comparison_limits, asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(two_jobs_load_slots(asked, arena, err));
    PV_TRY(codec_slots_simulation_take(asked, arena, &comparison, err));
    PV_TRY(search_slots(asked, &comparison, arena, &found, err));
    double *runtime_s = arena_array(arena, asked->n_jobs, sizeof *runtime_s);
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct slots_cell *made = arena_calloc(arena, n, sizeof *made);
    if (runtime_s == NULL || cells == NULL || made == NULL)
        return pv_no_memory(err);
    comparison.runtime_s = runtime_s;
    PV_TRY(slots_runtimes_alone(&comparison.cluster, comparison.jobs, comparison.n_jobs, NULL,
                                arena, runtime_s, err));
    for (size_t i = 0; i < n; i++) {
        struct slots_detail *detail = arena_calloc(arena, 1, sizeof *detail);
        if (detail == NULL)
            return pv_no_memory(err);
        detail->queues = arena_calloc(arena, 1, sizeof *detail->queues);
        detail->distribution = arena_calloc(arena, 1, sizeof *detail->distribution);
        if (detail->queues == NULL || detail->distribution == NULL)
            return pv_no_memory(err);
        made[i].detail = detail;
        PV_TRY(slots_comparison_run(&comparison, &cells[i], NULL, arena, &made[i], err));
    }
    const struct codec_slots_result result = {
        asked, &comparison,
        slots_comparison_conclude(&comparison, made, asked->common.objective, arena), found};
    if (result.loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_slots_simulation_encode(&w, asked);
    writer_end_line(&w);
    codec_slots_result_encode(&w, &result);
    return codec_memory_finish(&w, err);
}

static enum pv_code tasks_simulation(const struct codec_node *top, struct pv_error *err)
{
    struct arena *arena = top->reader->arena;
    struct codec_tasks_simulation *asked = arena_calloc(arena, 1, sizeof *asked);
    struct writer w;
    size_t n;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_tasks_simulation_decode(top, &comparison_limits, asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(two_jobs_load_tasks(asked, arena, err));
    struct tasks_comparison comparison = codec_tasks_simulation_take(asked);
    struct policy_search_found *found;
    PV_TRY(search_tasks(asked, &comparison, arena, &found, err));
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct tasks_cell *made = arena_calloc(arena, n, sizeof *made);
    if (cells == NULL || made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct tasks_detail *detail = arena_calloc(arena, 1, sizeof *detail);
        if (detail == NULL)
            return pv_no_memory(err);
        detail->queues = arena_calloc(arena, 1, sizeof *detail->queues);
        detail->distributions = arena_calloc(arena, TASKS_CLASSES, sizeof *detail->distributions);
        if (detail->queues == NULL || detail->distributions == NULL)
            return pv_no_memory(err);
        made[i].detail = detail;
        PV_TRY(tasks_comparison_run(&comparison, &cells[i], NULL, arena, &made[i], err));
    }
    const struct codec_tasks_result result = {
        asked, &comparison,
        tasks_comparison_conclude(&comparison, made, asked->common.objective, arena), found};
    if (result.loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_tasks_simulation_encode(&w, asked);
    writer_end_line(&w);
    codec_tasks_result_encode(&w, &result);
    return codec_memory_finish(&w, err);
}

static enum pv_code scheduler_simulation(const struct codec_node *top, struct pv_error *err)
{
    static const char *const kinds[] = {"slots", "tasks", NULL};
    size_t kind = codec_choice(top, "kind", CODEC_REQUIRED, kinds, 2);
    return kind == 0   ? slots_simulation(top, err)
           : kind == 1 ? tasks_simulation(top, err)
                       : codec_result(top->reader);
}

static enum pv_code speculation(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_speculation_limits limits = {
        .nodes = 40, .tasks = 100, .types = 12, .auto_nodes = 30};
    struct arena *arena = top->reader->arena;
    struct findings warnings = {.arena = arena};
    struct codec_speculation asked;
    struct speculation_gaps gaps;
    struct node_levels levels;
    struct esplash_decision esplash;
    struct late_decision late;
    struct writer w;
    codec_speculation_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    PV_TRY(speculation_find_gaps(&asked.cluster, arena, &gaps, err));
    writer_init(&w, arena);
    if (asked.kind == CODEC_SPECULATION_LATE) {
        PV_TRY(late_decide(&asked.cluster, arena, &late, err));
        codec_speculation_warn(&asked, NULL, &gaps, &warnings);
        codec_late_encode(&w, &asked, &late, &warnings);
        return codec_memory_finish(&w, err);
    }
    if (asked.level != NULL)
        levels = node_levels_given(asked.level, asked.n_nodes);
    else
        PV_TRY(node_levels_find(&asked.cluster, asked.level_count, arena, &levels, err));
    PV_TRY(esplash_decide(&asked.cluster, &levels, &asked.terms, arena, &esplash, err));
    codec_speculation_warn(&asked, &levels, &gaps, &warnings);
    codec_esplash_encode(&w, &asked, &levels, &esplash, &warnings);
    return codec_memory_finish(&w, err);
}

static enum pv_code slot_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_slot_plan_limits limits = {.jobs = 10, .splits = 1000};
    static const struct run_source source = {.problem_size = 8, .executors = 2};
    static const struct codec_slot_profile profile = {
        .tasks = {40, 2, 10, 3}, .runs = &source, .n_runs = 1, .graph_changed = true};
    struct arena *arena = top->reader->arena;
    struct findings warnings = {.arena = arena};
    struct codec_slot_plan asked;
    struct fresh_plan_terms terms;
    struct fresh_plan plan;
    struct writer w;
    codec_slot_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    for (size_t i = 0; i < asked.n_jobs; i++)
        if (asked.jobs[i].application.at != NULL)
            asked.jobs[i].profile = &profile;
    PV_TRY(codec_slot_plan_take(&asked, arena, &terms, err));
    PV_TRY(fresh_plan_make(&terms, arena, &plan, err));
    codec_slot_plan_warn(&asked, &plan, &warnings);
    writer_init(&w, arena);
    codec_slot_plan_encode(&w, &asked, &plan, &warnings);
    return codec_memory_finish(&w, err);
}

/* Decoded alone: what is decided with needs no memory, or is the core's. */
static enum pv_code slot_decision(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_slot_decision_limits limits = {.jobs = 10};
    struct codec_slot_decision asked;
    (void)err;
    codec_slot_decision_decode(top, &limits, &asked);
    return codec_result(top->reader);
}

Test(codec_memory_schedulers, schedulers)
{
    codec_memory_seeds("scheduler_simulation", scheduler_simulation);
    codec_memory_seeds("slot_plan", slot_plan);
    codec_memory_seeds("slot_decision", slot_decision);
    codec_memory_seeds("speculation", speculation);
}

/*
 * Any bytes as the body of POST /v1/simulations of the kinds `slots` and `tasks`. Refused bodies say
 * where they are wrong; a body that is taken reads back the same as it is stored for an operation;
 * every cell of it ends within the memory that was said, with figures that are numbers and
 * utilization and fairness of 1 at most, and the reply is JSON without a figure that is none. Any
 * workload that is named has the same two jobs.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "codec/scheduling/slots_simulation.h"
#include "codec/scheduling/tasks_simulation.h"
#include "fuzz_body.h"
#include "two_jobs.h"

#define CLOSE 1e-6

static const struct codec_comparison_limits limits = {.workload = &two_jobs,
                                                      .splits = 10000000,
                                                      .jobs = 6,
                                                      .tasks = 60,
                                                      .runs = 12,
                                                      .task_runs = 600,
                                                      .probes_per_task = 5,
                                                      .auto_nodes = 100,
                                                      .looks = 100000,
                                                      .network_steps = 100000000,
                                                      .job_rows = 40,
                                                      .memory_bytes = (size_t)64 << 20,
                                                      .search_task_runs = 2000,
                                                      .search_task_runs_max = 2000};

typedef void (*encode)(struct writer *w, const void *asked);

static const char *stored(encode write, const void *asked, struct arena *arena, size_t *n)
{
    struct writer w;
    writer_init(&w, arena);
    write(&w, asked);
    const char *text = writer_finish(&w, n);
    FUZZ_REQUIRE(text != NULL);
    return text;
}

static json_t *parsed(const char *text, size_t n)
{
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    return json;
}

/* --- searches --- */

/* Simulates a cell of a batch; what it is given. */
struct simulator {
    const void *asked;
    const void *comparison;
    double (*value)(const struct simulator *simulator,
                    const struct policy_cell *cell,
                    size_t jobs,
                    struct arena *arena);
};

/* At each load what is found lies within the budget and is simulated in full. */
static struct policy_search_found *search_all(const struct codec_comparison *common,
                                              struct policy_search_plan plan,
                                              const struct simulator *simulator,
                                              struct arena *arena)
{
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    struct policy_search_found *found = arena_array(arena, loads, sizeof *found);
    plan.budget = (double)common->search.task_runs / (double)loads;
    plan.error_chance = common->search.error_chance;
    for (size_t l = 0; l < loads; l++) {
        struct policy_search *search = policy_search_begin(&plan, arena);
        struct policy_search_batch batch;
        while (policy_search_next(search, &batch)) {
            double *values = arena_array(arena, batch.n, sizeof *values);
            for (size_t i = 0; i < batch.n; i++) {
                const struct policy_cell cell = {l, batch.cells[i].candidate,
                                                 batch.cells[i].repetition};
                values[i] = simulator->value(simulator, &cell, batch.jobs, arena);
                FUZZ_REQUIRE(values[i] > 0 && isfinite(values[i]));
            }
            policy_search_give(search, values);
        }
        FUZZ_REQUIRE(policy_search_conclude(search, arena, &found[l]));
        FUZZ_REQUIRE(found[l].n > 0 && found[l].ranks[0].jobs == plan.jobs);
        FUZZ_REQUIRE(found[l].task_runs <= plan.budget * (1 + CLOSE));
    }
    return found;
}

static void require_percentiles(const struct percentiles *percentiles)
{
    FUZZ_REQUIRE(percentiles->p50 > 0 && percentiles->p50 <= percentiles->p90);
    FUZZ_REQUIRE(percentiles->p90 <= percentiles->p95 && percentiles->p95 <= percentiles->p99);
    FUZZ_REQUIRE(isfinite(percentiles->p99) && percentiles->mean > 0 &&
                 isfinite(percentiles->mean));
}

/* --- slots --- */

static void encode_slots(struct writer *w, const void *asked)
{
    codec_slots_simulation_encode(w, asked);
}

static void require_slots_again(const struct codec_slots_simulation *asked, struct arena *arena)
{
    static struct codec_slots_simulation again;
    const struct codec_bounds bounds = {.depth = 32, .values = 100000};
    struct codec_document document;
    struct pv_error err = {0};
    size_t n;
    size_t n_again;
    const char *text = stored(encode_slots, asked, arena, &n);
    FUZZ_REQUIRE(codec_open(&document, text, n, &bounds, arena, &err) == PV_OK);
    codec_slots_simulation_decode(&document.top, &limits, &again);
    FUZZ_REQUIRE(codec_close(&document) == PV_OK);
    const char *text_again = stored(encode_slots, &again, arena, &n_again);
    FUZZ_REQUIRE(n == n_again && memcmp(text, text_again, n) == 0);
}

static double slots_value(const struct simulator *simulator,
                          const struct policy_cell *cell,
                          size_t jobs,
                          struct arena *arena)
{
    const struct codec_slots_simulation *asked = simulator->asked;
    struct slots_comparison part;
    struct slots_cell made = {.times = NULL};
    FUZZ_REQUIRE(slots_comparison_cut(simulator->comparison, jobs, arena, &part, NULL) == PV_OK);
    FUZZ_REQUIRE(slots_comparison_run(&part, cell, NULL, arena, &made, NULL) == PV_OK);
    return slots_outcome_value(&made.outcome, asked->common.objective);
}

/* What is found becomes a policy of the comparison; NULL: no search is asked for. */
static struct policy_search_found *search_slots(const struct codec_slots_simulation *asked,
                                                struct slots_comparison *comparison,
                                                struct arena *arena)
{
    struct slots_comparison candidates = *comparison;
    const struct simulator simulator = {asked, &candidates, slots_value};
    struct policy_search_plan plan;
    if (!asked->common.search.asked)
        return NULL;
    candidates.policies = asked->tried.terms;
    candidates.plan.n_policies = asked->tried.n;
    FUZZ_REQUIRE(slots_search_plan(comparison, &asked->tried, arena, &plan));
    struct policy_search_found *found = search_all(&asked->common, plan, &simulator, arena);
    size_t loads = policy_comparison_loads(&comparison->plan);
    comparison->found = slots_search_best(&asked->tried, found, loads, arena);
    return found;
}

static void require_slots_reply(const struct codec_slots_simulation *asked,
                                const struct slots_comparison *comparison,
                                const struct slots_cell made[],
                                const struct policy_search_found *found,
                                struct arena *arena)
{
    struct codec_slots_result result = {asked, comparison, NULL, found};
    struct writer w;
    size_t n;
    result.loads = slots_comparison_conclude(comparison, made, asked->common.objective, arena);
    FUZZ_REQUIRE(result.loads != NULL);
    writer_init(&w, arena);
    codec_slots_result_encode(&w, &result);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_decref(parsed(text, n));
}

static void run_slots(const struct codec_slots_simulation *asked, struct arena *arena)
{
    struct slots_comparison comparison;
    struct arena scratch;
    size_t n;
    FUZZ_REQUIRE(codec_slots_simulation_take(asked, arena, &comparison, NULL) == PV_OK);
    double *runtime_s = arena_array(arena, asked->n_jobs, sizeof *runtime_s);
    arena_init(&scratch, slots_comparison_memory(&comparison));
    FUZZ_REQUIRE(slots_runtimes_alone(&comparison.cluster, comparison.jobs, comparison.n_jobs, NULL,
                                      &scratch, runtime_s, NULL) == PV_OK);
    comparison.runtime_s = runtime_s;
    const struct policy_search_found *found = search_slots(asked, &comparison, arena);
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct slots_cell *made = arena_calloc(arena, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        made[i].detail = arena_calloc(arena, 1, sizeof *made[i].detail);
        made[i].detail->queues = arena_calloc(arena, 1, sizeof *made[i].detail->queues);
        made[i].detail->distribution = arena_calloc(arena, 1, sizeof *made[i].detail->distribution);
        const struct slots_outcome *outcome = &made[i].outcome;
        FUZZ_REQUIRE(slots_comparison_run(&comparison, &cells[i], NULL, &scratch, &made[i], NULL) ==
                     PV_OK);
        FUZZ_REQUIRE(outcome->makespan_s > 0 && outcome->utilization > 0);
        FUZZ_REQUIRE(outcome->utilization <= 1 + CLOSE && outcome->fairness <= 1 + CLOSE);
        FUZZ_REQUIRE(outcome->fairness > 0 && outcome->slowdown_variability_95 >= 1 - CLOSE);
        require_percentiles(&outcome->completion_s);
        require_percentiles(&outcome->slowdown);
    }
    arena_fini(&scratch);
    require_slots_reply(asked, &comparison, made, found, arena);
}

static void fuzz_slots(const struct codec_node *top)
{
    static struct codec_slots_simulation asked;
    codec_slots_simulation_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    require_slots_again(&asked, top->reader->arena);
    enum pv_code code = two_jobs_load_slots(&asked, top->reader->arena, NULL);
    if (code == PV_E_INVALID && asked.common.search.asked)
        return; /* for these jobs it has too many candidates, or none */
    FUZZ_REQUIRE(code == PV_OK);
    run_slots(&asked, top->reader->arena);
}

/* --- tasks --- */

static void encode_tasks(struct writer *w, const void *asked)
{
    codec_tasks_simulation_encode(w, asked);
}

static void require_tasks_again(const struct codec_tasks_simulation *asked, struct arena *arena)
{
    static struct codec_tasks_simulation again;
    const struct codec_bounds bounds = {.depth = 32, .values = 100000};
    struct codec_document document;
    struct pv_error err = {0};
    size_t n;
    size_t n_again;
    const char *text = stored(encode_tasks, asked, arena, &n);
    FUZZ_REQUIRE(codec_open(&document, text, n, &bounds, arena, &err) == PV_OK);
    codec_tasks_simulation_decode(&document.top, &limits, &again);
    FUZZ_REQUIRE(codec_close(&document) == PV_OK);
    const char *text_again = stored(encode_tasks, &again, arena, &n_again);
    FUZZ_REQUIRE(n == n_again && memcmp(text, text_again, n) == 0);
}

static double tasks_value(const struct simulator *simulator,
                          const struct policy_cell *cell,
                          size_t jobs,
                          struct arena *arena)
{
    const struct codec_tasks_simulation *asked = simulator->asked;
    struct tasks_comparison part = *(const struct tasks_comparison *)simulator->comparison;
    struct tasks_model first;
    struct tasks_cell made = {.start_s = NULL};
    FUZZ_REQUIRE(tasks_model_cut(part.model, (uint32_t)jobs, arena, &first, NULL) == PV_OK);
    part.model = &first;
    FUZZ_REQUIRE(tasks_comparison_run(&part, cell, NULL, arena, &made, NULL) == PV_OK);
    return tasks_outcome_value(&made.outcome, asked->common.objective);
}

/* As search_slots. */
static struct policy_search_found *search_tasks(struct codec_tasks_simulation *asked,
                                                struct tasks_comparison *comparison,
                                                struct arena *arena)
{
    struct tasks_comparison candidates = *comparison;
    const struct simulator simulator = {asked, &candidates, tasks_value};
    struct policy_search_plan plan;
    if (!asked->common.search.asked)
        return NULL;
    candidates.policies = asked->tried.terms;
    candidates.plan.n_policies = asked->tried.n;
    FUZZ_REQUIRE(
        tasks_search_plan(&asked->model, &asked->tried, asked->common.n_loads > 0, arena, &plan));
    struct policy_search_found *found = search_all(&asked->common, plan, &simulator, arena);
    size_t loads = policy_comparison_loads(&comparison->plan);
    comparison->found = tasks_search_best(&asked->tried, found, loads, arena);
    asked->draws[asked->common.n_policies] = tasks_terms_draw(&comparison->found[0]);
    return found;
}

static void require_tasks_reply(const struct codec_tasks_simulation *asked,
                                const struct tasks_comparison *comparison,
                                const struct tasks_cell made[],
                                const struct policy_search_found *found,
                                struct arena *arena)
{
    struct codec_tasks_result result = {asked, comparison, NULL, found};
    struct writer w;
    size_t n;
    result.loads = tasks_comparison_conclude(comparison, made, asked->common.objective, arena);
    FUZZ_REQUIRE(result.loads != NULL);
    writer_init(&w, arena);
    codec_tasks_result_encode(&w, &result);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_decref(parsed(text, n));
}

/* Whether a group fails for good, so that tasks may be left. */
static bool may_strand(const struct tasks_terms *terms)
{
    for (uint32_t i = 0; terms->layout != NULL && i < terms->layout->n_failures; i++)
        if (isinf(terms->layout->failures[i].return_s))
            return true;
    return false;
}

static void run_tasks(struct codec_tasks_simulation *asked, struct arena *arena)
{
    struct tasks_comparison comparison = codec_tasks_simulation_take(asked);
    const struct policy_search_found *found = search_tasks(asked, &comparison, arena);
    size_t n;
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct tasks_cell *made = arena_calloc(arena, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        made[i].detail = arena_calloc(arena, 1, sizeof *made[i].detail);
        made[i].detail->queues = arena_calloc(arena, 1, sizeof *made[i].detail->queues);
        made[i].detail->distributions =
            arena_calloc(arena, TASKS_CLASSES, sizeof *made[i].detail->distributions);
        const struct tasks_outcome *outcome = &made[i].outcome;
        struct arena scratch;
        const struct tasks_terms *terms =
            tasks_comparison_terms(&comparison, cells[i].load, cells[i].policy);
        arena_init(&scratch, tasks_comparison_memory(comparison.model, terms));
        enum pv_code code =
            tasks_comparison_run(&comparison, &cells[i], NULL, &scratch, &made[i], NULL);
        arena_fini(&scratch);
        if (code == PV_E_INVALID && may_strand(terms))
            return; /* the problem of the operation */
        FUZZ_REQUIRE(code == PV_OK);
        FUZZ_REQUIRE(outcome->makespan_s > 0 && outcome->utilization > 0);
        FUZZ_REQUIRE(outcome->utilization <= 1 + CLOSE);
        for (size_t c = 0; c < TASKS_CLASSES; c++)
            if (outcome->classes[c].count > 0) {
                require_percentiles(&outcome->classes[c].completion_s);
                require_percentiles(&outcome->classes[c].slowdown);
            }
    }
    require_tasks_reply(asked, &comparison, made, found, arena);
}

static void fuzz_tasks(const struct codec_node *top)
{
    static struct codec_tasks_simulation asked;
    codec_tasks_simulation_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    require_tasks_again(&asked, top->reader->arena);
    FUZZ_REQUIRE(two_jobs_load_tasks(&asked, top->reader->arena, NULL) == PV_OK);
    run_tasks(&asked, top->reader->arena);
}

void fuzz_body(const struct codec_node *top)
{
    static const char *const kinds[] = {"slots", "tasks", NULL};
    size_t kind = codec_choice(top, "kind", CODEC_REQUIRED, kinds, 2);
    if (kind == 0)
        fuzz_slots(top);
    else if (kind == 1)
        fuzz_tasks(top);
    else
        FUZZ_REQUIRE(!fuzz_body_is_taken(top));
}

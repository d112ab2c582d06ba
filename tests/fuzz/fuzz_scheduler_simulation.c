/*
 * Any bytes as the body of POST /v1/simulations of the kinds `slots` and `tasks`. Refused bodies say
 * where they are wrong; a body that is taken reads back the same as it is stored for an operation;
 * every cell of it ends within the memory that was said, with figures that are numbers and
 * utilization and fairness of 1 at most, and the reply is JSON without a figure that is none.
 */
#include <math.h>
#include <string.h>

#include "codec/scheduling/slots_simulation.h"
#include "codec/scheduling/tasks_simulation.h"
#include "fuzz_body.h"

#define CLOSE 1e-6

static const struct codec_comparison_limits limits = {.jobs = 6,
                                                      .tasks = 60,
                                                      .runs = 12,
                                                      .task_runs = 600,
                                                      .probes_per_task = 5,
                                                      .job_rows = 40,
                                                      .memory_bytes = (size_t)64 << 20};

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

static void require_slots_reply(const struct codec_slots_simulation *asked,
                                const struct slots_comparison *comparison,
                                const struct slots_cell made[],
                                struct arena *arena)
{
    struct codec_slots_result result = {asked, comparison, NULL};
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
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct slots_cell *made = arena_calloc(arena, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
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
    require_slots_reply(asked, &comparison, made, arena);
}

static void fuzz_slots(const struct codec_node *top)
{
    static struct codec_slots_simulation asked;
    codec_slots_simulation_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    require_slots_again(&asked, top->reader->arena);
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

static void require_tasks_reply(const struct codec_tasks_simulation *asked,
                                const struct tasks_comparison *comparison,
                                const struct tasks_cell made[],
                                struct arena *arena)
{
    struct codec_tasks_result result = {asked, NULL};
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

static void run_tasks(const struct codec_tasks_simulation *asked, struct arena *arena)
{
    struct tasks_comparison comparison = codec_tasks_simulation_take(asked);
    size_t n;
    const struct policy_cell *cells = policy_cells(&comparison.plan, arena, &n);
    struct tasks_cell *made = arena_calloc(arena, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        const struct tasks_outcome *outcome = &made[i].outcome;
        struct arena scratch;
        arena_init(&scratch, tasks_comparison_memory(comparison.model,
                                                     &comparison.policies[cells[i].policy]));
        FUZZ_REQUIRE(tasks_comparison_run(&comparison, &cells[i], NULL, &scratch, &made[i], NULL) ==
                     PV_OK);
        arena_fini(&scratch);
        FUZZ_REQUIRE(outcome->makespan_s > 0 && outcome->utilization > 0);
        FUZZ_REQUIRE(outcome->utilization <= 1 + CLOSE);
        for (size_t c = 0; c < TASKS_CLASSES; c++)
            if (outcome->classes[c].count > 0) {
                require_percentiles(&outcome->classes[c].completion_s);
                require_percentiles(&outcome->classes[c].slowdown);
            }
    }
    require_tasks_reply(asked, &comparison, made, arena);
}

static void fuzz_tasks(const struct codec_node *top)
{
    static struct codec_tasks_simulation asked;
    codec_tasks_simulation_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    require_tasks_again(&asked, top->reader->arena);
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

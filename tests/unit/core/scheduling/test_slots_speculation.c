/* Copies of tasks in simulations on slots, and what holds under every policy whatever happens. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/scheduling/slots/fairness_series.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "core/sim/variates.h"
#include "slots_cases.h"

static struct slots_cluster cluster_of(const struct slots_node nodes[], size_t n)
{
    struct slots_cluster cluster = {.slow_start = 1, .nodes = nodes, .n_nodes = n};
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            cluster.slots[kind] += nodes[i].slots[kind];
    return cluster;
}

static struct slots_speculation
run(struct slots_case *of, const struct slots_terms *terms, struct slots_job_times times[])
{
    struct slots_speculation counts = {0};
    const struct slots_observer observer = {.speculation = &counts};
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(of, true);
    cr_assert_eq(slots_simulate_observed(&of->cluster, of->jobs, of->n, terms, NULL, &observer,
                                         &scratch, times, NULL),
                 PV_OK);
    arena_fini(&scratch);
    return counts;
}

/* --- by hand --- */

/*
 * Three nodes with a map slot each; four maps of 10; the last node slows to a tenth at 0.
 *
 * At 10 the first two end, and the fourth begins on node 0. LATE, every 4 s: at 12, the task on node 2
 * has elapsed 12, done 0.12 of its work, and 88 s remain; a copy takes 10. The task on node 0 has
 * elapsed 2, 8 remain, less than 10. So a copy is asked for, and has node 1 from 12 to 22. The fourth
 * ends at 20, the copy at 22, and the task on node 2 is stopped.
 */
Test(slots_speculation, late_by_hand)
{
    static const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1}};
    static const struct slots_incident slow = {
        .node = 2, .at_s = 0, .until_s = 1000, .speed_factor = 0.1};
    struct slots_case one = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {10, 10, 10, 10}}}};
    struct slots_terms terms = {.policy = &slots_policy_fifo,
                                .speculation = {.kind = SLOTS_LATE, .epoch_s = 4}};
    struct slots_job_times times[1];
    one.cluster.incidents = &slow;
    one.cluster.n_incidents = 1;
    struct slots_speculation counts = run(&one, &terms, times);
    cr_expect_eq(times[0].finish_s, 22);
    cr_expect_eq(counts.copies, 1);
    cr_expect_eq(counts.useful, 1);
    cr_expect_eq(counts.wasted_s, 0);
    terms.speculation.kind = SLOTS_NO_SPECULATION;
    counts = run(&one, &terms, times);
    cr_expect_eq(times[0].finish_s, 100);
    cr_expect_eq(counts.copies, 0);
}

/* The same, but the node is well again at 13: the task on it has done 1.3 then, and ends at 21.7. The
 * copy, which has held its slot for 9.7, is stopped, on a node no faster. */
Test(slots_speculation, a_copy_that_comes_too_late_is_stopped)
{
    static const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1}};
    static const struct slots_incident slow = {
        .node = 2, .at_s = 0, .until_s = 13, .speed_factor = 0.1};
    struct slots_case one = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {10, 10, 10, 10}}}};
    const struct slots_terms terms = {.policy = &slots_policy_fifo,
                                      .speculation = {.kind = SLOTS_LATE, .epoch_s = 4}};
    struct slots_job_times times[1];
    one.cluster.incidents = &slow;
    one.cluster.n_incidents = 1;
    struct slots_speculation counts = run(&one, &terms, times);
    cr_expect_float_eq(times[0].finish_s, 21.7, 1e-12);
    cr_expect_eq(counts.copies, 1);
    cr_expect_eq(counts.useful, 0);
    cr_expect_eq(counts.killed_on_straggler, 0);
    cr_expect_eq(counts.killed_on_slower, 1);
    cr_expect_float_eq(counts.wasted_s, 9.7, 1e-12);
}

/*
 * Two slow nodes of level 1 and a fast one of level 2; six maps of 10; node 0 stands still from 4 on.
 *
 * Node 2 ends at 5 and at 10, node 1 at 10. At 8 the task on node 0 has made no progress since 4, that
 * on node 1 0.1 a second: their mean over its own counts 10, less 1 is 9, above 3. A task takes 5 on
 * level 2, and as far as is known on level 1; rest is 8 / 0.4 - 8 = 12, and what is gained (7 + 7) / 2.
 * So a copy is asked for, from level 1 on, as that is the lower one of two alike. At 10 it comes before
 * the others, and has node 1, until 20; the fifth and sixth map have node 2, until 20.
 */
Test(slots_speculation, esplash_by_hand)
{
    static const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1, .level = 1},
                                              {.slots = {1, 0}, .speed = 1, .level = 1},
                                              {.slots = {1, 0}, .speed = 2, .level = 2}};
    static const struct slots_incident still = {.node = 0, .at_s = 4, .until_s = 1000};
    struct slots_case one = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {10, 10, 10, 10, 10, 10}}}};
    struct slots_terms terms = {
        .policy = &slots_policy_fifo,
        .speculation = {.kind = SLOTS_ESPLASH, .epoch_s = 4, .esplash = esplash_terms_default}};
    struct slots_job_times times[1];
    one.cluster.incidents = &still;
    one.cluster.n_incidents = 1;
    struct slots_speculation counts = run(&one, &terms, times);
    cr_expect_eq(counts.copies, 1);
    cr_expect_eq(counts.useful, 1);
    cr_expect_eq(times[0].finish_s, 20, "%g", times[0].finish_s);
    terms.speculation.kind = SLOTS_NO_SPECULATION;
    (void)run(&one, &terms, times);
    cr_expect_eq(times[0].finish_s, 1006);
}

/* A copy whose task is lost with its node takes its place. LATE's copy from above runs on node 1 when
 * node 2 is down, at 15: it ends at 22, and the task does not begin anew. */
Test(slots_speculation, a_copy_takes_the_place_of_a_task_that_is_lost)
{
    static const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 0}, .speed = 1}};
    static const struct slots_incident incidents[] = {
        {.node = 2, .at_s = 0, .until_s = 1000, .speed_factor = 0.1},
        {.node = 2, .at_s = 15, .until_s = 2000, .down = true}};
    struct slots_case one = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {10, 10, 10, 10}}}};
    const struct slots_terms terms = {.policy = &slots_policy_fifo,
                                      .speculation = {.kind = SLOTS_LATE, .epoch_s = 4}};
    struct slots_job_times times[1];
    one.cluster.incidents = incidents;
    one.cluster.n_incidents = 2;
    struct slots_speculation counts = run(&one, &terms, times);
    cr_expect_eq(times[0].finish_s, 22);
    cr_expect_eq(counts.useful, 1);
}

/* --- laws --- */

enum { CASES = 1000, NODES = 4, INCIDENTS = 4 };

struct drawn {
    struct slots_case of;
    struct slots_node nodes[NODES];
    struct slots_incident incidents[INCIDENTS];
    double limits_s[1];
    double partitions[2];
    struct slots_tenant tenants[2];
    struct slots_terms terms;
};

static void draw_nodes(struct rng *rng, struct drawn *drawn)
{
    static const double speeds[] = {1, 2, 0.5};
    static const double factors[] = {0, 0.1, 0.5};
    bool levels = variate_index(rng, 2) == 0;
    for (size_t i = 0; i < NODES; i++)
        drawn->nodes[i] = (struct slots_node){.slots = {1 + variate_index(rng, 2), 1},
                                              .speed = speeds[variate_index(rng, 3)],
                                              .level = levels ? 1 + variate_index(rng, 2) : 0};
    size_t n = variate_index(rng, INCIDENTS + 1);
    for (size_t i = 0; i < n; i++) {
        double at_s = (double)variate_index(rng, 20);
        drawn->incidents[i] =
            (struct slots_incident){.node = variate_index(rng, NODES),
                                    .at_s = at_s,
                                    .until_s = at_s + 1 + (double)variate_index(rng, 40),
                                    .speed_factor = factors[variate_index(rng, 3)],
                                    .down = variate_index(rng, 3) == 0};
    }
    drawn->of.cluster = cluster_of(drawn->nodes, NODES);
    drawn->of.cluster.slow_start = variate_uniform(rng, 0, 1);
    drawn->of.cluster.incidents = drawn->incidents;
    drawn->of.cluster.n_incidents = n;
}

static void draw(struct rng *rng, size_t policy, struct drawn *drawn)
{
    *drawn = (struct drawn){
        .limits_s = {10}, .partitions = {0.5, 0.5}, .tenants = {{0.5, 1}, {0.5, 0.5}}};
    draw_nodes(rng, drawn);
    size_t n = 1 + variate_index(rng, 5);
    for (size_t i = 0; i < n; i++) {
        struct case_job *job = &drawn->of.given[i];
        size_t maps = 1 + variate_index(rng, 10);
        size_t reduces = variate_index(rng, 4);
        job->arrival_s = (double)variate_index(rng, 10);
        bool equal = variate_index(rng, 2) == 0;
        for (size_t k = 0; k < maps; k++)
            job->maps[k] = equal && k > 0 ? job->maps[0] : 1 + (double)variate_index(rng, 12);
        for (size_t k = 0; k < reduces; k++)
            job->reduces[k] = 1 + (double)variate_index(rng, 12);
        job->shuffle_s = (double)variate_index(rng, 3);
        job->queue = variate_index(rng, 2);
    }
    drawn->terms =
        (struct slots_terms){.policy = slots_policies[policy],
                             .concurrency = 1 + variate_index(rng, 3),
                             .tau1 = FRESH_TAU1,
                             .tau2 = FRESH_TAU2,
                             .ema_weight = OMO_EMA_WEIGHT,
                             .window_s = 3,
                             .lazy_start = true,
                             .batch_finish = true,
                             .queues = 3,
                             .limits_s = drawn->limits_s,
                             .n_limits = 1,
                             .partitions = drawn->partitions,
                             .tenants = drawn->tenants,
                             .n_tenants = 2,
                             .speculation = {.kind = (enum slots_speculation_kind)variate_index(
                                                 rng, SLOTS_SPECULATION_KINDS),
                                             .epoch_s = 1 + (double)variate_index(rng, 3),
                                             .esplash = esplash_terms_default}};
}

/* Every task ends once, a node runs no more tasks than it has slots, and reduces work after maps. */
static void check_spans(const struct drawn *drawn,
                        struct slots_spans *spans,
                        const struct slots_job_times times[],
                        struct arena *arena)
{
    size_t ended = 0;
    size_t tasks = 0;
    bool shared = drawn->terms.policy->choose_shared != NULL;
    struct slots_bar *bars = arena_array(arena, spans->tasks, sizeof *bars);
    cr_assert_eq(spans->omitted, 0);
    cr_assert(slots_spans_place(spans, NODES, shared, arena, bars));
    for (size_t i = 0; i < spans->tasks; i++) {
        const struct slots_span *span = bars[i].span;
        const struct slots_node *node = &drawn->nodes[span->node];
        size_t slots = shared ? node->slots[SLOTS_MAP] + node->slots[SLOTS_REDUCE]
                       : drawn->terms.policy == &slots_policy_fresh_static
                           ? node->slots[SLOTS_MAP] + node->slots[SLOTS_REDUCE]
                           : node->slots[span->kind];
        cr_expect_lt(bars[i].slot, slots);
        cr_expect_leq(span->given_s, span->end_s);
        ended += span->finished;
    }
    for (size_t j = 0; j < drawn->of.n; j++) {
        cr_expect(isfinite(times[j].finish_s) && times[j].finish_s >= times[j].map_end_s);
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            tasks += slots_tasks_count(&drawn->of.jobs[j].task_lists[kind]);
        if (!isnan(times[j].shuffle_end_s))
            cr_expect_geq(times[j].shuffle_end_s, times[j].map_end_s);
    }
    cr_expect_eq(ended, tasks);
}

static void check_fairness(const struct fairness_points *points, size_t n)
{
    cr_expect_gt(points->n, 0);
    for (size_t i = 0; i < points->n; i++)
        cr_expect(points->values[i] >= 1.0 / (double)n - 1e-12 && points->values[i] <= 1 + 1e-12);
}

static void check_policy(size_t policy)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t c = 0; c < CASES; c++) {
        const uint64_t keys[] = {policy, c};
        struct rng rng = variate_stream(11, keys, 2);
        struct drawn drawn;
        struct slots_spans spans;
        struct fairness_series series;
        struct slots_speculation counts = {0};
        const struct slots_observer observer = {
            .spans = &spans, .fairness = &series, .speculation = &counts};
        struct slots_job_times times[CASE_JOBS_MAX];
        struct slots_job_times again[CASE_JOBS_MAX];
        draw(&rng, policy, &drawn);
        slots_case_prepare(&drawn.of, false);
        cr_assert(slots_spans_init(&spans, 10000, &arena));
        cr_assert(fairness_series_begin(&series, drawn.of.n, 0, &arena));
        cr_assert_eq(slots_simulate_observed(&drawn.of.cluster, drawn.of.jobs, drawn.of.n,
                                             &drawn.terms, NULL, &observer, &arena, times, NULL),
                     PV_OK);
        check_spans(&drawn, &spans, times, &arena);
        check_fairness(&series.points, drawn.of.n);
        cr_expect_leq(counts.useful + counts.killed_on_straggler + counts.killed_on_slower,
                      counts.copies);
        slots_case_run(&drawn.of, &drawn.terms, again);
        for (size_t j = 0; j < drawn.of.n; j++)
            cr_expect_float_eq(times[j].finish_s, again[j].finish_s, 1e-9,
                               "%s, case %zu: it matters how tasks are packed",
                               drawn.terms.policy->name, c);
        arena_clear(&arena);
    }
    arena_fini(&arena);
}

Test(slots_speculation, every_task_ends_once_and_no_slot_runs_two)
{
    for (size_t policy = 0; policy < SLOTS_POLICIES; policy++)
        check_policy(policy);
}

/* Nodes of speed 1 to which nothing happens are as good as none, to the last bit. */
Test(slots_speculation, nodes_alike_are_a_cluster_without_nodes)
{
    for (size_t policy = 0; policy < SLOTS_POLICIES; policy++)
        for (size_t c = 0; c < CASES; c++) {
            const uint64_t keys[] = {policy, c};
            struct rng rng = variate_stream(12, keys, 2);
            struct drawn drawn;
            struct slots_job_times with[CASE_JOBS_MAX];
            struct slots_job_times without[CASE_JOBS_MAX];
            draw(&rng, policy, &drawn);
            for (size_t i = 0; i < NODES; i++)
                drawn.nodes[i].speed = 1;
            drawn.of.cluster.n_incidents = 0;
            drawn.terms.speculation.kind = SLOTS_NO_SPECULATION;
            slots_case_run(&drawn.of, &drawn.terms, with);
            drawn.of.cluster.n_nodes = 0;
            drawn.of.cluster.nodes = NULL;
            slots_case_run(&drawn.of, &drawn.terms, without);
            for (size_t j = 0; j < drawn.of.n; j++)
                cr_expect_eq(with[j].finish_s, without[j].finish_s);
        }
}

/* --- limits --- */

/* One task of 10 s on one node under LATE. Its error is in err. */
static enum pv_code
run_one(double arrival_s, double epoch_s, size_t looks_max, struct pv_error *err)
{
    static const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1}};
    struct slots_case one = {.cluster = cluster_of(nodes, 1),
                             .given = {{.arrival_s = arrival_s, .maps = {10}}}};
    const struct slots_terms terms = {
        .policy = &slots_policy_fifo,
        .speculation = {.kind = SLOTS_LATE, .epoch_s = epoch_s, .looks_max = looks_max}};
    struct slots_job_times times[1];
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(&one, true);
    enum pv_code code =
        slots_simulate(&one.cluster, one.jobs, one.n, &terms, NULL, &scratch, times, err);
    arena_fini(&scratch);
    return code;
}

/* Decisions at 0, 1, ... 9: at 10 nothing works. Each counts for 32, and looks at a node, a task and a
 * type. */
Test(slots_speculation, what_decisions_look_at_is_limited)
{
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(run_one(0, 1, 350, &err), PV_OK);
    cr_assert_eq(run_one(0, 1, 0, &err), PV_OK);
    cr_assert_eq(run_one(0, 1, 349, &err), PV_E_INVALID);
    cr_assert(strstr(err.faults[0].detail, "more than 349 times in a simulation (its share of "
                                           "simulation_speculation_looks_max)"),
              "%s", err.faults[0].detail);
}

/* The number of the epoch would be so large that the next one has the same. */
Test(slots_speculation, epochs_that_cannot_be_counted_are_refused, .timeout = 10)
{
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(run_one(342581850318.1944, 1e-9, 0, &err), PV_E_INVALID);
    cr_assert(strstr(err.faults[0].detail, "too short to be counted"), "%s", err.faults[0].detail);
}

/* Nodes over runs, slow tasks and replays together; what is missing is named. */
#include "core/stragglers/stragglers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/history/run_metrics.h"

enum { NODES = 4, TASKS = 32, STAGES = 2, RUNS = 4 };

static struct arena arena, scratch;
static struct run runs[RUNS];
static struct run_stage stages[RUNS][STAGES];
static struct run_node nodes[RUNS][NODES];
static double durations[RUNS][STAGES][TASKS];
static int64_t places[TASKS];

/* Newest first, a day apart; node k of run r takes factor[r][k] times as long. */
static void make_runs(size_t n, double factor[RUNS][NODES])
{
    static const char *const names[NODES] = {"a", "b", "c", "d"};
    struct rng rng = rng_make(3, 1);
    for (size_t r = 0; r < n; r++) {
        runs[r] = (struct run){.id = "0190",
                               .duration_s = 100,
                               .started_us = (int64_t)(10 - r) * 86400000000,
                               .stages = stages[r],
                               .n_stages = STAGES,
                               .nodes = nodes[r],
                               .n_nodes = NODES,
                               .has_stages = true};
        run_clear_log(&runs[r]);
        for (size_t k = 0; k < NODES; k++)
            nodes[r][k] = (struct run_node){strview_of(names[k]), 2};
        for (size_t s = 0; s < STAGES; s++) {
            stages[r][s] = (struct run_stage){.id = (int64_t)s,
                                              .n_tasks = TASKS,
                                              .task_durations_s = durations[r][s],
                                              .task_nodes = places,
                                              .duration_s = 50,
                                              .started_s = 50.0 * (double)s};
            run_stage_clear_log(&stages[r][s]);
            for (size_t i = 0; i < TASKS; i++) {
                places[i] = (int64_t)(i % NODES);
                durations[r][s][i] = 10 * exp(0.05 * rng_normal(&rng)) * factor[r][i % NODES];
            }
        }
    }
}

static double factors[RUNS][NODES];

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    for (size_t r = 0; r < RUNS; r++)
        for (size_t k = 0; k < NODES; k++)
            factors[r][k] = 1;
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(stragglers, .init = set_up, .fini = tear_down, .timeout = 20);

static struct stragglers find_within(const struct straggler_limits *limits, size_t n)
{
    struct stragglers found;
    cr_assert_eq(stragglers_find(runs, n, limits, &arena, &scratch, &found, NULL), PV_OK);
    return found;
}

/* Within the usual limits. */
static struct stragglers find(size_t n)
{
    static const struct straggler_limits usual = {.steps = 2e8, .looks = 5e7};
    return find_within(&usual, n);
}

static void expect_warnings(const struct stragglers *found, const char *const codes[], size_t n)
{
    cr_assert_eq(found->warnings.n, n, "%zu: %s", found->warnings.n,
                 found->warnings.n > 0 ? found->warnings.items[0].code : "");
    for (size_t i = 0; i < n; i++)
        cr_assert_str_eq(found->warnings.items[i].code, codes[i]);
}

Test(stragglers, equal_nodes_are_normal)
{
    make_runs(RUNS, factors);
    struct stragglers found = find(RUNS);
    cr_assert_eq(found.n_nodes, NODES);
    for (size_t k = 0; k < NODES; k++) {
        cr_assert_eq(found.nodes[k].verdict, STRAGGLER_NORMAL);
        cr_assert_eq(found.nodes[k].since_us, RUN_NO_INSTANT);
        cr_assert_eq(found.nodes[k].runs, RUNS);
    }
    expect_warnings(&found, NULL, 0);
}

/* Slow in runs 0, 1 and 3: since run 1 without a break. */
Test(stragglers, a_slow_node_comes_first_with_its_runs)
{
    factors[0][2] = factors[1][2] = factors[3][2] = 2;
    make_runs(RUNS, factors);
    struct stragglers found = find(RUNS);
    const struct straggler_node *slow = &found.nodes[0];
    cr_assert_eq(slow->verdict, STRAGGLER_SLOW);
    cr_assert_eq(slow->place, 2);
    cr_assert(slow->speed.factor > 1.4 && slow->speed.factor < 2, "%g", slow->speed.factor);
    cr_assert(slow->speed.low < 2 && slow->speed.high > 1.7);
    cr_assert(slow->slow_runs == 3 && slow->runs == 4);
    cr_assert_eq(slow->since_us, runs[1].started_us);
    cr_assert_eq(found.nodes[1].verdict, STRAGGLER_NORMAL);
    cr_assert_str_eq(found.advice[0].finding.code, "slow_nodes");
    cr_assert_str_eq(found.advice[0].key, "spark.yarn.exclude.nodes");
    cr_assert_str_eq(found.advice[0].value, "c");
}

/* A hash is no name that a resource manager knows: advice says how to get names, and sets nothing. */
Test(stragglers, hashed_names_are_not_excluded)
{
    for (size_t r = 0; r < RUNS; r++)
        factors[r][2] = 2;
    make_runs(RUNS, factors);
    struct stragglers named = find(RUNS);
    cr_assert(strstr(named.advice[0].finding.message, "eventlog_host_names") == NULL);
    for (size_t r = 0; r < RUNS; r++)
        nodes[r][2].name = strview_of("host:0123456789abcdef");
    struct stragglers hashed = find(RUNS);
    cr_assert_str_eq(hashed.advice[0].finding.code, "slow_nodes");
    cr_assert(hashed.advice[0].key == NULL);
    cr_assert(strstr(hashed.advice[0].finding.message, "eventlog_host_names") != NULL);
}

/* In a list of nodes, a name with a comma would be two others. */
Test(stragglers, names_that_no_list_can_hold_are_not_excluded)
{
    static const char *const names[] = {"a,b", "a b", "a\tb", "c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t r = 0; r < RUNS; r++)
            factors[r][2] = 2;
        make_runs(RUNS, factors);
        for (size_t r = 0; r < RUNS; r++)
            nodes[r][2].name = strview_of(names[i]);
        struct stragglers found = find(RUNS);
        cr_assert_str_eq(found.advice[0].finding.code, "slow_nodes");
        cr_assert_eq(found.advice[0].key != NULL, i == 3, "%s", names[i]);
    }
}

/* What takes 10 percent longer is certain with so many tasks, but nothing to act on. */
Test(stragglers, a_little_slower_is_no_straggler)
{
    for (size_t r = 0; r < RUNS; r++)
        factors[r][1] = 1.1;
    make_runs(RUNS, factors);
    struct stragglers found = find(RUNS);
    cr_assert_eq(found.nodes[0].place, 1);
    cr_assert_gt(found.nodes[0].speed.low, 1);
    cr_assert_eq(found.nodes[0].verdict, STRAGGLER_NORMAL);
}

/* Hashed names are told apart, but no resource manager knows them. */
Test(stragglers, no_property_names_a_hash)
{
    factors[0][0] = 3;
    make_runs(1, factors);
    nodes[0][0].name = strview_of("host:0123456789abcdef");
    struct stragglers found = find(1);
    cr_assert_eq(found.nodes[0].verdict, STRAGGLER_SLOW);
    cr_assert_null(found.advice[0].key);
}

Test(stragglers, unnamed_nodes_are_those_of_the_last_run_alone)
{
    factors[1][3] = 3;
    make_runs(2, factors);
    for (size_t r = 0; r < 2; r++)
        for (size_t k = 0; k < NODES; k++)
            nodes[r][k].name = (struct strview){NULL, 0};
    struct stragglers found = find(2);
    cr_assert_eq(found.n_nodes, NODES);
    for (size_t k = 0; k < NODES; k++)
        cr_assert(found.nodes[k].runs == 1 && found.nodes[k].verdict == STRAGGLER_NORMAL);
    expect_warnings(&found, (const char *const[]){"nodes_unnamed"}, 1);
}

Test(stragglers, a_node_of_an_earlier_run_is_judged_too)
{
    factors[1][0] = 2;
    make_runs(2, factors);
    nodes[0][0].name = strview_of("new");
    struct stragglers found = find(2);
    cr_assert_eq(found.n_nodes, NODES + 1);
    cr_assert(strview_is(found.nodes[0].name, "a") && found.nodes[0].place == SIZE_MAX);
    cr_assert_eq(found.nodes[0].verdict, STRAGGLER_SLOW);
}

/* One task ten times as long for no known reason: copies help, unless they are as slow. */
Test(stragglers, the_range_of_what_copies_bring)
{
    make_runs(1, factors);
    durations[0][1][5] = 200;
    struct stragglers found = find(1);
    const struct straggler_copies *spark = found.speculation.copies[COPY_SPARK];
    cr_assert_eq(found.speculation.stages, 2);
    cr_assert_eq(spark[STRAGGLER_OPTIMISTIC].useful, 1);
    cr_assert_gt(spark[STRAGGLER_OPTIMISTIC].saved_s, 20);
    cr_assert_eq(spark[STRAGGLER_PESSIMISTIC].useful, 0);
    cr_assert_lt(fabs(spark[STRAGGLER_PESSIMISTIC].saved_s), 1e-9);
    cr_assert(fabs(spark->duration_s + spark->saved_s - 100) < 1e-9);
    cr_assert_eq(found.stages[1].slow.n, 1);
    cr_assert_lt(found.stages[1].without_s, 15);
    cr_assert_str_eq(found.advice[0].finding.code, "speculation_may_pay");
}

/* A slow node is a reason that copies elsewhere do not share. */
Test(stragglers, copies_help_against_a_slow_node_for_certain)
{
    factors[0][0] = 4;
    make_runs(1, factors);
    struct stragglers found = find(1);
    const struct straggler_copies *late = found.speculation.copies[COPY_LATE];
    cr_assert_gt(late[STRAGGLER_PESSIMISTIC].saved_s, 10);
    cr_assert_gt(found.stages[0].slow.sum.node_s, found.stages[0].slow.sum.unknown_s);
}

Test(stragglers, the_rule_is_the_runs_own_or_that_of_its_spark)
{
    make_runs(1, factors);
    struct stragglers found = find(1);
    cr_assert(found.rule.quantile == 0.75 && found.rule.multiplier == 1.5 && !found.rule_given);
    runs[0].spark_version = strview_of("4.0.1");
    found = find(1);
    cr_assert(found.rule.quantile == 0.9 && found.rule.multiplier == 3 && !found.rule_given);
    struct run_label own[] = {{strview_of("spark.speculation"), strview_of("true")},
                              {strview_of("spark.speculation.multiplier"), strview_of("2.5")},
                              {strview_of("spark.speculation.quantile"), strview_of("soon")}};
    runs[0].spark_properties = own;
    runs[0].n_spark_properties = 3;
    found = find(1);
    cr_assert(found.rule.quantile == 0.9 && found.rule.multiplier == 2.5 && found.rule_given);
    expect_warnings(&found, (const char *const[]){"speculation_was_on"}, 1);
}

Test(stragglers, what_is_missing_is_named)
{
    make_runs(2, factors);
    stages[0][0].task_nodes = NULL;
    nodes[0][1].cores = RUN_UNKNOWN;
    stages[1][0].task_nodes = stages[1][1].task_nodes = NULL;
    runs[1].tasks_thinned = true;
    struct stragglers found = find(2);
    expect_warnings(&found,
                    (const char *const[]){"no_node_figures", "runs_thinned", "stages_without_nodes",
                                          "node_cores_unknown"},
                    4);
    cr_assert_eq(found.speculation.stages, 0);
    cr_assert_eq(found.n_stages, 2, "slow tasks are seen without nodes");
}

/* Stages 0 and 1 at once: two executors of two cores; the last task of stage 1 is long. */
Test(stragglers, stages_at_the_same_time_are_a_group)
{
    make_runs(1, factors);
    cr_assert_eq(find(1).n_groups, 0, "one after the other");
    stages[0][1].started_s = 1;
    runs[0].executors = 2;
    runs[0].cores_per_executor = 2;
    durations[0][1][31] = 100;
    struct stragglers found = find(1);
    cr_assert_eq(found.n_groups, 1);
    const struct straggler_group *group = found.groups;
    cr_assert(group->n == 2 && group->stage_ids[0] == 0 && group->stage_ids[1] == 1);
    cr_assert(found.slots == 4 && group->measured_s == 51 && group->rule_of_run == SHARE_FIFO);
    cr_assert_neq(group->best, SHARE_FIFO);
    cr_assert_lt(group->rules[group->best].makespan_s, group->rules[SHARE_FIFO].makespan_s);
    const struct straggler_advice *last = &found.advice[found.n_advice - 1];
    cr_assert_str_eq(last->finding.code, "concurrent_stages");
    runs[0].cores_per_executor = INT64_MAX;
    cr_assert_eq(find(1).slots, 1000000000);
    runs[0].cores_per_executor = RUN_UNKNOWN;
    cr_assert_eq(find(1).n_groups, 0);
}

Test(stragglers, a_replay_far_from_what_was_measured_is_named)
{
    make_runs(1, factors);
    stages[0][0].duration_s = 150;
    struct stragglers found = find(1);
    expect_warnings(&found, (const char *const[]){"replay_far_off"}, 1);
}

/* Cores are no more work than tasks are. */
Test(stragglers, a_node_of_a_billion_cores_is_replayed)
{
    make_runs(1, factors);
    nodes[0][0].cores = 1000000000;
    cr_assert_eq(find(1).speculation.stages, 2);
}

Test(stragglers, what_would_take_too_long_is_not_replayed)
{
    enum { MANY = 20000 };
    static double many[MANY];
    static int64_t on[MANY];
    make_runs(1, factors);
    for (size_t i = 0; i < MANY; i++) {
        many[i] = 1;
        on[i] = (int64_t)(i % NODES);
    }
    stages[0][0].n_tasks = MANY;
    stages[0][0].task_durations_s = many;
    stages[0][0].task_nodes = on;
    nodes[0][0].cores = 1000000000;
    struct stragglers found = find(1);
    cr_assert_eq(found.speculation.stages, 0);
    expect_warnings(&found, (const char *const[]){"too_many_tasks"}, 1);
    nodes[0][0].cores = 2;
    cr_assert_eq(find(1).speculation.stages, 2);
}

/* Tasks enough for few steps, if not each of them ended in a second of its own, with a decision. */
Test(stragglers, too_many_decisions_are_given_up, .timeout = 60)
{
    enum { MANY = 13000 };
    static double many[MANY];
    static int64_t on[MANY];
    make_runs(1, factors);
    for (size_t i = 0; i < MANY; i++) {
        many[i] = 10 + 2 * (double)i;
        on[i] = (int64_t)(i % NODES);
    }
    stages[0][1].n_tasks = MANY;
    stages[0][1].task_durations_s = many;
    stages[0][1].task_nodes = on;
    for (size_t k = 0; k < NODES; k++)
        nodes[0][k].cores = MANY;
    struct stragglers found = find(1);
    cr_assert_eq(found.speculation.stages, 0);
    cr_assert(isnan(found.stages[0].replayed_s) && isnan(found.stages[0].without_s));
    expect_warnings(&found, (const char *const[]){"too_many_tasks"}, 1);
}

/* Nodes of two cores each: of every task, steps for the nodes and for as many tasks at a time. */
Test(stragglers, limits_of_replays_are_those_given)
{
    const double steps = STAGES * TASKS * (NODES + 2 * NODES);
    struct straggler_limits limits = {.steps = steps, .looks = 1e9};
    make_runs(1, factors);
    cr_assert_eq(find_within(&limits, 1).speculation.stages, 2);
    limits.steps = steps - 1;
    struct stragglers found = find_within(&limits, 1);
    cr_assert_eq(found.speculation.stages, 0);
    expect_warnings(&found, (const char *const[]){"too_many_tasks"}, 1);
    limits = (struct straggler_limits){.steps = steps, .looks = 10};
    found = find_within(&limits, 1);
    cr_assert_eq(found.speculation.stages, 0);
    expect_warnings(&found, (const char *const[]){"too_many_tasks"}, 1);
    cr_assert(strstr(found.warnings.items[0].message, "straggler_replay_looks_max") != NULL);
}

Test(stragglers, one_node_and_no_stage_are_fine)
{
    make_runs(1, factors);
    runs[0].n_nodes = 1;
    for (size_t i = 0; i < TASKS; i++)
        places[i] = 0;
    struct stragglers found = find(1);
    cr_assert_eq(found.nodes[0].verdict, STRAGGLER_TOO_FEW);
    expect_warnings(&found, (const char *const[]){"single_node", "too_few_tasks"}, 2);
    runs[0].n_stages = runs[0].n_nodes = 0;
    found = find(1);
    cr_assert(found.n_nodes == 0 && found.n_stages == 0 && found.n_advice == 0);
}

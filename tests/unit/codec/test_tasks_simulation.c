/* Pigeon's layouts in requests and results of POST /v1/simulations of kind `tasks`. */
#include "codec/scheduling/tasks_simulation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/scheduling/tasks/tasks_policy.h"

static const struct codec_comparison_limits limits = {.jobs = 10,
                                                      .splits = 10000000,
                                                      .tasks = 100,
                                                      .runs = 10,
                                                      .task_runs = 1000,
                                                      .probes_per_task = 5,
                                                      .auto_nodes = 100,
                                                      .looks = 100000,
                                                      .job_rows = 100,
                                                      .memory_bytes = (size_t)64 << 20,
                                                      .search_task_runs = 100000,
                                                      .search_task_runs_max = 100000};
static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

static struct codec_tasks_simulation asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    struct codec_document document;
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_tasks_simulation_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

static void expect_fault(size_t i, const char *at, const char *code)
{
    cr_assert_gt(err.n_faults, i, "no fault at %s", at);
    cr_expect_str_eq(err.faults[i].at, at);
    cr_expect_str_eq(err.faults[i].code, code, "at %s", at);
}

#define BODY(cluster, classes, jobs, policies)                                                     \
    "{\"kind\": \"tasks\", \"cluster\": {" cluster "}, " classes "\"jobs\": [" jobs                \
    "], \"policies\": [" policies "]}"
#define A "{\"name\": \"A\", \"task_durations_s\": [4, 6]"
#define GROUPS "\"groups\": [{\"workers\": 3, \"power\": 2}, {\"workers\": 2}]"

Test(codec_tasks_simulation, nothing_of_a_layout_is_none)
{
    cr_assert_eq(
        decode(BODY("\"workers\": 5", "", A "}", "{\"policy\": \"pigeon\", \"groups\": 2}")),
        PV_OK);
    cr_expect_null(asked.policies[0].layout);
    cr_expect(asked.model.workers == 5 && asked.model.capacity == 0 && asked.model.n_classes == 0);
    cr_expect(asked.draws[0]);
}

Test(codec_tasks_simulation, listed_groups_are_those_of_every_pigeon)
{
    cr_assert_eq(
        decode(BODY(GROUPS, "", A "}",
                    "{\"policy\": \"pigeon\"}, {\"policy\": \"pigeon\", \"name\": \"b\"}")),
        PV_OK);
    cr_expect(asked.model.workers == 5 && asked.model.capacity == 8);
    for (size_t p = 0; p < 2; p++) {
        const struct pigeon_layout *layout = asked.policies[p].layout;
        cr_assert(layout != NULL && layout->n_groups == 2 && asked.policies[p].groups == 2);
        cr_expect(layout->groups[0].workers == 3 && layout->groups[0].power == 2);
        cr_expect(layout->groups[1].workers == 2 && layout->groups[1].power == 1);
        cr_expect(layout->classes == NULL && layout->n_failures == 0 &&
                  layout->report_every_s == 0);
    }
}

Test(codec_tasks_simulation, classes_are_declared_once_and_have_terms_in_each_policy)
{
    cr_assert_eq(
        decode(BODY("\"workers\": 5", "\"classes\": [\"x\", \"y\", \"z\"], ",
                    A ", \"class\": \"z\"}",
                    "{\"policy\": \"pigeon\", \"groups\": 2, \"classes\": [{\"name\": \"y\","
                    " \"weight\": \"infinite\", \"reserved_share\": 0.25}]},"
                    "{\"policy\": \"eagle\"}")),
        PV_OK);
    const struct pigeon_layout *layout = asked.policies[0].layout;
    cr_assert(layout != NULL && layout->n_classes == 3);
    cr_expect(layout->classes[0].weight == 20 && layout->classes[0].reserved_share == 0);
    cr_expect_eq(layout->classes[1].weight, TASKS_WEIGHT_INFINITE);
    cr_expect_eq(layout->classes[1].reserved_share, 0.25);
    cr_expect(asked.jobs[0].priority == 2 && asked.jobs[0].is_long);
    cr_expect_eq(asked.model.n_classes, 3);
    cr_expect_null(asked.policies[1].layout);
}

Test(codec_tasks_simulation, one_class_is_not_long)
{
    cr_assert_eq(decode(BODY("\"workers\": 5", "\"classes\": [\"x\"], ", A ", \"class\": \"x\"}",
                             "{\"policy\": \"pigeon\", \"groups\": 2}")),
                 PV_OK);
    cr_expect(asked.jobs[0].priority == 0 && !asked.jobs[0].is_long);
}

Test(codec_tasks_simulation, failures_have_defaults)
{
    cr_assert_eq(decode(BODY("\"workers\": 5", "", A "}",
                             "{\"policy\": \"pigeon\", \"groups\": 2, \"report_every_s\": 3,"
                             " \"failures\": [{\"group\": 1, \"at_s\": 7}, {\"group\": 0,"
                             " \"at_s\": 8, \"recovery\": \"none\", \"detection_s\": 2}]}")),
                 PV_OK);
    const struct pigeon_layout *layout = asked.policies[0].layout;
    cr_assert(layout != NULL && layout->n_failures == 2 && layout->report_every_s == 3);
    const struct pigeon_failure *first = &layout->failures[0];
    const struct pigeon_failure *second = &layout->failures[1];
    cr_expect(first->group == 1 && first->at_s == 7 && first->detection_s == 0);
    cr_expect_eq(first->recovery, PIGEON_SECOND_TAKES_OVER);
    cr_expect(second->recovery == PIGEON_GROUP_LOST && second->detection_s == 2);
    cr_expect(isinf(second->return_s));
}

Test(codec_tasks_simulation, workers_are_numbered_group_after_group)
{
    /* Five workers in two groups: 0 to 2 and 3 to 4. */
    const char *body = BODY("\"workers\": 5", "", A ", \"bound_to\": [[2, 0], [3]]}",
                            "{\"policy\": \"pigeon\", \"groups\": 2, \"failures\":"
                            " [{\"group\": 0, \"at_s\": 0, \"recovery\": \"none\"}]}");
    cr_assert_eq(decode(body), PV_E_INVALID);
    cr_assert_eq(err.n_faults, 1);
    expect_fault(0, "/jobs/0/bound_to/0", "conflict");
}

Test(codec_tasks_simulation, what_comes_before_the_failure_is_not_refused)
{
    cr_assert_eq(decode(BODY("\"workers\": 5", "", A ", \"bound_to\": [[2, 0], null]}",
                             "{\"policy\": \"pigeon\", \"groups\": 2, \"failures\":"
                             " [{\"group\": 0, \"at_s\": 0.1, \"recovery\": \"none\"}]}")),
                 PV_OK);
    const struct tasks_binding *bindings = asked.jobs[0].bindings;
    cr_expect(bindings[0].n == 2 && bindings[0].workers[0] == 2 && bindings[0].workers[1] == 0);
    cr_expect_eq(bindings[1].n, 0);
}

Test(codec_tasks_simulation, tasks_that_power_makes_too_short_are_refused)
{
    cr_assert_eq(decode(BODY("\"groups\": [{\"workers\": 1, \"power\": 1e6}, {\"workers\": 1,"
                             " \"power\": 1e-6}]",
                             "", "{\"name\": \"A\", \"task_durations_s\": [1e-3, 1e3]}",
                             "{\"policy\": \"pigeon\"}")),
                 PV_E_INVALID);
    expect_fault(0, "/jobs", "out_of_range");
}

/* --- how much it is --- */

/* Of two tasks, on many workers: 1000 in all are allowed. */
#define MANY(workers, more, policy) BODY("\"workers\": " workers, more, A "}", policy)

Test(codec_tasks_simulation, workers_and_groups_count_beside_tasks)
{
#define TWICE "\"loads\": [0.5], \"repetitions\": 2, "
    cr_expect_eq(decode(MANY("498", TWICE, "{\"policy\": \"sparrow\", \"probes_per_task\": 1}")),
                 PV_OK);
    cr_assert_eq(decode(MANY("499", TWICE, "{\"policy\": \"sparrow\", \"probes_per_task\": 1}")),
                 PV_E_INVALID);
    expect_fault(0, "/repetitions", "out_of_range");
    cr_expect_eq(decode(MANY("400", TWICE, "{\"policy\": \"pigeon\", \"groups\": 98}")), PV_OK);
    cr_assert_eq(decode(MANY("400", TWICE, "{\"policy\": \"pigeon\", \"groups\": 99}")),
                 PV_E_INVALID);
    expect_fault(0, "/repetitions", "out_of_range");
    /* Eagle sends 20 probes for the two tasks. */
    cr_expect_eq(decode(MANY("480", TWICE, "{\"policy\": \"eagle\", \"probes_per_task\": 1}")),
                 PV_OK);
    cr_assert_eq(decode(MANY("481", TWICE, "{\"policy\": \"eagle\", \"probes_per_task\": 1}")),
                 PV_E_INVALID);
    expect_fault(0, "/repetitions", "out_of_range");
}

Test(codec_tasks_simulation, searches_pay_for_workers)
{
#define SEARCH(task_runs)                                                                          \
    "\"search\": {\"policies\": [{\"policy\": \"sparrow\", \"probes_per_task\": [3]}], "           \
    "\"task_runs\": " task_runs "}, "
    cr_expect_eq(decode(MANY("300", SEARCH("306"), "{\"policy\": \"centralised\"}")), PV_OK);
    cr_assert_eq(decode(MANY("300", SEARCH("305"), "{\"policy\": \"centralised\"}")), PV_E_INVALID);
    expect_fault(0, "/search/task_runs", "out_of_range");
}

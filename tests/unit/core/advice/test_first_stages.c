#include "core/advice/first_stages.h"

#include <criterion/criterion.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/history/run_metrics.h"

static struct arena arena;
static struct arena scratch;
static struct first_stage *found;
static size_t n_found;
static struct pv_error err;

static void setup(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(first_stages, .init = setup, .fini = teardown);

static struct run_stage
stage(int64_t id, const int64_t *parents, size_t n, int64_t tasks, int64_t bytes)
{
    struct run_stage made = {.id = id,
                             .name = strview_of(id == 0 ? "scan" : "other"),
                             .parents = parents,
                             .n_parents = n,
                             .n_tasks = tasks,
                             .task_duration_s = 2,
                             .task_time_s = 2 * (double)tasks,
                             .metrics = run_metrics_unknown()};
    made.metrics.input_bytes = bytes;
    return made;
}

static enum pv_code find(const struct run runs[], size_t n, int64_t size, int64_t executors)
{
    const struct replay_target target = {(double)size, executors, 2};
    n_found = 0;
    pv_error_clear(&err);
    return first_stages_find(runs, n, &target, &arena, &scratch, &found, &n_found, &err);
}

static const int64_t zero[] = {0};

/* One task a block: twice the blocks are twice the tasks and twice the bytes. */
Test(first_stages, follow_the_problem_size)
{
    struct run_stage stages[] = {stage(0, NULL, 0, 8, 800), stage(1, zero, 1, 4, 50)};
    struct run run = run_of_stages(stages, 2, 8, 2, 2, 30, 1);
    cr_assert_eq(find(&run, 1, 16, 4), PV_OK);
    cr_assert_eq(n_found, 1);
    cr_expect(found[0].id == 0 && found[0].tasks == 16 && found[0].input_bytes == 1600);
    cr_expect(strview_equal(found[0].name, strview_of("scan")));
}

/* A stage cut by the cores is cut anew; what it reads is the same. */
Test(first_stages, follow_the_cores)
{
    struct run_stage stages[] = {stage(0, NULL, 0, 4, 800)};
    struct run run = run_of_stages(stages, 1, 100, 2, 2, 30, 1);
    cr_assert_eq(find(&run, 1, 100, 8), PV_OK);
    cr_expect(found[0].tasks == 16 && found[0].input_bytes == 800);
}

/* Four tasks on four cores look cut by the cores; a run with other cores shows that they are not.
 */
Test(first_stages, other_runs_tell_what_the_count_follows)
{
    struct run_stage stages[] = {stage(0, NULL, 0, 4, 800)};
    struct run runs[] = {run_of_stages(stages, 1, 100, 2, 2, 30, 1),
                         run_of_stages(stages, 1, 100, 5, 2, 20, 1)};
    cr_assert_eq(find(runs, 2, 100, 8), PV_OK);
    cr_expect_eq(found[0].tasks, 4);
}

/* What waits for a stage that was skipped waits for nothing; what reads nothing has no copies. */
Test(first_stages, skipped_parents_and_stages_without_input)
{
    struct run_stage stages[] = {stage(0, NULL, 0, 4, 10), stage(1, zero, 1, 8, 800),
                                 stage(2, NULL, 0, 8, 0)};
    stages[0].skipped = true;
    struct run run = run_of_stages(stages, 3, 8, 2, 2, 30, 1);
    cr_assert_eq(find(&run, 1, 8, 2), PV_OK);
    cr_expect(n_found == 1 && found[0].id == 1);
}

Test(first_stages, what_is_missing_is_said)
{
    struct run_stage unknown[] = {stage(0, NULL, 0, 8, RUN_UNKNOWN)};
    struct run_stage dry[] = {stage(0, NULL, 0, 8, 0)};
    struct run run = run_of_stages(unknown, 1, 8, 2, 2, 30, 1);
    cr_expect_eq(find(&run, 1, 8, 2), PV_E_TOO_FEW);
    cr_expect(strstr(err.detail, "input_bytes") != NULL);
    run = run_of_stages(dry, 1, 8, 2, 2, 30, 1);
    cr_expect_eq(find(&run, 1, 8, 2), PV_E_TOO_FEW);
    cr_expect(strstr(err.detail, "reads from storage") != NULL);
    run.has_stages = false;
    run.n_stages = 0;
    cr_expect_eq(find(&run, 1, 8, 2), PV_E_TOO_FEW);
    cr_expect_eq(n_found, 0);
}

/* Runs behind those that are given teach nothing: with them the number of tasks would be fixed. */
Test(first_stages, only_the_runs_given_count)
{
    struct run_stage unsized[] = {stage(0, NULL, 0, 8, 800)};
    struct run_stage small[] = {stage(0, NULL, 0, 8, 800)};
    struct run_stage large[] = {stage(0, NULL, 0, 8, 800)};
    struct run runs[] = {run_of_stages(unsized, 1, 8, 2, 2, 30, 1),
                         run_of_stages(small, 1, 8, 2, 2, 30, 1),
                         run_of_stages(large, 1, 16, 4, 2, 30, 1)};
    runs[0].problem_size = 0;
    cr_assert_eq(find(runs, 1, 16, 4), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "the size of the run is unknown");
    cr_assert_eq(find(runs, 2, 16, 4), PV_OK);
    cr_expect_eq(found[0].tasks, 16);
    cr_assert_eq(find(runs, 3, 16, 4), PV_OK);
    cr_expect_eq(found[0].tasks, 8);
}

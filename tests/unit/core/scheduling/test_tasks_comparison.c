#include "core/scheduling/tasks/tasks_comparison.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "tasks_cases.h"

enum { REPETITIONS = 3, WORKERS = 40, JOBS = 200 };

/* All policies, each with terms that suit the workers. */
static void take_policies(struct tasks_terms policies[TASKS_POLICIES], bool draws[TASKS_POLICIES])
{
    for (int p = 0; p < TASKS_POLICIES; p++) {
        policies[p] = tasks_terms_default((enum tasks_policy_id)p);
        if (p == TASKS_PIGEON)
            policies[p].groups = 4;
        draws[p] = tasks_terms_draw(&policies[p]);
    }
}

Test(tasks_comparison, pigeon_of_several_groups_sparrow_and_eagle_draw)
{
    struct tasks_terms policies[TASKS_POLICIES];
    bool draws[TASKS_POLICIES];
    take_policies(policies, draws);
    cr_expect(draws[TASKS_PIGEON] && draws[TASKS_SPARROW] && draws[TASKS_EAGLE]);
    cr_expect(!draws[TASKS_CENTRALISED]);
    policies[TASKS_PIGEON].groups = 1;
    cr_expect(!tasks_terms_draw(&policies[TASKS_PIGEON]));
}

Test(tasks_comparison, cells_are_simulations_and_take_no_more_memory_than_was_said, .timeout = 60)
{
    struct tasks_terms policies[TASKS_POLICIES];
    bool draws[TASKS_POLICIES];
    const double loads[] = {0.5, 0.9};
    struct arena arena;
    struct arena kept;
    arena_init(&arena, 0);
    arena_init(&kept, 0);
    take_policies(policies, draws);
    struct tasks_model model = tasks_case_random(&arena, 3, WORKERS, JOBS, 20, 0.8, 0.001);
    const struct tasks_comparison comparison = {.plan = {.n_policies = TASKS_POLICIES,
                                                         .draws = draws,
                                                         .loads = loads,
                                                         .n_loads = 2,
                                                         .repetitions = REPETITIONS,
                                                         .seed = 8},
                                                .model = &model,
                                                .policies = policies};
    size_t n;
    const struct policy_cell *cells = policy_cells(&comparison.plan, &kept, &n);
    cr_assert_eq(n, 2 * TASKS_POLICIES * REPETITIONS);
    struct tasks_cell *made = arena_calloc(&kept, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        struct arena scratch;
        arena_init(&scratch, tasks_comparison_memory(&model, &policies[cells[i].policy]));
        made[i].start_s = arena_array(&kept, JOBS, sizeof(double));
        made[i].finish_s = arena_array(&kept, JOBS, sizeof(double));
        made[i].slowdown = arena_array(&kept, JOBS, sizeof(double));
        cr_assert_eq(tasks_comparison_run(&comparison, &cells[i], NULL, &scratch, &made[i], NULL),
                     PV_OK);
        arena_fini(&scratch);
    }
    /* The one at 0.9 in repetition 1 of eagle, by hand. */
    struct tasks_job *jobs = arena_array(&kept, JOBS, sizeof *jobs);
    const struct trial trial = {8, 1};
    struct tasks_model retimed = model;
    struct tasks_result result;
    size_t at = (TASKS_POLICIES + TASKS_EAGLE) * REPETITIONS + 1;
    cr_assert_eq(cells[at].policy, TASKS_EAGLE);
    tasks_retime(&model, 0.9, &trial, jobs);
    retimed.jobs = jobs;
    cr_assert_eq(tasks_simulate(&retimed, &policies[TASKS_EAGLE], &trial, 0, NULL, &kept, &kept,
                                &result, NULL),
                 PV_OK);
    for (uint32_t j = 0; j < JOBS; j++) {
        cr_expect_eq(made[at].start_s[j], result.start_s[j]);
        cr_expect_eq(made[at].finish_s[j], result.finish_s[j]);
        cr_expect_eq(made[at].slowdown[j], tasks_slowdown(&retimed, &result, j));
    }
    arena_fini(&kept);
    arena_fini(&arena);
}

/* --- cancelled --- */

struct count {
    size_t reports;
    size_t most; /* after these it is to stop */
    uint64_t tasks;
};

static bool count_report(void *context, uint64_t tasks)
{
    struct count *count = context;
    cr_expect_geq(tasks, count->tasks);
    count->tasks = tasks;
    return ++count->reports < count->most;
}

/* Also when all tasks are done and what they come to is worked out. */
Test(tasks_comparison, a_cell_can_be_cancelled_to_its_very_end)
{
    struct arena arena;
    struct arena scratch;
    const bool draws[] = {true};
    const double loads[] = {0.9};
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    arena_init(&arena, 0);
    terms.groups = 4;
    struct tasks_model model = tasks_case_random(&arena, 3, WORKERS, JOBS, 20, 0.8, 0.001);
    const struct tasks_comparison comparison = {
        .plan = {.n_policies = 1, .draws = draws, .loads = loads, .n_loads = 1, .repetitions = 1},
        .model = &model,
        .policies = &terms};
    const struct policy_cell cell = {0, 0, 0};
    struct job_distribution *distributions =
        arena_calloc(&arena, TASKS_CLASSES, sizeof *distributions);
    struct tasks_detail detail = {.distributions = distributions};
    struct count count = {.most = SIZE_MAX};
    const struct tasks_progress progress = {count_report, &count};
    enum pv_code code = PV_E_CANCELLED;
    size_t all = 0;
    for (size_t most = 1; code == PV_E_CANCELLED; most++) {
        struct tasks_cell made = {.detail = &detail};
        arena_init(&scratch, 0);
        count = (struct count){.most = most};
        code = tasks_comparison_run(&comparison, &cell, &progress, &scratch, &made, NULL);
        all = count.reports;
        arena_fini(&scratch);
    }
    cr_expect_eq(code, PV_OK);
    /* One when jobs are retimed, three for each class and all jobs, one for each distribution. */
    cr_expect_geq(all, 1 + 3 * 3 + 3);
    cr_expect_eq(count.tasks, model.tasks);
    arena_fini(&arena);
}

/* --- what it costs --- */

static const double seconds[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Short jobs of 1, 3 and 12 tasks, and a long one of 2. */
static struct tasks_model few_jobs(struct tasks_job jobs[4], uint32_t workers, struct arena *arena)
{
    static const uint32_t tasks[] = {1, 3, 12, 2};
    for (size_t i = 0; i < 4; i++)
        jobs[i] = (struct tasks_job){.durations_s = seconds, .tasks = tasks[i], .is_long = i == 3};
    struct tasks_model model = {.workers = workers, .jobs = jobs, .n_jobs = 4};
    cr_assert_eq(tasks_model_complete(&model, arena, NULL), PV_OK);
    return model;
}

Test(tasks_comparison, probes_workers_and_masters_count_as_tasks)
{
    struct tasks_job jobs[4];
    struct tasks_terms policies[TASKS_POLICIES];
    bool draws[TASKS_POLICIES];
    struct arena arena;
    arena_init(&arena, 0);
    take_policies(policies, draws);
    struct tasks_model model = few_jobs(jobs, 1000, &arena);
    cr_expect_eq(tasks_comparison_work(&model, &policies[TASKS_PIGEON]), 1000 + 4 + 18);
    cr_expect_eq(tasks_comparison_work(&model, &policies[TASKS_CENTRALISED]), 1000 + 1 + 18);
    policies[TASKS_SPARROW].probes_per_task = 5;
    cr_expect_eq(tasks_comparison_work(&model, &policies[TASKS_SPARROW]), 1000 + 5 * 18);
    /* Of a short job 20 at least; long tasks are not probed for. */
    policies[TASKS_EAGLE].probes_per_task = 2;
    cr_expect_eq(tasks_comparison_work(&model, &policies[TASKS_EAGLE]), 1000 + 20 + 20 + 24 + 2);
    policies[TASKS_PIGEON].groups = 1000;
    cr_expect_eq(tasks_comparison_work(&model, &policies[TASKS_PIGEON]), 1000 + 1000 + 18);
    arena_fini(&arena);
}

Test(tasks_comparison, jobs_that_are_counted_only_cost_no_less)
{
    struct tasks_job jobs[4];
    struct tasks_terms policies[TASKS_POLICIES];
    bool draws[TASKS_POLICIES];
    struct arena arena;
    arena_init(&arena, 0);
    take_policies(policies, draws);
    struct tasks_model model = few_jobs(jobs, 50, &arena);
    const struct tasks_model counted = {.workers = 50, .n_jobs = 4, .tasks = model.tasks};
    for (int p = 0; p < TASKS_POLICIES; p++)
        for (uint32_t probes = 1; probes < 30; probes++) {
            policies[p].probes_per_task = probes;
            cr_expect_geq(tasks_comparison_work(&counted, &policies[p]),
                          tasks_comparison_work(&model, &policies[p]), "policy %d", p);
        }
    arena_fini(&arena);
}

Test(tasks_comparison, layouts_cost_what_is_looked_through)
{
    static const struct pigeon_group groups[] = {{.workers = 3, .power = 1},
                                                 {.workers = 2, .power = 2},
                                                 {.workers = 2, .power = 1},
                                                 {.workers = 3, .power = 1}};
    static const struct pigeon_failure failures[] = {{.group = 1, .at_s = 1},
                                                     {.group = 2, .at_s = 2}};
    static const uint32_t any[] = {0, 1, 2, 3};
    struct tasks_binding bindings[12] = {{any, 4}, {any, 2}};
    struct tasks_job jobs[4];
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = few_jobs(jobs, 10, &arena);
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    struct pigeon_layout layout = {.groups = groups, .n_groups = 4};
    terms.groups = 4;
    terms.layout = &layout;
    cr_expect_eq(tasks_comparison_work(&model, &terms), 10 + 4 + 18 + 4 * 4);
    layout.failures = failures;
    layout.n_failures = 2;
    cr_expect_eq(tasks_comparison_work(&model, &terms), 10 + 4 * 3 + 18 * 2 + 4 * 4);
    jobs[2].bindings = bindings;
    cr_expect_eq(tasks_comparison_work(&model, &terms), 10 + 4 * 3 + 18 * 2 + 4 * 4 + 2 * 6);
    arena_fini(&arena);
}

static struct tasks_cell cell_of(double short_p95, double all_p95, uint32_t shorts)
{
    struct tasks_cell cell = {.outcome = {.makespan_s = 10 * all_p95}};
    cell.outcome.classes[TASKS_ALL] =
        (struct tasks_class){.name = "all", .count = 9, .slowdown = {.p50 = 1, .p95 = all_p95}};
    cell.outcome.classes[TASKS_SHORT] = (struct tasks_class){
        .name = "short", .count = shorts, .slowdown = {.p50 = 2, .p95 = short_p95}};
    return cell;
}

Test(tasks_comparison, the_objective_is_about_short_jobs_where_there_are_any)
{
    const bool draws[] = {true, true};
    const struct tasks_comparison comparison = {
        .plan = {.n_policies = 2, .draws = draws, .repetitions = 2}};
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t shorts = 0; shorts < 2; shorts++) {
        const struct tasks_cell made[] = {cell_of(4, 9, shorts), cell_of(5, 9, shorts),
                                          cell_of(7, 3, shorts), cell_of(7, 3.5, shorts)};
        const struct policy_load *found =
            tasks_comparison_conclude(&comparison, made, POLICY_SLOWDOWN_P95, &arena);
        cr_assert_not_null(found);
        cr_expect_eq(found->choice.best, shorts > 0 ? 0 : 1);
        cr_expect_eq(found->choice.value, shorts > 0 ? 4.5 : 3.25);
        cr_expect_eq(tasks_load_mean(found, 1)->classes[TASKS_ALL].slowdown.p95, 3.25);
        cr_expect_eq(tasks_load_mean(found, 1)->classes[TASKS_ALL].count, 9);
        found = tasks_comparison_conclude(&comparison, made, POLICY_VARIABILITY, &arena);
        cr_expect_eq(found->choice.value, shorts > 0 ? 2.25 : 3.25);
        found = tasks_comparison_conclude(&comparison, made, POLICY_MAKESPAN, &arena);
        cr_expect_eq(found->choice.best, 1);
        cr_expect_eq(found->choice.value, 32.5);
    }
    arena_fini(&arena);
}

#include "core/scheduling/tasks/tasks_search.h"

#include <criterion/criterion.h>

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_comparison.h"

static const double durations_s[] = {1, 2, 3};
static struct tasks_job jobs[2];

static struct tasks_model make_model(uint32_t workers, bool both, struct arena *arena)
{
    struct tasks_model model = {.workers = workers, .jobs = jobs, .n_jobs = 2};
    for (size_t i = 0; i < 2; i++)
        jobs[i] = (struct tasks_job){.durations_s = durations_s, .tasks = 3};
    jobs[1].is_long = both;
    cr_assert_eq(tasks_model_complete(&model, arena, NULL), PV_OK);
    return model;
}

static struct tasks_tried candidates(const struct tasks_model *model,
                                     const struct tasks_family families[],
                                     size_t n,
                                     struct arena *arena)
{
    struct tasks_tried tried;
    cr_assert_eq(tasks_search_candidates(model, families, n, SIZE_MAX, 256, arena, &tried, NULL),
                 PV_OK);
    return tried;
}

static const struct tasks_family all[] = {{.policy = TASKS_PIGEON},
                                          {.policy = TASKS_CENTRALISED},
                                          {.policy = TASKS_SPARROW},
                                          {.policy = TASKS_EAGLE}};

Test(tasks_search, all_that_is_tried_can_be_simulated)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t workers = 1; workers < 2000; workers = 3 * workers + 1)
        for (int both = 0; both < 2; both++) {
            struct tasks_model model = make_model(workers, both != 0, &arena);
            struct tasks_tried tried = candidates(&model, all, 4, &arena);
            cr_expect_eq(tried.left_out, 0);
            for (size_t i = 0; i < tried.n; i++) {
                const struct trial trial = {1, 0};
                struct tasks_result result;
                cr_assert_leq(tried.terms[i].groups, workers);
                cr_assert_eq(tasks_simulate(&model, &tried.terms[i], &trial, 0, NULL, &arena,
                                            &arena, &result, NULL),
                             PV_OK);
            }
        }
    arena_fini(&arena);
}

Test(tasks_search, groups_have_the_sizes_that_are_studied)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(3000, true, &arena);
    struct tasks_tried tried = candidates(&model, all, 1, &arena);
    /* 300, 150, 100, 60, 40, 30, 20, 15, 10 and 1 groups, 3 weights and up to 6 shares. */
    static const uint32_t groups[] = {300, 150, 100, 60, 40, 30, 20, 15, 10, 1};
    size_t at = 0;
    for (size_t i = 0; i < tried.n; i++) {
        while (tried.terms[i].groups != groups[at])
            cr_assert_lt(++at, 10);
        cr_expect_leq(tried.terms[i].reserved_share, 0.3);
    }
    cr_expect_eq(at, 9);
    /* 10 workers have 1 reserved for shares up to a tenth. */
    cr_expect_eq(tried.terms[2].groups, 300);
    cr_expect_eq(tried.terms[2].reserved_share, 0.01);
    cr_expect_eq(tried.terms[3].reserved_share, 0.2);
    arena_fini(&arena);
}

Test(tasks_search, without_both_classes_neither_weight_nor_shares_matter)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(3000, false, &arena);
    cr_expect_eq(candidates(&model, &all[0], 1, &arena).n, 10);
    cr_expect_eq(candidates(&model, &all[1], 1, &arena).n, 1);
    cr_expect_eq(candidates(&model, &all[2], 1, &arena).n, 5);
    cr_expect_eq(candidates(&model, &all[3], 1, &arena).n, 4);
    arena_fini(&arena);
}

Test(tasks_search, of_jobs_that_are_counted_only_both_classes_are_assumed)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(3000, true, &arena);
    struct tasks_model counted = {
        .workers = model.workers, .n_jobs = model.n_jobs, .tasks = model.tasks};
    struct tasks_tried tried = candidates(&model, all, 4, &arena);
    struct tasks_tried before = candidates(&counted, all, 4, &arena);
    cr_assert_eq(before.n, tried.n);
    for (size_t i = 0; i < tried.n; i++) {
        cr_expect_eq(before.terms[i].policy, tried.terms[i].policy);
        cr_expect_eq(before.terms[i].groups, tried.terms[i].groups);
        cr_expect_eq(before.terms[i].weight, tried.terms[i].weight);
        cr_expect_eq(before.terms[i].probes_per_task, tried.terms[i].probes_per_task);
    }
    model = make_model(3000, false, &arena);
    cr_expect_lt(candidates(&model, all, 4, &arena).n, before.n);
    arena_fini(&arena);
}

Test(tasks_search, what_cannot_be_simulated_is_counted)
{
    static const uint64_t groups[] = {1, 2, 5, 11, 2};
    static const double shares[] = {0.1};
    static const uint64_t weights[] = {TASKS_WEIGHT_INFINITE};
    static const uint32_t placement[] = {1, 0, 1};
    const struct tasks_family family = {.policy = TASKS_PIGEON,
                                        .groups = groups,
                                        .n_groups = 5,
                                        .reserved_shares = shares,
                                        .n_reserved_shares = 1,
                                        .weights = weights,
                                        .n_weights = 1};
    struct arena arena;
    struct tasks_tried tried;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(10, true, &arena);
    tried = candidates(&model, &family, 1, &arena);
    cr_expect_eq(tried.n, 3);
    cr_expect_eq(tried.left_out, 1);
    cr_expect_eq(tried.terms[2].groups, 5);
    cr_expect_eq(tried.terms[2].weight, TASKS_WEIGHT_INFINITE);
    jobs[0].placement = placement; /* in groups 0 and 1 */
    tried = candidates(&model, &family, 1, &arena);
    cr_expect_eq(tried.n, 2);
    cr_expect_eq(tried.left_out, 2);
    cr_expect_eq(tasks_search_candidates(&model, &family, 1, 10, 256, &arena, &tried, NULL), PV_OK);
    cr_expect_eq(tried.n, 0);
    cr_expect_eq(tasks_search_candidates(&model, all, 4, SIZE_MAX, 9, &arena, &tried, NULL),
                 PV_E_LIMIT);
    arena_fini(&arena);
}

/* What is found is no worse than what it is compared with, where the search chooses the values. */
Test(tasks_search, compared_policies_are_candidates_of_families_without_lists)
{
    static const struct pigeon_layout layout = {.report_every_s = 1};
    static const uint64_t two[] = {2};
    struct tasks_terms compared[4];
    struct tasks_family family = {.policy = TASKS_PIGEON, .compared = compared, .n_compared = 4};
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(1000, false, &arena);
    size_t without = candidates(&model, &all[0], 1, &arena).n;
    for (size_t i = 0; i < 4; i++)
        compared[i] = tasks_terms_default(TASKS_PIGEON);
    compared[0].groups = 7;
    compared[0].weight = 3;
    compared[1].groups = 11;
    compared[1].layout = &layout;
    compared[2] = tasks_terms_default(TASKS_SPARROW);
    compared[3].reserved_share = 0; /* of one group: that is tried anyway */
    struct tasks_tried tried = candidates(&model, &family, 1, &arena);
    cr_assert_eq(tried.n, without + 1);
    cr_expect(tried.terms[without].groups == 7 && tried.terms[without].weight == 3);
    /* They are no reason to refuse a search. */
    cr_assert_eq(
        tasks_search_candidates(&model, &family, 1, SIZE_MAX, without, &arena, &tried, NULL),
        PV_OK);
    cr_expect(tried.n == without && tried.left_out == 1);
    family.groups = two;
    family.n_groups = 1;
    tried = candidates(&model, &family, 1, &arena);
    for (size_t i = 0; i < tried.n; i++)
        cr_expect_eq(tried.terms[i].groups, 2);
    arena_fini(&arena);
}

Test(tasks_search, what_each_costs_is_what_it_takes_to_set_up_and_simulate)
{
    struct arena arena;
    struct policy_search_plan plan;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(3000, true, &arena);
    struct tasks_tried tried = candidates(&model, all, 4, &arena);
    cr_assert(tasks_search_plan(&model, &tried, true, &arena, &plan));
    for (size_t i = 0; i < tried.n; i++) {
        cr_expect_float_eq(policy_search_price(&plan, i, plan.jobs),
                           tasks_comparison_work(&model, &tried.terms[i]), 1e-6);
        cr_expect_geq(policy_search_price(&plan, i, 1), 3000);
    }
    arena_fini(&arena);
}

/* --- the first jobs --- */

Test(tasks_search, the_first_jobs_are_those_that_arrive_first)
{
    struct arena arena;
    double tasks_by[3];
    struct tasks_model first;
    arena_init(&arena, 0);
    struct tasks_model model = make_model(4, true, &arena);
    jobs[0].arrival_s = 9;
    jobs[0].tasks = 2;
    cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
    tasks_model_tasks_by(&model, tasks_by);
    cr_expect(tasks_by[0] == 0 && tasks_by[1] == 3 && tasks_by[2] == 5);
    cr_assert_eq(tasks_model_cut(&model, 1, &arena, &first, NULL), PV_OK);
    cr_expect_eq(first.n_jobs, 1);
    cr_expect(first.jobs[0].is_long && first.tasks == 3 && first.work_s == 6);
    arena_fini(&arena);
}

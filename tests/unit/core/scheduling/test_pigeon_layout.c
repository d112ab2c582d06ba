#include "core/scheduling/tasks/pigeon_layout.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rounding.h"
#include "pigeon_watch.h"

static struct arena arena;

static struct tasks_terms
layout_terms(const struct pigeon_layout *layout, uint32_t groups, double share, uint64_t weight)
{
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = groups;
    terms.reserved_share = share;
    terms.weight = weight;
    terms.layout = layout;
    return terms;
}

/* --- the same as without a layout --- */

static struct tasks_result run(const struct tasks_model *model, const struct tasks_terms *terms)
{
    const struct trial trial = {5, 1};
    struct tasks_result result;
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(tasks_simulate(model, terms, &trial, 0, NULL, &arena, &scratch, &result, NULL),
                 PV_OK);
    cr_assert_leq(result.memory, tasks_simulation_memory(model, terms));
    arena_fini(&scratch);
    return result;
}

static void expect_same(const struct tasks_model *model,
                        const struct tasks_terms *plain,
                        const struct pigeon_layout *layout,
                        const char *what)
{
    struct tasks_terms terms = *plain;
    terms.layout = layout;
    struct tasks_result expected = run(model, plain);
    struct tasks_result result = run(model, &terms);
    cr_expect(tasks_case_same(&expected, &result, model->n_jobs), "%s", what);
    cr_expect_eq(expected.events, result.events);
}

/* With nothing in it; with the two classes listed; with three, of which one has no jobs; with groups
 * of equal power listed; with masters that have failed before there is anything to do. */
static void expect_layouts_same(const struct tasks_model *model, const struct tasks_terms *plain)
{
    const struct pigeon_group equal[] = {{10, 1}, {10, 1}, {10, 1}, {10, 1}};
    const struct pigeon_class two[] = {{plain->reserved_share, plain->weight}, {0, 1}};
    const struct pigeon_class three[] = {{plain->reserved_share, plain->weight}, {0, 2}, {0, 1}};
    struct pigeon_layout layout = {0};
    expect_same(model, plain, &layout, "nothing in the layout");
    layout.report_every_s = 5;
    layout.classes = two;
    layout.n_classes = 2;
    expect_same(model, plain, &layout, "two classes");
    layout.classes = three;
    layout.n_classes = 3;
    expect_same(model, plain, &layout, "three classes");
    layout.classes = NULL;
    layout.groups = equal;
    layout.n_groups = 4;
    if (plain->groups == 4)
        expect_same(model, plain, &layout, "equal groups");
}

Test(pigeon_layout, nothing_is_different_where_nothing_is_said)
{
    static const uint64_t weights[] = {1, 2, 3, 20, TASKS_WEIGHT_INFINITE};
    for (uint64_t seed = 0; seed < 10; seed++) {
        arena_init(&arena, 0);
        double communication_s = seed % 2 == 0 ? 0.001 : 0;
        double load = seed < 5 ? 0.9 : 2;
        struct tasks_model model =
            tasks_case_random(&arena, seed, 40, 500, 90, load, communication_s);
        struct tasks_job *jobs = arena_array(&arena, model.n_jobs, sizeof *jobs);
        cr_assert_not_null(jobs);
        memcpy(jobs, model.jobs, model.n_jobs * sizeof *jobs);
        for (uint32_t j = 0; j < model.n_jobs; j++)
            jobs[j].priority = jobs[j].is_long ? 1 : 0;
        model.jobs = jobs;
        for (uint32_t groups = 1; groups <= 7; groups += 3) {
            struct tasks_terms plain =
                layout_terms(NULL, groups, 0.05 * (double)(seed % 3), weights[seed % 5]);
            expect_layouts_same(&model, &plain);
        }
        arena_fini(&arena);
    }
}

/* --- groups of different power --- */

/* Ten workers of power 1 and ten of 3: of 40 tasks of 12 the first get 10, which take 12, the others
 * 30, which take 4 each, three one after the other. */
Test(pigeon_layout, two_groups_of_different_power)
{
    static const struct pigeon_group groups[] = {{10, 1}, {10, 3}};
    static const double twelve[] = {12, 12, 12, 12, 12, 12, 12, 12};
    const struct pigeon_layout layout = {.groups = groups, .n_groups = 2};
    struct tasks_case one;
    tasks_case_init(&one, 20, 0);
    one.model.capacity = pigeon_layout_capacity(groups, 2);
    cr_assert_eq(one.model.capacity, 40);
    for (int i = 0; i < 5; i++)
        tasks_case_job(&one, 0, twelve, 8);
    struct tasks_terms terms = layout_terms(&layout, 1, 0, 20);
    tasks_case_run(&one, &terms);
    for (uint32_t j = 0; j < 5; j++)
        cr_expect_leq(tasks_case_finish(&one, j), 12);
    cr_expect_eq(one.outcome.makespan_s, 12);
    cr_expect(rounding_equal(one.outcome.utilization, 1));
    tasks_case_fini(&one);
}

/* At one load all groups are equally busy in the long run, whatever their power. */
Test(pigeon_layout, power_is_used_evenly)
{
    static const struct pigeon_group groups[] = {{30, 1}, {10, 4}, {20, 0.5}};
    static const uint32_t first[] = {0, 30, 40, 60};
    const struct pigeon_layout layout = {.groups = groups, .n_groups = 3};
    struct tasks_result result;
    struct pigeon_watch watch;
    arena_init(&arena, 0);
    struct tasks_model model = tasks_case_random(&arena, 3, 60, 8000, 8, 0.5, 0.001);
    const struct trial trial = {3, 3};
    struct tasks_job *jobs = arena_array(&arena, model.n_jobs, sizeof *jobs);
    cr_assert_not_null(jobs);
    model.capacity = pigeon_layout_capacity(groups, 3);
    tasks_retime(&model, 0.7, &trial, jobs);
    model.jobs = jobs;
    struct tasks_terms terms = layout_terms(&layout, 1, 0.1, 20);
    pigeon_watch_init(&watch, &model, &terms, &arena);
    cr_assert_eq(pigeon_watch_run(&watch, 1, &arena, &result), PV_OK);
    cr_expect_str_eq(pigeon_watch_fault(&watch), "");
    for (int g = 0; g < 3; g++) {
        double busy_s = 0;
        double last_s = jobs[model.order[model.n_jobs - 1]].arrival_s;
        for (size_t i = 0; i < watch.n; i++)
            if (watch.starts[i].place >= first[g] && watch.starts[i].place < first[g + 1])
                busy_s += watch.starts[i].end_s - watch.starts[i].start_s;
        double load = busy_s / (last_s * groups[g].workers);
        cr_expect(fabs(load - 0.7) < 0.08, "group %d is busy to %g", g, load);
    }
    arena_fini(&arena);
}

/* --- classes --- */

Test(pigeon_layout, reserved_workers_of_classes)
{
    static const struct pigeon_class classes[] = {{0.2, 1}, {0.1, 1}, {0.5, 1}};
    static const struct pigeon_class greedy[] = {{0.5, 1}, {0.5, 1}, {0.5, 1}, {0, 1}};
    uint32_t workers[4];
    pigeon_layout_levels(classes, 3, 10, workers);
    cr_expect(workers[0] == 2 && workers[1] == 1 && workers[2] == 7);
    pigeon_layout_levels(greedy, 4, 4, workers);
    cr_expect(workers[0] == 2 && workers[1] == 1 && workers[2] == 0 && workers[3] == 1);
    pigeon_layout_levels(greedy, 4, 1, workers);
    cr_expect(workers[0] == 0 && workers[1] == 0 && workers[2] == 0 && workers[3] == 1);
    pigeon_layout_levels(classes, 1, 10, workers);
    cr_expect_eq(workers[0], 10);
}

/* Of ten workers two are for the highest class, one for it and the next, seven for all. */
Test(pigeon_layout, classes_keep_to_their_workers)
{
    static const struct pigeon_class classes[] = {{0.2, 20}, {0.1, 20}, {0, 1}};
    static const double ten[] = {10, 10, 10, 10, 10, 10, 10, 10};
    const struct pigeon_layout layout = {.classes = classes, .n_classes = 3};
    struct tasks_case one;
    tasks_case_init(&one, 10, 0);
    tasks_case_job(&one, 0, ten, 8)->priority = 2;
    tasks_case_job(&one, 1, ten, 2)->priority = 1;
    tasks_case_job(&one, 2, ten, 2)->priority = 0;
    struct tasks_terms terms = layout_terms(&layout, 1, 0, 20);
    tasks_case_run(&one, &terms);
    /* The lowest has seven workers, its eighth task waits; of the next one runs, and one waits. */
    cr_expect_eq(tasks_case_finish(&one, 2), 12);
    cr_expect_eq(tasks_case_start(&one, 1), 1);
    cr_expect_eq(tasks_case_finish(&one, 1), 20);
    cr_expect_eq(tasks_case_finish(&one, 0), 20);
    tasks_case_fini(&one);
}

/* Completions of 1 and 2 of the highest class, 3 of the next, 4 of the last. */
Test(pigeon_layout, classes_have_outcomes)
{
    static const struct pigeon_class classes[] = {
        {0, TASKS_WEIGHT_INFINITE}, {0, TASKS_WEIGHT_INFINITE}, {0, 1}};
    static const double expected_s[] = {1.5, 3, 4};
    const struct pigeon_layout layout = {.classes = classes, .n_classes = 3};
    static const double one_s[] = {1};
    struct tasks_case one;
    struct tasks_class found;
    tasks_case_init(&one, 1, 0);
    tasks_case_job(&one, 0, one_s, 1)->priority = 0;
    tasks_case_job(&one, 0, one_s, 1)->priority = 2;
    tasks_case_job(&one, 0, one_s, 1)->priority = 1;
    tasks_case_job(&one, 0, one_s, 1)->priority = 0;
    struct tasks_terms terms = layout_terms(&layout, 1, 0, 20);
    tasks_case_run(&one, &terms);
    for (uint32_t c = 0; c < 3; c++) {
        cr_assert_eq(
            tasks_outcome_of_class(&one.model, &one.result, 3, c, &one.scratch, &found, NULL),
            PV_OK);
        cr_expect_eq(found.count, c == 0 ? 2 : 1);
        cr_expect_eq(found.completion_s.mean, expected_s[c]);
        cr_expect_eq(found.slowdown.p50, expected_s[c]);
    }
    tasks_case_fini(&one);
}

/* One worker, tasks of 1 of three classes with W = 3 and 2: two of the first, one of the next, two of
 * the first, one of the last, and so on; when the first ones are done, one and one. */
Test(pigeon_layout, classes_take_turns_by_weight)
{
    static const struct pigeon_class classes[] = {{0, 3}, {0, 2}, {0, 1}};
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    /* The first task found the worker idle, when nothing waited below. */
    static const char expected[] = "000100200102121212";
    const struct pigeon_layout layout = {.classes = classes, .n_classes = 3};
    char order[sizeof expected] = "";
    struct tasks_case one;
    struct pigeon_watch watch;
    tasks_case_init(&one, 1, 0);
    tasks_case_job(&one, 0, ones, 8)->priority = 0;
    tasks_case_job(&one, 0, ones, 5)->priority = 1;
    tasks_case_job(&one, 0, ones, 5)->priority = 2;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    struct tasks_terms terms = layout_terms(&layout, 1, 0, 20);
    pigeon_watch_init(&watch, &one.model, &terms, &one.arena);
    cr_assert_eq(pigeon_watch_run(&watch, 1, &one.arena, &one.result), PV_OK);
    cr_assert_eq(watch.n, 18);
    for (size_t i = 0; i < watch.n; i++)
        order[i] = (char)('0' + one.jobs[watch.starts[i].job].priority);
    cr_expect_str_eq(order, expected, "%s", order);
    tasks_case_fini(&one);
}

/* Shares of a worker that always has tasks of all classes: (W-1)/W of the first, of what is left as
 * much of the next. */
Test(pigeon_layout, weights_give_shares)
{
    static const struct pigeon_class classes[] = {{0, 4}, {0, 3}, {0, 2}, {0, 1}};
    static const double expected[] = {3.0 / 4, 1.0 / 4 * 2 / 3, 1.0 / 12 / 2, 1.0 / 12 / 2};
    const struct pigeon_layout layout = {.classes = classes, .n_classes = 4};
    enum { TASKS = 2400 };
    static double ones[TASKS];
    struct tasks_job jobs[4];
    uint32_t counts[4] = {0};
    struct tasks_result result;
    struct pigeon_watch watch;
    arena_init(&arena, 0);
    for (int i = 0; i < TASKS; i++)
        ones[i] = 1;
    for (uint32_t c = 0; c < 4; c++)
        jobs[c] = (struct tasks_job){.durations_s = ones, .tasks = TASKS, .priority = c};
    struct tasks_model model = {.workers = 1, .jobs = jobs, .n_jobs = 4};
    cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
    struct tasks_terms terms = layout_terms(&layout, 1, 0, 20);
    pigeon_watch_init(&watch, &model, &terms, &arena);
    cr_assert_eq(pigeon_watch_run(&watch, 1, &arena, &result), PV_OK);
    for (size_t i = 0; i < TASKS; i++)
        counts[watch.starts[i].job]++;
    for (int c = 0; c < 4; c++)
        cr_expect(fabs(counts[c] - TASKS * expected[c]) <= 3, "class %d: %u of %g", c, counts[c],
                  TASKS * expected[c]);
    arena_fini(&arena);
}

/* --- everything at once --- */

Test(pigeon_layout, every_task_runs_once_where_it_may)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct pigeon_scene scene;
        struct pigeon_watch watch;
        struct tasks_result result;
        struct tasks_result again;
        arena_init(&arena, 0);
        pigeon_scene_make(&scene, seed, seed % 2 == 0 ? 0.6 : 1.5, &arena);
        pigeon_watch_init(&watch, &scene.model, &scene.terms, &arena);
        cr_assert_eq(pigeon_watch_run(&watch, seed, &arena, &result), PV_OK);
        cr_expect_str_eq(pigeon_watch_fault(&watch), "", "seed %d", (int)seed);
        cr_expect(rounding_equal(pigeon_watch_work(&watch), scene.model.work_s));
        watch.n = 0;
        cr_assert_eq(pigeon_watch_run(&watch, seed, &arena, &again), PV_OK);
        cr_expect(tasks_case_same(&result, &again, scene.model.n_jobs));
        arena_fini(&arena);
    }
}

/* Too little memory is reported, whenever it happens. */
Test(pigeon_layout, memory_may_run_out)
{
    const struct trial trial = {1, 0};
    struct pigeon_scene scene;
    struct tasks_result result;
    struct arena scratch;
    arena_init(&arena, 0);
    pigeon_scene_make(&scene, 2, 2, &arena);
    size_t most = tasks_simulation_memory(&scene.model, &scene.terms);
    for (size_t limit = 8; limit < most; limit *= 3) {
        struct pv_error missing = {0};
        arena_init(&scratch, limit);
        enum pv_code code = tasks_simulate(&scene.model, &scene.terms, &trial, 0, NULL, &arena,
                                           &scratch, &result, &missing);
        cr_expect(code == PV_E_MEMORY || (code == PV_OK && limit >= result.memory));
        arena_fini(&scratch);
    }
    arena_init(&scratch, most);
    cr_expect_eq(tasks_simulate(&scene.model, &scene.terms, &trial, most, NULL, &arena, &scratch,
                                &result, NULL),
                 PV_OK);
    arena_fini(&scratch);
    arena_fini(&arena);
}

#include "core/scheduling/tasks/tasks_observer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rounding.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "pigeon_watch.h"
#include "tasks_cases.h"

enum { BINS = 64, STARTS_MAX = 16 };

static struct arena arena;

struct seen {
    struct tasks_start starts[STARTS_MAX];
    size_t n;
};

static void see(void *context, const struct tasks_start *start)
{
    struct seen *seen = context;
    cr_assert_lt(seen->n, STARTS_MAX);
    seen->starts[seen->n++] = *start;
}

static void run(const struct tasks_model *model,
                const struct tasks_terms *terms,
                const struct tasks_observer *observer,
                struct tasks_result *result)
{
    const struct trial trial = {1, 0};
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(tasks_simulate_observed(model, terms, &trial, 0, NULL, observer, &arena, &scratch,
                                         result, NULL),
                 PV_OK);
    arena_fini(&scratch);
}

/* --- the thesis's example, section 4.4.1: who is sent where, and when --- */

struct sending {
    double at_s;
    char name[3];
    uint32_t group;
    uint32_t worker;
    double end_s;
};

static const struct sending example[] = {
    {0, "A1", 0, 0, 20}, {0, "A2", 0, 1, 1}, {0, "A4", 1, 2, 10},  {0, "A5", 1, 3, 10},
    {1, "A3", 0, 1, 2},  {2, "B1", 0, 1, 4}, {10, "A6", 1, 2, 20}, {10, "C1", 1, 3, 12}};

enum { EXAMPLE = sizeof example / sizeof *example };

/* B goes to the first group and C to the second, as there. */
static void make_example(struct tasks_case *one)
{
    static const double a[] = {20, 1, 1, 10, 10, 10};
    static const double two[] = {2};
    static const uint32_t groups[] = {0, 1};
    tasks_case_init(one, 4, 0);
    tasks_case_job(one, 0, a, 6);
    tasks_case_job(one, 0, two, 1)->placement = &groups[0];
    tasks_case_job(one, 0, two, 1)->placement = &groups[1];
    cr_assert_eq(tasks_model_complete(&one->model, &one->arena, NULL), PV_OK);
}

static void expect_example(const struct pigeon_layout *layout)
{
    struct tasks_case one;
    struct seen seen = {.n = 0};
    const struct tasks_observer observer = {.started = see, .context = &seen};
    arena_init(&arena, 0);
    make_example(&one);
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = 2;
    terms.reserved_share = 0;
    terms.layout = layout;
    run(&one.model, &terms, &observer, &one.result);
    cr_assert_eq(seen.n, EXAMPLE);
    for (size_t i = 0; i < EXAMPLE; i++) {
        const struct tasks_start *start = &seen.starts[i];
        cr_expect_eq(start->sent_s, example[i].at_s, "%s", example[i].name);
        cr_expect_eq(start->start_s, example[i].at_s);
        cr_expect_eq(start->end_s, example[i].end_s);
        cr_expect_eq('A' + (int)start->job, example[i].name[0]);
        cr_expect_eq('1' + (int)start->task, example[i].name[1]);
        cr_expect_eq(start->place, layout != NULL ? example[i].worker : example[i].group, "%s",
                     example[i].name);
    }
    cr_expect_eq(one.result.finish_s[0], 20);
    cr_expect_eq(one.result.finish_s[1], 4);
    cr_expect_eq(one.result.finish_s[2], 12);
    tasks_case_fini(&one);
    arena_fini(&arena);
}

Test(tasks_observer, worked_example_by_group)
{
    expect_example(NULL);
}

Test(tasks_observer, worked_example_by_worker)
{
    const struct pigeon_layout nothing = {0};
    expect_example(&nothing);
}

/* --- how many wait and run --- */

static double area_of(const struct occupancy *occupancy, uint32_t series, double until_s)
{
    double means[BINS];
    uint32_t n = occupancy_means(occupancy, series, until_s, means);
    double area = 0;
    for (uint32_t i = 0; i < n; i++) {
        double from_s = occupancy->origin_s + i * occupancy->width_s;
        cr_expect_geq(means[i], -1e-9);
        area += means[i] * (fmin(from_s + occupancy->width_s, until_s) - from_s);
    }
    return area;
}

/* Tasks of 4, 2 and 2 on two workers: from 0 on 2 run and 1 waits until 2, then both run until 4. */
Test(tasks_observer, queue_lengths_by_hand)
{
    static const double durations[] = {4, 2, 2};
    struct occupancy occupancy;
    struct tasks_case one;
    double waiting[BINS];
    double running[BINS];
    arena_init(&arena, 0);
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 8, durations, 3)->is_long = true;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    cr_assert(occupancy_init(&occupancy, tasks_observer_series(2), 8, 8, &arena));
    const struct tasks_observer observer = {.occupancy = &occupancy, .classes = 2};
    struct tasks_terms terms = tasks_terms_default(TASKS_CENTRALISED);
    terms.reserved_share = 0;
    run(&one.model, &terms, &observer, &one.result);
    cr_assert_eq(occupancy_means(&occupancy, 1, 12, waiting), 4);
    cr_assert_eq(occupancy_means(&occupancy, 3, 12, running), 4);
    for (int i = 0; i < 4; i++) {
        cr_expect_float_eq(waiting[i], i < 2 ? 1 : 0, 1e-12);
        cr_expect_float_eq(running[i], 2, 1e-12);
    }
    cr_expect_float_eq(area_of(&occupancy, 0, 12), 0, 1e-12);
    cr_expect_float_eq(area_of(&occupancy, 2, 12), 0, 1e-12);
    tasks_case_fini(&one);
    arena_fini(&arena);
}

/* Of every policy: what runs adds up to the work, class by class; nothing is different for being
 * seen; and with one task a job what waits adds up to the waiting times. */
Test(tasks_observer, areas_are_work_and_waiting)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct occupancy occupancy;
        struct tasks_result seen;
        struct tasks_result unseen;
        double work_s[2] = {0, 0};
        double waited_s[2] = {0, 0};
        double last_s = 0;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 4, 40, 2000, 1, 0.95, 0.001);
        cr_assert(occupancy_init(&occupancy, tasks_observer_series(2), BINS, 0, &arena));
        const struct tasks_observer observer = {.occupancy = &occupancy, .classes = 2};
        struct tasks_terms terms = tasks_terms_default((enum tasks_policy_id)id);
        terms.groups = 4;
        run(&model, &terms, &observer, &seen);
        run(&model, &terms, NULL, &unseen);
        cr_expect(tasks_case_same(&seen, &unseen, model.n_jobs));
        for (uint32_t j = 0; j < model.n_jobs; j++) {
            work_s[model.jobs[j].is_long] += model.jobs[j].durations_s[0];
            waited_s[model.jobs[j].is_long] += seen.start_s[j] - model.jobs[j].arrival_s;
            last_s = fmax(last_s, seen.finish_s[j]);
        }
        for (uint32_t c = 0; c < 2; c++) {
            cr_expect(rounding_equal(area_of(&occupancy, c, last_s), waited_s[c]), "policy %d", id);
            cr_expect(rounding_equal(area_of(&occupancy, 2 + c, last_s), work_s[c]), "policy %d",
                      id);
        }
        arena_fini(&arena);
    }
}

/* Three classes, groups of different power, masters that fail: a message that waits is counted when
 * it is handled, so that there are three a task again. */
Test(tasks_observer, layouts_are_observed)
{
    struct occupancy occupancy;
    struct pigeon_scene scene;
    struct pigeon_watch watch;
    struct tasks_result result;
    struct tasks_master masters[5] = {{.messages = 0}};
    double running_s[3] = {0, 0, 0};
    double last_s = 0;
    uint64_t messages = 0;
    arena_init(&arena, 0);
    pigeon_scene_make(&scene, 3, 1.2, &arena);
    /* Nobody hears reports to a lost group. */
    for (int i = 0; i < SCENE_FAILURES; i++)
        if (scene.failures[i].recovery == PIGEON_GROUP_LOST)
            scene.failures[i].recovery = PIGEON_WORKER_TAKES_OVER;
    pigeon_watch_init(&watch, &scene.model, &scene.terms, &arena);
    cr_assert(occupancy_init(&occupancy, tasks_observer_series(3), BINS, 0, &arena));
    watch.observer.occupancy = &occupancy;
    watch.observer.classes = 3;
    watch.observer.masters = masters;
    cr_assert_eq(pigeon_watch_run(&watch, 1, &arena, &result), PV_OK);
    for (size_t i = 0; i < watch.n; i++) {
        const struct tasks_start *start = &watch.starts[i];
        running_s[scene.model.jobs[start->job].priority] += start->end_s - start->start_s;
        last_s = fmax(last_s, start->end_s);
    }
    for (uint32_t c = 0; c < 3; c++) {
        cr_expect(rounding_equal(area_of(&occupancy, 3 + c, last_s), running_s[c]));
        cr_expect_gt(area_of(&occupancy, c, last_s), 0);
    }
    for (int m = 0; m < 5; m++)
        messages += masters[m].messages;
    cr_expect_eq(messages, 3 * scene.model.tasks);
    arena_fini(&arena);
}

/* --- what masters do --- */

/* Two groups of one worker, a task of 0.5 in each second but for a job of three: each task is three
 * messages, one of them, that the worker is idle, when it has ended. */
Test(tasks_observer, messages_of_masters)
{
    static const double halves[] = {0.5, 0.5, 0.5};
    static const uint32_t first[] = {0, 0, 0};
    static const uint32_t second[] = {1};
    struct tasks_master masters[2] = {{.messages = 0}};
    struct tasks_case one;
    arena_init(&arena, 0);
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, halves, 1)->placement = second;
    tasks_case_job(&one, 7, halves, 3)->placement = first;
    tasks_case_job(&one, 9, halves, 1)->placement = second;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    const struct tasks_observer observer = {.masters = masters};
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = 2;
    run(&one.model, &terms, &observer, &one.result);
    cr_expect_eq(masters[0].messages, 9);
    /* Within the second that begins at 7: three arrive, the first is sent; one idle, the second is
     * sent. At 8 and 8.5: idle, the third is sent; idle. */
    cr_expect_eq(masters[0].peak, 6);
    cr_expect_eq(masters[1].messages, 6);
    cr_expect_eq(masters[1].peak, 3);
    tasks_case_fini(&one);
    arena_fini(&arena);
}

/* Two workers of one group, one of them reserved: of two short tasks at once the second goes there. A
 * long one that comes then waits for the first to end, and the third short one has the reserved
 * worker again. */
Test(tasks_observer, what_reserved_workers_do)
{
    static const double at_once[] = {8, 2};
    static const double later[] = {3};
    const struct pigeon_layout nothing = {0};
    const struct pigeon_layout *const layouts[] = {NULL, &nothing};
    for (int i = 0; i < 2; i++) {
        struct tasks_master master = {.messages = 0};
        struct tasks_case one;
        arena_init(&arena, 0);
        tasks_case_init(&one, 2, 0);
        tasks_case_job(&one, 0, at_once, 2);
        tasks_case_job(&one, 1, later, 1)->is_long = true;
        tasks_case_job(&one, 4, later, 1);
        cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
        const struct tasks_observer observer = {.masters = &master};
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.layout = layouts[i];
        run(&one.model, &terms, &observer, &one.result);
        cr_expect_eq(one.result.start_s[1], 8);
        cr_expect_eq(master.reserved, 1);
        cr_expect_eq(master.reserved_s, 2 + 3);
        tasks_case_fini(&one);
        arena_fini(&arena);
    }
}

/* However groups are made, a task is three messages in all. */
Test(tasks_observer, messages_are_three_a_task)
{
    const struct pigeon_layout nothing = {0};
    const struct pigeon_layout *const layouts[] = {NULL, &nothing};
    struct tasks_master totals[2][4];
    arena_init(&arena, 0);
    struct tasks_model model = tasks_case_random(&arena, 9, 40, 1000, 9, 0.9, 0.001);
    for (int i = 0; i < 2; i++) {
        struct tasks_result result;
        uint64_t messages = 0;
        memset(totals[i], 0, sizeof totals[i]);
        const struct tasks_observer observer = {.masters = totals[i]};
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.groups = 4;
        terms.layout = layouts[i];
        run(&model, &terms, &observer, &result);
        for (int g = 0; g < 4; g++)
            messages += totals[i][g].messages;
        cr_expect_eq(messages, 3 * model.tasks);
    }
    for (int g = 0; g < 4; g++) {
        cr_expect_eq(totals[0][g].messages, totals[1][g].messages);
        cr_expect_eq(totals[0][g].peak, totals[1][g].peak);
    }
    arena_fini(&arena);
}

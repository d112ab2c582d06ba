#include "core/control/quota_loop.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "core/control/supervisor.h"
#include "core/history/run.h"

static struct arena arena;
static struct pv_error err;
static struct quota_outcome outcome;
static struct quota_faults faults;

static struct strview text(const char *at)
{
    return strview_of(at);
}

/* Two workers, two applications, nobody yet. */
static struct quota_loop make_loop(double gamma)
{
    static struct quota_worker workers[2];
    static struct quota_application applications[2];
    workers[0] = (struct quota_worker){text("w1"), 16};
    workers[1] = (struct quota_worker){text("w2"), 4};
    applications[0] = (struct quota_application){text("A"), 0, 120, 0.95, (double)NAN, false};
    applications[1] = (struct quota_application){text("B"), 10, 60, 0.5, (double)NAN, false};
    return (struct quota_loop){.settings = {.strategy = CONTENTION_PROPORTIONAL,
                                            .gamma = gamma,
                                            .average_nominal_rate = 1e6,
                                            .workers = workers,
                                            .n_workers = 2,
                                            .applications = applications,
                                            .n_applications = 2,
                                            .controller = control_terms_default(),
                                            .period_us = RUN_UNKNOWN},
                               .sequence = RUN_UNKNOWN,
                               .at_s = (double)NAN};
}

static struct quota_reading
newcomer(const char *id, const char *application, const char *worker, int64_t tasks)
{
    return (struct quota_reading){.id = text(id),
                                  .application = text(application),
                                  .worker = text(worker),
                                  .tasks = tasks,
                                  .stage_deadline_s = 50,
                                  .stage_started_s = (double)NAN,
                                  .initial_cores = (double)NAN};
}

static struct quota_reading known(const char *id, int64_t stage, int64_t completed)
{
    return (struct quota_reading){.id = text(id),
                                  .stage = stage,
                                  .tasks = RUN_UNKNOWN,
                                  .completed_tasks = completed,
                                  .stage_deadline_s = (double)NAN,
                                  .stage_started_s = (double)NAN,
                                  .initial_cores = (double)NAN};
}

static void take(struct quota_loop *loop,
                 int64_t sequence,
                 double at_s,
                 struct quota_reading executors[],
                 size_t n)
{
    const struct quota_sample sample = {
        .sequence = sequence, .at_s = at_s, .executors = executors, .n = n};
    cr_assert_eq(quota_loop_order(loop, &sample), QUOTA_ORDER_NEXT);
    cr_assert_eq(quota_loop_take(loop, &sample, &arena, &outcome, &faults, &err), PV_OK);
}

static void expect_near(double got, double want, const char *what)
{
    cr_expect(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)), "%s: %.17g, not %.17g", what, got,
              want);
}

static void expect_fault(size_t i, enum quota_fault_kind kind, size_t item)
{
    cr_assert_gt(faults.n, i);
    cr_expect(faults.items[i].kind == kind && faults.items[i].item == item,
              "fault %zu is %d of item %zu", i, (int)faults.items[i].kind, faults.items[i].item);
}

/* --- order --- */

Test(quota_loop, the_order_of_samples)
{
    static const struct {
        int64_t sequence;
        double at_s;
        enum quota_order order;
    } rows[] = {{7, 10, QUOTA_ORDER_SAME},
                {7, -5, QUOTA_ORDER_SAME},
                {6, 10, QUOTA_ORDER_OLD},
                {0, 99, QUOTA_ORDER_OLD},
                {8, 10, QUOTA_ORDER_NEXT},
                {900, 1e9, QUOTA_ORDER_NEXT},
                {8, 9.9, QUOTA_ORDER_BACKWARDS},
                {8, 10 - 5e-9, QUOTA_ORDER_NEXT},
                {8, 10 - 2e-8, QUOTA_ORDER_BACKWARDS}};
    struct quota_loop loop = make_loop(1);
    struct quota_sample sample = {.sequence = 0, .at_s = -1e17};
    cr_expect_eq(quota_loop_order(&loop, &sample), QUOTA_ORDER_NEXT, "the first may be any");
    loop.sequence = 7;
    loop.at_s = 10;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sample.sequence = rows[i].sequence;
        sample.at_s = rows[i].at_s;
        cr_expect_eq(quota_loop_order(&loop, &sample), rows[i].order, "row %zu", i);
    }
}

/* --- stages, by hand --- */

Test(quota_loop, a_stage_from_its_start_to_the_next)
{
    struct quota_loop loop = make_loop(0);
    struct quota_reading first = newcomer("a", "A", "w1", 200);
    first.stage_started_s = 0;
    first.initial_cores = 4;
    take(&loop, 1, 1, &first, 1);
    cr_assert_eq(faults.n, 0);
    expect_near(outcome.grants[0].requested_cores, 1 + 4 + 50.0 / 12 * 0.02, "request");
    expect_near(loop.executors[0].cores, 5.1, "grant");
    expect_near(loop.executors[0].integral_cores, 4.1, "integral");
    expect_near(outcome.grants[0].time_to_complete_s, 0.95 * 120 - 1, "time to complete");
    expect_near(outcome.workers[0].granted_cores, 5.1, "of the worker");
    cr_expect_eq(outcome.workers[1].requested_cores, 0);
    /* Two seconds later: dt counts from the last sample. */
    struct quota_reading second = known("a", 0, 4);
    take(&loop, 2, 3, &second, 1);
    double error = 3.0 / 50 - 4.0 / 200;
    expect_near(outcome.grants[0].requested_cores, 50 * error + 4.1 + 50 * 2.0 / 12 * error,
                "second request");
    /* Another stage: from its start, with initial cores of its own, 0 by default. */
    struct quota_reading third = known("a", 1, 0);
    third.tasks = 100;
    third.stage_deadline_s = 20;
    third.stage_started_s = 3.5;
    take(&loop, 3, 4, &third, 1);
    error = 0.5 / 20;
    expect_near(outcome.grants[0].requested_cores, 50 * error + 50 * 0.5 / 12 * error,
                "request of the next stage");
    cr_expect_eq(loop.executors[0].stage, 1);
    cr_expect_eq(loop.sequence, 3);
    arena_fini(&arena);
}

Test(quota_loop, what_is_known_changes_only_where_it_is_told)
{
    struct quota_loop loop = make_loop(1);
    struct quota_reading first[] = {newcomer("a", "A", "w1", 200), newcomer("b", "B", "w2", 10)};
    take(&loop, 1, 1, first, 2);
    struct quota_reading second = known("b", 0, 3);
    second.tasks = 20;
    second.stage_started_s = -100; /* the stage has started: neither counts */
    second.initial_cores = 50;
    take(&loop, 2, 2, &second, 1);
    cr_assert_eq(loop.n_executors, 1, "what is left out is forgotten");
    cr_expect(strview_is(loop.executors[0].id, "b") && loop.executors[0].worker == 1);
    cr_expect(loop.executors[0].tasks == 20 && loop.executors[0].stage_deadline_s == 50 &&
              loop.executors[0].stage_started_s == 1);
    arena_fini(&arena);
}

/* --- faults --- */

Test(quota_loop, a_fault_leaves_no_trace)
{
    struct quota_loop loop = make_loop(1);
    struct quota_reading first[] = {newcomer("a", "A", "w1", 200), newcomer("b", "B", "w2", 10)};
    take(&loop, 1, 1, first, 2);
    struct quota_loop before = loop;
    struct quota_reading bad[] = {known("a", 0, 201), known("b", 1, 0), known("c", 0, 0),
                                  newcomer("d", "C", "w9", 1), known("a", 0, 1)};
    bad[4].application = text("B");
    bad[4].worker = text("w2");
    take(&loop, 2, 2, bad, 5);
    cr_expect(memcmp(&loop, &before, sizeof loop) == 0);
    cr_expect_eq(faults.n, 11);
    expect_fault(0, QUOTA_FAULT_COMPLETED_BEYOND, 0);
    expect_fault(1, QUOTA_FAULT_TASKS_MISSING, 1);
    expect_fault(2, QUOTA_FAULT_DEADLINE_MISSING, 1);
    expect_fault(3, QUOTA_FAULT_APPLICATION_MISSING, 2);
    expect_fault(4, QUOTA_FAULT_WORKER_MISSING, 2);
    expect_fault(5, QUOTA_FAULT_TASKS_MISSING, 2);
    expect_fault(6, QUOTA_FAULT_DEADLINE_MISSING, 2);
    expect_fault(7, QUOTA_FAULT_APPLICATION_UNKNOWN, 3);
    arena_fini(&arena);
}

Test(quota_loop, applications_end_for_good)
{
    struct quota_loop loop = make_loop(1);
    struct strview ended[] = {text("A"), text("Z")};
    struct quota_reading both[] = {newcomer("a", "A", "w1", 200), newcomer("b", "B", "w2", 10)};
    take(&loop, 1, 1, both, 2);
    struct quota_sample sample = {
        .sequence = 2, .at_s = 2, .ended = ended, .n_ended = 2, .executors = both, .n = 2};
    cr_assert_eq(quota_loop_take(&loop, &sample, &arena, &outcome, &faults, &err), PV_OK);
    cr_expect_eq(faults.n, 2);
    expect_fault(0, QUOTA_FAULT_ENDED_UNKNOWN, 1);
    expect_fault(1, QUOTA_FAULT_APPLICATION_ENDED, 0);
    cr_expect_not(loop.settings.applications[0].ended, "refused");
    sample.n_ended = 1;
    sample.executors = both + 1;
    sample.n = 1;
    cr_assert_eq(quota_loop_take(&loop, &sample, &arena, &outcome, &faults, &err), PV_OK);
    cr_expect(faults.n == 0 && loop.settings.applications[0].ended);
    take(&loop, 3, 3, both, 1);
    expect_fault(0, QUOTA_FAULT_APPLICATION_ENDED, 0);
    arena_fini(&arena);
}

/* --- settings --- */

Test(quota_loop, other_settings_find_executors_by_name)
{
    struct quota_loop loop = make_loop(1);
    struct strview ended[] = {text("B")};
    struct quota_reading three[] = {newcomer("a", "A", "w1", 200), newcomer("b", "A", "w2", 10),
                                    newcomer("c", "A", "w2", 10)};
    const struct quota_sample sample = {
        .sequence = 1, .at_s = 1, .ended = ended, .n_ended = 1, .executors = three, .n = 3};
    cr_assert_eq(quota_loop_take(&loop, &sample, &arena, &outcome, &faults, &err), PV_OK);
    struct quota_worker workers[] = {{text("w3"), 8}, {text("w2"), 9}};
    struct quota_application applications[] = {{text("B"), 0, 9, 1, (double)NAN, false},
                                               {text("C"), 0, 9, 1, (double)NAN, false},
                                               {text("A"), 0, 9, 1, (double)NAN, false}};
    struct quota_settings settings = loop.settings;
    settings.workers = workers;
    settings.applications = applications;
    settings.n_applications = 3;
    cr_assert_eq(quota_loop_replace_settings(&loop, &settings, &arena, &err), PV_OK);
    cr_assert_eq(loop.n_executors, 2);
    for (size_t i = 0; i < 2; i++)
        cr_expect(strview_is(loop.executors[i].id, i == 0 ? "b" : "c") &&
                  loop.executors[i].application == 2 && loop.executors[i].worker == 1);
    cr_expect(applications[0].ended && !applications[1].ended && !applications[2].ended);
    cr_expect(loop.sequence == 1 && loop.at_s == 1);
    arena_fini(&arena);
}

Test(quota_loop, workers_below_the_quantum_bring_a_warning)
{
    struct quota_loop loop = make_loop(1);
    struct findings warnings = {.arena = &arena};
    quota_settings_warn(&loop.settings, &warnings);
    cr_expect_eq(warnings.n, 0);
    loop.settings.workers[1].cores = 0.0499;
    quota_settings_warn(&loop.settings, &warnings);
    cr_assert_eq(warnings.n, 1);
    cr_expect_eq(finding_value(&warnings.items[0], "count"), 1);
    arena_fini(&arena);
}

Test(quota_loop, quotas_of_cgroups)
{
    cr_expect_eq(quota_cgroup_us(7.8, 100000), 780000);
    cr_expect_eq(quota_cgroup_us(0, 100000), 1000, "the least that the kernel takes");
    cr_expect_eq(quota_cgroup_us(0.05, 1000), 1000);
    cr_expect_eq(quota_cgroup_us(0.1000005, 1000000), 100001, "half a microsecond is rounded up");
}

/* --- laws --- */

enum { EXECUTORS = 40, SAMPLES = 30 };

static void check_grants(const struct quota_loop *loop, const struct quota_sample *sample)
{
    const struct quota_settings *settings = &loop->settings;
    double granted[2] = {0, 0};
    double requested[2] = {0, 0};
    cr_assert_eq(loop->n_executors, sample->n);
    for (size_t i = 0; i < sample->n; i++) {
        const struct quota_executor *executor = &loop->executors[i];
        double units = executor->cores / settings->controller.core_quantum;
        cr_expect(strview_equal(executor->id, sample->executors[i].id));
        cr_expect(fabs(units - round(units)) < 1e-6 && units > -0.5, "%.17g units", units);
        cr_expect(executor->set_point >= 0 && executor->set_point <= 1);
        /* What was granted less the proportional part: anti-windup, always. */
        expect_near(executor->integral_cores +
                        settings->controller.gain *
                            (executor->set_point - outcome.grants[i].progress),
                    executor->cores, "integral and proportional part");
        granted[executor->worker] += executor->cores;
        requested[executor->worker] += outcome.grants[i].requested_cores;
    }
    for (size_t w = 0; w < settings->n_workers; w++) {
        expect_near(outcome.workers[w].granted_cores, granted[w], "granted on a worker");
        cr_expect(fabs(outcome.workers[w].requested_cores - requested[w]) <
                  1e-9 * fmax(1, requested[w]));
        cr_expect_leq(granted[w], settings->workers[w].cores * (1 + 1e-9));
    }
}

/* Whatever is sent: quanta, never more than a worker has, and the same executors in the same order.
 * Every application reads as one on its own where workers have room. */
Test(quota_loop, laws_of_random_samples)
{
    static char ids[EXECUTORS][8];
    struct rng rng = rng_make(11, 0);

    for (size_t i = 0; i < EXECUTORS; i++)
        (void)snprintf(ids[i], sizeof ids[i], "e%zu", i);
    for (unsigned strategy = 0; strategy < CONTENTION_STRATEGIES; strategy++) {
        struct quota_loop loop = make_loop(rng_uniform(&rng));
        bool there[EXECUTORS] = {false};
        double now_s = -20;
        loop.settings.strategy = strategy;
        loop.settings.applications[0].nominal_rate = 4e5;
        loop.settings.applications[1].nominal_rate = 9e5;
        for (int64_t s = 0; s < SAMPLES; s++) {
            struct quota_reading readings[EXECUTORS];
            size_t n = 0;
            now_s += rng_uniform(&rng) * 3;
            for (size_t i = 0; i < EXECUTORS; i++) {
                bool was = there[i];
                there[i] = rng_uniform(&rng) < (was ? 0.9 : 0.2);
                if (!there[i])
                    continue;
                readings[n] =
                    was ? known(ids[i], 0, 0)
                        : newcomer(ids[i], i % 2 == 0 ? "A" : "B", i % 3 == 0 ? "w1" : "w2", 100);
                readings[n++].completed_tasks = (int64_t)(rng_uniform(&rng) * 100.99);
            }
            const struct quota_sample sample = {
                .sequence = s, .at_s = now_s, .executors = readings, .n = n};
            take(&loop, s, now_s, readings, n);
            cr_assert_eq(faults.n, 0);
            check_grants(&loop, &sample);
        }
        arena_fini(&arena);
    }
}

/* --- memory --- */

/* With every bound below what a sample takes it fails as a whole, and nothing is touched that is not
 * there. */
Test(quota_loop, memory_that_runs_out_is_told)
{
    struct quota_reading both[] = {newcomer("a", "A", "w1", 200), newcomer("b", "B", "w2", 10)};
    const struct quota_sample sample = {.sequence = 1, .at_s = 1, .executors = both, .n = 2};
    enum pv_code code = PV_E_MEMORY;
    size_t failed = 0;
    for (size_t limit = 1; code == PV_E_MEMORY && limit < 1 << 20; limit += limit / 16 + 1) {
        struct arena small;
        struct quota_loop loop = make_loop(1);
        const struct quota_settings settings = loop.settings;
        arena_init(&small, limit);
        pv_error_clear(&err);
        code = quota_loop_take(&loop, &sample, &small, &outcome, &faults, &err);
        failed += code == PV_E_MEMORY;
        if (code == PV_OK)
            code = quota_loop_replace_settings(&loop, &settings, &small, &err);
        arena_fini(&small);
    }
    cr_expect_eq(code, PV_OK);
    cr_expect_gt(failed, 0);
}

#include "codec/deadlines/quota_loop.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct codec_quota_limits limits = {.workers = 2, .applications = 2, .executors = 2};
static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

static struct codec_quota_loop loop;
static struct codec_quota_sample sample;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body, bool is_sample)
{
    struct codec_document document;
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    if (is_sample)
        codec_quota_sample_decode(&document.top, &limits, &sample);
    else
        codec_quota_loop_decode(&document.top, &limits, &loop);
    return codec_close(&document);
}

static void expect_fault(size_t i, const char *at, const char *code)
{
    cr_assert_gt(err.n_faults, i);
    cr_expect_str_eq(err.faults[i].at, at);
    cr_expect_str_eq(err.faults[i].code, code, "at %s", at);
}

#define ONE "\"workers\": [{\"name\": \"w\", \"cores\": 4.5}]"

Test(codec_quota_loop, the_defaults_are_those_of_the_design)
{
    cr_assert_eq(decode("{" ONE ", \"applications\": [{\"name\": \"A\", \"release_s\": -5,"
                        " \"deadline_s\": 9}], \"cgroup\": null}",
                        false),
                 PV_OK);
    const struct quota_settings *settings = &loop.settings;
    cr_expect_str_eq(contention_strategies[settings->strategy].name, "proportional");
    cr_expect(settings->gamma == 1 && settings->average_nominal_rate == 1e6);
    cr_expect(settings->applications[0].alpha == 0.95 &&
              isnan(settings->applications[0].nominal_rate) && !settings->applications[0].ended);
    cr_expect(settings->controller.gain == 50 && settings->controller.core_quantum == 0.05);
    cr_expect_eq(settings->period_us, RUN_UNKNOWN);
    cr_assert_eq(decode("{" ONE ", \"applications\": [], \"cgroup\": {}}", false), PV_OK);
    cr_expect(loop.settings.period_us == 100000 && loop.settings.n_applications == 0);
}

Test(codec_quota_loop, words_are_those_of_the_core)
{
    for (size_t i = 0; i < CONTENTION_STRATEGIES; i++)
        cr_expect_str_eq(contention_strategy_words[i], contention_strategies[i].name);
    cr_expect_null(contention_strategy_words[CONTENTION_STRATEGIES]);
}

Test(codec_quota_loop, speed_needs_rates)
{
    cr_expect_eq(decode("{\"strategy\": \"speed\", " ONE ", \"applications\": [{\"name\": \"A\","
                        " \"release_s\": 0, \"deadline_s\": 9, \"nominal_rate\": null}]}",
                        false),
                 PV_E_INVALID);
    expect_fault(0, "/applications/0/nominal_rate", "required");
}

Test(codec_quota_loop, a_sample_tells_what_was_sent)
{
    cr_assert_eq(decode("{\"sequence\": 9007199254740991, \"at_s\": -1.5, \"executors\": [{\"id\":"
                        " \"a\", \"stage\": 3, \"completed_tasks\": 0}]}",
                        true),
                 PV_OK);
    const struct quota_reading *reading = &sample.sample.executors[0];
    cr_expect(sample.sample.sequence == 9007199254740991 && !sample.has_ended);
    cr_expect(reading->application.at == NULL && reading->worker.at == NULL &&
              reading->tasks == RUN_UNKNOWN && isnan(reading->stage_deadline_s) &&
              isnan(reading->stage_started_s) && isnan(reading->initial_cores));
    cr_assert_eq(decode("{\"sequence\": 0, \"at_s\": 0, \"ended\": [], \"executors\": []}", true),
                 PV_OK);
    cr_expect(sample.has_ended && sample.sample.n_ended == 0 && sample.sample.n == 0);
}

Test(codec_quota_loop, a_stage_does_not_start_after_its_sample)
{
    static const char format[] =
        "{\"sequence\": 0, \"at_s\": 10, \"executors\": [{\"id\": \"a\","
        " \"stage\": 3, \"completed_tasks\": 0, \"stage_started_s\": %s}]}";
    char body[300];
    (void)snprintf(body, sizeof body, format, "10.000000005");
    cr_expect_eq(decode(body, true), PV_OK, "equal, by the tolerance of all figures");
    (void)snprintf(body, sizeof body, format, "10.00000002");
    cr_expect_eq(decode(body, true), PV_E_INVALID);
    expect_fault(0, "/executors/0/stage_started_s", "out_of_range");
}

Test(codec_quota_loop, limits_are_the_settings)
{
    cr_expect_eq(decode("{\"sequence\": 0, \"at_s\": 0, \"ended\": [\"a\", \"b\", \"c\"],"
                        " \"executors\": [1, 2, 3]}",
                        true),
                 PV_E_INVALID);
    cr_expect_eq(err.n_faults, 2);
    expect_fault(0, "/ended", "too_many_items");
    expect_fault(1, "/executors", "too_many_items");
}

Test(codec_quota_loop, faults_of_the_core_name_members)
{
    static const char *const want[QUOTA_FAULT_KINDS][2] = {
        [QUOTA_FAULT_ENDED_UNKNOWN] = {"/ended/7", "unknown_application"},
        [QUOTA_FAULT_APPLICATION_MISSING] = {"/executors/7/application", "required"},
        [QUOTA_FAULT_APPLICATION_UNKNOWN] = {"/executors/7/application", "unknown_application"},
        [QUOTA_FAULT_APPLICATION_CHANGED] = {"/executors/7/application", "conflict"},
        [QUOTA_FAULT_APPLICATION_ENDED] = {"/executors/7", "out_of_range"},
        [QUOTA_FAULT_WORKER_MISSING] = {"/executors/7/worker", "required"},
        [QUOTA_FAULT_WORKER_UNKNOWN] = {"/executors/7/worker", "unknown_worker"},
        [QUOTA_FAULT_WORKER_CHANGED] = {"/executors/7/worker", "conflict"},
        [QUOTA_FAULT_TASKS_MISSING] = {"/executors/7/tasks", "required"},
        [QUOTA_FAULT_DEADLINE_MISSING] = {"/executors/7/stage_deadline_s", "required"},
        [QUOTA_FAULT_COMPLETED_BEYOND] = {"/executors/7/completed_tasks", "out_of_range"}};
    for (unsigned kind = 0; kind < QUOTA_FAULT_KINDS; kind++) {
        const struct quota_faults one = {.items = {{(enum quota_fault_kind)kind, 7}}, .n = 1};
        pv_error_clear(&err);
        cr_expect_eq(codec_quota_refuse(&one, &err), PV_E_INVALID);
        expect_fault(0, want[kind][0], want[kind][1]);
    }
    const struct quota_faults many = {.n = 100};
    pv_error_clear(&err);
    cr_expect_eq(codec_quota_refuse(&many, &err), PV_E_INVALID);
    cr_expect_eq(err.n_faults, 100);
}

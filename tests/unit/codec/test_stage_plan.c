#include "codec/deadlines/stage_plan.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct codec_stage_plan_limits limits = {.stages = 4, .tasks = 100, .cores = 1000};
static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

/* What a body decodes to; lives until the next one. */
static struct codec_stage_plan asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_stage_plan_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

#define TERMS "\"deadline_s\": 60, \"executors\": 4, \"cores_per_executor\": 16"

Test(codec_stage_plan, the_defaults_are_those_of_the_design)
{
    cr_assert_eq(decode("{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 5}]}"), PV_OK);
    cr_expect(asked.terms.alpha == 0.95 && asked.terms.beta == 0.33);
    cr_expect(asked.terms.overscale == 2 && asked.terms.core_quantum == 0.05);
    cr_expect(asked.terms.executors == 4 && asked.terms.cores_per_executor == 16);
    cr_expect(isnan(asked.stages[0].input_records) && isnan(asked.stages[0].pinned_cores));
}

Test(codec_stage_plan, stages_are_put_in_order_of_id_and_pins_on_their_stages)
{
    cr_assert_eq(
        decode("{" TERMS ", \"stages\": [{\"id\": 9, \"duration_s\": 5, \"parents\": [2]},"
               "{\"id\": 2, \"duration_s\": 7}, {\"id\": 5, \"skipped\": true}],"
               "\"pinned\": [{\"id\": 9, \"cores\": 2.5}, {\"id\": 2, \"deadline_s\": 8}]}"),
        PV_OK);
    cr_assert_eq(asked.n_stages, 3);
    cr_expect(asked.stages[0].id == 2 && asked.stages[1].id == 5 && asked.stages[2].id == 9);
    cr_expect(asked.stages[0].pinned_deadline_s == 8 && isnan(asked.stages[0].pinned_cores));
    cr_expect(asked.stages[2].pinned_cores == 2.5 && isnan(asked.stages[2].pinned_deadline_s));
    cr_expect(asked.stages[1].skipped);
}

Test(codec_stage_plan, the_time_of_a_stage_is_that_of_its_tasks_in_whatever_form)
{
    static const char *const forms[] = {"\"duration_s\": 12", "\"task_time_s\": 12",
                                        "\"task_durations_s\": [3, 4, 5]",
                                        "\"tasks\": 3, \"task_duration_s\": 4",
                                        "\"task_time_s\": 12, \"task_durations_s\": [3, 4, 5]"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char body[300];
        (void)snprintf(body, sizeof body, "{" TERMS ", \"stages\": [{\"id\": 0, %s}]}", forms[i]);
        cr_assert_eq(decode(body), PV_OK, "%s", body);
        cr_expect(asked.stages[0].duration_s == 12 && !asked.stages[0].skipped, "%s", body);
    }
    cr_assert_eq(decode("{" TERMS ", \"stages\": [{\"id\": 0, \"tasks\": 3, \"task_duration_s\": 4,"
                        "\"input_records\": 24}, {\"id\": 1, \"tasks\": 0}]}"),
                 PV_OK);
    cr_expect(asked.stages[0].nominal_rate_per_s == 2);
    cr_expect(asked.stages[1].skipped, "no task, no time");
}

Test(codec_stage_plan, stages_from_history_are_left_to_the_caller)
{
    cr_assert_eq(decode("{" TERMS ", \"application\": \"etl\", \"problem_size\": 64,"
                        "\"pinned\": [{\"id\": 3, \"cores\": 2}, {\"id\": 4, \"cores\": 2}]}"),
                 PV_OK);
    cr_expect(strview_is(asked.application, "etl") && asked.problem_size == 64);
    cr_expect_null(asked.stages);
    struct stage_plan_stage stages[] = {{.id = 3, .skipped = true}, {.id = 4}};
    asked.stages = stages;
    asked.n_stages = 2;
    cr_expect_eq(codec_stage_plan_pin(&asked, &err), PV_E_INVALID);
    cr_expect_eq(err.n_faults, 1);
    cr_expect_str_eq(err.faults[0].at, "/pinned/0/id");
    cr_expect_eq(stages[1].pinned_cores, 2);
}

static const struct {
    char body[400];
    char at[64];
    char code[24];
} refused[] = {
    {"{" TERMS "}", "/stages", "required"},
    {"{" TERMS ", \"stages\": []}", "/stages", "too_few_items"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"skipped\": true}]}", "/stages", "too_few_items"},
    {"{" TERMS ", \"stages\": [{\"id\": 0}]}", "/stages/0/duration_s", "required"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 0}]}", "/stages/0/duration_s",
     "out_of_range"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": null}]}", "/stages/0/duration_s",
     "wrong_type"},
    {"{" TERMS ", \"stages\": [{\"duration_s\": 1}]}", "/stages/0/id", "required"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1, \"tasks\": 4}]}",
     "/stages/0/duration_s", "conflict"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1, \"task_time_s\": 1}]}",
     "/stages/0/duration_s", "conflict"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"tasks\": 4}]}", "/stages/0/task_duration_s",
     "required"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"tasks\": 101, \"task_duration_s\": 1}]}",
     "/stages/0/tasks", "out_of_range"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"task_durations_s\": [0, 0]}]}", "/stages",
     "too_few_items"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1, \"attempts\": 1}]}",
     "/stages/0/attempts", "unknown_field"},
    {"{" TERMS ", \"stages\": [{\"id\": 3, \"duration_s\": 1}, {\"id\": 3, \"duration_s\": 1}]}",
     "/stages/1/id", "duplicate"},
    {"{" TERMS ", \"stages\": [{\"id\": 3, \"duration_s\": 1, \"parents\": [4]}]}",
     "/stages/0/parents/0", "unknown_parent"},
    {"{" TERMS ", \"stages\": [{\"id\": 3, \"duration_s\": 1, \"parents\": [4]},"
     "{\"id\": 4, \"duration_s\": 1, \"parents\": [3]}]}",
     "/stages/0/parents", "cycle"},
    {"{" TERMS ", \"stages\": [5]}", "/stages/0", "wrong_type"},
    {"{" TERMS ", \"stages\": [1, 2, 3, 4, 5]}", "/stages", "too_many_items"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1}], \"application\": \"a\"}",
     "/application", "conflict"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1}], \"problem_size\": 2}",
     "/problem_size", "conflict"},
    {"{" TERMS ", \"application\": \"a\", \"seed\": 2}", "/seed", "unknown_field"},
    {"{" TERMS ", \"application\": \"a\", \"alpha\": 0}", "/alpha", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"alpha\": 1.01}", "/alpha", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"beta\": -0.1}", "/beta", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"overscale\": 0.9}", "/overscale", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"core_quantum\": 0}", "/core_quantum", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"pinned\": [{\"id\": 1}]}", "/pinned/0", "required"},
    {"{" TERMS ", \"application\": \"a\", \"pinned\": [{\"cores\": 1}]}", "/pinned/0/id",
     "required"},
    {"{" TERMS ", \"application\": \"a\", \"pinned\": [{\"id\": 1, \"cores\": 0}]}",
     "/pinned/0/cores", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"pinned\": [{\"id\": 1, \"deadline_s\": 0}]}",
     "/pinned/0/deadline_s", "out_of_range"},
    {"{" TERMS ", \"application\": \"a\", \"pinned\": [{\"id\": 1, \"cores\": 1},"
     "{\"id\": 2, \"cores\": 1}, {\"id\": 1, \"deadline_s\": 1}]}",
     "/pinned/2/id", "duplicate"},
    {"{" TERMS ", \"stages\": [{\"id\": 0, \"duration_s\": 1}], \"pinned\": [{\"id\": 1, "
     "\"cores\": 1}]}",
     "/pinned/0/id", "unknown_stage"},
    {"{\"executors\": 4, \"cores_per_executor\": 1, \"application\": \"a\"}", "/deadline_s",
     "required"},
    {"{\"executors\": 40, \"cores_per_executor\": 30, \"application\": \"a\", \"deadline_s\": 1}",
     "/executors", "out_of_range"},
    {"{\"executors\": 2.5, \"cores_per_executor\": 30, \"application\": \"a\", \"deadline_s\": 1}",
     "/executors", "wrong_type"},
};

Test(codec_stage_plan, faults_are_named_with_their_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cr_expect_eq(decode(refused[i].body), PV_E_INVALID, "%s", refused[i].body);
        bool found = false;
        for (size_t k = 0; k < err.n_faults && k < PV_FAULTS_MAX; k++)
            found |= strcmp(err.faults[k].at, refused[i].at) == 0 &&
                     strcmp(err.faults[k].code, refused[i].code) == 0;
        cr_expect(found, "%s: no fault %s at %s, but %s at %s", refused[i].body, refused[i].code,
                  refused[i].at, err.faults[0].code, err.faults[0].at);
    }
}

/* One fault an item: what could not be read is no stage 0 that is pinned twice or not there. */
Test(codec_stage_plan, a_pin_that_is_no_object_has_no_other_fault)
{
    cr_assert_eq(decode("{" TERMS ", \"stages\": [{\"id\": 3, \"duration_s\": 5}],"
                        "\"pinned\": [1, 2, {\"id\": 3, \"cores\": 1}]}"),
                 PV_E_INVALID);
    cr_expect_eq(err.n_faults, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_str_eq(err.faults[i].code, "wrong_type");
        cr_expect_str_eq(err.faults[i].at, i == 0 ? "/pinned/0" : "/pinned/1");
    }
}

/* No number of cores ends a stage at once: null, where JSON knows no infinity. */
Test(codec_stage_plan, the_reply_writes_an_infinite_estimate_as_null)
{
    struct stage_plan_step steps[] = {{3, 1.5, 0, 12.5, 4, 8, 1}, {4, 1, 12.5, 0, INFINITY, 64, 8}};
    const struct stage_plan plan = {.steps = steps, .n_steps = 2};
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_object(&w);
    codec_stage_plan_encode(&w, &plan);
    writer_end_object(&w);
    size_t n;
    cr_expect_str_eq(writer_finish(&w, &n),
                     "{\"feasible\":false,\"stages\":[{\"id\":3,\"weight\":1.5,\"start_s\":0,"
                     "\"deadline_s\":12.5,\"estimated_cores\":4,\"max_allocable_cores\":8,"
                     "\"initial_cores_per_executor\":1},{\"id\":4,\"weight\":1,\"start_s\":12.5,"
                     "\"deadline_s\":0,\"estimated_cores\":null,\"max_allocable_cores\":64,"
                     "\"initial_cores_per_executor\":8}]}");
    arena_fini(&arena);
}

#include "codec/history/run.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 32, .values = 1000000};

/* Everything a test of the decoder needs; fini gives it all back. */
struct bench {
    struct arena arena;
    struct pv_error err;
    struct codec_document document;
    struct run run;
};

static const struct codec_run_limits wide = {.stages = 1000, .tasks = 100000, .labels = 64};

static enum pv_code decode(struct bench *b, const char *text, const struct codec_run_limits *limits)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->arena, 0);
    PV_TRY(codec_open(&b->document, text, strlen(text), &bounds, &b->arena, &b->err));
    codec_run_decode(&b->document.top, limits, &b->run);
    return codec_close(&b->document);
}

static void fini(struct bench *b)
{
    arena_fini(&b->arena);
}

/* The whole example of the contract. */
static const char example[] =
    "{\"problem_size\": 64, \"executors\": 16, \"cores_per_executor\": 4, \"duration_s\": 412.7,"
    " \"initialization_s\": 9.1, \"started_at\": \"2026-01-05T10:00:00Z\", \"succeeded\": true,"
    " \"advice_id\": null, \"labels\": {\"branch\": \"main\"},"
    " \"stages\": [{\"id\": 0, \"name\": \"map\", \"parents\": [],"
    " \"task_durations_s\": [3.1, 2.9, 3.0], \"task_time_s\": 9.0, \"duration_s\": 5.2,"
    " \"input_records\": 1000000, \"nominal_rate_per_s\": 41352.5, \"skipped\": false}]}";

Test(codec_run, reads_every_field_of_the_contracts_example)
{
    struct bench b;
    cr_assert_eq(decode(&b, example, &wide), PV_OK, "%s", b.err.detail);
    cr_assert_eq(b.run.problem_size, 64);
    cr_assert_eq(b.run.executors, 16);
    cr_assert_eq(b.run.cores_per_executor, 4);
    cr_assert(b.run.duration_s == 412.7 && b.run.initialization_s == 9.1);
    cr_assert_eq(b.run.started_us, INT64_C(1767607200000000));
    cr_assert(b.run.succeeded && b.run.advice_id[0] == '\0' && !b.run.from_log);
    cr_assert_eq(b.run.n_labels, 1u);
    cr_assert(strview_is(b.run.labels[0].value, "main"));
    cr_assert(b.run.has_stages && b.run.n_stages == 1);
    const struct run_stage *stage = &b.run.stages[0];
    cr_assert(strview_is(stage->name, "map") && stage->n_parents == 0 && stage->n_tasks == 3);
    cr_assert(stage->task_durations_s[1] == 2.9 && stage->task_time_s == 9.0);
    cr_assert(stage->input_records == 1e6 && stage->nominal_rate_per_s == 41352.5);
    cr_assert(isnan(stage->started_s), "a JSON run does not tell when a stage began");
    fini(&b);
}

Test(codec_run, leaves_out_what_is_optional_as_unknown_not_zero)
{
    struct bench b;
    cr_assert_eq(decode(&b,
                        "{\"problem_size\":1,\"executors\":2,\"cores_per_executor\":3,"
                        "\"duration_s\":4,\"initialization_s\":null,\"stages\":[{\"id\":7}]}",
                        &wide),
                 PV_OK);
    cr_assert(isnan(b.run.initialization_s) && b.run.started_us == RUN_NO_INSTANT);
    cr_assert(b.run.succeeded, "a run that was measured counts as succeeded unless said otherwise");
    cr_assert_eq(b.run.jobs, RUN_UNKNOWN);
    const struct run_stage *stage = &b.run.stages[0];
    cr_assert_eq(stage->n_tasks, RUN_UNKNOWN);
    cr_assert(isnan(stage->task_time_s) && isnan(stage->duration_s) && isnan(stage->input_records));
    cr_assert(isnan(stage->nominal_rate_per_s) && stage->name.at == NULL);
    fini(&b);
}

#define HEAD "{\"problem_size\":1,\"executors\":2,\"cores_per_executor\":3,\"duration_s\":4,"

Test(codec_run, derives_sums_means_and_rates_from_what_was_given)
{
    struct bench b;
    cr_assert_eq(decode(&b,
                        HEAD "\"stages\":[{\"id\":1,\"parents\":[0,0],\"tasks\":10,"
                             "\"task_duration_s\":0.5,\"input_records\":100},"
                             "{\"id\":0,\"task_durations_s\":[1,2,3],\"input_records\":12}]}",
                        &wide),
                 PV_OK);
    const struct run_stage *first = &b.run.stages[0];
    const struct run_stage *second = &b.run.stages[1];
    cr_assert(first->id == 0 && second->id == 1, "stages stand in ascending order of id");
    cr_assert(first->n_tasks == 3 && first->task_time_s == 6 && first->task_duration_s == 2);
    cr_assert(first->nominal_rate_per_s == 2);
    cr_assert(second->task_durations_s == NULL && second->task_time_s == 5);
    cr_assert(second->nominal_rate_per_s == 20);
    cr_assert(second->n_parents == 1 && second->parents[0] == 0, "repeated parents count once");
    fini(&b);
}

/* One bad document each: where the fault must point, and its code. */
struct fault_case {
    const char *text;
    const char *at;
    const char *code;
};

static const struct fault_case faults[] = {
    {"{\"executors\":2,\"cores_per_executor\":3,\"duration_s\":4}", "/problem_size", "required"},
    {"{\"problem_size\":1,\"cores_per_executor\":3,\"duration_s\":4}", "/executors", "required"},
    {"{\"problem_size\":1,\"executors\":2,\"duration_s\":4}", "/cores_per_executor", "required"},
    {"{\"problem_size\":1,\"executors\":2,\"cores_per_executor\":3}", "/duration_s", "required"},
    {"{\"problem_size\":0,\"executors\":2,\"cores_per_executor\":3,\"duration_s\":4}",
     "/problem_size", "out_of_range"},
    {"{\"problem_size\":\"1.5\",\"executors\":2,\"cores_per_executor\":3,\"duration_s\":4}",
     "/problem_size", "wrong_type"},
    {"{\"problem_size\":1,\"executors\":null,\"cores_per_executor\":3,\"duration_s\":4}",
     "/executors", "wrong_type"},
    {"{\"problem_size\":1,\"executors\":2,\"cores_per_executor\":3,\"duration_s\":0}",
     "/duration_s", "out_of_range"},
    {"{\"problem_size\":1,\"executors\":2,\"cores_per_executor\":3,\"duration_s\":\"NaN\"}",
     "/duration_s", "wrong_type"},
    {HEAD "\"initialization_s\":5}", "/initialization_s", "out_of_range"},
    {HEAD "\"initialization_s\":-1}", "/initialization_s", "out_of_range"},
    {HEAD "\"started_at\":\"yesterday\"}", "/started_at", "invalid_instant"},
    {HEAD "\"succeeded\":1}", "/succeeded", "wrong_type"},
    {HEAD "\"advice_id\":\"x\"}", "/advice_id", "invalid_id"},
    {HEAD "\"labels\":{\"a/b\":1}}", "/labels/a~1b", "wrong_type"},
    {HEAD "\"id\":\"x\"}", "/id", "unknown_field"},
    {HEAD "\"stages\":{}}", "/stages", "wrong_type"},
    {HEAD "\"stages\":[3]}", "/stages/0", "wrong_type"},
    {HEAD "\"stages\":[{}]}", "/stages/0/id", "required"},
    {HEAD "\"stages\":[{\"id\":0},{\"id\":-1}]}", "/stages/1/id", "out_of_range"},
    {HEAD "\"stages\":[{\"id\":0,\"colour\":1}]}", "/stages/0/colour", "unknown_field"},
    {HEAD "\"stages\":[{\"id\":4},{\"id\":3},{\"id\":4}]}", "/stages/2/id", "duplicate"},
    {HEAD "\"stages\":[{\"id\":0,\"parents\":[0,9]}]}", "/stages/0/parents/1", "unknown_parent"},
    {HEAD "\"stages\":[{\"id\":0,\"parents\":[0]}]}", "/stages/0/parents", "cycle"},
    {HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1,-2]}]}", "/stages/0/task_durations_s/1",
     "out_of_range"},
    {HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1],\"tasks\":2}]}", "/stages/0/tasks",
     "conflict"},
    {HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1,2],\"task_duration_s\":1.6}]}",
     "/stages/0/task_duration_s", "conflict"},
    {HEAD "\"stages\":[{\"id\":0,\"tasks\":2}]}", "/stages/0/task_duration_s", "required"},
    {HEAD "\"stages\":[{\"id\":0,\"task_duration_s\":2}]}", "/stages/0/tasks", "required"},
    {HEAD "\"stages\":[{\"id\":0,\"tasks\":-1,\"task_duration_s\":2}]}", "/stages/0/tasks",
     "out_of_range"},
    {HEAD "\"stages\":[{\"id\":0,\"input_records\":-1}]}", "/stages/0/input_records",
     "out_of_range"},
    {HEAD "\"stages\":[{\"id\":0,\"skipped\":\"no\"}]}", "/stages/0/skipped", "wrong_type"},
};

Test(codec_run, every_fault_points_at_its_place)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bench b;
        cr_expect_eq(decode(&b, faults[i].text, &wide), PV_E_INVALID, "%s", faults[i].text);
        cr_expect_eq(b.err.n_faults, 1u, "%s: %zu faults", faults[i].text, b.err.n_faults);
        cr_expect_str_eq(b.err.faults[0].at, faults[i].at);
        cr_expect_str_eq(b.err.faults[0].code, faults[i].code);
        fini(&b);
    }
}

/* Which edge of a circle is the wrong one only the client knows: every stage on it is named, and
 * none beside it. */
Test(codec_run, a_cycle_names_all_its_stages)
{
    struct bench b;
    const char *text = HEAD "\"stages\":[{\"id\":0},{\"id\":1,\"parents\":[0,2]},"
                            "{\"id\":2,\"parents\":[1]},{\"id\":3,\"parents\":[2]}]}";
    cr_assert_eq(decode(&b, text, &wide), PV_E_INVALID);
    cr_assert_eq(b.err.n_faults, 2u);
    cr_assert_str_eq(b.err.faults[0].at, "/stages/2/parents");
    cr_assert_str_eq(b.err.faults[1].at, "/stages/1/parents");
    cr_assert_str_eq(b.err.faults[0].code, "cycle");
    cr_assert_str_eq(b.err.faults[1].code, "cycle");
    fini(&b);
}

Test(codec_run, limits_on_stages_tasks_and_labels_name_the_first_thing_too_many)
{
    const struct codec_run_limits tight = {.stages = 2, .tasks = 3, .labels = 1};
    static const struct fault_case over[] = {
        {HEAD "\"stages\":[{\"id\":0},{\"id\":1},{\"id\":2}]}", "/stages", "too_many_items"},
        {HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1,1,1,1]}]}",
         "/stages/0/task_durations_s", "too_many_items"},
        {HEAD "\"stages\":[{\"id\":0,\"tasks\":2,\"task_duration_s\":1},"
              "{\"id\":1,\"task_durations_s\":[1,1]}]}",
         "/stages/1/task_durations_s", "too_many_items"},
        {HEAD "\"labels\":{\"a\":\"\",\"b\":\"\"}}", "/labels", "too_many_items"},
    };
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        struct bench b;
        cr_expect_eq(decode(&b, over[i].text, &tight), PV_E_INVALID, "%s", over[i].text);
        cr_expect_str_eq(b.err.faults[0].at, over[i].at);
        cr_expect_str_eq(b.err.faults[0].code, over[i].code);
        fini(&b);
    }
    struct bench b;
    cr_expect_eq(decode(&b, HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1,1,1]}]}", &tight),
                 PV_OK, "exactly the limit is allowed");
    fini(&b);
}

static const char *encode(struct bench *b, unsigned include)
{
    struct writer w;
    size_t n;
    writer_init(&w, &b->arena);
    codec_run_encode(&w, &b->run, strview_of("etl"), include);
    return writer_finish(&w, &n);
}

/* Members that a client may send, taken from a reply. */
static json_t *sendable(const char *text)
{
    static const char *const sent[] = {
        "problem_size", "executors", "cores_per_executor", "duration_s", "initialization_s",
        "started_at",   "succeeded", "advice_id",          "labels",     "stages"};
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    json_t *request = json_object();
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        if (json_object_get(json, sent[i]) != NULL)
            json_object_set(request, sent[i], json_object_get(json, sent[i]));
    json_decref(json);
    return request;
}

Test(codec_run, reply_with_tasks_reads_back_as_what_was_sent_to_the_last_bit)
{
    struct bench b;
    char text[2048];
    (void)snprintf(text, sizeof text,
                   HEAD "\"initialization_s\":%.17g,\"stages\":["
                        "{\"id\":3,\"parents\":[],\"task_durations_s\":[%.17g,5e-324,%.17g]},"
                        "{\"id\":4,\"parents\":[3],\"tasks\":7,\"task_duration_s\":%.17g}]}",
                   1.0 / 3, 0.1 + 0.2, 1e12 / 7, 2.0 / 7);
    cr_assert_eq(decode(&b, text, &wide), PV_OK);
    json_t *again = sendable(encode(&b, CODEC_RUN_TASKS));
    struct bench c;
    char *dumped = json_dumps(again, JSON_REAL_PRECISION(17));
    cr_assert_eq(decode(&c, dumped, &wide), PV_OK, "%s", c.err.faults[0].at);
    cr_assert(c.run.initialization_s == 1.0 / 3);
    for (size_t i = 0; i < 2; i++) {
        const struct run_stage *x = &b.run.stages[i];
        const struct run_stage *y = &c.run.stages[i];
        cr_assert(x->id == y->id && x->n_tasks == y->n_tasks && x->n_parents == y->n_parents);
        cr_assert(x->task_time_s == y->task_time_s && x->task_duration_s == y->task_duration_s);
        if (x->task_durations_s != NULL)
            cr_assert_eq(memcmp(x->task_durations_s, y->task_durations_s, 3 * sizeof(double)), 0);
    }
    free(dumped);
    json_decref(again);
    fini(&b);
    fini(&c);
}

Test(codec_run, include_decides_how_much_of_the_stages_is_written)
{
    struct bench b;
    cr_assert_eq(decode(&b, example, &wide), PV_OK);
    json_t *plain = json_loads(encode(&b, 0), 0, NULL);
    cr_expect_null(json_object_get(plain, "stages"));
    cr_expect_eq(json_array_size(json_object_get(plain, "warnings")), 0);
    cr_expect(json_is_null(json_object_get(plain, "spark_version")), "known of logs alone");
    json_t *stages = json_loads(encode(&b, CODEC_RUN_STAGES), 0, NULL);
    json_t *stage = json_array_get(json_object_get(stages, "stages"), 0);
    cr_expect_null(json_object_get(stage, "task_durations_s"));
    cr_expect_eq(json_integer_value(json_object_get(stage, "tasks")), 3);
    cr_expect_eq(json_number_value(json_object_get(stage, "task_duration_s")), 3.0);
    json_decref(plain);
    json_decref(stages);
    fini(&b);
}

Test(codec_run, figures_of_a_log_are_written_and_unknown_ones_are_null)
{
    struct bench b;
    cr_assert_eq(decode(&b, HEAD "\"stages\":null}", &wide), PV_OK);
    b.run.from_log = true;
    b.run.spark_application_id = strview_of("app-1");
    b.run.executors = RUN_UNKNOWN;
    b.run.tasks_succeeded = 5;
    b.run.warnings = (struct findings){.arena = &b.arena};
    finding_count(finding_add(&b.run.warnings, "damaged_lines", "two lines"), 2);
    json_t *json = json_loads(encode(&b, CODEC_RUN_STAGES), 0, NULL);
    cr_expect(json_is_null(json_object_get(json, "executors")));
    cr_expect(json_is_null(json_object_get(json, "spark_attempt_id")));
    cr_expect(json_is_null(json_object_get(json, "stages")), "never given");
    cr_expect(json_is_null(json_object_get(json, "jobs")));
    cr_expect_eq(json_integer_value(json_object_get(json, "tasks_succeeded")), 5);
    json_t *first = json_array_get(json_object_get(json, "warnings"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(first, "code")), "damaged_lines");
    cr_expect_str_eq(json_string_value(json_object_get(first, "message")), "two lines");
    json_t *evidence = json_object_get(first, "evidence");
    cr_expect_eq(json_integer_value(json_object_get(evidence, "count")), 2);
    json_decref(json);
    fini(&b);
}

/* Memory that runs out at any point is an error, never a run with holes. */
Test(codec_run, out_of_memory_is_an_ordinary_error)
{
    size_t refused = 0;
    for (size_t limit = 1; limit < 200000; limit += 1024) {
        struct bench b;
        memset(&b, 0, sizeof b);
        arena_init(&b.arena, limit);
        char text[20000] = HEAD "\"stages\":[{\"id\":0,\"task_durations_s\":[1";
        for (size_t i = 0; i < 2000; i++)
            strcat(text, ",1");
        strcat(text, "]}]}");
        cr_assert_eq(codec_open(&b.document, text, strlen(text), &bounds, &b.arena, &b.err), PV_OK);
        codec_run_decode(&b.document.top, &wide, &b.run);
        enum pv_code code = codec_close(&b.document);
        cr_assert(code == PV_OK || code == PV_E_MEMORY, "%d", (int)code);
        refused += code == PV_E_MEMORY;
        fini(&b);
    }
    cr_assert_gt(refused, 0u);
}

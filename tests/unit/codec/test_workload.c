#include "codec/workloads/workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

static struct codec_workload_from_runs request;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    struct codec_document document;
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_workload_from_runs_decode(&document.top, &request);
    return codec_close(&document);
}

static void expect_fault(size_t i, const char *at, const char *code)
{
    cr_assert_gt(err.n_faults, i);
    cr_expect_str_eq(err.faults[i].at, at);
    cr_expect_str_eq(err.faults[i].code, code, "at %s", at);
}

Test(codec_workload, what_is_not_given_is_open)
{
    cr_assert_eq(decode("{\"from\": \"runs\", \"applications\": [\"a\", \"b\"], \"until\": null}"),
                 PV_OK);
    cr_expect(request.n_applications == 2 && strview_is(request.applications[1], "b"));
    cr_expect(request.since_us == RUN_NO_INSTANT && request.until_us == RUN_NO_INSTANT);
    cr_expect_null(request.name.at);
}

Test(codec_workload, a_window_has_a_length)
{
    cr_assert_eq(
        decode("{\"from\": \"runs\", \"applications\": [\"a\"], \"name\": \"x\","
               " \"since\": \"2026-01-01T00:00:00Z\", \"until\": \"2026-01-01T00:00:01Z\"}"),
        PV_OK);
    cr_expect_eq(request.until_us - request.since_us, 1000000);
    cr_expect_eq(
        decode("{\"from\": \"runs\", \"applications\": [\"a\"],"
               " \"since\": \"2026-01-01T00:00:00Z\", \"until\": \"2026-01-01T00:00:00Z\"}"),
        PV_E_INVALID);
    expect_fault(0, "/until", "out_of_range");
}

Test(codec_workload, all_faults_are_reported)
{
    cr_expect_eq(decode("{\"from\": \"trace\", \"applications\": [\"a\", \"\", \"a\"], \"x\": 1}"),
                 PV_E_INVALID);
    cr_assert_eq(err.n_faults, 4);
    expect_fault(0, "/x", "unknown_field");
    expect_fault(1, "/from", "not_allowed");
    expect_fault(2, "/applications/1", "invalid_name");
    expect_fault(3, "/applications/2", "duplicate");
    cr_expect_eq(decode("{}"), PV_E_INVALID);
    expect_fault(0, "/from", "required");
    expect_fault(1, "/applications", "required");
}

/* --- replies --- */

static const char *written(struct writer *w)
{
    size_t n;
    const char *text = writer_finish(w, &n);
    cr_assert_not_null(text);
    return text;
}

Test(codec_workload, words_of_origins_are_those_of_formats_and_runs)
{
    for (size_t i = 0; i < WORKLOAD_FORMATS; i++)
        cr_expect_str_eq(workload_origin_words[i], workload_format_words[i]);
    cr_expect_str_eq(workload_origin_words[WORKLOAD_OF_RUNS], "runs");
    cr_expect_null(workload_origin_words[WORKLOAD_OF_RUNS + 1]);
}

Test(codec_workload, a_record_is_written_with_its_summary_as_it_is)
{
    const struct workload_record record = {.id = "01a21805-b370-711c-bd34-57f5e52d380a",
                                           .origin = WORKLOAD_OF_RUNS,
                                           .jobs = 2,
                                           .tasks = 5,
                                           .reduce_tasks = 1,
                                           .bytes = 99,
                                           .summary = strview_of("{\"work_s\": 1.50}"),
                                           .created_us = 0};
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    codec_workload_encode(&w, &record);
    cr_expect_str_eq(written(&w),
                     "{\"id\":\"01a21805-b370-711c-bd34-57f5e52d380a\",\"name\":null,"
                     "\"format\":\"runs\",\"created_at\":\"1970-01-01T00:00:00Z\",\"jobs\":2,"
                     "\"tasks\":5,\"reduce_tasks\":1,\"stored_bytes\":99,"
                     "\"summary\":{\"work_s\": 1.50}}");
    arena_fini(&arena);
}

static const char *encode_summary(const struct codec_workload_summary *summary)
{
    struct writer w;
    arena_fini(&arena);
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    codec_workload_summary_encode(&w, summary);
    return written(&w);
}

Test(codec_workload, what_does_not_apply_is_null)
{
    const struct workload_durations durations = {3, 2, 1};
    struct codec_workload_summary summary = {
        .summary = {.offered_slots = (double)NAN, .tail_index = (double)NAN, .tail_jobs = 4}};
    const char *text = encode_summary(&summary);
    cr_expect_not_null(strstr(text, "\"offered_slots\":null"));
    cr_expect_not_null(strstr(text, "\"tail_index\":null,\"tail_jobs\":4"));
    cr_expect_not_null(strstr(text, "\"size_law\":null"));
    cr_expect_not_null(strstr(text, "\"rates\":null,\"durations_from\":null,\"warnings\":[]"));
    summary.rates = &workload_rates_default;
    summary.durations = &durations;
    summary.summary.size_law = (struct workload_size_law){
        .jobs = 9, .seconds_per_byte = 0.5, .without_input_s = (double)NAN};
    text = encode_summary(&summary);
    cr_expect_not_null(strstr(text,
                              "\"size_law\":{\"jobs\":9,\"seconds_per_byte\":0.5,"
                              "\"r_squared\":0,\"log_r_squared\":0,\"without_input_s\":null}"));
    cr_expect_not_null(strstr(text, "\"rates\":{\"map_bytes\":64000000,"));
    cr_expect_not_null(
        strstr(text, "\"durations_from\":{\"recorded\":3,\"from_sketches\":2,\"from_means\":1}"));
}

/* The kind of a log is told by its first bytes, however they come. */
#include "core/joblog/joblog.h"

#include <criterion/criterion.h>

#include "sparklog_cases.h"

static const char history[] =
    "Avro-Json\n{\"type\":\"record\"}\n"
    "{\"type\":\"JOB_SUBMITTED\",\"event\":{\"jobid\":\"job_1_1\",\"submitTime\":1000}}\n"
    "{\"type\":\"JOB_FINISHED\",\"event\":{\"jobid\":\"job_1_1\",\"finishTime\":4000}}\n";
static const char events[] = LOG_START APP_START(1000) APP_END(4000);

static void read_log(const char *text, size_t piece, enum joblog_kind kind, const char *id)
{
    struct joblog *log = joblog_create(&case_limits);
    struct arena arena;
    struct run run;
    arena_init(&arena, 0);
    size_t n = strlen(text);
    for (size_t at = 0; at < n; at += piece)
        cr_assert_eq(joblog_feed(log, text + at, n - at < piece ? n - at : piece, NULL), PV_OK);
    cr_assert_eq(joblog_finish(log, &arena, &run, NULL), PV_OK);
    cr_assert_eq(joblog_kind(log), kind);
    cr_assert(strview_is(run.spark_application_id, id));
    cr_assert_float_eq(run.duration_s, 3.0, 1e-12);
    cr_assert_eq(joblog_counts(log).bytes, n);
    joblog_destroy(log);
    arena_fini(&arena);
}

Test(joblog, the_reader_is_chosen_whatever_the_pieces)
{
    for (size_t piece = 1; piece < 40; piece++) {
        read_log(history, piece, JOBLOG_MAPREDUCE, "job_1_1");
        read_log(events, piece, JOBLOG_SPARK, "app-1");
    }
}

Test(joblog, fewer_bytes_than_the_mark_are_no_log)
{
    struct joblog *log = joblog_create(&case_limits);
    struct arena arena;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(joblog_feed(log, "Avro", 4, NULL), PV_OK);
    cr_assert_eq(joblog_kind(log), JOBLOG_UNDECIDED);
    cr_assert_eq(joblog_counts(log).bytes, 4);
    joblog_note_truncated(log, "gzip");
    cr_assert_eq(joblog_kind(log), JOBLOG_SPARK);
    cr_assert_eq(joblog_finish(log, &arena, &run, NULL), PV_E_INVALID);
    joblog_destroy(log);
    arena_fini(&arena);
}

Test(joblog, a_failure_of_the_reader_is_the_logs)
{
    struct joblog *log = joblog_create(&case_limits);
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(joblog_feed(log, "Avro-Binary\n{}\n", 15, &err), PV_E_MEDIA_TYPE);
    cr_assert_eq(joblog_feed(log, "more", 4, NULL), PV_E_MEDIA_TYPE);
    joblog_destroy(log);
}

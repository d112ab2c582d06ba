/* Every definition of a run that comes from an event log, on logs small enough to check by hand. */
#include "core/joblog/spark/sparklog.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run_text.h"
#include "sparklog_cases.h"

static const char two_stages[] = LOG_START EXECUTOR("1", 1005, 4) APP_START(1000) EXECUTOR(
    "2",
    1006,
    8) "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1400,\"Stage "
       "Infos\":["
       "{\"Stage ID\":0,\"Stage Name\":\"map at A.scala:1\",\"Number of Tasks\":2,\"Parent "
       "IDs\":[]},"
       "{\"Stage ID\":1,\"Stage Name\":\"reduce at A.scala:2\",\"Number of Tasks\":1,\"Parent "
       "IDs\":[0,0]},"
       "{\"Stage ID\":2,\"Stage Name\":\"skipped\",\"Number of Tasks\":5,\"Parent IDs\":[1]}],"
       "\"Stage IDs\":[0,1,2]}\n" SUBMITTED(0, 0, 2, 1500) TASK(
           0,
           1,
           "Success",
           1510,
           2010,
           "\"Input Metrics\":{\"Records Read\":100},\"Shuffle Write Metrics\":{\"Shuffle Records "
           "Written\":10}") TASK(0,
                                 0,
                                 "Success",
                                 1500,
                                 1750,
                                 "\"Input Metrics\":{\"Records Read\":50},\"Shuffle Write "
                                 "Metrics\":{\"Shuffle Records Written\":6}") COMPLETED(0,
                                                                                        0,
                                                                                        2,
                                                                                        1500,
                                                                                        2100,
                                                                                        "")
           SUBMITTED(1, 0, 1, 2100) TASK(1, 0, "TaskKilled", 2100, 2200, "") TASK(
               1, 0, "Success", 2100, 2350, "\"Shuffle Read Metrics\":{\"Total Records Read\":16}")
               COMPLETED(1,
                         0,
                         1,
                         2100,
                         2400,
                         "") "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion "
                             "Time\":2400,\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n" APP_END(
                                 3000);

static void expect(double got, double want)
{
    cr_assert_float_eq(got, want, 1e-12, "%g, want %g", got, want);
}

Test(sparklog, a_whole_run)
{
    struct reading r;
    reading_init(&r, two_stages, 0, &case_limits);
    cr_assert_eq(r.code, PV_OK, "%s", r.err.detail);
    expect(r.run.duration_s, 2.0);
    expect(r.run.initialization_s, 0.5);
    cr_assert_eq(r.run.started_us, 1000000);
    cr_assert(r.run.succeeded && r.run.ended && r.run.from_log && r.run.has_stages);
    cr_assert_eq(r.run.problem_size, 2);
    cr_assert_eq(r.run.executors, 2);
    cr_assert_eq(r.run.cores_per_executor, 8);
    cr_assert_eq(r.run.jobs, 1);
    cr_assert_eq(r.run.stages_completed, 2);
    cr_assert_eq(r.run.stages_failed, 0);
    cr_assert_eq(r.run.tasks_succeeded, 3);
    cr_assert_eq(r.run.tasks_failed, 1);
    expect(r.run.task_time_s, 1.0);
    expect(r.run.failed_task_time_s, 0.1);
    cr_assert(strview_is(r.run.log_name, "n"));
    cr_assert(strview_is(r.run.spark_application_id, "app-1"));
    cr_assert(strview_is(r.run.spark_attempt_id, "2"));
    cr_assert(strview_is(r.run.spark_version, "3.5.1"));
    cr_assert_eq(r.run.warnings.n, 2);
    cr_assert_eq(reading_warning(&r, "mixed_executors"), 1);
    cr_assert_eq(reading_warning(&r, "attempts_lost"), 1);
    reading_fini(&r);
}

Test(sparklog, its_stages)
{
    struct reading r;
    reading_init(&r, two_stages, 0, &case_limits);
    cr_assert_eq(r.run.n_stages, 3);
    const struct run_stage *map = reading_stage(&r, 0);
    cr_assert(strview_is(map->name, "map at A.scala:1"));
    cr_assert_eq(map->n_tasks, 2);
    expect(map->task_durations_s[0], 0.25); /* by index, not by the order of the ends */
    expect(map->task_durations_s[1], 0.5);
    expect(map->task_duration_s, 0.375);
    expect(map->duration_s, 0.6);
    expect(map->started_s, 0.5);
    expect(map->input_records, 150); /* no shuffle read: the input */
    expect(map->nominal_rate_per_s, 200);
    const struct run_stage *reduce = reading_stage(&r, 1);
    cr_assert_eq(reduce->n_parents, 1);
    cr_assert_eq(reduce->parents[0], 0);
    expect(reduce->input_records, 16);
    expect(reduce->nominal_rate_per_s, 64);
    const struct run_stage *skipped = reading_stage(&r, 2);
    cr_assert(skipped->skipped && !map->skipped && !reduce->skipped);
    cr_assert_eq(skipped->n_tasks, RUN_UNKNOWN);
    cr_assert(isnan(skipped->duration_s));
    reading_fini(&r);
}

Test(sparklog, records_that_only_the_parents_wrote)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(0, 0, 1, 0)
                     TASK(0, 0, "Success", 0, 100,
                          "\"Output Metrics\":{\"Records Written\":7},\"Shuffle Write "
                          "Metrics\":{\"Shuffle Records Written\":3}")
                         COMPLETED(1, 0, 1, 200, 400, ",\"Parent IDs\":[0]")
                             TASK(1, 0, "Success", 200, 300, "") APP_END(500),
                 0, &case_limits);
    expect(reading_stage(&r, 1)->input_records, 10);
    expect(reading_stage(&r, 1)->nominal_rate_per_s, 100);
    cr_assert(isnan(reading_stage(&r, 0)->input_records), "a stage that makes its data");
    cr_assert(isnan(reading_stage(&r, 0)->nominal_rate_per_s));
    reading_fini(&r);
}

/* Attempt 0 failed; 1 and 2 succeeded and overlap: 300..600 and 500..900 are 600 ms. */
Test(sparklog, attempts_of_a_stage_are_one_stage)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) COMPLETED(4, 0, 3, 100, 250, FAILURE)
                     TASK(4, 0, "Success", 100, 200, "") TASK(4, 1, "FetchFailed", 100, 150, "")
                         COMPLETED(4, 1, 3, 300, 600, "") COMPLETED(4, 2, 3, 500, 900, "")
                             TASK(4, 1, "Success", 300, 500, "")
                                 TASK(4, 0, "Resubmitted", 100, 200, "")
                                     TASK(4, 0, "Success", 500, 550, "") APP_END(1000),
                 0, &case_limits);
    cr_assert_eq(r.run.n_stages, 1);
    cr_assert_eq(r.run.stages_completed, 2);
    cr_assert_eq(r.run.stages_failed, 1);
    cr_assert_eq(r.run.tasks_succeeded, 3);
    cr_assert_eq(r.run.tasks_failed, 2);
    const struct run_stage *stage = &r.run.stages[0];
    expect(stage->duration_s, 0.6);
    expect(stage->started_s, 0.3);
    cr_assert_eq(stage->n_tasks, 3);
    expect(stage->task_durations_s[0], 0.1);
    expect(stage->task_durations_s[1], 0.05);
    expect(stage->task_durations_s[2], 0.2);
    expect(stage->task_time_s, 0.35);
    expect(r.run.initialization_s, 0.1);
    reading_fini(&r);
}

Test(sparklog, a_stage_that_never_succeeded_lasts_as_long_as_its_attempts)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) COMPLETED(0, 0, 1, 100, 200, FAILURE)
                     COMPLETED(0, 1, 1, 300, 350, FAILURE) SUBMITTED(1, 0, 1, 400) APP_END(1000),
                 0, &case_limits);
    expect(reading_stage(&r, 0)->duration_s, 0.15);
    cr_assert(isnan(reading_stage(&r, 1)->duration_s), "submitted, never completed");
    expect(reading_stage(&r, 1)->started_s, 0.4);
    cr_assert_not(reading_stage(&r, 1)->skipped);
    reading_fini(&r);
}

Test(sparklog, executors_are_the_most_alive_at_once)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) EXECUTOR("1", 1, 2) EXECUTOR("2", 2, 4) EXECUTOR("2", 3, 4)
                     GONE("1", 4) GONE("1", 5) GONE("9", 5) EXECUTOR("3", 6, 2) GONE("2", 7)
                         EXECUTOR("1", 8, 2) APP_END(10),
                 0, &case_limits);
    cr_assert_eq(r.run.executors, 2);
    cr_assert_eq(r.run.executors_added, 5);
    cr_assert_eq(r.run.cores_per_executor, 4);
    reading_fini(&r);
}

Test(sparklog, what_a_log_does_not_hold_is_unknown)
{
    struct reading r;
    reading_init(&r, "{\"Event\":\"SparkListenerApplicationStart\",\"Timestamp\":5}\n" APP_END(7),
                 0, &case_limits);
    cr_assert_eq(r.run.executors, RUN_UNKNOWN);
    cr_assert_eq(r.run.cores_per_executor, RUN_UNKNOWN);
    cr_assert(isnan(r.run.problem_size));
    cr_assert(isnan(r.run.initialization_s));
    cr_assert_null(r.run.spark_application_id.at);
    cr_assert_null(r.run.spark_attempt_id.at);
    cr_assert_null(r.run.spark_version.at);
    cr_assert_eq(r.run.executors_added, 0);
    reading_fini(&r);
}

Test(sparklog, the_first_stage_is_the_one_submitted_first)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(2, 0, 9, 300) SUBMITTED(5, 0, 7, 200)
                     SUBMITTED(6, 0, 0, 100) SUBMITTED(7, 0, 8, 200) APP_END(900),
                 0, &case_limits);
    cr_assert(isnan(r.run.problem_size)); /* no task ended */
    expect(r.run.initialization_s, 0.1);
    reading_fini(&r);
}

Test(sparklog, without_an_end_it_lasts_to_the_last_event)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(1000) SUBMITTED(0, 0, 1, 1100) TASK(
            0, 0, "Success", 1100, 1900,
            "") "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\","
                "\"executionId\":0,\"time\":2500}\n" TASK(0, 1, "Success", 1100, 1800, ""),
        0, &case_limits);
    cr_assert_not(r.run.succeeded);
    cr_assert_not(r.run.ended);
    expect(r.run.duration_s, 1.5);
    cr_assert_eq(reading_warning(&r, "no_application_end"), 1);
    reading_fini(&r);
}

Test(sparklog, an_exit_code_tells_failure)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(0) "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":5,\"ExitCode\":1}",
        0, &case_limits);
    cr_assert(r.run.ended);
    cr_assert_not(r.run.succeeded);
    reading_fini(&r);
    reading_init(
        &r,
        APP_START(0) "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":5,\"ExitCode\":0}",
        0, &case_limits);
    cr_assert(r.run.succeeded, "and the last line needs no newline");
    reading_fini(&r);
}

Test(sparklog, databricks_has_its_own_first_event)
{
    struct reading r;
    reading_init(&r,
                 "{\"Event\":\"DBCEventLoggingListenerMetadata\",\"Spark "
                 "Version\":\"3.4.1\",\"Timestamp\":1}\n" APP_START(2),
                 0, &case_limits);
    cr_assert(strview_is(r.run.spark_version, "3.4.1"));
    reading_fini(&r);
}

Test(sparklog, times_that_go_backwards_are_no_time_and_counted)
{
    struct reading r;
    reading_init(&r,
                 APP_START(5000) COMPLETED(0, 0, 1, 4000, 3000, "")
                     TASK(0, 0, "Success", 900, 800, "")
                         TASK(0, 1, "ExceptionFailure", 9007199254740993, -3, "") APP_END(4500),
                 0, &case_limits);
    cr_assert_eq(r.code, PV_OK);
    /* The start lies behind the stage: the earliest event takes its place. */
    expect(r.run.duration_s, 3.7);
    expect(r.run.initialization_s, 3.2);
    expect(r.run.task_time_s, 0);
    expect(r.run.stages[0].duration_s, 0);
    expect(r.run.stages[0].started_s, 3.2);
    cr_assert_eq(reading_warning(&r, "application_start_unusable"), 1);
    cr_assert_eq(reading_warning(&r, "time_went_backwards"), 2); /* stage, task */
    cr_assert_eq(reading_warning(&r, "time_unusable"), 2);
    reading_fini(&r);
}

Test(sparklog, damaged_lines_change_nothing_and_are_counted)
{
    static const char *const lines[] = {
        "not json\n",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task End "
        "Reason\":{\"Reason\":\"Success\"}\n",
        "{\"NoEvent\":1}\n",
        "[]\n",
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":1,\"Stage Infos\":[{\"Stage ID\":9 "
        "\"x\":1}]}\n",
        "{\"Event\":\"SparkListenerEnvironmentUpdate\",x\"Spark Properties\":{}}\n",
        "{\"Event\":\"SomethingNew\",\"cut\":\"\n",
    };
    char log[sizeof two_stages + 1024];
    size_t n = sizeof lines / sizeof *lines;
    (void)strcpy(log, "");
    for (size_t i = 0; i < n; i++)
        (void)strcat(log, lines[i]);
    (void)strcat(log, "\r\n   \n");
    (void)strcat(log, two_stages);
    struct reading sound;
    struct reading damaged;
    reading_init(&sound, two_stages, 0, &case_limits);
    reading_init(&damaged, log, 0, &case_limits);
    cr_assert_eq(reading_warning(&damaged, "damaged_lines"), (int64_t)n);
    cr_assert_eq(damaged.counts.damaged_lines, n);
    sound.run.warnings.n = 0;
    damaged.run.warnings.n = 0;
    char *want = run_text(&sound.run);
    char *got = run_text(&damaged.run);
    cr_assert_str_eq(got, want);
    free(want);
    free(got);
    reading_fini(&sound);
    reading_fini(&damaged);
}

/* Whatever the pieces a log comes in, its run is the same. */
Test(sparklog, pieces_make_no_difference)
{
    struct reading whole;
    reading_init(&whole, two_stages, 0, &case_limits);
    char *want = run_text(&whole.run);
    for (size_t piece = 1; piece < sizeof two_stages; piece += 1 + piece / 8) {
        struct reading r;
        reading_init(&r, two_stages, piece, &case_limits);
        char *got = run_text(&r.run);
        cr_assert_str_eq(got, want, "pieces of %zu", piece);
        free(got);
        reading_fini(&r);
    }
    free(want);
    reading_fini(&whole);
}

/* Cut anywhere, a log is read as far as it goes: never an error but the cut before the start. */
Test(sparklog, every_cut_is_read_as_far_as_it_goes)
{
    char cut[sizeof two_stages];
    for (size_t n = 0; n < sizeof two_stages; n++) {
        memcpy(cut, two_stages, n);
        cut[n] = '\0';
        struct reading r;
        reading_init(&r, cut, 0, &case_limits);
        const char *start = strstr(two_stages, "{\"Event\":\"SparkListenerApplicationStart");
        const char *whole_line = strchr(start, '\n');
        bool within = n > 0 && two_stages[n - 1] != '\n' && two_stages[n] != '\n';
        if (n == 0) {
            cr_assert_str_eq(r.err.faults[1].code, "not_a_log");
        } else if (two_stages + n < whole_line) {
            cr_assert(r.code == PV_E_INVALID && r.err.n_faults == 1);
            cr_assert_str_eq(r.err.faults[0].code, "truncated", "cut at %zu", n);
        } else {
            cr_assert_eq(r.code, PV_OK);
            cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
            cr_assert_eq(reading_warning(&r, "truncated"), within, "cut at %zu", n);
        }
        reading_fini(&r);
    }
}

static void expect_refusal(const char *text, bool cut, const char *code, const char *words)
{
    struct log_reader *log = log_reader_create(&sparklog_kind, &case_limits);
    struct pv_error err = {.code = PV_OK};
    struct arena arena;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(log_reader_feed(log, text, strlen(text), &err), PV_OK);
    if (cut)
        log_reader_note_truncated(log, "lz4");
    cr_assert_eq(log_reader_finish(log, &arena, &run, &err), PV_E_INVALID);
    const struct pv_fault *last = &err.faults[err.n_faults - 1];
    cr_expect_str_eq(last->code, code, "%s", text);
    cr_expect_not_null(strstr(err.faults[0].detail, words), "%s: %s", text, err.faults[0].detail);
    arena_fini(&arena);
    log_reader_destroy(log);
}

/* A log that is cut, a later part of one, and a file that is no log. */
Test(sparklog, a_log_without_a_start_says_what_it_is)
{
    static const char in_frame[] = "the lz4 stream ends in the middle of a frame, before the start";
    expect_refusal("", true, "truncated", in_frame);
    expect_refusal("{\"Ev", true, "truncated", in_frame);
    expect_refusal("{ \"Event\" : \"SparkLis", true, "truncated", in_frame);
    expect_refusal(LOG_START "{\"Event\":\"Spark", true, "truncated", in_frame);
    expect_refusal("{\"Event\":\"Spark", false, "truncated", "the last line ends in the middle");
    expect_refusal(LOG_START, false, "truncated", "the log ends after 1 line, before the start");
    expect_refusal(LOG_START EXECUTOR("1", 5, 4), false, "truncated", "after 2 lines");
    /* The first line of a compressed file may be of anything. */
    expect_refusal("app\tsec", true, "truncated", in_frame);
    expect_refusal("app\tseconds\na\t5\nb", true, "not_a_log", "not a Spark event log");
    expect_refusal("app\tsec", false, "not_a_log", "not a Spark event log");
    expect_refusal("{\"a\": 1, \"b", false, "not_a_log", "not a Spark event log");
    expect_refusal("", false, "not_a_log", "not a Spark event log");
    expect_refusal(SUBMITTED(0, 0, 2, 1500), true, "no_application_start", "a later part");
    expect_refusal(APP_END(5), true, "no_application_start", "a later part");
    expect_refusal(LOG_START SUBMITTED(0, 0, 2, 1500), false, "no_application_start",
                   "missing or damaged");
}

Test(sparklog, no_application_start_is_refused)
{
    struct reading r;
    reading_init(&r, LOG_START APP_END(5), 0, &case_limits);
    cr_assert_eq(r.code, PV_E_INVALID);
    cr_assert_eq(r.err.n_faults, 1);
    cr_assert_str_eq(r.err.faults[0].code, "no_application_start");
    reading_fini(&r);
}

Test(sparklog, lines_over_the_limit_are_counted)
{
    struct joblog_limits limits = case_limits;
    limits.line_bytes = 200;
    struct reading r;
    char line[512] = "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":9,\"x\":\"";
    memset(line + strlen(line), 'x', 200);
    (void)strcat(line, "\"}\n" APP_START(1) APP_END(3));
    reading_init(&r, line, 7, &limits);
    cr_assert_eq(r.code, PV_OK);
    cr_assert_eq(reading_warning(&r, "line_too_long"), 1);
    expect(r.run.duration_s, 0.002);
    cr_assert_eq(r.counts.lines, 3);
    reading_fini(&r);
}

Test(sparklog, limits_of_stages_tasks_and_memory)
{
    struct joblog_limits limits = case_limits;
    struct reading r;
    limits.stages = 2;
    reading_init(&r, APP_START(0) SUBMITTED(0, 0, 1, 1) SUBMITTED(1, 0, 1, 1), 0, &limits);
    cr_assert_eq(r.code, PV_OK);
    reading_fini(&r);
    reading_init(&r, APP_START(0) SUBMITTED(0, 0, 1, 1) SUBMITTED(0, 1, 1, 1) SUBMITTED(1, 0, 1, 1),
                 0, &limits);
    cr_assert_eq(r.code, PV_E_LIMIT);
    reading_fini(&r);
    limits = case_limits;
    limits.tasks = 1;
    reading_init(&r, TASK(0, 0, "Success", 0, 1, "") TASK(0, 1, "Success", 0, 1, ""), 0, &limits);
    cr_assert_eq(r.code, PV_E_LIMIT);
    reading_fini(&r);
    limits = case_limits;
    for (limits.memory_bytes = 0; limits.memory_bytes < 32768; limits.memory_bytes += 64) {
        reading_init(&r, two_stages, 11, &limits);
        if (r.code == PV_OK)
            break;
        cr_assert_eq(r.code, PV_E_LIMIT);
        reading_fini(&r);
    }
    cr_assert_eq(r.code, PV_OK, "a small log needs less than %zu bytes", limits.memory_bytes);
    cr_assert_gt(limits.memory_bytes, 1000);
    reading_fini(&r);
}

Test(sparklog, parents_that_no_event_describes_are_skipped_stages)
{
    struct reading r;
    reading_init(&r, APP_START(0) COMPLETED(5, 0, 1, 1, 2, ",\"Parent IDs\":[3,5,8,-1]") APP_END(9),
                 0, &case_limits);
    cr_assert_eq(r.run.n_stages, 2);
    cr_assert(reading_stage(&r, 3)->skipped);
    cr_assert_eq(reading_stage(&r, 5)->n_parents, 1);
    cr_assert_eq(reading_warning(&r, "parents_dropped"), 3);
    reading_fini(&r);
}

Test(sparklog, old_jobs_name_their_stages_by_id)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Stage "
                              "IDs\":[1,0]}\n" SUBMITTED(1, 0, 1, 5) APP_END(9),
                 0, &case_limits);
    cr_assert_eq(r.run.jobs, 1);
    cr_assert_eq(r.run.n_stages, 2);
    cr_assert(reading_stage(&r, 0)->skipped);
    reading_fini(&r);
}

Test(sparklog, a_second_start_is_passed_over)
{
    struct reading r;
    reading_init(&r, APP_START(1) APP_START(2) APP_END(5), 0, &case_limits);
    expect(r.run.duration_s, 0.004);
    cr_assert_eq(reading_warning(&r, "several_applications"), 1);
    reading_fini(&r);
}

Test(sparklog, a_cut_stream_ends_its_last_line)
{
    static const char part[] = APP_START(1000) "{\"Event\":\"SparkListenerTaskEnd\",\"Sta";
    static const char next[] = APP_END(3000);
    struct log_reader *log = log_reader_create(&sparklog_kind, &case_limits);
    struct arena arena;
    arena_init(&arena, 0);
    struct run run;
    cr_assert_eq(log_reader_feed(log, part, sizeof part - 1, NULL), PV_OK);
    log_reader_note_truncated(log, "gzip");
    cr_assert_eq(log_reader_feed(log, next, sizeof next - 1, NULL), PV_OK);
    cr_assert_eq(log_reader_finish(log, &arena, &run, NULL), PV_OK);
    expect(run.duration_s, 2.0);
    cr_assert_eq(run.warnings.n, 1);
    cr_assert_str_eq(run.warnings.items[0].code, "truncated");
    cr_assert_str_eq(run.warnings.items[0].message,
                     "the gzip stream ends in the middle of a frame: the file is cut at its end");
    cr_assert_eq(finding_value(&run.warnings.items[0], "count"), 1);
    cr_assert_neq(log_reader_feed(log, next, 1, NULL), PV_OK,
                  "a finished reader takes nothing more");
    arena_fini(&arena);
    log_reader_destroy(log);
}

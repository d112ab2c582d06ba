/* Hadoop job histories: what becomes of a job, its attempts, and what a history may lack. */
#include "core/joblog/mapreduce/mapreduce.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run_text.h"
#include "sparklog_cases.h"

#define RECORD "org.apache.hadoop.mapreduce.jobhistory."
#define EVENT(type, record, members)                                                               \
    "{\"type\":\"" type "\",\"event\":{\"" RECORD record "\":{" members "}}}\n\n"
#define HEAD "Avro-Json\n{\"type\":\"record\",\"name\":\"Event\",\"fields\":[]}\n"
#define JOB "\"jobid\":\"job_1700000000000_0007\""

#define SUBMITTED_JOB                                                                              \
    EVENT("AM_STARTED", "AMStarted",                                                               \
          "\"applicationAttemptId\":\"appattempt_1700000000000_0007_000001\",\"startTime\":2000")  \
    EVENT("JOB_SUBMITTED", "JobSubmitted",                                                         \
          JOB ",\"jobName\":\"count words\",\"userName\":\"u\",\"submitTime\":1000,\"acls\":{},"   \
              "\"workflowId\":{\"string\":\"\"}")
#define INITED(maps, reduces)                                                                      \
    EVENT("JOB_INITED", "JobInited",                                                               \
          JOB ",\"launchTime\":3000,\"totalMaps\":" #maps ",\"totalReduces\":" #reduces            \
              ",\"jobStatus\":\"INITED\",\"uberized\":false")
#define ATTEMPT(letter, task, number)                                                              \
    "\"taskid\":\"task_1700000000000_0007_" letter "_" #task                                       \
    "\",\"attemptId\":\"attempt_1700000000000_0007_" letter "_" #task "_" #number "\""
#define STARTED(kind, letter, task, number, ms, avataar)                                           \
    EVENT(kind "_ATTEMPT_STARTED", "TaskAttemptStarted",                                           \
          ATTEMPT(letter, task, number) ",\"startTime\":" #ms                                      \
                                        ",\"locality\":{\"string\":\"NODE_LOCAL\"},\"avataar\":"   \
                                        "{\"string\":\"" avataar "\"}")
#define COUNTER(name, value) "{\"name\":\"" name "\",\"displayName\":\"x\",\"value\":" #value "}"
#define COUNTERS(counters)                                                                         \
    ",\"counters\":{\"name\":\"COUNTERS\",\"groups\":[{\"name\":\"org.apache.hadoop.mapreduce."    \
    "TaskCounter\",\"displayName\":\"d\",\"counts\":[" counters "]},{\"name\":\"of.the.User\","    \
    "\"counts\":[" COUNTER("MAP_INPUT_RECORDS", 999999) "," COUNTER("REDUCE_INPUT_RECORDS",        \
                                                                    999999) "]}]}"
#define MAP_DONE(task, number, ms, records)                                                        \
    EVENT("MAP_ATTEMPT_FINISHED", "MapAttemptFinished",                                            \
          ATTEMPT("m", task,                                                                       \
                  number) ",\"taskStatus\":\"SUCCEEDED\",\"mapFinishTime\":" #ms                   \
                          ",\"finishTime\":" #ms COUNTERS(COUNTER("MAP_INPUT_RECORDS", records)))
#define REDUCE_DONE(task, number, ms, records)                                                     \
    EVENT("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished",                                      \
          ATTEMPT("r", task, number) ",\"taskStatus\":\"SUCCEEDED\",\"shuffleFinishTime\":1,"      \
                                     "\"finishTime\":" #ms COUNTERS(                               \
                                         COUNTER("REDUCE_INPUT_RECORDS", records)))
#define STOPPED(kind, how, letter, task, number, ms)                                               \
    EVENT(kind "_ATTEMPT_" how, "TaskAttemptUnsuccessfulCompletion",                               \
          ATTEMPT(letter, task, number) ",\"finishTime\":" #ms ",\"status\":\"" how                \
                                        "\",\"error\":\"{[\\\"\",\"counters\":null")
#define FINISHED(ms)                                                                               \
    EVENT("JOB_FINISHED", "JobFinished", JOB ",\"finishTime\":" #ms ",\"finishedMaps\":2")
#define UNSUCCESSFUL(how, ms)                                                                      \
    EVENT("JOB_" how, "JobUnsuccessfulCompletion",                                                 \
          JOB ",\"finishTime\":" #ms ",\"jobStatus\":\"" how "\"")

static void read_job(struct reading *reading, const char *text, size_t piece)
{
    memset(reading, 0, sizeof *reading);
    arena_init(&reading->arena, 0);
    struct log_reader *log = log_reader_create(&mapreduce_kind, &case_limits);
    cr_assert_not_null(log);
    size_t n = strlen(text);
    piece = piece == 0 ? n + 1 : piece;
    for (size_t at = 0; at < n && reading->code == PV_OK; at += piece)
        reading->code =
            log_reader_feed(log, text + at, n - at < piece ? n - at : piece, &reading->err);
    if (reading->code == PV_OK)
        reading->code = log_reader_finish(log, &reading->arena, &reading->run, &reading->err);
    reading->counts = log_reader_counts(log);
    log_reader_destroy(log);
}

/* Two maps, one of them after a failure and one raced by a copy; two reduces, one of which waits.
 */
static const char maps_begin[] = HEAD SUBMITTED_JOB INITED(2, 2)
    STARTED("MAP", "m", 000000, 0, 4000, "VIRGIN") STARTED("MAP", "m", 000001, 0, 4500, "VIRGIN")
        STOPPED("MAP", "FAILED", "m", 000000, 0, 5000)
            STARTED("MAP", "m", 000000, 1, 5000, "VIRGIN")
                STARTED("MAP", "m", 000001, 1, 6000, "SPECULATIVE");
static const char reduces_begin[] = MAP_DONE(000001, 1, 7000, 40)
    STOPPED("MAP", "KILLED", "m", 000001, 0, 7100) STARTED("REDUCE", "r", 000001, 0, 7200, "VIRGIN")
        MAP_DONE(000000, 1, 8000, 60) STARTED("REDUCE", "r", 000000, 0, 8500, "VIRGIN");
static const char all_end[] =
    REDUCE_DONE(000000, 0, 9000, 30) REDUCE_DONE(000001, 0, 9500, 10) FINISHED(10000);

static const char *whole(void)
{
    static char text[sizeof maps_begin + sizeof reduces_begin + sizeof all_end];
    (void)snprintf(text, sizeof text, "%s%s%s", maps_begin, reduces_begin, all_end);
    return text;
}

Test(mapreduce, a_job_becomes_a_run_of_two_stages)
{
    struct reading r;
    read_job(&r, whole(), 0);
    cr_assert_eq(r.code, PV_OK, "%s", r.err.detail);
    const struct run *run = &r.run;
    cr_assert(strview_is(run->spark_application_id, "job_1700000000000_0007"));
    cr_assert_null(run->spark_attempt_id.at);
    cr_assert(strview_is(run->log_name, "count words"));
    cr_assert(run->succeeded && run->ended && run->from_log);
    cr_assert_eq(run->started_us, 1000000);
    cr_assert_float_eq(run->duration_s, 9.0, 1e-12);
    cr_assert_float_eq(run->initialization_s, 3.0, 1e-12);
    cr_assert_eq(run->problem_size, 2);
    cr_assert_eq(run->cores_per_executor, 1);
    cr_assert_eq(run->jobs, 1);
    cr_assert_eq(run->stages_completed, 2);
    cr_assert_eq(run->stages_failed, 0);
    cr_assert_eq(run->tasks_succeeded, 4);
    cr_assert_eq(run->tasks_failed, 2);
    cr_assert_float_eq(run->task_time_s, 3.0 + 1.0 + 0.5 + 2.3, 1e-12);
    cr_assert_float_eq(run->failed_task_time_s, 1.0 + 2.6, 1e-12);
    cr_assert_eq(run->executors_added, 6);
    reading_fini(&r);
}

Test(mapreduce, stages_hold_the_durations_of_successful_attempts_in_task_order)
{
    struct reading r;
    read_job(&r, whole(), 0);
    cr_assert_eq(r.run.n_stages, 2);
    const struct run_stage *map = reading_stage(&r, 0);
    const struct run_stage *reduce = reading_stage(&r, 1);
    cr_assert(strview_is(map->name, "map") && strview_is(reduce->name, "reduce"));
    cr_assert_eq(map->n_parents, 0);
    cr_assert_eq(reduce->n_parents, 1);
    cr_assert_eq(reduce->parents[0], 0);
    cr_assert_eq(map->n_tasks, 2);
    cr_assert_float_eq(map->task_durations_s[0], 3.0, 1e-12);
    cr_assert_float_eq(map->task_durations_s[1], 1.0, 1e-12);
    cr_assert_float_eq(reduce->task_durations_s[0], 0.5, 1e-12);
    cr_assert_float_eq(reduce->task_durations_s[1], 2.3, 1e-12);
    cr_assert_float_eq(map->duration_s, 4.0, 1e-12, "4000 to 8000");
    cr_assert_float_eq(map->started_s, 3.0, 1e-12);
    cr_assert_float_eq(reduce->duration_s, 2.3, 1e-12, "7200 to 9500");
    cr_assert_float_eq(map->input_records, 100.0, 1e-12, "counters of the user do not count");
    cr_assert_float_eq(reduce->input_records, 40.0, 1e-12);
    cr_assert_float_eq(map->nominal_rate_per_s, 25.0, 1e-12);
    reading_fini(&r);
}

Test(mapreduce, executors_are_the_containers_alive_at_once)
{
    struct reading r;
    read_job(&r, whole(), 0);
    /* From 6000 to 7000: m_0_1, m_1_0 and its copy. The container given back at 5000 and the one
     * launched then are not both alive. */
    cr_assert_eq(r.run.executors, 3);
    reading_fini(&r);
}

Test(mapreduce, what_was_noticed_is_counted)
{
    struct reading r;
    read_job(&r, whole(), 0);
    cr_assert_eq(r.run.tasks_killed, 1);
    cr_assert_eq(r.run.tasks_speculative, 1);
    cr_assert_eq(r.run.tasks_resubmitted, 0);
    cr_assert_eq(reading_warning(&r, "reduces_waited"), 1);
    cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
    cr_assert_eq(reading_warning(&r, "time_unusable"), 0);
    cr_assert_eq(r.run.warnings.n, 1);
    reading_fini(&r);
}

Test(mapreduce, counters_become_figures_of_stages_and_run)
{
    static const char counters[] = "{\"groups\":[{\"name\":\"o.TaskCounter\",\"counts\":[" COUNTER(
        "GC_TIME_MILLIS",
        250) "," COUNTER("MAP_OUTPUT_RECORDS",
                         8) "," COUNTER("MAP_OUTPUT_MATERIALIZED_BYTES",
                                        640) "," COUNTER("CPU_MILLISECONDS",
                                                         900) "]},{\"name\":\"o."
                                                              "FileInputFormatCounter\",\"counts\":"
                                                              "[" COUNTER("BYTES_READ",
                                                                          4096) "]}]}";
    for (int reduces = 0; reduces < 2; reduces++) {
        char text[4096];
        (void)snprintf(text, sizeof text,
                       HEAD SUBMITTED_JOB
                       "{\"type\":\"JOB_INITED\",\"event\":{" JOB
                       ",\"totalMaps\":1,\"totalReduces\":%d}}\n" STARTED(
                           "MAP", "m", 000000, 0, 2000,
                           "VIRGIN") "{\"type\":\"MAP_ATTEMPT_FINISHED\",\"event\":"
                                     "{" ATTEMPT("m", 000000, 0) ",\"finishTime\":3000,"
                                                                 "\"counters\":%s}}\n",
                       reduces, counters);
        struct reading r;
        read_job(&r, text, 0);
        cr_assert_eq(r.code, PV_OK);
        const struct run_metrics *stage = &r.run.stages[0].metrics;
        cr_assert_eq(stage->input_bytes, 4096);
        cr_assert_eq(stage->shuffle_write_bytes, 640);
        cr_assert_eq(stage->shuffle_write_records, reduces ? 8 : RUN_UNKNOWN);
        cr_assert_eq(stage->output_records, reduces ? RUN_UNKNOWN : 8);
        cr_assert_eq(stage->output_bytes, RUN_UNKNOWN, "not counted is not zero");
        cr_assert_float_eq(stage->gc_time_s, 0.25, 1e-12);
        cr_assert_float_eq(stage->executor_cpu_time_s, 0.9, 1e-12);
        cr_assert_float_eq(stage->executor_run_time_s, 1.0, 1e-12);
        cr_assert_eq(r.run.metrics.input_bytes, 4096);
        cr_assert_float_eq(r.run.metrics.gc_time_s, 0.25, 1e-12);
        cr_assert_float_eq(r.run.core_s, 1.0, 1e-12);
        cr_assert_float_eq(r.run.stage_time_s, 1.0, 1e-12);
        reading_fini(&r);
    }
}

Test(mapreduce, pieces_make_no_difference)
{
    struct reading r;
    read_job(&r, whole(), 0);
    char *at_once = run_text(&r.run);
    reading_fini(&r);
    for (size_t piece = 1; piece < 60; piece += 7) {
        read_job(&r, whole(), piece);
        char *in_pieces = run_text(&r.run);
        cr_assert_str_eq(in_pieces, at_once);
        free(in_pieces);
        reading_fini(&r);
    }
    free(at_once);
}

Test(mapreduce, unions_and_the_records_name_may_be_left_out)
{
    static const char bare[] =
        "Avro-Json\n{}\n"
        "{\"event\":{" JOB ",\"submitTime\":{\"long\":1000}},\"type\":\"JOB_SUBMITTED\"}\n"
        "{\"type\":\"JOB_INITED\",\"event\":{" JOB ",\"totalMaps\":{\"int\":1},"
        "\"totalReduces\":0}}\n"
        "{\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"attemptId\":{\"string\":"
        "\"attempt_1700000000000_0007_m_000000_0\"},\"startTime\":2000,\"avataar\":\"VIRGIN\"}}\n"
        "{\"type\":\"MAP_ATTEMPT_FINISHED\",\"event\":{\"attemptId\":"
        "\"attempt_1700000000000_0007_m_000000_0\",\"finishTime\":{\"long\":2500},\"counters\":"
        "{\"" RECORD "JhCounters\":{\"name\":\"C\",\"groups\":[{\"name\":"
        "\"org.apache.hadoop.mapred.Task$Counter\",\"counts\":[" COUNTER(
            "MAP_INPUT_RECORDS", 7) "]}]}}}}\n"
                                    "{\"type\":\"JOB_FINISHED\",\"event\":{" JOB
                                    ",\"finishTime\":3000}}";
    struct reading r;
    read_job(&r, bare, 0);
    cr_assert_eq(r.code, PV_OK, "%s", r.err.detail);
    cr_assert_float_eq(r.run.duration_s, 2.0, 1e-12);
    cr_assert_eq(r.run.problem_size, 1);
    cr_assert_eq(r.run.n_stages, 1, "map-only");
    cr_assert_float_eq(r.run.stages[0].input_records, 7.0, 1e-12);
    cr_assert_float_eq(r.run.stages[0].task_durations_s[0], 0.5, 1e-12);
    cr_assert_eq(r.run.warnings.n, 0);
    reading_fini(&r);
}

Test(mapreduce, a_lost_output_is_no_work_and_its_task_runs_again)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(1, 0) STARTED("MAP", "m", 000000, 0, 2000, "VIRGIN")
                 MAP_DONE(000000, 0, 3000, 5) STOPPED("MAP", "KILLED", "m", 000000, 0, 9000)
                     STARTED("MAP", "m", 000000, 1, 9000, "VIRGIN") MAP_DONE(000000, 1, 9250, 5)
                         FINISHED(9500),
             0);
    cr_assert_eq(r.run.tasks_succeeded, 1);
    cr_assert_eq(r.run.tasks_failed, 1);
    cr_assert_float_eq(r.run.stages[0].task_durations_s[0], 0.25, 1e-12);
    cr_assert_float_eq(r.run.stages[0].input_records, 5.0, 1e-12);
    cr_assert_float_eq(r.run.failed_task_time_s, 1.0, 1e-12, "it ran for a second, not seven");
    cr_assert_eq(r.run.executors, 1);
    cr_assert_eq(r.run.tasks_resubmitted, 1);
    reading_fini(&r);
}

Test(mapreduce, of_two_that_succeeded_the_first_counts)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(1, 0) STARTED("MAP", "m", 000000, 0, 2000, "VIRGIN")
                 STARTED("MAP", "m", 000000, 1, 2500, "SPECULATIVE") MAP_DONE(000000, 1, 3000, 5)
                     MAP_DONE(000000, 0, 3100, 5) FINISHED(4000),
             0);
    cr_assert_eq(r.run.tasks_succeeded, 1);
    cr_assert_eq(r.run.tasks_failed, 1);
    cr_assert_float_eq(r.run.stages[0].task_durations_s[0], 0.5, 1e-12);
    cr_assert_eq(r.run.tasks_killed, 1);
    reading_fini(&r);
}

Test(mapreduce, a_job_that_failed_has_a_skipped_reduce)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(1, 1) STARTED("MAP", "m", 000000, 0, 2000, "VIRGIN")
                 STOPPED("MAP", "FAILED", "m", 000000, 0, 3000) UNSUCCESSFUL("FAILED", 3500),
             0);
    cr_assert_eq(r.code, PV_OK);
    cr_assert(!r.run.succeeded && r.run.ended);
    cr_assert_eq(r.run.stages_failed, 1);
    cr_assert_eq(r.run.stages_completed, 0);
    cr_assert_eq(r.run.n_stages, 2);
    cr_assert(r.run.stages[1].skipped);
    cr_assert_eq(r.run.stages[1].n_tasks, RUN_UNKNOWN);
    cr_assert_eq(r.run.stages[0].n_tasks, 0);
    cr_assert(isnan(r.run.stages[0].duration_s));
    cr_assert_eq(reading_warning(&r, "failed_jobs"), 1);
    reading_fini(&r);
}

Test(mapreduce, jobs_killed_or_in_error_did_not_succeed)
{
    struct reading r;
    read_job(&r, HEAD SUBMITTED_JOB UNSUCCESSFUL("KILLED", 3500), 0);
    cr_assert(r.run.ended && !r.run.succeeded);
    cr_assert_eq(r.run.n_stages, 0);
    cr_assert_eq(r.run.executors, RUN_UNKNOWN);
    cr_assert(isnan(r.run.problem_size));
    reading_fini(&r);
    read_job(&r, HEAD SUBMITTED_JOB UNSUCCESSFUL("ERROR", 3500), 0);
    cr_assert(r.run.ended && !r.run.succeeded);
    reading_fini(&r);
}

Test(mapreduce, a_history_that_breaks_off_reaches_to_its_last_event)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(2, 0) STARTED("MAP", "m", 000000, 0, 2000, "VIRGIN")
                 STARTED("MAP", "m", 000001, 0, 2000, "VIRGIN")
                     MAP_DONE(000000, 0, 4000, 5) "{\"ty",
             0);
    cr_assert(!r.run.ended && !r.run.succeeded);
    cr_assert_float_eq(r.run.duration_s, 3.0, 1e-12);
    cr_assert_eq(r.run.executors, 2);
    cr_assert_eq(r.run.stages_completed + r.run.stages_failed, 0);
    cr_assert_eq(reading_warning(&r, "no_application_end"), 1);
    cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
    cr_assert_eq(reading_warning(&r, "truncated"), 1);
    reading_fini(&r);
}

Test(mapreduce, times_that_go_backwards_are_no_time_and_counted)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(1, 0) STARTED("MAP", "m", 000000, 0, 5000, "VIRGIN")
                 MAP_DONE(000000, 0, 4000, 5) FINISHED(500),
             0);
    cr_assert_float_eq(r.run.duration_s, 0.0, 1e-12);
    cr_assert_float_eq(r.run.stages[0].task_durations_s[0], 0.0, 1e-12);
    cr_assert_float_eq(r.run.stages[0].duration_s, 0.0, 1e-12);
    cr_assert_eq(reading_warning(&r, "time_went_backwards"), 3);
    cr_assert_eq(r.run.executors, 1);
    reading_fini(&r);
}

Test(mapreduce, instants_that_are_missing_are_counted)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB INITED(1, 0) MAP_DONE(000000, 0, 4000, 5)
                 STOPPED("MAP", "KILLED", "m", 000000, 1, 0) FINISHED(5000),
             0);
    cr_assert_eq(r.run.tasks_succeeded, 1, "its start was lost, its work was not");
    cr_assert_float_eq(r.run.stages[0].task_durations_s[0], 0.0, 1e-12);
    cr_assert_eq(reading_warning(&r, "time_unusable"), 2);
    cr_assert_eq(r.run.executors, RUN_UNKNOWN);
    reading_fini(&r);
}

Test(mapreduce, damaged_lines_change_nothing_but_their_count)
{
    static const struct {
        const char *line;
    } lines[] = {
        {"{\"type\":\"JOB_FINISHED\",\"event\":{" JOB ",\"finishTime\":10000}\n"},
        {"{\"type\":\"JOB_FINISHED\",\"event\":{\"" RECORD "JobFinished\":{" JOB
         ",\"finishTime\"10000}}}\n"},
        {"{\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"attemptId\":\"attempt_1_m_2\"}}\n"},
        {"{\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"startTime\":1}}\n"},
        {"{\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"attemptId\":"
         "\"attempt_1_1_m_99999999999999999999_0\"}}\n"},
        {"{\"type\":\"MAP_ATTEMPT_FINISHED\",\"event\":{\"attemptId\":\"attempt_1_1_m_0_0\","
         "\"counters\":{\"groups\":[{\"name\":\"x.TaskCounter\",\"counts\":[{\"name\"}]}]}}}\n"},
        {"{\"type\":\"JOB_FINISHED\",\"event\":[]}\n"},
        {"{\"event\":{}}\n"},
        {"[]\n"},
        {"nothing\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[4096];
        (void)snprintf(text, sizeof text, "%s%s", HEAD SUBMITTED_JOB, lines[i].line);
        struct reading r;
        read_job(&r, text, 0);
        cr_assert_eq(r.code, PV_OK);
        cr_assert_eq(reading_warning(&r, "damaged_lines"), 1, "%s", lines[i].line);
        cr_assert(!r.run.ended);
        cr_assert_eq(r.run.n_stages, 0, "%s", lines[i].line);
        reading_fini(&r);
    }
}

Test(mapreduce, events_that_are_unknown_pass)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB EVENT("JOB_QUEUE_CHANGED", "JobQueueChange", JOB)
                 EVENT("SETUP_ATTEMPT_STARTED", "TaskAttemptStarted",
                       "\"attemptId\":\"attempt_1_1_s_0_0\",\"startTime\":1")
                     EVENT("OF_THE_FUTURE", "Future", "\"x\":[1,2]") FINISHED(5000),
             0);
    cr_assert_eq(r.code, PV_OK);
    cr_assert_eq(r.run.warnings.n, 0);
    reading_fini(&r);
}

Test(mapreduce, other_jobs_and_masters_that_take_over_are_told)
{
    struct reading r;
    read_job(&r,
             HEAD SUBMITTED_JOB EVENT("AM_STARTED", "AMStarted", "\"startTime\":2500")
                 EVENT("JOB_SUBMITTED", "JobSubmitted", "\"jobid\":\"job_2_2\",\"submitTime\":1")
                     FINISHED(5000),
             0);
    cr_assert(strview_is(r.run.spark_application_id, "job_1700000000000_0007"));
    cr_assert_eq(r.run.started_us, 1000000);
    cr_assert_eq(reading_warning(&r, "several_applications"), 1);
    cr_assert_eq(reading_warning(&r, "master_restarted"), 1);
    reading_fini(&r);
}

Test(mapreduce, before_its_job_is_submitted_a_history_is_cut)
{
    static const char text[] = HEAD SUBMITTED_JOB;
    char cut[sizeof text];
    size_t named = (size_t)(strstr(text, "JOB_SUBMITTED") - text);
    for (size_t n = 1; n < named; n++) {
        memcpy(cut, text, n);
        cut[n] = '\0';
        struct reading r;
        read_job(&r, cut, 0);
        cr_assert_eq(r.code, PV_E_INVALID);
        cr_assert_str_eq(r.err.faults[0].code, "truncated", "cut at %zu", n);
        reading_fini(&r);
    }
}

Test(mapreduce, attempts_without_their_job_are_damaged)
{
    struct reading r;
    read_job(&r, HEAD STARTED("MAP", "m", 000000, 0, 2000, "VIRGIN"), 0);
    cr_assert_eq(r.code, PV_E_INVALID);
    cr_assert_str_eq(r.err.faults[0].code, "no_application_start");
    cr_assert_not_null(strstr(r.err.faults[0].detail, "missing or damaged"));
    reading_fini(&r);
}

Test(mapreduce, the_binary_form_says_what_to_do)
{
    struct reading r;
    read_job(&r, "Avro-Binary\n{}\n\x02\x02", 0);
    cr_assert_eq(r.code, PV_E_MEDIA_TYPE);
    cr_assert_not_null(strstr(r.err.detail, "mapreduce.jobhistory.jhist.format=json"));
    reading_fini(&r);
}

Test(mapreduce, first_bytes_tell_a_history)
{
    cr_assert(mapreduce_recognise("Avro-Json\n{", 11));
    cr_assert(mapreduce_recognise("Avro-Binary\n", 12));
    cr_assert(mapreduce_recognise("Avro-Js", 7), "cut");
    cr_assert_not(mapreduce_recognise("Avro", 4));
    cr_assert_not(mapreduce_recognise("Avro-Xml\n", 9));
    cr_assert_not(mapreduce_recognise("{\"Event\":\"Spark", 15));
}

Test(mapreduce, limits_stop_the_reader)
{
    struct joblog_limits limits = case_limits;
    limits.tasks = 1;
    struct log_reader *log = log_reader_create(&mapreduce_kind, &limits);
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(log_reader_feed(log, whole(), strlen(whole()), &err), PV_E_LIMIT);
    cr_assert_not_null(strstr(err.detail, "more than 1 attempts"));
    struct arena arena;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(log_reader_finish(log, &arena, &run, NULL), PV_E_LIMIT);
    arena_fini(&arena);
    log_reader_destroy(log);
}

Test(mapreduce, a_cut_stream_is_truncated_and_not_damaged)
{
    struct log_reader *log = log_reader_create(&mapreduce_kind, &case_limits);
    struct reading r = {.code = PV_OK};
    arena_init(&r.arena, 0);
    cr_assert_eq(log_reader_feed(log, whole(), strlen(whole()) - 40, NULL), PV_OK);
    log_reader_note_truncated(log, "gzip");
    cr_assert_eq(log_reader_finish(log, &r.arena, &r.run, NULL), PV_OK);
    cr_assert_eq(reading_warning(&r, "truncated"), 1);
    cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
    cr_assert_eq(reading_warning(&r, "no_application_end"), 1);
    log_reader_destroy(log);
    arena_fini(&r.arena);
}

/* What traces of each format say, and every fault of theirs by its line. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "workload_cases.h"

static struct workload_case one;

static void setup(void)
{
    workload_case_init(&one);
}

static void teardown(void)
{
    workload_case_fini(&one);
}

TestSuite(workload_formats, .init = setup, .fini = teardown);

/* A trace of each format with what it has of everything, and its jobs. */
static const struct {
    enum workload_format format;
    const char *text;
    const char *jobs;
} traces[] = {
    {WORKLOAD_PIGEON, "0.0116914  3  0.25  0.25  0.2  0.3  \n\n1e1 1 55.806 55.806\r\n10 2 5 5 5\n",
     " 0.0116914: 0.25 0.2 0.3\n 10: 55.806\n 10: 5*2"},
    /* 150 MB in maps of 64, 64 and 22 MB at 10 MB/s; 300 MB in 2 reduces, with 40 MB written at 20
     * MB/s: (30 + 2)/2 + 1. */
    {WORKLOAD_SWIM,
     "job0\t49\t49\t150000000\t300000000\t40000000\njob1\t50\t1\t0\t0\t12345\t/in\t/out\n",
     "job0 49 input=150000000: 7.4*2 3.2 | 17*2\njob1 50 input=0: 1"},
    {WORKLOAD_PROVISOR,
     "{\"name\": \"gr\\u00fcn\", \"arrival_s\": 3, \"map_durations_s\": [4, 4.5, 4.5], "
     "\"reduces\": 2, "
     "\"reduce_task_s\": 27.3, \"shuffle_s\": 2, \"predicted_size_s\": 99, \"queue\": 2}\n"
     "{\"arrival_s\": 2.5, \"task_durations_s\": [0.125], \"class\": \"long\"}\n"
     "{ \"maps\" : 3 , \"map_task_s\" : 1e1, \"reduces\": 0 }",
     "gr\xc3\xbcn 3 shuffle=2 predicted=99 queue=2: 4 4.5*2 | 27.3*2\n 2.5 long: 0.125\n 0: "
     "10*3"},
    /* Task 0 of job 7 is evicted and runs again; task 1 is killed, job 8 fails, job 9 is not over. */
    {WORKLOAD_GOOGLE_2011,
     "600000000,,7,0,,0,u,2,9,0.1,0.1,0.1,0\n"
     "600000000,,7,1,,0,u,2,9,0.1,0.1,0.1,0\n"
     "601000000,,7,0,55,1,u,2,9,0.1,0.1,0.1,0\n"
     "602000000,,7,0,55,2,u,2,9,0.1,0.1,0.1,0\n"
     "602000001,,7,0,,0,u,2,9,0.1,0.1,0.1,0\n"
     "603000000,,7,0,56,1,u,2,9,0.1,0.1,0.1,0\n"
     "604000000,,8,0,,0\n"
     "604000000,,8,0,1,1\n"
     "605000000,,8,0,1,3\n"
     "605500000,,7,0,56,4,u,2,9,0.1,0.1,0.1,0\n"
     "605500000,,7,1,,5,u,2,9,0.1,0.1,0.1,0\n"
     "605600000,,9,0,,0\n",
     "7 600: 2.5"},
    {WORKLOAD_GOOGLE_2019,
     "time,type,collection_id,priority,instance_index,collection_type\n"
     "300000000,SUBMIT,11,200,0,0\n"
     "300000000,1,11,200,0,0\n"
     "\"300000000\",2,11,\"a,\"\"b\",0,0\n"
     "301000000,3,11,200,0,0\n"
     "301000000,3,12,200,0,1\n"
     "302000000,UPDATE_RUNNING,11,200,0,JOB\n"
     "303000000,6,11,200,0,0\n",
     "11 300: 2"},
};

Test(workload_formats, jobs_of_each)
{
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        workload_case_read(&one, traces[i].format, traces[i].text);
        cr_expect_str_eq(workload_case_text(&one), traces[i].jobs);
    }
}

Test(workload_formats, pieces_of_any_size_are_the_same)
{
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct strview text = strview_of(traces[i].text);
        for (size_t piece = 1; piece <= text.n; piece++) {
            workload_case_feed(&one, traces[i].format, text, piece);
            cr_assert_eq(one.code, PV_OK, "piece %zu: %s", piece, one.err.detail);
            cr_expect_str_eq(workload_case_text(&one), traces[i].jobs);
        }
    }
}

/* A byte order mark, lines that end in CR LF, blank lines and blanks around lines are nothing. */
Test(workload_formats, dress_does_not_matter)
{
    workload_case_read(&one, WORKLOAD_PIGEON, "\xef\xbb\xbf 1 1 2 2 \r\n\r\n\t\n2\t1\t2\t2\r\n");
    cr_expect_str_eq(workload_case_text(&one), " 1: 2\n 2: 2");
    cr_expect(isnan(workload_case_warning(&one, "last_line_unterminated", "line")));
}

#define P "1 1 2 2\n"
#define G "5,,7,0,,0\n"
#define N "time,type,collection_id,instance_index\n"

static const struct {
    enum workload_format format;
    const char *text;
    const char *message; /* how it begins */
} faulty[] = {
    {WORKLOAD_PIGEON, "", "the trace is empty"},
    {WORKLOAD_PIGEON, "\n \n", "line 2: the trace ends without a job"},
    {WORKLOAD_PIGEON, P "job0\t49\t49\n",
     "line 2: where the arrival is expected there is \"job0\""},
    {WORKLOAD_PIGEON, P "1\n", "line 2: the line ends where the number of tasks is expected"},
    {WORKLOAD_PIGEON, P "2 3 2 2 2\n", "line 2: 3 tasks are stated, 2 durations follow"},
    {WORKLOAD_PIGEON, P "2 1 2 2 2 2\n", "line 2: 1 task is stated, 3 durations follow"},
    {WORKLOAD_PIGEON, P "2 0 2\n", "line 2: 0 is no number of tasks"},
    {WORKLOAD_PIGEON, P "2 1.5 2 2\n", "line 2: 1.5 is no number of tasks"},
    {WORKLOAD_PIGEON, P "2 2 2 2 2", ""},
    {WORKLOAD_PIGEON, P "2 2 2 2",
     "line 2: 2 tasks are stated, 1 duration follows; the trace is cut"},
    {WORKLOAD_PIGEON, P "2 2 22 22 2",
     "line 2: the mean duration stated is 22 s, that of the tasks 12 s"},
    {WORKLOAD_PIGEON, P "2 1 2 0\n", "line 2: task 1 has a duration of 0 s"},
    {WORKLOAD_PIGEON, P "2 2 2 4 -4\n", "line 2: task 2 has a duration of -4 s"},
    {WORKLOAD_PIGEON, P "2 3 2 4 4 2e12\n", "line 2: task 3 has a duration of 2e+12 s"},
    {WORKLOAD_PIGEON, P "2 1 2 1e999\n", "line 2: task 1 has a duration of inf s"},
    {WORKLOAD_PIGEON, P "2 1 2 nan\n", "line 2: where a duration is expected there is \"nan\""},
    {WORKLOAD_PIGEON, P "2 1 2 0x10\n", "line 2: where a duration is expected there is \"0x10\""},
    {WORKLOAD_PIGEON, P "0.5 1 2 2\n", "line 2: the job arrives at 0.5 s, before the one above it"},
    {WORKLOAD_PIGEON, "-1 1 2 2\n", "line 1: the job arrives at -1 s"},
    {WORKLOAD_SWIM, "job0\t49\t49\t1\t2\t3\njob1\t50\t1\t7\n",
     "line 2: the line ends where the number of shuffled bytes is expected"},
    {WORKLOAD_SWIM, "0.5 1 2 2\n",
     "line 1: the line ends where the number of shuffled bytes is expected"},
    {WORKLOAD_SWIM, "j 1 1 0.5 2 3\n", "line 1: the map input in bytes: a whole number"},
    {WORKLOAD_SWIM, "j 1 1 -5 2 3\n", "line 1: the map input in bytes: a whole number"},
    {WORKLOAD_SWIM, "j 1 1 9e15 2 3\n",
     "line 1: the job has more than 1000000 tasks (workload_job_tasks_max)"},
    {WORKLOAD_SWIM, "j 1 1 1e17 2 3\n", "line 1: the map input in bytes: a whole number"},
    {WORKLOAD_SWIM, "j 5 1 1 2 3\nk 4 1 1 2 3\n", "line 2: the job arrives at 4 s, before"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1, 2]",
     "line 1: it is not one JSON object; the trace is cut"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1, 2\n", "line 1: it is not one JSON object"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1]}{}\n", "line 1: it is not one JSON object"},
    {WORKLOAD_PROVISOR, "[1]\n", "line 1: it is not one JSON object"},
    {WORKLOAD_PROVISOR, "{}\n", "line 1: the job has no tasks"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": []}\n", "line 1: the job has no tasks"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1, \"2\"]}\n",
     "line 1: task_durations_s: a number is expected"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1, 02]}\n",
     "line 1: task_durations_s: a number is expected"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": 1}\n",
     "line 1: task_durations_s: a list of numbers is expected"},
    {WORKLOAD_PROVISOR, "{\"tasks\": 1}\n", "line 1: there is no member \"tasks\" of a job"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1, \"maps\": 1}\n", "line 1: maps is given twice"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1}\n", "line 1: map_task_s is required beside maps"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1.5}\n", "line 1: maps: a whole number from 0"},
    {WORKLOAD_PROVISOR, "{\"queue\": 0}\n", "line 1: queue: a whole number from 1"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1, \"map_task_s\": 1, \"map_durations_s\": [1]}\n",
     "line 1: map_durations_s and maps exclude one another"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"shuffle_s\": 1}\n",
     "line 1: shuffle_s is of jobs for slots, task_durations_s of bags of tasks"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1, \"class\": \"long\"}\n",
     "line 1: maps is of jobs for slots, class of bags of tasks"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"class\": \"medium\"}\n",
     "line 1: class: short or long"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"placement\": [0]}\n",
     "line 1: placement belongs to a cluster"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"name\": \"\"}\n",
     "line 1: name: 1 to 1020 bytes"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"name\": \"\\u0007\"}\n",
     "line 1: name: 1 to 1020 bytes"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"name\": 7}\n",
     "line 1: name: a text is expected"},
    {WORKLOAD_PROVISOR, "{\"task_durations_s\": [1], \"arrival_s\": 1e13}\n",
     "line 1: the job arrives at 1e+13 s"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1, \"map_task_s\": 1, \"shuffle_s\": -1}\n",
     "line 1: the shuffle takes -1 s"},
    {WORKLOAD_PROVISOR, "{\"maps\": 1, \"map_task_s\": 1, \"predicted_size_s\": 0}\n",
     "line 1: the predicted size is 0 s"},
    {WORKLOAD_PROVISOR, "{\"reduces\": 2, \"reduce_task_s\": 0}\n",
     "line 1: reduce 1 has a duration of 0 s"},
    {WORKLOAD_GOOGLE_2011, G "5,,7,0,,0,u\n", "line 2: there are 7 columns; task_events have 13"},
    {WORKLOAD_GOOGLE_2011, G "5,,7,0,,0,u,2,9,\"0.1\n",
     "line 2: column 10: its quotes are not closed"},
    {WORKLOAD_GOOGLE_2011, G "x,,7,0,,0\n",
     "line 2: the time, column 1, is \"x\", not a whole number"},
    {WORKLOAD_GOOGLE_2011, G "5,,,0,,0\n",
     "line 2: the job, column 3, is \"\", not a whole number"},
    {WORKLOAD_GOOGLE_2011, G "5,,7,0,,9\n", "line 2: there is no event 9"},
    {WORKLOAD_GOOGLE_2011, G "4,,7,0,,0\n",
     "line 2: the time 4 is before that of the row above, 5"},
    {WORKLOAD_GOOGLE_2011, "-4,,7,0,,0\n", "line 1: the time -4 is before 0"},
    {WORKLOAD_GOOGLE_2011, "4,,7,-1,,0\n", "line 1: a task cannot have the index -1"},
    {WORKLOAD_GOOGLE_2011, "4,,7,1000000,,0\n", "line 1: a task has the index 1000000"},
    {WORKLOAD_GOOGLE_2011, G "5,,7,0,,1\n", "line 2: the trace ends without a job"},
    {WORKLOAD_GOOGLE_2011, "time,missing,job\n", "line 1: there are 3 columns"},
    {WORKLOAD_GOOGLE_2019, "5,0,7,0\n", "line 1: the first line has to name the columns"},
    {WORKLOAD_GOOGLE_2019, "time,collection_id,instance_index\n",
     "line 1: there is no column named type"},
    {WORKLOAD_GOOGLE_2019, N "5,0,7\n", "line 2: there are 3 columns, too few for instance_index"},
    {WORKLOAD_GOOGLE_2019, N "5,11,7,0\n", "line 2: there is no event 11"},
    {WORKLOAD_GOOGLE_2019, N "5,DONE,7,0\n", "line 2: type is \"DONE\", not a whole number"},
    {WORKLOAD_GOOGLE_2019, N "5,3,7,0\n4,6,7,0\n", "line 3: the time 4 is before"},
    {WORKLOAD_GOOGLE_2019, "time,type,collection_id\n5,3,7\n",
     "line 2: the trace ends without a job"},
};

Test(workload_formats, every_fault_is_named_with_its_line)
{
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
        struct strview text = strview_of(faulty[i].text);
        bool good = faulty[i].message[0] == '\0';
        workload_case_feed(&one, faulty[i].format, text, text.n);
        cr_expect_eq(one.code == PV_OK, good, "%s: %s", faulty[i].text, one.err.detail);
        cr_expect(good ||
                      strncmp(one.err.detail, faulty[i].message, strlen(faulty[i].message)) == 0,
                  "%s: %s, wanted %s", faulty[i].text, one.err.detail, faulty[i].message);
        if (text.n == 0)
            continue;
        char whole[sizeof one.err.detail];
        memcpy(whole, one.err.detail, sizeof whole);
        workload_case_feed(&one, faulty[i].format, text, 1);
        cr_expect_eq(one.code == PV_OK, good);
        cr_expect_str_eq(one.err.detail, whole);
    }
}

Test(workload_formats, nul_bytes_and_long_lines)
{
    static const char nul[] = P "2 1 \0 2\n";
    static const char long_line[] = P "2 5 2 2 2 2 2 2\n" P;
    workload_case_feed(&one, WORKLOAD_PIGEON, (struct strview){nul, sizeof nul - 1}, 100);
    cr_expect_str_eq(one.err.detail, "line 2: it holds a NUL byte; is this text in UTF-8?");
    one.limits.line_bytes = 10;
    for (size_t piece = 1; piece < sizeof long_line; piece++) {
        workload_case_feed(&one, WORKLOAD_PIGEON, strview_of(long_line), piece);
        cr_expect_eq(one.code, PV_E_INVALID);
        cr_expect_str_eq(one.err.detail, "line 2: it has more than 10 bytes "
                                         "(workload_line_bytes_max); is this the right format?");
    }
    /* It is refused before it ends. */
    workload_case_feed(&one, WORKLOAD_PIGEON, strview_of("1 1 2 222222222"), 4);
    cr_expect_str_eq(
        one.err.detail,
        "line 1: it has more than 10 bytes (workload_line_bytes_max); is this the right format?");
}

Test(workload_formats, limits_are_named)
{
    static const struct {
        struct workload_limits limits;
        const char *message;
    } rows[] = {
        {{.jobs = 1}, "line 2: the trace has more than 1 job (workload_jobs_max)"},
        {{.tasks = 3}, "line 2: the trace has more than 3 tasks (workload_tasks_max)"},
        {{.job_tasks = 2}, "line 2: the job has more than 2 tasks (workload_job_tasks_max)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = "1 1 2 2\n2 3 2 2 2 2\n";
        one.limits = rows[i].limits;
        workload_case_feed(&one, WORKLOAD_PIGEON, strview_of(text), strlen(text));
        cr_expect_eq(one.code, PV_E_LIMIT);
        cr_expect_str_eq(one.err.detail, rows[i].message);
    }
}

Test(workload_formats, warnings)
{
    workload_case_read(&one, WORKLOAD_PIGEON, "1 1 2 2\n2 2 7 2 3\n5 1 9 9");
    cr_expect_eq(workload_case_warning(&one, "means_disagree", "count"), 1);
    cr_expect_eq(workload_case_warning(&one, "means_disagree", "first_line"), 2);
    cr_expect_eq(workload_case_warning(&one, "last_line_unterminated", "line"), 3);
    cr_expect_eq(workload_case_warning(&one, "tasks_longer_than_trace", "count"), 1);
    cr_expect_eq(workload_case_warning(&one, "tasks_longer_than_trace", "longest_s"), 9);
    cr_expect_eq(workload_case_warning(&one, "tasks_longer_than_trace", "trace_s"), 4);
    workload_case_read(&one, WORKLOAD_PROVISOR,
                       "{\"arrival_s\": 9, \"maps\": 1, \"map_task_s\": 1}\n"
                       "{\"arrival_s\": 3, \"maps\": 1, \"map_task_s\": 1}\n"
                       "{\"arrival_s\": 1, \"maps\": 1, \"map_task_s\": 1}\n");
    cr_expect_eq(workload_case_warning(&one, "arrivals_out_of_order", "count"), 2);
    cr_expect_eq(workload_case_warning(&one, "arrivals_out_of_order", "first_line"), 2);
    cr_expect_not(one.summary.sorted);
    cr_expect_eq(one.summary.first_arrival_s, 1);
    cr_expect_eq(one.summary.last_arrival_s, 9);
}

/* JSON and programs that print numbers may write zero so. */
Test(workload_formats, zero_has_no_sign)
{
    workload_case_read(&one, WORKLOAD_PIGEON, "-0 1 2 2\n");
    cr_expect_not(signbit(one.summary.first_arrival_s));
    workload_case_read(&one, WORKLOAD_SWIM, "job0 -0.0 0 -0 -0 -0\n");
    cr_expect_not(signbit(one.summary.last_arrival_s));
    workload_case_read(&one, WORKLOAD_PROVISOR,
                       "{\"arrival_s\": -0, \"maps\": 1, \"map_task_s\": 1, \"shuffle_s\": -0}\n");
    cr_expect_not(signbit(one.summary.first_arrival_s));
}

Test(workload_formats, rates_of_swim_must_be_positive)
{
    struct workload_terms terms = {WORKLOAD_SWIM, workload_rates_default};
    const struct workload_sink sink = {0};
    terms.rates.map_bytes = 0;
    cr_expect_eq(workload_import_begin(&terms, NULL, &sink, &one.arena, &one.import, &one.err),
                 PV_E_DOMAIN);
    cr_expect_str_eq(one.err.detail, "map_bytes must be above 0 and finite");
}

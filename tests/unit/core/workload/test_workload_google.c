/* From Google's events to jobs. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
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

TestSuite(workload_google, .init = setup, .fini = teardown);

Test(workload_google, what_does_not_count_is_warned_of)
{
    workload_case_read(&one, WORKLOAD_GOOGLE_2011,
                       /* before the trace: when task 0 of job 1 began is not known */
                       "0,,1,0,,0\n0,,1,0,9,1\n0,,1,1,,0\n"
                       "600000000,,1,,4,u,2,\"a,b\"\n" /* job_events: 8 columns */
                       "600000000,,1,1,9,1\n"
                       "601000000,,1,0,9,4\n"
                       "602000000,,1,1,9,4\n"
                       "602000000,,4,0,9,4\n" /* never seen before */
                       "603000000,,2,0,,0\n603000000,,2,0,9,1\n604000000,,2,0,9,3\n"
                       "604000000,,2,1,9,1\n604500000,,2,1,9,6\n"
                       "604600000,,2,2,9,1\n604700000,,2,2,9,5\n"
                       "605000000,,3,0,9,1\n605000000,,3,0,9,4\n"
                       "606000000,,5,0,,0\n"
                       "9223372036854775807,,5,0,,4\n");
    cr_expect_str_eq(workload_case_text(&one), "1 0: 2\n3 605: 1e-06");
    cr_expect_eq(workload_case_warning(&one, "attempts_not_counted", "count"), 3);
    cr_expect_eq(workload_case_warning(&one, "attempts_not_counted", "failed"), 1);
    cr_expect_eq(workload_case_warning(&one, "attempts_not_counted", "killed"), 1);
    cr_expect_eq(workload_case_warning(&one, "attempts_not_counted", "lost"), 1);
    cr_expect_eq(workload_case_warning(&one, "attempts_not_counted", "evicted"), 0);
    cr_expect_eq(workload_case_warning(&one, "tasks_without_start", "count"), 2);
    cr_expect_eq(workload_case_warning(&one, "tasks_unfinished", "count"), 1);
    cr_expect_eq(workload_case_warning(&one, "jobs_without_tasks", "count"), 2);
    cr_expect_eq(workload_case_warning(&one, "durations_of_zero", "count"), 1);
    cr_expect_eq(workload_case_warning(&one, "rows_passed_over", "count"), 1);
}

/* Tasks far from one another, in any order; what lies between was never open. */
Test(workload_google, indices_of_tasks_may_be_sparse)
{
    workload_case_read(
        &one, WORKLOAD_GOOGLE_2011,
        "1000000,,1,999999,,1\n1000000,,1,0,,1\n1000000,,1,500000,,1\n"
        "2000000,,1,499999,,4\n2000000,,1,999998,,5\n2000000,,1,7,,4\n2000000,,1,8,,4\n"
        "3000000,,1,500000,,4\n4000000,,1,0,,4\n5000000,,1,999999,,4\n"
        /* another job in the place of the first */
        "3700000000,,2,512,,1\n3700000000,,2,500000,,4\n3701000000,,2,512,,4\n");
    cr_expect_str_eq(workload_case_text(&one), "1 1: 2 3 4\n2 3700: 1");
    cr_expect_eq(workload_case_warning(&one, "tasks_without_start", "count"), 4);
}

/* Within an hour a job goes on; after it, the same id is another job. */
Test(workload_google, a_job_ends_an_hour_after_its_tasks)
{
    workload_case_read(&one, WORKLOAD_GOOGLE_2011,
                       "1000000,,1,0,,1\n2000000,,1,0,,4\n"
                       "3602000000,,1,1,,1\n3603000000,,1,1,,4\n"
                       "7203000001,,1,2,,1\n7204000001,,1,2,,4\n");
    cr_expect_str_eq(workload_case_text(&one), "1 1: 1*2\n1 7203.000001: 1");
}

Test(workload_google, tasks_that_are_held_are_bounded)
{
    char text[4096];
    size_t n = 0;
    for (int task = 0; task < 100; task++)
        n += (size_t)snprintf(text + n, sizeof text - n, "5,,7,%d,,0\n", task);
    one.limits.open_tasks = 64;
    workload_case_feed(&one, WORKLOAD_GOOGLE_2011, (struct strview){text, n}, n);
    cr_expect_eq(one.code, PV_E_LIMIT);
    cr_expect_str_eq(
        one.err.detail,
        "line 65: jobs that have not ended hold more than 64 tasks (workload_open_tasks_max)");
    one.limits.open_tasks = 0;
    workload_case_feed(&one, WORKLOAD_GOOGLE_2011, strview_of("5,,7,999999,,0\n"), 15);
    cr_expect_eq(one.code,
                 PV_E_INVALID); /* there is no job in it, and 8 MB were enough to see it */
}

/* Jobs come and go, in an order of their own: the table finds each again, and none is lost. */
Test(workload_google, many_jobs_at_once)
{
    enum { JOBS = 3000 };
    size_t n = 0, capacity = (size_t)JOBS * 3 * 48;
    char *text = malloc(capacity);
    struct rng rng = rng_make(7, 0);
    static long long ids[JOBS];
    cr_assert_not_null(text);
    for (int j = 0; j < JOBS; j++)
        ids[j] = (long long)(rng_next(&rng) >> 2) << 1 | (j & 1);
    for (int j = 0; j < JOBS; j++)
        n += (size_t)snprintf(text + n, capacity - n, "%d,,%lld,%d,,1\n", 1000000 + j, ids[j],
                              j % 7);
    for (int j = JOBS - 1; j >= 0; j--)
        n += (size_t)snprintf(text + n, capacity - n, "%lld,,%lld,%d,,4\n",
                              2000000 + (long long)(JOBS - 1 - j) * 10000000, ids[j], j % 7);
    workload_case_feed(&one, WORKLOAD_GOOGLE_2011, (struct strview){text, n}, 1000);
    free(text);
    cr_assert_eq(one.code, PV_OK, "%s", one.err.detail);
    cr_expect_eq(one.summary.jobs, (uint64_t)JOBS);
    cr_expect_eq(one.summary.tasks[0], (uint64_t)JOBS);
    cr_expect_eq(one.summary.warnings.n, 1U); /* longer than the trace */
    struct workload_jobs jobs = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_TASKS, true, false, 0, (double)NAN});
    for (int j = 0; j < JOBS; j++) {
        char id[32];
        (void)snprintf(id, sizeof id, "%lld", ids[j]);
        cr_expect_str_eq(jobs.names[j], id);
        cr_expect_eq(jobs.tasks[j].durations_s[0],
                     (double)(1000000 - j + (long long)(JOBS - 1 - j) * 10000000) / 1e6);
    }
}

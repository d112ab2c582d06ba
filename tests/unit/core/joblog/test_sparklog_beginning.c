/* How a log begins: what every copy of it says, and no log of another run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/history/log_origin.h"
#include "sparklog_cases.h"

#define ENVIRONMENT(cluster)                                                                       \
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{\"spark.master\":"        \
    "\"yarn\",\"spark.databricks.clusterUsageTags.clusterId\":\"" cluster                          \
    "\",\"spark.x\":\"1\"}}\n"
#define HEAD LOG_START ENVIRONMENT("c-1") APP_START(1600000000000)
#define ADDED EXECUTOR("1", 1600000001000, 4) EXECUTOR("2", 1600000002000, 4)
#define WORK                                                                                       \
    SUBMITTED(0, 0, 2, 1600000003000)                                                              \
    TASK(0, 0, "Success", 1600000003000, 1600000004000, "")                                        \
    TASK(0, 1, "Success", 1600000003000, 1600000005000, "")
#define WHOLE HEAD ADDED WORK APP_END(1600000009000)

struct beginning {
    unsigned char bytes[LOG_BEGINNING_BYTES_MAX];
    size_t n;
};

static struct beginning beginning_of(const char *log, size_t piece)
{
    struct reading reading;
    struct beginning made;
    reading_init(&reading, log, piece, &case_limits);
    cr_assert_eq(reading.code, PV_OK);
    cr_assert(log_beginning_fits(reading.run.log_beginning.n));
    made.n = reading.run.log_beginning.n;
    memcpy(made.bytes, reading.run.log_beginning.at, made.n);
    reading_fini(&reading);
    return made;
}

static bool equal(const char *a, const char *b)
{
    struct beginning x = beginning_of(a, 0), y = beginning_of(b, 0);
    return x.n == y.n && memcmp(x.bytes, y.bytes, x.n) == 0;
}

static bool begins(const char *shorter, const char *longer)
{
    struct beginning x = beginning_of(shorter, 0), y = beginning_of(longer, 0);
    return x.n < y.n && memcmp(x.bytes, y.bytes, x.n) == 0;
}

Test(sparklog_beginning, pieces_make_no_difference)
{
    struct beginning whole = beginning_of(WHOLE, 0);
    cr_assert_eq(whole.n, LOG_CLUSTER_BYTES + 4 * LOG_EVENT_BYTES,
                 "the start, two executors and a stage");
    for (size_t piece = 1; piece < 50; piece++) {
        struct beginning made = beginning_of(WHOLE, piece);
        cr_assert(made.n == whole.n && memcmp(made.bytes, whole.bytes, whole.n) == 0);
    }
}

Test(sparklog_beginning, a_log_that_is_cut_anywhere_begins_as_the_whole_log)
{
    static const char whole[] = WHOLE;
    char cut[sizeof whole];
    struct beginning all = beginning_of(whole, 0);
    for (size_t n = strlen(HEAD); n < strlen(whole); n++) {
        memcpy(cut, whole, n);
        cut[n] = '\0';
        struct beginning made = beginning_of(cut, 0);
        cr_assert(made.n <= all.n && memcmp(made.bytes, all.bytes, made.n) == 0, "%zu", n);
    }
}

Test(sparklog_beginning, what_comes_after_the_first_work_does_not_count)
{
    cr_expect(equal(WHOLE, HEAD ADDED WORK EXECUTOR("3", 1600000007000, 4)));
    cr_expect(begins(HEAD ADDED, WHOLE));
}

Test(sparklog_beginning, events_that_came_twice_and_names_of_hosts_do_not_count)
{
    cr_expect(equal(WHOLE, HEAD HEAD ADDED ADDED WORK));
    cr_expect(equal(
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1600000001000,"
        "\"Executor ID\":\"1\",\"Executor Info\":{\"Host\":\"h\\\"}1700000000000\"}}\n" APP_START(
            1600000000000),
        EXECUTOR("1", 1600000001000, 4) APP_START(1600000000000)));
}

Test(sparklog_beginning, other_instants_and_other_clusters_do_count)
{
    cr_expect(!equal(WHOLE, LOG_START ENVIRONMENT("c-2") APP_START(1600000000000) ADDED WORK));
    cr_expect(!equal(WHOLE, LOG_START APP_START(1600000000000) ADDED WORK));
    cr_expect(
        !equal(WHOLE, HEAD EXECUTOR("1", 1600000001001, 4) EXECUTOR("2", 1600000002000, 4) WORK));
}

/* A later environment, which is logged when a file is added, is not the first. */
Test(sparklog_beginning, the_first_environment_counts)
{
    cr_expect(equal(WHOLE, HEAD ENVIRONMENT("c-2") ADDED WORK));
}

Test(sparklog_beginning, a_damaged_line_does_not_count)
{
    cr_expect(equal(WHOLE, HEAD "{\"Event\":\"SparkListenerExecutorAdded\",_\"Timestamp\":"
                                "1600000000500}\n" ADDED WORK));
}

Test(sparklog_beginning, no_more_events_than_are_kept)
{
    char log[8192] = HEAD;
    for (unsigned i = 0; i < 2 * LOG_EVENTS_MAX; i++)
        (void)snprintf(
            log + strlen(log), sizeof log - strlen(log),
            "{\"Event\":\"SparkListenerBlockManagerRemoved\",\"Timestamp\":16000000%05u}\n", i);
    cr_expect_eq(beginning_of(log, 0).n, LOG_BEGINNING_BYTES_MAX);
}

/* Columns and chunks: what goes in comes out, in few bytes; damage is noticed. */
#include "core/workload/workload_chunk.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/workload/chunk_format.h"
#include "core/workload/column.h"
#include "core/workload/number.h"
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

TestSuite(workload_chunk, .init = setup, .fini = teardown);

static struct workload_job job_of(double arrival_s, const struct workload_run runs[], size_t n)
{
    return (struct workload_job){.arrival_s = arrival_s,
                                 .runs = {runs},
                                 .n_runs = {n},
                                 .input_bytes = (double)NAN,
                                 .predicted_size_s = (double)NAN};
}

static void give(const struct workload_job *job)
{
    cr_assert_eq(workload_import_job(one.import, job, &one.err), PV_OK, "%s", one.err.detail);
}

/* --- numbers in text --- */

Test(workload_chunk, numbers_are_read_as_strtod_reads_them)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.1",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1E+5",
                                        "5e-324",
                                        "0.000000000000000000000000000001",
                                        "1e400",
                                        "2.5e-400",
                                        "179769313486231570000000000000000000000",
                                        "0.1234567890123456789",
                                        "3.14159e-7"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i];
        const char *end = at + strlen(at);
        double value;
        cr_assert(number_take(&at, end, &value), "%s", texts[i]);
        cr_expect_eq(at, end);
        cr_expect_eq(value, strtod(texts[i], NULL), "%s", texts[i]);
    }
}

Test(workload_chunk, what_is_no_number)
{
    static const char *const texts[] = {
        "",
        "-",
        ".5",
        "1.",
        "1.e5",
        "01",
        "-00",
        "1e",
        "1e+",
        "inf",
        "nan",
        "+1",
        "0.00000000000000000000000000000000000000000000000000000000001234567890"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i];
        double value;
        cr_expect_not(number_take(&at, at + strlen(at), &value), "%s", texts[i]);
        cr_expect_eq(at, texts[i]);
    }
}

/* --- columns --- */

Test(workload_chunk, six_digits_are_kept_in_three_bytes)
{
    struct rng rng = rng_make(1, 0);
    for (int i = 0; i < 200000; i++) {
        char text[32];
        uint32_t bits;
        int point = (int)(rng_next(&rng) % 17) - 1; /* decimals: -1 to 15 */
        (void)snprintf(text, sizeof text, "%de%d", (int)(rng_next(&rng) % 1000000), -point);
        double value = strtod(text, NULL);
        bool kept = column_digits(value, &bits);
        /* With trailing zeros a value has fewer decimals, with leading ones it would need more. */
        bool must = value == 0 || (value >= 1e-10 && value < 999999.5);
        cr_assert(kept || !must, "%s", text);
        if (!kept)
            continue;
        unsigned char bytes[3];
        double back;
        (void)column_put_fixed(bytes, bits, 3);
        struct column_cursor cursor = {bytes, bytes + 3};
        cr_assert(column_take_times(&cursor, COLUMN_DIGITS, 0, &back, 1));
        cr_assert_eq(back, value, "%s", text);
    }
    uint32_t bits;
    cr_expect_not(column_digits(0.1234567, &bits));
    cr_expect_not(column_digits(1e6, &bits));
    cr_expect_not(column_digits(1e300, &bits));
    cr_expect_not(column_digits(5e-324, &bits));
}

Test(workload_chunk, integers_of_any_size)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        unsigned char bytes[COLUMN_INTEGER_MAX];
        uint64_t back;
        unsigned char *end = column_put_integer(bytes, values[i]);
        struct column_cursor cursor = {bytes, end};
        cr_expect_eq((size_t)(end - bytes), column_integer_bytes(values[i]));
        cr_assert(column_take_integer(&cursor, &back));
        cr_expect_eq(back, values[i]);
        cursor = (struct column_cursor){bytes, end - 1};
        cr_expect_not(column_take_integer(&cursor, &back));
    }
    static const unsigned char too_long[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    struct column_cursor cursor = {too_long, too_long + sizeof too_long};
    uint64_t back;
    cr_expect_not(column_take_integer(&cursor, &back));
    for (int64_t value = -3; value < 4; value++)
        cr_expect_eq(column_unzigzag(column_zigzag(value)), value);
    cr_expect_eq(column_unzigzag(column_zigzag(INT64_MIN)), INT64_MIN);
}

/* --- chunks --- */

static const unsigned char *header(void)
{
    return (const unsigned char *)one.chunks[0].at;
}

Test(workload_chunk, times_are_kept_in_the_least_room_that_holds_them)
{
    static const struct {
        const char *text;
        enum column_encoding arrivals, durations;
        bool rounded;
    } rows[] = {
        {"1 3 5 3 5 7\n2 1 9 9\n", COLUMN_DECIMALS, COLUMN_DECIMALS, false},
        {"1 3 30.0923 55.1234 0.123456 35.03\n", COLUMN_DECIMALS, COLUMN_DIGITS, false},
        {"0.0116914 1 2 2\n617.621 1 2 2\n", COLUMN_DIGITS, COLUMN_DECIMALS, false},
        {"1.23456789012345 1 0.5 0.5\n", COLUMN_DOUBLES, COLUMN_DECIMALS, false},
        {"1 2 0.333333333333333 0.333333333333333 0.333333333333334\n", COLUMN_DECIMALS,
         COLUMN_SINGLES, true},
        {"1 2 16384 32768.00048828125 1.220703125e-4\n", COLUMN_DECIMALS, COLUMN_SINGLES, true},
        {"1 1 1.220703125e-4 1.220703125e-4\n", COLUMN_DECIMALS, COLUMN_SINGLES, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        workload_case_read(&one, WORKLOAD_PIGEON, rows[i].text);
        cr_expect_eq(header()[CHUNK_CHECKED_FROM + 1], (unsigned char)rows[i].arrivals, "%s",
                     rows[i].text);
        cr_expect_eq(header()[CHUNK_CHECKED_FROM + 3], (unsigned char)rows[i].durations, "%s: %d",
                     rows[i].text, header()[CHUNK_CHECKED_FROM + 3]);
        cr_expect_eq(one.summary.rounding_error, rows[i].rounded ? 0x1p-24 : 0);
        cr_expect_eq(one.summary.rounded > 0, rows[i].rounded);
    }
}

/* A duration as it is drawn: of few digits, of many, whole. */
static double drawn_duration(struct rng *rng, int style)
{
    double value = exp(12 * rng_uniform(rng) - 6);
    if (style == 0)
        return ceil(value);
    if (style == 1)
        return ceil(value * 1000) / 1000;
    return value;
}

enum { DRAWN_RUNS_MAX = 400, DRAWN_JOBS = 3000 };

static struct workload_job
drawn_job(struct rng *rng, int style, struct workload_run runs[], char *name)
{
    struct workload_job job = job_of(ceil(1e9 * rng_uniform(rng)) / 1e3, runs, 0);
    size_t n = 1 + (size_t)(pow(rng_uniform(rng), 8) * (DRAWN_RUNS_MAX - 1));
    for (size_t i = 0; i < n; i++)
        runs[i] = (struct workload_run){drawn_duration(rng, style),
                                        rng_next(rng) % 3 == 0 ? 1 + rng_next(rng) % 3000 : 1};
    job.n_runs[WORKLOAD_TASKS] = rng_next(rng) % (n + 1);
    job.runs[WORKLOAD_REDUCES] = runs + job.n_runs[WORKLOAD_TASKS];
    job.n_runs[WORKLOAD_REDUCES] = n - job.n_runs[WORKLOAD_TASKS];
    job.name =
        (struct strview){name, (size_t)snprintf(name, 32, "job_%d", (int)(rng_next(rng) % 999))};
    if (rng_next(rng) % 2 == 0)
        job.input_bytes = (double)(rng_next(rng) >> 11);
    if (rng_next(rng) % 8 == 0)
        job.predicted_size_s = drawn_duration(rng, style);
    if (rng_next(rng) % 8 == 0)
        job.shuffle_s = drawn_duration(rng, 2);
    job.queue = (uint32_t)(rng_next(rng) % 4);
    return job;
}

/* What a loaded job has is what was given, to the error that the summary states. */
static void
require_same(const struct slots_job *found, const struct workload_job *given, double error)
{
    cr_assert_eq(found->arrival_s, given->arrival_s);
    cr_assert_eq(found->shuffle_s, given->shuffle_s);
    cr_assert(found->predicted_size_s == given->predicted_size_s || isnan(given->predicted_size_s));
    cr_assert_eq(found->queue, given->queue > 0 ? given->queue - 1 : 0);
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        const struct slots_task_list *list = &found->task_lists[l];
        size_t at = 0, used = 0;
        for (size_t i = 0; i < given->n_runs[l]; i++) {
            for (uint64_t k = 0; k < given->runs[l][i].count; k++) {
                double duration_s = given->runs[l][i].duration_s;
                cr_assert_lt(at, list->n);
                cr_assert(fabs(list->tasks[at].duration_s - duration_s) <= error * duration_s);
                if (++used == list->tasks[at].count) {
                    at++;
                    used = 0;
                }
            }
        }
        cr_assert_eq(at, list->n);
    }
}

Test(workload_chunk, round_trip_of_drawn_jobs)
{
    static struct workload_run runs[DRAWN_RUNS_MAX];
    char name[32];
    const struct workload_load_terms terms = {WORKLOAD_FOR_SLOTS, true, false, 0, (double)NAN};
    for (int style = 0; style < 3; style++) {
        struct rng rng = rng_make(11, (uint64_t)style);
        uint64_t tasks = 0;
        one.limits.tasks = UINT64_C(1) << 40;
        workload_case_begin(&one);
        for (int j = 0; j < DRAWN_JOBS; j++) {
            struct workload_job job = drawn_job(&rng, style, runs, name);
            job.arrival_s = j; /* the order of loading is that of giving */
            give(&job);
        }
        workload_case_finish(&one);
        cr_expect_eq(one.summary.rounding_error, style < 2 ? 0 : 0x1p-24);
        cr_expect_gt(one.n_chunks, (size_t)1);
        struct workload_jobs jobs = workload_case_load(&one, &terms);
        cr_assert_eq(jobs.n, (size_t)DRAWN_JOBS);
        rng = rng_make(11, (uint64_t)style);
        for (int j = 0; j < DRAWN_JOBS; j++) {
            struct workload_job job = drawn_job(&rng, style, runs, name);
            job.arrival_s = j;
            require_same(&jobs.slots[j], &job, one.summary.rounding_error);
            cr_assert_str_eq(jobs.names[j], name);
            for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
                tasks += slots_tasks_count(&jobs.slots[j].task_lists[l]);
        }
        cr_expect_eq(tasks, one.summary.tasks[0] + one.summary.tasks[1]);
    }
}

/* A job of 600,000 tasks, no two alike, goes on over chunks; what comes behind is as it was. */
Test(workload_chunk, a_large_job_goes_on_in_the_next_chunk)
{
    enum { TASKS = 300000 };
    static struct workload_run runs[2 * TASKS];
    for (size_t i = 0; i < 2 * TASKS; i++)
        runs[i] = (struct workload_run){(double)(1000 + i) / 64, 1};
    struct workload_job large = job_of(5, runs, TASKS);
    large.runs[WORKLOAD_REDUCES] = runs + TASKS;
    large.n_runs[WORKLOAD_REDUCES] = TASKS;
    struct workload_job small = job_of(6, runs, 2);
    workload_case_begin(&one);
    give(&small);
    large.arrival_s = 7;
    give(&large);
    small.arrival_s = 8;
    give(&small);
    workload_case_finish(&one);
    cr_expect_gt(one.n_chunks, (size_t)7);
    struct workload_jobs slots = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_SLOTS, false, false, 0, 1});
    struct workload_jobs bags = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_TASKS, false, false, 0, 1});
    cr_assert_eq(slots.n, (size_t)3);
    require_same(&slots.slots[1], &large, 0);
    require_same(&slots.slots[2], &small, 0);
    cr_assert_eq(bags.tasks[1].tasks, 2U * TASKS);
    for (size_t i = 0; i < 2 * TASKS; i++)
        cr_assert_eq(bags.tasks[1].durations_s[i], runs[i].duration_s);
    cr_expect_eq(bags.tasks[2].durations_s[1], runs[1].duration_s);
}

/* --- damage --- */

static enum pv_code read_whole(struct strview chunk)
{
    struct workload_chunk_reader reader;
    struct workload_entry entry;
    bool more;
    PV_TRY(workload_chunk_open(chunk, &reader, NULL));
    for (;;) {
        PV_TRY(workload_chunk_next(&reader, &entry, &more, NULL));
        if (!more)
            return PV_OK;
        for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
            for (size_t i = 0; i < entry.job.n_runs[l]; i++) {
                struct workload_run run;
                PV_TRY(workload_chunk_runs(&reader, (enum workload_list)l, &run, 1, NULL));
            }
        }
    }
}

Test(workload_chunk, every_damaged_bit_is_noticed)
{
    workload_case_read(&one, WORKLOAD_SWIM, "a 1 1 900000000 300000000 7\nab 2 1 5 5 5\n");
    char *bytes = (char *)(uintptr_t)one.chunks[0].at;
    struct strview chunk = one.chunks[0];
    cr_assert_eq(read_whole(chunk), PV_OK);
    for (size_t bit = 0; bit < 8 * chunk.n; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        cr_expect_eq(read_whole(chunk), PV_E_INVALID, "bit %zu", bit);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t n = 0; n < chunk.n; n++)
        cr_expect_eq(read_whole((struct strview){chunk.at, n}), PV_E_INVALID, "%zu bytes", n);
}

/* Where the checksum was made to match as well nothing is read beyond the bytes, and what comes is
 * as it may be. */
Test(workload_chunk, a_checksum_that_matches_is_not_trusted)
{
    workload_case_read(&one, WORKLOAD_SWIM, "a 1 1 900000000 300000000 7\nab 2 1 5 5 5\n");
    unsigned char *bytes = (unsigned char *)(uintptr_t)one.chunks[0].at;
    size_t n = one.chunks[0].n;
    size_t refused = 0;
    for (size_t at = CHUNK_CHECKED_FROM; at < n; at++) {
        for (int value = 0; value < 256; value++) {
            unsigned char before = bytes[at];
            bytes[at] = (unsigned char)value;
            (void)column_put_fixed(bytes + 4, chunk_checksum(bytes, n), 8);
            refused += read_whole(one.chunks[0]) != PV_OK;
            bytes[at] = before;
        }
    }
    cr_expect_gt(refused, n);
}

Test(workload_chunk, a_chunk_at_fault_is_named)
{
    struct workload_load *load;
    struct workload_jobs jobs;
    const struct workload_load_terms terms = {WORKLOAD_FOR_TASKS, false, false, 0, (double)NAN};
    workload_case_read(&one, WORKLOAD_PIGEON, "1 1 2 2\n2 1 3 3\n");
    cr_assert_eq(workload_load_begin(&one.summary, &terms, &one.arena, &load, NULL), PV_OK);
    cr_expect_eq(workload_load_finish(load, &jobs, &one.err), PV_E_INVALID);
    cr_expect_str_eq(one.err.detail,
                     "0 chunks of the workload hold 0 of its 2 jobs: there are more");
    pv_error_clear(&one.err);
    cr_assert_eq(workload_load_chunk(load, one.chunks[0], &one.err), PV_OK);
    cr_expect_eq(workload_load_chunk(load, one.chunks[0], &one.err), PV_E_INVALID);
    cr_expect_str_eq(one.err.detail,
                     "chunk 2 of the workload: it holds more than the summary counts");
    pv_error_clear(&one.err);
    cr_expect_eq(workload_load_chunk(load, strview_of("x"), &one.err), PV_E_INVALID);
    cr_expect_str_eq(one.err.detail,
                     "chunk 3 of the workload: these bytes are not a chunk of a workload");
}

Test(workload_chunk, what_the_sink_says_ends_the_import)
{
    one.n_chunks = 0;
    workload_case_begin(&one);
    struct workload_run run = {-1, 1};
    struct workload_job job = job_of(0, &run, 1);
    cr_expect_eq(workload_import_job(one.import, &job, &one.err), PV_E_INVALID);
    cr_expect_str_eq(one.err.detail,
                     "job 1: task 1 has a duration of -1 s; 1e-12 to 1e12 s is allowed");
    workload_import_end(one.import);
    workload_import_end(NULL);
}

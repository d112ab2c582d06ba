/* Summaries against what is computed by hand, or from all values at once. */
#include "core/workload/statistics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rng.h"
#include "core/numerics/quantile.h"
#include "core/workload/distribution.h"
#include "workload_cases.h"

static struct workload_case one;
static struct budget budget;

static void setup(void)
{
    workload_case_init(&one);
    budget = (struct budget){.limit = SIZE_MAX};
}

static void teardown(void)
{
    workload_case_fini(&one);
    cr_expect_eq(budget.used, (size_t)0);
}

TestSuite(workload_statistics, .init = setup, .fini = teardown);

static bool near(double found, double expected, double error)
{
    return fabs(found - expected) <= error * fabs(expected);
}

/* Sizes 2 (2 tasks), 6 (3), 12 (1), over 4 seconds. */
Test(workload_statistics, three_jobs_by_hand)
{
    workload_case_read(&one, WORKLOAD_PIGEON, "1 2 1 1 1\n3 3 2 1 2 3\n5 1 12 12\n");
    const struct workload_summary *s = &one.summary;
    cr_expect_eq(s->jobs, 3U);
    cr_expect_eq(s->tasks[WORKLOAD_TASKS], 6U);
    cr_expect_eq(s->tasks[WORKLOAD_REDUCES], 0U);
    cr_expect_eq(s->first_arrival_s, 1);
    cr_expect_eq(s->last_arrival_s, 5);
    cr_expect_eq(s->work_s, 20);
    cr_expect_eq(s->offered_slots, 5);
    cr_expect_eq(s->job_tasks.p50, 2);
    cr_expect_eq(s->job_tasks.mean, 2);
    cr_expect(near(s->job_tasks.p90, 2.8, 1e-15));
    cr_expect_eq(s->job_mean_s.p50, 2);
    cr_expect_eq(s->job_size_s.max, 12);
    cr_expect_eq(s->task_s[WORKLOAD_TASKS].p50, 1.5);
    cr_expect_eq(s->task_s[WORKLOAD_TASKS].error, 0);
    cr_expect(isnan(s->task_s[WORKLOAD_REDUCES].p50));
    cr_expect(near(s->largest_1_share, 0.6, 1e-15));
    cr_expect(near(s->largest_10_share, 0.6, 1e-15));
    cr_expect(isnan(s->tail_index));
    cr_expect_eq(s->size_law.jobs, 0U);
    cr_expect(isnan(workload_predict_size(&s->size_law, 5)));
    cr_expect_eq(s->encoded_bytes, one.chunks[0].n);
    cr_expect(s->sorted);
}

/* One job has no time to arrive over, and all load. */
Test(workload_statistics, one_job)
{
    workload_case_read(&one, WORKLOAD_PIGEON, "1 1 3 3\n");
    cr_expect(isnan(one.summary.offered_slots));
    cr_expect_eq(one.summary.largest_1_share, 1);
    cr_expect_eq(one.summary.warnings.n, (size_t)0);
}

/* Quantiles beside those of all values sorted: exact at first, then to 2^-10. */
Test(workload_statistics, quantiles_exact_and_not)
{
    enum { MOST = 400000 };
    static double values[MOST];
    static const size_t sizes[] = {1, 2, 7, 1000, DISTRIBUTION_EXACT, DISTRIBUTION_EXACT + 1, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct distribution d = {0};
        struct rng rng = rng_make(3, k);
        double sum = 0;
        for (size_t i = 0; i < sizes[k]; i++) {
            values[i] = exp(5 * rng_normal(&rng));
            sum += values[i];
            cr_assert_eq(distribution_add(&d, &budget, values[i], 1, NULL), PV_OK);
        }
        cr_assert_eq(distribution_finish(&d, &budget, NULL), PV_OK);
        qsort(values, sizes[k], sizeof *values, order_by_double);
        struct workload_distribution found = distribution_describe(&d);
        double error = sizes[k] > DISTRIBUTION_EXACT ? 0x1p-10 : 0;
        double slack = error + 1e-14;
        cr_expect_eq(found.error, error);
        cr_expect(near(found.p50, quantile_of_sorted(values, sizes[k], 0.5), slack));
        cr_expect(near(found.p90, quantile_of_sorted(values, sizes[k], 0.9), slack));
        cr_expect(near(found.p99, quantile_of_sorted(values, sizes[k], 0.99), slack));
        cr_expect_eq(found.max, values[sizes[k] - 1]);
        cr_expect(near(found.mean, sum / (double)sizes[k], 1e-9));
        double top = 0;
        size_t tenth = (sizes[k] + 9) / 10;
        for (size_t i = 0; i < tenth; i++)
            top += values[sizes[k] - 1 - i];
        cr_expect(near(distribution_top_sum(&d, (double)tenth), top, slack));
        distribution_fini(&d, &budget);
    }
}

/* Equal values that are added at once count as often as they are. */
Test(workload_statistics, groups_of_equal_values)
{
    struct distribution d = {0};
    static const double values[] = {1, 1, 1, 2, 2, 5, 5, 5, 5, 9};
    cr_assert_eq(distribution_add(&d, &budget, 5, 4, NULL), PV_OK);
    cr_assert_eq(distribution_add(&d, &budget, 1, 3, NULL), PV_OK);
    cr_assert_eq(distribution_add(&d, &budget, 9, 1, NULL), PV_OK);
    cr_assert_eq(distribution_add(&d, &budget, 2, 2, NULL), PV_OK);
    cr_assert_eq(distribution_finish(&d, &budget, NULL), PV_OK);
    struct workload_distribution found = distribution_describe(&d);
    cr_expect_eq(found.p50, quantile_of_sorted(values, 10, 0.5));
    cr_expect_eq(found.p90, quantile_of_sorted(values, 10, 0.9));
    cr_expect_eq(found.p99, quantile_of_sorted(values, 10, 0.99));
    cr_expect_eq(distribution_top_sum(&d, 3), 19);
    cr_expect_eq(distribution_above(&d, 2), 5);
    /* The three largest are 9, 5, 5, and the fourth is 5. */
    cr_expect(near(distribution_tail_index(&d, 3), 3 / log(9.0 / 5), 1e-14));
    cr_expect(isnan(distribution_tail_index(&d, 9)) || distribution_tail_index(&d, 9) > 0);
    distribution_fini(&d, &budget);
}

/* A Pareto tail of index 1.5 is found, from exact values and from buckets. */
Test(workload_statistics, tail_index_of_a_pareto_distribution)
{
    static const size_t sizes[] = {100000, 1000000};
    for (size_t k = 0; k < 2; k++) {
        struct distribution d = {0};
        struct rng rng = rng_make(9, k);
        double tail = floor(sqrt((double)sizes[k]));
        for (size_t i = 0; i < sizes[k]; i++)
            cr_assert_eq(
                distribution_add(&d, &budget, pow(1 - rng_uniform(&rng), -1 / 1.5), 1, NULL),
                PV_OK);
        cr_assert_eq(distribution_finish(&d, &budget, NULL), PV_OK);
        /* Its standard error is alpha/sqrt(k). */
        cr_expect(near(distribution_tail_index(&d, tail), 1.5, 3 / sqrt(tail)));
        distribution_fini(&d, &budget);
    }
}

/* One map of bytes/10^7 s, and a second more: all size by all input is then 10^-7 and little. */
Test(workload_statistics, sizes_are_predicted_from_input)
{
    char text[8192];
    size_t n = 0;
    one.rates.map_bytes = 1e12;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "j%d %d 1 %.0f 0 0\n", i, i,
                              i == 7 ? 0 : 1e9 * (i + 1));
    workload_case_feed(&one, WORKLOAD_SWIM, (struct strview){text, n}, n);
    cr_assert_eq(one.code, PV_OK, "%s", one.err.detail);
    const struct workload_size_law *law = &one.summary.size_law;
    cr_expect_eq(law->jobs, 39U);
    /* 1 + ... + 40 without 8 are 812. */
    cr_expect(near(law->seconds_per_byte, (81200 + 39) / 812e9, 1e-14));
    cr_expect(near(law->r_squared, 1, 1e-14));
    cr_expect(near(law->log_r_squared, 1, 1e-5));
    cr_expect(near(workload_predict_size(law, 5e9), 500.24, 1e-5));
    cr_expect_eq(workload_predict_size(law, 0), 1);
    cr_expect(isnan(workload_predict_size(law, (double)NAN)));
    struct workload_jobs jobs = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_SLOTS, true, true, 0, 1});
    cr_expect(near(jobs.slots[4].predicted_size_s, 500.24, 1e-5));
    jobs = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_SLOTS, true, true, 2e-7, 1});
    cr_expect(near(jobs.slots[4].predicted_size_s, 1000, 1e-14));
    cr_expect_eq(jobs.slots[7].predicted_size_s, 1);
    jobs = workload_case_load(&one,
                              &(struct workload_load_terms){WORKLOAD_FOR_SLOTS, true, false, 0, 1});
    cr_expect(isnan(jobs.slots[4].predicted_size_s));
    cr_expect_eq(
        workload_predict_size(&(struct workload_size_law){.jobs = 0, .without_input_s = 3}, 0), 3);
}

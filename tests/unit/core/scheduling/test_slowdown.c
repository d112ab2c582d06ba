#include "core/scheduling/comparison/slowdown.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena;

static struct slowdown_summary summarize(const struct slowdown_job jobs[],
                                         size_t n,
                                         struct slowdown_percentile percentiles[],
                                         size_t n_percentiles)
{
    struct slowdown_summary summary;
    arena_init(&arena, 0);
    cr_assert_eq(slowdown_summarize(jobs, n, percentiles, n_percentiles, &arena, &summary, NULL),
                 PV_OK);
    return summary;
}

/* Slowdowns 1 to 5 by hand: V_F(95) = 4.8 / 3; Jain 15^2 / (5 x 55). */
Test(slowdown, five_jobs_by_hand)
{
    struct slowdown_job jobs[5];
    struct slowdown_percentile percentiles[] = {{.percent = 95}, {.percent = 0}};
    for (int i = 0; i < 5; i++)
        jobs[i] = (struct slowdown_job){100, 100 + 2.0 * (5 - i), 2, NAN, NAN};
    struct slowdown_summary found = summarize(jobs, 5, percentiles, 2);
    cr_expect_eq(found.mean, 3);
    cr_expect_eq(found.median, 3);
    cr_expect(fabs(found.jain - 225.0 / 275) < 1e-15);
    cr_expect(fabs(percentiles[0].variability - 1.6) < 1e-15);
    cr_expect_eq(percentiles[1].slowdown, 1);
    cr_expect(isnan(percentiles[0].completion_over_longest_task));
    cr_expect_eq(found.n_classes, 0);
    cr_expect_eq(found.faster_than_alone, 0);
    arena_fini(&arena);
}

Test(slowdown, classes_are_half_decades_and_only_of_jobs_with_a_size)
{
    static const struct slowdown_job jobs[] = {{0, 4, 2, 1000, NAN},
                                               {0, 6, 2, 31.6, NAN},
                                               {0, 2, 2, 10, NAN},
                                               {0, 9, 2, NAN, NAN},
                                               {0, 8, 2, 999.9, NAN}};
    struct slowdown_percentile percentile = {.percent = 50};
    struct slowdown_summary found = summarize(jobs, 5, &percentile, 1);
    cr_assert_eq(found.n_classes, 3);
    cr_expect_eq(found.classes[0].from_s, 10);
    cr_expect_eq(found.classes[0].count, 2);
    cr_expect_eq(found.classes[0].mean, 2);
    cr_expect_eq(found.classes[1].to_s, 1000);
    cr_expect_eq(found.classes[2].from_s, 1000);
    double share = 0;
    for (size_t i = 0; i < 3; i++)
        share += found.classes[i].work_share;
    cr_expect(fabs(share - 1) < 1e-15);
    arena_fini(&arena);
}

Test(slowdown, completion_over_the_longest_task_needs_it_of_all_jobs)
{
    struct slowdown_job jobs[] = {{0, 12, 10, NAN, 5}, {1, 18, 6, NAN, 3}, {2, 60, 20, NAN, 10}};
    struct slowdown_percentile percentile = {.percent = 75};
    (void)summarize(jobs, 3, &percentile, 1);
    cr_expect_eq(percentile.completion_over_longest_task, 37.5 / 7.5);
    arena_fini(&arena);
    jobs[2].longest_task_s = (double)NAN;
    (void)summarize(jobs, 3, &percentile, 1);
    cr_expect(isnan(percentile.completion_over_longest_task));
    arena_fini(&arena);
}

Test(slowdown, a_job_that_was_faster_than_alone_is_worth_a_warning)
{
    static const struct slowdown_job jobs[] = {{0, 1, 2, NAN, NAN}, {0, 2, 2, NAN, NAN}};
    struct slowdown_percentile percentile = {.percent = 50};
    struct slowdown_summary found = summarize(jobs, 2, &percentile, 1);
    struct findings warnings = {.arena = &arena};
    slowdown_warn(&found, &warnings);
    cr_assert_eq(warnings.n, 1);
    cr_expect_eq(finding_value(&warnings.items[0], "count"), 1);
    arena_fini(&arena);
}

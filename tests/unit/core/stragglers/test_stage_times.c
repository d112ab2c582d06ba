/* What tasks are expected to take for what they read. */
#include "core/stragglers/stage_times.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena, scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(stage_times, .init = set_up, .fini = tear_down, .timeout = 20);

static struct stage_times times_of(const double durations[], const int64_t bytes[], int64_t n)
{
    const struct run_stage stage = {
        .n_tasks = n, .task_durations_s = durations, .task_read_bytes = bytes};
    struct stage_times times;
    cr_assert_eq(stage_times_make(&stage, &arena, &scratch, &times, NULL), PV_OK);
    return times;
}

static void expect(double got, double want)
{
    cr_assert(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)), "%.17g, not %.17g", got, want);
}

Test(stage_times, without_bytes_every_task_is_to_take_the_median)
{
    struct stage_times times = times_of((const double[]){1, 2, 6}, NULL, 3);
    for (size_t i = 0; i < 3; i++)
        expect(times.expected_s[i], 2);
    expect(times.log_ratio[2], log(3));
    expect(times.s_per_byte, 0);
}

Test(stage_times, bytes_that_are_alike_explain_nothing)
{
    struct stage_times times =
        times_of((const double[]){2, 2, 20}, (const int64_t[]){100, 110, 120}, 3);
    expect(times.s_per_byte, 0);
    expect(times.expected_s[2], 2);
}

/* 4 s + 0.01 s a byte: a task of 500 bytes is to take 9 s. */
Test(stage_times, time_grows_with_bytes_as_tasks_show)
{
    struct stage_times times =
        times_of((const double[]){5, 5, 5, 7, 9}, (const int64_t[]){100, 100, 100, 300, 500}, 5);
    expect(times.s_per_byte, 0.01);
    expect(times.expected_s[4], 9);
    expect(times.log_ratio[3], 0);
}

/* Twice the bytes explain twice the time, not ten times. */
Test(stage_times, time_grows_in_proportion_at_most)
{
    struct stage_times times =
        times_of((const double[]){5, 5, 5, 50}, (const int64_t[]){100, 100, 100, 200}, 4);
    expect(times.expected_s[3], 10);
}

/* Less time for more bytes is no law. */
Test(stage_times, more_bytes_never_take_less)
{
    struct stage_times times =
        times_of((const double[]){5, 5, 5, 1}, (const int64_t[]){100, 100, 100, 200}, 4);
    expect(times.s_per_byte, 0);
    expect(times.expected_s[3], 5);
}

Test(stage_times, a_task_of_unknown_bytes_is_to_take_the_median)
{
    struct stage_times times =
        times_of((const double[]){5, 5, 10, 6}, (const int64_t[]){100, 100, 200, -1}, 4);
    expect(times.median_s, 5.5);
    expect(times.expected_s[3], 5.5);
}

/* Where most read nothing the mean is the measure of what differs. */
Test(stage_times, no_bytes_and_no_time_are_fine)
{
    struct stage_times times =
        times_of((const double[]){0, 0, 0, 3}, (const int64_t[]){0, 0, 0, 400}, 4);
    expect(times.median_s, 1e-3);
    cr_assert_gt(times.expected_s[0], 0);
    cr_assert(isfinite(times.log_ratio[3]) && times.log_ratio[3] > 0);
}

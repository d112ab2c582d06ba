#include "core/history/task_sketch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "core/advice/replay.h"
#include "core/numerics/permutation.h"
#include "sample_runs.h"

static struct arena arena;
static struct arena scratch;

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

TestSuite(task_sketch, .init = set_up, .fini = tear_down, .timeout = 60);

static int double_compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* --- shapes of durations, as stages have them --- */

enum shape { EVEN, SKEWED, STRAGGLERS, EQUAL, STEPS, SHAPES };

static double draw(enum shape shape, struct rng *rng, size_t i)
{
    double u = rng_uniform(rng);
    switch (shape) {
    case EVEN:
        return 1.0 + u;
    case SKEWED:
        return exp(3.0 * (u + rng_uniform(rng) + rng_uniform(rng) - 1.5));
    case STRAGGLERS:
        return u < 0.01 ? 100.0 * u + 50.0 : 2.0 + 0.1 * u;
    case EQUAL:
        return 0.1;
    case STEPS:
        return 1.0 + (double)(i % 3);
    case SHAPES:
        break;
    }
    return 0.0;
}

static double *draw_many(enum shape shape, size_t n, uint64_t seed)
{
    struct rng rng = rng_make(seed, (uint64_t)shape);
    double *durations_s = arena_array(&arena, n, sizeof *durations_s);
    for (size_t i = 0; i < n; i++)
        durations_s[i] = draw(shape, &rng, i);
    return durations_s;
}

static double *make_and_spread(const double *durations_s, size_t n, size_t *n_groups)
{
    struct task_group groups[TASK_SKETCH_GROUPS_MAX];
    double *spread;
    size_t count;
    cr_assert_eq(task_sketch_make(durations_s, n, &scratch, groups, n_groups, NULL), PV_OK);
    cr_assert_leq(*n_groups, TASK_SKETCH_GROUPS_MAX);
    cr_assert_eq(task_sketch_spread(groups, *n_groups, &arena, &spread, &count, NULL), PV_OK);
    cr_assert_eq(count, n);
    return spread;
}

static double *sorted(const double *durations_s, size_t n)
{
    double *ascending = arena_array(&arena, n, sizeof *ascending);
    for (size_t i = 0; i < n; i++)
        ascending[i] = durations_s[i];
    qsort(ascending, n, sizeof *ascending, double_compare);
    return ascending;
}

/* Number, sum, fastest and slowest are what they were, to the last digit, for every shape and size.
 */
Test(task_sketch, number_sum_and_ends_are_exact)
{
    static const size_t sizes[] = {1, 2, 3, 5, 66, 132, 133, 200, 1000, 4096, 100003};
    for (enum shape shape = EVEN; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i], n_groups;
            const double *before = draw_many(shape, n, 11 + i);
            const double *after = make_and_spread(before, n, &n_groups);
            const double *a = sorted(before, n), *b = sorted(after, n);
            cr_expect_eq(a[0], b[0], "shape %d, %zu tasks", (int)shape, n);
            cr_expect_eq(a[n - 1], b[n - 1], "shape %d, %zu tasks", (int)shape, n);
            cr_expect_eq(task_time_sum(before, n), task_time_sum(after, n),
                         "shape %d, %zu tasks: %.17g %.17g", (int)shape, n,
                         task_time_sum(before, n), task_time_sum(after, n));
        }
    }
}

/* The stated bound: the k-th value of the sketch lies between values at most n sin(pi/2K) + 1 ranks
 * away; half a percent near both ends. */
Test(task_sketch, ranks_are_off_by_no_more_than_stated)
{
    static const size_t sizes[] = {133, 1000, 20000};
    for (enum shape shape = EVEN; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i], n_groups;
            const double *before = draw_many(shape, n, 5);
            const double *a = sorted(before, n),
                         *b = sorted(make_and_spread(before, n, &n_groups), n);
            for (size_t k = 0; k < n; k++) {
                double position = ((double)k + 0.5) / (double)n;
                double widest =
                    position < 0.01 || position > 0.99 ? 0.006 : sin(3.14159265358979 / 128.0);
                size_t off = (size_t)((double)n * widest + 1.0);
                size_t low = k < off ? 0 : k - off, high = k + off >= n ? n - 1 : k + off;
                cr_assert(b[k] >= a[low] * (1 - 1e-12) && b[k] <= a[high] * (1 + 1e-12),
                          "shape %d, rank %zu of %zu: %g not within %g..%g", (int)shape, k, n, b[k],
                          a[low], a[high]);
            }
        }
    }
}

/* The same durations in any order have the same sketch; and a sketch of its own spread is itself.
 */
Test(task_sketch, order_does_not_matter_and_twice_is_once)
{
    enum { N = 5000 };
    double *durations_s = draw_many(SKEWED, N, 3);
    struct task_group one[TASK_SKETCH_GROUPS_MAX], two[TASK_SKETCH_GROUPS_MAX],
        again[TASK_SKETCH_GROUPS_MAX];
    size_t n_one, n_two, n_again, n;
    cr_assert_eq(task_sketch_make(durations_s, N, &scratch, one, &n_one, NULL), PV_OK);
    cr_assert_eq(task_sketch_make(sorted(durations_s, N), N, &scratch, two, &n_two, NULL), PV_OK);
    double *spread;
    cr_assert_eq(task_sketch_spread(one, n_one, &arena, &spread, &n, NULL), PV_OK);
    cr_assert_eq(task_sketch_make(spread, n, &scratch, again, &n_again, NULL), PV_OK);
    cr_assert(n_one == n_two && n_one == n_again);
    for (size_t g = 0; g < n_one; g++) {
        cr_expect(one[g].tasks == two[g].tasks && one[g].mean_s == two[g].mean_s);
        cr_expect(one[g].tasks == again[g].tasks);
        cr_expect_float_eq(one[g].mean_s, again[g].mean_s, 1e-12 * one[g].mean_s);
    }
}

Test(task_sketch, memory_that_runs_out_is_an_ordinary_error)
{
    const double *durations_s = draw_many(EVEN, 1000, 1);
    struct task_group groups[TASK_SKETCH_GROUPS_MAX];
    size_t n_groups = 77;
    struct arena small;
    arena_init(&small, 100);
    cr_expect_eq(task_sketch_make(durations_s, 1000, &small, groups, &n_groups, NULL), PV_E_MEMORY);
    cr_expect_eq(n_groups, 77);
    struct task_group huge[2] = {{INT64_MAX, 1.0}, {INT64_MAX, 1.0}};
    double *spread;
    size_t n;
    cr_expect_eq(task_sketch_spread(huge, 2, &small, &spread, &n, NULL), PV_E_MEMORY);
    arena_fini(&small);
}

Test(task_sketch, a_mixing_step_comes_by_everywhere)
{
    for (size_t n = 1; n < 300; n++) {
        bool seen[300] = {false};
        for (size_t i = 0, at = 0; i < n; i++, at = (at + permutation_step(n)) % n) {
            cr_assert(!seen[at], "%zu twice of %zu", at, n);
            seen[at] = true;
        }
    }
}

/* --- what is learnt from a thinned run --- */

static void thin(struct run *run)
{
    for (size_t s = 0; s < run->n_stages; s++) {
        struct run_stage *stage = &run->stages[s];
        size_t n_groups;
        if (stage->task_durations_s != NULL && stage->n_tasks > TASK_SKETCH_LEAST)
            stage->task_durations_s =
                make_and_spread(stage->task_durations_s, (size_t)stage->n_tasks, &n_groups);
    }
}

static struct replay_outcome
predict(const struct run *run, int64_t executors, struct replay *replay)
{
    struct replay_outcome outcome;
    struct replay_target target = {run->problem_size, executors, run->cores_per_executor};
    cr_assert_eq(replay_prepare(run, &arena, &scratch, replay, NULL), PV_OK);
    cr_assert_eq(replay_predict(replay, &target, &scratch, &outcome, NULL), PV_OK);
    return outcome;
}

/*
 * Two stages, replayed on a quarter to four times the executors, before and after thinning: the
 * work stays exactly, on its own executors the run takes what it took, elsewhere within 2 %. Where
 * single tasks take a thirtieth of the run (SKEWED) it matters which of them come last, and the
 * order of tasks is what a sketch gives up: within 5 %.
 */
Test(task_sketch, a_thinned_run_is_replayed_like_the_whole)
{
    enum { TASKS = 3000 };
    for (enum shape shape = EVEN; shape < SHAPES; shape++) {
        const double *durations_s = draw_many(shape, TASKS, 9);
        struct run_stage whole[2] = {stage_of_tasks(0, durations_s, TASKS),
                                     stage_of_tasks(1, durations_s, TASKS / 3)};
        double busy_s = task_time_sum(durations_s, TASKS) + task_time_sum(durations_s, TASKS / 3);
        struct run run =
            run_of_stages(whole, 2, TASKS, 8, 4, 5.0 + 1.1 * busy_s / 32.0 + 100.0, 5.0);
        struct replay before, after;
        struct run_stage thinned[2] = {whole[0], whole[1]};
        struct run thin_run = run;
        thin_run.stages = thinned;
        thin(&thin_run);
        for (int64_t m = 2; m <= 32; m *= 2) {
            struct replay_outcome a = predict(&run, m, &before);
            struct replay_outcome b = predict(&thin_run, m, &after);
            cr_expect_eq(a.recorded_work_s, b.recorded_work_s);
            cr_expect_eq(before.seen[0].work_s, after.seen[0].work_s);
            if (m == 8)
                cr_expect_float_eq(a.duration_s, b.duration_s, 1e-9 * a.duration_s);
            cr_expect_float_eq(
                a.duration_s, b.duration_s, (shape == SKEWED ? 0.05 : 0.02) * a.duration_s,
                "shape %d, m = %lld: %g %g", (int)shape, (long long)m, a.duration_s, b.duration_s);
        }
    }
}

/* Diagnosis: how a history is cut, what the series tell, the best load and its limit. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/diagnosis/diagnosis.h"
#include "core/diagnosis/explain.h"

enum { RUNS_MAX = 512 };

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(diagnosis, .init = set_up, .fini = tear_down);

static struct diagnosis make(const struct diagnosis_run runs[], size_t n)
{
    struct diagnosis diagnosis;
    struct pv_error err = {0};
    cr_assert_eq(diagnosis_make(runs, n, &arena, &diagnosis, &err), PV_OK, "%s", err.detail);
    return diagnosis;
}

/* A run of which only the duration is known. */
static struct diagnosis_run timed(double size, double executors, double duration_s)
{
    return (struct diagnosis_run){.problem_size = size,
                                  .executors = executors,
                                  .cores_per_executor = (double)NAN,
                                  .duration_s = duration_s,
                                  .initialization_s = (double)NAN,
                                  .parallel_s = (double)NAN,
                                  .max_task_s = (double)NAN,
                                  .induced_s = (double)NAN,
                                  .serial_s = (double)NAN,
                                  .spilled_bytes = (double)NAN};
}

/* N and N/m stay in a grid of sizes and counts; series of two counts are none. */
Test(diagnosis, cuts_a_grid_both_ways)
{
    static const double sizes[] = {4, 8, 16, 32, 64};
    static const double counts[] = {1, 2, 4, 8};
    struct diagnosis_run runs[RUNS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 4; j++)
            runs[n++] = timed(sizes[i], counts[j], 5 + 10 * sizes[i] / counts[j]);
    struct diagnosis d = make(runs, n);
    static const double loads[] = {2, 4, 8, 16};
    size_t sized = 0;
    size_t loaded = 0;
    for (size_t i = 0; i < d.n; i++) {
        if (d.slices[i].workload == IPSO_FIXED_SIZE)
            cr_expect_eq(d.slices[i].problem_size, sizes[sized++]);
        else
            cr_expect_eq(d.slices[i].load, loads[loaded++]);
        cr_expect_geq(d.slices[i].n_points, 3);
    }
    cr_expect_eq(sized, 5);
    cr_expect_eq(loaded, 4);
    cr_expect_eq(d.left_out, 0);
}

/* The order of runs changes no digit of any series. */
Test(diagnosis, order_does_not_matter)
{
    struct rng rng = rng_make(41, 0);
    struct diagnosis_run runs[120];
    struct diagnosis_run other[120];
    for (size_t i = 0; i < 120; i++) {
        double m = pow(2, floor(rng_uniform(&rng) * 6));
        double size = m * pow(2, floor(rng_uniform(&rng) * 5));
        runs[i] = timed(size, m, rng_lognormal(&rng, 5 + 10 * size / m, 0.1));
    }
    for (size_t i = 0; i < 120; i++)
        other[i] = runs[(i * 7 + 5) % 120];
    struct diagnosis a = make(runs, 120);
    struct diagnosis b = make(other, 120);
    cr_assert_eq(a.n, b.n);
    cr_assert_gt(a.n, 0);
    for (size_t i = 0; i < a.n; i++) {
        cr_expect_str_eq(a.slices[i].type, b.slices[i].type);
        cr_expect_eq(memcmp(&a.slices[i].cost.exponent, &b.slices[i].cost.exponent, sizeof(double)),
                     0);
    }
    cr_assert_eq(a.best_load.n, b.best_load.n);
    for (size_t l = 0; l < a.best_load.n; l++)
        cr_expect_float_eq(a.best_load.loads[l].throughput, b.best_load.loads[l].throughput, 1e-12);
}

/* More series than are told: those of the most executor counts stay. */
Test(diagnosis, the_richest_series_stay)
{
    struct diagnosis_run runs[RUNS_MAX];
    size_t n = 0;
    for (size_t s = 0; s < 40; s++)
        for (size_t m = 1; m <= (s == 39 ? 5 : 3); m++)
            runs[n++] = timed(1000 + 37 * (double)s, (double)m, 100 / (double)m);
    struct diagnosis d = make(runs, n);
    cr_expect_eq(d.n, DIAGNOSIS_SLICES_MAX);
    cr_expect_gt(d.left_out, 0);
    bool there = false;
    for (size_t i = 0; i < d.n; i++)
        there = there || d.slices[i].problem_size == 1000 + 37 * 39;
    cr_expect(there);
}

/* Time an executor needs for a load: fixed 10 s and 3 s a task, twice that once memory is full. */
static size_t fill_loads(struct diagnosis_run runs[], double full, bool spill_known)
{
    size_t n = 0;
    for (double m = 2; m <= 16; m *= 2) {
        for (double load = 1; load <= 12; load++) {
            double slow = load >= full ? 2 : 1;
            runs[n] = timed(load * m, m, slow * (10 + 3 * load) * (1 + 0.01 * m));
            if (spill_known)
                runs[n].spilled_bytes = load >= full ? 1e9 : 0;
            n++;
        }
    }
    return n;
}

Test(diagnosis, the_best_load_ends_where_runs_spill)
{
    struct diagnosis_run runs[RUNS_MAX];
    struct findings findings = {.arena = &arena};
    struct diagnosis d = make(runs, fill_loads(runs, 8, true));
    cr_assert_eq(d.best_load.n, 12);
    cr_expect_eq(d.best_load.loads[d.best_load.best].load, 7);
    cr_expect(d.best_load.limited && d.best_load.spills);
    cr_expect_eq(d.best_load.loads[d.best_load.limit].load, 8);
    cr_expect(d.best_load.step.found);
    cr_expect_float_eq(d.best_load.step.at, 7.5, 1e-9);
    cr_expect_float_eq(d.best_load.step.jump_percent, 100, 1e-6);
    diagnosis_explain_load(&d.best_load, &findings);
    cr_assert_eq(findings.n, 2);
    cr_expect_str_eq(findings.items[1].code, "memory_limit");
    /* The effect of the counts is taken out: what an executor does goes by the load alone. */
    for (size_t l = 0; l < d.best_load.n; l++) {
        double load = d.best_load.loads[l].load;
        double slow = load >= 8 ? 2 : 1;
        double want = load / (slow * (10 + 3 * load)) / (7.0 / 31);
        cr_expect_float_eq(d.best_load.loads[l].throughput, want, 1e-9);
    }
}

Test(diagnosis, without_a_limit_the_largest_load_is_best)
{
    struct diagnosis_run runs[RUNS_MAX];
    struct findings findings = {.arena = &arena};
    struct diagnosis d = make(runs, fill_loads(runs, 100, false));
    cr_expect_eq(d.best_load.loads[d.best_load.best].load, 12);
    cr_expect(!d.best_load.limited && !d.best_load.step.found);
    diagnosis_explain_load(&d.best_load, &findings);
    cr_expect_str_eq(findings.items[1].code, "no_limit");
}

/* Loads that were never run on a count that others were run on cannot be compared with them. */
Test(diagnosis, loads_need_a_common_count)
{
    struct diagnosis_run runs[] = {timed(8, 2, 10), timed(16, 2, 15), timed(99, 3, 1)};
    struct diagnosis d = make(runs, 3);
    cr_expect_eq(d.best_load.n, 2);
    d = make(runs + 1, 2);
    cr_expect_eq(d.best_load.n, 0);
}

Test(diagnosis, nothing_is_an_answer_too)
{
    struct findings missing = {.arena = &arena};
    struct diagnosis d = make(NULL, 0);
    cr_expect_eq(d.n, 0);
    cr_expect_eq(d.best_load.n, 0);
    diagnosis_explain_missing(&d, 0, &missing);
    cr_expect_eq(missing.n, 2);
}

/* Durations of a law with a peak: the peak comes out where the law has it. */
Test(diagnosis, durations_tell_the_peak)
{
    struct diagnosis_run runs[16];
    size_t n = 0;
    for (double m = 1; m <= 128; m *= 2)
        runs[n++] = timed(64, m, 400 / m + 0.1 * m); /* least at sqrt(4000) */
    struct diagnosis d = make(runs, n);
    cr_assert_eq(d.n, 1);
    cr_expect_str_eq(d.slices[0].type, "IVs");
    cr_expect_float_eq(d.slices[0].peak, sqrt(4000), 1);
    cr_expect_eq(d.slices[0].fastest, 64);
    cr_expect_float_eq(d.slices[0].points[6].relative_speedup, 400.1 / (400.0 / 64 + 6.4), 1e-9);
}

/* No sentence is cut, whatever the numbers. */
Test(diagnosis, sentences_end)
{
    struct diagnosis_run runs[RUNS_MAX];
    size_t n = fill_loads(runs, 8, true);
    for (size_t i = 0; i < n; i++) {
        runs[i].cores_per_executor = 3;
        runs[i].initialization_s = 2.123456789;
        runs[i].parallel_s = 123.456789 * runs[i].problem_size;
        runs[i].max_task_s = runs[i].parallel_s / runs[i].executors / 2.9;
        runs[i].induced_s = 0.123456789 * pow(runs[i].executors, 1.7);
        runs[i].serial_s = 1.987654321 * runs[i].executors;
        runs[i].duration_s =
            runs[i].initialization_s + runs[i].max_task_s + runs[i].induced_s + runs[i].serial_s;
    }
    struct diagnosis d = make(runs, n);
    for (size_t i = 0; i < d.n; i++) {
        cr_expect(d.slices[i].of_stages, "%s", d.slices[i].why_no_stages);
        for (int which = 0; which < 2; which++) {
            struct findings findings = {.arena = &arena};
            if (which == 0)
                diagnosis_explain_steps(&d.slices[i], &findings);
            else
                diagnosis_explain_causes(&d.slices[i], &findings);
            for (size_t k = 0; k < findings.n; k++)
                cr_expect_neq(findings.items[k].message[strlen(findings.items[k].message) - 1],
                              ' ');
            cr_expect(findings.n > 0 && !findings.failed);
        }
    }
}

/* --- serial work inside stages --- */

/* Where the serial work of a run is. */
enum serial_place { OUTSIDE, IN_A_STAGE };

/* A run of two stages one after the other: `maps` tasks of map_s each, then `reduces` tasks that
 * share reduce_s equally. OUTSIDE: the second stage is time without a stage. */
static struct diagnosis_run map_reduce(double executors,
                                       double cores,
                                       double maps,
                                       double map_s,
                                       double reduces,
                                       double reduce_s,
                                       enum serial_place place)
{
    double all = executors * cores;
    double each_s = reduce_s / reduces;
    bool inside = place == IN_A_STAGE;
    struct diagnosis_run run = timed(maps, executors, 0);
    struct diagnosis_stage *stages = arena_array(&arena, 2, sizeof *stages);
    cr_assert_not_null(stages);
    stages[0] = (struct diagnosis_stage){maps, maps * map_s, map_s};
    stages[1] = (struct diagnosis_stage){reduces, reduce_s, reduces < all ? each_s : (double)NAN};
    run.cores_per_executor = cores;
    run.initialization_s = 2;
    run.parallel_s = maps * map_s + (inside ? reduce_s : 0);
    run.max_task_s = ceil(maps / all) * map_s + (inside ? ceil(reduces / all) * each_s : 0);
    run.serial_s = inside ? 0 : reduce_s;
    run.induced_s = 0;
    run.duration_s = run.initialization_s + run.max_task_s + run.serial_s;
    run.stages = stages;
    run.n_stages = inside ? 2 : 1;
    return run;
}

static struct diagnosis_slice only_slice(const struct diagnosis_run runs[], size_t n)
{
    struct diagnosis d = make(runs, n);
    cr_assert_eq(d.n, 1);
    return d.slices[0];
}

/* TeraSort (Z. Li, dissertation, figure 2.5) with one reducer: internal scaling grows by 0.15 an
 * executor, jumps by 30 % after 15 and grows by 0.25 then. */
static double internal_of_terasort(double n)
{
    return n <= 15 ? 1 + 0.15 * (n - 1) : (1 + 0.15 * 14) * 1.3 + 0.25 * (n - 15);
}

/* The one reducer is the serial part, whether its time is a stage or time without a stage: type
 * IIIt,1, the same bound, and the step where memory overflows. */
Test(diagnosis, one_reducer_is_serial_work)
{
    static const double counts[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
    for (double cores = 1; cores <= 4; cores *= 4) {
        struct diagnosis_slice slices[2];
        for (int place = OUTSIDE; place <= IN_A_STAGE; place++) {
            struct rng rng = rng_make(7, 0);
            struct diagnosis_run runs[10];
            for (size_t i = 0; i < 10; i++) {
                double noise = 1 + 0.005 * (2 * rng_uniform(&rng) - 1);
                runs[i] = map_reduce(counts[i], cores, counts[i] * cores, 46.5 * noise, 1,
                                     100 * internal_of_terasort(counts[i]) * noise,
                                     (enum serial_place)place);
            }
            slices[place] = only_slice(runs, 10);
            cr_expect_str_eq(slices[place].type, "IIIt,1");
            cr_expect_eq(slices[place].trend, DIAGNOSIS_LEVELS_OFF);
            /* 1 + alpha W_p(1)/W_s(1): beyond the step W_s grows by 25 s an executor. */
            cr_expect_float_eq(slices[place].bound, 1 + 46.5 / 25, 0.03);
            cr_expect(slices[place].ipso.step.found);
            cr_expect_eq(slices[place].ipso.step.last_before, 12);
            cr_expect_eq(slices[place].ipso.step.first_after, 16);
            cr_expect_float_eq(slices[place].ipso.step.jump_percent, 30, 3);
            cr_expect_eq(slices[place].serial_stages, place == IN_A_STAGE);
            const struct diagnosis_point *last = &slices[place].points[9];
            cr_expect_float_eq(last->serial, 1625.0 / (1625 + 46.5 + 2), 0.01);
            cr_expect_lt(last->waiting, 0.01);
        }
        cr_expect_float_eq(slices[OUTSIDE].bound, slices[IN_A_STAGE].bound, 1e-9);
    }
}

/* k reducers of a workload that grows with the executors: at most k of the reducers' work at once,
 * so W/T levels off at k (1 + W_p/W_r), W_p and W_r the map and the reduce work of an executor. */
Test(diagnosis, few_reducers_bound_the_speedup)
{
    struct rng rng = rng_make(11, 0);
    for (int round = 0; round < 200; round++) {
        double map_s = 5 + 95 * rng_uniform(&rng);
        double reduce_s = 5 + 95 * rng_uniform(&rng);
        double reduces = 1 + floor(6 * rng_uniform(&rng));
        double cores = 1 + floor(4 * rng_uniform(&rng));
        struct diagnosis_run runs[8];
        size_t n = 0;
        for (double m = 1; m <= 128; m *= 2)
            runs[n++] =
                map_reduce(m, cores, m * cores, map_s, reduces, reduce_s * m * cores, IN_A_STAGE);
        struct diagnosis_slice slice = only_slice(runs, n);
        cr_assert_str_eq(slice.type, "IIIt,1", "round %d: %s", round, slice.type);
        /* In executors: reduces work on k cores of one of them. */
        double bound = reduces / cores * (1 + map_s / reduce_s) + (1 - 1 / cores);
        cr_expect_float_eq(slice.bound, bound, 1e-6 * bound, "round %d: %g for %g", round,
                           slice.bound, bound);
    }
}

/* Blocks that stay as many: beyond as many cores nothing gets faster. */
Test(diagnosis, more_cores_than_tasks_level_off)
{
    struct diagnosis_run runs[8];
    size_t n = 0;
    for (double m = 1; m <= 64; m *= 2)
        runs[n++] = map_reduce(m, 1, 8, 10, 8, 80, IN_A_STAGE);
    struct diagnosis_slice slice = only_slice(runs, n);
    cr_expect_str_eq(slice.type, "IIIs");
    cr_expect_eq(slice.trend, DIAGNOSIS_LEVELS_OFF);
    cr_expect_not_null(strstr(slice.why_no_stages, "all work is serial there"));
    /* As many tasks as the most executors have cores: linear, and nothing is serial. */
    slice = only_slice(runs, 4);
    cr_expect_str_eq(slice.type, "Is");
    cr_expect_eq(slice.serial_stages, 0);
}

/* 200 shuffle partitions on at most 128 cores share their work: they are not serial. */
Test(diagnosis, partitions_that_suffice_are_parallel)
{
    struct diagnosis_run runs[8];
    size_t n = 0;
    for (double m = 1; m <= 32; m *= 2)
        runs[n++] = map_reduce(m, 4, 8 * m, 20, 256, 4096 * m, IN_A_STAGE);
    struct diagnosis_slice slice = only_slice(runs, n);
    cr_expect_eq(slice.serial_stages, 0);
    cr_expect_str_eq(slice.type, "It");
}

/* Whatever the laws of the stages say, runs that do not get faster are not called linear: here the
 * number of tasks grows, but one task of each stage has all of the work. */
Test(diagnosis, a_type_that_the_runs_contradict_is_not_given)
{
    struct diagnosis_run runs[8];
    struct findings steps = {.arena = &arena};
    size_t n = 0;
    for (double m = 1; m <= 64; m *= 2) {
        runs[n] = timed(m, m, 2 + 10 + 5 * m);
        runs[n].cores_per_executor = 1;
        runs[n].initialization_s = 2;
        runs[n].parallel_s = 15 * m;
        runs[n].max_task_s = 10 + 5 * m;
        runs[n].serial_s = runs[n].induced_s = 0;
        n++;
    }
    struct diagnosis_slice slice = only_slice(runs, n);
    cr_expect_str_eq(slice.type, "IIIt");
    cr_expect_eq(slice.trend, DIAGNOSIS_LEVELS_OFF);
    cr_expect(!slice.of_stages);
    cr_expect_str_eq(slice.why_no_stages,
                     "the laws of its stages give type It, which the runs contradict: on 64 "
                     "executors the speedup is 2.91 times that on 1");
    diagnosis_explain_steps(&slice, &steps);
    cr_expect_not_null(strstr(steps.items[5].message, "which the runs contradict"));
}

/* Random histories: a linear type needs speedups that are about linear, a bound is above every
 * speedup that was measured, and a peak is not followed by a faster run. */
Test(diagnosis, types_agree_with_the_runs)
{
    struct rng rng = rng_make(5, 0);
    for (int round = 0; round < 400; round++) {
        struct diagnosis_run runs[16];
        bool fixed_size = rng_uniform(&rng) < 0.5;
        double tail = rng_uniform(&rng) < 0.5 ? 0 : rng_uniform(&rng) * 1.2;
        double gamma = 0.5 + 1.8 * rng_uniform(&rng);
        double overhead = rng_uniform(&rng) < 0.5 ? 0 : rng_uniform(&rng);
        double serial = rng_uniform(&rng) < 0.5 ? 0 : 20 * rng_uniform(&rng);
        size_t n = 0;
        for (double m = 1; m <= 64; m *= 2) {
            double noise = rng_lognormal(&rng, 1, 0.02);
            double work_s = fixed_size ? 640 : 100 * m;
            runs[n] = timed(fixed_size ? 64 : m, m, 0);
            runs[n].cores_per_executor = 1;
            runs[n].initialization_s = 3;
            runs[n].parallel_s = work_s * noise;
            runs[n].max_task_s = work_s / m * pow(m, tail) * noise;
            runs[n].serial_s = serial * (fixed_size ? 1 : m) * noise;
            runs[n].induced_s = m > 1 ? overhead * pow(m, gamma) * noise : 0;
            runs[n].duration_s = runs[n].initialization_s + runs[n].max_task_s + runs[n].serial_s +
                                 runs[n].induced_s;
            n++;
        }
        struct diagnosis_slice slice = only_slice(runs, n);
        double rate = (runs[n - 1].problem_size / (runs[n - 1].duration_s - 3)) /
                      (runs[0].problem_size / (runs[0].duration_s - 3));
        if (slice.trend == DIAGNOSIS_LINEAR)
            cr_expect_gt(rate, 0.7 * 64, "round %d: %s, %g", round, slice.type, rate);
        for (size_t i = 0; i < n && slice.bound > 0; i++)
            cr_expect_lt((runs[i].parallel_s + runs[i].serial_s) / (runs[i].duration_s - 3),
                         1.15 * slice.bound, "round %d: %s", round, slice.type);
        if (slice.trend == DIAGNOSIS_PEAKS && slice.peak < 32)
            cr_expect_lt(slice.fastest, 64, "round %d", round);
    }
}

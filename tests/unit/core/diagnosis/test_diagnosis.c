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
    }
    struct diagnosis d = make(runs, n);
    for (size_t i = 0; i < d.n; i++) {
        cr_expect(d.slices[i].of_stages);
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

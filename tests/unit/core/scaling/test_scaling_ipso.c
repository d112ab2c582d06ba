/* IPSO: the law, the estimates, the types, the step of a memory that is full. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/ipso/growth_law.h"
#include "core/scaling/laws/ipso/ipso.h"

enum { ROWS_MAX = 64 };

static double draw(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_uniform(rng);
}

/* A workload given by its factors. */
struct truth {
    double work_s;     /* W_p(1) */
    double serial_s;   /* W_s(1) */
    double external;   /* EX = n^this */
    double internal;   /* IN = n^this */
    double line_slope; /* > 0: IN = 1 + this (n - 1) instead */
    double beta;
    double gamma;
};

static double internal_of(const struct truth *t, double n)
{
    return t->line_slope > 0 ? 1 + t->line_slope * (n - 1) : pow(n, t->internal);
}

static struct ipso_observation observe(const struct truth *t, double n)
{
    struct ipso_observation row = {.n = n};
    double q = n > 1 ? t->beta * pow(n, t->gamma) : 0;
    row.parallel_s = t->work_s * pow(n, t->external);
    row.serial_s = t->serial_s * internal_of(t, n);
    row.max_task_s = row.parallel_s / n;
    row.induced_s = row.parallel_s / n * q;
    return row;
}

static const double counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
enum { COUNTS = sizeof counts / sizeof *counts };

static size_t
observe_all(const struct truth *t, struct rng *rng, double noise, struct ipso_observation rows[])
{
    for (size_t i = 0; i < COUNTS; i++) {
        rows[i] = observe(t, counts[i]);
        if (noise > 0) {
            rows[i].parallel_s *= exp(noise * rng_normal(rng));
            rows[i].serial_s *= exp(noise * rng_normal(rng));
            rows[i].max_task_s *= exp(noise * rng_normal(rng));
            rows[i].induced_s *= exp(noise * rng_normal(rng));
        }
    }
    return COUNTS;
}

static struct ipso_fit fit_rows(const struct ipso_observation rows[], size_t n)
{
    struct arena arena;
    struct ipso_fit fit;
    struct pv_error err = {0};
    arena_init(&arena, 0);
    cr_assert_eq(ipso_fit(rows, n, &arena, &fit, &err), PV_OK, "%s", err.detail);
    arena_fini(&arena);
    return fit;
}

static void values_of(const struct ipso_fit *fit, double p[IPSO_PARAMETERS])
{
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        p[j] = fit->parameters[j].value;
}

/* --- the law --- */

/* Amdahl, Gustafson and Sun-Ni are IPSO with IN = 1, q = 0 and EX of 1, n and g (eq. 2.13). */
Test(scaling_ipso, holds_the_classic_laws)
{
    for (double n = 1; n < 300; n *= 1.7) {
        double eta = 0.83;
        double g = pow(n, 0.7);
        cr_expect_float_eq(ipso_speedup(eta, n, 1, 1, 0), 1 / (eta / n + 1 - eta), 1e-12);
        cr_expect_float_eq(ipso_speedup(eta, n, n, 1, 0), eta * n + 1 - eta, 1e-9);
        cr_expect_float_eq(ipso_speedup(eta, n, g, 1, 0),
                           (eta * g + 1 - eta) / (eta * g / n + 1 - eta), 1e-9);
        /* Eq. 2.17: nothing serial. */
        cr_expect_float_eq(ipso_speedup(1, n, 1, (double)NAN, 0.01 * n * n), n / (1 + 0.01 * n * n),
                           1e-9);
    }
}

/* The statistical form with tasks that take the same is the deterministic one; a straggler that
 * takes twice as long as its fellows costs what eq. 2.8 says. */
Test(scaling_ipso, statistical_form_by_hand)
{
    double eta = 0.9;
    cr_expect_float_eq(ipso_speedup_statistical(eta, 8, 8, 3, 0.5, eta),
                       ipso_speedup(eta, 8, 8, 3, 0.5), 1e-12);
    /* (0.9*8 + 0.1*3) / (1.8 + 0.3 + 0.9*0.5) */
    cr_expect_float_eq(ipso_speedup_statistical(eta, 8, 8, 3, 0.5, 2 * eta), 7.5 / 2.55, 1e-12);
}

/* --- recovery --- */

static struct truth draw_truth(struct rng *rng)
{
    struct truth t = {.work_s = draw(rng, 10, 5000),
                      .serial_s = draw(rng, 1, 100),
                      .beta = pow(10, draw(rng, -4, -1)),
                      .gamma = draw(rng, 0.2, 2.2),
                      .external = rng_uniform(rng) < 0.5 ? 1 : 0};
    if (t.external > 0 && rng_uniform(rng) < 0.5)
        t.internal = draw(rng, 0.1, 0.95);
    else if (t.external > 0)
        t.line_slope = draw(rng, 0.05, 0.9);
    return t;
}

/* Noiseless data of random workloads give back every parameter, and the law predicts the time and
 * the speedup at counts that were not observed. */
Test(scaling_ipso, recovers_random_parameters)
{
    struct rng rng = rng_make(11, 0);
    for (size_t round = 0; round < 200; round++) {
        struct truth t = draw_truth(&rng);
        struct ipso_observation rows[ROWS_MAX];
        double p[IPSO_PARAMETERS];
        struct ipso_fit fit = fit_rows(rows, observe_all(&t, NULL, 0, rows));
        values_of(&fit, p);
        cr_expect_float_eq(p[IPSO_ETA], t.work_s / (t.work_s + t.serial_s), 1e-8);
        cr_expect_float_eq(p[IPSO_BETA] / t.beta, 1, 1e-7, "%zu: beta %g", round, t.beta);
        cr_expect_float_eq(p[IPSO_GAMMA], t.gamma, 1e-8);
        cr_expect_float_eq(p[IPSO_TASK_TIME] / t.work_s, 1, 1e-8);
        cr_expect_float_eq(p[IPSO_TASK_EXPONENT], t.external - 1, 1e-8);
        if (t.external > 0) {
            double delta = t.line_slope > 0 ? 0 : 1 - t.internal;
            double alpha = t.line_slope > 0 ? 1 / t.line_slope : 1;
            cr_expect_float_eq(p[IPSO_DELTA], delta, 1e-7, "%zu", round);
            cr_expect_float_eq(p[IPSO_ALPHA] / alpha, 1, 1e-6, "%zu", round);
        }
        for (double n = 1; n < 200; n = floor(n * 1.9) + 1) {
            struct ipso_prediction there;
            struct ipso_observation row = observe(&t, n);
            ipso_predict(p, n, &there);
            cr_expect_float_eq(there.duration_s / ipso_duration(&row), 1, 1e-6, "%zu at %g", round,
                               n);
            cr_expect_float_eq(there.speedup, (row.parallel_s + row.serial_s) / ipso_duration(&row),
                               1e-6 * there.speedup);
        }
    }
}

/* eps = alpha n^delta for all n > 1, with an alpha that EX(1)/IN(1) = 1 does not fit to: the first
 * row alone tells W_s(1). */
Test(scaling_ipso, recovers_alpha_from_a_measured_start)
{
    struct rng rng = rng_make(12, 0);
    for (size_t round = 0; round < 50; round++) {
        double alpha = draw(&rng, 1.5, 6);
        double delta = draw(&rng, 0.1, 0.9);
        struct truth t = {.work_s = 100, .serial_s = 40, .external = 1};
        struct ipso_observation rows[ROWS_MAX];
        size_t n = observe_all(&t, NULL, 0, rows);
        for (size_t i = 1; i < n; i++)
            rows[i].serial_s = 40 * rows[i].n / (alpha * pow(rows[i].n, delta));
        struct ipso_fit fit = fit_rows(rows, n);
        cr_expect_float_eq(fit.parameters[IPSO_ALPHA].value, alpha, 1e-6);
        cr_expect_float_eq(fit.parameters[IPSO_DELTA].value, delta, 1e-7);
        cr_expect_eq(fit.type, IPSO_II_T);
    }
}

/* Order of rows changes no digit; times in another unit change no exponent and no share. */
Test(scaling_ipso, order_and_unit_do_not_matter)
{
    struct rng rng = rng_make(13, 0);
    for (size_t round = 0; round < 30; round++) {
        struct truth t = draw_truth(&rng);
        struct ipso_observation rows[ROWS_MAX];
        struct ipso_observation other[ROWS_MAX];
        size_t n = observe_all(&t, &rng, 0.05, rows);
        struct ipso_fit fit = fit_rows(rows, n);
        for (size_t i = 0; i < n; i++)
            other[i] = rows[(i * 5 + 3) % n];
        struct ipso_fit mixed = fit_rows(other, n);
        cr_expect_eq(memcmp(mixed.covariance, fit.covariance, sizeof fit.covariance), 0);
        for (size_t j = 0; j < IPSO_PARAMETERS; j++)
            cr_expect_eq(
                memcmp(&mixed.parameters[j].value, &fit.parameters[j].value, sizeof(double)), 0);
        for (size_t i = 0; i < n; i++) {
            other[i].parallel_s *= 60;
            other[i].serial_s *= 60;
            other[i].induced_s *= 60;
            other[i].max_task_s *= 60;
        }
        struct ipso_fit slow = fit_rows(other, n);
        static const size_t same[] = {IPSO_ETA, IPSO_BETA, IPSO_GAMMA, IPSO_TASK_EXPONENT};
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            cr_expect_float_eq(slow.parameters[same[k]].value, fit.parameters[same[k]].value, 1e-6);
        cr_expect_eq(slow.type, fit.type);
        cr_expect_float_eq(slow.parameters[IPSO_TASK_TIME].value,
                           60 * fit.parameters[IPSO_TASK_TIME].value,
                           1e-6 * slow.parameters[IPSO_TASK_TIME].value);
    }
}

/* The 95 % interval of gamma and of the task exponent holds the truth in 95 % of the samples at
 * least (less three standard errors of 1,000 trials), be the noise the same at all counts or in
 * proportion to the times; it is no excuse for intervals that are always right. */
Test(scaling_ipso, intervals_hold)
{
    enum { TRIALS = 1000 };
    struct rng rng = rng_make(14, 0);
    for (int in_proportion = 0; in_proportion < 2; in_proportion++) {
        size_t gamma = 0;
        size_t task = 0;
        for (size_t trial = 0; trial < TRIALS; trial++) {
            struct truth t = {.work_s = 1000, .beta = 0.05, .gamma = 1.3};
            struct ipso_observation rows[ROWS_MAX];
            size_t n = observe_all(&t, &rng, in_proportion ? 0.05 : 0, rows);
            for (size_t i = 0; i < n && !in_proportion; i++) {
                double scatter_s = 20 / rows[i].n; /* of q: 0.02 everywhere */
                rows[i].max_task_s = fmax(1e-3, rows[i].max_task_s + 2 * rng_normal(&rng));
                rows[i].induced_s = fmax(0, rows[i].induced_s + scatter_s * rng_normal(&rng));
                rows[i].parallel_s = 1000;
            }
            struct ipso_fit fit = fit_rows(rows, n);
            const double *g = fit.parameters[IPSO_GAMMA].interval;
            const double *e = fit.parameters[IPSO_TASK_EXPONENT].interval;
            gamma += g[0] <= 1.3 && 1.3 <= g[1];
            task += e[0] <= -1 && -1 <= e[1];
        }
        double least = TRIALS * (0.95 - 3 * sqrt(0.95 * 0.05 / TRIALS));
        cr_expect((double)gamma >= least && gamma < TRIALS, "gamma %zu", gamma);
        cr_expect((double)task >= least && task < TRIALS, "task %zu", task);
    }
}

/* --- types --- */

static const struct {
    const char *name;
    struct truth truth;
} made[] = {
    {"It", {.work_s = 100, .external = 1}},
    {"It", {.work_s = 100, .serial_s = 10, .external = 1}},
    {"IIt", {.work_s = 100, .external = 1, .beta = 0.1, .gamma = 0.5}},
    {"IIt", {.work_s = 100, .serial_s = 10, .external = 1, .beta = 0.1, .gamma = 0.5}},
    {"IIt", {.work_s = 100, .serial_s = 10, .external = 1, .internal = 0.6}},
    {"IIIt,1", {.work_s = 100, .serial_s = 10, .external = 1, .internal = 1}},
    {"IIIt,1", {.work_s = 100, .serial_s = 10, .external = 1, .line_slope = 0.2}},
    {"IIIt,1",
     {.work_s = 100, .serial_s = 10, .external = 1, .internal = 1, .beta = 0.1, .gamma = 0.5}},
    {"IIIt,2", {.work_s = 100, .external = 1, .beta = 0.1, .gamma = 1}},
    {"IIIt,2", {.work_s = 100, .serial_s = 10, .external = 1, .beta = 0.1, .gamma = 1}},
    {"IVt", {.work_s = 100, .external = 1, .beta = 0.01, .gamma = 1.5}},
    {"IVt",
     {.work_s = 100, .serial_s = 10, .external = 1, .internal = 1, .beta = 0.01, .gamma = 2}},
    {"Is", {.work_s = 100}},
    {"IIs", {.work_s = 100, .beta = 0.1, .gamma = 0.5}},
    {"IIIs,1", {.work_s = 100, .serial_s = 10}},
    {"IIIs,1", {.work_s = 100, .serial_s = 10, .beta = 0.1, .gamma = 0.5}},
    {"IIIs,2", {.work_s = 100, .beta = 0.1, .gamma = 1}},
    {"IIIs,2", {.work_s = 100, .serial_s = 10, .beta = 0.1, .gamma = 1}},
    {"IVs", {.work_s = 100, .beta = 0.01, .gamma = 1.6}},
    {"IVs", {.work_s = 100, .serial_s = 10, .beta = 0.01, .gamma = 2}},
    {"undetermined", {.work_s = 100, .external = 0.5}},
};

/* Each type of figures 2.2 and 2.3 comes out of data made from its factors, and its speedup behaves
 * as the type says: a bound that it tends to, a peak it falls from. */
Test(scaling_ipso, every_type_comes_out)
{
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        struct ipso_observation rows[ROWS_MAX];
        double p[IPSO_PARAMETERS];
        struct ipso_prediction far;
        struct ipso_fit fit = fit_rows(rows, observe_all(&made[k].truth, NULL, 0, rows));
        cr_expect_str_eq(ipso_type_name(fit.type), made[k].name, "%zu: %s for %s", k,
                         ipso_type_name(fit.type), made[k].name);
        values_of(&fit, p);
        ipso_predict(p, 1e9, &far);
        bool third = strncmp(made[k].name, "III", 3) == 0;
        cr_expect_eq(!isnan(fit.bound), third, "%zu", k);
        if (third)
            cr_expect_float_eq(far.speedup / fit.bound, 1, 0.02, "%zu: %g, bound %g", k,
                               far.speedup, fit.bound);
        cr_expect_eq(fit.peak.n > 0, strncmp(made[k].name, "IV", 2) == 0, "%zu", k);
        if (fit.peak.n > 0) {
            struct ipso_prediction top;
            ipso_predict(p, fit.peak.n, &top);
            for (double off = -1; off <= 1; off += 2) {
                struct ipso_prediction beside;
                ipso_predict(p, fit.peak.n + off, &beside);
                cr_expect_leq(beside.speedup, top.speedup);
            }
        }
    }
}

/* Noise that the intervals are made for leaves a type as it is in nearly all samples. */
Test(scaling_ipso, types_stand_some_noise)
{
    struct rng rng = rng_make(15, 0);
    size_t right = 0;
    size_t all = 0;
    for (size_t k = 0; k + 1 < sizeof made / sizeof *made; k++) {
        for (size_t trial = 0; trial < 20; trial++, all++) {
            struct ipso_observation rows[ROWS_MAX];
            struct ipso_fit fit = fit_rows(rows, observe_all(&made[k].truth, &rng, 0.01, rows));
            right += strcmp(ipso_type_name(fit.type), made[k].name) == 0;
        }
    }
    cr_expect_gt((double)right, 0.8 * (double)all, "%zu of %zu", right, all);
}

/* With two counts there is no interval: an exponent within 0.05 of 0 or 1 counts as that. */
Test(scaling_ipso, two_points_go_by_closeness)
{
    struct ipso_estimate close = {1.04, (double)NAN, 0, {(double)NAN, (double)NAN}};
    cr_expect_eq(ipso_order_of(&close), IPSO_ONE);
    close.value = 0.94;
    cr_expect_eq(ipso_order_of(&close), IPSO_BETWEEN);
    struct ipso_estimate wide = {0.5, 0.3, 5, {-0.2, 1.2}};
    cr_expect_eq(ipso_order_of(&wide), IPSO_UNCLEAR);
    struct ipso_observation rows[] = {{4, 400, 0, 0, 100}, {8, 800, 0, 0, 100}};
    struct ipso_fit fit = fit_rows(rows, 2);
    cr_expect_eq(fit.type, IPSO_I_T);
    cr_expect(isnan(fit.parameters[IPSO_TASK_TIME].std_error));
}

/* What serial time grows by where nothing grows with it is induced (section 2.4). */
Test(scaling_ipso, serial_growth_of_a_fixed_size_is_induced)
{
    struct ipso_observation rows[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] =
            (struct ipso_observation){counts[i], 1000, 5 + 0.5 * counts[i], 0, 1000 / counts[i]};
    struct ipso_fit fit = fit_rows(rows, COUNTS);
    cr_expect(fit.serial_induced);
    cr_expect_eq(fit.workload, IPSO_FIXED_SIZE);
    cr_expect_float_eq(fit.parameters[IPSO_ETA].value, 1000 / 1005.5, 1e-9);
    cr_expect_eq(fit.type, IPSO_IV_S, "%s", ipso_type_name(fit.type));
    cr_expect_float_eq(fit.peak.n, sqrt(1000 / 0.5), 3);
}

/* --- steps --- */

static struct step look_for_step(const double n[], const double y[], size_t rows)
{
    struct arena arena;
    struct step step;
    arena_init(&arena, 0);
    cr_assert_eq(step_find(n, y, rows, &arena, &step, NULL), PV_OK);
    arena_fini(&arena);
    return step;
}

/* Slopes, place and jump of a step come back; with noise of 2 % in nearly all samples. */
Test(scaling_ipso, steps_are_found)
{
    struct rng rng = rng_make(16, 0);
    size_t found = 0;
    enum { TRIALS = 200 };
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double noise = trial % 2 == 0 ? 0 : 0.02;
        double at = draw(&rng, 10, 40);
        double before = draw(&rng, 0.1, 0.5);
        double after = draw(&rng, 0.1, 0.6);
        double jump = draw(&rng, 0.3, 1);
        double n[32];
        double y[32];
        for (size_t i = 0; i < 32; i++) {
            n[i] = 1 + 2 * (double)i;
            double there = 1 + before * (at - 1);
            y[i] = n[i] < at ? 1 + before * (n[i] - 1) : there * (1 + jump) + after * (n[i] - at);
            y[i] *= exp(noise * rng_normal(&rng));
        }
        struct step step = look_for_step(n, y, 32);
        bool close = step.found && step.last_before < at + 3 && step.first_after > at - 3;
        found += close;
        if (noise > 0)
            continue;
        cr_expect(close);
        cr_expect_float_eq(step.before.slope, before, 1e-9);
        cr_expect_float_eq(step.after.slope, after, 1e-9);
        cr_expect(step.last_before < at && at <= step.first_after);
    }
    cr_expect_gt(found, 190, "%zu", found);
}

/* Curves without a step, exact or with noise of 3 %: none is found in them. */
Test(scaling_ipso, no_step_in_smooth_data)
{
    struct rng rng = rng_make(17, 0);
    size_t found = 0;
    enum { TRIALS = 600 };
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double noise = trial % 2 == 0 ? 0 : 0.03;
        double a = draw(&rng, 0, 3);
        double b = draw(&rng, 0.05, 1);
        double e = draw(&rng, 0.2, 2);
        size_t rows = 8 + trial % 20;
        double n[32];
        double y[32];
        for (size_t i = 0; i < rows; i++) {
            n[i] = trial % 3 == 0 ? 1 + (double)i * 3 : floor(pow(1.25, (double)i)) + (double)i;
            switch (trial % 5) {
            case 0:
                y[i] = a + b * n[i];
                break;
            case 1:
                y[i] = b * pow(n[i], e);
                break;
            case 2:
                y[i] = a + b * pow(n[i], e);
                break;
            case 3:
                y[i] = 1 + b * log(n[i]);
                break;
            default: /* two lines that meet */
                y[i] = 1 + b * n[i] + e * fmax(0, n[i] - 12);
            }
            y[i] *= exp(noise * rng_normal(&rng));
        }
        struct step step = look_for_step(n, y, rows);
        found += step.found;
        cr_expect(!step.found || noise > 0, "%zu: %g at %g", trial, step.jump_percent, step.at);
    }
    cr_expect_leq(found, TRIALS / 100, "%zu", found);
}

/* --- bad rows, left-out rows --- */

Test(scaling_ipso, refuses_what_cannot_be)
{
    struct arena arena;
    struct ipso_fit fit;
    arena_init(&arena, 0);
    static const struct {
        struct ipso_observation rows[2];
        enum pv_code want;
    } bad[] = {
        {{{4, 1, 1, 1, 1}, {4, 1, 1, 1, 1}}, PV_E_TOO_FEW},
        {{{0.5, 1, 1, 1, 1}, {4, 1, 1, 1, 1}}, PV_E_DOMAIN},
        {{{1, 1, -1, 1, 1}, {4, 1, 1, 1, 1}}, PV_E_DOMAIN},
        {{{1, 0, 1, 1, 1}, {4, 1, 1, 1, 1}}, PV_E_DOMAIN},
        {{{1, 1, 1, 1, 0}, {4, 1, 1, 1, 1}}, PV_E_DOMAIN},
        {{{1, (double)NAN, 1, 1, 1}, {4, 1, 1, 1, 1}}, PV_E_DOMAIN},
        {{{1, (double)NAN, 1, 1, (double)NAN}, {4, (double)NAN, 1, 1, (double)NAN}}, PV_E_DOMAIN},
        {{{1, 1, 1, 0, 1}, {4, 1, 1, 1, 1}}, PV_E_TOO_FEW}, /* gamma from one count */
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        cr_expect_eq(ipso_fit(bad[k].rows, 2, &arena, &fit, NULL), bad[k].want, "%zu", k);
    cr_expect_eq(ipso_fit(NULL, 0, &arena, &fit, NULL), PV_E_TOO_FEW);
    arena_fini(&arena);
}

/* Rows left out of exact data are predicted exactly; an outlier is not predicted by itself. */
Test(scaling_ipso, left_out_rows_are_predicted_by_the_others)
{
    struct arena arena;
    double left_out[ROWS_MAX];
    struct ipso_observation rows[ROWS_MAX];
    struct truth t = {.work_s = 300,
                      .serial_s = 20,
                      .external = 1,
                      .line_slope = 0.3,
                      .beta = 0.02,
                      .gamma = 1.2};
    size_t n = observe_all(&t, NULL, 0, rows);
    arena_init(&arena, 0);
    cr_assert_eq(ipso_leave_out(rows, n, &arena, left_out, NULL), PV_OK);
    for (size_t i = 0; i < n; i++)
        cr_expect_float_eq(left_out[i] / ipso_duration(&rows[i]), 1, 1e-6, "%zu", i);
    rows[6].serial_s *= 2;
    double clean = ipso_duration(&rows[6]) - rows[6].serial_s / 2;
    cr_assert_eq(ipso_leave_out(rows, n, &arena, left_out, NULL), PV_OK);
    cr_expect_lt(fabs(left_out[6] - clean), 0.02 * clean);
    arena_fini(&arena);
}

/* What there is no memory for is an error and not an unknown exponent. */
Test(scaling_ipso, a_line_lacks_no_part_for_want_of_memory)
{
    enum { POINTS = 400 };
    double n[POINTS], y[POINTS];
    struct growth whole, found;
    struct arena room;
    size_t refused = 0;
    for (size_t i = 0; i < POINTS; i++) {
        n[i] = (double)(1 + i / 4);
        y[i] = 50 + 2 * n[i] + (double)(i * 7 % 5) / 10;
    }
    arena_init(&room, 0);
    cr_assert_eq(growth_fit(n, y, POINTS, &room, &whole, NULL), PV_OK);
    arena_fini(&room);
    cr_assert_eq(whole.form, GROWTH_LINE);
    cr_assert(whole.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT] > 0);
    for (size_t limit = 1000; limit < 200000; limit += 1000) {
        arena_init(&room, limit);
        enum pv_code code = growth_fit(n, y, POINTS, &room, &found, NULL);
        arena_fini(&room);
        refused += code == PV_E_MEMORY;
        if (code == PV_OK)
            cr_expect(found.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT] > 0, "%zu bytes", limit);
    }
    cr_expect(refused > 10 && refused < 199, "%zu", refused);
}

/* --- predictions and peaks by hand --- */

static void expect_prediction(const double p[], double n, double duration_s, double speedup)
{
    struct ipso_prediction there;
    ipso_predict(p, n, &there);
    cr_expect_float_eq(there.duration_s, duration_s, 1e-9, "%g, not %g", there.duration_s,
                       duration_s);
    cr_expect_float_eq(there.speedup, speedup, 1e-9, "%g, not %g", there.speedup, speedup);
}

/* 40 s parallel and 10 s serial. Where tasks take as long on four executors, the work is fourfold, serial
 * work 4^0.5 / 2 and 0.25 x 4^0.5 of a share is induced. Where they shrink, the work stays and serial work
 * is 4^-0.5 / 2. */
Test(scaling_ipso, predictions_by_hand)
{
    double p[IPSO_PARAMETERS];
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        p[j] = (double)NAN;
    p[IPSO_ETA] = 0.8;
    p[IPSO_ALPHA] = 2;
    p[IPSO_DELTA] = 0.5;
    p[IPSO_BETA] = 0.25;
    p[IPSO_GAMMA] = 0.5;
    p[IPSO_TASK_TIME] = 40;
    p[IPSO_TASK_EXPONENT] = 0;
    expect_prediction(p, 1, 50, 1);
    expect_prediction(p, 4, 40 + 10 + 20, 170.0 / 70);
    p[IPSO_TASK_EXPONENT] = -1;
    expect_prediction(p, 4, 10 + 2.5 + 5, 42.5 / 17.5);
    p[IPSO_TASK_EXPONENT] = -0.5;
    expect_prediction(p, 4, 20 + 2.5 + 5, 42.5 / 27.5);
    p[IPSO_ALPHA] = (double)NAN;
    expect_prediction(p, 4, 20 + 10 + 5, 50.0 / 35);
}

/* 20 s parallel and 5 s serial, whose longest task takes 40 s. Up to four executors serial work is
 * 1 + n / 4, beyond it 0.5 + n^0.5 / 2. */
Test(scaling_ipso, predictions_on_both_sides_of_a_step)
{
    double p[IPSO_PARAMETERS] = {[IPSO_ETA] = 0.8,         [IPSO_ALPHA] = 2,
                                 [IPSO_DELTA] = 0.5,       [IPSO_BETA] = 0.25,
                                 [IPSO_GAMMA] = 0.5,       [IPSO_TASK_TIME] = 40,
                                 [IPSO_TASK_EXPONENT] = 0, [IPSO_EXTERNAL] = 1,
                                 [IPSO_PARALLEL] = 20,     [IPSO_INTERNAL_OFFSET] = 0.5,
                                 [IPSO_STEP_AT] = 4,       [IPSO_STEP_OFFSET] = 1,
                                 [IPSO_STEP_SLOPE] = 0.25};
    expect_prediction(p, 1, 45, 25.0 / 45);
    expect_prediction(p, 4, 40 + 5 * 2 + 10, 90.0 / 60);
    expect_prediction(p, 16, 40 + 5 * 2.5 + 20, 332.5 / 72.5);
}

/* n / (1 + 0.01 n^2) is 5 at its peak of 10. Up to 8 or 10 it only rises, and n / (1 + n^2) only falls. */
Test(scaling_ipso, peaks_by_hand)
{
    double p[IPSO_PARAMETERS];
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        p[j] = (double)NAN;
    p[IPSO_ETA] = 1;
    p[IPSO_BETA] = 0.01;
    p[IPSO_GAMMA] = 2;
    p[IPSO_TASK_TIME] = 100;
    p[IPSO_TASK_EXPONENT] = -1;
    struct ipso_peak peak = ipso_find_peak(p, 1e9);
    cr_expect_eq(peak.n, 10);
    cr_expect_float_eq(peak.speedup, 5, 1e-12);
    cr_expect_eq(ipso_find_peak(p, 11).n, 10);
    cr_expect_eq(ipso_find_peak(p, 10).n, 0);
    cr_expect_eq(ipso_find_peak(p, 8).n, 0);
    p[IPSO_BETA] = 1e-6;
    cr_expect_eq(ipso_find_peak(p, 1e9).n, 1000);
    p[IPSO_BETA] = 1;
    peak = ipso_find_peak(p, 1e9);
    cr_expect(peak.n == 1 && peak.speedup == 1);
}

/* --- types, bounds and errors by hand --- */

static enum ipso_order order_of(double low, double high)
{
    const struct ipso_estimate estimate = {(low + high) / 2, 0.1, 3, {low, high}};
    return ipso_order_of(&estimate);
}

Test(scaling_ipso, an_exponent_counts_as_what_its_interval_holds)
{
    cr_expect_eq(order_of(-0.5, -0.1), IPSO_BELOW_ZERO);
    cr_expect_eq(order_of(-0.1, 0.5), IPSO_ZERO);
    cr_expect_eq(order_of(0.2, 0.8), IPSO_BETWEEN);
    cr_expect_eq(order_of(0.5, 1.2), IPSO_ONE);
    cr_expect_eq(order_of(1.1, 2), IPSO_ABOVE_ONE);
    cr_expect_eq(order_of(-0.1, 1.1), IPSO_UNCLEAR);
    cr_expect_eq(order_of((double)NAN, (double)NAN), IPSO_UNCLEAR);
}

/* By gamma below 0, of 0, between, of 1, above 1; without and with a serial part. */
Test(scaling_ipso, types_of_a_fixed_size)
{
    static const enum ipso_order gammas[] = {IPSO_BELOW_ZERO, IPSO_ZERO,      IPSO_BETWEEN,
                                             IPSO_ONE,        IPSO_ABOVE_ONE, IPSO_UNCLEAR};
    static const char *const names[][2] = {{"Is", "IIIs,1"},  {"Is", "IIIs,1"},
                                           {"IIs", "IIIs,1"}, {"IIIs,2", "IIIs,2"},
                                           {"IVs", "IVs"},    {"undetermined", "undetermined"}};
    for (size_t g = 0; g < 6; g++)
        for (size_t s = 0; s < 2; s++) {
            enum ipso_type type = ipso_type_of(IPSO_FIXED_SIZE, s == 1, IPSO_ZERO, gammas[g]);
            cr_expect_str_eq(ipso_type_name(type), names[g][s], "%zu %zu", g, s);
            cr_expect_eq(ipso_type_of(IPSO_MIXED, s == 1, IPSO_ZERO, gammas[g]), IPSO_UNDETERMINED);
        }
}

/* By delta of 0, between, of 1 and above; and none of the paper's where it is below 0 or unclear. */
Test(scaling_ipso, types_of_a_fixed_time)
{
    static const enum ipso_order deltas[] = {IPSO_ZERO,      IPSO_BETWEEN,    IPSO_ONE,
                                             IPSO_ABOVE_ONE, IPSO_BELOW_ZERO, IPSO_UNCLEAR};
    static const char *const names[][2] = {{"IIIt,1", "IIIt,1"},
                                           {"IIt", "IIt"},
                                           {"It", "IIt"},
                                           {"It", "IIt"},
                                           {"undetermined", "undetermined"},
                                           {"undetermined", "undetermined"}};
    for (size_t d = 0; d < 6; d++)
        for (size_t between = 0; between < 2; between++) {
            enum ipso_type type = ipso_type_of(IPSO_FIXED_TIME, true, deltas[d],
                                               between == 1 ? IPSO_BETWEEN : IPSO_ZERO);
            cr_expect_str_eq(ipso_type_name(type), names[d][between], "%zu %zu", d, between);
        }
    static const char *const none[] = {"It", "It", "IIt", "IIIt,2", "IVt", "undetermined"};
    static const enum ipso_order gammas[] = {IPSO_BELOW_ZERO, IPSO_ZERO,      IPSO_BETWEEN,
                                             IPSO_ONE,        IPSO_ABOVE_ONE, IPSO_UNCLEAR};
    for (size_t g = 0; g < 6; g++) {
        enum ipso_type type = ipso_type_of(IPSO_FIXED_TIME, false, IPSO_UNCLEAR, gammas[g]);
        cr_expect_str_eq(ipso_type_name(type), none[g], "%zu", g);
    }
}

/* 90 s parallel and 10 s serial on one; of n executors EX is n^external, IN n^internal and q 0.1 n, or 0. */
static struct ipso_fit fit_bounded(double external, double internal, double q)
{
    struct ipso_observation rows[6];
    for (size_t i = 0; i < 6; i++) {
        double n = (double)(1u << i);
        double parallel_s = 90 * pow(n, external);
        rows[i] = (struct ipso_observation){n, parallel_s, 10 * pow(n, internal),
                                            i == 0 ? 0 : parallel_s * q, parallel_s / n};
    }
    return fit_rows(rows, 6);
}

Test(scaling_ipso, bounds_by_hand)
{
    static const struct {
        double external, internal, q;
        const char *name;
        double bound;
        size_t laws;
    } cases[] = {{0, 0, 0, "IIIs,1", 10, 3},
                 {0, 0, 0.1, "IIIs,2", (10.0 / 9) / (0.1 + 1.0 / 9), 5},
                 {1, 1, 0, "IIIt,1", 10, 4},
                 {1, 1, 0.1, "IIIt,2", (10.0 / 9) / (0.1 + 1.0 / 9), 6},
                 {1, 0, 0.1, "IIIt,2", 10, 5}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct ipso_fit fit = fit_bounded(cases[k].external, cases[k].internal, cases[k].q);
        cr_expect_str_eq(ipso_type_name(fit.type), cases[k].name);
        cr_expect_float_eq(fit.bound, cases[k].bound, 1e-6, "%zu: %g", k, fit.bound);
        cr_expect_eq(fit.laws, cases[k].laws, "%zu: %zu", k, fit.laws);
    }
}

/* Parallel work of 90 +- 2 s and serial work of 10 +- 1 s, four times: their means have variances of 4/3
 * and 1/3, and the share of 90 / 100 moves by 10 and by -90 of 100^2. */
Test(scaling_ipso, the_error_of_the_share_by_hand)
{
    struct ipso_observation rows[4];
    for (size_t i = 0; i < 4; i++) {
        double n = (double)(1u << i);
        double off = i % 3 == 0 ? 1 : -1;
        rows[i] = (struct ipso_observation){n, 90 + 2 * off, 10 - off, 0, 90 / n};
    }
    struct ipso_fit fit = fit_rows(rows, 4);
    cr_expect_eq(fit.workload, IPSO_FIXED_SIZE);
    cr_expect_not(fit.serial_induced);
    cr_expect_float_eq(fit.parameters[IPSO_ETA].value, 0.9, 1e-9);
    cr_expect_float_eq(fit.parameters[IPSO_PARALLEL].std_error, sqrt(4.0 / 3), 1e-9);
    cr_expect_float_eq(fit.parameters[IPSO_ETA].std_error, sqrt(1e-6 * 4 / 3 + 81e-6 / 3), 1e-9);
    cr_expect_eq(fit.parameters[IPSO_ETA].freedom, 3);
    cr_expect_eq(fit.parameters[IPSO_ALPHA].value, 1);
    cr_expect_eq(fit.parameters[IPSO_DELTA].value, 0);
}

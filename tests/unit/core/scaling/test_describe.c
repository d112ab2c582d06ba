/* What a law implies, in words. */
#include "core/scaling/model/describe.h"

#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/laws/kinds.h"
#include "core/scaling/laws/usba.h"
#include "core/scaling/model/fit.h"

static struct arena arena;
static struct findings findings;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    findings = (struct findings){.arena = &arena};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(describe, .init = set_up, .fini = tear_down);

static void expect(const char *code, const char *message)
{
    const struct finding *finding = finding_find(&findings, code);
    cr_assert_not_null(finding, "%s", code);
    cr_expect_str_eq(finding->message, message);
    findings = (struct findings){.arena = &arena};
}

Test(describe, the_limit_of_a_speedup)
{
    describe_limit(&findings, "the job", 12.5, 30);
    expect("speedup_limit", "However many executors, the job does not become more than 12.5 times "
                            "as fast; half of that is there on 30 executors.");
    describe_limit(&findings, "the job", 1.5, 0.3);
    expect("speedup_limit",
           "However many executors, the job does not become more than 1.5 times as "
           "fast; half of that is there on 1 executor.");
    describe_limit(&findings, "the job", (double)INFINITY, 3);
    expect("no_limit", "Nothing of the job is serial: the law sets the speedup no limit.");
}

Test(describe, the_largest_part)
{
    struct describe_part parts[] = {{"serial_s", "the serial part", 10},
                                    {"parallel_s", "the parallel part", 32},
                                    {"more_s", "more", -2}};
    describe_parts(&findings, parts, 3);
    cr_assert_eq(findings.n, 1);
    cr_expect_eq(finding_value(&findings.items[0], "serial_s"), 10);
    cr_expect_eq(finding_value(&findings.items[0], "more_s"), -2);
    expect("largest_part",
           "On the most executors and the largest problem seen, the parallel part is "
           "the largest part of the time: 32 of 42 s.");
    parts[0].seconds = parts[1].seconds = 0;
    describe_parts(&findings, parts, 3);
    cr_expect_eq(findings.n, 0);
    parts[0].seconds = (double)INFINITY;
    describe_parts(&findings, parts, 3);
    cr_expect_eq(findings.n, 0);
}

static struct observation rows[12];

/* a + b N/m + d m of sizes 16 and 64 on 1 to 32 executors. */
static struct model fit_ernest(double a, double b, double d)
{
    struct model_fit fit;
    for (size_t i = 0; i < 12; i++) {
        double size = i < 6 ? 16 : 64, m = (double)(1u << i % 6);
        rows[i] = model_seen(size, m, a + b * size / m + d * m, (double)NAN);
    }
    cr_assert_eq(model_fit(&ernest_kind, rows, 12, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    return fit.model;
}

/* At 64: 10 + 640/m + 0.4 m is least at m = 40, 42 s; twice 32 executors take 45.6 instead of 42.8 s. */
Test(describe, the_peak_and_doubling)
{
    struct model model = fit_ernest(10, 10, 0.4);
    describe_peak(&model, &findings);
    cr_assert_eq(findings.n, 1);
    cr_expect_float_eq(finding_value(&findings.items[0], "duration_s"), 42, 1e-6);
    expect("peak", "At problem size 64 the best is 40 executors, more than any run used; more make "
                   "it slower.");
    describe_doubling(&model, &findings);
    cr_assert_eq(findings.n, 1);
    cr_expect_float_eq(finding_value(&findings.items[0], "duration_s"), 42.8, 1e-6);
    cr_expect_float_eq(finding_value(&findings.items[0], "doubled_duration_s"), 45.6, 1e-6);
    expect("doubling", "At problem size 64, 64 executors instead of 32 take 6.5 % longer.");
    model = fit_ernest(10, 10, 1.6);
    describe_peak(&model, &findings);
    expect("peak", "At problem size 64 the best is 20 executors; more make it slower.");
    model = fit_ernest(10, 10, 0);
    describe_peak(&model, &findings);
    expect("no_peak", "At problem size 64 every executor up to the 64 that it can use makes it "
                      "faster, though no run used as many.");
    describe_doubling(&model, &findings);
    cr_assert_eq(findings.n, 1);
    cr_expect_float_eq(finding_value(&findings.items[0], "saved_percent"), 100.0 / 3, 1e-6);
    expect("doubling", "At problem size 64, 64 executors instead of 32 save 33.3 % of the time, "
                       "where halving it would be ideal.");
}

/* -32 + 640 / m + 0.4 m is 0 at the 40 executors where it is least, and less with a smaller constant. */
Test(describe, a_law_without_a_time_has_no_peak)
{
    struct model model = fit_ernest(10, 10, 0.4);
    model.uncertainty.n_recorded = 0;
    for (int k = 0; k < 2; k++) {
        const double estimates[] = {k == 0 ? -32 : -1000, 10, 0, 0.4};
        for (size_t j = 0; j < 4; j++)
            model.parameters[j].estimate = estimates[j];
        describe_peak(&model, &findings);
        cr_assert_eq(findings.n, 1);
        expect("below_zero",
               "At problem size 64 the law gives no time above zero on 40 executors: it "
               "does not hold there.");
    }
}

/* 100 s, of which 80 are shared: 20 + 80 / 32 s. */
Test(describe, parts_of_amdahls_law)
{
    struct model_fit fit;
    for (size_t i = 0; i < 6; i++) {
        double m = (double)(1u << i);
        rows[i] = model_seen(64, m, 20 + 80 / m, (double)NAN);
    }
    cr_assert_eq(model_fit(&amdahl_kind, rows, 6, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    amdahl_kind.describe(&fit.model, &findings);
    const struct finding *parts = finding_find(&findings, "largest_part");
    cr_assert_not_null(parts);
    cr_expect_float_eq(finding_value(parts, "serial_s"), 20, 1e-6);
    cr_expect_float_eq(finding_value(parts, "shared_s"), 2.5, 1e-6);
    cr_expect_not_null(finding_find(&findings, "doubling"));
    expect("speedup_limit", "However many executors, the application does not become more than 5 "
                            "times as fast; half of that is there on 4 executors.");
}

/* A constant time has no least, 640 / m + 0.4 m has it at 40. */
Test(describe, turns_of_ernests_law)
{
    struct model_law law = {.kind = &ernest_kind, .form = MODEL_OF_DURATIONS, .p = {10, 0, 0, 0}};
    double turn[MODEL_TURNS_MAX];
    cr_expect_eq(ernest_kind.turning_points(&law, 64, turn), 0);
    law.p[1] = 10;
    law.p[3] = 0.4;
    cr_assert_eq(ernest_kind.turning_points(&law, 64, turn), 1);
    cr_expect_float_eq(turn[0], 40, 1e-9);
}

/* At N = 4 e and m = 4, ln(N/m) is 1: 0.5 x 16 t0 is 2 N (0.7 + 0.05 N + 0.1 (1 + 1)). */
Test(describe, turns_of_scaled_usba)
{
    struct model_law law = {.kind = &usba_scaled_kind, .form = MODEL_OF_DURATIONS};
    double size = 4 * exp(1);
    double turn[MODEL_TURNS_MAX];
    law.p[USBA_ALPHA] = 0.1;
    law.p[USBA_BETA] = 0.25;
    law.p[USBA_GAMMA] = 0.05;
    law.p[USBA_EPSILON] = 0.5;
    law.p[USBA_THETA] = 64;
    law.p[USBA_INITIALIZATION] = size / 4 * (0.9 + 0.05 * size);
    law.p[USBA_PARALLEL] = 2;
    cr_assert_eq(usba_scaled_kind.turning_points(&law, size, turn), 2);
    cr_expect_float_eq(turn[0], 4, 1e-9);
    cr_expect_eq(turn[1], 64);
}

/* 16 and 64 on 1 to 32 executors, work that grows in proportion, a fifth of 100 s serial at size 1:
 * 20 + 80 N / m. At 64 the work is 256 times the serial part. */
Test(describe, what_grows_by_sun_and_ni)
{
    struct model_fit fit;
    for (size_t i = 0; i < 12; i++) {
        double size = i < 6 ? 16 : 64, m = (double)(1u << i % 6);
        rows[i] = model_seen(size, m, 20 + 80 * size / m, (double)NAN);
    }
    cr_assert_eq(model_fit(&sun_ni_kind, rows, 12, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    sun_ni_kind.describe(&fit.model, &findings);
    const struct finding *growth = finding_find(&findings, "work_growth");
    cr_assert_not_null(growth);
    cr_expect_str_eq(growth->message, "The parallel work grows with the problem size to the power "
                                      "of 1: about as the problem, as in Gustafson's law.");
    cr_expect_not_null(finding_find(&findings, "doubling"));
    expect("speedup_limit", "However many executors, the largest problem seen does not become more "
                            "than 257 times as fast; half of that is there on 256 executors.");
}

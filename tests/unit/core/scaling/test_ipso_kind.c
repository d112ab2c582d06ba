/* IPSO as a kind of model: what it takes from observations, what it warns of, and the law in words. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/laws/ipso/ipso.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS_MAX = 16 };
static struct arena arena;
static struct observation rows[ROWS_MAX];
static size_t n_rows;
static struct findings findings;

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    n_rows = 0;
    findings = (struct findings){.arena = &arena};
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(ipso_kind, .init = start, .fini = end);

/* Work of 800 s n^external, serial time of 40 s n^internal, q = beta n^gamma. */
struct law {
    double external;
    double internal;
    double beta;
    double gamma;
};

static void observe(double n, const struct law *law)
{
    struct observation row = MODEL_OBSERVATION;
    row.executors = n;
    row.parallel_s = 800 * pow(n, law->external);
    row.max_task_s = row.parallel_s / n;
    row.serial_s = 40 * pow(n, law->internal);
    row.induced_s = n > 1 ? row.max_task_s * law->beta * pow(n, law->gamma) : 0;
    rows[n_rows++] = row;
}

static void observe_powers(const struct law *law)
{
    for (double n = 1; n <= 64; n *= 2)
        observe(n, law);
}

static struct model_fit fit_rows(void)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(&ipso_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, &err), PV_OK,
                 "%s", err.detail);
    ipso_kind.describe(&fit.model, &findings);
    return fit;
}

static void expect(const struct findings *in, const char *code, const char *message)
{
    const struct finding *finding = finding_find(in, code);
    cr_assert_not_null(finding, "%s", code);
    cr_expect_str_eq(finding->message, message);
}

/* T(n) = 800 + 40 n^0.6 + 800 q(n), q = 0.01 n^1.4; at 64 that is 3987.4 s, 2702.3 s of them induced. By
 * all n up to 5000 the speedup (800 n + 40 n^0.6) / T is highest at 59, 12.975. */
Test(ipso_kind, a_law_comes_back_and_is_told)
{
    observe_powers(&(struct law){1, 0.6, 0.01, 1.4});
    struct model_fit fit = fit_rows();
    const struct model_parameter *p = fit.model.parameters;
    struct model_spread none = MODEL_NO_SPREAD;
    cr_expect_float_eq(p[IPSO_ETA].estimate, 800 / 840.0, 1e-7);
    cr_expect_float_eq(p[IPSO_DELTA].estimate, 0.4, 1e-7);
    cr_expect_float_eq(p[IPSO_BETA].estimate, 0.01, 1e-7);
    cr_expect_float_eq(p[IPSO_GAMMA].estimate, 1.4, 1e-7);
    for (double n = 1; n <= 4; n++) {
        struct model_prediction there;
        double induced_s = n > 1 ? 8 * pow(n, 1.4) : 0;
        double time_s = 800 + 40 * pow(n, 0.6) + induced_s;
        model_predict(&fit.model, &none, (double)NAN, n, &there);
        cr_expect_float_eq(there.duration_s, time_s, 1e-4);
        cr_expect_float_eq(there.speedup, (800 * n + 40 * pow(n, 0.6)) / time_s, 1e-6);
    }
    cr_expect_eq(fit.model.reference, MODEL_MEASURED);
    cr_expect_str_eq(fit.scaling_type, "IVt");
    cr_expect_eq(fit.peak.executors, 59);
    cr_expect_float_eq(fit.peak.speedup, 12.97488, 1e-5);
    cr_expect_eq(fit.warnings.n, 0);
    cr_expect_eq(findings.n, 3);
    expect(&findings, "serial_part",
           "4.8 % of the work of one executor is serial; parallel work over serial work goes as 1 "
           "n^0.4.");
    expect(&findings, "scale_out_overhead",
           "Scale-out induces 0.01 n^1.4 times the work of one executor; at n = 64 that is 67.8 % "
           "of the time.");
    expect(&findings, "peak",
           "The speedup is highest at n = 59, 13; more executors make it slower.");
    const struct finding *finding = finding_find(&findings, "scale_out_overhead");
    cr_expect_float_eq(finding_value(finding, "share_percent"), 67.7726, 1e-3);
    finding = finding_find(&findings, "serial_part");
    cr_expect_float_eq(finding_value(finding, "serial_percent"), 100 * 40 / 840.0, 1e-6);
}

/* All shared, nothing induced: a speedup of n. The busiest core's time is only n-th of the work. */
Test(ipso_kind, without_serial_part_and_overhead)
{
    static const struct law law = {1, 0, 0, 0};
    for (double n = 2; n <= 64; n *= 2) {
        observe(n, &law);
        rows[n_rows - 1].serial_s = 0;
        rows[n_rows - 1].max_task_s = 0; /* not measured */
    }
    struct model_fit fit = fit_rows();
    double turn[MODEL_TURNS_MAX];
    struct model_law bare = model_law(&fit.model);
    cr_expect_eq(ipso_kind.turning_points(&bare, (double)NAN, turn), 0);
    cr_expect_eq(fit.model.reference, MODEL_EXTRAPOLATED);
    cr_expect_str_eq(fit.scaling_type, "It");
    cr_expect_eq(fit.peak.executors, 0);
    cr_expect_float_eq(ipso_kind.duration_s(&bare, (double)NAN, 7), 800, 1e-6);
    cr_expect_float_eq(ipso_kind.speedup(&bare, (double)NAN, 7), 7, 1e-6);
    cr_expect_eq(findings.n, 2);
    expect(&findings, "no_serial_part", "All work is shared; none of it is serial.");
    expect(&findings, "no_overhead", "Scale-out itself induces no work.");
}

/* Of a fixed size: T = 800/n (1 + 0.002 n^1.6), without serial part, least at 67. */
Test(ipso_kind, a_peak_beyond_the_counts_is_told)
{
    static const struct law law = {0, 0, 0.002, 1.6};
    for (double n = 2; n <= 64; n *= 2) {
        observe(n, &law);
        rows[n_rows - 1].serial_s = 0;
    }
    struct model_fit fit = fit_rows();
    cr_expect_str_eq(fit.scaling_type, "IVs");
    cr_expect_eq(fit.peak.executors, 67);
    expect(&fit.warnings, "peak_not_observed",
           "the peak at n = 67 lies beyond the counts observed, up to 64");
    /* At 64, 0.002 64^1.6 = 1.5521 of 2.5521. */
    cr_expect_float_eq(
        finding_value(finding_find(&findings, "scale_out_overhead"), "share_percent"), 60.81649,
        1e-3);
}

/* Serial time is 40 s times 1 + 0.15 (n - 1) up to 15 and 4.2 + 0.25 (n - 15) beyond: at 16, 3.25 and
 * 4.45, 37 % more. */
Test(ipso_kind, a_step_is_told)
{
    static const double counts[] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 20, 24, 32, 40, 50, 64};
    static const struct law law = {1, 0, 0, 0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double n = counts[i];
        observe(n, &law);
        rows[i].serial_s *= n <= 15 ? 1 + 0.15 * (n - 1) : 4.2 + 0.25 * (n - 15);
    }
    struct model_fit fit = fit_rows();
    expect(&fit.warnings, "step_in_serial_work",
           "serial work jumps by 37 % between n = 15 and n = 17, as when memory overflows; alpha "
           "and delta are those beyond");
    expect(&findings, "step_in_serial_work",
           "Beyond n = 15 serial work is a step higher, as when what is merged no longer fits into "
           "memory.");
    cr_expect_float_eq(finding_value(finding_find(&findings, "step_in_serial_work"), "executors"),
                       15, 0);
}

Test(ipso_kind, what_no_type_has_is_warned_of)
{
    observe_powers(&(struct law){0.5, 0, 0, 0});
    struct model_fit fit = fit_rows();
    expect(&fit.warnings, "workload_undetermined",
           "the parallel work grows as n^0.5: neither fixed-size (0) nor fixed-time (1), so no "
           "type can be read off");
    n_rows = 0;
    observe_powers(&(struct law){1, 1.5, 0, 0});
    fit = fit_rows();
    expect(&fit.warnings, "serial_outgrows_parallel",
           "serial work grows faster than parallel work (delta -0.5), which is none of IPSO's "
           "types");
    /* Of a fixed size serial time cannot grow; with it all of the workload there is overhead. */
    n_rows = 0;
    observe_powers(&(struct law){0, 0.5, 0, 0});
    rows[0].induced_s = 1;
    fit = fit_rows();
    expect(&fit.warnings, "serial_counts_as_induced",
           "serial time changes with n although the workload does not: what it grows by counts as "
           "induced");
    expect(&fit.warnings, "overhead_at_one",
           "scale-out induces nothing at n = 1: the overhead measured there is not used");
    cr_expect_null(finding_find(&fit.warnings, "few_points"));
}

Test(ipso_kind, few_counts_are_warned_of)
{
    static const struct law law = {1, 0, 0.1, 1};
    for (double n = 2; n <= 4; n *= 2) {
        observe(n, &law);
        observe(n, &law);
    }
    struct model_fit fit = fit_rows();
    expect(&fit.warnings, "few_points",
           "with 2 executor counts exponents have no interval to speak of: one within 0.05 of 0 or "
           "1 counts as that");
    observe(8, &law);
    fit = fit_rows();
    cr_expect_null(finding_find(&fit.warnings, "few_points"));
}

/* Overhead that scatters by a factor of 3 about n^0.5, and serial time that jumps about it. */
Test(ipso_kind, an_exponent_that_may_be_0_or_1_is_warned_of)
{
    static const double factors[] = {1, 1, 3, 0.3, 3, 0.3, 3};
    observe_powers(&(struct law){1, 0, 0.01, 0.5});
    for (size_t i = 0; i < n_rows; i++)
        rows[i].induced_s *= factors[i];
    struct model_fit fit = fit_rows();
    expect(&fit.warnings, "gamma_undetermined",
           "the interval of gamma holds 0 and 1: more executor counts would show it");
    cr_expect_null(finding_find(&fit.warnings, "delta_undetermined"));
    n_rows = 0;
    observe_powers(&(struct law){1, 0.5, 0, 0});
    for (size_t i = 0; i < n_rows; i++)
        rows[i].serial_s *= i < 4 ? 0.4 : 2.5;
    fit = fit_rows();
    expect(&fit.warnings, "delta_undetermined",
           "the interval of delta holds 0 and 1: more executor counts would show it");
    cr_expect_null(finding_find(&fit.warnings, "gamma_undetermined"));
}

Test(ipso_kind, only_measured_stages_count)
{
    struct model_fit fit;
    struct pv_error err = {0};
    observe_powers(&(struct law){1, 0.5, 0.01, 0.5});
    rows[n_rows] = rows[0];
    rows[n_rows].parallel_s = rows[n_rows].max_task_s = 0;
    rows[n_rows++].serial_s = 500;
    fit = fit_rows();
    cr_expect_eq(fit.n, n_rows - 1);
    expect(&fit.warnings, "stages_unknown", "1 observation without measured stages was left out");
    for (size_t i = 0; i < n_rows; i++)
        rows[i].parallel_s = rows[i].max_task_s = (double)NAN;
    cr_expect_eq(model_fit(&ipso_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "ipso needs measured stages; none of 8 observations has");
}

/* Without alpha or delta the serial part stays as it is: 90 + 10 s at any n. */
Test(ipso_kind, without_growth_the_serial_part_is_constant)
{
    for (int k = 0; k < 2; k++) {
        struct ipso_prediction there;
        double p[IPSO_PARAMETERS];
        for (size_t j = 0; j < IPSO_PARAMETERS; j++)
            p[j] = (double)NAN;
        p[IPSO_ETA] = 0.9;
        p[k == 0 ? IPSO_ALPHA : IPSO_DELTA] = 0.5;
        p[IPSO_BETA] = p[IPSO_GAMMA] = p[IPSO_TASK_EXPONENT] = 0;
        p[IPSO_TASK_TIME] = 90;
        ipso_predict(p, 8, &there);
        cr_expect_eq(there.internal, 1);
        cr_expect_float_eq(there.duration_s, 100, 1e-9);
        cr_expect_float_eq(there.speedup, (90 * 8 + 10) / 100.0, 1e-9);
    }
}

/* 10 n - 40 would be negative at one executor, so that it is no line; 10 n + 40 is one. */
Test(ipso_kind, a_line_that_begins_below_zero_is_none)
{
    enum { POINTS = 10 };
    double n[POINTS], y[POINTS];
    struct growth growth;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < POINTS; i++) {
            n[i] = (double)(5 + i);
            y[i] = 10 * n[i] + sign * 40;
        }
        cr_assert_eq(growth_fit(n, y, POINTS, &arena, &growth, NULL), PV_OK);
        cr_expect_eq(growth.form, sign > 0 ? GROWTH_LINE : GROWTH_POWER);
    }
}

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/advice/latest_run.h"

enum { ROWS = 80 };

static struct observation rows[ROWS];
static struct run_evidence evidence[ROWS];
static struct arena arena, scratch;
static struct pv_error err;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    for (size_t i = 0; i < ROWS; i++) {
        evidence[i].cores_per_executor = 4;
        (void)snprintf(evidence[i].run_id, sizeof evidence[i].run_id, "run-%zu", i);
    }
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(latest_run, .init = set_up, .fini = tear_down, .timeout = 20);

static struct run_observations seen_of(size_t n)
{
    return (struct run_observations){.rows = rows, .evidence = evidence, .n = n};
}

/* Durations in the order of time; size 64 on 4 executors. */
static struct latest_run find(const double durations_s[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[n - 1 - i] = model_seen(64, 4, durations_s[i], (double)NAN);
    const struct run_observations seen = seen_of(n);
    return latest_run_find(&seen);
}

#define FIND(...)                                                                                  \
    find((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Five nights of 48 to 50.4 s, then 92 s (cases/32). The interval by hand: ln T has a mean of
 * ln 49.193; the squares about it and the prior are 0.03151, with 7 degrees of freedom. */
Test(latest_run, a_slow_night_deviates)
{
    const double nights[] = {48.0, 48.6, 49.2, 49.8, 50.4};
    double mean = 0, squares = 3 * 0.1 * 0.1;
    for (size_t i = 0; i < 5; i++)
        mean += log(nights[i]) / 5;
    for (size_t i = 0; i < 5; i++)
        squares += pow(log(nights[i]) - mean, 2);
    double reach = sqrt(squares / 7 * (1 + 1.0 / 5)) * gsl_cdf_tdist_Pinv(0.975, 7);
    struct latest_run found = FIND(48.0, 48.6, 49.2, 49.8, 50.4, 92.0);
    cr_assert(found.deviates && found.slower);
    cr_expect_str_eq(found.run_id, "run-0");
    cr_expect_float_eq(found.duration_s, 92, 1e-9);
    cr_expect_float_eq(found.expected_s, exp(mean), 1e-6);
    cr_expect_float_eq(found.interval_s[0], exp(mean - reach), 1e-6);
    cr_expect_float_eq(found.interval_s[1], exp(mean + reach), 1e-6);
    cr_expect_float_eq(found.interval_s[0], 41.3, 0.1);
    cr_expect_float_eq(found.interval_s[1], 58.5, 0.1);
    cr_expect_float_eq(found.shift, log(92 / exp(mean)), 1e-9);
    cr_expect_eq(found.streak, 1);
    cr_expect_eq(found.compared, 5);
    cr_expect_float_eq(found.persistence, 0.5, 1e-12);
    cr_expect_not(FIND(48.0, 48.6, 49.2, 49.8, 50.4, 58.0).deviates);
    cr_expect(FIND(48.0, 48.6, 49.2, 49.8, 50.4, 59.0).deviates);
    cr_expect_not(FIND(48.0, 48.6, 49.2, 49.8, 50.4).deviates);
    cr_expect_not(FIND(92.0).deviates, "nothing to compare it with");
}

Test(latest_run, a_fast_night_deviates_the_other_way)
{
    struct latest_run found = FIND(48.0, 48.6, 49.2, 49.8, 50.4, 25.0);
    cr_assert(found.deviates);
    cr_expect_not(found.slower);
    cr_expect_lt(found.shift, -0.6);
}

/* Nothing is known of how long slow nights last: 1/2, 2/3, 3/4, 4/5; with a slow night that stayed
 * alone once 1/3. From LATEST_RUN_SETTLED on it is what is expected. */
Test(latest_run, slow_nights_in_a_row)
{
    double nights[5 + LATEST_RUN_SETTLED + 1] = {48.0, 48.6, 49.2, 49.8, 50.4};
    for (size_t k = 1; k <= LATEST_RUN_SETTLED + 1; k++) {
        nights[4 + k] = 92.0 + (double)k / 10;
        struct latest_run found = find(nights, 5 + k);
        cr_assert_eq(found.deviates, k < LATEST_RUN_SETTLED, "%zu", k);
        if (!found.deviates)
            continue;
        cr_expect_eq(found.streak, k);
        cr_expect_eq(found.compared, 5);
        cr_expect_float_eq(found.persistence, (double)k / (double)(k + 1), 1e-12);
        cr_expect_eq(found.rows[0], 0);
        cr_expect_eq(found.rows[k - 1], k - 1);
    }
    nights[5 + LATEST_RUN_SETTLED] = 49.0;
    struct latest_run back = find(nights, 5 + LATEST_RUN_SETTLED + 1);
    cr_expect(back.deviates && !back.slower, "now the old level is a surprise");
    struct latest_run found =
        FIND(48.0, 48.6, 92.0, 49.8, 50.4, 49.0, 48.5, 49.1, 48.2, 49.9, 49.3, 250.0);
    cr_assert(found.deviates && found.slower);
    cr_expect_float_eq(found.persistence, 1.0 / 3, 1e-12);
}

/* Few runs say little: one of 50 s does not make 66 s a surprise, and 80 s one. */
Test(latest_run, few_runs_expect_a_wide_interval)
{
    struct latest_run found = FIND(50.0, 80.0);
    cr_assert(found.deviates);
    double reach = 0.1 * sqrt(2) * gsl_cdf_tdist_Pinv(0.975, 3);
    cr_expect_float_eq(found.interval_s[1], 50 * exp(reach), 1e-6);
    cr_expect_not(FIND(50.0, 66.0).deviates);
    cr_expect_not(FIND(40.0, 80.0, 55.0, 100.0).deviates, "they scatter");
}

/* Sizes that differ from night to night, and executors: time goes with both. */
Test(latest_run, sizes_and_executors_are_allowed_for)
{
    static const double sizes[] = {60, 75, 82, 64, 90, 70, 100, 78};
    enum { NIGHTS = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < NIGHTS; i++)
        rows[NIGHTS - i] = model_seen(sizes[i], i % 2 == 0 ? 4 : 5,
                                      5 + sizes[i] * (i % 2 == 0 ? 1.0 : 0.8), (double)NAN);
    const struct run_observations seen = seen_of(NIGHTS + 1);
    rows[0] = model_seen(110, 4, 5 + 110, (double)NAN);
    cr_expect_not(latest_run_find(&seen).deviates, "more data takes longer");
    rows[0] = model_seen(60, 4, 115, (double)NAN);
    struct latest_run found = latest_run_find(&seen);
    cr_expect(found.deviates && found.slower, "as long for half of the data");
    cr_expect_float_eq(found.expected_s, 65, 4);
    rows[0] = model_seen(110, 5, 200, (double)NAN);
    cr_expect(latest_run_find(&seen).deviates);
    rows[0] = model_seen(1000, 4, 4000, (double)NAN);
    cr_expect_not(latest_run_find(&seen).deviates, "no run was of like size");
    rows[0] = model_seen(110, 50, 300, (double)NAN);
    cr_expect_not(latest_run_find(&seen).deviates, "nor on like executors");
}

/* By hand, two runs of one size and a newest of twice the size: the constant is the mean of both
 * moved by 0.7 ln 2, its variance 1/2 + (ln 2)^2 / ratio with ratio = (0.1 / 0.35)^2. */
Test(latest_run, the_slopes_have_priors)
{
    rows[2] = model_seen(40, 4, 50, (double)NAN);
    rows[1] = model_seen(40, 4, 52, (double)NAN);
    rows[0] = model_seen(80, 4, 500, (double)NAN);
    const struct run_observations seen = seen_of(3);
    struct latest_run found = latest_run_find(&seen);
    double mean = (log(50) + log(52)) / 2, off = log(52) - mean, far = log(2);
    double ratio = pow(0.1 / 0.35, 2);
    double scale = sqrt((0.03 + 2 * off * off) / 4 * (1 + 0.5 + far * far / ratio));
    cr_assert(found.deviates);
    cr_expect_float_eq(found.expected_s, exp(mean + 0.7 * far), 1e-6);
    cr_expect_float_eq(found.interval_s[1],
                       exp(mean + 0.7 * far + scale * gsl_cdf_tdist_Pinv(0.975, 4)), 1e-6);
}

/* Runs with other labels say nothing, and neither does more history than is looked at. */
Test(latest_run, only_runs_of_the_group_count)
{
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = model_seen(64, 4, i % 2 == 0 ? 50 : 100, (double)NAN);
        rows[i].context = i % 2 == 0 ? 1 : 2;
    }
    const struct run_observations seen = seen_of(ROWS);
    cr_expect_not(latest_run_find(&seen).deviates);
    rows[0].context = 2;
    rows[2].duration_s = 100;
    struct latest_run found = latest_run_find(&seen);
    cr_expect(found.deviates);
    cr_expect_str_eq(found.run_id, "run-2");
}

/* --- the stage --- */

enum { STAGES = 3 };

static struct run
run_with(struct run_stage stages[STAGES], const char *id, double a, double b, double c)
{
    const double times[STAGES] = {a, b, c};
    for (size_t s = 0; s < STAGES; s++)
        stages[s] = (struct run_stage){.id = (int64_t)s, .n_tasks = 8, .duration_s = times[s]};
    struct run run = run_of_stages(stages, STAGES, 64, 4, 4, a + b + c, 0);
    (void)snprintf(run.id, sizeof run.id, "%s", id);
    return run;
}

Test(latest_run, the_stage_that_took_the_time_is_named)
{
    static struct run_stage stages[4][STAGES];
    const struct run runs[] = {
        run_with(stages[0], "run-0", 11, 66, 10), run_with(stages[1], "run-1", 10, 30, 9),
        run_with(stages[2], "run-2", 10, 31, 8), run_with(stages[3], "run-3", 9, 32, 9)};
    const struct run_observations seen = seen_of(4);
    struct latest_run found = FIND(50.0, 49.0, 49.0, 87.0);
    cr_assert(found.deviates);
    cr_assert_eq(latest_run_find_stage(&found, &seen, runs, 4, &scratch, &err), PV_OK);
    cr_assert(found.has_stage && !found.other_stages);
    cr_expect_eq(found.stage_id, 1);
    cr_expect_float_eq(found.stage_s, 66, 1e-9);
    cr_expect_float_eq(found.stage_usual_s, 31, 1e-9);
    struct advice advice = {.warnings = {.arena = &arena}};
    cr_assert_eq(latest_run_explain(&found, &advice, &err), PV_OK);
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].code, "latest_run_deviates");
    cr_expect(strstr(advice.warnings.items[0].message, "The latest run took 1 min 27 s where ") !=
              NULL);
    cr_expect(strstr(advice.warnings.items[0].message,
                     " Stage 1 took 1 min 06 s instead of 31 s.") != NULL,
              "%s", advice.warnings.items[0].message);
    cr_expect(strstr(advice.warnings.items[0].message, "with a probability of 50 %.") != NULL);
    /* Time outside of stages: no stage is named. */
    const struct run outside[] = {run_with(stages[0], "run-0", 11, 31, 10), runs[1], runs[2],
                                  runs[3]};
    found = FIND(50.0, 49.0, 49.0, 87.0);
    cr_assert_eq(latest_run_find_stage(&found, &seen, outside, 4, &scratch, &err), PV_OK);
    cr_expect_not(found.has_stage);
    /* Other stages: that is said. */
    struct run shorter = outside[0];
    shorter.n_stages = 2;
    const struct run other[] = {shorter, runs[1], runs[2], runs[3]};
    cr_assert_eq(latest_run_find_stage(&found, &seen, other, 4, &scratch, &err), PV_OK);
    cr_expect(found.other_stages && !found.has_stage);
}

/* --- two levels --- */

enum { POINTS = 4 };
static struct curve_point points[POINTS], slow_points[POINTS];

static struct curve usual_curve(void)
{
    for (int64_t m = 1; m <= POINTS; m++) {
        points[m - 1] =
            (struct curve_point){.executors = m, .duration_s = 200.0 / (double)m, .spread = 0.05};
        slow_points[m - 1] =
            (struct curve_point){.executors = m, .duration_s = 400.0, .spread = 0.1};
    }
    return (struct curve){.points = points,
                          .n_points = POINTS,
                          .cores_per_executor = 4,
                          .freedom = 8,
                          .single_s = 200,
                          .runs = 5};
}

/* By hand: half of 1 - P(t8 > ln(60/50)/0.05), and nothing of the level of 400 s. */
Test(latest_run, two_levels_are_a_mixture)
{
    struct curve curve = usual_curve(), slow = usual_curve();
    slow.points = slow_points;
    struct latest_run found = FIND(48.0, 48.6, 49.2, 49.8, 50.4, 400.0);
    cr_assert_eq(latest_run_mix(&found, &slow, false, &arena, &curve, &err), PV_OK);
    const struct curve_point *four = curve_find(&curve, 4);
    double usual = gsl_cdf_tdist_P(log(60.0 / 50) / 0.05, 8);
    cr_expect_float_eq(curve_probability(&curve, four, 60),
                       0.5 * usual + 0.5 * gsl_cdf_tdist_P(log(60.0 / 400) / 0.1, 8), 1e-12);
    cr_expect_float_eq(four->duration_s, 50, 1e-9);
    double ends_s[2];
    curve_interval(&curve, four, 0.9, ends_s);
    cr_expect_float_eq(curve_probability(&curve, four, ends_s[0]), 0.05, 1e-9);
    cr_expect_float_eq(curve_probability(&curve, four, ends_s[1]), 0.95, 1e-9);
    cr_expect(ends_s[0] < 50 && ends_s[1] > 400);
    cr_expect_float_eq(curve_probability(&curve, four, curve_quantile(&curve, four, 0.3)), 0.3,
                       1e-9);
    /* After three slow nights theirs is the likelier level. */
    curve = usual_curve();
    found = FIND(48.0, 48.6, 49.2, 49.8, 50.4, 400.0, 400.0, 400.0);
    cr_assert_eq(latest_run_mix(&found, &slow, false, &arena, &curve, &err), PV_OK);
    four = curve_find(&curve, 4);
    cr_expect_float_eq(four->duration_s, 400, 1e-9);
    cr_expect(curve.other_is_usual);
    cr_expect_float_eq(curve.other_weight, 0.25, 1e-12);
    cr_expect_float_eq(curve_probability(&curve, four, 60),
                       0.25 * usual + 0.75 * gsl_cdf_tdist_P(log(60.0 / 400) / 0.1, 8), 1e-12);
}

/* Where the slow runs cannot be replayed, in proportion; where they are all that was, the other way. */
Test(latest_run, a_level_in_proportion)
{
    struct curve curve = usual_curve();
    struct latest_run found = FIND(50.0, 50.0, 50.0, 50.0, 50.0, 100.0);
    cr_assert_eq(latest_run_mix(&found, NULL, false, &arena, &curve, &err), PV_OK);
    cr_expect_float_eq(curve_find(curve.other, 2)->duration_s, 200, 1e-6);
    cr_expect_float_eq(curve_find(curve.other, 2)->spread, 0.1, 1e-12);
    curve = usual_curve();
    points[0].cache_doubt_s = 7;
    cr_assert_eq(latest_run_mix(&found, NULL, false, &arena, &curve, &err), PV_OK);
    cr_expect_float_eq(curve.other->points[0].cache_doubt_s, 14, 1e-6);
    curve = usual_curve();
    cr_assert_eq(latest_run_mix(&found, NULL, true, &arena, &curve, &err), PV_OK);
    cr_expect(curve.other_is_usual);
    cr_expect_float_eq(curve_find(curve.other, 2)->duration_s, 50, 1e-6);
    curve = usual_curve();
    found = FIND(50.0, 50.0, 50.0, 50.0, 50.0, 25.0);
    cr_assert_eq(latest_run_mix(&found, NULL, false, &arena, &curve, &err), PV_OK);
    cr_expect_null(curve.other, "a faster run changes nothing");
}

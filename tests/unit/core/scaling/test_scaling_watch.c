/* Drift and outliers of histories: rare false alarms, quick detection, what does not count as
 * drift, which runs lose weight, and that the chart's run length is what its rule says. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "base/rng.h"
#include "core/scaling/drift/drift_detection.h"

enum { RUNS_MAX = 400 };

static struct arena arena;
static struct drift_run runs[RUNS_MAX];
static struct drift_verdict verdicts[RUNS_MAX];

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_watch, .init = start, .fini = end);

static double law(double m)
{
    return 30 + 400 / m + 1.5 * m;
}

/* n runs on 2, 4, 8 and 16 executors in turn, with noise; all NAN but what is seen. */
static void draw(size_t n, double noise, struct rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        double m = (double)(2u << (i % 4));
        runs[i] = (struct drift_run){
            .seen = model_seen(64, m, law(m) * exp(noise * rng_normal(rng)), (double)NAN),
            .executors_asked = (double)NAN,
            .executors_share = (double)NAN,
            .failed_share = (double)NAN};
    }
}

static void shift(size_t from, size_t to, double factor)
{
    for (size_t i = from; i < to; i++)
        runs[i].seen.duration_s *= factor;
}

static struct drift watch(size_t n)
{
    struct drift drift;
    cr_assert_eq(drift_watch(runs, n, &arena, verdicts, &drift, NULL), PV_OK);
    return drift;
}

/* Errors that are independent and standard normal run about as long as the rule says. */
Test(scaling_watch, the_chart_runs_as_long_as_its_rule_says)
{
    const double lengths[2] = {200, 1000};
    struct rng rng = rng_make(1954, 1);
    for (size_t l = 0; l < 2; l++) {
        struct cusum_rule rule = cusum_rule(0.5, lengths[l]);
        double sum = 0;
        for (size_t trial = 0; trial < 400; trial++) {
            struct cusum cusum = {0};
            double n = 1;
            while (cusum_add(&cusum, &rule, rng_normal(&rng)) == CUSUM_QUIET)
                n++;
            sum += n / 400;
        }
        /* 400 lengths, about exponential: a standard error of 5 percent. Cutting errors at 3 makes
         * false alarms a little rarer. */
        cr_expect(sum > 0.85 * lengths[l] && sum < 1.35 * lengths[l], "%g instead of %g", sum,
                  lengths[l]);
    }
    cr_expect_float_eq(cusum_rule(0.5, 469).threshold, 5, 0.02, "the known h = 5");
}

/* 200 histories of 100 runs each, 20000 runs: 20 false alarms are due at one in 1000. */
Test(scaling_watch, false_alarms_are_rare)
{
    const double noises[3] = {0.02, 0.08, 0.2};
    for (size_t k = 0; k < 3; k++) {
        struct rng rng = rng_make(77, k);
        size_t alarms = 0;
        for (size_t trial = 0; trial < 200; trial++) {
            draw(100, noises[k], &rng);
            alarms += watch(100).drifts;
        }
        cr_log_info("noise %g: %zu alarms in 20000 runs", noises[k], alarms);
        cr_expect(alarms <= 36, "noise %g: %zu alarms", noises[k], alarms);
    }
}

/* A shift by 25 percent under 5 percent of noise is seen within a few runs, dated to within a few,
 * and measured; old runs fade and a handful of runs later the model has caught up. */
Test(scaling_watch, a_shift_is_seen_within_a_few_runs)
{
    struct rng rng = rng_make(5, 0);
    double delay = 0;
    for (size_t trial = 0; trial < 100; trial++) {
        bool slower = trial % 2 == 0;
        draw(50, 0.05, &rng);
        shift(40, 50, slower ? 1.25 : 1 / 1.25);
        size_t n = 41;
        struct drift drift = watch(n);
        while (drift.drifts == 0 && n < 50)
            drift = watch(++n);
        cr_assert_eq(drift.drifts, 1, "trial %zu", trial);
        cr_expect_eq(drift.state, DRIFT_PRESENT);
        cr_expect_eq(drift.detected, n - 1);
        cr_expect_eq(drift.slower, slower);
        cr_expect(drift.since >= 37 && drift.since <= 43, "since %zu", drift.since);
        cr_expect(fabs(drift.change_percent) > 12 && fabs(drift.change_percent) < 40, "%g percent",
                  drift.change_percent);
        cr_expect(verdicts[0].weight < 0.6 && verdicts[n - 1].weight == 1);
        delay += (double)(n - 40) / 100;
        drift = watch(50);
        cr_expect_eq(drift.state, DRIFT_SETTLED);
        cr_expect(verdicts[0].weight < 0.01);
    }
    cr_log_info("mean delay %.2f runs", delay);
    cr_expect(delay <= 5, "%g runs", delay);
}

/* Runs off by ln 1.15, and a last one by ln 2. That one stands out most, (0.69)^2, but one run may be an
 * outlier: of two or more the last two do, (0.69 + 0.14)^2 / 2. */
Test(scaling_watch, a_new_level_begins_two_runs_back_at_least)
{
    struct rng rng = rng_make(5, 1);
    draw(44, 0.03, &rng);
    shift(40, 43, 1.15);
    shift(43, 44, 2);
    cr_expect_eq(watch(43).drifts, 0);
    struct drift drift = watch(44);
    cr_assert_eq(drift.drifts, 1);
    cr_expect_eq(drift.detected, 43);
    cr_expect_eq(drift.since, 42);
    cr_expect(drift.slower);
    cr_expect_float_eq(drift.change_percent, 100 * (sqrt(1.15 * 2) - 1), 6, "%g",
                       drift.change_percent);
}

/* The day of the week, and one wild run, are no drift; the wild run is an outlier. */
Test(scaling_watch, seasons_and_single_outliers_are_no_drift)
{
    struct rng rng = rng_make(9, 0);
    size_t alarms = 0;
    for (size_t trial = 0; trial < 40; trial++) {
        const double periods[2] = {7, 24};
        draw(160, 0.03, &rng);
        for (size_t i = 0; i < 160; i++)
            runs[i].seen.duration_s *=
                1 + 0.1 * sin(6.283185307179586 * (double)i / periods[trial % 2]);
        alarms += watch(160).drifts;
    }
    cr_expect(alarms <= 4, "%zu alarms in 40 histories with seasons", alarms);
    for (size_t trial = 0; trial < 40; trial++) {
        draw(60, 0.04, &rng);
        runs[45].seen.duration_s *= trial % 2 == 0 ? 4 : 0.3;
        struct drift drift = watch(60);
        cr_expect_eq(drift.drifts, 0, "trial %zu", trial);
        cr_expect_eq(verdicts[45].reason, DRIFT_OUTLYING);
        cr_expect(verdicts[45].weight < 0.1 && verdicts[45].deviations > DRIFT_OUTLIER);
        cr_expect_float_eq(verdicts[45].promised_s, law(runs[45].seen.executors),
                           0.1 * law(runs[45].seen.executors));
    }
}

/* Runs out of memory on two executors take five times as long, each time: no law fits, and yet none
 * of them is an outlier. */
Test(scaling_watch, a_repeated_cliff_is_no_outlier)
{
    struct rng rng = rng_make(13, 0);
    draw(40, 0.03, &rng);
    for (size_t i = 0; i < 40; i += 4)
        runs[i].seen.duration_s *= 5;
    struct drift drift = watch(40);
    cr_expect_eq(drift.drifts, 0);
    for (size_t i = 0; i < 40; i++)
        cr_expect(verdicts[i].weight > 0.5, "run %zu weighs %g", i, verdicts[i].weight);
}

Test(scaling_watch, starved_runs_and_failures_count_less)
{
    struct rng rng = rng_make(17, 0);
    draw(20, 0.03, &rng);
    for (size_t i = 0; i < 20; i++)
        runs[i].executors_share = 0.8;
    runs[3].executors_asked = 40;
    runs[7].executors_share = 0.5;
    runs[9].failed_share = 0.3;
    runs[11].executors_share = 0.72;
    (void)watch(20);
    cr_expect_eq(verdicts[3].reason, DRIFT_STARVED);
    cr_expect_eq(verdicts[7].reason, DRIFT_STARVED);
    cr_expect_eq(verdicts[9].reason, DRIFT_FAILURES);
    cr_expect_eq(verdicts[11].reason, DRIFT_FULL);
    cr_expect_eq(verdicts[7].weight, DRIFT_TROUBLED_WEIGHT);
}

/* Few runs, or runs that were never repeated and obey no law, say nothing. */
Test(scaling_watch, without_comparison_nothing_is_known)
{
    struct rng rng = rng_make(19, 0);
    cr_expect_eq(watch(0).state, DRIFT_UNKNOWN);
    draw(3, 0.05, &rng);
    cr_expect_eq(watch(3).state, DRIFT_UNKNOWN);
    draw(20, 0.05, &rng);
    cr_expect_eq(watch(20).state, DRIFT_STABLE);
}

/* The same application in hours instead of seconds drifts alike; and twice asked is the same. */
Test(scaling_watch, the_unit_of_time_changes_nothing)
{
    struct rng rng = rng_make(23, 0);
    draw(60, 0.05, &rng);
    shift(45, 60, 1.3);
    struct drift one = watch(60);
    struct drift again = watch(60);
    cr_expect_eq(one.up, again.up);
    cr_expect_eq(one.change_percent, again.change_percent);
    shift(0, 60, 1.0 / 3600);
    struct drift hours = watch(60);
    cr_expect_eq(hours.drifts, one.drifts);
    cr_expect_eq(hours.since, one.since);
    cr_expect_float_eq(hours.change_percent, one.change_percent, 1e-6);
}

/* As many runs as a fit may have, each of another size on one executor count, so that no law can be
 * fitted; then each once more. A law sought for every run, or passes over all runs for each, would
 * take minutes. */
Test(scaling_watch, long_histories_are_watched_in_time, .timeout = 30)
{
    enum { MANY = 100000 };
    struct drift_run *many = arena_calloc(&arena, MANY, sizeof *many);
    struct drift_verdict *judged = arena_calloc(&arena, MANY, sizeof *judged);
    struct drift drift;
    cr_assert(many != NULL && judged != NULL);
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct drift_run){
            .seen = model_seen((double)(i % (MANY / 2) + 1), 4, 100 + (double)(i % 7), (double)NAN),
            .executors_asked = (double)NAN,
            .executors_share = (double)NAN,
            .failed_share = (double)NAN};
    cr_assert_eq(drift_watch(many, MANY, &arena, judged, &drift, NULL), PV_OK);
    cr_expect_eq(drift.state, DRIFT_UNKNOWN);
    cr_expect_eq(judged[MANY - 1].reason, DRIFT_FULL);
}

/* One run more between two of the same time, or at an end, changes what the others promise. */
Test(scaling_watch, an_outlier_is_told_the_median_of_the_others)
{
    const double times_s[7] = {100, 101, 101, 300, 99, 100, 102};
    for (size_t n = 6; n <= 7; n++) {
        struct rng rng = rng_make(29, 0);
        draw(n, 0, &rng);
        for (size_t i = 0; i < n; i++)
            runs[i].seen = model_seen(64, 4, times_s[i], (double)NAN);
        (void)watch(n);
        cr_assert_eq(verdicts[3].reason, DRIFT_OUTLYING);
        cr_expect_float_eq(verdicts[3].promised_s, n == 6 ? 100 : sqrt(100.0 * 101), 1e-9);
    }
}

/* Twelve executor counts that ran once each. What took twice as long in the middle is an outlier; at an
 * end nothing lies on its far side to tell. */
Test(scaling_watch, ends_of_what_was_run_are_no_outliers)
{
    static const size_t slow[] = {0, 6, 11};
    for (size_t turn = 0; turn < 3; turn++) {
        struct rng rng = rng_make(31, 0);
        draw(12, 0, &rng);
        for (size_t i = 0; i < 12; i++) {
            double m = 2 * (double)i + 4;
            runs[i].seen = model_seen(64, m, law(m) * (i == slow[turn] ? 2 : 1), (double)NAN);
        }
        (void)watch(12);
        cr_expect_eq(verdicts[slow[turn]].reason, turn == 1 ? DRIFT_OUTLYING : DRIFT_FULL, "%zu",
                     slow[turn]);
    }
}

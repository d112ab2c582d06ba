/* Alternatives, and what holds for any curve. */
#include <criterion/criterion.h>
#include <math.h>

#include "advise_cases.h"
#include "rounds.h"

TestSuite(advise_laws, .init = set_up, .fini = tear_down, .timeout = 60);

static bool lists(const struct advice *advice, int64_t executors)
{
    for (size_t i = 0; i < advice->n_alternatives; i++)
        if (advice->alternatives[i].executors == executors)
            return true;
    return false;
}

/* The front holds no point that another beats in both time and executor seconds. */
Test(advise_laws, alternatives_are_the_pareto_front)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.n_alternatives, 9); /* 10 allowed, without the anomaly */
    for (size_t i = 0; i < advice.n_alternatives; i++) {
        cr_assert_neq(advice.alternatives[i].executors, 5);
        if (i > 0) {
            cr_assert_gt(advice.alternatives[i].predicted_duration_s,
                         advice.alternatives[i - 1].predicted_duration_s);
            cr_assert_lt(advice.alternatives[i].executor_s, advice.alternatives[i - 1].executor_s);
        }
    }
}

/* 7 to 10 executors are equally fast: 7 beat the rest. */
Test(advise_laws, of_equally_fast_counts_the_fewest_is_an_alternative)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    for (size_t i = 6; i < 10; i++)
        points[i].duration_s = 20.0;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert_eq(advice.n_alternatives, 5, "6 take longer and hold more executors than 7");
    cr_assert_eq(advice.alternatives[0].executors, 7);
    cr_assert(!lists(&advice, 8) && !lists(&advice, 9) && !lists(&advice, 10));
}

/* What is recommended and the next fewer stand among the alternatives, dominated or thinned out. */
Test(advise_laws, alternatives_hold_what_the_reasons_name)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 33.2);
    struct advice advice = ask(&asked); /* 6; the next fewer is the anomaly */
    cr_assert_eq(advice.recommendation.executors, 6);
    cr_assert(lists(&advice, 6) && lists(&advice, 5));

    enum { MANY = 300 };
    static struct curve_point many[MANY];
    for (int64_t m = 1; m <= MANY; m++)
        many[m - 1] = (struct curve_point){
            .executors = m, .duration_s = 10.0 + 9000.0 / (double)m, .spread = 0.02};
    curve.points = many;
    curve.n_points = MANY;
    asked.max_executors = MANY;
    for (double deadline_s = 50.0; deadline_s < 500.0; deadline_s += 7.0) {
        asked.deadline_s = deadline_s;
        advice = ask(&asked);
        cr_assert_leq(advice.n_alternatives, 16);
        cr_assert(lists(&advice, advice.recommendation.executors));
        cr_assert(lists(&advice, advice.recommendation.executors - 1));
        cr_assert(lists(&advice, 1) && lists(&advice, MANY));
        for (size_t i = 1; i < advice.n_alternatives; i++)
            cr_assert_gt(advice.alternatives[i].predicted_duration_s,
                         advice.alternatives[i - 1].predicted_duration_s);
    }
}

/*
 * Whatever the curve, more allowed executors never ask for a later deadline, and the deadline that
 * would do, asked again, is met with the asked probability. Spreads grow away from the runs, so
 * that the fastest point is often not the one to trust.
 */
Test(advise_laws, the_remedy_is_the_least_deadline_and_holds)
{
    uint64_t state = 42;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < POINTS; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            double noise = (double)(state >> 40) / (double)(1 << 24);
            points[i].duration_s = law((int64_t)i + 1) * (0.8 + 0.4 * noise);
            points[i].spread = 0.02 + 0.06 * noise * (double)i;
        }
        double before_s = (double)INFINITY;
        for (int64_t most = 1; most <= POINTS; most++) {
            struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 0.5);
            asked.confidence = 0.5 + 0.0024 * (double)round;
            asked.max_executors = most;
            struct advice advice = ask(&asked);
            cr_assert((advice.verdict != ADVISE_MET));
            cr_assert_leq(advice.remedies.deadline_s, before_s);
            before_s = advice.remedies.deadline_s;
            double below_s = before_s * (1.0 - 1e-6);
            asked.deadline_s = before_s;
            advice = ask(&asked);
            cr_assert((advice.verdict == ADVISE_MET));
            cr_assert_geq(advice.recommendation.deadline_probability, asked.confidence);
            asked.deadline_s = below_s; /* and none earlier would do */
            advice = ask(&asked);
            cr_assert_neq(advice.verdict, ADVISE_MET);
        }
    }
}

static double random_share(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 40) / (double)(1 << 24);
}

/* Times that need not fall with the executors, spreads that grow away from 4 to 8 of them. */
static void draw_curve(uint64_t *state)
{
    double serial = 5.0 + 20.0 * random_share(state), work = 30.0 + 200.0 * random_share(state);
    double jagged = 0.1 * random_share(state), spread = 0.02 + 0.1 * random_share(state);
    for (size_t i = 0; i < POINTS; i++) {
        double m = (double)i + 1.0;
        double far = m < 4.0 ? log(4.0 / m) : m > 8.0 ? log(m / 8.0) : 0.0;
        points[i].duration_s = (serial + work / m) * (1.0 + jagged * random_share(state));
        points[i].spread = spread * (1.0 + far);
    }
    curve.single_s = points[0].duration_s;
}

/* Recomputed from the curve: the fewest within two points of the best, none of them certain. */
static void check_at_risk(const struct advise_goal *asked, const struct advice *advice)
{
    double best = 0.0;
    int64_t fewest = 0;
    for (int64_t m = asked->max_executors; m >= 1; m--)
        best = fmax(best, curve_probability(&curve, &points[m - 1], asked->deadline_s));
    for (int64_t m = asked->max_executors; m >= 1; m--)
        if (curve_probability(&curve, &points[m - 1], asked->deadline_s) >= best - 0.02)
            fewest = m;
    cr_assert_lt(best, asked->confidence);
    cr_assert_eq(advice->recommendation.executors, fewest);
    cr_assert_eq(evidence(&advice->reasons, "deadline_at_risk", "best_probability"), best);
}

/* Of the executors that meet a deadline an earlier one never asks for fewer, nor does a higher
 * confidence; verdicts only get worse; what is at risk is the fewest within two points of the best,
 * whatever the confidence. */
Test(advise_laws, recommendations_are_monotone)
{
    uint64_t state = 7;
    size_t met = 0, at_risk = 0, missed = 0;
    for (size_t round = 0; round < rounds(300); round++) {
        draw_curve(&state);
        struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 0.0);
        asked.confidence = 0.6 + 0.39 * random_share(&state);
        int64_t before = 0;
        enum advise_verdict verdict = ADVISE_MET;
        for (double deadline_s = 300.0; deadline_s > 5.0; deadline_s *= 0.99) {
            asked.deadline_s = deadline_s;
            struct advice advice = ask(&asked);
            cr_assert_geq(advice.verdict, verdict);
            verdict = advice.verdict;
            if (verdict == ADVISE_MET) {
                cr_assert_geq(advice.recommendation.executors, before);
                before = advice.recommendation.executors;
            }
            met += advice.verdict == ADVISE_MET;
            at_risk += advice.verdict == ADVISE_AT_RISK;
            missed += advice.verdict == ADVISE_MISSED;
            double p = advice.recommendation.deadline_probability;
            cr_assert_eq(advice.verdict == ADVISE_MET, p >= asked.confidence);
            if (advice.verdict == ADVISE_AT_RISK)
                check_at_risk(&asked, &advice);
        }
        before = 0;
        asked.deadline_s = 20.0 + 60.0 * random_share(&state);
        for (double confidence = 0.05; confidence < 1.0; confidence += 0.01) {
            asked.confidence = confidence;
            struct advice advice = ask(&asked);
            if (advice.verdict == ADVISE_MET) {
                cr_assert_geq(advice.recommendation.executors, before);
                before = advice.recommendation.executors;
            }
        }
    }
    size_t least = rounds(1000);
    cr_assert(met > least && at_risk > least && missed > least);
}

/* Where thousands of counts differ by little, alternatives are spread over time, not over counts,
 * and lie closest about what is recommended. */
Test(advise_laws, alternatives_are_thinned_by_time)
{
    enum { MANY = 400 };
    static struct curve_point many[MANY];
    for (int64_t m = 1; m <= MANY; m++)
        many[m - 1] = (struct curve_point){
            .executors = m, .duration_s = 100.0 + 900.0 / (double)m, .spread = 0.02};
    curve.points = many;
    curve.n_points = MANY;
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 200.0);
    asked.max_executors = MANY;
    struct advice advice = ask(&asked);
    size_t near = 0;
    for (size_t i = 1; i < advice.n_alternatives; i++) {
        double ratio = advice.alternatives[i].predicted_duration_s /
                       advice.alternatives[i - 1].predicted_duration_s;
        double from_s = fabs(log(advice.alternatives[i].predicted_duration_s /
                                 advice.recommendation.predicted_duration_s));
        cr_assert_lt(ratio, 2.0);
        near += from_s < 0.25;
    }
    cr_assert_geq(near, 6);
}

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advise_cases.h"
#include "base/quantity_text.h"
#include "core/advice/advise.h"
#include "core/advice/joint_feasibility.h"
#include "core/advice/replay.h"
#include "core/history/run.h"

TestSuite(advise, .init = set_up, .fini = tear_down, .timeout = 60);

/* 34 s: 4 executors need 32.5 s; the spread of 2 percent wants about 4 percent of room: 4 it is. */
Test(advise, least_executors_with_confidence)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    cr_assert((advice.verdict == ADVISE_MET));
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert_geq(advice.recommendation.deadline_probability, 0.95);
    cr_assert(has(&advice.reasons, "deadline_met") && has(&advice.reasons, "objective"));
    /* 33.2 s leaves 4 executors too little room, 5 are slower still: 6. A bisection would err. */
    asked.deadline_s = 33.2;
    cr_assert_eq(ask(&asked).recommendation.executors, 6);
}

static void expect_message(const struct findings *notes, const char *code, const char *text)
{
    cr_expect_str_eq(message(notes, code), text);
}

/* What of a history could not be replayed. */
Test(advise, runs_that_were_not_replayed_in_words)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    curve.runs = 2;
    curve.graph_changed = true;
    curve.runs_unusable = curve.runs_left_out = 1;
    curve.unusable_why = REPLAY_NOT "duration_s unknown";
    struct advice advice = ask(&asked);
    expect_message(
        &advice.warnings, "few_runs",
        "Only 2 runs could be replayed: the interval is mostly based on a prior of 10 %.");
    expect_message(&advice.warnings, "graph_changed",
                   "The replayed runs do not all have the same stages.");
    expect_message(&advice.warnings, "runs_ignored",
                   "1 run could not be replayed: duration_s unknown.");
    expect_message(&advice.warnings, "runs_left_out",
                   "1 run further away was left out to bound the work.");
    curve.runs = 3;
    curve.graph_changed = false;
    curve.runs_unusable = curve.runs_left_out = 2;
    curve.unusable_why = "it has too many tasks";
    advice = ask(&asked);
    cr_expect(!has(&advice.warnings, "few_runs") && !has(&advice.warnings, "graph_changed"));
    expect_message(&advice.warnings, "runs_ignored",
                   "2 runs could not be replayed; the nearest in size: it has too many tasks.");
    expect_message(&advice.warnings, "runs_left_out",
                   "2 runs further away were left out to bound the work.");
}

/* The recommendation is 4 executors of 4 cores. */
Test(advise, what_lies_outside_the_runs_in_words)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    cr_expect(!has(&advice.warnings, "extrapolation"));
    curve.size_extrapolated = true;
    curve.least_size = 8;
    curve.most_size = 32;
    advice = ask(&asked);
    expect_message(&advice.warnings, "extrapolation",
                   "Problem size 64 is outside those of the runs replayed (8 to 32): the interval "
                   "is widened.");
    curve.size_extrapolated = false;
    curve.executor_cores_extrapolated = true;
    advice = ask(&asked);
    expect_message(&advice.warnings, "extrapolation",
                   "No replayed run had executors of 4 cores: what their memory and their garbage "
                   "collection do to the time is not in the prediction.");
    curve.executor_cores_extrapolated = false;
    curve.most_cores = 12;
    points[3].extrapolated = true;
    advice = ask(&asked);
    expect_message(&advice.warnings, "extrapolation",
                   "16 cores are outside the recorded runs, which had 4 to 12 cores: the interval "
                   "is widened.");
    cr_expect_eq(evidence(&advice.warnings, "extrapolation", "cores"), 16);
}

/* Of 32.5 s, half a percent of waiting and a percent of doubt are not reported. */
Test(advise, waiting_and_cached_data_in_words)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 39.0);
    points[3].waiting_s = 0.16;
    points[3].cache_hit = 1;
    points[3].cache_doubt_s = 0.32;
    struct advice advice = ask(&asked);
    cr_expect(!has(&advice.reasons, "executors_awaited"));
    cr_expect(!has(&advice.warnings, "cached_data_unmeasured"));
    points[3].waiting_s = 0.17;
    points[3].cache_doubt_s = 0.33;
    advice = ask(&asked);
    expect_message(&advice.reasons, "executors_awaited",
                   "The predicted time includes 0.17 s of waiting for executors: some executors of "
                   "the recorded run came after its first stage began, or left before its last "
                   "stage ended.");
    expect_message(&advice.warnings, "cached_data_unmeasured",
                   "The executors have less memory for the cached data than those of the run, and "
                   "no log shows how much it is: the interval is wider upwards. Set "
                   "spark.eventLog.logStageExecutorMetrics to log it.");
    points[3].cache_hit = 0.8;
    advice = ask(&asked);
    expect_message(&advice.warnings, "cached_data_exceeds_memory",
                   "The executors hold 80 % of the data that the application caches. Tasks compute "
                   "the other blocks again. 5 executors hold all of it. No run shows how long that "
                   "takes, so the interval is wider upwards.");
    cr_expect_eq(evidence(&advice.warnings, "cached_data_exceeds_memory", "share_in_memory"), 0.8);
    cr_expect_eq(evidence(&advice.warnings, "cached_data_exceeds_memory", "executors_needed"), 5);
    points[3].cache_doubt_s = 0;
    advice = ask(&asked);
    expect_message(&advice.warnings, "cached_data_exceeds_memory",
                   "The executors hold 80 % of the data that the application caches. Tasks compute "
                   "the other blocks again. 5 executors hold all of it.");
}

/* The verdict in words, with its figures: met, at risk, missed. */
Test(advise, the_verdict_in_words)
{
    char text[300];
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    double p = curve_probability(&curve, &points[3], 34.0);
    /* ln(34 / 32.5) is 2.256 times the spread: of Student's t with 8 degrees of freedom. */
    cr_assert_float_eq(p, 0.973, 0.001);
    (void)snprintf(text, sizeof text, "4 executors finish within 34 s with a probability of %s.",
                   quantity_probability(p).text);
    expect_message(&advice.reasons, "deadline_met", text);
    cr_expect_eq(evidence(&advice.reasons, "deadline_met", "fewer_executors"), 3.0);
    cr_expect_float_eq(evidence(&advice.reasons, "deadline_met", "fewer_executors_probability"),
                       curve_probability(&curve, &points[2], 34.0), 1e-12);
    asked.deadline_s = 200.0;
    advice = ask(&asked);
    expect_message(&advice.reasons, "deadline_met",
                   "1 executor finishes within 3 min 20 s with a probability of more than 99.9 %.");
    asked.deadline_s = 19.2;
    advice = ask(&asked);
    (void)snprintf(text, sizeof text,
                   "No allowed executor count meets the deadline of 19.2 s with a probability of "
                   "95 %%; 10 executors meet "
                   "it with a probability of %s, which is the most probable count.",
                   quantity_probability(curve_probability(&curve, &points[9], 19.2)).text);
    expect_message(&advice.reasons, "deadline_at_risk", text);
    asked.deadline_s = 12.0;
    advice = ask(&asked);
    expect_message(
        &advice.reasons, "deadline_missed",
        "No allowed executor count is predicted to finish within 12 s; 10 executors come "
        "nearest with 19 s.");
    asked.billing.per_hour = 3.6;
    asked.max_cost = 0.13; /* 10 m + 90 <= 130: at most 4 executors */
    advice = ask(&asked);
    expect_message(&advice.reasons, "deadline_missed",
                   "No allowed executor count is predicted to finish within 12 s at a cost of at "
                   "most 0.13; 4 executors come nearest with 32.5 s.");
    asked.max_cost = (double)NAN;
    points[8].duration_s = 19.1;
    advice = ask(&asked);
    expect_message(&advice.reasons, "deadline_missed",
                   "No allowed executor count is predicted to finish within 12 s; 9 executors take "
                   "19.1 s, within 2 % of the shortest time allowed (19 s with 10).");
}

/* What the choice is the best by, and of which counts. */
Test(advise, the_objective_in_words)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "It has the fewest executors of all allowed executor counts that meet the "
                   "deadline with the confidence asked.");
    cr_expect_float_eq(evidence(&advice.reasons, "objective", "executor_s"), 130, 1e-9);
    cr_expect_float_eq(evidence(&advice.reasons, "objective", "speedup"), 100 / 32.5, 1e-9);
    cr_expect_float_eq(evidence(&advice.reasons, "objective", "efficiency"), 25 / 32.5, 1e-9);
    asked.deadline_s = (double)NAN;
    advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "Without a deadline, or a last run to compare with, the choice goes by "
                   "efficiency. It is the knee of the curve, the greatest product of speedup and "
                   "efficiency, of all allowed executor counts.");
    asked.objective = ADVISE_MIN_TIME;
    advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "It has the shortest predicted time of all allowed executor counts.");
    asked.objective = ADVISE_MIN_COST;
    advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "It takes the fewest executor seconds of all allowed executor counts.");
    asked.billing = (struct billing){.per_hour = 1, .startup_s = 30};
    advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "It costs the least of all allowed executor counts.");
    asked = question(ADVISE_MIN_EXECUTORS, (double)NAN);
    asked.last_executors = 9;
    asked.tolerance_percent = 10.0;
    advice = ask(&asked);
    expect_message(&advice.reasons, "objective",
                   "Without a deadline: the fewest executor seconds of all allowed executor counts "
                   "that are at most 10 % slower than the last run's 9 (20 s).");
    asked.max_executors = 4;
    advice = ask(&asked);
    expect_message(
        &advice.reasons, "objective",
        "Without a deadline the last run's 9 executors (20 s) are the measure; no allowed count is "
        "predicted to be less than 10 % slower, so it is one near the fastest.");
    expect_message(&advice.warnings, "slower_than_last_run",
                   "The job is predicted to take 62.5 % longer than with the last run's 9 "
                   "executors, which are not allowed.");
}

/* Predicted to be met, by none with confidence: the fewest within two points of the best. */
Test(advise, at_risk)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 19.2);
    struct advice advice = ask(&asked); /* 10 executors: 19 s */
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_lt(advice.recommendation.deadline_probability, 0.95);
    cr_assert_str_eq(advice.reasons.items[0].code, "deadline_at_risk");
    cr_assert(!has(&advice.reasons, "objective"));
    cr_assert_eq(advice.remedies.max_executors, 11); /* 18.2 s */
    /* Six executors nearly as fast as ten are as good. */
    points[5].duration_s = 19.002;
    advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 6);
    cr_assert_eq(evidence(&advice.reasons, "deadline_at_risk", "best_executors"), 10.0);
    cr_assert_geq(advice.recommendation.deadline_probability,
                  evidence(&advice.reasons, "deadline_at_risk", "best_probability") - 0.02);
}

/* Seven executors, as in the last run, meet it with 0.474, ten with 0.504: they stay. For a gain
 * beyond noise they do not. */
Test(advise, the_last_run_s_count_stays_for_a_gain_within_noise)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 16.0);
    asked.last_executors = 7;
    points[6].duration_s = 16.0216;
    points[9].duration_s = 15.9968;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_assert_eq(advice.recommendation.executors, 7);
    cr_assert_float_eq(advice.recommendation.deadline_probability, 0.474, 0.001);
    cr_assert_float_eq(evidence(&advice.reasons, "deadline_at_risk", "best_probability"), 0.504,
                       0.001);
    cr_assert(
        strstr(message(&advice.reasons, "deadline_at_risk"),
               "7 executors meet it with a probability of 47.3 %, which is within 5 points of the "
               "best, 50.3 % with 10 executors: the last run's count stays for so small a gain.") !=
            NULL,
        "%s", message(&advice.reasons, "deadline_at_risk"));
    points[6].duration_s = 16.08;
    advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert(strstr(message(&advice.reasons, "deadline_at_risk"),
                     "which is the most probable count; 7, as in the last run, have 40.4 %.") !=
                  NULL,
              "%s", message(&advice.reasons, "deadline_at_risk"));
    /* Missed: 4 percent more time is noise, 6 percent is not. */
    asked.deadline_s = 12.0;
    points[6].duration_s = 1.04 * 15.9968;
    advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_MISSED);
    cr_assert_eq(advice.recommendation.executors, 7);
    points[6].duration_s = 1.06 * 15.9968;
    cr_assert_eq(ask(&asked).recommendation.executors, 10);
}

/* Half as likely twice as long: on runs of one count more executors are a guess, named and not taken;
 * where runs had up to 12, they are what meets the deadline. */
Test(advise, a_slowdown_is_not_answered_by_a_guess)
{
    struct curve_point slow[POINTS];
    struct curve other = curve;
    for (size_t i = 0; i < POINTS; i++) {
        slow[i] = points[i];
        slow[i].duration_s *= 2;
    }
    other.points = slow;
    curve.other = &other;
    curve.other_weight = 0.5;
    curve.distinct_cores = 1;
    curve.least_cores = curve.most_cores = 16;
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 40.0);
    asked.last_executors = 4;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert_float_eq(advice.recommendation.deadline_probability, 0.5, 0.01);
    cr_assert_gt(advice.recommendation.upper_s, 65);
    cr_assert_eq(evidence(&advice.reasons, "slowdown_unsupported", "guess_executors"), 10.0);
    cr_assert_eq(evidence(&advice.reasons, "slowdown_unsupported", "usual_executors"), 4.0);
    cr_assert(strstr(
        message(&advice.reasons, "slowdown_unsupported"),
        "That more executors help is a guess, because all runs had the same number of cores"));
    /* 9 executors take 40 s at the slow level: that they suffice is likely by 0.5 + 0.5 / 2. */
    asked.confidence = 0.7;
    advice = ask(&asked);
    cr_assert_eq(advice.slowdown.guess_executors, 9);
    cr_assert_float_eq(advice.slowdown.guess_probability, 0.75, 0.001);
    asked.confidence = 0.95;
    /* The number of executors of runs that were all alike supports no more than that. */
    curve.least_cores = curve.most_cores = 48;
    asked.last_executors = RUN_UNKNOWN;
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
    curve.least_cores = curve.most_cores = 16;
    asked.last_executors = 4;
    /* The likelier level may be the slow one: the usual one still says how many there would be. */
    curve.points = slow;
    other.points = points;
    curve.other_is_usual = true;
    curve.other_weight = 0.25;
    advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_assert_float_eq(advice.recommendation.deadline_probability, 0.25, 0.01);
    cr_assert_float_eq(advice.recommendation.predicted_duration_s, 65, 1e-9);
    cr_assert_eq(evidence(&advice.reasons, "slowdown_unsupported", "usual_executors"), 4.0);
    /* Counts that the curve lacks, because they would make other jobs late, bound nothing. */
    curve.points = slow + 5;
    curve.n_points = POINTS - 5;
    cr_assert_eq(ask(&asked).recommendation.executors, 6);
    curve.n_points = POINTS;
    curve.points = points;
    other.points = slow;
    curve.other_is_usual = false;
    curve.other_weight = 0.5;
    /* A deadline that both levels meet is met. */
    asked.deadline_s = 100;
    advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_MET);
    cr_assert_leq(advice.recommendation.executors, 4);
    cr_assert(!has(&advice.reasons, "slowdown_unsupported"));
    /* Runs on up to 12 executors support ten. */
    asked.deadline_s = 40;
    curve.distinct_cores = other.distinct_cores = 4;
    curve.least_cores = 4;
    curve.most_cores = 48;
    advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_MET);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_str_eq(
        message(&advice.reasons, "slowdown_answered"),
        "The newest runs were slower than expected: 10 executors are recommended instead "
        "of 4, and there are runs on 1 to 12 executors.");
    /* Without a deadline there is nothing to miss. */
    asked.deadline_s = (double)NAN;
    advice = ask(&asked);
    cr_assert(!has(&advice.reasons, "slowdown_answered"));
}

/* Not even predicted: the nearest, and what would do. */
/* Runs that missed the deadline limit the probability: the reply names them for the recommended count,
 * and for a count that they exclude. */
Test(advise, late_runs_are_named)
{
    double durations_s[] = {34.9, 36, 37}, weights[] = {1, 1, 1};
    struct same_runs late = {durations_s + 1, weights, 2}, in_time = {durations_s, weights, 1};
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 35);
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
    points[0].ran = &late; /* 100 s: nothing is promised there */
    points[3].ran = &in_time;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert(!has(&advice.reasons, "late_runs"));
    points[3].ran = &late;
    advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 6);
    cr_assert_str_eq(message(&advice.reasons, "late_runs"),
                     "2 runs of this size on 4 executors took longer than the deadline, 0 met it: "
                     "the probability there is at most 16.6 %.");
    const struct finding *note = finding_find(&advice.reasons, "late_runs");
    cr_expect_eq(finding_value(note, "executors"), 4);
    cr_expect_eq(finding_value(note, "runs_late"), 2);
    cr_expect_eq(finding_value(note, "runs_in_time"), 0);
    cr_expect_float_eq(finding_value(note, "probability_at_most"), 1 / 6.0, 1e-12);
    late = (struct same_runs){durations_s, weights, 2};
    asked.max_executors = 4;
    advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_expect_float_eq(advice.recommendation.deadline_probability, 0.5, 1e-12);
    cr_assert_str_eq(message(&advice.reasons, "late_runs"),
                     "1 run of this size on 4 executors took longer than the deadline, 1 met it: "
                     "the probability there is at most 50 %.");
    asked.deadline_s = (double)NAN;
    advice = ask(&asked);
    cr_assert(!has(&advice.reasons, "late_runs"));
}

/* What a replay leaves out is named if it cost 1 % of the task time, or if executors were excluded. */
Test(advise, attempts_that_are_not_simulated)
{
    const struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 35);
    struct advice advice = ask(&asked);
    cr_assert(!has(&advice.warnings, "attempts_not_simulated"));
    curve.attempts_s = 12.5;
    curve.attempts_share = 0.009;
    advice = ask(&asked);
    cr_assert(!has(&advice.warnings, "attempts_not_simulated"));
    curve.attempts_share = 0.05;
    advice = ask(&asked);
    cr_assert_str_eq(message(&advice.warnings, "attempts_not_simulated"),
                     "The nearest run had 12.5 s of tasks (5 %) in attempts that failed or lost "
                     "against a copy. The replay does not simulate them: the time that they cost "
                     "counts as overhead of tasks or as time of the driver.");
    curve.executors_excluded = 2;
    advice = ask(&asked);
    cr_assert(strstr(message(&advice.warnings, "attempts_not_simulated"),
                     " against a copy and 2 excluded executors. ") != NULL);
    curve.attempts_share = (double)NAN;
    advice = ask(&asked);
    cr_assert(strstr(message(&advice.warnings, "attempts_not_simulated"),
                     "had 2 excluded executors. ") != NULL);
    curve.model_kind = "amdahl"; /* which was fitted to durations, with all that they hold */
    advice = ask(&asked);
    cr_assert(!has(&advice.warnings, "attempts_not_simulated"));
}

Test(advise, infeasible_with_remedies)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 18.5);
    struct advice advice = ask(&asked);
    cr_assert((advice.verdict != ADVISE_MET));
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_eq(advice.remedies.max_executors,
                 12); /* 17.5 s, with confidence; 11 only predicted */
    asked.deadline_s = advice.remedies.deadline_s * (1.0 + 1e-9);
    advice = ask(&asked);
    cr_assert((advice.verdict == ADVISE_MET));
    asked.deadline_s = 10.0; /* the serial part alone */
    cr_assert_eq(ask(&asked).remedies.max_executors, RUN_UNKNOWN);
}

/* m T(m) = 10 m + 90 grows: one executor is cheapest; with a deadline the fewest that meet it. */
Test(advise, min_cost)
{
    struct advise_goal asked = question(ADVISE_MIN_COST, (double)NAN);
    asked.billing.per_hour = 3.6;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 1);
    cr_assert_float_eq(advice.recommendation.cost, 0.1, 1e-12);
    asked.deadline_s = 34.0;
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
}

/* The peak is at the most executors; within a percent of it fewer do not exist on this curve. */
Test(advise, min_time_and_max_speedup)
{
    struct advise_goal asked = question(ADVISE_MIN_TIME, (double)NAN);
    cr_assert_eq(ask(&asked).recommendation.executors, 10);
    asked.objective = ADVISE_MAX_SPEEDUP;
    cr_assert_eq(ask(&asked).recommendation.executors, 10);
    points[8].duration_s = 19.1; /* 9 executors: within a percent of 19 s */
    cr_assert_eq(ask(&asked).recommendation.executors, 9);
    asked.objective = ADVISE_MIN_TIME;
    cr_assert_eq(ask(&asked).recommendation.executors, 10);
}

/* S^2/m = (100 / T)^2 / m with T = 10 + 90/m is largest at m = 9 (10 m = 90). */
Test(advise, efficiency_is_the_knee)
{
    struct advise_goal asked = question(ADVISE_EFFICIENCY, (double)NAN);
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 9);
    asked.objective = ADVISE_MIN_EXECUTORS; /* without a deadline: the same, and said */
    advice = ask(&asked);
    cr_assert_eq(advice.objective, ADVISE_EFFICIENCY);
    cr_assert_eq(advice.recommendation.executors, 9);
}

/* Too late anyway: two percent of time are not worth six times the executors. */
Test(advise, infeasible_recommends_the_fewest_near_the_fastest)
{
    for (int64_t m = 1; m <= POINTS; m++)
        points[m - 1].duration_s = m < 3 ? 60.0 : 50.0 - 0.1 * (double)m;
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 20.0);
    struct advice advice = ask(&asked); /* 10: 49.0; 3: 49.7, within 49.98 */
    cr_assert((advice.verdict != ADVISE_MET));
    cr_assert_eq(advice.recommendation.executors, 3);
    cr_assert_eq(evidence(&advice.reasons, "deadline_missed", "fastest_executors"), 10.0);
    cr_assert_eq(evidence(&advice.reasons, "deadline_missed", "fastest_duration_s"), 49.0);
    cr_assert_not_null(strstr(message(&advice.reasons, "deadline_missed"), "within 2 %"));
}

/* The work the cores share is told apart from the overhead that the calibration added. */
Test(advise, bound_tells_recorded_work_from_overhead)
{
    for (size_t i = 0; i < POINTS; i++) {
        points[i].work_s = 500.0;
        points[i].recorded_work_s = 200.0;
        points[i].overhead_per_task_s = 3.0;
        points[i].tasks = 100.0;
    }
    struct advise_goal asked = question(ADVISE_MIN_TIME, (double)NAN);
    struct advice advice = ask(&asked);
    cr_assert_eq(evidence(&advice.reasons, "bound", "recorded_work_s"), 200.0);
    cr_assert_eq(evidence(&advice.reasons, "bound", "task_overhead_s"), 3.0);
    cr_assert_not_null(strstr(message(&advice.reasons, "bound"),
                              "8 min 20 s of work, 5 min are overhead of tasks (3 s a task)"));
}

static const char *bound_by(const struct advice *advice)
{
    return find(&advice->reasons, "bound")->evidence[0].text;
}

/* A long task of a stage that is cut to the cores is no straggler. */
Test(advise, a_stage_taken_to_follow_the_cores_is_no_straggler)
{
    for (size_t i = 0; i < POINTS; i++) {
        points[i].work_s = 40.0;
        points[i].critical_path_s = 20.0;
        points[i].longest_task_s = 19.0;
        points[i].longest_stage_id = 7;
        points[i].longest_is_cut_anew = true;
        points[i].longest_follows_cores = true;
    }
    struct advise_goal asked = question(ADVISE_MIN_TIME, (double)NAN);
    curve.stages_assumed = 1;
    struct advice advice = ask(&asked);
    cr_assert_str_eq(bound_by(&advice), "stage_cut_to_cores");
    cr_assert_str_eq(message(&advice.reasons, "bound"),
                     "The duration is mostly the longest task of stage 7, whose number of tasks is "
                     "taken to follow the cores.");
    cr_assert_eq(evidence(&advice.reasons, "bound", "stage_id"), 7.0);
    cr_assert_eq(evidence(&advice.warnings, "stages_assumed_to_follow_cores", "stages"), 1.0);
    for (size_t i = 0; i < POINTS; i++)
        points[i].longest_is_cut_anew = points[i].longest_follows_cores = false;
    curve.stages_assumed = 0;
    advice = ask(&asked);
    cr_assert_str_eq(bound_by(&advice), "straggler");
    cr_assert_str_eq(message(&advice.reasons, "bound"),
                     "The duration is mostly a single long task of stage 7, which executors do not "
                     "shorten.");
    cr_assert(!has(&advice.warnings, "stages_assumed_to_follow_cores"));
}

/* Each kind of bound, at its border: half of the longest chain, the share of a core, the chain. */
Test(advise, what_bounds_a_duration_is_said_with_its_figures)
{
    static const struct {
        double fixed_s, critical_path_s, longest_task_s;
        const char *kind, *message;
    } cases[] = {
        {20, 20, 0, "serial_part",
         "The duration is mostly the time outside any stage (start and driver), which executors do "
         "not shorten."},
        {19, 20, 10, "critical_path",
         "The duration is mostly the chain of stages with their longest tasks."},
        {19, 20, 10.5, "straggler",
         "The duration is mostly a single long task of stage 3, which executors do not shorten."},
        {5, 5, 5, "work",
         "The duration is mostly work shared among the cores, which more cores shorten."},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < POINTS; i++) {
            points[i].work_s = 5.0 * (double)points[i].executors * (double)curve.cores_per_executor;
            points[i].work_per_slot_s = 5.0;
            points[i].fixed_s = cases[c].fixed_s;
            points[i].critical_path_s = cases[c].critical_path_s;
            points[i].longest_task_s = cases[c].longest_task_s;
            points[i].longest_stage_id = 3;
            points[i].tasks = 0;
        }
        struct advise_goal asked = question(ADVISE_MIN_TIME, (double)NAN);
        struct advice advice = ask(&asked);
        cr_expect_str_eq(bound_by(&advice), cases[c].kind, "case %zu: %s", c, bound_by(&advice));
        cr_expect_str_eq(message(&advice.reasons, "bound"), cases[c].message);
        cr_expect_eq(evidence(&advice.reasons, "bound", "serial_s"), cases[c].fixed_s);
        cr_expect_eq(evidence(&advice.reasons, "bound", "critical_path_s"),
                     cases[c].critical_path_s);
        cr_expect_eq(evidence(&advice.reasons, "bound", "work_per_core_s"), 5.0);
        cr_expect_eq(evidence(&advice.reasons, "bound", "longest_task_s"), cases[c].longest_task_s);
    }
}

static struct advice look_beside(double deadline_s, const struct joint_outcome *outcome, size_t n)
{
    static const char *const names[] = {"hourly", "daily"};
    static const struct joint_running running[] = {{.deadline_s = 30.0}, {.deadline_s = 40.0}};
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, deadline_s);
    struct advice advice = ask(&asked);
    struct joint_question beside = {
        .deadline_s = deadline_s, .running = running, .n_running = n, .cores = 40};
    struct pv_error err = {0};
    cr_assert_eq(joint_feasibility_explain(&beside, outcome, names, &arena, &advice, &err), PV_OK);
    return advice;
}

/* What stops the job stands first; what was found without the others says so. */
Test(advise, missed_beside_running_comes_first)
{
    struct joint_standing late[] = {{false, false, 50.0, 0}, {false, false, 60.0, 0}};
    struct joint_outcome outcome = {
        .running = late, .met = false, .execution_s = 57.5, .alone_s = 31.0};
    struct advice advice = look_beside(34.0, &outcome, 1);
    cr_assert((advice.verdict != ADVISE_MET));
    cr_assert_str_eq(advice.reasons.items[0].code, "missed_beside_running");
    cr_assert(has(&advice.reasons, "deadline_met_alone") &&
              has(&advice.reasons, "objective_alone"));
    cr_assert(!has(&advice.reasons, "deadline_met") && !has(&advice.reasons, "objective"));
    cr_assert_eq(strncmp(message(&advice.reasons, "deadline_met_alone"), "Alone", 5), 0);
    cr_assert_eq(evidence(&advice.reasons, "missed_beside_running", "cores"), 40.0);
    cr_assert_eq(evidence(&advice.reasons, "missed_beside_running", "execution_s"), 57.5);
    cr_assert_eq(evidence(&advice.reasons, "missed_beside_running", "alone_s"), 31.0);
    cr_assert_not_null(strstr(message(&advice.reasons, "missed_beside_running"), "no cap"));

    outcome.met = true;
    advice = look_beside(34.0, &outcome, 1);
    cr_assert((advice.verdict == ADVISE_MET));
    cr_assert_str_eq(advice.reasons.items[0].code, "deadline_met");
    outcome.met = false;
    advice = look_beside(10.0, &outcome, 1); /* alone neither */
    cr_assert_str_eq(advice.reasons.items[0].code, "deadline_missed");
}

/* One job misses, two miss. */
Test(advise, late_jobs_in_words)
{
    struct joint_standing late[] = {{false, false, 50.0, 0}, {false, false, 60.0, 0}};
    struct joint_outcome outcome = {.running = late, .met = true};
    struct advice advice = look_beside(34.0, &outcome, 1);
    cr_assert_not_null(
        strstr(message(&advice.warnings, "running_jobs_late"), "1 running job misses"));
    advice = look_beside(34.0, &outcome, 2);
    cr_assert_not_null(
        strstr(message(&advice.warnings, "running_jobs_late"), "2 running jobs miss the"));
    late[0].met_alone = late[1].met_alone = true;
    advice = look_beside(34.0, &outcome, 1);
    cr_assert_not_null(
        strstr(message(&advice.warnings, "running_jobs_delayed"), "1 running job would miss"));
}

/* Constraints that leave nothing are a fault of the request. */
Test(advise, unsatisfiable_constraints)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice;
    struct pv_error err = {0};
    asked.billing.per_hour = 3.6;
    asked.max_cost = 0.05;
    cr_assert_eq(advise(&curve, &asked, &arena, &advice, &err), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/constraints/max_cost");
    asked.max_cost = 0.13; /* 10 m + 90 <= 130: at most 4 executors */
    asked.objective = ADVISE_MIN_TIME;
    asked.deadline_s = (double)NAN;
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
}

/* Without a deadline: at least cost, and not slower than the last run by more than the tolerance. */
Test(advise, without_a_deadline_the_last_run_is_the_measure)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, (double)NAN);
    asked.last_executors = 9; /* 20 s; 8 take 21.25 s, 7 22.9 s */
    asked.tolerance_percent = 10.0;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_MET);
    cr_assert_eq(advice.objective, ADVISE_MIN_COST);
    cr_assert_eq(advice.recommendation.executors, 8);
    cr_assert_eq(evidence(&advice.reasons, "objective", "last_predicted_duration_s"), 20.0);
    asked.tolerance_percent = 0.0;
    cr_assert_eq(ask(&asked).recommendation.executors, 9);
    asked.max_executors = 4; /* none is near: the fastest, and a warning */
    advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert(has(&advice.warnings, "slower_than_last_run"));
    asked.objective = ADVISE_EFFICIENCY; /* asked for: followed */
    cr_assert_eq(ask(&asked).objective, ADVISE_EFFICIENCY);
}

/* A speedup beyond the executors is reported as such. */
Test(advise, superlinear_speedup_is_reported)
{
    struct advise_goal asked = question(ADVISE_MIN_TIME, (double)NAN);
    struct advice advice = ask(&asked);
    cr_assert(!has(&advice.warnings, "superlinear_speedup"));
    curve.single_s = 1000.0;
    advice = ask(&asked);
    cr_assert_float_eq(evidence(&advice.warnings, "superlinear_speedup", "speedup"), 1000.0 / 19.0,
                       1e-9);
}

/* Stages that may follow the cores: one run decides, on the executors recommended where both
 * hypotheses differ, else on half as many as ran. The warning has both durations. */
Test(advise, names_the_run_that_decides_about_stages)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 25.0);
    curve.stages_assumed = 1;
    curve.nearest_executors = 5;
    points[7].centres[0] = (struct predictive_centre){14.0, 0.6};
    points[7].centres[1] = (struct predictive_centre){30.0, 0.4};
    points[7].n_centres = 2;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 7);
    cr_assert_eq(advice.data_needed_runs, 1);
    cr_assert_eq(advice.n_data_needed, 1);
    cr_assert_eq(advice.data_needed_executors[0], 2);
    cr_assert_float_eq(advice.data_needed_problem_size, 64.0, 0.0);
    asked.min_executors = asked.max_executors = 8;
    points[7].duration_s = 21.25;
    advice = ask(&asked);
    cr_assert_eq(advice.verdict, ADVISE_AT_RISK);
    cr_assert_float_eq(advice.recommendation.deadline_probability, 0.6, 1e-3);
    cr_assert_eq(advice.data_needed_executors[0], 8);
    cr_assert_float_eq(
        evidence(&advice.warnings, "stages_assumed_to_follow_cores", "otherwise_duration_s"), 30.0,
        0.0);
    cr_assert_not_null(strstr(message(&advice.warnings, "stages_assumed_to_follow_cores"),
                              "8 executors take 14 s if it does (probability 60 %), else 30 s."));
    points[7].n_centres = 0;
    curve.nearest_executors = 1;
    advice = ask(&asked);
    cr_assert_eq(advice.n_data_needed, 0, "no allowed count differs");
}

/* Beyond the one size that ran: a run of the size asked for. Sizes within 5 % are one. */
Test(advise, names_the_size_that_shows_growth)
{
    struct advise_goal asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    curve.problem_size = 128;
    curve.size_extrapolated = true;
    curve.most_size = 66;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.data_needed_runs, 1);
    cr_assert_eq(advice.n_data_needed, 1);
    cr_assert_eq(advice.data_needed_executors[0], advice.recommendation.executors);
    cr_assert_float_eq(advice.data_needed_problem_size, 128.0, 0.0);
    curve.most_size = 100;
    cr_assert_eq(ask(&asked).data_needed_runs, 0);
    curve.runs = 2;
    cr_assert_eq(ask(&asked).data_needed_runs, 3);
    /* All runs on one number of cores, if nothing else is short. */
    curve.runs = 6;
    curve.distinct_cores = 1;
    cr_assert_eq(ask(&asked).data_needed_runs, 1);
    cr_assert_not_null(strstr(ask(&asked).data_needed_why, "same number of cores"));
}

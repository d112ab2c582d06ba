#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "core/advice/advise.h"
#include "core/history/run.h"

/* A curve by hand: T(m) = 10 + 90/m, but m = 5 is an anomaly (slower than 4). Tight spread. */
enum { POINTS = 12 };
static struct curve_point points[POINTS];
static struct curve curve;
static struct arena arena;

static double law(int64_t m)
{
    return m == 5 ? 34.0 : 10.0 + 90.0 / (double)m;
}

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    curve = (struct curve){.points = points,
                           .n_points = POINTS,
                           .problem_size = 64,
                           .cores_per_executor = 4,
                           .single_s = law(1),
                           .freedom = 8.0,
                           .runs = 6,
                           .loo_mape_percent = 2.0,
                           .least_size = 64,
                           .most_size = 64,
                           .least_cores = 4,
                           .most_cores = 48,
                           .distinct_cores = 4};
    for (int64_t m = 1; m <= POINTS; m++)
        points[m - 1] = (struct curve_point){.executors = m, .duration_s = law(m), .spread = 0.02};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(advise, .init = set_up, .fini = tear_down, .timeout = 20);

static struct advise_question question(enum advise_objective objective, double deadline_s)
{
    return (struct advise_question){.objective = objective,
                                    .deadline_s = deadline_s,
                                    .confidence = 0.95,
                                    .min_executors = 1,
                                    .max_executors = 10,
                                    .price_per_executor_hour = (double)NAN,
                                    .max_cost = (double)NAN};
}

static struct advice ask(const struct advise_question *asked)
{
    struct advice advice;
    struct pv_error err = {0};
    cr_assert_eq(advise(&curve, asked, &arena, &advice, &err), PV_OK, "%s", err.detail);
    return advice;
}

static bool has(const struct note_list *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->items[i].code, code) == 0)
            return true;
    return false;
}

/* 34 s: 4 executors need 32.5 s; the spread of 2 percent wants about 4 percent of room: 4 it is. */
Test(advise, least_executors_with_confidence)
{
    struct advise_question asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice = ask(&asked);
    cr_assert(advice.feasible);
    cr_assert_eq(advice.recommendation.executors, 4);
    cr_assert_geq(advice.recommendation.deadline_probability, 0.95);
    cr_assert(has(&advice.reasons, "deadline_met") && has(&advice.reasons, "objective"));
    cr_assert(!has(&advice.warnings, "below_confidence"));
    /* 33.2 s leaves 4 executors too little room, 5 are slower still: 6. A bisection would err. */
    asked.deadline_s = 33.2;
    cr_assert_eq(ask(&asked).recommendation.executors, 6);
}

/* Predicted to be met, by none with confidence: the most probable, and a warning. */
Test(advise, below_confidence)
{
    struct advise_question asked = question(ADVISE_MIN_EXECUTORS, 19.2);
    struct advice advice = ask(&asked); /* 10 executors: 19 s */
    cr_assert(advice.feasible);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_lt(advice.recommendation.deadline_probability, 0.95);
    cr_assert(has(&advice.warnings, "below_confidence"));
}

/* Not even predicted: the nearest, and what would do. */
Test(advise, infeasible_with_remedies)
{
    struct advise_question asked = question(ADVISE_MIN_EXECUTORS, 18.5);
    struct advice advice = ask(&asked);
    cr_assert(!advice.feasible);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_eq(advice.remedies.max_executors,
                 12); /* 17.5 s, with confidence; 11 only predicted */
    asked.deadline_s = advice.remedies.deadline_s * (1.0 + 1e-9);
    advice = ask(&asked);
    cr_assert(advice.feasible && !has(&advice.warnings, "below_confidence"));
    asked.deadline_s = 10.0; /* the serial part alone */
    cr_assert_eq(ask(&asked).remedies.max_executors, RUN_UNKNOWN);
}

/* m T(m) = 10 m + 90 grows: one executor is cheapest; with a deadline the fewest that meet it. */
Test(advise, min_cost)
{
    struct advise_question asked = question(ADVISE_MIN_COST, (double)NAN);
    asked.price_per_executor_hour = 3.6;
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 1);
    cr_assert_float_eq(advice.recommendation.cost, 0.1, 1e-12);
    asked.deadline_s = 34.0;
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
}

/* The peak is at the most executors; within a percent of it fewer do not exist on this curve. */
Test(advise, min_time_and_max_speedup)
{
    struct advise_question asked = question(ADVISE_MIN_TIME, (double)NAN);
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
    struct advise_question asked = question(ADVISE_EFFICIENCY, (double)NAN);
    struct advice advice = ask(&asked);
    cr_assert_eq(advice.recommendation.executors, 9);
    asked.objective = ADVISE_MIN_EXECUTORS; /* without a deadline: the same, and said */
    advice = ask(&asked);
    cr_assert_eq(advice.objective, ADVISE_EFFICIENCY);
    cr_assert_eq(advice.recommendation.executors, 9);
}

/* The front holds no point that another beats in both time and executor seconds. */
Test(advise, alternatives_are_the_pareto_front)
{
    struct advise_question asked = question(ADVISE_MIN_EXECUTORS, 34.0);
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

/* Constraints that leave nothing are a fault of the request. */
Test(advise, unsatisfiable_constraints)
{
    struct advise_question asked = question(ADVISE_MIN_EXECUTORS, 34.0);
    struct advice advice;
    struct pv_error err = {0};
    asked.price_per_executor_hour = 3.6;
    asked.max_cost = 0.05;
    cr_assert_eq(advise(&curve, &asked, &arena, &advice, &err), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/constraints/max_cost");
    asked.max_cost = 0.13; /* 10 m + 90 <= 130: at most 4 executors */
    asked.objective = ADVISE_MIN_TIME;
    asked.deadline_s = (double)NAN;
    cr_assert_eq(ask(&asked).recommendation.executors, 4);
}

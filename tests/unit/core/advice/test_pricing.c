/* Prices and interruptions against numbers worked by hand, and laws that hold for any. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/advice/interruption.h"
#include "core/advice/pricing.h"
#include "core/history/run.h"

/* T(m) = 10 h / m: the work is 10 executor hours on every count. */
enum { POINTS = 10 };
static struct curve_point points[POINTS];
static struct curve curve;
static struct arena arena;
static struct advise_goal question;
static struct pricing_terms terms;
static struct curve used;
static struct advice advice;
static struct pricing pricing;
static struct pv_error err;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    curve = (struct curve){.points = points,
                           .n_points = POINTS,
                           .problem_size = 64,
                           .cores_per_executor = 4,
                           .single_s = 36000,
                           .freedom = 8.0,
                           .runs = 6,
                           .least_cores = 4,
                           .most_cores = 40,
                           .least_size = 64,
                           .most_size = 64,
                           .nearest_run_id = "run-7"};
    for (int64_t m = 1; m <= POINTS; m++)
        points[m - 1] =
            (struct curve_point){.executors = m, .duration_s = 36000.0 / (double)m, .spread = 0.02};
    question = (struct advise_goal){.objective = ADVISE_MIN_EXECUTORS,
                                    .deadline_s = (double)NAN,
                                    .confidence = 0.95,
                                    .min_executors = 1,
                                    .max_executors = POINTS,
                                    .price_per_executor_hour = (double)NAN,
                                    .max_cost = (double)NAN};
    terms = (struct pricing_terms){.has_price = true,
                                   .price = {0.25, 0.10, 0.1},
                                   .source = PRICING_OF_MACHINE_TYPE,
                                   .currency = "EUR",
                                   .book = "b",
                                   .subject = "m5"};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(pricing, .init = set_up, .fini = tear_down, .timeout = 20);

static enum pv_code ask(enum pricing_market market)
{
    terms.market = market;
    pv_error_clear(&err);
    return pricing_advise(&curve, &question, &terms, &arena, &used, &advice, &pricing, &err);
}

static const struct finding *find(const struct findings *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->items[i].code, code) == 0)
            return &notes->items[i];
    return NULL;
}

/* --- interruptions --- */

/* a = 0.1 in 1 h: (e^0.1 - 1) h = 1.0517091807564763 h; Var = 2 e^0.1 (sinh 0.1 - 0.1) / 0.01 h^2 =
 * 0.0368574384... h^2, over 10 executors. */
Test(pricing, interruptions_by_hand)
{
    cr_assert_float_eq(interruption_expected_s(3600, 0.1), 3600 * 1.0517091807564763, 1e-9);
    cr_assert_float_eq(interruption_deviation_s(3600, 0.1, 10), 3600 * 0.060710, 3600 * 2e-6);
    /* a = 2: e^2 - 1 over 2; Var = 2 e^2 (sinh 2 - 2) / 4. */
    cr_assert_float_eq(interruption_expected_s(7200, 1), 3600 * 6.38905609893065, 1e-8);
    cr_assert_float_eq(interruption_deviation_s(7200, 1, 1),
                       3600 * sqrt(2 * 7.38905609893065 * (3.626860407847019 - 2)), 1e-8);
    cr_assert_eq(interruption_expected_s(3600, 0), 3600);
    cr_assert_eq(interruption_deviation_s(3600, 0, 4), 0);
}

/* Small exposures: T (1 + a/2) and T sqrt(a / 3), where the closed forms cancel. */
Test(pricing, rare_interruptions_keep_their_digits)
{
    double hours = 2, rate = 1e-9, a = hours * rate;
    double longer = interruption_expected_s(3600 * hours, rate) / (3600 * hours) - 1;
    cr_assert_float_eq(longer / (a / 2), 1, 1e-6);
    cr_assert_float_eq(interruption_deviation_s(3600 * hours, rate, 1) / 3600, hours * sqrt(a / 3),
                       1e-13);
    /* Where the series hands over to the closed form both agree. */
    double below = interruption_deviation_s(3600, 0.1, 1);
    double above = interruption_deviation_s(3600, 0.1 * (1 + 1e-9), 1);
    cr_assert_float_eq(above / below, 1, 1e-8);
}

/* The process itself, simulated: an executor starts over whenever it is interrupted. */
Test(pricing, interruptions_against_a_simulation)
{
    enum { TRIALS = 200000, EXECUTORS = 4 };
    const double work_s = 5000, rate_per_s = 0.4 / 3600;
    struct rng rng = rng_make(7, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < TRIALS; i++) {
        double total = 0;
        for (int m = 0; m < EXECUTORS; m++)
            for (;;) {
                double until = -log1p(-rng_uniform(&rng)) / rate_per_s;
                total += until < work_s ? until : work_s;
                if (until >= work_s)
                    break;
            }
        double mean = total / EXECUTORS;
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / TRIALS;
    double deviation = sqrt(squares / TRIALS - mean * mean);
    /* Four standard errors of the mean; a deviation is known to about half a percent. */
    cr_assert_float_eq(interruption_expected_s(work_s, 0.4), mean,
                       4 * deviation / sqrt((double)TRIALS));
    cr_assert_float_eq(interruption_deviation_s(work_s, 0.4, EXECUTORS) / deviation, 1, 0.01);
}

Test(pricing, a_curve_under_interruptions_is_slower_and_wider_everywhere)
{
    struct curve out;
    cr_assert_eq(interruption_curve(&curve, 0.3, &arena, &out, NULL), PV_OK);
    cr_assert_eq(out.n_points, (size_t)POINTS);
    for (size_t i = 0; i < out.n_points; i++) {
        cr_assert_gt(out.points[i].duration_s, points[i].duration_s);
        cr_assert_gt(out.points[i].spread, points[i].spread);
        cr_assert_lt(curve_probability(&out, &out.points[i], points[i].duration_s * 1.01),
                     curve_probability(&curve, &points[i], points[i].duration_s * 1.01));
    }
    cr_assert_eq(interruption_curve(&curve, 0, &arena, &out, NULL), PV_OK);
    for (size_t i = 0; i < POINTS; i++) {
        cr_assert_eq(out.points[i].duration_s, points[i].duration_s);
        cr_assert_eq(out.points[i].spread, points[i].spread);
    }
    /* 10 h on one executor at 3 an hour: 30 times over, never; 2 executors: 15. */
    cr_assert_eq(interruption_curve(&curve, 3, &arena, &out, NULL), PV_OK);
    cr_assert_eq(out.n_points, (size_t)POINTS - 1);
    cr_assert_eq(out.points[0].executors, 2);
}

/* Points of a model bring a distribution of their own: each part of it widens, and one that has no
 * spread at all gets that of the interruptions. */
Test(pricing, own_distributions_widen_too)
{
    struct score_table scores = {
        .scores = {0.01, 0.05}, .levels = {0.4, 0.8}, .n = 2, .spread = 0.04, .freedom = 2};
    struct score_table exact = {.scores = {0}, .levels = {0.5}, .n = 1, .spread = 0, .freedom = 1};
    struct predictive own[3] = {
        {.predicted_s = 3600}, {.predicted_s = 3600}, {.predicted_s = 3600}};
    struct curve out;
    predictive_add(&own[0], (struct predictive_part){PREDICTIVE_LOG_SCORES, 1, 0, &scores});
    predictive_add(&own[0], (struct predictive_part){PREDICTIVE_LOG_STUDENT, 0.03, 5, NULL});
    predictive_add(&own[1], (struct predictive_part){PREDICTIVE_STUDENT, 100, 5, NULL});
    predictive_add(&own[2], (struct predictive_part){PREDICTIVE_LOG_SCORES, 1, 0, &exact});
    for (size_t k = 0; k < 3; k++) {
        points[9].own = &own[k];
        cr_assert_eq(interruption_curve(&curve, 0.3, &arena, &out, NULL), PV_OK);
        const struct curve_point *now = &out.points[9];
        cr_assert_eq(now->own->predicted_s, now->duration_s);
        cr_assert_gt(now->duration_s, 3600);
        for (double p = 0.6; p < 0.99; p += 0.1) {
            double before = curve_quantile(&curve, &points[9], p) / 3600;
            double after = curve_quantile(&out, now, p) / now->duration_s;
            cr_assert_gt(after, before, "case %zu at %g", k, p);
        }
        cr_assert_eq(interruption_curve(&curve, 0, &arena, &out, NULL), PV_OK);
        cr_assert_float_eq(curve_quantile(&out, &out.points[9], 0.9),
                           curve_quantile(&curve, &points[9], 0.9), 1e-9);
    }
    /* Interruptions spread either way: what was likelier to take longer is less so. */
    own[1].shorter = 0.4;
    points[9].own = &own[1];
    cr_assert_eq(interruption_curve(&curve, 0.3, &arena, &out, NULL), PV_OK);
    cr_assert(out.points[9].own->shorter > 0.41 && out.points[9].own->shorter < 1, "%g",
              out.points[9].own->shorter);
    cr_assert_eq(interruption_curve(&curve, 0, &arena, &out, NULL), PV_OK);
    cr_assert_float_eq(out.points[9].own->shorter, 0.4, 1e-12);
    own[1].shorter = 0;
    /* 100 s in 3600 under a = 0.3 beside sqrt(Var): in proportion to the longer time. */
    points[9].own = &own[1];
    cr_assert_eq(interruption_curve(&curve, 0.3, &arena, &out, NULL), PV_OK);
    double longer_s = 3600 * expm1(0.3) / 0.3;
    double wider = hypot(exp(0.3) * 0.3 / expm1(0.3) * 100 / 3600,
                         interruption_deviation_s(3600, 0.3, 10) / longer_s);
    cr_assert_float_eq(out.points[9].own->parts[0].scale, wider * longer_s, 1e-9);
}

/* --- markets --- */

/* 10 executor hours at 0.25. */
Test(pricing, on_demand_by_hand)
{
    question.deadline_s = 8000;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_assert_eq(advice.recommendation.executors, 5);
    cr_assert_float_eq(advice.recommendation.cost, 2.5, 1e-12);
    for (size_t i = 0; i < advice.n_alternatives; i++)
        cr_assert_float_eq(advice.alternatives[i].cost, 2.5, 1e-12);
    cr_assert(pricing.known && pricing.market == PRICING_ON_DEMAND);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    const struct finding *note = find(&advice.reasons, "price");
    cr_assert_not_null(note);
    cr_assert_not_null(strstr(note->message, "0.25 EUR an hour"), "%s", note->message);
    cr_assert_null(find(&advice.reasons, "interruptions"));
}

/*
 * 10 executors, 1 h each, 0.1 an hour: 1.0517091807564763 h at 0.10 cost 1.0517...; the work done
 * again 0.0517...; interruptions expected 10 x 1.0517 x 0.1.
 */
Test(pricing, spot_by_hand)
{
    question.min_executors = 10;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(advice.recommendation.executors, 10);
    cr_assert_float_eq(advice.recommendation.predicted_duration_s, 3600 * 1.0517091807564763, 1e-9);
    cr_assert_float_eq(advice.recommendation.cost, 1.0517091807564763, 1e-12);
    cr_assert_float_eq(pricing.interruption_cost, 0.0517091807564763, 1e-12);
    cr_assert_float_eq(pricing.interruption_s, 186.15305072331468, 1e-9);
    cr_assert_float_eq(pricing.interruptions, 1.0517091807564763, 1e-12);
    cr_assert_float_eq(pricing.on_demand_cost, 2.5, 1e-12);
    cr_assert_eq(pricing.per_executor_hour, 0.10);
    cr_assert_eq(used.points[9].duration_s, advice.recommendation.predicted_duration_s);
    /* Reasons outlive the call, whichever curve they speak of. */
    const struct finding *runs = find(&advice.reasons, "replayed_runs");
    cr_assert_not_null(runs);
    for (size_t i = 0; i < runs->n_evidence; i++)
        if (runs->evidence[i].text != NULL)
            cr_assert_str_eq(runs->evidence[i].text, "run-7");
}

/* Fewer executors are exposed for longer: with interruptions the most executors are cheapest. */
Test(pricing, the_least_cost_knows_of_interruptions)
{
    question.objective = ADVISE_MIN_COST;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_assert_eq(advice.recommendation.executors, 1, "all cost the same: the fewest");
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(advice.recommendation.executors, 10);
}

/* 1.06 allows spot (1.0517), and not on demand (2.5); nothing is allowed below. */
Test(pricing, a_cost_limit_holds_on_either_market)
{
    question.max_cost = 1.06;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/constraints/max_cost");
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_assert(pricing.market == PRICING_SPOT && !pricing.has_other);
    question.max_cost = 1.05;
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/constraints/max_cost");
    cr_assert_eq(err.n_faults, 1u);
}

Test(pricing, cheapest_weighs_both)
{
    question.min_executors = 10;
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_assert(pricing.market == PRICING_SPOT && pricing.has_other);
    cr_assert_float_eq(pricing.other.cost, 2.5, 1e-12);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_assert_not_null(find(&advice.reasons, "market_chosen"));
    /* Dearer than on demand once interrupted: 0.24 x 1.0517 > 0.25. */
    terms.price.spot_per_executor_hour = 0.24;
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_assert(pricing.market == PRICING_ON_DEMAND && pricing.has_other);
    cr_assert_float_eq(pricing.other.cost, 0.24 * 10 * 1.0517091807564763, 1e-12);
}

/* A deadline that ten executors meet, but not when they are interrupted: money does not buy it off.
 */
Test(pricing, cheapest_does_not_risk_the_deadline)
{
    question.deadline_s = 3600 * 1.05;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_neq(advice.verdict, ADVISE_MET);
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_assert(advice.verdict == ADVISE_MET && pricing.market == PRICING_ON_DEMAND);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_assert_not_null(strstr(find(&advice.reasons, "market_chosen")->message, "though it costs"));
}

Test(pricing, a_deadline_at_risk_is_warned_of)
{
    question.deadline_s = 3600 * 1.2;
    question.min_executors = 10;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_gt(pricing.uninterrupted_probability, advice.recommendation.deadline_probability);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    const struct finding *warning = find(&advice.warnings, "spot_deadline_risk");
    cr_assert_not_null(warning);
    /* Far beyond, there is nothing to warn of. */
    question.deadline_s = 360000;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_assert_null(find(&advice.warnings, "spot_deadline_risk"));
}

Test(pricing, what_is_not_known_is_said)
{
    terms.price.interruptions_per_hour = (double)NAN;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(pricing.interruption_cost, 0);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_assert_not_null(find(&advice.warnings, "interruptions_unknown"));
    terms.price.spot_per_executor_hour = (double)NAN;
    cr_assert_eq(ask(PRICING_SPOT), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/market");
    cr_assert_str_eq(err.faults[0].code, "no_spot_price");
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_assert_eq(pricing.market, PRICING_ON_DEMAND);
    terms.has_price = false;
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].code, "required");
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_assert(isnan(advice.recommendation.cost) && !pricing.known);
    terms = (struct pricing_terms){.has_price = true, .price = {1, 1, 3600}};
    cr_assert_eq(ask(PRICING_SPOT), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].code, "unsatisfiable");
}

/* Free executors cost nothing; twice the price is twice the cost. */
Test(pricing, costs_scale_with_prices)
{
    question.deadline_s = 9000;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    double once = advice.recommendation.cost;
    int64_t executors = advice.recommendation.executors;
    terms.price.spot_per_executor_hour *= 2;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(advice.recommendation.executors, executors);
    cr_assert_float_eq(advice.recommendation.cost, 2 * once, 1e-12);
    terms.price.spot_per_executor_hour = 0;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    cr_assert_eq(advice.recommendation.cost, 0);
    cr_assert_eq(pricing_cost(3, 1800, 0.5), 0.75);
}

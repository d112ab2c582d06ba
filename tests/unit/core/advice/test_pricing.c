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
                                    .billing = {.per_hour = (double)NAN},
                                    .max_cost = (double)NAN};
    terms = (struct pricing_terms){.has_price = true,
                                   .price = price_of_executors(0.25, 0.10, 0.1),
                                   .executor_startup_s = (double)NAN,
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
    const struct interruptions tenth = {.per_hour = 0.1}, once = {.per_hour = 1}, never = {0};
    cr_assert_float_eq(interruption_expected_s(3600, &tenth), 3600 * 1.0517091807564763, 1e-9);
    cr_assert_float_eq(interruption_deviation_s(3600, &tenth, 10), 3600 * 0.060710, 3600 * 2e-6);
    /* a = 2: e^2 - 1 over 2; Var = 2 e^2 (sinh 2 - 2) / 4. */
    cr_assert_float_eq(interruption_expected_s(7200, &once), 3600 * 6.38905609893065, 1e-8);
    cr_assert_float_eq(interruption_deviation_s(7200, &once, 1),
                       3600 * sqrt(2 * 7.38905609893065 * (3.626860407847019 - 2)), 1e-8);
    cr_assert_eq(interruption_expected_s(3600, &never), 3600);
    cr_assert_eq(interruption_deviation_s(3600, &never, 4), 0);
}

/* Small exposures: T (1 + a/2) and T sqrt(a / 3), where the closed forms cancel. */
Test(pricing, rare_interruptions_keep_their_digits)
{
    double hours = 2, rate = 1e-9, a = hours * rate;
    struct interruptions rare = {.per_hour = rate};
    double longer = interruption_expected_s(3600 * hours, &rare) / (3600 * hours) - 1;
    cr_assert_float_eq(longer / (a / 2), 1, 1e-6);
    cr_assert_float_eq(interruption_deviation_s(3600 * hours, &rare, 1) / 3600, hours * sqrt(a / 3),
                       1e-13);
    /* Where the series hands over to the closed form both agree. */
    const struct interruptions at = {.per_hour = 0.1, .startup_s = 7200};
    const struct interruptions beyond = {.per_hour = 0.1 * (1 + 1e-9), .startup_s = 7200};
    double below = interruption_deviation_s(3600, &at, 1);
    double above = interruption_deviation_s(3600, &beyond, 1);
    cr_assert_float_eq(above / below, 1, 1e-8);
    /* A start-up of s: E X grows by a s, Var X by s T a + s^2 a. */
    rare = (struct interruptions){.per_hour = rate, .startup_s = 1800};
    longer = interruption_expected_s(3600 * hours, &rare) / (3600 * hours) - 1;
    cr_assert_float_eq(longer / (a / 2 + a * 0.25), 1, 1e-6);
    cr_assert_float_eq(interruption_deviation_s(3600 * hours, &rare, 1) / 3600,
                       sqrt(a * (hours * hours / 3 + 0.5 * hours + 0.25)), 1e-12);
}

/* The process itself, simulated: executors start over whenever the machine that they share with
 * others is taken away, once a replacement has started. */
static double
simulate_job(struct rng *rng, double work_s, const struct interruptions *by, int64_t executors)
{
    int64_t each = by->billing.executors_per_machine > 0 ? by->billing.executors_per_machine : 1;
    double sum = 0;
    for (int64_t left = executors; left > 0; left -= each) {
        double total = 0;
        for (;;) {
            double until = -log1p(-rng_uniform(rng)) / (by->per_hour / 3600);
            total += until < work_s ? until + by->startup_s : work_s;
            if (until >= work_s)
                break;
        }
        sum += total * (double)(left < each ? left : each);
    }
    return sum / (double)executors;
}

static void compare_with_simulation(const struct interruptions *by, int64_t executors)
{
    enum { TRIALS = 100000 };
    const double work_s = 5000;
    struct rng rng = rng_make(7, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < TRIALS; i++) {
        double time_s = simulate_job(&rng, work_s, by, executors);
        sum += time_s;
        squares += time_s * time_s;
    }
    double mean = sum / TRIALS;
    double deviation = sqrt(squares / TRIALS - mean * mean);
    /* Four standard errors of the mean; a deviation is known to about a percent. */
    cr_expect_float_eq(interruption_expected_s(work_s, by), mean,
                       4 * deviation / sqrt((double)TRIALS));
    cr_expect_float_eq(interruption_deviation_s(work_s, by, executors) / deviation, 1, 0.02);
}

Test(pricing, interruptions_against_a_simulation)
{
    compare_with_simulation(&(struct interruptions){.per_hour = 0.4}, 4);
    compare_with_simulation(&(struct interruptions){.per_hour = 0.4, .startup_s = 300}, 4);
    compare_with_simulation(&(struct interruptions){.per_hour = 1.5, .startup_s = 2500}, 3);
    /* Seven executors on machines for three: 3, 3 and 1 go together. */
    compare_with_simulation(&(struct interruptions){.per_hour = 0.4,
                                                    .startup_s = 300,
                                                    .billing = {.executors_per_machine = 3}},
                            7);
}

Test(pricing, a_curve_under_interruptions_is_slower_and_wider_everywhere)
{
    struct curve out;
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0.3}, &arena, &out, NULL),
        PV_OK);
    cr_assert_eq(out.n_points, (size_t)POINTS);
    for (size_t i = 0; i < out.n_points; i++) {
        cr_assert_gt(out.points[i].duration_s, points[i].duration_s);
        cr_assert_gt(out.points[i].spread, points[i].spread);
        cr_assert_lt(curve_probability(&out, &out.points[i], points[i].duration_s * 1.01),
                     curve_probability(&curve, &points[i], points[i].duration_s * 1.01));
    }
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0}, &arena, &out, NULL),
        PV_OK);
    for (size_t i = 0; i < POINTS; i++) {
        cr_assert_eq(out.points[i].duration_s, points[i].duration_s);
        cr_assert_eq(out.points[i].spread, points[i].spread);
    }
    /* 10 h on one executor at 3 an hour: 30 times over, never; 2 executors: 15. */
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 3}, &arena, &out, NULL),
        PV_OK);
    cr_assert_eq(out.n_points, (size_t)POINTS - 1);
    cr_assert_eq(out.points[0].executors, 2);
}

/* Both hypotheses of a mixture are slowed down, and the duration stays its median. */
Test(pricing, interruptions_slow_both_hypotheses)
{
    const struct interruptions spot = {.per_hour = 0.3};
    struct curve out;
    points[9].centres[0] = (struct predictive_centre){3000, 0.6};
    points[9].centres[1] = (struct predictive_centre){6000, 0.4};
    points[9].n_centres = 2;
    cr_assert_eq(interruption_curve(&curve, &spot, &arena, &out, NULL), PV_OK);
    const struct curve_point *now = &out.points[9];
    cr_assert_eq(now->n_centres, 2);
    for (size_t i = 0; i < 2; i++)
        cr_assert_float_eq(now->centres[i].predicted_s,
                           interruption_expected_s(points[9].centres[i].predicted_s, &spot), 1e-9);
    cr_assert_gt(now->centres[1].predicted_s, 6000);
    cr_assert_float_eq(curve_probability(&out, now, now->duration_s), 0.5, 1e-9);
}

/* A count on which a run as slow as the newest ones never ends is left out, and no probability counts on
 * the usual level alone. */
Test(pricing, interruptions_end_both_levels_or_none)
{
    struct curve_point slow_points[POINTS];
    struct curve out, slow = curve;
    for (size_t i = 0; i < POINTS; i++) {
        slow_points[i] = points[i];
        slow_points[i].duration_s *= 4;
    }
    slow.points = slow_points;
    curve.other = &slow;
    curve.other_weight = 0.5;
    /* At 3 an hour: 40 h on one executor are 120 interruptions, 8 h on five are 24, 6.7 h on six 20. */
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 3}, &arena, &out, NULL),
        PV_OK);
    cr_assert_eq(out.points[0].executors, 6);
    for (size_t i = 0; i < out.n_points; i++) {
        cr_assert_not_null(curve_find(out.other, out.points[i].executors));
        cr_assert_lt(curve_probability(&out, &out.points[i], out.points[i].duration_s * 2), 0.51);
    }
}

/* Of the time that misses of cached data may add, interruptions stretch more than of the rest. */
Test(pricing, interruptions_stretch_the_doubt_of_cached_data)
{
    const struct interruptions spot = {.per_hour = 0.3};
    struct curve out;
    points[9].cache_doubt_s = 1800;
    cr_assert_eq(interruption_curve(&curve, &spot, &arena, &out, NULL), PV_OK);
    cr_assert_float_eq(out.points[9].duration_s + out.points[9].cache_doubt_s,
                       interruption_expected_s(3600 + 1800, &spot), 1e-9);
    double before = curve_quantile(&curve, &points[9], 0.9) / 3600;
    cr_assert_gt(curve_quantile(&out, &out.points[9], 0.9) / out.points[9].duration_s, before);
    points[9].cache_doubt_s = 0;
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
        cr_assert_eq(interruption_curve(&curve, &(struct interruptions){.per_hour = 0.3}, &arena,
                                        &out, NULL),
                     PV_OK);
        const struct curve_point *now = &out.points[9];
        cr_assert_eq(now->own->predicted_s, now->duration_s);
        cr_assert_gt(now->duration_s, 3600);
        for (double p = 0.6; p < 0.99; p += 0.1) {
            double before = curve_quantile(&curve, &points[9], p) / 3600;
            double after = curve_quantile(&out, now, p) / now->duration_s;
            cr_assert_gt(after, before, "case %zu at %g", k, p);
        }
        cr_assert_eq(
            interruption_curve(&curve, &(struct interruptions){.per_hour = 0}, &arena, &out, NULL),
            PV_OK);
        cr_assert_float_eq(curve_quantile(&out, &out.points[9], 0.9),
                           curve_quantile(&curve, &points[9], 0.9), 1e-9);
    }
    /* What is not known at all stays so. */
    struct predictive unknown = {.predicted_s = 3600};
    points[9].own = &unknown;
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0.3}, &arena, &out, NULL),
        PV_OK);
    cr_assert_eq(out.points[9].own->n, 0);
    /* Interruptions spread either way: what was likelier to take longer is less so. */
    own[1].shorter = 0.4;
    points[9].own = &own[1];
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0.3}, &arena, &out, NULL),
        PV_OK);
    cr_assert(out.points[9].own->shorter > 0.41 && out.points[9].own->shorter < 1, "%g",
              out.points[9].own->shorter);
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0}, &arena, &out, NULL),
        PV_OK);
    cr_assert_float_eq(out.points[9].own->shorter, 0.4, 1e-12);
    own[1].shorter = 0;
    /* 100 s in 3600 under a = 0.3 beside sqrt(Var): in proportion to the longer time. */
    points[9].own = &own[1];
    cr_assert_eq(
        interruption_curve(&curve, &(struct interruptions){.per_hour = 0.3}, &arena, &out, NULL),
        PV_OK);
    double longer_s = 3600 * expm1(0.3) / 0.3;
    double wider = hypot(
        exp(0.3) * 0.3 / expm1(0.3) * 100 / 3600,
        interruption_deviation_s(3600, &(struct interruptions){.per_hour = 0.3}, 10) / longer_s);
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
    cr_assert_eq(pricing.billing.per_hour, 0.10);
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
    terms = (struct pricing_terms){.has_price = true, .price = price_of_executors(1, 1, 3600)};
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
}

/* --- machines and terms of billing --- */

static void price_machines(void)
{
    terms.price = price_of_executors((double)NAN, (double)NAN, 0.1);
    terms.price.per_machine_hour = 1;
    terms.price.spot_per_machine_hour = 0.4;
    terms.price.machine_cores = 16;
    cr_assert_eq(pricing_pack(&terms, 4, RUN_UNKNOWN, &err), PV_OK);
    cr_assert_eq(terms.packing.executors, 4);
}

/* 10 h of work on machines of 4 executors: m = 4 takes one machine for 2.5 h, m = 8 two for 1.25 h,
 * and every other count leaves places empty. Of equal cost the faster. */
Test(pricing, machines_are_billed_whole)
{
    price_machines();
    question.objective = ADVISE_MIN_COST;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_expect_eq(advice.recommendation.executors, 8);
    cr_expect_float_eq(advice.recommendation.cost, 2.5, 1e-12);
    cr_expect(pricing.units == 2 && pricing.billed_s == 4500);
    for (size_t i = 0; i < advice.n_alternatives; i++) {
        double m = (double)advice.alternatives[i].executors;
        cr_expect_float_eq(advice.alternatives[i].cost, ceil(m / 4) * 10 / m, 1e-12);
    }
    /* 8 dominates all that are slower and dearer, so the front is 8 and what is faster. */
    cr_expect_eq(advice.alternatives[0].executors, 10);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    const char *said = find(&advice.reasons, "price")->message;
    cr_expect_not_null(strstr(said, "On demand a machine costs 1.00 EUR an hour"), "%s", said);
    cr_expect_not_null(strstr(said, "4 executors by its cores, so 8 take 2 machines"), "%s", said);
    cr_expect_not_null(strstr(find(&advice.reasons, "objective")->message, "costs the least of"));
    question.max_cost = 2.4;
    cr_expect_eq(ask(PRICING_ON_DEMAND), PV_E_INVALID, "every count costs at least 2.5");
}

/* Billed by the hour with 6 minutes of start-up: 10 h / m + 0.1 rounded up. m = 10: 2 h, 9: 2 h,
 * ... 5: 3 h; m (ceil) has its least at 1 x 11. */
Test(pricing, increments_startup_and_minimum_decide)
{
    terms.price.startup_billed_s = 360;
    terms.price.billing_increment_s = 3600;
    question.objective = ADVISE_MIN_COST;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    double least = (double)INFINITY;
    for (int m = 1; m <= POINTS; m++)
        least = fmin(least, m * ceil(10.0 / m + 0.1 - 1e-9));
    cr_expect_float_eq(advice.recommendation.cost, least * 0.25, 1e-12);
    cr_expect_eq(pricing.billed_s, 3600 * least / (double)advice.recommendation.executors);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    const char *said = find(&advice.reasons, "price")->message;
    cr_expect_not_null(strstr(said, "6 min of start-up included, in increments of 1 h"), "%s",
                       said);
    terms.price.minimum_billed_s = 36000 * 2;
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_expect(advice.recommendation.executors == 1 && pricing.billed_s == 72000);
}

/* 10 executors on 3 machines from spot: each is interrupted 0.1 times an hour, and 6 minutes pass
 * until another has started. E X = expm1(0.1) (10 h + 0.1 h). */
Test(pricing, spot_machines_by_hand)
{
    price_machines();
    terms.executor_startup_s = 360;
    question.min_executors = 10;
    cr_assert_eq(ask(PRICING_SPOT), PV_OK);
    double hours = expm1(0.1) * 10.1;
    cr_expect_float_eq(advice.recommendation.predicted_duration_s, 3600 * hours, 1e-9);
    cr_expect_float_eq(advice.recommendation.cost, 3 * hours * 0.4, 1e-12);
    cr_expect_float_eq(pricing.interruptions, 3 * expm1(0.1), 1e-12);
    cr_expect_float_eq(pricing.interruption_cost, 3 * (hours - 1) * 0.4, 1e-12);
    cr_expect_float_eq(pricing.on_demand_cost, 3, 1e-12);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    const char *said = find(&advice.reasons, "interruptions")->message;
    cr_expect_not_null(strstr(said, "for each machine"), "%s", said);
    cr_expect_not_null(strstr(said, "starting replacements (6 min each)"), "%s", said);
    /* Start-up raises what spot costs, until on demand is cheaper. */
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_expect_eq(pricing.market, PRICING_SPOT);
    terms.executor_startup_s = 3600 * 15;
    cr_assert_eq(ask(PRICING_CHEAPEST), PV_OK);
    cr_expect_eq(pricing.market, PRICING_ON_DEMAND);
}

static enum pv_code pack(int64_t machine_cores, int64_t machine_bytes, int64_t container_bytes)
{
    price_machines();
    pv_error_clear(&err);
    terms.price.machine_cores = machine_cores;
    terms.price.machine_memory_bytes = machine_bytes;
    return pricing_pack(&terms, 4, container_bytes, &err);
}

/* A request's price that cannot be used is a fault of it, a book's a warning. */
Test(pricing, an_executor_that_does_not_fit_has_no_cost)
{
    terms.source = PRICING_OF_REQUEST;
    cr_expect_eq(pack(3, RUN_UNKNOWN, RUN_UNKNOWN), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/machine_cores");
    cr_expect_eq(pack(16, 1000, 1001), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/machine_memory_bytes");
    cr_expect_eq(pack(RUN_UNKNOWN, 1000, RUN_UNKNOWN), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/machine_cores");
    cr_expect_str_eq(err.faults[0].code, "required");
    terms.source = PRICING_OF_MACHINE_TYPE;
    cr_assert_eq(pack(16, 1000, 1001), PV_OK);
    cr_assert(!terms.has_price && terms.is_unusable);
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_expect(isnan(advice.recommendation.cost) && !pricing.known);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_expect_not_null(find(&advice.warnings, "executor_exceeds_machine"));
    question.max_cost = 5;
    cr_expect_eq(ask(PRICING_ON_DEMAND), PV_E_INVALID);
    cr_expect_not_null(strstr(err.faults[0].detail, "does not fit"), "%s", err.faults[0].detail);
}

Test(pricing, what_is_not_known_of_memory_is_said)
{
    cr_assert_eq(pack(16, 1000, RUN_UNKNOWN), PV_OK);
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_expect_not_null(find(&advice.warnings, "executor_memory_unknown"));
    terms.has_price = true;
    cr_assert_eq(pack(16, 1000, 400), PV_OK);
    cr_expect(terms.packing.executors == 2 && terms.packing.by_memory);
    cr_assert_eq(ask(PRICING_ON_DEMAND), PV_OK);
    cr_assert_eq(pricing_explain(&terms, &pricing, &question, &advice, &err), PV_OK);
    cr_expect_null(find(&advice.warnings, "executor_memory_unknown"));
    /* The plan for so many executors packs otherwise: told, where it does. */
    pricing_warn_of_memory(&terms, &pricing, 500, &advice);
    cr_expect_null(find(&advice.warnings, "machine_packing"));
    pricing_warn_of_memory(&terms, &pricing, 501, &advice);
    cr_expect_not_null(find(&advice.warnings, "machine_packing"));
}

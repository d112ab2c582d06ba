/* The sentences about prices, billing, interruptions, markets and machines. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/advice/pricing.h"

#define GIB (INT64_C(1) << 30)

static struct arena arena;
static struct pricing_terms terms;
static struct pricing pricing;
static struct advise_goal goal;
static struct advice advice;

/* Four executors for 900 s at 0.5 EUR an hour each: 0.5 EUR. */
static void set_up(void)
{
    arena_init(&arena, 0);
    goal = (struct advise_goal){.deadline_s = 1000};
    terms = (struct pricing_terms){.market = PRICING_ON_DEMAND,
                                   .has_price = true,
                                   .price = price_of_executors(0.5, (double)NAN, (double)NAN),
                                   .currency = "EUR",
                                   .executor_startup_s = (double)NAN,
                                   .cores_per_executor = 4,
                                   .container_bytes = RUN_UNKNOWN};
    pricing = (struct pricing){.known = true,
                               .market = PRICING_ON_DEMAND,
                               .billing = billing_of_executors(0.5),
                               .units = 4,
                               .billed_s = 900,
                               .on_demand_cost = 0.5,
                               .uninterrupted_probability = (double)NAN};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(pricing_explain, .init = set_up, .fini = tear_down);

static void explain(void)
{
    advice = (struct advice){.recommendation = {.executors = 4,
                                                .predicted_duration_s = 900,
                                                .cost = 0.5,
                                                .deadline_probability = 0.9},
                             .reasons = {.arena = &arena},
                             .warnings = {.arena = &arena}};
    cr_assert_eq(pricing_explain(&terms, &pricing, &goal, &advice, NULL), PV_OK);
}

static void expect(const struct findings *list, const char *code, const char *message)
{
    const struct finding *finding = finding_find(list, code);
    cr_assert_not_null(finding, "%s", code);
    cr_expect_str_eq(finding->message, message);
}

static const char *text_of(const char *name)
{
    const struct finding *note = &advice.reasons.items[0];
    for (size_t i = 0; i < note->n_evidence; i++)
        if (strcmp(note->evidence[i].name, name) == 0)
            return note->evidence[i].text;
    return "none";
}

Test(pricing_explain, where_the_price_is_from)
{
    explain();
    cr_expect_str_eq(text_of("source"), "request");
    cr_expect_str_eq(text_of("market"), "on_demand");
    cr_expect_str_eq(text_of("currency"), "EUR");
    cr_expect_str_eq(text_of("cluster"), "none");
    terms.source = PRICING_OF_CLUSTER;
    terms.book = "2026";
    terms.subject = "lab";
    explain();
    cr_expect_str_eq(text_of("source"), "price_book");
    cr_expect_str_eq(text_of("price_book"), "2026");
    cr_expect_str_eq(text_of("cluster"), "lab");
    terms.source = PRICING_OF_MACHINE_TYPE;
    pricing.market = PRICING_SPOT;
    explain();
    cr_expect_str_eq(text_of("machine_type"), "lab");
    cr_expect_str_eq(text_of("cluster"), "none");
    cr_expect_str_eq(text_of("market"), "spot");
}

Test(pricing_explain, executors_by_their_time)
{
    explain();
    cr_assert_eq(advice.reasons.n, 1);
    cr_expect_eq(advice.warnings.n, 0);
    expect(&advice.reasons, "price",
           "On demand an executor costs 0.50 EUR an hour (the request's own price): 4 for 15 min "
           "cost 0.50 EUR.");
    const struct finding *note = &advice.reasons.items[0];
    cr_expect_eq(finding_value(note, "price_per_executor_hour"), 0.5);
    cr_expect(isnan(finding_value(note, "billed_s")), "as long as they run");
    terms.currency = NULL;
    terms.source = PRICING_OF_CLUSTER;
    explain();
    expect(&advice.reasons, "price",
           "On demand an executor costs 0.50 an hour (by the price book for the cluster): 4 for 15 "
           "min cost 0.50.");
    pricing.known = false;
    explain();
    cr_expect_eq(advice.reasons.n, 0);
}

/* What is billed beyond the time that executors run. */
Test(pricing_explain, billing_terms)
{
    pricing.billing.startup_s = 30;
    pricing.billed_s = 930;
    explain();
    expect(&advice.reasons, "price",
           "On demand an executor costs 0.50 EUR an hour (the request's own price): 4 for 15 min "
           "cost 0.50 EUR. Each is billed for 15 min 30 s, 30 s of start-up included.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "billed_s"), 930);
    pricing.billing.startup_s = 0;
    pricing.billing.minimum_s = 60;
    pricing.billing.increment_s = 3600;
    pricing.billed_s = 3600;
    explain();
    expect(&advice.reasons, "price",
           "On demand an executor costs 0.50 EUR an hour (the request's own price): 4 for 15 min "
           "cost 0.50 EUR. Each is billed for 1 h, at least 1 min, in increments of 1 h.");
}

Test(pricing_explain, machines)
{
    terms.source = PRICING_OF_MACHINE_TYPE;
    pricing.billing.executors_per_machine = 3;
    pricing.units = 2;
    explain();
    expect(
        &advice.reasons, "price",
        "On demand a machine costs 0.50 EUR an hour (by the price book for the machine type): it "
        "holds 3 executors by its cores, so 4 take 2 machines for 15 min, which costs 0.50 EUR.");
    const struct finding *note = &advice.reasons.items[0];
    cr_expect_eq(finding_value(note, "price_per_machine_hour"), 0.5);
    cr_expect_eq(finding_value(note, "machines"), 2);
    cr_expect_eq(finding_value(note, "billed_s"), 900);
    terms.packing.by_memory = true;
    pricing.billing.executors_per_machine = 1;
    pricing.units = 4;
    explain();
    expect(
        &advice.reasons, "price",
        "On demand a machine costs 0.50 EUR an hour (by the price book for the machine type): it "
        "holds 1 executor by its memory, so 4 take 4 machines for 15 min, which costs 0.50 EUR.");
}

Test(pricing_explain, interruptions_of_the_spot_market)
{
    pricing.market = PRICING_SPOT;
    explain();
    expect(&advice.warnings, "interruptions_unknown",
           "The spot price has no interruption rate: duration and cost are those of executors that "
           "are never taken away.");
    terms.price.interruptions_per_hour = 0.25;
    pricing.interruptions = 0.25;
    pricing.interruption_s = 20;
    pricing.interruption_cost = 0.0125;
    pricing.on_demand_cost = 2;
    explain();
    expect(
        &advice.reasons, "interruptions",
        "At 0.25 an hour for each executor, the expected number of interruptions is 0.25. Doing "
        "the lost work again takes 20 s and costs 0.0125 EUR; on demand the same executors would "
        "cost 2.00 EUR. How long a replacement takes to start is unknown and not counted.");
    cr_expect_eq(advice.warnings.n, 0);
    terms.executor_startup_s = 40;
    pricing.billing.executors_per_machine = 3;
    explain();
    expect(&advice.reasons, "interruptions",
           "At 0.25 an hour for each machine, the expected number of interruptions is 0.25. Doing "
           "the lost work again and starting replacements (40 s each) takes 20 s and costs 0.0125 "
           "EUR; on demand the same executors would cost 2.00 EUR.");
    cr_expect_eq(
        finding_value(finding_find(&advice.reasons, "interruptions"), "executor_startup_s"), 40);
    pricing.uninterrupted_probability = 0.904;
    explain();
    cr_expect_eq(advice.warnings.n, 0, "less than half a percent");
    pricing.uninterrupted_probability = 0.95;
    explain();
    expect(&advice.warnings, "spot_deadline_risk",
           "Interruptions lower the probability of ending within 16 min 40 s from 95 % to 90 %.");
}

Test(pricing_explain, the_market_chosen)
{
    terms.market = PRICING_CHEAPEST;
    explain();
    expect(&advice.reasons, "market_chosen", "On demand, because there is no spot price.");
    terms.price.spot_per_executor_hour = 0.2;
    explain();
    expect(&advice.reasons, "market_chosen", "Only on demand satisfies the constraints.");
    pricing.market = PRICING_SPOT;
    explain();
    expect(&advice.reasons, "market_chosen", "Only spot satisfies the constraints.");
    pricing.has_other = true;
    pricing.other = (struct advise_choice){.cost = 0.75, .executors = 5};
    explain();
    expect(&advice.reasons, "market_chosen", "Spot costs 0.50 EUR, on demand 0.75 EUR.");
    cr_expect_eq(finding_value(finding_find(&advice.reasons, "market_chosen"), "other_cost"), 0.75);
    pricing.market = PRICING_ON_DEMAND;
    pricing.other.cost = 0.5;
    explain();
    expect(&advice.reasons, "market_chosen", "On demand costs 0.50 EUR, spot 0.50 EUR.");
    pricing.other.cost = 0.25;
    explain();
    expect(&advice.reasons, "market_chosen",
           "On demand, though it costs 0.50 EUR and spot 0.25 EUR: it is more likely to meet the "
           "deadline.");
}

Test(pricing_explain, executors_that_fit_no_machine)
{
    pricing.known = false;
    terms.is_unusable = true;
    terms.packing.known = true;
    explain();
    expect(&advice.warnings, "executor_exceeds_machine",
           "An executor does not fit the machine that the price book prices, by its cores: costs "
           "are unknown.");
    terms.packing.known = false;
    explain();
    expect(
        &advice.warnings, "executor_memory_unknown",
        "The memory of executors is unknown: how many a machine holds, and so what they cost, is "
        "unknown, too.");
    terms.is_unusable = false;
    explain();
    cr_expect_eq(advice.warnings.n, 0);
    pricing.known = true;
    terms.price.machine_memory_bytes = 64 * GIB;
    explain();
    expect(&advice.warnings, "executor_memory_unknown",
           "The memory of executors is unknown: how many a machine holds goes by its cores alone.");
    terms.container_bytes = 8 * GIB;
    explain();
    cr_expect_eq(advice.warnings.n, 0);
}

/* Machines of 16 cores and 64 GiB hold 4 executors of 4 cores; of 20 GiB each, 3. */
Test(pricing_explain, memory_that_packs_machines_otherwise)
{
    terms.price.machine_cores = 16;
    terms.price.machine_memory_bytes = 64 * GIB;
    terms.container_bytes = 16 * GIB;
    pricing.billing.executors_per_machine = 4;
    advice = (struct advice){.warnings = {.arena = &arena}};
    pricing_warn_of_memory(&terms, &pricing, 16 * GIB, &advice);
    pricing_warn_of_memory(&terms, &pricing, RUN_UNKNOWN, &advice);
    cr_expect_eq(advice.warnings.n, 0);
    pricing_warn_of_memory(&terms, &pricing, 20 * GIB, &advice);
    cr_assert_eq(advice.warnings.n, 1);
    expect(&advice.warnings, "machine_packing",
           "The cost is that of machines that hold 4 executors of 16.0 GiB; with the memory "
           "advised for so many executors, 20.0 GiB each, a machine holds 3.");
    pricing.known = false;
    pricing_warn_of_memory(&terms, &pricing, 20 * GIB, &advice);
    cr_expect_eq(advice.warnings.n, 1);
}

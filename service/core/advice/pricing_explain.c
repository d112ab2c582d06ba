#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/advice/pricing.h"

/* A probability lost that is worth a warning. */
static const double WORTH_TELLING = 0.005;

struct explanation {
    const struct pricing_terms *terms;
    const struct pricing *pricing;
    const struct advise_goal *goal;
    struct advice *advice;
};

static const char *money(const struct explanation *e)
{
    return e->terms->currency == NULL ? "" : e->terms->currency;
}

static const char *blank(const struct explanation *e)
{
    return e->terms->currency == NULL ? "" : " ";
}

/* Names are cut: a message has room for so much. */
static void say_source(const struct explanation *e, char *out, size_t room)
{
    const struct pricing_terms *terms = e->terms;
    if (terms->source == PRICING_OF_REQUEST)
        (void)snprintf(out, room, "the request's own price");
    else
        (void)snprintf(out, room, "by the price book for the %s",
                       terms->source == PRICING_OF_CLUSTER ? "cluster" : "machine type");
}

static void add_source(struct finding *note, const struct pricing_terms *terms)
{
    finding_text(note, "currency", terms->currency);
    finding_text(note, "source", terms->source == PRICING_OF_REQUEST ? "request" : "price_book");
    finding_text(note, "price_book", terms->book);
    if (terms->source != PRICING_OF_REQUEST)
        finding_text(note, terms->source == PRICING_OF_CLUSTER ? "cluster" : "machine_type",
                     terms->subject);
}

static void explain_price(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    const struct pricing *pricing = e->pricing;
    char source[64];
    say_source(e, source, sizeof source);
    struct finding *note = finding_add(
        &e->advice->reasons, "price",
        "%s an executor costs %.6g%s%s an hour (%s): %" PRId64 " for %.6g s cost %.6g%s%s.",
        pricing->market == PRICING_SPOT ? "From the spot market" : "On demand",
        pricing->per_executor_hour, blank(e), money(e), source, choice->executors,
        choice->predicted_duration_s, choice->cost, blank(e), money(e));
    finding_text(note, "market", pricing_market_name(pricing->market));
    finding_number(note, "price_per_executor_hour", pricing->per_executor_hour);
    finding_number(note, "cost", choice->cost);
    add_source(note, e->terms);
}

static void explain_interruptions(struct explanation *e)
{
    const struct pricing *pricing = e->pricing;
    double rate = e->terms->price.interruptions_per_hour;
    if (isnan(rate)) {
        (void)finding_add(&e->advice->warnings, "interruptions_unknown",
                          "The spot price has no interruption rate: duration and cost are those of "
                          "executors that are never taken away.");
        return;
    }
    struct finding *note = finding_add(
        &e->advice->reasons, "interruptions",
        "At %.6g an hour for each executor the expected number of interruptions is %.3g. Doing the "
        "lost work again takes %.6g s and costs %.6g%s%s; on demand the same executors "
        "would cost %.6g%s%s.",
        rate, pricing->interruptions, pricing->interruption_s, pricing->interruption_cost, blank(e),
        money(e), pricing->on_demand_cost, blank(e), money(e));
    finding_number(note, "interruptions_per_hour", rate);
    finding_number(note, "expected_interruptions", pricing->interruptions);
    finding_number(note, "interruption_s", pricing->interruption_s);
    finding_number(note, "interruption_cost", pricing->interruption_cost);
    finding_number(note, "on_demand_cost", pricing->on_demand_cost);
}

static void warn_of_deadline(struct explanation *e)
{
    double before = e->pricing->uninterrupted_probability;
    double now = e->advice->recommendation.deadline_probability;
    if (isnan(before) || !(before - now > WORTH_TELLING))
        return;
    struct finding *note =
        finding_add(&e->advice->warnings, "spot_deadline_risk",
                    "Interruptions lower the probability to end within %.6g s from %.3g to %.3g.",
                    e->goal->deadline_s, before, now);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "deadline_probability", now);
    finding_number(note, "on_demand_deadline_probability", before);
}

static void explain_choice(struct explanation *e)
{
    const struct pricing *pricing = e->pricing;
    const struct advise_choice *choice = &e->advice->recommendation;
    bool spot = pricing->market == PRICING_SPOT;
    if (!pricing->has_other) {
        (void)finding_add(&e->advice->reasons, "market_chosen",
                          isnan(e->terms->price.spot_per_executor_hour)
                              ? "On demand, for there is no spot price."
                              : "Only %s satisfies the constraints.",
                          spot ? "spot" : "on demand");
        return;
    }
    bool dearer = choice->cost > pricing->other.cost;
    struct finding *note = finding_add(
        &e->advice->reasons, "market_chosen",
        dearer ? "%s, though it costs %.6g%s%s and %s %.6g: it is more likely to meet the deadline."
               : "%s costs %.6g%s%s, %s %.6g.",
        spot ? "Spot" : "On demand", choice->cost, blank(e), money(e), spot ? "on demand" : "spot",
        pricing->other.cost);
    finding_text(note, "market", pricing_market_name(pricing->market));
    finding_number(note, "cost", choice->cost);
    finding_number(note, "executors", (double)choice->executors);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "other_cost", pricing->other.cost);
    finding_number(note, "other_executors", (double)pricing->other.executors);
    finding_number(note, "other_deadline_probability", pricing->other.deadline_probability);
}

enum pv_code pricing_explain(const struct pricing_terms *terms,
                             const struct pricing *pricing,
                             const struct advise_goal *goal,
                             struct advice *advice,
                             struct pv_error *err)
{
    struct explanation e = {terms, pricing, goal, advice};
    if (!pricing->known)
        return PV_OK;
    explain_price(&e);
    if (pricing->market == PRICING_SPOT) {
        explain_interruptions(&e);
        warn_of_deadline(&e);
    }
    if (terms->market == PRICING_CHEAPEST)
        explain_choice(&e);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

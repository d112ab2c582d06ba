#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/pricing.h"

/* A probability lost that is worth a warning. */
static const double WORTH_TELLING = 0.005;

struct explanation {
    const struct pricing_terms *terms;
    const struct pricing *pricing;
    const struct advise_goal *goal;
    struct advice *advice;
};

static struct quantity_text money(const struct explanation *e, double cost)
{
    return quantity_cost(cost, e->terms->currency);
}

/* Names are cut: a message has room for so much. */
static void say_source(const struct explanation *e, char *out, size_t room)
{
    const struct pricing_terms *terms = e->terms;
    if (terms->source == PRICING_OF_REQUEST)
        (void)snprintf(out, room, "the request's own price%s",
                       terms->currency == NULL ? ", without a currency" : "");
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

/* "an executor" or "a machine" for so much an hour, and what of it is taken for how long. */
static void say_units(const struct explanation *e, char *out, size_t room)
{
    const struct pricing *pricing = e->pricing;
    const struct advise_choice *choice = &e->advice->recommendation;
    int64_t executors = choice->executors, each = pricing->billing.executors_per_machine;
    if (each == 0)
        (void)snprintf(out, room, "%" PRId64 " for %s", executors,
                       quantity_duration(choice->predicted_duration_s).text);
    else
        (void)snprintf(out, room,
                       "it holds %" PRId64 " executor%s by its %s, so %" PRId64 " take%s %" PRId64
                       " machine%s for %s, which",
                       each, PLURAL(each), e->terms->packing.by_memory ? "memory" : "cores",
                       executors, executors == 1 ? "s" : "", pricing->units, PLURAL(pricing->units),
                       quantity_duration(choice->predicted_duration_s).text);
}

/* Where that is not the time that executors run. */
static void say_billed(const struct billing *billing, double billed_s, char *out, size_t room)
{
    char startup[80] = "", minimum[80] = "", increment[80] = "";
    out[0] = '\0';
    if (billing->startup_s == 0 && billing->minimum_s == 0 && billing->increment_s == 0)
        return;
    if (billing->startup_s > 0)
        (void)snprintf(startup, sizeof startup, ", %s of start-up included",
                       quantity_duration(billing->startup_s).text);
    if (billing->minimum_s > 0)
        (void)snprintf(minimum, sizeof minimum, ", at least %s",
                       quantity_duration(billing->minimum_s).text);
    if (billing->increment_s > 0)
        (void)snprintf(increment, sizeof increment, ", in increments of %s",
                       quantity_duration(billing->increment_s).text);
    (void)snprintf(out, room, " Each is billed for %s%s%s%s.", quantity_duration(billed_s).text,
                   startup, minimum, increment);
}

static void add_billing(struct finding *note, const struct pricing *pricing)
{
    const struct billing *billing = &pricing->billing;
    bool machines = billing->executors_per_machine > 0;
    finding_number(note, machines ? "price_per_machine_hour" : "price_per_executor_hour",
                   billing->per_hour);
    if (machines) {
        finding_number(note, "executors_per_machine", (double)billing->executors_per_machine);
        finding_number(note, "machines", (double)pricing->units);
    }
    if (!billing_is_plain(billing))
        finding_number(note, "billed_s", pricing->billed_s);
}

static void explain_price(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    const struct pricing *pricing = e->pricing;
    bool machines = pricing->billing.executors_per_machine > 0;
    char source[64], units[240], billed[320];
    say_source(e, source, sizeof source);
    say_units(e, units, sizeof units);
    say_billed(&pricing->billing, pricing->billed_s, billed, sizeof billed);
    struct finding *note = finding_add(
        &e->advice->reasons, "price", "%s %s costs %s an hour (%s): %s cost%s %s.%s",
        pricing->market == PRICING_SPOT ? "From the spot market" : "On demand",
        machines ? "a machine" : "an executor", money(e, pricing->billing.per_hour).text, source,
        units, machines ? "s" : "", money(e, choice->cost).text, billed);
    finding_text(note, "market", pricing_market_name(pricing->market));
    add_billing(note, pricing);
    finding_number(note, "cost", choice->cost);
    add_source(note, e->terms);
}

static void explain_interruptions(struct explanation *e)
{
    const struct pricing *pricing = e->pricing;
    double rate = e->terms->price.interruptions_per_hour, startup_s = e->terms->executor_startup_s;
    char starting[96] = "";
    if (isnan(rate)) {
        (void)finding_add(&e->advice->warnings, "interruptions_unknown",
                          "The spot price has no interruption rate: duration and cost are those of "
                          "executors that are never taken away.");
        return;
    }
    if (startup_s > 0)
        (void)snprintf(starting, sizeof starting, " and starting replacements (%s each)",
                       quantity_duration(startup_s).text);
    struct finding *note = finding_add(
        &e->advice->reasons, "interruptions",
        "At %s an hour for each %s, the expected number of interruptions is %s. Doing the "
        "lost work again%s takes %s and costs %s; on demand the same executors "
        "would cost %s.%s",
        quantity_number(rate).text,
        pricing->billing.executors_per_machine > 0 ? "machine" : "executor",
        quantity_number(pricing->interruptions).text, starting,
        quantity_duration(pricing->interruption_s).text, money(e, pricing->interruption_cost).text,
        money(e, pricing->on_demand_cost).text,
        isnan(startup_s) ? " How long a replacement takes to start is unknown and not counted."
                         : "");
    finding_number(note, "interruptions_per_hour", rate);
    if (!isnan(startup_s))
        finding_number(note, "executor_startup_s", startup_s);
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
                    "Interruptions lower the probability of ending within %s from %s to %s.",
                    quantity_duration(e->goal->deadline_s).text, quantity_probability(before).text,
                    quantity_probability(now).text);
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
                          isnan(price_spot(&e->terms->price))
                              ? "On demand, because there is no spot price."
                              : "Only %s satisfies the constraints.",
                          spot ? "spot" : "on demand");
        return;
    }
    bool dearer = choice->cost > pricing->other.cost;
    struct finding *note = finding_add(
        &e->advice->reasons, "market_chosen",
        dearer ? "%s, though it costs %s and %s %s: it is more likely to meet the deadline."
               : "%s costs %s, %s %s.",
        spot ? "Spot" : "On demand", money(e, choice->cost).text, spot ? "on demand" : "spot",
        money(e, pricing->other.cost).text);
    finding_text(note, "market", pricing_market_name(pricing->market));
    finding_number(note, "cost", choice->cost);
    finding_number(note, "executors", (double)choice->executors);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "other_cost", pricing->other.cost);
    finding_number(note, "other_executors", (double)pricing->other.executors);
    finding_number(note, "other_deadline_probability", pricing->other.deadline_probability);
}

/* --- machines --- */

static void add_executor(struct finding *note, const struct pricing_terms *terms)
{
    const struct price *price = &terms->price;
    finding_number(note, "cores_per_executor", (double)terms->cores_per_executor);
    if (terms->container_bytes != RUN_UNKNOWN)
        finding_number(note, "container_bytes", (double)terms->container_bytes);
    if (price->machine_cores != RUN_UNKNOWN)
        finding_number(note, "machine_cores", (double)price->machine_cores);
    if (price->machine_memory_bytes != RUN_UNKNOWN)
        finding_number(note, "machine_memory_bytes", (double)price->machine_memory_bytes);
}

static void warn_of_machine(struct explanation *e)
{
    const struct pricing_terms *terms = e->terms;
    bool half_known =
        terms->price.machine_memory_bytes != RUN_UNKNOWN && terms->container_bytes == RUN_UNKNOWN;
    struct finding *note;
    if (terms->is_unusable && terms->packing.known)
        note = finding_add(&e->advice->warnings, "executor_exceeds_machine",
                           "An executor does not fit the machine that the price book prices, by "
                           "its %s: costs are unknown.",
                           terms->packing.by_memory ? "memory" : "cores");
    else if (terms->is_unusable || (e->pricing->known && half_known))
        note = finding_add(&e->advice->warnings, "executor_memory_unknown",
                           "The memory of executors is unknown: %s.",
                           terms->is_unusable
                               ? "how many a machine holds, and so what they cost, is unknown, too"
                               : "how many a machine holds goes by its cores alone");
    else
        return;
    add_executor(note, terms);
}

void pricing_warn_of_memory(const struct pricing_terms *terms,
                            const struct pricing *pricing,
                            int64_t container_bytes,
                            struct advice *advice)
{
    const struct price *price = &terms->price;
    int64_t each = pricing->billing.executors_per_machine;
    if (!pricing->known || each == 0 || container_bytes == RUN_UNKNOWN)
        return;
    const struct packing then = billing_pack(price->machine_cores, price->machine_memory_bytes,
                                             terms->cores_per_executor, container_bytes);
    if (then.executors == each)
        return;
    struct finding *note =
        finding_add(&advice->warnings, "machine_packing",
                    "The cost is that of machines that hold %" PRId64
                    " executor%s of %s; with the memory advised for so many executors, %s"
                    " each, a machine holds %" PRId64 ".",
                    each, PLURAL(each), quantity_bytes((double)terms->container_bytes).text,
                    quantity_bytes((double)container_bytes).text, then.executors);
    finding_number(note, "executors_per_machine", (double)each);
    finding_number(note, "executors_per_machine_advised", (double)then.executors);
    finding_number(note, "container_bytes_advised", (double)container_bytes);
    add_executor(note, terms);
}

enum pv_code pricing_explain(const struct pricing_terms *terms,
                             const struct pricing *pricing,
                             const struct advise_goal *goal,
                             struct advice *advice,
                             struct pv_error *err)
{
    struct explanation e = {terms, pricing, goal, advice};
    warn_of_machine(&e);
    if (!pricing->known)
        return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
    explain_price(&e);
    if (pricing->market == PRICING_SPOT) {
        explain_interruptions(&e);
        warn_of_deadline(&e);
    }
    if (terms->market == PRICING_CHEAPEST)
        explain_choice(&e);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

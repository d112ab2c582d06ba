#include "core/advice/pricing.h"

#include <math.h>

#include "base/plural.h"
#include "core/advice/interruption.h"

const char *pricing_market_name(enum pricing_market market)
{
    static const char *const names[PRICING_MARKETS] = {"on_demand", "spot", "cheapest"};
    return names[market];
}

/* One answer, of one market. In the arena: reasons point into the curve. */
struct answer {
    struct curve curve;
    struct advice advice;
    struct pricing pricing;
};

static double known_or_none(double value)
{
    return isnan(value) ? 0.0 : value;
}

static enum pv_code pricing_refuse(struct pv_error *err, const char *code, const char *detail)
{
    return pv_fault(err, PV_PLACE_POINTER, "/market", code, "%s", detail);
}

struct billing pricing_billing(const struct pricing_terms *terms, bool spot)
{
    return terms->has_price ? billing_of_price(&terms->price, spot, terms->packing.executors)
                            : billing_of_executors((double)NAN);
}

/* --- machines --- */

static enum pv_code refuse_machine(const struct pricing_terms *terms, struct pv_error *err)
{
    if (!terms->packing.known)
        return pv_fault(
            err, PV_PLACE_POINTER, "/constraints/machine_cores", "required",
            "how many executors a machine holds is unknown, for their memory is: specify "
            "machine_cores beside machine_memory_bytes");
    if (terms->packing.by_memory)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/machine_memory_bytes", "out_of_range",
                        "an executor, which takes %lld byte%s, does not fit the machine",
                        (long long)terms->container_bytes, PLURAL(terms->container_bytes));
    return pv_fault(err, PV_PLACE_POINTER, "/constraints/machine_cores", "out_of_range",
                    "an executor of %lld core%s does not fit the machine",
                    (long long)terms->cores_per_executor, PLURAL(terms->cores_per_executor));
}

enum pv_code pricing_pack(struct pricing_terms *terms,
                          int64_t cores_per_executor,
                          int64_t container_bytes,
                          struct pv_error *err)
{
    const struct price *price = &terms->price;
    if (!terms->has_price || !price_is_of_machines(price))
        return PV_OK;
    terms->cores_per_executor = cores_per_executor;
    terms->container_bytes = container_bytes;
    terms->packing = billing_pack(price->machine_cores, price->machine_memory_bytes,
                                  cores_per_executor, container_bytes);
    if (terms->packing.executors >= 1)
        return PV_OK;
    if (terms->source == PRICING_OF_REQUEST)
        return refuse_machine(terms, err);
    terms->has_price = false;
    terms->is_unusable = true;
    return PV_OK;
}

/* --- the markets --- */

/* What is billed of the recommendation. */
static void pricing_bill(const struct advise_choice *choice,
                         const struct billing *billing,
                         struct pricing *pricing)
{
    pricing->billing = *billing;
    pricing->units = billing_units(billing, choice->executors);
    pricing->billed_s = billing_billed_s(billing, choice->predicted_duration_s);
}

static enum pv_code answer_on_demand(const struct curve *curve,
                                     const struct advise_goal *goal,
                                     const struct pricing_terms *terms,
                                     struct arena *arena,
                                     struct answer *answer,
                                     struct pv_error *err)
{
    struct advise_goal asked = *goal;
    asked.billing = pricing_billing(terms, false);
    answer->curve = *curve;
    answer->pricing = (struct pricing){.known = terms->has_price,
                                       .market = PRICING_ON_DEMAND,
                                       .interruptions = (double)NAN,
                                       .interruption_s = (double)NAN,
                                       .interruption_cost = (double)NAN,
                                       .uninterrupted_probability = (double)NAN};
    PV_TRY(advise(curve, &asked, arena, &answer->advice, err));
    answer->pricing.on_demand_cost = answer->advice.recommendation.cost;
    pricing_bill(&answer->advice.recommendation, &asked.billing, &answer->pricing);
    return PV_OK;
}

/* What interruptions do to the executors recommended. */
static struct pricing price_interruptions(const struct curve *curve,
                                          const struct advise_goal *goal,
                                          const struct pricing_terms *terms,
                                          const struct interruptions *interruptions,
                                          const struct advise_choice *choice)
{
    const struct curve_point *point = curve_find(curve, choice->executors);
    const struct billing on_demand = pricing_billing(terms, false);
    const struct billing *spot = &interruptions->billing;
    double units = (double)billing_units(spot, choice->executors);
    double longer_s = choice->predicted_duration_s - point->duration_s;
    double longer_billed_s = billing_billed_s(spot, choice->predicted_duration_s) -
                             billing_billed_s(spot, point->duration_s);
    struct pricing pricing = {
        .known = true,
        .market = PRICING_SPOT,
        .on_demand_cost = billing_cost(&on_demand, choice->executors, point->duration_s),
        .interruptions = units * interruption_count(point->duration_s, interruptions),
        .interruption_s = longer_s,
        .interruption_cost = units * longer_billed_s / 3600.0 * spot->per_hour,
        .uninterrupted_probability = isnan(goal->deadline_s)
                                         ? (double)NAN
                                         : curve_probability(curve, point, goal->deadline_s)};
    pricing_bill(choice, spot, &pricing);
    return pricing;
}

static enum pv_code answer_spot(const struct curve *curve,
                                const struct advise_goal *goal,
                                const struct pricing_terms *terms,
                                struct arena *arena,
                                struct answer *answer,
                                struct pv_error *err)
{
    struct advise_goal asked = *goal;
    asked.billing = pricing_billing(terms, true);
    const struct interruptions interruptions = {
        .per_hour = known_or_none(terms->price.interruptions_per_hour),
        .startup_s = known_or_none(terms->executor_startup_s),
        .billing = asked.billing};
    PV_TRY(interruption_curve(curve, &interruptions, arena, &answer->curve, err));
    if (answer->curve.n_points == 0)
        PV_TRY(pricing_refuse(
            err, "unsatisfiable",
            "with so many interruptions the job would not end on any executor count"));
    PV_TRY(advise(&answer->curve, &asked, arena, &answer->advice, err));
    answer->pricing =
        price_interruptions(curve, goal, terms, &interruptions, &answer->advice.recommendation);
    return PV_OK;
}

/* A better verdict comes before a lower price, and so does a deadline that is more likely to be met,
 * unless it is met with the confidence asked for in either case. */
static bool is_spot_better(const struct answer *on_demand, const struct answer *spot)
{
    double before = on_demand->advice.recommendation.deadline_probability;
    double ahead = spot->advice.recommendation.deadline_probability - before;
    if (on_demand->advice.verdict != spot->advice.verdict)
        return spot->advice.verdict < on_demand->advice.verdict;
    if (on_demand->advice.verdict != ADVISE_MET && fabs(ahead) > ADVISE_NEAR_BEST)
        return ahead > 0;
    return spot->advice.recommendation.cost < on_demand->advice.recommendation.cost;
}

static enum pv_code make_answer(struct arena *arena, struct answer **answer, struct pv_error *err)
{
    *answer = arena_calloc(arena, 1, sizeof **answer);
    return *answer == NULL ? pv_no_memory(err) : PV_OK;
}

static void pricing_tell(struct pv_error *err, const struct pv_error *why)
{
    if (err != NULL)
        *err = *why;
}

/* The better of two answers, where `first` (on demand) and `second` (spot) say which there are. */
static struct answer *
take_better(struct answer *on_demand, struct answer *spot, bool first, bool second)
{
    if (!first || !second)
        return first ? on_demand : spot;
    bool better = is_spot_better(on_demand, spot);
    struct answer *taken = better ? spot : on_demand;
    taken->pricing.has_other = true;
    taken->pricing.other = (better ? on_demand : spot)->advice.recommendation;
    return taken;
}

/* Both; where only one of them satisfies the constraints that one, where neither does on demand's
 * fault. */
static enum pv_code answer_cheapest(const struct curve *curve,
                                    const struct advise_goal *goal,
                                    const struct pricing_terms *terms,
                                    struct arena *arena,
                                    struct answer **answer,
                                    struct pv_error *err)
{
    struct answer *spot = NULL;
    struct pv_error why = {0}, why_spot = {0};
    PV_TRY(make_answer(arena, &spot, err));
    enum pv_code first = answer_on_demand(curve, goal, terms, arena, *answer, &why);
    enum pv_code second = answer_spot(curve, goal, terms, arena, spot, &why_spot);
    if (first != PV_OK && (first != PV_E_INVALID || second != PV_OK)) {
        pricing_tell(err, &why);
        return first;
    }
    if (second != PV_OK && second != PV_E_INVALID) {
        pricing_tell(err, &why_spot);
        return second;
    }
    *answer = take_better(*answer, spot, first == PV_OK, second == PV_OK);
    return PV_OK;
}

enum pv_code pricing_check(const struct pricing_terms *terms,
                           const struct advise_goal *goal,
                           struct pv_error *err)
{
    static const char unusable[] =
        "needs a price: an executor does not fit the machine that the price book prices";
    if (!isnan(goal->max_cost) && !terms->has_price)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/max_cost", "required", "%s",
                        terms->is_unusable
                            ? unusable
                            : "needs a price: the cluster has no price book that prices it");
    if (terms->market == PRICING_ON_DEMAND)
        return PV_OK;
    if (!terms->has_price)
        return pricing_refuse(
            err, "required",
            terms->is_unusable
                ? unusable
                : "needs a price: price_per_executor_hour, or a cluster with a price book that "
                  "prices it or its machine_type");
    if (terms->market == PRICING_SPOT && isnan(price_spot(&terms->price)))
        return pricing_refuse(
            err, "no_spot_price",
            "needs a spot price: spot_per_executor_hour, or spot_per_machine_hour where "
            "machines are priced, in the request or the price book");
    return PV_OK;
}

enum pv_code pricing_advise(const struct curve *curve,
                            const struct advise_goal *goal,
                            const struct pricing_terms *terms,
                            struct arena *arena,
                            struct curve *used,
                            struct advice *advice,
                            struct pricing *pricing,
                            struct pv_error *err)
{
    struct answer *answer = NULL;
    PV_TRY(pricing_check(terms, goal, err));
    PV_TRY(make_answer(arena, &answer, err));
    if (terms->market == PRICING_SPOT)
        PV_TRY(answer_spot(curve, goal, terms, arena, answer, err));
    else if (terms->market == PRICING_CHEAPEST && !isnan(price_spot(&terms->price)))
        PV_TRY(answer_cheapest(curve, goal, terms, arena, &answer, err));
    else
        PV_TRY(answer_on_demand(curve, goal, terms, arena, answer, err));
    *used = answer->curve;
    *advice = answer->advice;
    *pricing = answer->pricing;
    return PV_OK;
}

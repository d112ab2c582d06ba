#ifndef CORE_ADVICE_PRICING_H
#define CORE_ADVICE_PRICING_H

#include "core/advice/advise.h"
#include "core/cluster/price.h"

/*
 * Advice with a price: on demand, from the spot market (core/advice/interruption.h says what being
 * interrupted costs), or whichever of both is cheaper without standing worse to the deadline. What
 * is paid for is executors x time; a driver outside them is not counted.
 */
enum pricing_market { PRICING_ON_DEMAND, PRICING_SPOT, PRICING_CHEAPEST, PRICING_MARKETS };

/* Names on the wire, in the order of the enum. */
const char *pricing_market_name(enum pricing_market market);

enum pricing_source { PRICING_OF_REQUEST, PRICING_OF_CLUSTER, PRICING_OF_MACHINE_TYPE };

struct pricing_terms {
    enum pricing_market market;
    bool has_price;
    struct price price;
    /* where it is from */
    enum pricing_source source;
    const char *currency; /* NULL: not given */
    const char *book;     /* NULL: the request's own */
    const char *subject;  /* the cluster or the machine type that the book prices; NULL likewise */
};

/* What the recommendation costs and why. */
struct pricing {
    bool known;                 /* false: there is no price; nothing else is set */
    enum pricing_market market; /* the one taken: on demand or spot */
    double per_executor_hour;
    double on_demand_cost; /* of the recommended executors, uninterrupted */
    /* of spot, else NAN */
    double interruptions;             /* expected, of all executors */
    double interruption_s;            /* by which they make the job longer */
    double interruption_cost;         /* of the work done again */
    double uninterrupted_probability; /* to meet the deadline on demand; NAN without one */
    /* where both were weighed: what the other one would recommend */
    bool has_other;
    struct advise_choice other;
};

/* Executors x time x price an hour; NAN without a price. */
double pricing_cost(double executors, double duration_s, double per_executor_hour);

/*
 * PV_E_INVALID with a fault where a price is missing: /market where the market asked for has none,
 * /constraints/max_cost without any.
 */
enum pv_code pricing_check(const struct pricing_terms *terms,
                           const struct advise_goal *goal,
                           struct pv_error *err) PV_MUSTCHECK;

/*
 * advise, with the price of the terms in place of the goal's.
 *
 * used    the curve that the advice is from: `curve` itself or what interruptions make of it
 * PV_E_INVALID as pricing_check, and with a fault at /market where interruptions leave no executor
 * count at which the job would end; else as advise.
 */
enum pv_code pricing_advise(const struct curve *curve,
                            const struct advise_goal *goal,
                            const struct pricing_terms *terms,
                            struct arena *arena,
                            struct curve *used,
                            struct advice *advice,
                            struct pricing *pricing,
                            struct pv_error *err) PV_MUSTCHECK;

/* Reasons and warnings: the price and where it is from, interruptions, what was weighed.
 * PV_E_MEMORY.
 */
enum pv_code pricing_explain(const struct pricing_terms *terms,
                             const struct pricing *pricing,
                             const struct advise_goal *goal,
                             struct advice *advice,
                             struct pv_error *err) PV_MUSTCHECK;

#endif

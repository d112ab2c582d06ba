#ifndef CORE_ADVICE_PRICING_H
#define CORE_ADVICE_PRICING_H

#include "core/advice/advise.h"
#include "core/cluster/billing.h"

/*
 * Advice with a price: on demand, from the spot market (core/advice/interruption.h says what being
 * interrupted costs), or whichever of both is cheaper without standing worse to the deadline. What
 * is paid for is executors or machines by the time that is billed (core/cluster/billing.h); a driver
 * outside them is not counted. Of the spot market an executor's place is billed as one, whatever
 * takes it in turn: the time in which replacements start is part of the duration.
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
    double executor_startup_s; /* of a replacement; NAN: unknown, and taken to be none */
    /* of a price of machines, by pricing_pack */
    int64_t cores_per_executor;
    int64_t container_bytes; /* of an executor; RUN_UNKNOWN */
    struct packing packing;
    bool is_unusable; /* no executor fits, or that is unknown: has_price is false */
};

/* What the recommendation costs and why. */
struct pricing {
    bool known;                 /* false: there is no price; nothing else is set */
    enum pricing_market market; /* the one taken: on demand or spot */
    struct billing billing;     /* by the price of that market */
    int64_t units;              /* of the recommended executors: these, or machines */
    double billed_s;            /* of each */
    double on_demand_cost;      /* of the recommended executors, uninterrupted */
    /* of spot, else NAN */
    double interruptions;             /* expected, of all executors or machines */
    double interruption_s;            /* by which they make the job longer */
    double interruption_cost;         /* of that time */
    double uninterrupted_probability; /* to meet the deadline on demand; NAN without one */
    /* where both were weighed: what the other one would recommend */
    bool has_other;
    struct advise_choice other;
};

/*
 * How many executors of so many cores and bytes a machine holds, where machines are priced. Where
 * none fits, or it cannot be told, a price of the request is at fault (PV_E_INVALID at the member
 * of /constraints), and one of a price book is not used.
 */
enum pv_code pricing_pack(struct pricing_terms *terms,
                          int64_t cores_per_executor,
                          int64_t container_bytes,
                          struct pv_error *err) PV_MUSTCHECK;

/* As billed on demand or for spot; plain and of unknown price without one. */
struct billing pricing_billing(const struct pricing_terms *terms, bool spot);

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

/* A warning where the memory advised, bytes of a container, packs machines otherwise than the cost
 * has it: the advice on memory follows the executors recommended, and they follow the cost. */
void pricing_warn_of_memory(const struct pricing_terms *terms,
                            const struct pricing *pricing,
                            int64_t container_bytes,
                            struct advice *advice);

#endif

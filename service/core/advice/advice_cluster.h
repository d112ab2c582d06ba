#ifndef CORE_ADVICE_ADVICE_CLUSTER_H
#define CORE_ADVICE_ADVICE_CLUSTER_H

#include "core/advice/question.h"
#include "core/cluster/cluster.h"

/* The cluster that a question names: its size bounds the advice, its price the cost. */
struct advice_cluster {
    bool is_named; /* or its size is in the request */
    struct cluster cluster;
    struct pricing_terms pricing;
};

/*
 * Bound the question by the cluster and its price: max_executors by its executors,
 * cores_per_executor where none is asked for, K of jobs that already run. A price in the question
 * overrides the book's; so does each of its terms of billing.
 *
 * named  NULL: none, there is only the price of the question
 * price  what the cluster's price book has for it; NULL: nothing
 *
 * PV_E_INVALID with a fault where it stands: a cluster that lacks what is needed, more
 * min_executors than it has, max_cost or a spot market without a price.
 */
enum pv_code advice_cluster_apply(const struct cluster *named,
                                  const struct price_found *price,
                                  const struct advice_limits *limits,
                                  struct advice_question *question,
                                  struct advice_cluster *cluster,
                                  struct pv_error *err) PV_MUSTCHECK;

/* A reason that states the cluster's bounds; a warning where its book has no price for it.
 * PV_E_MEMORY. */
enum pv_code advice_cluster_explain(const struct advice_cluster *cluster,
                                    const struct advice_question *question,
                                    struct advice *advice,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

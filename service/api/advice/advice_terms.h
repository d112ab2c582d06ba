#ifndef API_ADVICE_ADVICE_TERMS_H
#define API_ADVICE_ADVICE_TERMS_H

#include "api/api.h"
#include "codec/advice/advice.h"
#include "store/clusters/cluster.h"

/* What an advice takes from the cluster it names: its size, and its price. */
struct advice_terms {
    struct pricing_terms pricing;
    bool has_cluster;
    struct cluster cluster;
};

/*
 * Read the cluster and its price, and bound the request by them: max_executors by its executors,
 * cores_per_executor where none is asked for, K of jobs that already run. A price in the request
 * overrides the book's. Without a cluster there is only that.
 *
 * PV_E_INVALID with a fault where it stands: a cluster that is not there or lacks what is needed,
 * more min_executors than it has, max_cost or a spot market without a price.
 */
enum pv_code advice_terms_load(struct api *api,
                               struct http_request *request,
                               struct codec_advice_request *asked,
                               struct advice_terms *terms,
                               struct pv_error *err) PV_MUSTCHECK;

/* A reason that states the cluster's bounds; a warning where its book has no price for it.
 * PV_E_MEMORY. */
enum pv_code advice_terms_explain(const struct advice_terms *terms,
                                  const struct codec_advice_request *asked,
                                  struct advice *advice,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef CODEC_CLUSTERS_CLUSTER_PERFORMANCE_H
#define CODEC_CLUSTERS_CLUSTER_PERFORMANCE_H

#include "base/json_writer.h"
#include "core/geo/performance_book.h"

/* What is known of one place of a book. */
struct codec_cluster_performance {
    const struct performance_ask *ask; /* of the book */
    const struct performance_book *book;
    const struct strview *names; /* of the ask's places */
    size_t place;                /* the cluster that is shown */
};

/* The reply of GET /v1/clusters/{name}/performance, as one object. What several clusters fall back
 * on alike is written once, beside their names. */
void codec_cluster_performance_encode(struct writer *w,
                                      const struct codec_cluster_performance *shown);

#endif

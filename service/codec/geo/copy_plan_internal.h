#ifndef CODEC_GEO_COPY_PLAN_INTERNAL_H
#define CODEC_GEO_COPY_PLAN_INTERNAL_H

#include "codec/geo/copy_plan.h"
#include "codec/json/text_index.h"

/* Between the files that read a request for a copy plan: clusters and links, jobs and terms. */

struct copy_plan_decoding {
    const struct codec_copy_plan_limits *limits;
    struct codec_copy_plan *request;
    struct arena *arena;
    struct text_index clusters;
    struct text_index operations;
    size_t tasks; /* so far */
};

/* The cluster that a node names; SIZE_MAX and a fault at `at` when there is none. */
size_t copy_plan_find_cluster(const struct copy_plan_decoding *d,
                              const struct codec_node *node,
                              const struct codec_node *at);

/* The member `clusters` of the top, with the dictionaries of both; the member `bandwidth`. */
void copy_plan_decode_clusters(struct copy_plan_decoding *d, const struct codec_node *top);
void copy_plan_decode_links(struct copy_plan_decoding *d, const struct codec_node *top);

/* The member `jobs`, with their tasks. After the clusters. */
void copy_plan_decode_jobs(struct copy_plan_decoding *d, const struct codec_node *top);

#endif

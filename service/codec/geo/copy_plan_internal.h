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

/* A list of pairs, as the speeds that they are. NULL when at fault. */
const struct speeds *copy_plan_decode_speeds(const struct copy_plan_decoding *d,
                                             const struct codec_node *node);

/* The member `processing` of a cluster, processing[i] of operation i: a list of speeds, as in
 * reports of samples, or an object with pairs for each operation. */
void copy_plan_decode_processing(const struct copy_plan_decoding *d,
                                 const struct codec_node *node,
                                 bool registered,
                                 const struct speeds **processing);

/* The member `jobs`, with their tasks. After the clusters. */
void copy_plan_decode_jobs(struct copy_plan_decoding *d, const struct codec_node *top);

#endif

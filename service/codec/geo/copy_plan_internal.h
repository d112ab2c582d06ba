#ifndef CODEC_GEO_COPY_PLAN_INTERNAL_H
#define CODEC_GEO_COPY_PLAN_INTERNAL_H

#include "codec/geo/copy_plan.h"

/* Between the files that read a request for a copy plan: clusters and links, jobs and terms. */

/* A name and its place in a list that is sorted by name. */
struct copy_plan_entry {
    struct strview name;
    size_t index;
};

struct copy_plan_dictionary {
    struct copy_plan_entry *entries;
    size_t n;
};

struct copy_plan_decoding {
    const struct codec_copy_plan_limits *limits;
    struct codec_copy_plan *request;
    struct arena *arena;
    struct copy_plan_dictionary clusters;
    struct copy_plan_dictionary operations;
    size_t tasks; /* so far */
};

/* Whether there is memory; else the reader's error says that there is none. */
bool copy_plan_allocated(const struct codec_node *node, const void *memory);

/* A number, or what stands in its place where it is NAN. */
double copy_plan_known_or(double value, double otherwise);

/* SIZE_MAX: it is not there. */
size_t copy_plan_look_up(const struct copy_plan_dictionary *dictionary, struct strview name);

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

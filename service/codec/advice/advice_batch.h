#ifndef CODEC_ADVICE_ADVICE_BATCH_H
#define CODEC_ADVICE_ADVICE_BATCH_H

#include "codec/advice/advice.h"
#include "codec/clusters/given_cluster.h"
#include "core/advice/batch_feasibility.h"

/* POST /v1/advice/batch: questions that are answered together. */

struct codec_advice_batch_limits {
    struct codec_advice_limits advice;
    size_t items;
};

struct codec_advice_batch {
    struct codec_given_cluster cluster;
    bool with_memory;      /* a launch_order was sent: jobs wait for memory */
    unsigned launch_order; /* enum edf_launch_order */
    struct codec_advice_batch_item {
        struct advice_question question;
        struct strview text; /* JSON, as it is kept with the advice */
        double release_s;
    } * items;
    size_t n;
};

/* Faults: those of codec_advice_decode, at /items/i; no items, or too many; releases_s of another
 * length; a launch_order without a cluster; running, copy_plan, or an include of what takes recorded runs. */
void codec_advice_batch_decode(const struct codec_node *node,
                               const struct codec_advice_batch_limits *limits,
                               struct codec_advice_batch *batch);

/* The reply. jobs: NULL without a cluster, as are reasons then. memory: NULL where none is counted. documents: the advice, as JSON. */
void codec_advice_batch_encode(struct writer *w,
                               const struct codec_given_cluster *cluster,
                               const struct batch_job jobs[],
                               const struct batch_outcome *outcome,
                               const struct edf_memory *memory,
                               const struct findings *reasons,
                               const struct strview documents[],
                               size_t n);

#endif

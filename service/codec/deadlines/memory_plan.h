#ifndef CODEC_DEADLINES_MEMORY_PLAN_H
#define CODEC_DEADLINES_MEMORY_PLAN_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/deadline/worker_memory.h"

/* What a client may ask for; from struct config. */
struct codec_memory_plan_limits {
    size_t applications;
};

struct codec_memory_application {
    struct strview name;
    struct worker_memory_application numbers;
};

struct codec_memory_newcomer {
    int64_t heap_bytes;
    bool off_heap;
};

extern const struct shape codec_memory_plan_shape;
extern const struct shape codec_memory_application_shape;
extern const struct shape codec_memory_newcomer_shape;

/* POST /v1/memory-plans (docs/design.md, "Memory plans"). */
struct codec_memory_plan {
    int64_t system_bytes;
    unsigned order; /* enum worker_memory_order */
    struct codec_memory_application *sent;
    struct worker_memory_application *applications;
    struct strview *names; /* names[i] belongs to applications[i] */
    size_t n;
    bool has_newcomer;
    struct codec_memory_newcomer newcomer;
    int64_t *options; /* sizes of heaps; NULL: not asked for */
    size_t n_options;
};

/*
 * Faults: unknown members; types and ranges; a name twice (at the second one); an application
 * without a deadline where they decide the order; more than `limits` allow.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_memory_plan_decode(const struct codec_node *node,
                              const struct codec_memory_plan_limits *limits,
                              struct codec_memory_plan *request);

/* The whole reply, as one object. */
void codec_memory_plan_encode(struct writer *w,
                              const struct codec_memory_plan *request,
                              const struct worker_memory_share shares[],
                              const struct worker_memory *plan,
                              const struct findings *warnings);

#endif

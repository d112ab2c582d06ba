/*
 * Any bytes as the body of POST /v1/memory-plans. Refused bodies say where they are wrong; no more
 * memory is given away than there is, whoever starts has its heap, and the reply is JSON.
 */
#include <jansson.h>

#include "codec/deadlines/memory_plan.h"
#include "core/deadline/explain.h"
#include "fuzz_body.h"

enum { APPLICATIONS_MAX = 32 };

static const struct codec_memory_plan_limits limits = {.applications = APPLICATIONS_MAX};

static void require_shares(const struct codec_memory_plan *asked,
                           const struct worker_memory_share shares[],
                           const struct worker_memory *plan)
{
    int64_t total = 0;
    size_t running = 0;
    for (size_t i = 0; i < asked->n; i++) {
        FUZZ_REQUIRE(shares[i].starts == (shares[i].total_bytes != WORKER_MEMORY_NONE));
        if (!shares[i].starts) /* there was no room, and there is none now */
            FUZZ_REQUIRE(asked->applications[i].heap_bytes > plan->pool_bytes);
        else
            total += shares[i].total_bytes;
        running += shares[i].starts;
    }
    FUZZ_REQUIRE(running == plan->running && total <= asked->system_bytes);
    FUZZ_REQUIRE(plan->heap_bytes + plan->pool_bytes == asked->system_bytes);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct worker_memory_share shares[APPLICATIONS_MAX];
    struct worker_memory plan;
    struct codec_memory_plan asked;
    struct writer w;
    size_t n;
    codec_memory_plan_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    FUZZ_REQUIRE(worker_memory_share_out(asked.system_bytes, (enum worker_memory_order)asked.order,
                                         asked.applications, asked.n, arena, shares, &plan,
                                         NULL) == PV_OK);
    require_shares(&asked, shares, &plan);
    struct findings warnings = {.arena = arena};
    worker_memory_warn(asked.names, asked.applications, asked.n, asked.system_bytes, &plan,
                       &warnings);
    writer_init(&w, arena);
    codec_memory_plan_encode(&w, &asked, shares, &plan, &warnings);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

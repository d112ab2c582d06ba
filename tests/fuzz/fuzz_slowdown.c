/*
 * Any bytes as the body of POST /v1/slowdowns. Refused bodies say where they are wrong; Jain's
 * index and shares of work are what they can be, classes ascend, and the reply is JSON.
 */
#include <jansson.h>

#include "codec/scheduling/slowdown.h"
#include "fuzz_body.h"

enum { JOBS_MAX = 100 };

static const struct codec_slowdown_limits limits = {.jobs = JOBS_MAX};

static void require_classes(const struct slowdown_summary *summary, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < summary->n_classes; i++) {
        const struct slowdown_class *class = &summary->classes[i];
        count += class->count;
        FUZZ_REQUIRE(class->count >= 1 && class->from_s < class->to_s);
        FUZZ_REQUIRE(class->work_share >= 0 && class->work_share <= 1 + 1e-9);
        FUZZ_REQUIRE(i == 0 || summary->classes[i - 1].from_s < class->from_s);
    }
    FUZZ_REQUIRE(count <= n);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct slowdown_summary summary;
    struct codec_slowdown asked;
    struct writer w;
    size_t n;
    codec_slowdown_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    FUZZ_REQUIRE(slowdown_summarize(asked.jobs, asked.n, asked.percentiles, asked.n_percentiles,
                                    arena, &summary, NULL) == PV_OK);
    FUZZ_REQUIRE(summary.jain > 0 && summary.jain <= 1 + 1e-9);
    require_classes(&summary, asked.n);
    struct findings warnings = {.arena = arena};
    slowdown_warn(&summary, &warnings);
    writer_init(&w, arena);
    codec_slowdown_encode(&w, &asked, &summary, &warnings);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

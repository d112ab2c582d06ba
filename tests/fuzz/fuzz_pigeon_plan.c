/*
 * Any bytes as the body of POST /v1/pigeon-plans. Refused bodies say where they are wrong;
 * probabilities are probabilities, whatever the load, and the reply is JSON.
 */
#include <jansson.h>

#include "codec/scheduling/pigeon_plan.h"
#include "fuzz_body.h"

enum { SIZES_MAX = 100 };

static void require_probability(double p)
{
    FUZZ_REQUIRE(p >= 0 && p <= 1);
}

static void require_candidate(const struct codec_pigeon_plan *asked,
                              const struct pigeon_candidate *candidate)
{
    require_probability(candidate->task_zero_queuing);
    require_probability(candidate->job_equal);
    require_probability(candidate->job_exponential);
    FUZZ_REQUIRE(candidate->queuing_s >= 0);
    FUZZ_REQUIRE(candidate->reserved_workers < candidate->group_size);
    FUZZ_REQUIRE(candidate->groups * candidate->group_size + candidate->leftover_workers ==
                 asked->terms.workers);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct pigeon_candidate candidates[SIZES_MAX];
    struct codec_pigeon_plan asked;
    struct writer w;
    size_t n;
    bool meets;
    codec_pigeon_plan_decode(top, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    FUZZ_REQUIRE(asked.n >= 1 && asked.n <= SIZES_MAX);
    for (size_t i = 0; i < asked.n; i++) {
        candidates[i] = pigeon_candidate_of(&asked.terms, asked.group_sizes[i]);
        require_candidate(&asked, &candidates[i]);
    }
    size_t recommended = pigeon_recommend(&asked.terms, candidates, asked.n, &meets);
    FUZZ_REQUIRE(recommended < asked.n);
    struct findings warnings = {.arena = arena};
    pigeon_plan_warn(&asked.terms, &candidates[recommended], meets, &warnings);
    writer_init(&w, arena);
    codec_pigeon_plan_encode(&w, &asked, candidates, recommended, meets, &warnings);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

/*
 * Any bytes as the body of POST /v1/speculation-decisions. Refused bodies say where they are wrong;
 * levels and groups are numbered without gaps, a task that gets a copy runs on a straggler, and the
 * copy on no straggler and no lower level, all figures are numbers, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "codec/scheduling/speculation.h"
#include "fuzz_body.h"

enum { NODES_MAX = 40 };

static const struct codec_speculation_limits limits = {
    .nodes = NODES_MAX, .tasks = 100, .types = 12, .auto_nodes = 30};

static void require_levels(const struct codec_speculation *asked, const struct node_levels *levels)
{
    size_t greatest = 0;
    size_t groups = 0;
    for (size_t i = 0; i < asked->n_nodes; i++) {
        FUZZ_REQUIRE(levels->level[i] >= 1);
        greatest = levels->level[i] > greatest ? levels->level[i] : greatest;
        if (levels->group != NULL) {
            FUZZ_REQUIRE(levels->group[i] <= groups);
            groups += levels->group[i] == groups;
        }
    }
    FUZZ_REQUIRE(greatest == levels->highest && groups == levels->n_groups);
    FUZZ_REQUIRE(isnan(levels->silhouette) || fabs(levels->silhouette) <= 1 + 1e-9);
}

static void require_candidate(const struct esplash_candidate *candidate,
                              const struct node_levels *levels)
{
    size_t level = levels->level[candidate->place.node];
    if (candidate->reason != ESPLASH_ASSESSED)
        return;
    FUZZ_REQUIRE(candidate->min_level >= level && candidate->min_level <= levels->highest);
    FUZZ_REQUIRE(candidate->n_expected == levels->highest - level + 1);
    FUZZ_REQUIRE(isfinite(candidate->value_s) && candidate->expected_s[0] > 0);
}

static void require_action(const struct esplash_decision *decision,
                           const struct node_levels *levels)
{
    if (decision->action.candidate == SPECULATION_NONE) {
        FUZZ_REQUIRE(decision->action.host == SPECULATION_NONE);
        return;
    }
    const struct esplash_candidate *chosen = &decision->candidates[decision->action.candidate];
    size_t host = decision->action.host;
    FUZZ_REQUIRE(chosen->value_s > 0);
    FUZZ_REQUIRE(host == SPECULATION_NONE ||
                 (host != chosen->place.node && !decision->nodes[host].straggler &&
                  levels->level[host] >= chosen->min_level));
}

static void decide_esplash(const struct codec_speculation *asked,
                           const struct speculation_gaps *gaps,
                           struct arena *arena,
                           struct writer *w)
{
    struct findings warnings = {.arena = arena};
    struct node_levels levels;
    struct esplash_decision decision;
    if (asked->level != NULL)
        levels = node_levels_given(asked->level, asked->n_nodes);
    else
        FUZZ_REQUIRE(node_levels_find(&asked->cluster, asked->level_count, arena, &levels, NULL) ==
                     PV_OK);
    require_levels(asked, &levels);
    FUZZ_REQUIRE(esplash_decide(&asked->cluster, &levels, &asked->terms, arena, &decision, NULL) ==
                 PV_OK);
    for (size_t i = 0; i < asked->n_nodes; i++)
        FUZZ_REQUIRE(isfinite(decision.nodes[i].straggler_value));
    for (size_t i = 0; i < decision.n_candidates; i++) {
        FUZZ_REQUIRE(decision.nodes[decision.candidates[i].place.node].straggler);
        require_candidate(&decision.candidates[i], &levels);
    }
    for (size_t i = 0; i < decision.n_rechecks; i++)
        require_candidate(&decision.rechecks[i], &levels);
    require_action(&decision, &levels);
    codec_speculation_warn(asked, &levels, gaps, &warnings);
    codec_esplash_encode(w, asked, &levels, &decision, &warnings);
}

static void decide_late(const struct codec_speculation *asked,
                        const struct speculation_gaps *gaps,
                        struct arena *arena,
                        struct writer *w)
{
    struct findings warnings = {.arena = arena};
    struct late_decision decision;
    FUZZ_REQUIRE(late_decide(&asked->cluster, arena, &decision, NULL) == PV_OK);
    FUZZ_REQUIRE(decision.action == SPECULATION_NONE ||
                 decision.candidates[decision.action].value_s > 0);
    for (size_t i = 0; i < decision.n_candidates; i++)
        FUZZ_REQUIRE(!isinf(decision.candidates[i].value_s));
    codec_speculation_warn(asked, NULL, gaps, &warnings);
    codec_late_encode(w, asked, &decision, &warnings);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_speculation asked;
    struct speculation_gaps gaps;
    struct writer w;
    size_t n;
    codec_speculation_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    writer_init(&w, arena);
    FUZZ_REQUIRE(speculation_find_gaps(&asked.cluster, arena, &gaps, NULL) == PV_OK);
    if (asked.kind == CODEC_SPECULATION_ESPLASH)
        decide_esplash(&asked, &gaps, arena, &w);
    else
        decide_late(&asked, &gaps, arena, &w);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

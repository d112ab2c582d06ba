#include "core/scheduling/speculation/esplash.h"

#include "base/rounding.h"
#include "core/scheduling/speculation/esplash_internal.h"

const struct esplash_terms esplash_terms_default = {.threshold = 3,
                                                    .duration_weight = 1,
                                                    .rate_weight = 1,
                                                    .deviation_floor = 0.05,
                                                    .ratio_cap = 10};

/* NAN is above nothing. */
static bool above(double a, double b)
{
    return a > b && !rounding_equal(a, b);
}

bool esplash_keeps(const struct esplash_candidate *recheck)
{
    return above(recheck->value_s, 0);
}

static size_t choose_candidate(const struct esplash_decision *decision)
{
    size_t best = SPECULATION_NONE;
    double best_s = 0;
    for (size_t i = 0; i < decision->n_candidates; i++) {
        if (above(decision->candidates[i].value_s, best_s)) {
            best = i;
            best_s = decision->candidates[i].value_s;
        }
    }
    return best;
}

/* On the highest level that has room; there, where most room is. */
static size_t choose_host(const struct speculation_cluster *cluster,
                          const struct node_levels *levels,
                          const struct esplash_node nodes[],
                          const struct esplash_candidate *candidate)
{
    size_t host = SPECULATION_NONE;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        size_t room = cluster->nodes[i].free_containers;
        if (nodes[i].straggler || i == candidate->place.node || room == 0 ||
            levels->level[i] < candidate->min_level)
            continue;
        if (host == SPECULATION_NONE || levels->level[i] > levels->level[host] ||
            (levels->level[i] == levels->level[host] &&
             room > cluster->nodes[host].free_containers))
            host = i;
    }
    return host;
}

enum pv_code esplash_decide(const struct speculation_cluster *cluster,
                            const struct node_levels *levels,
                            const struct esplash_terms *terms,
                            struct arena *arena,
                            struct esplash_decision *decision,
                            struct pv_error *err)
{
    struct esplash_decision made = {.action = {SPECULATION_NONE, SPECULATION_NONE}};
    PV_TRY(esplash_compare(cluster, levels, terms, arena, &made, err));
    PV_TRY(esplash_assess(cluster, levels, arena, &made, err));
    made.action.candidate = choose_candidate(&made);
    if (made.action.candidate != SPECULATION_NONE)
        made.action.host =
            choose_host(cluster, levels, made.nodes, &made.candidates[made.action.candidate]);
    *decision = made;
    return PV_OK;
}

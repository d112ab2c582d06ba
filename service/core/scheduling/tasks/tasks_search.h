#ifndef CORE_SCHEDULING_TASKS_TASKS_SEARCH_H
#define CORE_SCHEDULING_TASKS_TASKS_SEARCH_H

#include "core/scheduling/comparison/policy_search.h"
#include "core/scheduling/tasks/tasks_simulation.h"

/* Which terms of schedulers of bags of tasks a search tries (docs/design.md, "Searching for a
 * scheduler"). */

/* Of a policy: all combinations of these values; of an empty list, or of one that is not the
 * policy's, those that suit the workload. Borrowed. */
struct tasks_family {
    enum tasks_policy_id policy;
    const uint64_t *groups; /* >= 1 */
    size_t n_groups;
    const double *reserved_shares; /* [0, 0.5] */
    size_t n_reserved_shares;
    const uint64_t *weights; /* >= 1 */
    size_t n_weights;
    const uint64_t *probes_per_task; /* >= 1 */
    size_t n_probes_per_task;
    /* Policies that are compared beside what is found. Where the family lists no values, those of its
     * policy without a layout are candidates, too: so that nothing worse is found. */
    const struct tasks_terms *compared;
    size_t n_compared;
};

struct tasks_tried {
    struct tasks_terms *terms; /* n, no two alike in what they do */
    size_t n;
    size_t left_out; /* cannot be simulated: more groups than workers, a placement in a group that
                        there is not, more memory than allowed; or compared, but one too many */
};

/* The candidates of all families, in the arena, of a complete model; of one whose jobs are counted
 * only, those that it would have with short and long jobs and no placement. memory_max: of
 * tasks_comparison_memory. PV_E_MEMORY; PV_E_LIMIT: there are more than `most`. O(candidates^2). */
enum pv_code tasks_search_candidates(const struct tasks_model *model,
                                     const struct tasks_family families[],
                                     size_t n,
                                     size_t memory_max,
                                     size_t most,
                                     struct arena *arena,
                                     struct tasks_tried *tried,
                                     struct pv_error *err) PV_MUSTCHECK;

/* What a search among them goes by, in the arena; its budget and chance of error are the caller's.
 * retimed: arrivals are drawn. false: out of memory. */
bool tasks_search_plan(const struct tasks_model *model,
                       const struct tasks_tried *tried,
                       bool retimed,
                       struct arena *arena,
                       struct policy_search_plan *plan);

/* The terms of the best candidate at each load, in the arena. NULL: out of memory. */
const struct tasks_terms *tasks_search_best(const struct tasks_tried *tried,
                                            const struct policy_search_found found[],
                                            size_t loads,
                                            struct arena *arena);

#endif

#ifndef CORE_SCHEDULING_SLOTS_SLOTS_SEARCH_H
#define CORE_SCHEDULING_SLOTS_SLOTS_SEARCH_H

#include "core/scheduling/comparison/policy_search.h"
#include "core/scheduling/slots/slots_comparison.h"

/* Which terms of policies for slots a search tries (docs/design.md, "Searching for a scheduler"). */

struct slots_values {
    const double *at;
    size_t n;
};

/* Of a policy: all combinations of these values; of an empty list, or of one that is not the
 * policy's, those that suit the jobs. Borrowed. */
struct slots_family {
    enum slots_policy_index policy; /* fifo, fair, fbq, tags, sita or comp */
    const uint64_t *concurrencies;  /* fair */
    size_t n_concurrencies;
    const uint64_t *queues; /* comp; fbq, tags and sita: how many, each >= 2 */
    size_t n_queues;
    const struct slots_values *limits_s; /* fbq, tags, sita: as in struct slots_terms; instead of
                                            queues */
    size_t n_limits_s;
    const struct slots_values *partitions; /* tags, sita: each for limits of which there is one
                                              fewer */
    size_t n_partitions;
    /* Policies that are compared beside what is found. Where the family lists no values, those of its
     * policy are candidates, too: so that nothing worse is found. */
    const struct slots_terms *compared;
    size_t n_compared;
};

struct slots_tried {
    struct slots_terms *terms; /* n, no two alike */
    size_t n;
    size_t
        left_out; /* cannot be simulated: no slot is left for a partition; or compared, but one too
                        many */
};

/* The candidates of all families for n_jobs >= 1 jobs, in the arena. PV_E_MEMORY; PV_E_LIMIT: there
 * are more than `most`. O(jobs log(jobs) + candidates x jobs). */
enum pv_code slots_search_candidates(const struct slots_cluster *cluster,
                                     const struct slots_job jobs[],
                                     size_t n_jobs,
                                     const struct slots_family families[],
                                     size_t n,
                                     size_t most,
                                     struct arena *arena,
                                     struct slots_tried *tried,
                                     struct pv_error *err) PV_MUSTCHECK;

/* What a search among them goes by, in the arena; its budget and chance of error are the caller's.
 * false: out of memory. */
bool slots_search_plan(const struct slots_comparison *comparison,
                       const struct slots_tried *tried,
                       struct arena *arena,
                       struct policy_search_plan *plan);

/* The terms of the best candidate at each load, in the arena. NULL: out of memory. */
const struct slots_terms *slots_search_best(const struct slots_tried *tried,
                                            const struct policy_search_found found[],
                                            size_t loads,
                                            struct arena *arena);

#endif

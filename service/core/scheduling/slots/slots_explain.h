#ifndef CORE_SCHEDULING_SLOTS_SLOTS_EXPLAIN_H
#define CORE_SCHEDULING_SLOTS_SLOTS_EXPLAIN_H

#include "core/scheduling/comparison/policy_explain.h"
#include "core/scheduling/slots/slots_comparison.h"
#include "core/scheduling/slots/slots_search.h"

/* The classes of jobs by size under a policy: means over its repetitions, in the arena. They are
 * the same classes in all of them, and there are none without details. NULL: out of memory. */
const struct slowdown_class *slots_classes(const struct slots_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t policy,
                                           size_t *n,
                                           struct arena *arena);

/* What policies for jobs on slots come to at a load, as policy_explain takes it: completion times,
 * slowdowns of small and large jobs, makespan and fairness. What is borrowed is the caller's. searched
 * NULL: no search. baseline SIZE_MAX: none. In the arena. NULL: out of memory. */
const struct policy_results *slots_results(const struct slots_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t at, /* which of the loads */
                                           enum policy_objective objective,
                                           const struct strview names[],
                                           const struct policy_searched *searched,
                                           size_t baseline,
                                           struct arena *arena);

/* How what a search found at a load is described: the best candidate's jobs at a time and number of
 * queues beside those of the others of its policy; families: n, that were searched. found->n >= 1.
 * O(candidates). */
struct policy_searched slots_searched(const struct slots_tried *tried,
                                      const struct slots_family families[],
                                      size_t n,
                                      const struct policy_search_found *found,
                                      double asked_chance);

#endif

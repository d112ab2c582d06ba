#ifndef CORE_SCHEDULING_TASKS_TASKS_EXPLAIN_H
#define CORE_SCHEDULING_TASKS_TASKS_EXPLAIN_H

#include "core/scheduling/comparison/policy_explain.h"
#include "core/scheduling/tasks/tasks_comparison.h"
#include "core/scheduling/tasks/tasks_search.h"

/* What schedulers of bags of tasks come to at a load, as policy_explain takes it: completion times
 * of short and long jobs, or of the highest
 * and the lowest declared class, and the makespan; of pigeon and centralised, the masters. The name, and
 * what is borrowed, is the caller's. searched NULL: no search. baseline SIZE_MAX: none. In the arena. NULL: out of memory. */
const struct policy_results *tasks_results(const struct tasks_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t at, /* which of the loads */
                                           enum policy_objective objective,
                                           const char *of_jobs,
                                           const struct strview names[],
                                           const struct policy_searched *searched,
                                           size_t baseline,
                                           struct arena *arena);

/* How what a search of the model's jobs found at a load is described: the best candidate's terms beside
 * those of the others of its policy. found->n >= 1. O(candidates). */
struct policy_searched tasks_searched(const struct tasks_model *model,
                                      const struct tasks_tried *tried,
                                      const struct policy_search_found *found,
                                      double asked_chance);

#endif

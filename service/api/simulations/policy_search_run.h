#ifndef API_SIMULATIONS_POLICY_SEARCH_RUN_H
#define API_SIMULATIONS_POLICY_SEARCH_RUN_H

#include "api/simulations/comparison_progress.h"
#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/comparison/policy_comparison.h"
#include "core/scheduling/comparison/policy_search.h"

/* A search for the best policy and terms as part of an operation: what the core wants simulated next
 * is, side by side on threads. */
struct search_run {
    struct operation_run *run;
    const struct codec_comparison *asked; /* its loads share the budget evenly */
    struct policy_search_plan plan; /* of each load, but for the budget and the chance of error */
    size_t left_out;                /* candidates that were found to be impossible before */
    int64_t *done;                  /* of the operation so far, in tasks by weight; counted on */
    int64_t after;                  /* likewise, what is simulated after the search */
    void *kind;                     /* is passed on */

    /* From here on the first so many jobs are simulated. What is made lives in the arena until the
     * next call. */
    enum pv_code (*cut)(void *kind, size_t jobs, struct arena *arena, struct pv_error *err);
    /* Simulate a candidate, `policy` of the cell, of these jobs; the objective. On any thread. */
    enum pv_code (*simulate)(void *kind,
                             const struct policy_cell *cell,
                             const struct comparison_progress *progress,
                             struct arena *scratch,
                             double *value,
                             struct pv_error *err);
};

/* What is found at each load: an array in the arena of the operation. As operation_parts_run, and
 * PV_E_MEMORY. */
enum pv_code search_run_all(struct search_run *search,
                            const struct policy_search_found **found,
                            struct pv_error *err) PV_MUSTCHECK;

#endif

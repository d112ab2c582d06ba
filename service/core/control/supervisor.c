/*
 * xSpark's supervisor of a worker (S. Ripamonti, thesis, Politecnico di Milano 2017, section 3.5,
 * Alg. 2 to 4). Differs from the thesis's listing, which rounds every grant up: quanta are dealt by
 * the largest remainder, so that the worker is never overcommitted. O(n log n).
 */
#include "core/control/supervisor.h"

#include "core/deadline/core_quantum.h"

static enum pv_code grant(const struct supervisor_terms *terms,
                          const struct contention_application executors[],
                          size_t n,
                          struct arena *scratch,
                          double cores[],
                          struct contention_outcome *outcome,
                          struct pv_error *err)
{
    const struct contention_terms sharing = {terms->gamma, terms->worker_cores,
                                             terms->average_nominal_rate};
    struct contention_share *shares = arena_array(scratch, n, sizeof *shares);
    double *exact = arena_array(scratch, n, sizeof *exact);
    if (shares == NULL || exact == NULL)
        return pv_no_memory(err);
    PV_TRY(
        contention_resolve(terms->strategy, &sharing, executors, n, scratch, shares, outcome, err));
    for (size_t i = 0; i < n; i++)
        exact[i] = shares[i].cores;
    return core_quantum_round(exact, n, terms->worker_cores, terms->core_quantum, scratch, cores)
               ? PV_OK
               : pv_no_memory(err);
}

enum pv_code supervisor_grant(const struct supervisor_terms *terms,
                              const struct contention_application executors[],
                              size_t n,
                              struct arena *scratch,
                              double cores[],
                              struct contention_outcome *outcome,
                              struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    if (n == 0) {
        *outcome = (struct contention_outcome){0};
        return PV_OK;
    }
    enum pv_code code = grant(terms, executors, n, scratch, cores, outcome, err);
    arena_rewind(scratch, mark);
    return code;
}

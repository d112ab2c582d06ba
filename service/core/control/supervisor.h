#ifndef CORE_CONTROL_SUPERVISOR_H
#define CORE_CONTROL_SUPERVISOR_H

#include "core/deadline/contention.h"

/*
 * The supervisor of one worker: it collects what the controllers of its executors ask for, shares
 * the worker's cores (core/deadline/contention.h) and grants whole quanta (S. Ripamonti, xSpark,
 * thesis, Politecnico di Milano 2017, section 3.5, Alg. 2 to 4; docs/design.md, "Quota loops").
 */
struct supervisor_terms {
    const struct contention_strategy *strategy;
    double gamma;                /* 0: no more than requested .. 1: all cores are given away */
    double average_nominal_rate; /* scales the weights of `speed` */
    double worker_cores;         /* > 0 */
    double core_quantum;         /* (0, 1] */
};

/*
 * One step over n >= 0 executors of the worker, in the order in which ties are decided. Those that
 * ask for nothing take part: they count in the weights. cores[i], a multiple of the quantum, is
 * what executors[i] is granted; the sum never exceeds the worker's cores.
 *
 * scratch is back at its mark. cores and *outcome are written only on PV_OK. PV_E_MEMORY.
 * O(n log n).
 */
enum pv_code supervisor_grant(const struct supervisor_terms *terms,
                              const struct contention_application executors[],
                              size_t n,
                              struct arena *scratch,
                              double cores[],
                              struct contention_outcome *outcome,
                              struct pv_error *err) PV_MUSTCHECK;

#endif

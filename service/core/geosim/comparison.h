#ifndef CORE_GEOSIM_COMPARISON_H
#define CORE_GEOSIM_COMPARISON_H

#include <stdbool.h>

#include "core/geosim/flow.h"

/*
 * Policies that carried out the same workload, side by side: what their flow times say, what each
 * saves against a baseline workflow by workflow (PingAn, section 6), which is best and how sure
 * that is.
 */
enum { COMPARISON_QUANTILES = 8, COMPARISON_CURVE = 41 };

/* The shares whose quantiles are told, 0.05 to 0.99. */
extern const double comparison_quantiles[COMPARISON_QUANTILES];

/* A distribution told shortly; figures are NAN where there is nothing to tell of. */
struct comparison_spread {
    size_t n;      /* in it */
    size_t absent; /* workflows that were not done in time */
    double mean;
    double quantiles[COMPARISON_QUANTILES];
    /* CDF: values at shares 0, 1/40, ... 1 of those that are there (type 7). */
    double curve[COMPARISON_CURVE];
};

/* False: out of memory. */
bool comparison_spread_of(const double figures[],
                          size_t n,
                          struct arena *scratch,
                          struct comparison_spread *spread);

/* The share of curve[i]. */
double comparison_share(size_t i);

struct comparison_best {
    size_t policy; /* most workflows done, then least mean flow time, then in order */
    size_t next;   /* likewise of the others; SIZE_MAX: there is none */
    double margin; /* share of the next one's mean that the best one saves; NAN: not comparable */
    /* Whether the mean difference, workflow by workflow, is at least twice its standard error (a
     * policy that got more workflows done is clear at once). */
    bool clear;
};

/* flow_s[policy][workflow], n_policies >= 1. */
void comparison_choose(const double *const flow_s[],
                       size_t n_policies,
                       size_t n_workflows,
                       struct comparison_best *best);

#endif

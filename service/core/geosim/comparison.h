#ifndef CORE_GEOSIM_COMPARISON_H
#define CORE_GEOSIM_COMPARISON_H

#include <stdbool.h>

#include <stddef.h>

#include "base/arena.h"

/*
 * Policies that carried out the same workload, compared (PingAn, section 6): the distributions of
 * their flow times, what each policy saves against a baseline workflow by workflow, which policy is
 * best, and whether the difference is significant. The flow time of a workflow that was not done in
 * time is NAN.
 */

/* The mean of each of n workflows over the repetitions, each of which is n flow times; NAN where a
 * workflow was not done in one of them. */
void comparison_average(const double *const repetitions[],
                        size_t n_repetitions,
                        size_t n,
                        double mean[]);

/* For each workflow the share of its flow time under another policy that this one saves: 1 -
 * flow/other, negative where it takes longer, NAN where either was not done. */
void comparison_reduction(const double flow_s[],
                          const double other_s[],
                          size_t n,
                          double reduction[]);

enum { COMPARISON_QUANTILES = 8, COMPARISON_CURVE = 41 };

/* The shares whose quantiles are reported, 0.05 to 0.99. */
extern const double comparison_quantiles[COMPARISON_QUANTILES];

/* A summary of a distribution; figures are NAN where it has no values. */
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

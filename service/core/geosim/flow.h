#ifndef CORE_GEOSIM_FLOW_H
#define CORE_GEOSIM_FLOW_H

#include <stddef.h>

#include "base/arena.h"

/* What flow times say (PingAn, section 6.1): of each workflow, averaged over repetitions; NAN where
 * it was not done in time in one of them. */

/* The mean of each of n workflows over the repetitions, each of which is n flow times. */
void flow_average(const double *const repetitions[], size_t n_repetitions, size_t n, double mean[]);

/* Of each workflow the share of its flow time under another policy that this one saves: 1 -
 * flow/other, negative where it takes longer, NAN where either was not done. */
void flow_reduction(const double flow_s[], const double other_s[], size_t n, double reduction[]);

/* Figures in rising order, those that are not numbers left out but counted. */
struct flow_sample {
    size_t n;      /* in order */
    size_t absent; /* NAN */
    double *ascending;
    double mean; /* of those that are there; NAN: none is */
};

/* A copy of the figures, in the arena. ascending NULL: memory. */
struct flow_sample flow_sort(const double figures[], size_t n, struct arena *arena);

/* The value that a share q of those that are there does not exceed, type 7; NAN when there are
 * none. */
double flow_quantile(const struct flow_sample *sample, double q);

/* The share of all, absent ones included, that is at most `limit`; NAN when there are none. */
double flow_share_within(const struct flow_sample *sample, double limit);

#endif

#ifndef CORE_GEO_PLANNERS_IRIDIUM_H
#define CORE_GEO_PLANNERS_IRIDIUM_H

#include <stddef.h>
#include <stdint.h>

/* A cluster as Iridium (iridium.c) sees it. */
struct iridium_site {
    double bytes;          /* it holds */
    double up_bytes_per_s; /* > 0 */
    double down_bytes_per_s;
    int64_t slots; /* idle */
    int64_t tasks; /* the result */
};

/* Divide n tasks, which the slots allow, among the sites so that the longest transfer is least;
 * returns its seconds. */
double iridium_divide(struct iridium_site sites[], size_t n_sites, int64_t n);

#endif

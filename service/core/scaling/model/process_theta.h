#ifndef CORE_SCALING_MODEL_PROCESS_THETA_H
#define CORE_SCALING_MODEL_PROCESS_THETA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_THETA_MAX = 27 };

/*
 * The coefficients of a process over contexts (core/scaling/laws/context_process.h) as a search
 * found them. They depend on nothing but the cells, so whoever has them of the same cells needs no
 * search and predicts the same to the last digit.
 */
struct process_theta {
    uint64_t cells; /* a digest of all that the search goes by */
    size_t n;
    double at[PROCESS_THETA_MAX]; /* all > 0 */
    bool kept;                    /* taken over (observation.theta) rather than searched for */
};

#endif

#include "core/history/stage_weight.h"

#include <math.h>

double stage_weight(double stages_left, double left_s, double duration_s, double beta)
{
    /* The quotient first: then the last stage weighs exactly 1. */
    return beta * stages_left + (1 - beta) * (left_s / duration_s);
}

void stage_weights(
    const double durations_s[], const bool skipped[], size_t n, double beta, double weights[])
{
    double left_s = 0;
    double stages_left = 0;
    /* From the last stage back, so that what is left is a running sum. */
    for (size_t i = n; i-- > 0;) {
        weights[i] = 0;
        if (skipped[i])
            continue;
        left_s += durations_s[i];
        stages_left += 1;
        weights[i] = durations_s[i] > 0 ? stage_weight(stages_left, left_s, durations_s[i], beta)
                                        : (double)NAN;
    }
}

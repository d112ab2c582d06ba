#ifndef CORE_HISTORY_STAGE_WEIGHT_H
#define CORE_HISTORY_STAGE_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How much of the time that is left a stage may claim (S. Ripamonti, xSpark, thesis, Politecnico
 * di Milano 2017, section 2.1.2; docs/design.md, "Stage plans"): among the stages not skipped,
 * in order of id, with k included in "left",
 *
 *     w1 = stages left,  w2 = duration left / duration of k,  weight = beta w1 + (1 - beta) w2
 *
 * durations_s, skipped, weights: n entries, ascending by stage id. A skipped stage has weight 0. A
 * weight that needs a duration which is unknown (NAN), or a zero one as divisor, is NAN.
 * O(n).
 */
void stage_weights(
    const double durations_s[], const bool skipped[], size_t n, double beta, double weights[]);

/* The weight of one stage: stages_left and left_s count those left, itself included; duration_s > 0
 * is its own. */
double stage_weight(double stages_left, double left_s, double duration_s, double beta);

/* The share of w1 that xSpark's authors use, and the default of stage plans. */
#define STAGE_WEIGHT_BETA 0.33

#endif

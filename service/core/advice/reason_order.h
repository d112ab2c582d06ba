#ifndef CORE_ADVICE_REASON_ORDER_H
#define CORE_ADVICE_REASON_ORDER_H

#include "base/finding.h"

/*
 * Orders the reasons of advice by what they decide, because readers show the first three: the reason
 * of the verdict, what limits the answer (late runs, a slowdown, interruptions, or what bounds the
 * duration), how the answer compares with the last run. Cures and where the numbers are from follow.
 * Reasons of one rank keep their order. O(n^2) for the about 15 reasons of an answer.
 */
void reasons_order(struct findings *reasons);

#endif

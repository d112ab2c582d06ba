#ifndef BASE_ROUNDING_H
#define BASE_ROUNDING_H

#include <stdbool.h>

/*
 * Ceil and floor for numbers that arithmetic has touched: a value within 1e-9 max(1, |x|) of an
 * integer counts as that integer (docs/design.md, "Words and units"), so that 16.000000000000004
 * cores are 16 and not 17. Infinities and NAN are answered as they are.
 */
double rounding_ceil(double x);
double rounding_floor(double x);

/* Whether two figures are equal: within 1e-9 max(1, |a|, |b|). */
bool rounding_equal(double a, double b);

/* How long it is from one instant to another that is reached by a few additions, at least `least` by
 * what is added: `to - from`, but `least` where it is below by no more than additions round. Far from
 * 0 instants are coarse, and a short time between them may seem shorter than it is. */
double rounding_elapsed(double from, double to, double least);

#endif

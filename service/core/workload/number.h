#ifndef CORE_WORKLOAD_NUMBER_H
#define CORE_WORKLOAD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers in the text of traces. */

/* Take a number as JSON writes it (-1, 0.25, 1e-05; no sign +, no leading zeros, no words) from the
 * front of [*at, end), rounded correctly; infinite where it is beyond a double. false: there is
 * none, or it has more than 63 characters; *at stays. */
bool number_take(const char **at, const char *end, double *value);

/* Take digits, with a minus where there is one. false: there are none, or it is beyond int64_t. */
bool number_take_integer(const char **at, const char *end, int64_t *value);

/* 10^n for 0 <= n <= 22: exact. */
double number_power_of_ten(unsigned n);

#endif

#ifndef BASE_JSON_DECIMAL_H
#define BASE_JSON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * digits * 10^exponent as the nearest double, of two as near the even one: what strtod answers,
 * without its text. false: it takes more than 128 bits to know, and *value is as it was; that is so
 * only where |exponent| > JSON_DECIMAL_EXPONENT_MAX.
 */
enum { JSON_DECIMAL_EXPONENT_MAX = 27 };
bool json_decimal_value(uint64_t digits, int exponent, double *value);

#endif

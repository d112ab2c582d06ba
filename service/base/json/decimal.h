#ifndef BASE_JSON_DECIMAL_H
#define BASE_JSON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

enum { JSON_DECIMAL_EXPONENT_MAX = 27 };

/* 5^0 to 5^JSON_DECIMAL_EXPONENT_MAX */
extern const uint64_t json_decimal_fives[JSON_DECIMAL_EXPONENT_MAX + 1];

/*
 * digits * 10^exponent as the nearest double, of two as near the even one: what strtod answers,
 * without its text. false: it takes more than 128 bits to know, and *value is as it was; that is so
 * only where |exponent| > JSON_DECIMAL_EXPONENT_MAX.
 */
bool json_decimal_value(uint64_t digits, int exponent, double *value);

#endif

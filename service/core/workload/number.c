#include "core/workload/number.h"

#include <stdlib.h>
#include <string.h>

enum {
    POWER_MOST = 22,  /* the largest power of ten that is a double */
    TEXT_MOST = 63,   /* characters of a number that is left to strtod */
    DIGITS_MOST = 19, /* that always fit a uint64_t */
    EXPONENT_MOST = 9999
};

double number_power_of_ten(unsigned n)
{
    static const double powers[POWER_MOST + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[n];
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct decimal {
    uint64_t mantissa;
    unsigned digits; /* of the mantissa, leading zeros left out */
    int exponent;
};

/* The digits from `at` on, into the mantissa; returns where they end. */
static inline const char *take_digits(const char *at, const char *end, struct decimal *decimal)
{
    for (; at < end && is_digit(*at); at++) {
        decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(*at - '0');
        decimal->digits += decimal->mantissa != 0;
    }
    return at;
}

/* Standing at e or E. NULL: no digits follow. */
static const char *take_exponent(const char *at, const char *end, int *exponent)
{
    bool negative = false;
    int value = 0;
    at++;
    if (at < end && (*at == '-' || *at == '+'))
        negative = *at++ == '-';
    const char *from = at;
    for (; at < end && is_digit(*at); at++)
        value = value < EXPONENT_MOST ? value * 10 + (*at - '0') : value;
    *exponent += negative ? -value : value;
    return at > from ? at : NULL;
}

/* Exact where mantissa and power of ten are, for then only the last operation rounds (W. D. Clinger,
 * "How to read floating point numbers accurately", PLDI 1990). */
static bool is_exact(const struct decimal *decimal)
{
    return decimal->digits <= DIGITS_MOST && decimal->mantissa <= UINT64_C(1) << 53 &&
           decimal->exponent <= POWER_MOST && decimal->exponent >= -POWER_MOST;
}

static bool by_strtod(const char *at, const char *end, double *value)
{
    char copy[TEXT_MOST + 1];
    size_t n = (size_t)(end - at);
    if (n > TEXT_MOST)
        return false;
    memcpy(copy, at, n);
    copy[n] = '\0';
    *value = strtod(copy, NULL);
    return true;
}

bool number_take(const char **text, const char *end, double *value)
{
    const char *begin = *text;
    bool negative = begin < end && *begin == '-';
    const char *whole = begin + negative;
    struct decimal decimal = {0};
    const char *at = take_digits(whole, end, &decimal);
    if (at == whole || (*whole == '0' && at - whole > 1))
        return false;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = take_digits(fraction, end, &decimal);
        if (at == fraction)
            return false;
        /* A fraction too long for an int is too long for by_strtod as well. */
        decimal.exponent = at - fraction > EXPONENT_MOST ? -EXPONENT_MOST : -(int)(at - fraction);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = take_exponent(at, end, &decimal.exponent);
        if (at == NULL)
            return false;
    }
    if (is_exact(&decimal)) {
        double mantissa = (double)decimal.mantissa;
        double magnitude = decimal.exponent < 0
                               ? mantissa / number_power_of_ten((unsigned)-decimal.exponent)
                               : mantissa * number_power_of_ten((unsigned)decimal.exponent);
        *value = negative ? -magnitude : magnitude;
    } else if (!by_strtod(begin, at, value)) {
        return false;
    }
    *text = at;
    return true;
}

bool number_take_integer(const char **text, const char *end, int64_t *value)
{
    const char *at = *text;
    bool negative = at < end && *at == '-';
    int64_t sum = 0;
    at += negative;
    const char *from = at;
    for (; at < end && is_digit(*at); at++) {
        int digit = *at - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    if (at == from)
        return false;
    *value = sum;
    *text = at;
    return true;
}

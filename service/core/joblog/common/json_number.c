/* Numbers of the log that are more than a few digits. */
#include <stdlib.h>
#include <string.h>

#include "core/joblog/common/json.h"

/* Fractions and exponents: rare, so a copy and strtod will do. */
static int64_t round_decimal(struct strview word)
{
    char copy[64];
    size_t n = word.n < sizeof copy - 1 ? word.n : sizeof copy - 1;
    memcpy(copy, word.at, n);
    copy[n] = '\0';
    double value = strtod(copy, NULL);
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value >= -0x1p63)
        return (int64_t)value;
    return INT64_MIN; /* a NaN cannot come from digits */
}

int64_t json_number(struct strview word)
{
    bool negative = word.at[0] == '-';
    size_t i = negative;
    int64_t value = 0;
    bool over = false;
    /* Grow away from zero so that INT64_MIN fits too. */
    for (; i < word.n && word.at[i] >= '0' && word.at[i] <= '9'; i++) {
        int digit = word.at[i] - '0';
        over = over || __builtin_mul_overflow(value, 10, &value) ||
               __builtin_add_overflow(value, negative ? -digit : digit, &value);
    }
    if (i < word.n)
        return round_decimal(word);
    if (over)
        return negative ? INT64_MIN : INT64_MAX;
    return value;
}

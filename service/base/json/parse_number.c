#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/decimal.h"
#include "base/json/parse_internal.h"

/* As written: (negative ? -1 : 1) * digits * 10^exponent, where no more digits were dropped. */
struct written {
    bool negative;
    bool real;    /* with a fraction or an exponent */
    bool dropped; /* there were more digits than 64 bits hold */
    uint64_t digits;
    int64_t exponent;
};

/* All 19 digits fit 64 bits; what comes behind counts only where it is known to. */
static const uint64_t DIGITS_MAX = UINT64_C(1000000000000000000);
/* Far more than a text has bytes, so that no fraction makes up for an exponent that is cut here. */
static const int64_t EXPONENT_MAX = INT64_C(1000000000000);

static const char *take_digits(const char *at, const char *end, struct written *number)
{
    for (; at < end && json_is_digit(*at); at++) {
        if (number->digits < DIGITS_MAX)
            number->digits = number->digits * 10 + (uint64_t)(*at - '0');
        else
            number->dropped = true;
    }
    return at;
}

static const char *take_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = at < end && *at == '-';
    int64_t value = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !json_is_digit(*at))
        return NULL;
    for (; at < end && json_is_digit(*at); at++)
        if (value < EXPONENT_MAX)
            value = value * 10 + (*at - '0');
    *exponent = negative ? -value : value;
    return at;
}

/* Behind the number; NULL: a digit is missing, *wrong is where. */
static const char *
take_written(const char *at, const char *end, struct written *number, const char **wrong)
{
    number->negative = *at == '-';
    at += number->negative;
    *wrong = at;
    if (at == end || !json_is_digit(*at))
        return NULL;
    at = *at == '0' ? at + 1 : take_digits(at, end, number);
    if (at < end && *at == '.') {
        const char *fraction = *wrong = at + 1;
        at = take_digits(fraction, end, number);
        if (at == fraction)
            return NULL;
        number->real = true;
        number->exponent = fraction - at;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        int64_t exponent = 0;
        *wrong = at + 1;
        at = take_exponent(at + 1, end, &exponent);
        number->real = true;
        number->exponent += exponent;
    }
    return at;
}

/* What strtod makes of the number from `at` on. Most are copied to the stack; a longer one to where
 * texts go, for which there are as many bytes as there are left to read. */
static double convert(const struct json_parser *p, const char *at, size_t n)
{
    char few[64];
    char *copy = n < sizeof few ? few : p->texts;
    memcpy(copy, at, n);
    copy[n] = '\0';
    return strtod(copy, NULL);
}

static bool take_integer(const struct json_parser *p,
                         const char *at,
                         const struct written *number,
                         struct json_value *value)
{
    const uint64_t most = (uint64_t)INT64_MAX + number->negative;
    if (number->dropped || number->digits > most)
        return json_parser_fault(p, at, "an integer is beyond the range of 64 bits");
    value->kind = JSON_VALUE_INTEGER;
    value->integer = (int64_t)(number->negative ? -number->digits : number->digits);
    return true;
}

bool json_parser_take_number(struct json_parser *p, struct json_value *value)
{
    struct written number = {0};
    const char *from = p->at;
    const char *wrong;
    const char *at = take_written(from, p->end, &number, &wrong);
    if (at == NULL)
        return json_parser_fault(p, wrong, "a digit is missing in a number");
    if (at < p->end && json_is_digit(*at))
        return json_parser_fault(p, from, "a number begins with a zero that means nothing");
    p->at = at;
    if (!number.real)
        return take_integer(p, from, &number, value);
    value->kind = JSON_VALUE_REAL;
    bool few = !number.dropped && number.exponent <= JSON_DECIMAL_EXPONENT_MAX &&
               number.exponent >= -JSON_DECIMAL_EXPONENT_MAX;
    if (!few || !json_decimal_value(number.digits, (int)number.exponent, &value->real))
        value->real = fabs(convert(p, from, (size_t)(at - from)));
    if (!isfinite(value->real))
        return json_parser_fault(p, from, "a number is beyond the range of doubles");
    if (number.negative)
        value->real = -value->real;
    return true;
}

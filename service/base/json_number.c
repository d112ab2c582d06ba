#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"

/*
 * The shortest of 15, 16 and 17 digits that reads back as the same double. Where 128 bits hold what
 * is computed, from 1e-15 to 1e15, that is done exactly (`scaled`); elsewhere libc converts to 17
 * digits, once, and the shorter candidates are rounded from its digits.
 */
enum { DIGITS_LEAST = 15, DIGITS_MOST = 17 };

static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

struct decimal {
    bool negative;
    char digits[DIGITS_MOST]; /* d.ddd...; no terminator */
    int n;
    int exponent;
};

static struct decimal decimal_of(double value)
{
    char text[32];
    struct decimal d = {.negative = value < 0.0, .n = DIGITS_MOST};
    (void)snprintf(text, sizeof text, "%.*e", DIGITS_MOST - 1, fabs(value));
    d.digits[0] = text[0];
    memcpy(d.digits + 1, text + 2, DIGITS_MOST - 1);
    d.exponent = (int)strtol(text + DIGITS_MOST + 2, NULL, 10);
    return d;
}

static struct decimal rounded(struct decimal d, int n, bool up)
{
    d.n = n;
    for (int i = n - 1; up && i >= 0; i--) {
        up = d.digits[i] == '9';
        d.digits[i] = up ? '0' : (char)(d.digits[i] + 1);
    }
    if (up) {
        d.digits[0] = '1';
        d.exponent++;
    }
    return d;
}

static char *put_digits(char *at, const struct decimal *d, int from, int to)
{
    for (int i = from; i < to; i++)
        *at++ = d->digits[i];
    return at;
}

/* As %g writes it: positional from 1e-4 up to the number of digits, with an exponent beyond. */
static size_t decimal_write(const struct decimal *decimal, char out[32])
{
    struct decimal d = *decimal;
    bool positional = d.exponent >= -4 && d.exponent < d.n;
    char *at = out;
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    if (d.negative)
        *at++ = '-';
    int whole = positional ? d.exponent + 1 : 1;
    if (whole <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = whole; i < 0; i++)
            *at++ = '0';
        at = put_digits(at, &d, 0, d.n);
    } else {
        at = put_digits(at, &d, 0, whole < d.n ? whole : d.n);
        for (int i = d.n; i < whole; i++)
            *at++ = '0';
        if (whole < d.n)
            *at++ = '.';
        at = put_digits(at, &d, whole < d.n ? whole : d.n, d.n);
    }
    if (!positional)
        at += snprintf(at, 8, "e%+03d", d.exponent);
    *at = '\0';
    return (size_t)(at - out);
}

/* What lies exactly between two shorter forms was rounded to get there: the truth is on either
 * side. */
static bool is_tie(const struct decimal *d, int n)
{
    bool tie = d->digits[n] == '5';
    for (int i = n + 1; i < d->n; i++)
        tie &= d->digits[i] == '0';
    return tie;
}

static size_t write_shorter(const struct decimal *exact, int n, double value, char out[32])
{
    bool up = exact->digits[n] >= '5';
    int tries = is_tie(exact, n) ? 2 : 1;
    for (int i = 0; i < tries; i++, up = !up) {
        struct decimal shorter = rounded(*exact, n, up);
        size_t length = decimal_write(&shorter, out);
        if (strtod(out, NULL) == value)
            return length;
    }
    return 0;
}

/* --- with 128 bits --- */

__extension__ typedef unsigned __int128 wide;

/*
 * A number of 53 bits m * 2^e with its first 17 decimal digits as the whole part of m * 5^k / 2^shift:
 * that is the number times 10^k. Its neighbours are 5^k further, in units of 2^-shift.
 */
struct scaled {
    wide number; /* m * 5^k */
    wide step;   /* 5^k */
    int shift;
    int exponent; /* of ten, of the first digit */
    uint64_t mantissa;
};

static const uint64_t LEAST_OF_17 = UINT64_C(10000000000000000);

/* k from 0 to 38, in steps of 13 and of 1. */
static wide power_of_five(int k)
{
    static const uint64_t small[] = {1,     5,      25,      125,     625,      3125,     15625,
                                     78125, 390625, 1953125, 9765625, 48828125, 244140625};
    static const uint64_t large[] = {UINT64_C(1), UINT64_C(1220703125),
                                     UINT64_C(1490116119384765625)};
    return (wide)large[k / 13] * small[k % 13];
}

/* value > 0; false: it does not fit. */
static bool scale(double value, struct scaled *s)
{
    if (value < 1e-15 || value >= 1e15)
        return false;
    /* No subnormal is among them, so that the parts of the number are fields of its bits. */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t leading = UINT64_C(1) << (DBL_MANT_DIG - 1);
    const int binary = (int)(bits >> (DBL_MANT_DIG - 1)) - (DBL_MAX_EXP - 2);
    s->mantissa = (bits & (leading - 1)) | leading;
    /* log10(2) is a little more than 1233 / 4096: one too small at most. */
    s->exponent = ((binary - 1) * 1233) >> 12;
    for (;; s->exponent++) {
        int k = DIGITS_MOST - 1 - s->exponent;
        s->step = power_of_five(k);
        s->number = s->mantissa * s->step;
        s->shift = DBL_MANT_DIG - binary - k;
        if ((uint64_t)(s->number >> s->shift) < 10 * LEAST_OF_17)
            return true;
    }
}

/* Does `digits`, a whole number of 17 digits, read back as the number? */
static bool reads_back(const struct scaled *s, uint64_t digits)
{
    wide candidate = (wide)digits << s->shift;
    bool below = candidate < s->number;
    wide distance = below ? s->number - candidate : candidate - s->number;
    /* Half way to the neighbour, which below a power of two is as near again. */
    bool narrow = below && s->mantissa == UINT64_C(1) << (DBL_MANT_DIG - 1);
    wide half = narrow ? s->step : 2 * s->step;
    return 4 * distance < half || (4 * distance == half && s->mantissa % 2 == 0);
}

/* Of two as near the even one. */
static uint64_t nearest(const struct scaled *s)
{
    wide one = (wide)1 << s->shift;
    uint64_t digits = (uint64_t)(s->number >> s->shift);
    wide rest = s->number - ((wide)digits << s->shift);
    return digits + (2 * rest > one || (2 * rest == one && digits % 2 == 1));
}

static void put_eight(char *at, uint32_t digits)
{
    for (int i = 6; i >= 0; i -= 2, digits /= 100)
        memcpy(at + i, pairs + 2 * (digits % 100), 2);
}

static size_t write_digits(const struct scaled *s, bool negative, uint64_t digits, char out[32])
{
    struct decimal d = {.negative = negative, .n = DIGITS_MOST, .exponent = s->exponent};
    if (digits == 10 * LEAST_OF_17) {
        digits = LEAST_OF_17;
        d.exponent++;
    }
    /* In halves, so that neither waits for the other. */
    uint32_t high = (uint32_t)(digits / 1000000000);
    uint32_t low = (uint32_t)(digits % 1000000000);
    d.digits[DIGITS_MOST - 1] = (char)('0' + low % 10);
    put_eight(d.digits, high);
    put_eight(d.digits + 8, low / 10);
    return decimal_write(&d, out);
}

/* The number to fewer digits than `exact` has, unit 10 or 100; 0: none reads back. */
static inline uint64_t shorter(const struct scaled *s, uint64_t exact, uint64_t unit)
{
    uint64_t rest = exact % unit;
    uint64_t down = exact - rest;
    uint64_t first = 2 * rest >= unit ? down + unit : down;
    if (reads_back(s, first))
        return first;
    return 2 * rest == unit && reads_back(s, down) ? down : 0;
}

/* As from digits of libc: the shorter ones are rounded from 17. */
static size_t write_scaled(const struct scaled *s, bool negative, char out[32])
{
    uint64_t exact = nearest(s);
    uint64_t digits = shorter(s, exact, 100);
    if (digits == 0)
        digits = shorter(s, exact, 10);
    return write_digits(s, negative, digits == 0 ? exact : digits, out);
}

size_t writer_format_integer(int64_t value, char out[24])
{
    char digits[24];
    size_t first = sizeof digits;
    size_t n = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    for (; rest >= 10; rest /= 100)
        memcpy(digits + (first -= 2), pairs + 2 * (rest % 100), 2);
    if (rest > 0 || first == sizeof digits)
        digits[--first] = (char)('0' + rest);
    if (value < 0)
        out[n++] = '-';
    memcpy(out + n, digits + first, sizeof digits - first);
    n += sizeof digits - first;
    out[n] = '\0';
    return n;
}

/*
 * Times are mostly whole milliseconds. The quotient of two exact doubles is rounded once, as reading
 * its digits is, and no two texts of up to 15 digits read as the same double: this is the text that
 * the search for digits would find. 0: the number is no such.
 */
static size_t write_thousandths(double value, char out[32])
{
    double size = fabs(value);
    if (size < 1e-3 || size >= 1e12)
        return 0;
    uint64_t thousandths = (uint64_t)(size * 1e3 + 0.5);
    if ((double)thousandths / 1e3 != size)
        return 0;
    size_t n = value < 0;
    out[0] = '-';
    n += writer_format_integer((int64_t)(thousandths / 1000), out + n);
    unsigned rest = (unsigned)(thousandths % 1000);
    out[n++] = '.';
    out[n++] = (char)('0' + rest / 100);
    memcpy(out + n, pairs + 2 * (rest % 100), 2);
    for (n += 2; out[n - 1] == '0';)
        n--;
    out[n] = '\0';
    return n;
}

size_t writer_format_number(double value, char out[32])
{
    /* Whole numbers, the common case, need no search for digits. */
    if (value == floor(value) && fabs(value) < 1e15) {
        if (value == 0 && signbit(value)) {
            memcpy(out, "-0.0", 5); /* as an integer it would read back without its sign */
            return 4;
        }
        return writer_format_integer((int64_t)value, out);
    }
    size_t n = write_thousandths(value, out);
    if (n > 0)
        return n;
    struct scaled scaled;
    if (scale(fabs(value), &scaled))
        return write_scaled(&scaled, value < 0, out);
    struct decimal exact = decimal_of(value);
    for (int digits = DIGITS_LEAST; digits < DIGITS_MOST; digits++) {
        n = write_shorter(&exact, digits, value, out);
        if (n > 0)
            return n;
    }
    return decimal_write(&exact, out);
}

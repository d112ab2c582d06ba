#include "base/json/decimal.h"

#include <float.h>
#include <math.h>

/*
 * Small numbers of few digits are exact doubles, as are 10^0 to 10^22, so that one division or
 * product rounds once (W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990).
 * Others are computed exactly: 5^27 is the last power below 2^63, so that products and quotients
 * with 64 bits of digits fit 128.
 */
#if FLT_EVAL_METHOD == 0
enum { ROUNDS_ONCE = 1 };
#else
enum { ROUNDS_ONCE = 0 };
#endif

__extension__ typedef unsigned __int128 wide;

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { TENS_MAX = sizeof tens / sizeof *tens - 1 };

static const uint64_t fives[] = {1,
                                 5,
                                 25,
                                 125,
                                 625,
                                 3125,
                                 15625,
                                 78125,
                                 390625,
                                 1953125,
                                 9765625,
                                 48828125,
                                 244140625,
                                 1220703125,
                                 6103515625,
                                 30517578125,
                                 152587890625,
                                 762939453125,
                                 3814697265625,
                                 19073486328125,
                                 95367431640625,
                                 476837158203125,
                                 2384185791015625,
                                 11920928955078125,
                                 59604644775390625,
                                 298023223876953125,
                                 1490116119384765625,
                                 7450580596923828125};
_Static_assert(sizeof fives / sizeof *fives == JSON_DECIMAL_EXPONENT_MAX + 1, "a power for each");

static int bits_of(wide number)
{
    uint64_t high = (uint64_t)(number >> 64);
    uint64_t low = (uint64_t)number;
    return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

/* number * 2^exponent, and a little more than that where there is `more`. */
static double rounded(wide number, int exponent, bool more)
{
    int drop = bits_of(number) - DBL_MANT_DIG;
    if (drop <= 0)
        return ldexp((double)(uint64_t)number, exponent);
    uint64_t head = (uint64_t)(number >> drop);
    wide half = (wide)1 << (drop - 1);
    wide rest = number - ((wide)head << drop);
    head += rest > half || (rest == half && (more || head % 2 == 1));
    return ldexp((double)head, exponent + drop);
}

bool json_decimal_value(uint64_t digits, int exponent, double *value)
{
    if (ROUNDS_ONCE && digits <= UINT64_C(1) << DBL_MANT_DIG && exponent >= -TENS_MAX &&
        exponent <= TENS_MAX) {
        double whole = (double)digits;
        *value = exponent < 0 ? whole / tens[-exponent] : whole * tens[exponent];
        return true;
    }
    if (exponent > JSON_DECIMAL_EXPONENT_MAX || exponent < -JSON_DECIMAL_EXPONENT_MAX)
        return false;
    if (digits == 0) {
        *value = 0;
    } else if (exponent >= 0) {
        *value = rounded((wide)digits * fives[exponent], exponent, false);
    } else {
        int shift = 64 + __builtin_clzll(digits);
        wide number = (wide)digits << shift;
        wide quotient = number / fives[-exponent];
        *value = rounded(quotient, exponent - shift, quotient * fives[-exponent] != number);
    }
    return true;
}

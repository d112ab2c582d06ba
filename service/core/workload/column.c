#include "core/workload/column.h"

#include <math.h>
#include <string.h>

#include "core/workload/number.h"

enum {
    SIX_DIGITS = 1000000,
    POINT_BITS = 4, /* of the 24 of COLUMN_DIGITS: how many decimals, 0 to 15 */
    POINT_MOST = (1 << POINT_BITS) - 1
};

static const double MULTIPLE_MOST = 0x1p53;

/* --- writing --- */

unsigned char *column_put_integer(unsigned char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (unsigned char)(value | 0x80);
    *to++ = (unsigned char)value;
    return to;
}

size_t column_integer_bytes(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

unsigned char *column_put_fixed(unsigned char *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *to++ = (unsigned char)(value >> 8 * i);
    return to;
}

unsigned char *column_put_double(unsigned char *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return column_put_fixed(to, bits, COLUMN_DOUBLE_BYTES);
}

unsigned char *column_put_single(unsigned char *to, double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return column_put_fixed(to, bits, COLUMN_SINGLE_BYTES);
}

bool column_decimal(double value, unsigned scale, uint64_t *multiple)
{
    double power = number_power_of_ten(scale);
    double whole = nearbyint(value * power);
    if (!(whole <= MULTIPLE_MOST) || whole / power != value)
        return false;
    *multiple = (uint64_t)whole;
    return true;
}

/* How many decimals a value of six digits has: 5 where it is from 1 to 10. Out of 0 to POINT_MOST
 * where column_digits does not hold it. */
static inline int point_of(double value)
{
    /* The exponent of two gives that of ten, but for one: log10(2) is 1233/4096 and a little. */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int two = (int)(bits >> 52 & 0x7ff) - 1023;
    int ten = (two * 1233) >> 12;
    int point = 5 - ten;
    if (point > 0 && point <= POINT_MOST + 1 &&
        value * number_power_of_ten((unsigned)point) >= (double)SIX_DIGITS)
        point--;
    return point;
}

bool column_digits(double value, uint32_t *bits)
{
    if (value == 0) {
        *bits = 0;
        return true;
    }
    int point = point_of(value);
    if (point < 0 || point > POINT_MOST)
        return false;
    double power = number_power_of_ten((unsigned)point);
    double whole = nearbyint(value * power);
    if (!(whole < (double)SIX_DIGITS) || whole / power != value)
        return false;
    *bits = (uint32_t)whole << POINT_BITS | (uint32_t)point;
    return true;
}

/* --- reading --- */

double column_multiple(uint64_t multiple, unsigned scale)
{
    return (double)multiple / number_power_of_ten(scale);
}

bool column_take_integer(struct column_cursor *column, uint64_t *value)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; column->at < column->end && shift < 64; shift += 7) {
        uint64_t byte = *column->at++;
        sum |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return shift < 63 || byte <= 1;
        }
    }
    return false;
}

bool column_take_fixed(struct column_cursor *column, unsigned bytes, uint64_t *value)
{
    uint64_t sum = 0;
    if ((size_t)(column->end - column->at) < bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        sum |= (uint64_t)*column->at++ << 8 * i;
    *value = sum;
    return true;
}

bool column_take_double(struct column_cursor *column, double *value)
{
    uint64_t bits;
    if (!column_take_fixed(column, COLUMN_DOUBLE_BYTES, &bits))
        return false;
    memcpy(value, &bits, sizeof *value);
    return true;
}

static bool take_decimals(struct column_cursor *column, unsigned scale, double values[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t multiple;
        if (!column_take_integer(column, &multiple))
            return false;
        values[i] = column_multiple(multiple, scale);
    }
    return true;
}

static void take_digits(struct column_cursor *column, double values[], size_t n)
{
    for (size_t i = 0; i < n; i++, column->at += COLUMN_DIGITS_BYTES) {
        uint32_t bits = (uint32_t)(column->at[0] | column->at[1] << 8 | column->at[2] << 16);
        values[i] = (double)(bits >> POINT_BITS) / number_power_of_ten(bits & POINT_MOST);
    }
}

static void take_singles(struct column_cursor *column, double values[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t fixed = 0;
        float single;
        (void)column_take_fixed(column, COLUMN_SINGLE_BYTES, &fixed);
        uint32_t bits = (uint32_t)fixed;
        memcpy(&single, &bits, sizeof single);
        values[i] = (double)single;
    }
}

bool column_take_times(struct column_cursor *column,
                       enum column_encoding encoding,
                       unsigned scale,
                       double values[],
                       size_t n)
{
    static const unsigned bytes[] = {[COLUMN_DOUBLES] = COLUMN_DOUBLE_BYTES,
                                     [COLUMN_DECIMALS] = 1,
                                     [COLUMN_DIGITS] = COLUMN_DIGITS_BYTES,
                                     [COLUMN_SINGLES] = COLUMN_SINGLE_BYTES};
    if ((size_t)(column->end - column->at) / bytes[encoding] < n)
        return false;
    switch (encoding) {
    case COLUMN_DECIMALS:
        return take_decimals(column, scale, values, n);
    case COLUMN_DIGITS:
        take_digits(column, values, n);
        return true;
    case COLUMN_SINGLES:
        take_singles(column, values, n);
        return true;
    case COLUMN_DOUBLES:
        for (size_t i = 0; i < n; i++)
            (void)column_take_double(column, &values[i]);
    }
    return true;
}

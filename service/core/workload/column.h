#ifndef CORE_WORKLOAD_COLUMN_H
#define CORE_WORKLOAD_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Columns of a chunk: integers of variable length, and times in whichever way takes least room
 * (docs/workloads.md, "Compact form").
 */
enum column_encoding {
    COLUMN_DOUBLES,  /* 8 bytes, as they are */
    COLUMN_DECIMALS, /* whole multiples of 10^-scale, of variable length */
    COLUMN_DIGITS,   /* 3 bytes: six digits and where the point is */
    COLUMN_SINGLES   /* 4 bytes, rounded to 24 bits */
};

enum {
    COLUMN_SCALE_MAX = 9,    /* decimals that COLUMN_DECIMALS keeps */
    COLUMN_INTEGER_MAX = 10, /* bytes of an integer */
    COLUMN_DECIMAL_MAX = 8,  /* bytes of a multiple, or of the difference of two */
    COLUMN_DIGITS_BYTES = 3,
    COLUMN_SINGLE_BYTES = 4,
    COLUMN_DOUBLE_BYTES = 8
};

/* What is left of a column to be read. */
struct column_cursor {
    const unsigned char *at;
    const unsigned char *end;
};

/* --- writing: to where there is room, returning what lies behind --- */

unsigned char *column_put_integer(unsigned char *to, uint64_t value);
unsigned char *column_put_fixed(unsigned char *to, uint64_t value, unsigned bytes);
unsigned char *column_put_double(unsigned char *to, double value);
unsigned char *column_put_single(unsigned char *to, double value);

/* How many bytes column_put_integer takes. */
size_t column_integer_bytes(uint64_t value);

/* Small where the magnitude is. */
static inline uint64_t column_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t column_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Is a value >= 0 the nearest double to a multiple of 10^-scale, scale <= COLUMN_SCALE_MAX? Then
 * which one. */
bool column_decimal(double value, unsigned scale, uint64_t *multiple);

/* The same of a value that is six digits times a power of ten: the 24 bits it is kept in. */
bool column_digits(double value, uint32_t *bits);

/* --- reading: false where the column ends, or holds what is never written --- */

/* multiple * 10^-scale, scale <= COLUMN_SCALE_MAX. */
double column_multiple(uint64_t multiple, unsigned scale);

bool column_take_integer(struct column_cursor *column, uint64_t *value);
bool column_take_fixed(struct column_cursor *column, unsigned bytes, uint64_t *value);
bool column_take_double(struct column_cursor *column, double *value);

/* n times. COLUMN_DECIMALS are the multiples themselves, not differences. */
bool column_take_times(struct column_cursor *column,
                       enum column_encoding encoding,
                       unsigned scale,
                       double values[],
                       size_t n);

#endif

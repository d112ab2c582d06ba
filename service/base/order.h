#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/strview.h"

/*
 * Comparisons that are less than, equal to or greater than 0, in ascending order. Those of values
 * build the comparisons of structs; those named order_by_... are for qsort and bsearch over arrays
 * of that type. A NAN compares equal to everything: keep it out of what is sorted.
 */
static inline int compare_double(double a, double b)
{
    return (a > b) - (a < b);
}

/* Of doubles, with NAN behind all others. */
static inline int compare_nan_last(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : compare_double(a, b);
}

static inline int compare_size(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static inline int compare_int64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By bytes; a text goes before those that it begins. */
static inline int compare_strview(struct strview a, struct strview b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : compare_size(a.n, b.n);
}

static inline int64_t larger_int64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t smaller_int64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int order_by_double(const void *a, const void *b);
int order_by_size(const void *a, const void *b);
int order_by_int64(const void *a, const void *b);
int order_by_strview(const void *a, const void *b);

/* Sort values in place and keep each once, in front; returns how many there are. */
size_t sort_distinct(double values[], size_t n);

#endif

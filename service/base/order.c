#include "base/order.h"

#include <stdlib.h>

int order_by_double(const void *a, const void *b)
{
    return compare_double(*(const double *)a, *(const double *)b);
}

int order_by_size(const void *a, const void *b)
{
    return compare_size(*(const size_t *)a, *(const size_t *)b);
}

int order_by_int64(const void *a, const void *b)
{
    return compare_int64(*(const int64_t *)a, *(const int64_t *)b);
}

int order_by_strview(const void *a, const void *b)
{
    return compare_strview(*(const struct strview *)a, *(const struct strview *)b);
}

size_t sort_distinct(double values[], size_t n)
{
    size_t distinct = 0;
    if (n > 0)
        qsort(values, n, sizeof *values, order_by_double);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || values[i] > values[distinct - 1])
            values[distinct++] = values[i];
    return distinct;
}

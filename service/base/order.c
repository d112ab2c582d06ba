#include "base/order.h"

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

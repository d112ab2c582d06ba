#include "core/scheduling/comparison/arrival_order.h"

#include <stdlib.h>

#include "base/order.h"

struct arrival {
    double at_s;
    uint32_t job;
};

static double arrival_of(const double *first, size_t size, uint32_t job)
{
    return *(const double *)(const void *)((const char *)first + job * size);
}

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a;
    const struct arrival *y = b;
    int order = compare_double(x->at_s, y->at_s);
    return order != 0 ? order : (x->job > y->job) - (x->job < y->job);
}

static bool are_in_order(const double *first, size_t size, uint32_t n)
{
    for (uint32_t j = 1; j < n; j++)
        if (arrival_of(first, size, j) < arrival_of(first, size, j - 1))
            return false;
    return true;
}

bool arrival_order(
    const double *first, size_t size, uint32_t n, uint32_t order[], struct arena *scratch)
{
    for (uint32_t j = 0; j < n; j++)
        order[j] = j;
    if (are_in_order(first, size, n))
        return true;
    struct arena_mark mark = arena_mark(scratch);
    struct arrival *arrivals = arena_array(scratch, n, sizeof *arrivals);
    if (arrivals == NULL)
        return false;
    for (uint32_t j = 0; j < n; j++)
        arrivals[j] = (struct arrival){arrival_of(first, size, j), j};
    qsort(arrivals, n, sizeof *arrivals, compare_arrivals);
    for (uint32_t j = 0; j < n; j++)
        order[j] = arrivals[j].job;
    arena_rewind(scratch, mark);
    return true;
}

#include "core/numerics/permutation.h"

static size_t greatest_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

size_t permutation_step(size_t n)
{
    size_t step = (size_t)((double)n * 0.6180339887498949);
    step = step == 0 ? 1 : step;
    while (greatest_divisor(n, step) != 1)
        step++;
    return step;
}

#include "core/deadline/core_quantum.h"

#include <math.h>
#include <stdlib.h>

#include "base/rounding.h"

double core_quanta(double units, double quantum)
{
    double per_core = rounding_ceil(1 / quantum);
    return fabs(per_core * quantum - 1) < 1e-15 ? units / per_core : units * quantum;
}

struct remainder {
    double of; /* less than 1 */
    size_t index;
};

static int compare_remainders(const void *a, const void *b)
{
    const struct remainder *x = a;
    const struct remainder *y = b;
    if (x->of != y->of)
        return x->of > y->of ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Move the one whose turn it is to place `first`: of those that equal the largest remainder left
 * the lowest index. *end, which only grows, bounds those that may. */
static void bring_forward(struct remainder order[], size_t n, size_t first, size_t *end)
{
    size_t at = first;
    while (*end < n && order[*end].of >= order[first].of - 1e-9)
        ++*end;
    /* Of equal doubles the lowest index stands first already. */
    if (order[*end - 1].of == order[first].of)
        return;
    for (size_t i = first + 1; i < *end; i++)
        if (order[i].index < order[at].index)
            at = i;
    struct remainder chosen = order[at];
    for (; at > first; at--)
        order[at] = order[at - 1];
    order[first] = chosen;
}

bool core_quantum_round(const double shares[],
                        size_t n,
                        double worker_cores,
                        double quantum,
                        struct arena *scratch,
                        double cores[])
{
    struct arena_mark mark = arena_mark(scratch);
    struct remainder *order = arena_array(scratch, n, sizeof *order);
    double whole = 0;
    double rest = 0;
    if (order == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        double units = shares[i] / quantum;
        double below = rounding_floor(units);
        order[i] = (struct remainder){rounding_ceil(units) > below ? units - below : 0, i};
        rest += order[i].of;
        whole += below;
        cores[i] = below;
    }
    double all = fmin(whole + rounding_ceil(rest), rounding_floor(worker_cores / quantum));
    qsort(order, n, sizeof *order, compare_remainders);
    size_t end = 0;
    for (size_t k = 0; k < n && whole < all; k++, whole++) {
        bring_forward(order, n, k, &end);
        cores[order[k].index] += 1;
    }
    for (size_t i = 0; i < n; i++)
        cores[i] = core_quanta(cores[i], quantum);
    arena_rewind(scratch, mark);
    return true;
}

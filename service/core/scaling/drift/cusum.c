#include "core/scaling/drift/cusum.h"

#include <math.h>

/* What a sum of normal errors overshoots a boundary by, on the mean (Siegmund). */
static const double overshoot = 1.166;

struct cusum_rule cusum_rule(double reference, double run_length)
{
    /* e^b - b - 1 rises with b > 0: halve the bracket until a double knows no more. */
    double wanted = 4 * reference * reference * run_length;
    double low = 0;
    double high = 1;
    while (exp(high) - high - 1 < wanted)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (exp(middle) - middle - 1 < wanted)
            low = middle;
        else
            high = middle;
    }
    return (struct cusum_rule){reference, fmax(0, high / (2 * reference) - overshoot)};
}

static void add_side(double *sum, size_t *n, double error)
{
    *sum = fmax(0, *sum + error);
    *n = *sum > 0 ? *n + 1 : 0;
}

enum cusum_signal cusum_add(struct cusum *cusum, const struct cusum_rule *rule, double error)
{
    double cut = fmin(fmax(error, -CUSUM_ERROR_MAX), CUSUM_ERROR_MAX);
    add_side(&cusum->up, &cusum->n_up, cut - rule->reference);
    add_side(&cusum->down, &cusum->n_down, -cut - rule->reference);
    if (cusum->up > rule->threshold && cusum->up >= cusum->down)
        return CUSUM_UP;
    return cusum->down > rule->threshold ? CUSUM_DOWN : CUSUM_QUIET;
}

bool cusum_is_quiet(const struct cusum *cusum)
{
    return !(cusum->up > 0) && !(cusum->down > 0);
}

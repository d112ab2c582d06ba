#include "core/scaling/model/extrapolation.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

/* Relatively: counts and sizes that differ by less are one, but for rounding. */
static const double same = 1e-9;

void gap_axis_make(double values[], size_t n, struct gap_axis *axis)
{
    size_t distinct = 0;
    qsort(values, n, sizeof *values, order_by_double);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || values[i] > values[distinct - 1] * (1 + same))
            values[distinct++] = values[i];
    axis->n = distinct < GAP_VALUES_MAX ? distinct : GAP_VALUES_MAX;
    for (size_t i = 0; i < axis->n; i++)
        axis->values[i] = values[axis->n < 2 ? 0 : i * (distinct - 1) / (axis->n - 1)];
}

void gap_axis_add(struct gap_axis *axis, double value)
{
    size_t at = axis->n;
    for (size_t i = 0; i < axis->n; i++)
        if (fabs(value - axis->values[i]) <= same * value)
            return;
    if (axis->n == GAP_VALUES_MAX)
        return;
    for (; at > 0 && axis->values[at - 1] > value; at--)
        axis->values[at] = axis->values[at - 1];
    axis->values[at] = value;
    axis->n++;
}

double gap_overshoot(const double range[2], double x)
{
    if (isnan(range[0]))
        return 0;
    double width = fmax(log(range[1] / range[0]), log(2));
    return x < range[0] ? log(range[0] / x) / width : x > range[1] ? log(x / range[1]) / width : 0;
}

struct gap_weight gap_below(const struct gap_axis *executors, double x)
{
    static const struct gap_weight below = {2.5, 1.25}; /* by public histories: docs/accuracy.md */
    static const struct gap_weight elsewhere = {1, 1};
    return executors->n > 0 && x < executors->values[0] * (1 - same) ? below : elsewhere;
}

double gap_at(const struct gap_axis *axis, double x)
{
    double below = 0;
    double above = 0;
    if (axis->n == 0)
        return 0;
    for (size_t i = 0; i < axis->n; i++) {
        double value = axis->values[i];
        if (fabs(x - value) <= same * value)
            return 0;
        if (value < x)
            below = value;
        else if (!(above > 0))
            above = value;
    }
    if (below > 0 && above > 0) {
        double a = log(x / below);
        double b = log(above / x);
        return sqrt(a * b / (a + b));
    }
    double beyond = below > 0 ? log(x / below) : above > 0 ? log(above / x) : 0;
    double range[2] = {axis->values[0], axis->values[axis->n - 1]};
    return sqrt(beyond) * (1 + gap_overshoot(range, x));
}

#include "core/scheduling/comparison/fairness.h"

#include <math.h>

void fairness_add(struct fairness *fairness, double value)
{
    compensated_sum_add(&fairness->values, value);
    compensated_sum_add(&fairness->squares, value * value);
    fairness->n++;
}

double fairness_index(const struct fairness *fairness)
{
    double sum = compensated_sum_value(&fairness->values);
    double squares = compensated_sum_value(&fairness->squares);
    /* The last bit of equal values may be rounded up. */
    return squares > 0 ? fmin(sum * sum / ((double)fairness->n * squares), 1) : 1;
}

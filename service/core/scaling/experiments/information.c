#include "core/scaling/experiments/information.h"

#include <math.h>

struct information information_none(size_t k)
{
    struct information none = {.k = k};
    for (size_t j = 0; j < k; j++)
        none.covariance[j][j] = 1;
    return none;
}

double information_variance(const struct information *known, const double effect[])
{
    double sum = 0;
    for (size_t a = 0; a < known->k; a++) {
        double inner = 0;
        for (size_t b = 0; b < known->k; b++)
            inner += known->covariance[a][b] * effect[b];
        sum += effect[a] * inner;
    }
    return fmax(sum, 0);
}

/* Sherman and Morrison: C - Cxx'C / (noise + x'Cx). */
void information_add(struct information *known, const double effect[], double noise)
{
    double moved[EFFECTS_MAX];
    double within = noise;
    for (size_t a = 0; a < known->k; a++) {
        moved[a] = 0;
        for (size_t b = 0; b < known->k; b++)
            moved[a] += known->covariance[a][b] * effect[b];
        within += effect[a] * moved[a];
    }
    for (size_t a = 0; a < known->k; a++)
        for (size_t b = 0; b < known->k; b++)
            known->covariance[a][b] -= moved[a] * moved[b] / within;
}

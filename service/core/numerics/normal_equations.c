#include "core/numerics/normal_equations.h"

#include <math.h>
#include <stdbool.h>

/* Of a pivot as a share of its column: below it the column depends on those before. Products carry
 * the square of the columns' condition, so this is a condition of 1e5: half the digits of a double
 * are left for the coefficients. */
static const double dependent = 1e-10;
/* Of what a column once held: less is what rounding leaves when thousands of rows were added and
 * taken out again (1e4 operations of 1e-16 each). */
static const double vanished = 1e-12;
/* Of the lengths of column and y: a smaller product of them is rounding, for the same reason. */
static const double rounding = 1e-12;

void gram_init(struct gram *gram, size_t k)
{
    *gram = (struct gram){.k = k};
}

/* xx is symmetric: only xx[a][b] with b <= a is held. */
static double product(const struct gram *gram, size_t a, size_t b)
{
    return a < b ? gram->xx[b][a] : gram->xx[a][b];
}

static void normal_equations_change(struct gram *gram, const double x[], double y, double squared)
{
    for (size_t a = 0; a < gram->k; a++) {
        double weighted = squared * x[a];
        for (size_t b = 0; b <= a; b++)
            gram->xx[a][b] += weighted * x[b];
        gram->xy[a] += weighted * y;
    }
    gram->yy += squared * y * y;
}

void gram_add(struct gram *gram, const double x[], double y, double weight)
{
    normal_equations_change(gram, x, y, weight * weight);
    for (size_t a = 0; a < gram->k; a++)
        gram->scale[a] += weight * weight * x[a] * x[a];
}

void gram_drop(struct gram *gram, const double x[], double y, double weight)
{
    normal_equations_change(gram, x, y, -weight * weight);
}

/* Free least squares over the columns at[0..n) by Cholesky; false where they depend. */
static bool solve_free(const struct gram *gram, const size_t at[], size_t n, double b[])
{
    double l[GRAM_COLUMNS_MAX][GRAM_COLUMNS_MAX];
    double z[GRAM_COLUMNS_MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = gram->xx[at[i]][at[j]];
            for (size_t c = 0; c < j; c++)
                sum -= l[i][c] * l[j][c];
            if (i == j && !(sum > dependent * gram->xx[at[i]][at[i]]))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        z[i] = gram->xy[at[i]];
        for (size_t c = 0; c < i; c++)
            z[i] -= l[i][c] * z[c];
        z[i] /= l[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t c = i + 1; c < n; c++)
            z[i] -= l[c][i] * b[c];
        b[i] = z[i] / l[i][i];
    }
    return true;
}

/* Would a column that is not in the set lower the sum if it entered? */
static bool is_optimal(const struct gram *gram, const size_t at[], size_t n, const double b[])
{
    for (size_t j = 0; j < gram->k; j++) {
        double gradient = gram->xy[j];
        for (size_t i = 0; i < n; i++)
            gradient -= product(gram, j, at[i]) * b[i];
        if (gradient > rounding * sqrt(gram->scale[j] * gram->yy))
            return false;
    }
    return true;
}

double gram_solve(const struct gram *gram, double b[])
{
    /* All columns, then all but one .. : mostly the first that is >= 0 is the minimum already. */
    static const unsigned char sets[] = {31, 15, 23, 27, 29, 30, 7, 11, 13, 14, 19,
                                         21, 22, 25, 26, 28, 3,  5, 6,  9,  10, 12,
                                         17, 18, 20, 24, 1,  2,  4, 8,  16};
    double best = gram->yy;
    for (size_t j = 0; j < gram->k; j++)
        b[j] = 0;
    for (size_t s = 0; s < sizeof sets; s++) {
        size_t at[GRAM_COLUMNS_MAX];
        double free[GRAM_COLUMNS_MAX];
        size_t n = 0;
        bool usable = sets[s] < 1U << gram->k;
        for (size_t j = 0; usable && j < gram->k; j++)
            if ((sets[s] >> j & 1U) != 0) {
                usable = gram->xx[j][j] > vanished * gram->scale[j];
                at[n++] = j;
            }
        if (!usable || !solve_free(gram, at, n, free))
            continue;
        double rest = gram->yy;
        for (size_t i = 0; i < n; i++) {
            usable = usable && free[i] >= 0;
            rest -= free[i] * gram->xy[at[i]];
        }
        bool optimal = usable && is_optimal(gram, at, n, free);
        if (!usable || (!optimal && rest >= best))
            continue;
        best = rest;
        for (size_t j = 0; j < gram->k; j++)
            b[j] = 0;
        for (size_t i = 0; i < n; i++)
            b[at[i]] = free[i];
        if (optimal)
            break;
    }
    return fmax(best, 0);
}

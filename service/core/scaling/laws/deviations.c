#include "core/scaling/laws/deviations.h"

#include <gsl/gsl_linalg.h>
#include <math.h>

#include "core/numerics/quantile.h"

/* reach = 2/3, so that the covariance is a ratio to the power of 3/2, and cheap. */
static const double few_ratio = 1;
static const double many_ratio = 3;
enum { MANY_COUNTS = 8 };
static const double clip = 3;
/* Of the median absolute deviation of a normal distribution. */
static const double median_to_std = 1.4826;

static double ratio_of(double a, double b)
{
    return a < b ? a / b : b / a;
}

static double closeness(double size_a, double m_a, double size_b, double m_b)
{
    double ratio = ratio_of(size_a, size_b) * ratio_of(m_a, m_b);
    return ratio * sqrt(ratio);
}

double deviation_at(const struct model_tables *tables, double problem_size, double executors)
{
    double sum = 0;
    for (size_t i = 0; i < tables->n_deviations; i++) {
        const struct model_deviation *at = &tables->deviations[i];
        sum +=
            at->coefficient * closeness(problem_size, executors, at->problem_size, at->executors);
    }
    return sum;
}

/* The cells that are used, and how far each is off the law. */
struct kriging {
    const struct load_cell *at[DEVIATIONS_MAX];
    size_t n;
    double ratio;
    double off[DEVIATIONS_MAX];
    double inverse[DEVIATIONS_MAX * DEVIATIONS_MAX];
};

static void clip_offs(struct kriging *kriging)
{
    double sorted[DEVIATIONS_MAX];
    size_t n = kriging->n;
    for (size_t i = 0; i < n; i++)
        sorted[i] = kriging->off[i];
    double middle = quantile_median(sorted, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(kriging->off[i] - middle);
    double most = clip * median_to_std * quantile_median(sorted, n);
    for (size_t i = 0; i < n; i++)
        kriging->off[i] = fmax(-most, fmin(most, kriging->off[i]));
}

/* false: the law gives no time for one of the cells. */
static bool
take_offs(const struct load_cells *cells, const struct model_law *law, struct kriging *kriging)
{
    kriging->n = cells->n < DEVIATIONS_MAX ? cells->n : DEVIATIONS_MAX;
    kriging->ratio = cells->n_counts >= MANY_COUNTS ? many_ratio : few_ratio;
    for (size_t i = 0; i < kriging->n; i++) {
        const struct load_cell *cell = &cells->at[i * cells->n / kriging->n];
        double law_s = law->kind->duration_s(law, cell->problem_size, cell->executors);
        if (!(law_s > 0))
            return false;
        kriging->at[i] = cell;
        kriging->off[i] = log(cell->mean_s / law_s);
    }
    clip_offs(kriging);
    return true;
}

/* inverse: of the covariance of what is seen. The matrix is positive definite by its diagonal. */
static void invert(struct kriging *kriging)
{
    size_t n = kriging->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            kriging->inverse[i * n + j] =
                (i == j) +
                kriging->ratio * closeness(kriging->at[i]->problem_size, kriging->at[i]->executors,
                                           kriging->at[j]->problem_size, kriging->at[j]->executors);
    gsl_matrix_view matrix = gsl_matrix_view_array(kriging->inverse, n, n);
    (void)gsl_linalg_cholesky_decomp1(&matrix.matrix);
    (void)gsl_linalg_cholesky_invert(&matrix.matrix);
}

enum pv_code deviations_find(const struct load_cells *cells,
                             const struct model_law *law,
                             struct model_tables *tables,
                             double nearby[],
                             struct pv_error *err)
{
    struct arena *scratch = cells->data->scratch;
    struct model_deviation *deviations = arena_array(scratch, DEVIATIONS_MAX, sizeof *deviations);
    struct arena_mark mark = arena_mark(scratch);
    struct kriging *kriging = arena_calloc(scratch, 1, sizeof *kriging);
    if (deviations == NULL || kriging == NULL)
        return pv_no_memory(err);
    for (size_t c = 0; c < cells->n; c++)
        nearby[c] = 0;
    if (!take_offs(cells, law, kriging)) {
        arena_rewind(scratch, mark);
        return PV_OK;
    }
    invert(kriging);
    size_t n = kriging->n;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += kriging->inverse[i * n + j] * kriging->off[j];
        deviations[i] = (struct model_deviation){kriging->at[i]->problem_size,
                                                 kriging->at[i]->executors, kriging->ratio * sum};
    }
    tables->deviations = deviations;
    tables->n_deviations = n;
    for (size_t c = 0; c < cells->n; c++)
        nearby[c] = deviation_at(tables, cells->at[c].problem_size, cells->at[c].executors);
    /* Without a cell of its own, a place is predicted off - (inverse off)_i / inverse_ii. */
    for (size_t i = 0; i < n; i++)
        nearby[kriging->at[i] - cells->at] = kriging->off[i] - deviations[i].coefficient /
                                                                   kriging->ratio /
                                                                   kriging->inverse[i * n + i];
    arena_rewind(scratch, mark);
    return PV_OK;
}

#include "core/scaling/selection/cv_errors.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#include "core/scaling/model/grouped_cv.h"

bool cv_errors_has_scales(const struct model_fit *fit)
{
    for (size_t i = 0; i < fit->n; i++)
        if (!isfinite(fit->residuals[i].left_scale_out))
            return false;
    return fit->n > 0;
}

/* --- sums that do not hang on the order of their terms --- */

static int by_value(const void *a, const void *b)
{
    const struct cv_term *x = a;
    const struct cv_term *y = b;
    if (x->value != y->value)
        return x->value > y->value ? 1 : -1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static struct cv_term mean_of(struct cv_term terms[], size_t n)
{
    struct cv_term mean = {0, 0};
    qsort(terms, n, sizeof *terms, by_value);
    for (size_t i = 0; i < n; i++) {
        mean.value += terms[i].weight * terms[i].value;
        mean.weight += terms[i].weight;
    }
    mean.value /= mean.weight;
    return mean;
}

/* --- runs --- */

/* A run as the fits left it behind: errors of all of them, NAN where a fit did not use it. */
struct held_run {
    bool common;
    double executors;
    double weight;
    double *errors;
};

static double error_of(const struct model_residual *r, enum cv_by by)
{
    double predicted = by == CV_BY_RUNS ? r->left_out : r->left_scale_out;
    return 100 * fabs(predicted - r->actual) / r->actual;
}

static enum pv_code cv_errors_gather(const struct model_fit *const fits[],
                                     size_t n_fits,
                                     size_t n,
                                     enum cv_by by,
                                     struct arena *arena,
                                     struct held_run runs[],
                                     struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        runs[i] =
            (struct held_run){.common = true, .errors = arena_array(arena, n_fits, sizeof(double))};
        if (runs[i].errors == NULL)
            return pv_no_memory(err);
        for (size_t k = 0; k < n_fits; k++)
            runs[i].errors[k] = (double)NAN;
    }
    for (size_t k = 0; k < n_fits; k++)
        for (size_t r = 0; fits[k] != NULL && r < fits[k]->n; r++) {
            const struct model_residual *residual = &fits[k]->residuals[r];
            struct held_run *run = &runs[residual->observation];
            run->executors = residual->executors;
            run->weight = residual->weight;
            run->errors[k] = error_of(residual, by);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_fits; k++)
            if (fits[k] != NULL && isnan(runs[i].errors[k]))
                runs[i].common = false;
    return PV_OK;
}

/* --- cells --- */

/* The executor counts of all runs that some fit used, ascending, each once. */
static size_t list_counts(const struct held_run runs[], size_t n, double counts[])
{
    size_t distinct = 0;
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (runs[i].executors > 0)
            counts[used++] = runs[i].executors;
    qsort(counts, used, sizeof *counts, order_by_double);
    for (size_t i = 0; i < used; i++)
        if (distinct == 0 || counts[i] > counts[distinct - 1])
            counts[distinct++] = counts[i];
    return distinct;
}

static size_t
cell_of(const struct held_run *run, const double counts[], size_t distinct, size_t cells)
{
    size_t rank = 0;
    while (rank + 1 < distinct && counts[rank + 1] <= run->executors)
        rank++;
    return rank * cells / distinct;
}

static void fill_runs(const struct held_run runs[], size_t n, struct cv_errors *table)
{
    for (size_t i = 0; i < n; i++) {
        if (!runs[i].common)
            continue;
        for (size_t k = 0; k < table->fits; k++)
            table->errors[k * n + table->cells] = runs[i].errors[k];
        table->weights[table->cells++] = runs[i].weight;
    }
}

/* A cell without a common run is passed over. */
static void fill_scales(const struct held_run runs[],
                        size_t n,
                        double counts[],
                        struct cv_term terms[],
                        struct cv_errors *table)
{
    size_t distinct = list_counts(runs, n, counts);
    size_t most = distinct < GROUPED_CV_BLOCKS ? distinct : GROUPED_CV_BLOCKS;
    for (size_t c = 0; c < most; c++) {
        struct cv_term mean = {0, 0};
        for (size_t k = 0; k < table->fits; k++) {
            size_t held = 0;
            for (size_t i = 0; i < n; i++)
                if (runs[i].common && cell_of(&runs[i], counts, distinct, most) == c)
                    terms[held++] = (struct cv_term){runs[i].errors[k], runs[i].weight};
            if (held == 0)
                break;
            mean = mean_of(terms, held);
            table->errors[k * n + table->cells] = mean.value;
        }
        if (mean.weight > 0)
            table->weights[table->cells++] = 1;
    }
}

enum pv_code cv_errors_make(const struct model_fit *const fits[],
                            size_t n_fits,
                            size_t n,
                            enum cv_by by,
                            struct arena *arena,
                            struct cv_errors *table,
                            struct pv_error *err)
{
    struct cv_errors made = {.fits = n_fits};
    size_t size;
    if (__builtin_mul_overflow(n_fits, n, &size))
        return pv_no_memory(err);
    struct held_run *runs = arena_array(arena, n, sizeof *runs);
    double *counts = arena_array(arena, n, sizeof *counts);
    struct cv_term *terms = arena_array(arena, n, sizeof *terms);
    made.room = terms;
    made.errors = arena_array(arena, size, sizeof *made.errors);
    made.weights = arena_array(arena, n, sizeof *made.weights);
    if (runs == NULL || counts == NULL || terms == NULL || made.errors == NULL ||
        made.weights == NULL)
        return pv_no_memory(err);
    PV_TRY(cv_errors_gather(fits, n_fits, n, by, arena, runs, err));
    for (size_t i = 0; i < n; i++)
        made.runs += runs[i].common;
    if (by == CV_BY_RUNS)
        fill_runs(runs, n, &made);
    else
        fill_scales(runs, n, counts, terms, &made);
    /* Rows of errors stand n apart until here. */
    for (size_t k = 1; k < n_fits; k++)
        for (size_t c = 0; c < made.cells; c++)
            made.errors[k * made.cells + c] = made.errors[k * n + c];
    *table = made;
    return PV_OK;
}

/* --- means --- */

double cv_errors_mean(const struct cv_errors *table, size_t fit)
{
    for (size_t c = 0; c < table->cells; c++)
        table->room[c] = (struct cv_term){table->errors[fit * table->cells + c], table->weights[c]};
    return table->cells == 0 ? (double)NAN : mean_of(table->room, table->cells).value;
}

static double difference_at(const struct cv_errors *table, size_t a, size_t b, size_t cell)
{
    return table->errors[a * table->cells + cell] - table->errors[b * table->cells + cell];
}

double cv_errors_noise(const struct cv_errors *table, size_t a, size_t b)
{
    if (table->cells < 2)
        return 0;
    for (size_t c = 0; c < table->cells; c++)
        table->room[c] = (struct cv_term){difference_at(table, a, b, c), table->weights[c]};
    double mean = mean_of(table->room, table->cells).value;
    for (size_t c = 0; c < table->cells; c++) {
        double off = difference_at(table, a, b, c) - mean;
        table->room[c] = (struct cv_term){off * off, table->weights[c]};
    }
    return sqrt(mean_of(table->room, table->cells).value / (double)(table->cells - 1));
}

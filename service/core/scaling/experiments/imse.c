#include "core/scaling/experiments/imse.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"

/* Variance of a run, as a share of its time. */
static const double run_noise = 0.03 * 0.03;

/* A point in the unit square; weight is that of the runs there, unused elsewhere. */
struct imse_cell {
    double size;
    double executors;
    double weight;
};

static double prior_covariance(const struct imse_cell *a, const struct imse_cell *b)
{
    static const double departure_variance = 0.15 * 0.15;
    static const double correlation_length = 0.5;
    double distance = hypot(a->size - b->size, a->executors - b->executors);
    return 1 + (a->size - 0.5) * (b->size - 0.5) + 4 * (a->executors - 0.5) * (b->executors - 0.5) +
           departure_variance * exp(-distance / correlation_length);
}

/* --- the unit square --- */

struct log_range {
    double low;
    double high;
};

static void widen(struct log_range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static double scaled(const struct log_range *range, double value)
{
    return range->high > range->low ? (value - range->low) / (range->high - range->low) : 0.5;
}

static void scale_to_unit_square(struct imse_cell cells[], size_t n)
{
    struct log_range size = {(double)INFINITY, (double)-INFINITY};
    struct log_range executors = size;
    for (size_t i = 0; i < n; i++) {
        widen(&size, cells[i].size);
        widen(&executors, cells[i].executors);
    }
    for (size_t i = 0; i < n; i++) {
        cells[i].size = scaled(&size, cells[i].size);
        cells[i].executors = scaled(&executors, cells[i].executors);
    }
}

static void put_points(struct imse_cell cells[], const struct effects_point points[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        cells[i] = (struct imse_cell){log(points[i].problem_size), log(points[i].executors), 0};
}

static size_t put_rows(struct imse_cell cells[], const struct observation rows[], size_t n)
{
    size_t put = 0;
    for (size_t i = 0; i < n; i++) {
        const struct imse_cell cell = {log(rows[i].problem_size), log(rows[i].executors),
                                       rows[i].weight > 0 ? rows[i].weight : 1};
        if (isfinite(cell.size) && isfinite(cell.executors))
            cells[put++] = cell;
    }
    return put;
}

/* --- cells of the runs --- */

static int compare_place(const struct imse_cell *a, const struct imse_cell *b)
{
    int order = compare_double(a->size, b->size);
    return order != 0 ? order : compare_double(a->executors, b->executors);
}

static int by_place(const void *a, const void *b)
{
    const struct imse_cell *x = a;
    const struct imse_cell *y = b;
    int order = compare_place(x, y);
    return order != 0 ? order : compare_double(x->weight, y->weight);
}

/* Runs of one cell become one cell of their weights' sum. Returns how many cells there are. */
static size_t merge_repetitions(struct imse_cell cells[], size_t n)
{
    size_t merged = 0;
    qsort(cells, n, sizeof *cells, by_place);
    for (size_t i = 0; i < n; i++) {
        if (merged > 0 && compare_place(&cells[merged - 1], &cells[i]) == 0)
            cells[merged - 1].weight += cells[i].weight;
        else
            cells[merged++] = cells[i];
    }
    return merged;
}

static double centre_of_step(double value)
{
    return (fmin(floor(value * IMSE_GRID), IMSE_GRID - 1) + 0.5) / IMSE_GRID;
}

static size_t thin(struct imse_cell cells[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cells[i].size = centre_of_step(cells[i].size);
        cells[i].executors = centre_of_step(cells[i].executors);
    }
    return merge_repetitions(cells, n);
}

/* --- conditioning --- */

/* One step of a Cholesky factorization at the points from `from` to `to`: the column of the run at
 * point `at`, its covariance with them after the runs before it, whose columns are there. */
static void find_column(struct imse *imse, size_t run, size_t at, size_t from, size_t to)
{
    size_t n = imse->n_points;
    double *column = &imse->factor[run * n];
    for (size_t i = from; i < to; i++)
        column[i] = prior_covariance(&imse->cells[i], &imse->cells[at]);
    for (size_t earlier = 0; earlier < run; earlier++) {
        const double *before = &imse->factor[earlier * n];
        double shared = before[at];
        for (size_t i = from; i < to; i++)
            column[i] -= before[i] * shared;
    }
}

/* Over the standard deviation of what the run shows. */
static void divide_column(struct imse *imse, size_t run, double deviation, size_t from, size_t to)
{
    double *column = &imse->factor[run * imse->n_points];
    for (size_t i = from; i < to; i++)
        column[i] /= deviation;
}

static double deviation_of(const struct imse *imse, size_t run, size_t at, double noise)
{
    return sqrt(fmax(imse->factor[run * imse->n_points + at], 0) + noise);
}

/* What is known with the run, whose column is there. */
static void take_run(struct imse *imse, size_t run)
{
    const double *column = &imse->factor[run * imse->n_points];
    for (size_t i = 0; i < imse->n_points; i++)
        imse->variance[i] = fmax(imse->variance[i] - column[i] * column[i], 0);
    for (size_t a = 0; a < imse->n_asked; a++) {
        double *between = &imse->between[a * imse->n_candidates];
        double shared = column[imse->n_candidates + a];
        for (size_t i = 0; i < imse->n_candidates; i++)
            between[i] -= column[i] * shared;
    }
    imse->n_runs++;
}

/* The points from `first` on are cells of runs: their own columns first, then the other points some
 * at a time, so that what all columns hold there stays in the cache of the processor. */
static void condition_on_cells(struct imse *imse, size_t first, double deviations[])
{
    static const size_t some = 64;
    size_t runs = imse->n_points - first;
    for (size_t run = 0; run < runs; run++) {
        size_t at = first + run;
        find_column(imse, run, at, first, imse->n_points);
        deviations[run] = deviation_of(imse, run, at, run_noise / imse->cells[at].weight);
        divide_column(imse, run, deviations[run], first, imse->n_points);
    }
    for (size_t from = 0; from < first; from += some) {
        size_t to = first - from < some ? first : from + some;
        for (size_t run = 0; run < runs; run++) {
            find_column(imse, run, first + run, from, to);
            divide_column(imse, run, deviations[run], from, to);
        }
    }
    for (size_t run = 0; run < runs; run++)
        take_run(imse, run);
}

static void begin_with_prior(struct imse *imse)
{
    const struct imse_cell *asked = &imse->cells[imse->n_candidates];
    for (size_t i = 0; i < imse->n_points; i++)
        imse->variance[i] = prior_covariance(&imse->cells[i], &imse->cells[i]);
    for (size_t a = 0; a < imse->n_asked; a++)
        for (size_t i = 0; i < imse->n_candidates; i++)
            imse->between[a * imse->n_candidates + i] =
                prior_covariance(&imse->cells[i], &asked[a]);
}

enum pv_code imse_begin(const struct effects_point candidates[],
                        size_t n_candidates,
                        const struct effects_point asked[],
                        size_t n_asked,
                        const struct observation rows[],
                        size_t n_rows,
                        size_t n_more,
                        struct arena *arena,
                        struct imse *imse,
                        struct pv_error *err)
{
    size_t n = n_candidates + n_asked;
    struct imse_cell *cells = arena_array(arena, n + n_rows, sizeof *cells);
    if (cells == NULL)
        return pv_no_memory(err);
    put_points(cells, candidates, n_candidates);
    put_points(&cells[n_candidates], asked, n_asked);
    size_t n_cells = put_rows(&cells[n], rows, n_rows);
    scale_to_unit_square(cells, n + n_cells);
    n_cells = merge_repetitions(&cells[n], n_cells);
    if (n_cells > IMSE_CELLS_MAX)
        n_cells = thin(&cells[n], n_cells);
    struct imse made = {.cells = cells,
                        .n_candidates = n_candidates,
                        .n_asked = n_asked,
                        .n_points = n + n_cells,
                        .capacity = n_cells + n_more};
    made.variance = arena_array(arena, made.n_points, sizeof *made.variance);
    made.between = arena_array(arena, n_asked, n_candidates * sizeof *made.between);
    made.factor = arena_array(arena, made.capacity, made.n_points * sizeof *made.factor);
    double *deviations = arena_array(arena, n_cells, sizeof *deviations);
    if (made.variance == NULL || made.between == NULL || made.factor == NULL || deviations == NULL)
        return pv_no_memory(err);
    begin_with_prior(&made);
    condition_on_cells(&made, n, deviations);
    *imse = made;
    return PV_OK;
}

double imse_reduction(const struct imse *imse, size_t candidate)
{
    double sum = 0;
    for (size_t a = 0; a < imse->n_asked; a++) {
        double between = imse->between[a * imse->n_candidates + candidate];
        sum += between * between;
    }
    return sum / (imse->variance[candidate] + run_noise);
}

void imse_add(struct imse *imse, size_t candidate)
{
    size_t run = imse->n_runs;
    assert(run < imse->capacity);
    find_column(imse, run, candidate, 0, imse->n_points);
    double deviation = deviation_of(imse, run, candidate, run_noise);
    divide_column(imse, run, deviation, 0, imse->n_points);
    take_run(imse, run);
}

#include "core/scaling/laws/load_limit.h"

#include <math.h>

#include "base/order.h"
#include "core/numerics/normal_equations.h"
#include "core/scaling/laws/worker_load.h"

enum { INTERVALS_MAX = 32, COLUMNS = 4 };

/* Twice the logarithm of odds: what a limit has to gain beyond Schwarz's criterion, and up to where
 * two limits do alike. */
static const double margin = 14;
static const double alike = 2;
/* Of the sum of squares of relative times: what no law does better than. */
static const double exact = 1e-5;
/* Of the upper end of the places that do alike. */
static const double upper_share = 0.9;

/* Between two neighbouring loads, and what is left of the squares with the limit in the middle. */
struct interval {
    double low;
    double high;
    double rest;
};

struct search {
    const struct load_cells *cells;
    struct load_absence absence;
    double *loads; /* of all cells */
    struct interval intervals[INTERVALS_MAX];
    size_t n;
    double present; /* cells */
};

static double rest_with(const struct search *search, double limit)
{
    const struct load_cells *cells = search->cells;
    struct gram gram;
    double b[COLUMNS];
    double all = 0;
    gram_init(&gram, cells->sizes > 1 ? COLUMNS : COLUMNS - 1);
    for (size_t i = 0; i < cells->n; i++) {
        const struct load_cell *cell = &cells->at[i];
        const double x[COLUMNS] = {1, search->loads[i], fmax(0, search->loads[i] - limit),
                                   cell->problem_size};
        if (load_is_absent(cell, search->absence))
            continue;
        gram_add(&gram, x, cell->mean_s, cell->weight);
        all += cell->weight * cell->mean_s * cell->weight * cell->mean_s;
    }
    return gram_solve(&gram, b) + exact * all;
}

/* Executor counts that are there, and whose cells all have loads below. */
static size_t count_below(const struct search *search, double load)
{
    const struct load_cells *cells = search->cells;
    size_t n = 0;
    for (size_t k = 0; k < cells->n_counts; k++) {
        bool below = false;
        for (size_t i = 0; i < cells->n; i++) {
            if (cells->at[i].executors != cells->counts[k] ||
                load_is_absent(&cells->at[i], search->absence))
                continue;
            below = search->loads[i] < load;
            if (!below)
                break;
        }
        n += below;
    }
    return n;
}

/* Between neighbours among n loads, ascending; of too many, evenly many. */
static void try_intervals(struct search *search, const double loads[], size_t n)
{
    size_t gaps = n > 0 ? n - 1 : 0;
    size_t tried = gaps < INTERVALS_MAX ? gaps : INTERVALS_MAX;
    for (size_t t = 0; t < tried; t++) {
        size_t gap = t * gaps / tried;
        double middle = (loads[gap] + loads[gap + 1]) / 2;
        if (count_below(search, middle) < 2)
            continue;
        search->intervals[search->n++] =
            (struct interval){loads[gap], loads[gap + 1], rest_with(search, middle)};
    }
}

static const struct interval *find_best(const struct search *search)
{
    const struct interval *best = NULL;
    for (size_t i = 0; i < search->n; i++)
        if (best == NULL || search->intervals[i].rest < best->rest)
            best = &search->intervals[i];
    return best;
}

static double choose(const struct search *search)
{
    const struct interval *best = find_best(search);
    double n = search->present;
    if (best == NULL)
        return (double)INFINITY;
    if (search->cells->sizes < 2)
        return (best->low + best->high) / 2;
    double gain = n * log(rest_with(search, (double)INFINITY) / best->rest);
    if (!(gain > 2 * log(n) + margin))
        return (double)INFINITY;
    double low = best->low;
    double high = best->high;
    for (size_t i = 0; i < search->n; i++) {
        const struct interval *other = &search->intervals[i];
        if (n * log(other->rest / best->rest) > alike)
            continue;
        low = fmin(low, other->low);
        high = fmax(high, other->high);
    }
    return fmax((low + high) / 2, upper_share * high);
}

enum pv_code load_limit_find(const struct load_cells *cells,
                             double idle,
                             struct load_absence absence,
                             double *limit,
                             struct pv_error *err)
{
    struct arena *scratch = cells->data->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct search search = {.cells = cells, .absence = absence};
    search.loads = arena_array(scratch, cells->n, 2 * sizeof *search.loads);
    if (search.loads == NULL)
        return pv_no_memory(err);
    double *sorted = search.loads + cells->n;
    size_t present = 0;
    for (size_t i = 0; i < cells->n; i++) {
        search.loads[i] = cells->at[i].problem_size / worker_count(idle, cells->at[i].executors);
        if (!load_is_absent(&cells->at[i], absence))
            sorted[present++] = search.loads[i];
    }
    search.present = (double)present;
    try_intervals(&search, sorted, sort_distinct(sorted, present));
    *limit = choose(&search);
    arena_rewind(scratch, mark);
    return PV_OK;
}

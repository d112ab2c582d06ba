#include "core/scaling/experiments/region.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "core/history/run.h"
#include "core/scaling/model/speedup_surface.h"

/* --- lists of different values, ascending --- */

struct values {
    double *at;
    size_t n;
    size_t capacity;
};

static enum pv_code
region_reserve(struct values *values, size_t capacity, struct arena *arena, struct pv_error *err)
{
    *values =
        (struct values){.at = arena_array(arena, capacity, sizeof(double)), .capacity = capacity};
    return values->at == NULL ? pv_no_memory(err) : PV_OK;
}

static void region_put(struct values *values, double value)
{
    size_t i = values->n;
    if (values->n == values->capacity)
        return;
    while (i > 0 && values->at[i - 1] > value)
        i--;
    if (i > 0 && values->at[i - 1] >= value)
        return;
    for (size_t j = values->n++; j > i; j--)
        values->at[j] = values->at[j - 1];
    values->at[i] = value;
}

/* The different values of the runs, thinned. */
static enum pv_code put_observed(struct values *values,
                                 const struct observation rows[],
                                 size_t n,
                                 bool sizes,
                                 struct arena *arena,
                                 struct pv_error *err)
{
    double ticks[EXPERIMENT_ASKED_MAX];
    size_t most = sizes ? (size_t)EXPERIMENT_SIZES_MAX : (size_t)EXPERIMENT_ASKED_MAX;
    struct arena_mark mark = arena_mark(arena);
    double *all = arena_array(arena, n, sizeof *all);
    if (all == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        all[i] = sizes ? rows[i].problem_size : rows[i].executors;
    size_t n_ticks = n == 0 ? 0 : surface_ticks(all, n, most, ticks);
    arena_rewind(arena, mark);
    for (size_t i = 0; i < n_ticks; i++)
        region_put(values, ticks[i]);
    return PV_OK;
}

/* --- problem sizes --- */

static enum pv_code find_problem_size(const struct experiment_bounds *bounds,
                                      const struct observation rows[],
                                      size_t n,
                                      struct experiment_region *region,
                                      struct pv_error *err)
{
    region->problem_size = bounds->problem_size;
    for (size_t i = 0; i < n && isnan(bounds->problem_size); i++)
        region->problem_size = fmax(region->problem_size, rows[i].problem_size);
    if (isnan(region->problem_size))
        return pv_fault(err, PV_PLACE_PARAMETER, "problem_size", "required",
                        "there is no run yet that shows what size is of interest");
    return PV_OK;
}

static enum pv_code find_sizes(const struct experiment_bounds *bounds,
                               const struct observation rows[],
                               size_t n,
                               bool has_model,
                               struct arena *arena,
                               struct experiment_region *region,
                               struct pv_error *err)
{
    struct values sizes;
    size_t capacity = bounds->n_sizes + EXPERIMENT_SIZES_MAX + 4;
    PV_TRY(region_reserve(&sizes, capacity, arena, err));
    for (size_t i = 0; i < bounds->n_sizes; i++)
        region_put(&sizes, bounds->problem_sizes[i]);
    if (bounds->problem_sizes == NULL) {
        PV_TRY(put_observed(&sizes, rows, n, true, arena, err));
        if (n > 0)
            region_put(&sizes, region->problem_size);
        for (double part = 8; !has_model && part > 1; part /= 2)
            if (region->problem_size >= part)
                region_put(&sizes, floor(region->problem_size / part));
        if (sizes.n == 0)
            region_put(&sizes, region->problem_size);
    }
    region->problem_sizes = sizes.at;
    region->n_sizes = sizes.n;
    return PV_OK;
}

/* --- executors --- */

static double most_executors(const struct observation rows[], size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, rows[i].executors);
    return most;
}

static enum pv_code find_range(const struct experiment_bounds *bounds,
                               const struct observation rows[],
                               size_t n,
                               struct experiment_region *region,
                               struct pv_error *err)
{
    bool given = bounds->max_executors != RUN_UNKNOWN;
    double most = n > 0 ? 2 * most_executors(rows, n) : 0;
    for (size_t i = 0; i < bounds->n_executors; i++)
        most = fmax(most, bounds->executors[i]);
    most = fmax(most, bounds->executors_included);
    if (most < 1)
        most = EXPERIMENT_EXECUTORS_MOST;
    int64_t high = given ? bounds->max_executors : (int64_t)fmin(most, 1e9);
    region->min_executors = bounds->min_executors == RUN_UNKNOWN ? 1 : bounds->min_executors;
    if (!given && high < region->min_executors)
        high = region->min_executors;
    region->max_executors = high < bounds->executors_max ? high : bounds->executors_max;
    if (region->min_executors > region->max_executors)
        return pv_fault(err, PV_PLACE_PARAMETER, "min_executors", "out_of_range",
                        "is above the most executors allowed, %" PRId64, region->max_executors);
    return PV_OK;
}

/* 1 2 3 4 6 8 12 16 24 .. */
static void put_grid(struct values *counts, int64_t low, int64_t high)
{
    region_put(counts, (double)low);
    region_put(counts, (double)high);
    for (int64_t power = 1; power <= high; power *= 2) {
        if (power >= low)
            region_put(counts, (double)power);
        int64_t between = power + power / 2;
        if (power >= 2 && between >= low && between <= high)
            region_put(counts, (double)between);
    }
}

/* Counts nobody asked for make way where there are too many points; spare: as much room. */
static void region_thin(struct values *counts, size_t most, struct values *spare)
{
    if (counts->n <= most)
        return;
    size_t kept = most < 2 ? 1 : surface_ticks(counts->at, counts->n, most, spare->at);
    for (size_t i = 0; i < kept && most >= 2; i++)
        counts->at[i] = spare->at[i];
    counts->n = kept;
}

static enum pv_code find_counts(const struct experiment_bounds *bounds,
                                const struct observation rows[],
                                size_t n,
                                const struct experiment_region *region,
                                struct arena *arena,
                                struct values *counts,
                                struct pv_error *err)
{
    enum { GRID = 64 }; /* powers of two below 10^9, twice */
    struct values wide;
    double low = (double)region->min_executors;
    double high = (double)region->max_executors;
    size_t capacity = GRID + EXPERIMENT_ASKED_MAX + bounds->n_executors + 1;
    bool stepped = bounds->executors_step != RUN_UNKNOWN;
    double steps = stepped ? floor((high - low) / (double)bounds->executors_step) + 1 : 0;
    if (steps > (double)bounds->points_max)
        return pv_fault(err, PV_PLACE_PARAMETER, "executors_step", "too_many_items",
                        "%.0f executor counts are more than %zu point%s", steps, bounds->points_max,
                        PLURAL(bounds->points_max));
    PV_TRY(region_reserve(counts, stepped ? (size_t)steps : capacity, arena, err));
    for (double m = low; stepped && m <= high; m += (double)bounds->executors_step)
        counts->at[counts->n++] = m;
    if (stepped)
        return PV_OK;
    PV_TRY(region_reserve(&wide, capacity, arena, err));
    put_grid(&wide, region->min_executors, region->max_executors);
    enum pv_code code = put_observed(&wide, rows, n, false, arena, err);
    for (size_t i = 0; i < bounds->n_executors; i++)
        region_put(&wide, bounds->executors[i]);
    if (!isnan(bounds->executors_included))
        region_put(&wide, bounds->executors_included);
    for (size_t i = 0; i < wide.n; i++)
        if (wide.at[i] >= low && wide.at[i] <= high)
            counts->at[counts->n++] = wide.at[i];
    region_thin(counts, bounds->points_max / (region->n_sizes > 0 ? region->n_sizes : 1), &wide);
    return code;
}

/* --- points --- */

static bool is_idle_known(const struct observation rows[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].executors > rows[i].problem_size)
            return true;
    return false;
}

static void put_points(struct experiment_region *region, const struct values *counts, bool idle)
{
    for (size_t i = 0; i < region->n_sizes; i++)
        for (size_t j = 0; j < counts->n; j++)
            if (idle || counts->at[j] <= fmax(1, region->problem_sizes[i]))
                region->allowed[region->n_allowed++] =
                    (struct effects_point){region->problem_sizes[i], counts->at[j]};
}

static enum pv_code list_allowed(const struct experiment_bounds *bounds,
                                 const struct values *counts,
                                 bool idle,
                                 struct arena *arena,
                                 struct experiment_region *region,
                                 struct pv_error *err)
{
    size_t points;
    if (__builtin_mul_overflow(region->n_sizes, counts->n, &points) || points > bounds->points_max)
        return pv_fault(err, PV_PLACE_PARAMETER,
                        bounds->problem_sizes == NULL ? "executors_step" : "problem_sizes",
                        "too_many_items",
                        "%zu problem size%s by %zu executor count%s are more than %zu point%s",
                        region->n_sizes, PLURAL(region->n_sizes), counts->n, PLURAL(counts->n),
                        bounds->points_max, PLURAL(bounds->points_max));
    region->allowed = arena_array(arena, points, sizeof *region->allowed);
    if (region->allowed == NULL)
        return pv_no_memory(err);
    put_points(region, counts, idle);
    if (region->n_allowed == 0)
        put_points(region, counts, true);
    return PV_OK;
}

static enum pv_code list_asked(const struct experiment_bounds *bounds,
                               const struct values *counts,
                               bool idle,
                               struct arena *arena,
                               struct experiment_region *region,
                               struct pv_error *err)
{
    double ticks[EXPERIMENT_ASKED_MAX];
    struct values usable;
    PV_TRY(region_reserve(&usable, counts->n, arena, err));
    for (size_t i = 0; i < counts->n; i++)
        if (idle || i == 0 || counts->at[i] <= fmax(1, region->problem_size))
            usable.at[usable.n++] = counts->at[i];
    const double *asked = bounds->executors == NULL ? ticks : bounds->executors;
    size_t n = bounds->executors == NULL
                   ? surface_ticks(usable.at, usable.n, EXPERIMENT_ASKED_MAX, ticks)
                   : bounds->n_executors;
    region->asked = arena_array(arena, n, sizeof *region->asked);
    if (region->asked == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        region->asked[i] = (struct effects_point){region->problem_size, asked[i]};
    region->n_asked = n;
    return PV_OK;
}

enum pv_code experiment_region_make(const struct experiment_bounds *bounds,
                                    const struct observation rows[],
                                    size_t n,
                                    bool has_model,
                                    struct arena *arena,
                                    struct experiment_region *region,
                                    struct pv_error *err)
{
    struct experiment_region made = {.n_allowed = 0};
    struct values counts;
    bool idle = is_idle_known(rows, n);
    PV_TRY(find_problem_size(bounds, rows, n, &made, err));
    PV_TRY(find_sizes(bounds, rows, n, has_model, arena, &made, err));
    PV_TRY(find_range(bounds, rows, n, &made, err));
    PV_TRY(find_counts(bounds, rows, n, &made, arena, &counts, err));
    PV_TRY(list_allowed(bounds, &counts, idle, arena, &made, err));
    PV_TRY(list_asked(bounds, &counts, idle, arena, &made, err));
    *region = made;
    return PV_OK;
}

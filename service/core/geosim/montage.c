#include "core/geosim/montage.h"

#include <math.h>

/* --- the shape of a mosaic --- */

static size_t width_of(size_t images)
{
    size_t width = 1;
    while (width * width < images)
        width++;
    return width;
}

/* Full rows of a square's width, the last one perhaps shorter: neighbours along rows, along
 * columns, across corners. */
size_t geosim_mosaic_overlaps(size_t images)
{
    if (images < 2)
        return 0;
    size_t width = width_of(images);
    size_t rows = images / width;
    size_t rest = images % width;
    size_t along = rows * (width - 1) + (rest > 0 ? rest - 1 : 0);
    size_t down = (rows - 1) * width + rest;
    size_t across = 2 * (rows - 1) * (width - 1) + (rest > 0 ? 2 * rest - 1 : 0);
    return along + down + across;
}

/* mConcatFit, mBgModel, mImgtbl, mAdd, mViewer */
enum { GATHERING = 5 };

/* The mosaic of exactly that many tasks, >= 1, in one band. */
static struct geosim_mosaic geosim_mosaic_of(size_t n_tasks)
{
    switch (n_tasks) {
    case 1:
        return (struct geosim_mosaic){1, 0, 0, 0, 0};
    case 2:
        return (struct geosim_mosaic){1, 0, 0, 0, 1};
    case 3:
        return (struct geosim_mosaic){1, 0, 1, 1, 0};
    case 11: /* three images without a comparison would have no background model */
        return (struct geosim_mosaic){2, 1, 1, 1, 2};
    default:
        break;
    }
    if (n_tasks < 10)
        return (struct geosim_mosaic){n_tasks - 3, 0, 1, 1, 1};
    size_t images = 2;
    while (2 * images + geosim_mosaic_overlaps(images) + GATHERING < n_tasks)
        images++;
    return (struct geosim_mosaic){images, n_tasks - 2 * images - GATHERING, 1, 1, 1};
}

/* --- tasks --- */

struct drawing {
    const struct geosim_montage_figures *figures;
    size_t first_operation;
    const struct geosim_scaling *scaling;
    const struct geosim_stores *stores;
    struct rng *rng;
    struct arena *arena;
    struct geosim_task *tasks;
    size_t n;
};

/* Lognormal: above 0, and long runs are likelier than a normal distribution has them, as recorded.
 */
static double draw_around(const struct drawing *d, double mean, double rsd)
{
    return mean > 0 && rsd > 0 ? rng_lognormal(d->rng, mean, sqrt(log1p(rsd * rsd))) : mean;
}

static double draw_law(const struct drawing *d, const struct geosim_law *law, double bytes)
{
    return draw_around(d, law->base + law->per_byte * bytes, law->rsd);
}

/* The next task, its parents set: what goes in and out follows. The bytes of the laws are those
 * of the recorded world, scaled only at the end. */
static void montage_fill(struct drawing *d, enum geosim_montage_step step, struct geosim_task *task)
{
    const struct geosim_step_figures *figures = &d->figures->steps[step];
    double input = draw_around(d, figures->raw_bytes, figures->raw_rsd);
    for (size_t i = 0; i < task->n_parents; i++)
        input += figures->share * d->tasks[task->parents[i]].output_bytes / d->scaling->bytes;
    task->operation = d->first_operation + (size_t)step;
    task->input_bytes = fmax(input * d->scaling->bytes, 1);
    task->work_s =
        fmax(draw_law(d, &figures->work_s, input) * d->scaling->work, GEOSIM_WORK_LEAST_S);
    task->output_bytes = draw_law(d, &figures->output_bytes, input) * d->scaling->bytes;
}

/* Room for the parents of the next task; NULL: out of memory. */
static size_t *list_parents(const struct drawing *d, size_t n)
{
    return arena_array(d->arena, n, sizeof(size_t));
}

static void montage_add(struct drawing *d,
                        enum geosim_montage_step step,
                        const size_t parents[],
                        size_t n,
                        size_t n_feeding)
{
    struct geosim_task *task = &d->tasks[d->n];
    *task = (struct geosim_task){.parents = parents, .n_parents = n, .n_feeding = n_feeding};
    montage_fill(d, step, task);
    d->n++;
}

/* Parents: n of them from `first` on, then `also` (SIZE_MAX: none), whose table of a few hundred
 * bytes comes along. */
static bool
add_behind(struct drawing *d, enum geosim_montage_step step, size_t first, size_t n, size_t also)
{
    size_t *parents = list_parents(d, n + 1);
    if (parents == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        parents[i] = first + i;
    parents[n] = also;
    montage_add(d, step, parents, n + (also != SIZE_MAX ? 1 : 0), n);
    return true;
}

static bool add_project(struct drawing *d)
{
    size_t *source = arena_array(d->arena, 1, sizeof *source);
    if (source == NULL || !add_behind(d, MONTAGE_PROJECT, 0, 0, SIZE_MAX))
        return false;
    *source = geosim_stores_pick(d->stores, d->rng);
    d->tasks[d->n - 1].sources = source;
    d->tasks[d->n - 1].n_sources = 1;
    return true;
}

static bool add_diff(struct drawing *d, size_t a, size_t b)
{
    size_t *parents = list_parents(d, 2);
    if (parents == NULL)
        return false;
    parents[0] = a;
    parents[1] = b;
    montage_add(d, MONTAGE_DIFF_FIT, parents, 2, 2);
    return true;
}

/* The comparisons, up to `left` of them: first those that join each image to one before it, so that
 * leaving out the others leaves no image alone, then the rest. */
static bool add_diffs(struct drawing *d, size_t first, size_t images, size_t left)
{
    size_t width = width_of(images);
    for (size_t i = 1; i < images && left > 0; i++, left--)
        if (!add_diff(d, first + (i % width > 0 ? i - 1 : i - width), first + i))
            return false;
    for (size_t i = width; i < images; i++) {
        size_t column = i % width;
        const struct {
            bool overlaps;
            size_t other;
        } above[] = {{column > 0, i - width},
                     {column > 0, i - width - 1},
                     {column + 1 < width, i - width + 1}};
        for (size_t k = 0; k < sizeof above / sizeof *above && left > 0; k++)
            if (above[k].overlaps) {
                if (!add_diff(d, first + above[k].other, first + i))
                    return false;
                left--;
            }
    }
    return true;
}

/* Images and, where they are compared, the model of their background and what it makes of them.
 * *ready: the first of the images that are to be added up. */
static bool add_images(struct drawing *d, const struct geosim_mosaic *mosaic, size_t *ready)
{
    size_t first = d->n;
    *ready = first;
    for (size_t i = 0; i < mosaic->images; i++)
        if (!add_project(d))
            return false;
    if (mosaic->diffs == 0)
        return true;
    size_t diffs = d->n;
    if (!add_diffs(d, first, mosaic->images, mosaic->diffs) ||
        !add_behind(d, MONTAGE_CONCAT_FIT, diffs, d->n - diffs, SIZE_MAX) ||
        !add_behind(d, MONTAGE_BG_MODEL, d->n - 1, 1, SIZE_MAX))
        return false;
    size_t model = d->n - 1;
    *ready = d->n;
    for (size_t i = 0; i < mosaic->images; i++)
        if (!add_behind(d, MONTAGE_BACKGROUND, first + i, 1, model))
            return false;
    return true;
}

/* *last: what was added up, or what there is instead. */
static bool add_mosaic(struct drawing *d, const struct geosim_mosaic *mosaic, size_t *last)
{
    size_t images;
    if (!add_images(d, mosaic, &images))
        return false;
    if (mosaic->tables > 0 && !add_behind(d, MONTAGE_IMGTBL, images, mosaic->images, SIZE_MAX))
        return false;
    if (mosaic->adds > 0 && !add_behind(d, MONTAGE_ADD, images, mosaic->images, d->n - 1))
        return false;
    *last = d->n - 1;
    for (size_t i = 0; i < mosaic->viewers; i++)
        if (!add_behind(d, MONTAGE_VIEWER, *last, 1, SIZE_MAX))
            return false;
    return true;
}

/* Bands as even as the number of tasks allows, then the picture of all of them. */
static bool add_bands(struct drawing *d, size_t n_tasks)
{
    size_t *mosaics = list_parents(d, MONTAGE_BANDS);
    if (mosaics == NULL)
        return false;
    for (size_t band = 0; band < MONTAGE_BANDS; band++) {
        const struct geosim_mosaic mosaic = geosim_mosaic_of((n_tasks - 1 + band) / MONTAGE_BANDS);
        if (!add_mosaic(d, &mosaic, &mosaics[band]))
            return false;
    }
    montage_add(d, MONTAGE_VIEWER, mosaics, MONTAGE_BANDS, MONTAGE_BANDS);
    return true;
}

struct geosim_task *geosim_montage_draw(size_t n_tasks,
                                        const struct geosim_montage_figures *figures,
                                        size_t first_operation,
                                        const struct geosim_scaling *scaling,
                                        const struct geosim_stores *stores,
                                        struct rng *rng,
                                        struct arena *arena)
{
    struct drawing d = {figures, first_operation, scaling, stores, rng, arena, NULL, 0};
    const struct geosim_mosaic whole = geosim_mosaic_of(n_tasks);
    size_t last;
    d.tasks = arena_calloc(arena, n_tasks, sizeof *d.tasks);
    if (d.tasks == NULL)
        return NULL;
    bool done =
        n_tasks < MONTAGE_BANDS_FROM ? add_mosaic(&d, &whole, &last) : add_bands(&d, n_tasks);
    return done ? d.tasks : NULL;
}

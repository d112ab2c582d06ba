#ifndef CORE_GEOSIM_MONTAGE_H
#define CORE_GEOSIM_MONTAGE_H

#include "core/geosim/montage_figures.h"
#include "core/geosim/stores.h"

/*
 * Workflows of Montage, which makes a mosaic of the sky out of many images, of any number of tasks.
 * The shape is that of the recorded executions: every image is projected (mProject), neighbours
 * are compared (mDiffFit), the differences gathered (mConcatFit) into a model of the background
 * (mBgModel), which is taken off every image (mBackground); then they are listed (mImgtbl), added
 * up (mAdd) and shown (mViewer). From MONTAGE_BANDS_FROM tasks on three bands are made side by side
 * and one picture of all three at the end.
 *
 * Images lie in rows of a square and overlap with the up to eight around them. That gives all the
 * comparisons of a mosaic of four images as recorded and 42 of one of sixteen (recorded: 126 of 360
 * comparisons of three such found an overlap). A wanted number of tasks is met exactly by leaving
 * out comparisons, the background model (below 10 tasks) or more (below 4).
 */
enum { MONTAGE_BANDS = 3, MONTAGE_BANDS_FROM = 31 };

struct geosim_mosaic {
    size_t images;
    size_t diffs;  /* 0: the background is left as it is */
    size_t tables; /* 0 or 1, as is adds */
    size_t adds;
    size_t viewers;
};

/* The pairs of n images that overlap. */
size_t geosim_mosaic_overlaps(size_t images);

/*
 * A workflow of exactly n_tasks >= 1 tasks, their times and bytes drawn around the figures, each
 * raw image somewhere in the stores. Operations are first_operation + step. In the arena; NULL: out
 * of memory.
 */
struct geosim_task *geosim_montage_draw(size_t n_tasks,
                                        const struct geosim_montage_figures *figures,
                                        size_t first_operation,
                                        const struct geosim_scaling *scaling,
                                        const struct geosim_stores *stores,
                                        struct rng *rng,
                                        struct arena *arena);

#endif

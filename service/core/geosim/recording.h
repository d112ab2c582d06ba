#ifndef CORE_GEOSIM_RECORDING_H
#define CORE_GEOSIM_RECORDING_H

#include "base/strview.h"
#include "core/geosim/stores.h"
#include "core/geosim/world.h"

/*
 * An execution of a workflow that was recorded somewhere: its graph, what each task took, what it
 * read and wrote. From it come workflows to simulate (here) and the figures of Montage's steps
 * (montage_figures.h).
 */
struct geosim_recorded_task {
    size_t operation; /* of the operations of all recordings together */
    double work_s;    /* >= 0 */
    double output_bytes;
    const size_t *parents;      /* stand before it */
    const double *parent_bytes; /* what it read of each; 0: it only waited for it */
    size_t n_parents;
    const size_t *files; /* of the recording's, read and written by none of its tasks */
    size_t n_files;
};

struct geosim_recording {
    struct strview name;
    const struct geosim_recorded_task *tasks;
    size_t n_tasks;
    const double *file_bytes; /* of each raw file */
    size_t n_files;
};

/* What a task read, raw files and of its parents. */
double geosim_recording_input(const struct geosim_recording *recording, size_t task);
double geosim_recording_raw(const struct geosim_recording *recording, size_t task);

/*
 * The tasks as they were recorded, times and bytes scaled, each raw file somewhere in the stores.
 * A raw file of less than a hundredth of the largest input of a task is no source of it, as
 * world.h says of parents. A task that read nothing counts as one that read a byte; none takes less
 * than GEOSIM_WORK_LEAST_S. In the arena; NULL: out of memory.
 */
#define GEOSIM_WORK_LEAST_S 1e-3

struct geosim_scaling {
    double work;  /* > 0 */
    double bytes; /* > 0 */
};

struct geosim_task *geosim_recording_place(const struct geosim_recording *recording,
                                           const struct geosim_scaling *scaling,
                                           const struct geosim_stores *stores,
                                           struct rng *rng,
                                           struct arena *arena);

#endif

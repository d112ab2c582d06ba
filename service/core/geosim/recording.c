#include "core/geosim/recording.h"

#include <math.h>

/* Inputs smaller than this share of the largest one are not worth a transfer. */
static const double COUNTS_FROM = 0.01;

double geosim_recording_raw(const struct geosim_recording *recording, size_t task)
{
    const struct geosim_recorded_task *recorded = &recording->tasks[task];
    double sum = 0;
    for (size_t i = 0; i < recorded->n_files; i++)
        sum += recording->file_bytes[recorded->files[i]];
    return sum;
}

double geosim_recording_input(const struct geosim_recording *recording, size_t task)
{
    const struct geosim_recorded_task *recorded = &recording->tasks[task];
    double sum = geosim_recording_raw(recording, task);
    for (size_t i = 0; i < recorded->n_parents; i++)
        sum += recorded->parent_bytes[i];
    return sum;
}

static double largest_input(const struct geosim_recording *recording,
                            const struct geosim_recorded_task *recorded)
{
    double largest = 0;
    for (size_t i = 0; i < recorded->n_files; i++)
        largest = fmax(largest, recording->file_bytes[recorded->files[i]]);
    for (size_t i = 0; i < recorded->n_parents; i++)
        largest = fmax(largest, recorded->parent_bytes[i]);
    return largest;
}

static bool counts(double bytes, double largest)
{
    return bytes > 0 && bytes >= COUNTS_FROM * largest;
}

static bool add_parents(const struct geosim_recorded_task *recorded,
                        double largest,
                        struct arena *arena,
                        struct geosim_task *task)
{
    size_t *parents = arena_array(arena, recorded->n_parents, sizeof *parents);
    size_t n = 0;
    if (parents == NULL)
        return false;
    for (size_t i = 0; i < recorded->n_parents; i++)
        if (counts(recorded->parent_bytes[i], largest))
            parents[n++] = recorded->parents[i];
    task->n_feeding = n;
    for (size_t i = 0; i < recorded->n_parents; i++)
        if (!counts(recorded->parent_bytes[i], largest))
            parents[n++] = recorded->parents[i];
    task->parents = parents;
    task->n_parents = n;
    return true;
}

static bool recording_holds(const size_t list[], size_t n, size_t value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return false;
}

static bool add_sources(const struct geosim_recording *recording,
                        const struct geosim_recorded_task *recorded,
                        double largest,
                        const size_t place[],
                        struct arena *arena,
                        struct geosim_task *task)
{
    size_t *sources = arena_array(arena, recorded->n_files, sizeof *sources);
    size_t n = 0;
    if (sources == NULL)
        return false;
    for (size_t i = 0; i < recorded->n_files; i++) {
        size_t file = recorded->files[i];
        if (counts(recording->file_bytes[file], largest) &&
            !recording_holds(sources, n, place[file]))
            sources[n++] = place[file];
    }
    task->sources = sources;
    task->n_sources = n;
    return true;
}

struct geosim_task *geosim_recording_place(const struct geosim_recording *recording,
                                           const struct geosim_scaling *scaling,
                                           const struct geosim_stores *stores,
                                           struct rng *rng,
                                           struct arena *arena)
{
    size_t *place = arena_array(arena, recording->n_files, sizeof *place);
    struct geosim_task *tasks = arena_calloc(arena, recording->n_tasks, sizeof *tasks);
    if (place == NULL || tasks == NULL)
        return NULL;
    for (size_t i = 0; i < recording->n_files; i++)
        place[i] = geosim_stores_pick(stores, rng);
    for (size_t i = 0; i < recording->n_tasks; i++) {
        const struct geosim_recorded_task *recorded = &recording->tasks[i];
        double largest = largest_input(recording, recorded);
        double input = geosim_recording_input(recording, i) * scaling->bytes;
        tasks[i].operation = recorded->operation;
        tasks[i].work_s = fmax(recorded->work_s * scaling->work, GEOSIM_WORK_LEAST_S);
        tasks[i].input_bytes = input > 0 ? input : 1;
        tasks[i].output_bytes = recorded->output_bytes * scaling->bytes;
        if (!add_parents(recorded, largest, arena, &tasks[i]) ||
            !add_sources(recording, recorded, largest, place, arena, &tasks[i]))
            return NULL;
    }
    return tasks;
}

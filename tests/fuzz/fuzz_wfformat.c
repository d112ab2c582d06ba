/*
 * Any bytes as a recorded execution in WfFormat. Refused documents say where they are wrong; in a
 * recording that is taken parents stand before their children, nothing is negative, and it can be
 * placed in stores.
 */

#include "codec/geo/wfformat.h"
#include "fuzz_body.h"

enum { TASKS_MAX = 64, OPERATIONS_MAX = 16 };

static void require_task(const struct geosim_recording *recording,
                         const struct codec_operations *operations,
                         size_t i)
{
    const struct geosim_recorded_task *task = &recording->tasks[i];
    FUZZ_REQUIRE(task->operation < operations->n);
    FUZZ_REQUIRE(task->work_s >= 0 && task->output_bytes >= 0);
    for (size_t p = 0; p < task->n_parents; p++) {
        FUZZ_REQUIRE(task->parents[p] < i);
        FUZZ_REQUIRE(task->parent_bytes[p] >= 0);
    }
    for (size_t f = 0; f < task->n_files; f++)
        FUZZ_REQUIRE(task->files[f] < recording->n_files);
    FUZZ_REQUIRE(geosim_recording_input(recording, i) >= geosim_recording_raw(recording, i));
}

static void require_placed(const struct geosim_recording *recording, struct arena *arena)
{
    static const size_t clusters[] = {2, 5};
    static const struct geosim_stores stores = {clusters, 2};
    static const struct geosim_scaling scaling = {.work = 0.5, .bytes = 10};
    struct rng rng = rng_make(1, 1);
    const struct geosim_task *tasks =
        geosim_recording_place(recording, &scaling, &stores, &rng, arena);
    FUZZ_REQUIRE(tasks != NULL);
    for (size_t i = 0; i < recording->n_tasks; i++) {
        FUZZ_REQUIRE(tasks[i].work_s >= GEOSIM_WORK_LEAST_S && tasks[i].input_bytes > 0);
        FUZZ_REQUIRE(tasks[i].output_bytes >= 0);
        for (size_t p = 0; p < tasks[i].n_parents; p++)
            FUZZ_REQUIRE(tasks[i].parents[p] < i);
        for (size_t s = 0; s < tasks[i].n_sources; s++)
            FUZZ_REQUIRE(tasks[i].sources[s] == 2 || tasks[i].sources[s] == 5);
    }
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct strview names[OPERATIONS_MAX];
    struct codec_operations operations = {.names = names, .most = OPERATIONS_MAX};
    struct geosim_recording recording;
    codec_wfformat_decode(top, TASKS_MAX, &operations, &recording);
    bool taken = fuzz_body_is_taken(top);
    FUZZ_REQUIRE(operations.n <= OPERATIONS_MAX);
    FUZZ_REQUIRE(!taken || (recording.n_tasks > 0 && recording.n_tasks <= TASKS_MAX));
    for (size_t i = 0; taken && i < recording.n_tasks; i++)
        require_task(&recording, &operations, i);
    if (taken)
        require_placed(&recording, arena);
}

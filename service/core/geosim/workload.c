#include "core/geosim/workload.h"

#include "core/sim/arrivals.h"
#include "core/sim/variates.h"

/* Names of streams. Every workflow has one of its own, so that its draws do not depend on those
 * before it. */
static const uint64_t STREAM_ARRIVALS = 0x61727269;
static const uint64_t STREAM_STORES = 0x73746f72;
static const uint64_t STREAM_WORKFLOWS = UINT64_C(0x776f726b00000000);

const struct geosim_size_class geosim_size_classes[GEOSIM_SIZE_CLASSES] = {
    {0.89, 1, 150}, {0.08, 151, 500}, {0.03, 501, 1000}};

const struct geosim_scaling geosim_montage_scaling = {1, 0.05};

static size_t draw_size(const struct geosim_workload_parameters *terms, struct rng *rng)
{
    double at = rng_uniform(rng);
    size_t i = 0;
    while (i + 1 < terms->n_sizes && at >= terms->sizes[i].share)
        at -= terms->sizes[i++].share;
    return terms->sizes[i].least +
           variate_index(rng, terms->sizes[i].most - terms->sizes[i].least + 1);
}

static bool draw_workflow(const struct geosim_workload_parameters *terms,
                          const struct geosim_stores *stores,
                          struct rng *rng,
                          struct arena *arena,
                          struct geosim_workflow *workflow)
{
    if (terms->n_recordings > 0) {
        const struct geosim_recording *recording =
            &terms->recordings[variate_index(rng, terms->n_recordings)];
        workflow->n_tasks = recording->n_tasks;
        workflow->tasks = geosim_recording_place(recording, &terms->scaling, stores, rng, arena);
    } else {
        size_t figures = variate_index(rng, terms->n_figures);
        workflow->n_tasks = draw_size(terms, rng);
        workflow->tasks =
            geosim_montage_draw(workflow->n_tasks, terms->figures[figures], figures * MONTAGE_STEPS,
                                &terms->scaling, stores, rng, arena);
    }
    return workflow->tasks != NULL;
}

enum pv_code geosim_workload_draw(const struct geosim_workload_parameters *terms,
                                  const struct geosim_world *world,
                                  double arrivals_per_s,
                                  uint64_t seed,
                                  struct arena *arena,
                                  struct geosim_workload *workload,
                                  struct pv_error *err)
{
    struct rng placing = variate_stream(seed, &STREAM_STORES, 1);
    struct arrivals arrivals = arrivals_poisson(terms->n_workflows, arrivals_per_s,
                                                variate_stream(seed, &STREAM_ARRIVALS, 1));
    struct geosim_stores stores;
    struct geosim_workflow *workflows = arena_calloc(arena, terms->n_workflows, sizeof *workflows);
    bool drawn = workflows != NULL &&
                 geosim_stores_draw(world, terms->medium_share, &placing, arena, &stores);
    for (size_t i = 0; i < terms->n_workflows && drawn; i++) {
        uint64_t name = STREAM_WORKFLOWS + i;
        struct rng rng = variate_stream(seed, &name, 1);
        drawn = arrivals_next(&arrivals, &workflows[i].arrives_s) &&
                draw_workflow(terms, &stores, &rng, arena, &workflows[i]);
    }
    if (!drawn)
        return pv_no_memory(err);
    *workload = (struct geosim_workload){workflows, terms->n_workflows, terms->n_operations};
    return PV_OK;
}

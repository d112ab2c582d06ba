#include <inttypes.h>
#include <math.h>

#include "base/plural.h"
#include "codec/scheduling/slots_simulation_internal.h"

/* Simulations of kind `slots` whose jobs are those of a workload: what can be said before they are
 * loaded, and what only then. */

/* --- before --- */

struct workload_load_terms
codec_slots_simulation_load_terms(const struct codec_slots_simulation *asked)
{
    return (struct workload_load_terms){
        .target = WORKLOAD_FOR_SLOTS,
        .names =
            (asked->common.include & (COMPARISON_INCLUDE_JOBS | COMPARISON_INCLUDE_OCCUPANCY)) != 0,
        .predict_from_input = asked->predicted_sizes == PREDICTED_FROM_INPUT,
        .seconds_per_byte = isnan(asked->seconds_per_byte) ? 0 : asked->seconds_per_byte,
        .short_cutoff_s = (double)NAN};
}

static struct codec_comparison_size size_of(const struct codec_slots_simulation *asked,
                                            const struct workload_summary *workload)
{
    const struct workload_load_terms terms = codec_slots_simulation_load_terms(asked);
    uint64_t tasks = workload->tasks[WORKLOAD_TASKS] + workload->tasks[WORKLOAD_REDUCES];
    const struct slots_comparison comparison = {
        .cluster = asked->cluster, .n_jobs = (size_t)workload->jobs, .tasks = (size_t)tasks};
    return (struct codec_comparison_size){
        .jobs = (size_t)workload->jobs,
        .tasks = (double)tasks,
        .probed = codec_slots_probed(asked, (double)tasks, (size_t)workload->jobs),
        .load_bytes = codec_comparison_load_bytes(workload, &terms),
        .memory_bytes = slots_comparison_memory(&comparison)};
}

void codec_slots_check_workload(const struct codec_node *top,
                                const struct codec_comparison_limits *limits,
                                struct codec_slots_simulation *asked)
{
    const struct workload_summary *workload = limits->workload;
    struct codec_node cluster = codec_member(top, "cluster");
    if (workload == NULL)
        return;
    uint64_t reduces = workload->tasks[WORKLOAD_REDUCES];
    if (reduces > 0 && asked->cluster.slots[SLOTS_REDUCE] == 0 && !codec_slots_has_room(asked))
        codec_fault_member(&cluster, codec_slots_place(asked, SLOTS_REDUCE), "out_of_range",
                           "the workload has %" PRIu64 " reduce%s, which need a slot", reduces,
                           PLURAL(reduces));
    if (asked->predicted_sizes == PREDICTED_FROM_INPUT && isnan(asked->seconds_per_byte) &&
        workload->size_law.jobs == 0)
        codec_fault_member(top, "seconds_per_byte", "required",
                           "is required: the jobs of the workload do not say how size and input "
                           "bytes belong together");
    codec_slots_check_splits(top, limits, asked, (double)workload->jobs);
    if (top->reader->err->n_faults == 0)
        codec_slots_check_search_of(top, workload, asked);
    struct codec_comparison_size size = size_of(asked, workload);
    codec_comparison_check(top, limits, &asked->common, &size);
    codec_slots_check_occupancy(top, limits, asked, size.tasks);
}

/* --- when they are loaded --- */

/* number: of the job, from 1. */
static enum pv_code check_job(const struct slots_job *job,
                              size_t number,
                              size_t tenants,
                              bool need_maps,
                              struct pv_error *err)
{
    if (job->queue >= tenants)
        return pv_fail(err, PV_E_INVALID,
                       "job %zu of the workload is of queue %zu, and a policy \"capacity\" has %zu "
                       "queue%s only",
                       number, job->queue + 1, tenants, PLURAL(tenants));
    if (job->task_lists[SLOTS_MAP].n == 0 && need_maps)
        return pv_fail(err, PV_E_INVALID,
                       "job %zu of the workload has no map, and under FRESH every job needs one",
                       number);
    return PV_OK;
}

enum pv_code codec_slots_simulation_load(struct codec_slots_simulation *asked,
                                         const struct workload_jobs *jobs,
                                         struct arena *arena,
                                         struct pv_error *err)
{
    size_t tenants = codec_slots_tenants(asked);
    bool need_maps = codec_slots_need_maps(asked);
    asked->jobs = jobs->slots;
    asked->n_jobs = jobs->n;
    asked->names = jobs->names;
    for (size_t i = 0; i < jobs->n; i++) {
        PV_TRY(check_job(&jobs->slots[i], i + 1, tenants, need_maps, err));
        if (codec_slots_has_room(asked))
            jobs->slots[i].requests = asked->requests;
    }
    PV_TRY(codec_slots_choose_candidates(asked, arena, err));
    struct codec_comparison_size size = codec_slots_size_of(asked);
    return codec_comparison_check_loaded(&asked->common, &size, err);
}

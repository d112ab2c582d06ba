#include "core/scheduling/slots/slots_split.h"

#include "core/scheduling/comparison/arrival_order.h"
#include "core/scheduling/slots/fresh_static.h"

enum pv_code slots_need_maps(const struct slots_job jobs[], size_t n, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i].task_lists[SLOTS_MAP].n == 0)
            return pv_fault(err, PV_PLACE_POINTER, "/jobs", "out_of_range",
                            "under this policy every job needs a map");
    return PV_OK;
}

static enum pv_code find_split(const struct slots_cluster *cluster,
                               const struct slots_job jobs[],
                               size_t n,
                               size_t concurrency,
                               struct arena *scratch,
                               size_t split[SLOTS_KINDS],
                               struct pv_error *err)
{
    struct fresh_work *works = arena_array(scratch, n, sizeof *works);
    uint32_t *order = arena_array(scratch, n, sizeof *order);
    size_t slots = cluster->slots[SLOTS_MAP] + cluster->slots[SLOTS_REDUCE];
    const struct fresh_batch batch = {works, n, slots, concurrency};
    if (works == NULL || order == NULL ||
        !arrival_order(&jobs->arrival_s, sizeof *jobs, (uint32_t)n, order, scratch))
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct slots_job *job = &jobs[order[i]];
        works[i] =
            (struct fresh_work){.map_s = slots_tasks_work(&job->task_lists[SLOTS_MAP]),
                                .reduce_s = slots_tasks_work(&job->task_lists[SLOTS_REDUCE])};
    }
    PV_TRY(fresh_static_best(&batch, scratch, &split[SLOTS_MAP], err));
    split[SLOTS_REDUCE] = slots - split[SLOTS_MAP];
    return PV_OK;
}

enum pv_code slots_split(const struct slots_cluster *cluster,
                         const struct slots_job jobs[],
                         size_t n,
                         size_t concurrency,
                         struct arena *scratch,
                         size_t split[SLOTS_KINDS],
                         struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    PV_TRY(slots_need_maps(jobs, n, err));
    enum pv_code code = find_split(cluster, jobs, n, concurrency, scratch, split, err);
    arena_rewind(scratch, mark);
    return code;
}

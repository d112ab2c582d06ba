#include "core/diagnosis/idle_cores.h"

#include <inttypes.h>
#include <math.h>

enum pv_code idle_cores_find(const struct task_slots *slots,
                             int64_t cores,
                             int64_t tasks,
                             struct arena *arena,
                             struct idle_cores *idle,
                             struct pv_error *err)
{
    const char *where = slots->profile > 0 ? " in the resource profile of the program" : "";
    const char *key = "spark.executor.cores";
    int64_t by_cores = cores / slots->task_cores;
    struct idle_cores made = {.taken = tasks * slots->task_cores, .share = (double)NAN};
    *idle = made;
    if (tasks < 1 || made.taken >= cores)
        return PV_OK;
    made.cores = cores - made.taken;
    if (slots->resource.at != NULL && tasks < by_cores && slots->per_executor >= 1) {
        int n = (int)slots->resource.n;
        const char *name = slots->resource.at;
        made.share = task_slots_share(slots->per_executor, by_cores);
        key = arena_printf(arena, "spark.task.resource.%.*s.amount", n, name);
        made.value = arena_printf(arena, "%.6g", made.share);
        made.cure = arena_printf(arena,
                                 "Set %s to %s%s if the memory of each %.*s suffices, else "
                                 "spark.executor.cores to %" PRId64 ".",
                                 key, made.value, where, n, name, made.taken);
    } else {
        made.value = arena_printf(arena, "%" PRId64, made.taken);
        made.cure = arena_printf(arena,
                                 "Set %s to %s%s and start more executors on the cores that this "
                                 "frees.",
                                 key, made.value, where);
    }
    if (key == NULL || made.value == NULL || made.cure == NULL)
        return pv_no_memory(err);
    made.key = slots->profile > 0 ? NULL : key;
    *idle = made;
    return PV_OK;
}

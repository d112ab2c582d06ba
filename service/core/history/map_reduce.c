#include "core/history/map_reduce.h"

#include <inttypes.h>
#include <math.h>

struct tasks {
    int64_t n;
    double time_s;
};

static enum pv_code
add_stage(struct tasks *tasks, const struct run_profile_stage *stage, struct pv_error *err)
{
    int64_t n = stage->latest->n_tasks;
    if (stage->latest->skipped || n == 0)
        return PV_OK;
    if (n < 0 || isnan(stage->task_duration_s))
        return pv_fail(err, PV_E_TOO_FEW,
                       "of stage %" PRId64 " it is not known how many tasks there are, or how long "
                       "they take",
                       stage->latest->id);
    tasks->n += n;
    tasks->time_s += (double)n * stage->task_duration_s;
    return PV_OK;
}

enum pv_code
map_reduce_of(const struct run_profile *profile, struct map_reduce *made, struct pv_error *err)
{
    struct tasks maps = {0}, reduces = {0};
    for (size_t i = 0; i < profile->n_stages; i++)
        PV_TRY(add_stage(profile->stages[i].latest->n_parents == 0 ? &maps : &reduces,
                         &profile->stages[i], err));
    if (maps.n == 0)
        return pv_fail(err, PV_E_TOO_FEW,
                       "no stage without parents has tasks, so there are no maps");
    if (!(maps.time_s > 0) || (reduces.n > 0 && !(reduces.time_s > 0)))
        return pv_fail(err, PV_E_TOO_FEW, "its %s took no time",
                       maps.time_s > 0 ? "reduces" : "maps");
    *made = (struct map_reduce){.maps = maps.n,
                                .map_task_s = maps.time_s / (double)maps.n,
                                .reduces = reduces.n,
                                .reduce_task_s = reduces.n > 0 ? reduces.time_s / (double)reduces.n
                                                               : (double)NAN};
    return PV_OK;
}

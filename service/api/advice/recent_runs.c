#include "api/advice/recent_runs.h"

#include "core/history/run_idle.h"

enum pv_code recent_runs_load(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              struct run_list *list,
                              struct pv_error *err)
{
    const struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                      .until_us = RUN_NO_INSTANT,
                                      .before_us = RUN_NO_INSTANT,
                                      .limit = RECENT_RUNS_MAX,
                                      .with = RUN_WITH_STAGES};
    struct run_list loaded;
    PV_TRY(store_run_list(tx, arena, application, &filter, &loaded, err));
    size_t kept = 0;
    for (size_t i = 0; i < loaded.n; i++) {
        const struct run *run = &loaded.items[i];
        if (!run->succeeded || run->n_stages == 0 || run->streaming_queries > 0)
            continue;
        PV_TRY(run_leave_out_idle(&loaded.items[i], arena, err));
        loaded.items[kept] = loaded.items[i];
        loaded.instants_us[kept++] = loaded.instants_us[i];
    }
    loaded.n = kept;
    *list = loaded;
    return PV_OK;
}

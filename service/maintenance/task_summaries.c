#include "core/history/task_sketch.h"
#include "log/log.h"
#include "maintenance/pass_internal.h"
#include "store/history/run_task_summary.h"

static enum pv_code
sketch_stages(struct run_stage stages[], size_t n, struct arena *arena, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct task_group *groups = arena_array(arena, TASK_SKETCH_GROUPS_MAX, sizeof *groups);
        if (groups == NULL)
            return pv_no_memory(err);
        enum pv_code code = task_sketch_make(stages[i].task_durations_s, (size_t)stages[i].n_tasks,
                                             arena, groups, &stages[i].n_task_sketch, err);
        if (code != PV_OK)
            return code;
        stages[i].task_sketch = groups;
    }
    return PV_OK;
}

/* *thinned counts stages. */
static enum pv_code thin_once(const struct pass *pass,
                              struct store_tx *tx,
                              const void *of,
                              size_t *thinned,
                              struct pv_error *err)
{
    (void)pass;
    const struct unthinned *run = of;
    struct arena arena;
    struct run_stage *stages = NULL;
    size_t n = 0;
    arena_init(&arena, 0);
    enum pv_code code = store_run_long_stages(tx, &arena, run, TASK_SKETCH_LEAST, &stages, &n, err);
    if (code == PV_OK)
        code = sketch_stages(stages, n, &arena, err);
    if (code == PV_OK)
        code = store_run_thin(tx, run, stages, n, err);
    *thinned = n;
    arena_fini(&arena);
    return code;
}

static enum pv_code thin_one(struct pass *pass, const struct unthinned *run, struct pv_error *err)
{
    size_t stages = 0;
    enum pv_code code = pass_one_batch(pass, run->team_id, thin_once, run, &stages, err);
    pass->tally->runs_thinned += stages > 0;
    pass->tally->stages_thinned += stages;
    if (code != PV_OK)
        LOG_EVENT(LOG_WARN, "maintenance.run_not_thinned", NULL, LOG_TEXT("run_id", run->run_id),
                  LOG_TEXT("reason", err->detail));
    return code;
}

/*
 * One run a transaction: its tasks may be a million. One that fails stands at the head of every
 * list to come, so it must not keep the others from their turn; the first failure is answered
 * in the end. *go_on is false when there is no more, or no more that can be done.
 */
static enum pv_code
thin_listed(struct pass *pass, struct arena *arena, bool *go_on, struct pv_error *err)
{
    struct unthinned *runs = NULL;
    size_t n = 0;
    size_t done = 0;
    enum pv_code first = store_unthinned_list(
        pass->store, arena, pass->config->task_summary_after_days, PASS_LISTED, &runs, &n, err);
    bool sound = first == PV_OK;
    for (size_t i = 0; sound && *go_on && i < n; i++) {
        struct pv_error why = {.code = PV_OK};
        enum pv_code code = pass_may_go_on(pass, go_on, &why);
        sound = code == PV_OK;
        if (sound && *go_on)
            code = thin_one(pass, &runs[i], &why);
        done += code == PV_OK && *go_on;
        sound = sound && code != PV_E_UNAVAILABLE;
        if (code != PV_OK && first == PV_OK) {
            first = code;
            *err = why;
        }
    }
    *go_on = sound && *go_on && n == PASS_LISTED && done > 0;
    return first;
}

enum pv_code task_summaries_make(struct pass *pass, struct pv_error *err)
{
    bool go_on = pass->config->task_summary_after_days > 0;
    enum pv_code first = PV_OK;
    while (go_on) {
        struct arena arena;
        struct pv_error why = {.code = PV_OK};
        arena_init(&arena, 0);
        enum pv_code code = thin_listed(pass, &arena, &go_on, &why);
        arena_fini(&arena);
        if (code != PV_OK && first == PV_OK) {
            first = code;
            *err = why;
        }
    }
    return pass_unless_busy(first, "thin_runs");
}

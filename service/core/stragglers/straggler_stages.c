/* Which tasks of the last run were slow, and why. */
#include <math.h>

#include "core/diagnosis/stage_time.h"
#include "core/stragglers/stragglers_internal.h"

static bool has_durations(const struct run_stage *stage)
{
    return !stage->skipped && stage->n_tasks > 0 && stage->task_durations_s != NULL &&
           stage->n_task_sketch == 0;
}

static enum pv_code judge_stage(const struct search *search,
                                const struct run_stage *stage,
                                const double factors[],
                                struct straggler_stage *judged,
                                struct pv_error *err)
{
    judged->stage = stage;
    judged->replayed_s = judged->without_s = (double)NAN;
    PV_TRY(stage_times_make(stage, search->arena, search->scratch, &judged->times, err));
    return slow_tasks_find(stage, &judged->times, factors, &search->found->rule, search->arena,
                           &judged->slow, err);
}

enum pv_code
straggler_judge_stages(const struct search *search, const double factors[], struct pv_error *err)
{
    const struct run *run = search->runs;
    struct stragglers *found = search->found;
    struct arena_mark mark = arena_mark(search->scratch);
    double *charged_s = arena_array(search->scratch, run->n_stages, sizeof *charged_s);
    found->stages = arena_calloc(search->arena, run->n_stages, sizeof *found->stages);
    if (charged_s == NULL || found->stages == NULL)
        return pv_no_memory(err);
    PV_TRY(stage_time_charge(run, search->scratch, charged_s, err));
    for (size_t i = 0; i < run->n_stages; i++) {
        if (!has_durations(&run->stages[i]))
            continue;
        struct straggler_stage *judged = &found->stages[found->n_stages++];
        PV_TRY(judge_stage(search, &run->stages[i], factors, judged, err));
        judged->charged_s = charged_s[i];
    }
    arena_rewind(search->scratch, mark);
    return PV_OK;
}

#include "core/history/run_profile.h"

#include <math.h>
#include <string.h>

#include "core/history/graph.h"
#include "core/history/stage_weight.h"

/* Mean of the values that are known. */
struct mean {
    double value;
    double n;
};

static void mean_add(struct mean *mean, double value)
{
    if (isnan(value))
        return;
    mean->n += 1;
    mean->value += (value - mean->value) / mean->n;
}

static double mean_get(const struct mean *mean)
{
    return mean->n > 0 ? mean->value : (double)NAN;
}

static double task_mean_s(const struct run_stage *stage)
{
    if (!isnan(stage->task_duration_s))
        return stage->task_duration_s;
    return stage->n_tasks > 0 ? stage->task_time_s / (double)stage->n_tasks : (double)NAN;
}

static void average_stage(const struct run runs[],
                          const struct run_profile *profile,
                          size_t at,
                          struct run_profile_stage *out)
{
    struct mean task = {0}, work = {0}, wall = {0}, records = {0}, rate = {0};
    for (size_t i = 0; i < profile->n_runs; i++) {
        const struct run_stage *stage = &runs[profile->runs[i]].stages[at];
        mean_add(&task, task_mean_s(stage));
        mean_add(&work, stage->task_time_s);
        mean_add(&wall, stage->duration_s);
        mean_add(&records, stage->input_records);
        mean_add(&rate, stage->nominal_rate_per_s);
    }
    *out = (struct run_profile_stage){.latest = &runs[0].stages[at],
                                      .task_duration_s = mean_get(&task),
                                      .task_time_s = mean_get(&work),
                                      .duration_s = mean_get(&wall),
                                      .input_records = mean_get(&records),
                                      .nominal_rate_per_s = mean_get(&rate)};
}

/* xSpark weighs stages by their serialized duration: the summed task time. */
static bool weigh_stages(struct arena *scratch, struct run_profile *profile)
{
    size_t n = profile->n_stages;
    double *durations_s = arena_array(scratch, n, sizeof *durations_s);
    double *weights = arena_array(scratch, n, sizeof *weights);
    bool *skipped = arena_array(scratch, n, sizeof *skipped);
    if (durations_s == NULL || weights == NULL || skipped == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        durations_s[i] = profile->stages[i].task_time_s;
        skipped[i] = profile->stages[i].latest->skipped;
    }
    stage_weights(durations_s, skipped, n, STAGE_WEIGHT_BETA, weights);
    for (size_t i = 0; i < n; i++)
        profile->stages[i].weight = weights[i];
    return true;
}

/* docs/design.md, "From an event log": sum(rate weight) / sum(weight) over the stages not skipped.
 * */
static double average_rate(const struct run_profile *profile)
{
    double sum = 0;
    double weights = 0;
    for (size_t i = 0; i < profile->n_stages; i++) {
        const struct run_profile_stage *stage = &profile->stages[i];
        if (stage->latest->skipped || isnan(stage->weight) || isnan(stage->nominal_rate_per_s))
            continue;
        sum += stage->nominal_rate_per_s * stage->weight;
        weights += stage->weight;
    }
    return weights > 0 ? sum / weights : (double)NAN;
}

static enum pv_code choose_runs(const struct run runs[],
                                size_t n,
                                struct arena *arena,
                                struct run_profile *profile,
                                struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        bool equal;
        PV_TRY(run_graph_compare(&runs[0], &runs[i], arena, &equal, err));
        if (equal)
            profile->runs[profile->n_runs++] = i;
        else
            profile->graph_changed = true;
    }
    return PV_OK;
}

enum pv_code run_profile_build(const struct run runs[],
                               size_t n,
                               struct arena *arena,
                               struct run_profile *profile,
                               struct pv_error *err)
{
    struct run_profile built = {.n_stages = runs[0].n_stages};
    built.runs = arena_array(arena, n, sizeof *built.runs);
    built.stages = arena_array(arena, built.n_stages, sizeof *built.stages);
    if (built.runs == NULL || built.stages == NULL)
        return pv_no_memory(err);
    PV_TRY(choose_runs(runs, n, arena, &built, err));
    for (size_t i = 0; i < built.n_stages; i++)
        average_stage(runs, &built, i, &built.stages[i]);
    if (!weigh_stages(arena, &built))
        return pv_no_memory(err);
    built.average_nominal_rate_per_s = average_rate(&built);
    *profile = built;
    return PV_OK;
}

void run_profile_sources(const struct run_profile *profile,
                         const struct run runs[],
                         struct run_source sources[])
{
    for (size_t i = 0; i < profile->n_runs; i++) {
        const struct run *run = &runs[profile->runs[i]];
        sources[i] =
            (struct run_source){.problem_size = run->problem_size, .executors = run->executors};
        memcpy(sources[i].id, run->id, sizeof sources[i].id);
    }
}

#include "core/deadline/stage_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/rounding.h"
#include "core/deadline/core_quantum.h"
#include "core/history/task_slots.h"

/* Whole, and at least 1: what is nearly nothing still has to be done. */
static double count_up(double x)
{
    return fmax(1, rounding_ceil(x));
}

/* Cores that end the stage within its deadline; a deadline of 0 asks for infinitely many. */
static double estimate_cores(const struct stage_plan_stage *stage, double deadline_s)
{
    double cores = fmax(1, stage->cores_per_slot);
    if (!isnan(stage->pinned_cores))
        return stage->pinned_cores;
    if (stage->input_records > 0 && stage->nominal_rate_per_s > 0)
        return cores * count_up(stage->input_records / (deadline_s * stage->nominal_rate_per_s));
    return cores * count_up(stage->duration_s / deadline_s);
}

static void give_cores(const struct stage_plan_terms *terms,
                       const struct stage_plan_stage *stage,
                       struct stage_plan_step *step)
{
    double all = terms->executors * terms->cores_per_executor;
    double cq = terms->core_quantum;
    step->estimated_cores = estimate_cores(stage, step->deadline_s);
    step->max_allocable_cores = fmin(terms->overscale * step->estimated_cores, all);
    step->initial_cores_per_executor = core_quanta(
        count_up(step->max_allocable_cores / (terms->overscale * cq * terms->executors)), cq);
}

void stage_plan_step_make(const struct stage_plan_terms *terms,
                          const struct stage_plan_stage *stage,
                          double weight,
                          double spent_s,
                          struct stage_plan_step *step)
{
    double left_s = fmax(0, terms->alpha * terms->deadline_s - spent_s);
    step->id = stage->id;
    step->weight = weight;
    step->start_s = spent_s;
    step->deadline_s = isnan(stage->pinned_deadline_s) ? left_s / weight : stage->pinned_deadline_s;
    give_cores(terms, stage, step);
}

static void plan_in_order(const struct stage_plan_terms *terms,
                          const struct stage_plan_stage stages[],
                          size_t n,
                          const double weights[],
                          struct stage_plan *plan)
{
    double all = terms->executors * terms->cores_per_executor;
    double spent_s = 0, driver_s = 0;
    plan->feasible = true;
    plan->fixed_s = terms->ending_s;
    for (size_t i = 0; i < n; i++)
        plan->fixed_s += stages[i].driver_s;
    for (size_t i = 0; i < n; i++) {
        driver_s += stages[i].driver_s;
        if (stages[i].skipped)
            continue;
        struct stage_plan_step *step = &plan->steps[plan->n_steps++];
        stage_plan_step_make(terms, &stages[i], weights[i], spent_s + plan->fixed_s, step);
        step->start_s = spent_s + driver_s;
        spent_s += step->deadline_s;
        if (step->estimated_cores > all || step->deadline_s <= 0)
            plan->feasible = false;
    }
    plan->end_s = spent_s + plan->fixed_s;
    if (plan->end_s > terms->deadline_s * (1 + 1e-9))
        plan->feasible = false;
}

enum pv_code stage_plan_make(const struct stage_plan_terms *terms,
                             const struct stage_plan_stage stages[],
                             size_t n,
                             struct arena *arena,
                             struct stage_plan *plan,
                             struct pv_error *err)
{
    struct stage_plan made = {.steps = arena_array(arena, n, sizeof *made.steps)};
    double *durations_s = arena_array(arena, n, sizeof *durations_s);
    double *weights = arena_array(arena, n, sizeof *weights);
    bool *skipped = arena_array(arena, n, sizeof *skipped);
    if (made.steps == NULL || durations_s == NULL || weights == NULL || skipped == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        durations_s[i] = stages[i].duration_s;
        skipped[i] = stages[i].skipped;
    }
    stage_weights(durations_s, skipped, n, terms->beta, weights);
    plan_in_order(terms, stages, n, weights, &made);
    *plan = made;
    return PV_OK;
}

static double cores_per_slot(const struct run *run, const struct run_stage *stage)
{
    double slots = task_slots_of_run(run, stage);
    double cores = (double)run->executors * (double)run->cores_per_executor;
    return slots > 0 && slots < cores ? cores / slots : 1.0;
}

/* --- from a recorded run --- */

struct active {
    double start_s;
    double end_s;
    size_t stage;
};

static int earlier_first(const void *left, const void *right)
{
    const struct active *a = left;
    const struct active *b = right;
    if (a->start_s != b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* The time before each stage in which no stage was active, once where several began together. */
static enum pv_code find_driver_times(const struct run *run,
                                      struct arena *arena,
                                      struct stage_plan_stage stages[],
                                      double *ending_s,
                                      struct pv_error *err)
{
    struct active *spans = arena_array(arena, run->n_stages, sizeof *spans);
    double reached_s = 0.0, known_s = 0.0;
    size_t n = 0;
    if (spans == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (stage->skipped)
            continue;
        spans[n++] = (struct active){stage->started_s, stage->started_s + stage->duration_s, i};
        known_s += spans[n - 1].end_s; /* NAN sticks */
    }
    *ending_s = 0.0;
    if (!isfinite(known_s)) {
        stages[spans[0].stage].driver_s = fmax(0.0, run->initialization_s);
        return PV_OK;
    }
    qsort(spans, n, sizeof *spans, earlier_first);
    for (size_t i = 0; i < n; i++) {
        stages[spans[i].stage].driver_s = fmax(0.0, spans[i].start_s - reached_s);
        reached_s = fmax(reached_s, spans[i].end_s);
    }
    *ending_s = fmax(0.0, run->duration_s - reached_s); /* 0 if the duration is unknown */
    return PV_OK;
}

enum pv_code stage_plan_take_run(const struct run *run,
                                 struct arena *arena,
                                 struct stage_plan_stage **stages,
                                 double *ending_s,
                                 struct pv_error *err)
{
    struct stage_plan_stage *taken = arena_array(arena, run->n_stages, sizeof *taken);
    size_t n_planned = 0;
    if (taken == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (!stage->skipped && isnan(stage->task_time_s))
            return pv_fail(err, PV_E_TOO_FEW, "the task time of stage %lld is not known",
                           (long long)stage->id);
        taken[i] = (struct stage_plan_stage){.id = stage->id,
                                             .duration_s = stage->task_time_s,
                                             .input_records = stage->input_records,
                                             .nominal_rate_per_s = stage->nominal_rate_per_s,
                                             .skipped = stage->skipped || stage->task_time_s <= 0,
                                             .pinned_cores = (double)NAN,
                                             .pinned_deadline_s = (double)NAN,
                                             .cores_per_slot = cores_per_slot(run, stage)};
        n_planned += !taken[i].skipped;
    }
    if (n_planned == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the run has no stage that took any task time");
    PV_TRY(find_driver_times(run, arena, taken, ending_s, err));
    *stages = taken;
    return PV_OK;
}

#include "core/deadline/stage_plan.h"

#include <math.h>

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
    double spent_s = 0;
    plan->feasible = true;
    for (size_t i = 0; i < n; i++) {
        if (stages[i].skipped)
            continue;
        struct stage_plan_step *step = &plan->steps[plan->n_steps++];
        stage_plan_step_make(terms, &stages[i], weights[i], spent_s, step);
        spent_s += step->deadline_s;
        if (step->estimated_cores > all || step->deadline_s <= 0)
            plan->feasible = false;
    }
    if (spent_s > terms->deadline_s * (1 + 1e-9))
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

enum pv_code stage_plan_take_run(const struct run *run,
                                 struct arena *arena,
                                 struct stage_plan_stage **stages,
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
    *stages = taken;
    return PV_OK;
}

#include "core/advice/quotas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"

enum pv_code quotas_take_run(const struct run *run,
                             struct arena *arena,
                             struct quota_source *source,
                             struct pv_error *err)
{
    struct quota_source taken = {.n_stages = run->n_stages, .problem_size = run->problem_size};
    struct pv_error why = {0};
    memcpy(taken.run_id, run->id, sizeof taken.run_id);
    enum pv_code code = stage_plan_take_run(run, arena, &taken.stages, &taken.ending_s, &why);
    if (code != PV_OK && code != PV_E_TOO_FEW)
        return pv_fail(err, code, "%s", why.detail);
    if (code == PV_E_TOO_FEW) {
        taken.n_stages = 0;
        taken.missing = arena_strdup(arena, why.detail);
        if (taken.missing == NULL)
            return pv_no_memory(err);
    }
    *source = taken;
    return PV_OK;
}

/* Stages that would need more cores than are recommended to end within their share. */
static size_t count_short(const struct stage_plan *plan, double cores)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        n += plan->steps[i].estimated_cores > cores;
    return n;
}

static void explain_plan(const struct quota_source *source,
                         const struct stage_plan_terms *terms,
                         const struct stage_plan *plan,
                         double scale,
                         struct advice *advice)
{
    char scaled[128] = "", fixed[128] = "";
    if (scale != 1.0)
        (void)snprintf(scaled, sizeof scaled, ", with %s times its work for the problem size asked",
                       quantity_number(scale).text);
    if (plan->fixed_s > 0)
        (void)snprintf(fixed, sizeof fixed,
                       ", less %s of start-up and of the driver between stages,",
                       quantity_duration(plan->fixed_s).text);
    size_t n_short = count_short(plan, terms->executors * terms->cores_per_executor);
    struct finding *note =
        finding_add(&advice->reasons, "stage_quotas",
                    "The stages' quotas (cores for each) share %s of the deadline%s among the %zu "
                    "stage%s of a run of problem "
                    "size %s%s, one after another; %s.",
                    quantity_share(terms->alpha).text, fixed, plan->n_steps, PLURAL(plan->n_steps),
                    quantity_digits(source->problem_size, 7).text, scaled,
                    n_short == 0 ? "none asks for more cores than are recommended"
                                 : "some ask for more cores than are recommended");
    finding_number(note, "deadline_s", terms->deadline_s);
    finding_number(note, "fixed_s", plan->fixed_s);
    finding_number(note, "stages", (double)plan->n_steps);
    finding_number(note, "stages_short_of_cores", (double)n_short);
    finding_number(note, "problem_size", source->problem_size);
    if (source->run_id[0] != '\0')
        finding_text(note, "run", source->run_id);
}

static void
explain_lack(const struct quota_source *source, bool has_deadline, struct advice *advice)
{
    (void)finding_add(&advice->reasons, "no_stage_quotas", "There are no quotas for stages: %s.",
                      !has_deadline             ? "without a deadline there is none to share"
                      : source->missing != NULL ? source->missing
                                                : "the run has no stages");
}

/* How much more work than the run had; sizes that count as one have the same. */
static double scale_of(const struct quota_source *source, double problem_size)
{
    if (!(source->problem_size > 0) ||
        !curve_beyond_sizes(problem_size, source->problem_size, source->problem_size))
        return 1.0;
    return problem_size / source->problem_size;
}

static enum pv_code scale_stages(const struct quota_source *source,
                                 double scale,
                                 struct arena *arena,
                                 struct stage_plan_stage **stages,
                                 struct pv_error *err)
{
    struct stage_plan_stage *scaled = arena_array(arena, source->n_stages, sizeof *scaled);
    if (scaled == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < source->n_stages; i++) {
        scaled[i] = source->stages[i];
        scaled[i].duration_s *= scale;
        scaled[i].input_records *= scale;
    }
    *stages = scaled;
    return PV_OK;
}

enum pv_code quotas_plan(const struct quota_source *source,
                         const struct advise_goal *goal,
                         int64_t cores_per_executor,
                         double problem_size,
                         struct arena *arena,
                         struct advice *advice,
                         struct stage_plan *plan,
                         bool *planned,
                         struct pv_error *err)
{
    const struct stage_plan_terms terms = {.deadline_s = goal->deadline_s,
                                           .alpha = STAGE_PLAN_ALPHA,
                                           .beta = STAGE_WEIGHT_BETA,
                                           .overscale = STAGE_PLAN_OVERSCALE,
                                           .core_quantum = STAGE_PLAN_CORE_QUANTUM,
                                           .executors = (double)advice->recommendation.executors,
                                           .cores_per_executor = (double)cores_per_executor,
                                           .ending_s = source->ending_s};
    *planned = !isnan(goal->deadline_s) && source->n_stages > 0;
    if (*planned) {
        struct stage_plan_stage *stages = source->stages;
        double scale = scale_of(source, problem_size);
        if (scale != 1.0)
            PV_TRY(scale_stages(source, scale, arena, &stages, err));
        PV_TRY(stage_plan_make(&terms, stages, source->n_stages, arena, plan, err));
        explain_plan(source, &terms, plan, scale, advice);
    } else {
        explain_lack(source, !isnan(goal->deadline_s), advice);
    }
    return advice->reasons.failed ? pv_no_memory(err) : PV_OK;
}

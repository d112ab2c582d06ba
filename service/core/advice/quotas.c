#include "core/advice/quotas.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"

enum pv_code quotas_take_run(const struct run *run,
                             struct arena *arena,
                             struct quota_source *source,
                             struct pv_error *err)
{
    struct quota_source taken = {.n_stages = run->n_stages, .problem_size = run->problem_size};
    struct pv_error why = {0};
    memcpy(taken.run_id, run->id, sizeof taken.run_id);
    enum pv_code code = stage_plan_take_run(run, arena, &taken.stages, &why);
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
                         struct advice *advice)
{
    size_t n_short = count_short(plan, terms->executors * terms->cores_per_executor);
    struct finding *note = finding_add(
        &advice->reasons, "stage_quotas",
        "The stages' quotas (cores for each) share %.3g percent of the deadline among the %zu "
        "stage%s of a run of problem "
        "size %.7g, one after another; %s.",
        100.0 * terms->alpha, plan->n_steps, PLURAL(plan->n_steps), source->problem_size,
        n_short == 0 ? "none asks for more cores than are recommended"
                     : "some ask for more cores than are recommended");
    finding_number(note, "deadline_s", terms->deadline_s);
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

enum pv_code quotas_plan(const struct quota_source *source,
                         const struct advise_goal *goal,
                         int64_t cores_per_executor,
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
                                           .cores_per_executor = (double)cores_per_executor};
    *planned = !isnan(goal->deadline_s) && source->n_stages > 0;
    if (*planned) {
        PV_TRY(stage_plan_make(&terms, source->stages, source->n_stages, arena, plan, err));
        explain_plan(source, &terms, plan, advice);
    } else {
        explain_lack(source, !isnan(goal->deadline_s), advice);
    }
    return advice->reasons.failed ? pv_no_memory(err) : PV_OK;
}

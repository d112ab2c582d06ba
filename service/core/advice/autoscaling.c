#include "core/advice/autoscaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/advised_job.h"

const char *autoscaling_allocation_name(enum autoscaling_allocation allocation)
{
    static const char *const names[AUTOSCALING_ALLOCATIONS] = {
        "static", "static_last_run", "dynamic_from_minimum", "dynamic_from_maximum",
        "dynamic_as_configured"};
    return names[allocation];
}

const struct autoscaling_case *autoscaling_find(const struct autoscaling *autoscaling,
                                                enum autoscaling_allocation allocation)
{
    for (size_t i = 0; i < autoscaling->n_cases; i++)
        if (autoscaling->cases[i].allocation == allocation)
            return &autoscaling->cases[i];
    return NULL;
}

/* --- policies --- */

struct setting {
    const struct autoscaling_question *question;
    struct allocation_job job;              /* of as many executors as the prediction is for */
    int64_t executors;                      /* that the prediction is for */
    double duration_s;                      /* the prediction */
    double scale;                           /* from a replay to the prediction */
    const struct run *run;                  /* whose tasks they are */
    const struct allocation_record *record; /* of its executors; NULL if all exist all the time */
    bool awaited_executors; /* its initialization includes the start-up of executors */
    struct arena *arena;
    struct arena *scratch;
    struct autoscaling *made;
};

/* What is enforced comes first, then what the caller says the job has, then what it ran with. */
static struct allocation_policy configured_policy(const struct autoscaling_question *question,
                                                  int64_t most)
{
    const struct spark_constraints *spark_constraints = question->spark_constraints;
    const struct spark_before *before = question->before;
    const struct property_list lists[] = {
        {spark_constraints->enforced, spark_constraints->n_enforced},
        {spark_constraints->current, spark_constraints->n_current},
        {before->properties, before->n}};
    return allocation_of_properties(lists, sizeof lists / sizeof *lists, before->version, most);
}

/* Up to the recommended executors, with the time-outs that are configured. */
static struct allocation_policy bounded_policy(const struct autoscaling_question *question,
                                               bool from_minimum)
{
    int64_t executors = question->choice->executors;
    struct allocation_policy policy = configured_policy(question, executors);
    policy.max_executors = executors;
    policy.initial_executors = from_minimum ? policy.min_executors : executors;
    return policy;
}

/* Was the run recorded under this policy? */
static bool is_as_recorded(const struct run *run, const struct allocation_policy *policy)
{
    const struct property_list list = {run->spark_properties, run->n_spark_properties};
    const struct allocation_policy own =
        allocation_of_properties(&list, 1, run->spark_version, policy->max_executors);
    return allocation_is_enabled(&list) && allocation_is_equal(&own, policy);
}

/* --- cases --- */

/* The number of executors at so many instants, evenly spread; all steps where these are fewer. */
static enum pv_code thin_steps(const struct allocation_outcome *outcome,
                               struct arena *arena,
                               struct autoscaling_case *added,
                               struct pv_error *err)
{
    size_t room =
        outcome->n_steps < AUTOSCALING_STEPS_MAX ? outcome->n_steps : AUTOSCALING_STEPS_MAX;
    struct allocation_step *steps = arena_array(arena, room, sizeof *steps);
    if (steps == NULL)
        return pv_no_memory(err);
    added->steps = steps;
    added->n_steps = room;
    if (room == outcome->n_steps) {
        memcpy(steps, outcome->steps, room * sizeof *steps);
        return PV_OK;
    }
    for (size_t i = 0, at = 0; i < room; i++) {
        double at_s = outcome->duration_s * (double)i / (double)room;
        while (at + 1 < outcome->n_steps && outcome->steps[at + 1].at_s <= at_s)
            at++;
        steps[i] = (struct allocation_step){at_s, outcome->steps[at].executors};
    }
    return PV_OK;
}

/* A time of another allocation has the distribution of the recommended executors', as many times
 * as long. */
static double probability_at(const struct autoscaling_question *question, double duration_s)
{
    const struct curve_point *point = curve_find(question->curve, question->choice->executors);
    double deadline_s = question->goal->deadline_s;
    if (isnan(deadline_s) || point == NULL)
        return (double)NAN;
    return curve_probability(question->curve, point, deadline_s * point->duration_s / duration_s);
}

/* Each unit is billed for as long as it is held: executors are packed on machines in the order in
 * which they are asked for, and a machine is held until the last of its executors goes. */
static double cost_of_leases(const struct billing *billing,
                             const struct allocation_outcome *outcome,
                             double scale)
{
    size_t each = billing->executors_per_machine > 0 ? (size_t)billing->executors_per_machine : 1;
    double cost = isnan(billing->per_hour) ? (double)NAN : 0.0;
    for (size_t i = 0; i < outcome->n_leases && !isnan(cost); i += each) {
        double to_s = 0.0;
        for (size_t k = i; k < i + each && k < outcome->n_leases; k++)
            to_s = fmax(to_s, outcome->leases[k].to_s);
        cost += billing_cost(billing, 1, (to_s - outcome->leases[i].from_s) * scale);
    }
    return cost;
}

static enum pv_code replay_case(const struct setting *setting,
                                const struct allocation_policy *policy,
                                struct autoscaling_case *added,
                                struct pv_error *err)
{
    const struct autoscaling_question *question = setting->question;
    const bool as_recorded = is_as_recorded(setting->run, policy);
    const struct allocation_policy fixed = allocation_fixed(setting->executors);
    struct allocation_job job = setting->job;
    struct allocation_outcome outcome;
    if (as_recorded)
        job.record = setting->record;
    else if (setting->awaited_executors && policy->initial_executors == 0) /* nothing to wait for */
        job.initialization_s = fmax(0.0, job.initialization_s - job.startup_s);
    PV_TRY(allocation_replay(&job, job.record == NULL ? policy : &fixed, question->task_budget,
                             setting->arena, setting->scratch, &outcome, err));
    double duration_s = outcome.duration_s * setting->scale;
    if (as_recorded)
        duration_s = setting->duration_s;
    else if (outcome.peak_executors <=
             setting->executors) /* at most the executors of the prediction */
        duration_s = fmax(duration_s, setting->duration_s);
    const double scale = duration_s / outcome.duration_s;
    added->policy = *policy;
    added->is_dynamic = added->allocation >= AUTOSCALING_FROM_MINIMUM;
    added->predicted_duration_s = duration_s;
    added->deadline_probability = probability_at(question, duration_s);
    added->executor_s = outcome.executor_s * scale;
    added->cost = cost_of_leases(&question->billing, &outcome, scale);
    added->mean_executors = outcome.executor_s / outcome.duration_s;
    added->peak_executors = outcome.peak_executors;
    added->started = outcome.started;
    added->released = outcome.released;
    PV_TRY(thin_steps(&outcome, setting->arena, added, err));
    for (size_t i = 0; i < added->n_steps; i++)
        added->steps[i].at_s *= scale;
    return PV_OK;
}

/* Unless another case holds the same executors. */
static enum pv_code add_case(const struct setting *setting,
                             enum autoscaling_allocation allocation,
                             const struct allocation_policy *policy,
                             struct pv_error *err)
{
    struct autoscaling *made = setting->made;
    for (size_t i = 0; i < made->n_cases; i++)
        if (allocation_is_equal(&made->cases[i].policy, policy))
            return PV_OK;
    struct autoscaling_case added = {.allocation = allocation};
    PV_TRY(replay_case(setting, policy, &added, err));
    made->cases[made->n_cases++] = added;
    return PV_OK;
}

/* A fixed number of executors takes as long as the curve has it, which knows stages that are cut
 * anew for other executors. */
static enum pv_code add_static(const struct setting *setting,
                               enum autoscaling_allocation allocation,
                               int64_t executors,
                               struct pv_error *err)
{
    const struct autoscaling_question *question = setting->question;
    const struct curve_point *point = curve_find(question->curve, executors);
    const struct allocation_policy policy = allocation_fixed(executors);
    struct autoscaling *made = setting->made;
    size_t n = made->n_cases;
    if (point == NULL)
        return PV_OK;
    PV_TRY(add_case(setting, allocation, &policy, err));
    if (made->n_cases == n)
        return PV_OK;
    struct autoscaling_case *added = &made->cases[n];
    added->predicted_duration_s = point->duration_s;
    added->executor_s = (double)executors * point->duration_s;
    added->cost = billing_cost(&question->billing, executors, point->duration_s);
    added->mean_executors = (double)executors;
    if (!isnan(question->goal->deadline_s))
        added->deadline_probability =
            curve_probability(question->curve, point, question->goal->deadline_s);
    return PV_OK;
}

/* The tasks for so many executors. The scale makes them take the predicted time if executors come and
 * go as those of the run did. */
static enum pv_code make_setting(const struct autoscaling_question *question,
                                 const struct curve_point *point,
                                 double duration_s,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct autoscaling *made,
                                 struct setting *setting,
                                 struct pv_error *err)
{
    const struct curve *curve = question->curve;
    const struct replay_target target = {curve->problem_size, point->executors,
                                         curve->cores_per_executor};
    const struct allocation_policy fixed = allocation_fixed(point->executors);
    struct allocation_outcome outcome;
    struct advised_job *job = arena_alloc(scratch, sizeof *job);
    if (job == NULL)
        return pv_no_memory(err);
    PV_TRY(
        advised_job_make(question->runs, question->n_runs, &target, duration_s, scratch, job, err));
    memcpy(made->run_id, job->run->id, sizeof made->run_id);
    made->startup_measured = isfinite(job->run->executor_startup_s);
    made->startup_s = job->run->executor_startup_s;
    if (!made->startup_measured) /* the first stage waited for executors, so no longer than that */
        made->startup_s = job->awaited_executors && job->initialization_s > 0
                              ? fmin(ALLOCATION_STARTUP_S, job->initialization_s)
                              : ALLOCATION_STARTUP_S;
    *setting = (struct setting){.question = question,
                                .executors = point->executors,
                                .duration_s = duration_s,
                                .run = job->run,
                                .record = job->record.n > 0 ? &job->record : NULL,
                                .job = {.job = &job->job,
                                        .shuffles = job->graph,
                                        .delays_s = job->delays_s,
                                        .initialization_s = job->initialization_s,
                                        .ending_s = job->ending_s,
                                        .startup_s = made->startup_s},
                                .awaited_executors = job->awaited_executors,
                                .arena = arena,
                                .scratch = scratch,
                                .made = made};
    for (size_t s = 0; s < job->slots.n; s++)
        if (job->slots.is_barrier[s])
            return pv_fail(err, PV_E_TOO_FEW,
                           "Spark runs no barrier stage with dynamic allocation");
    PV_TRY(
        stage_slots_allocate(&job->slots, curve->cores_per_executor, scratch, &setting->job, err));
    struct allocation_job held = setting->job;
    held.record = setting->record;
    PV_TRY(allocation_replay(&held, &fixed, question->task_budget, NULL, scratch, &outcome, err));
    setting->scale = duration_s / outcome.duration_s;
    return PV_OK;
}

/* The point whose executors are nearest, by their ratio. */
static const struct curve_point *nearest_point(const struct curve *curve, int64_t executors)
{
    const struct curve_point *best = &curve->points[0];
    double wanted = log(executors > 0 ? (double)executors : 1.0);
    for (size_t i = 1; i < curve->n_points; i++)
        if (fabs(log((double)curve->points[i].executors) - wanted) <
            fabs(log((double)best->executors) - wanted))
            best = &curve->points[i];
    return best;
}

/* With the tasks as they are cut for the executors that there are at most. */
static enum pv_code add_configured(const struct setting *setting,
                                   const struct allocation_policy *policy,
                                   struct pv_error *err)
{
    const struct autoscaling_question *question = setting->question;
    struct allocation_outcome outcome = {.peak_executors = setting->run->executors};
    struct setting there;
    if (!is_as_recorded(setting->run, policy))
        PV_TRY(allocation_replay(&setting->job, policy, question->task_budget, NULL,
                                 setting->scratch, &outcome, err));
    else if (outcome.peak_executors > policy->max_executors)
        outcome.peak_executors = policy->max_executors;
    const struct curve_point *point = nearest_point(question->curve, outcome.peak_executors);
    PV_TRY(make_setting(question, point, point->duration_s, setting->arena, setting->scratch,
                        setting->made, &there, err));
    return add_case(&there, AUTOSCALING_AS_CONFIGURED, policy, err);
}

static enum pv_code add_dynamic(const struct setting *setting, struct pv_error *err)
{
    const struct autoscaling_question *question = setting->question;
    const struct allocation_policy from_minimum = bounded_policy(question, true);
    const struct allocation_policy from_maximum = bounded_policy(question, false);
    const struct allocation_policy configured =
        configured_policy(question, question->executors_max);
    PV_TRY(add_case(setting, AUTOSCALING_FROM_MINIMUM, &from_minimum, err));
    PV_TRY(add_case(setting, AUTOSCALING_FROM_MAXIMUM, &from_maximum, err));
    return spark_is_dynamic(question->before, question->spark_constraints)
               ? add_configured(setting, &configured, err)
               : PV_OK;
}

/* --- the comparison --- */

static enum pv_code compare(const struct autoscaling_question *question,
                            struct arena *arena,
                            struct arena *scratch,
                            struct autoscaling *made,
                            struct pv_error *err)
{
    const struct advise_choice *choice = question->choice;
    const struct curve_point *point = curve_find(question->curve, choice->executors);
    struct setting setting;
    if (point == NULL)
        return pv_fail(err, PV_E_TOO_FEW, "the recommended executors were not replayed");
    PV_TRY(make_setting(question, point, choice->predicted_duration_s, arena, scratch, made,
                        &setting, err));
    PV_TRY(add_static(&setting, AUTOSCALING_STATIC, choice->executors, err));
    PV_TRY(add_static(&setting, AUTOSCALING_STATIC_LAST, question->last_executors, err));
    return add_dynamic(&setting, err);
}

enum pv_code autoscaling_compare(const struct autoscaling_question *question,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct autoscaling *made,
                                 struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct pv_error why = {0};
    *made = (struct autoscaling){.lack = NULL};
    enum pv_code code = compare(question, arena, scratch, made, &why);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        return PV_OK;
    if (code != PV_E_TOO_FEW && code != PV_E_LIMIT && code != PV_E_DOMAIN)
        return pv_fail(err, code, "%s", why.detail);
    *made = (struct autoscaling){.lack = arena_strdup(arena, why.detail)};
    return made->lack == NULL ? pv_no_memory(err) : PV_OK;
}

/* --- in words --- */

static bool is_met(const struct autoscaling_case *at, double confidence)
{
    return isnan(at->deadline_probability) || at->deadline_probability >= confidence;
}

/* The dynamic case that holds executors for the least time, of those as likely to be in time as is
 * asked for, if any is. */
static const struct autoscaling_case *best_dynamic(const struct autoscaling *autoscaling,
                                                   double confidence)
{
    const struct autoscaling_case *best = NULL;
    bool best_met = false;
    for (size_t i = 0; i < autoscaling->n_cases; i++) {
        const struct autoscaling_case *at = &autoscaling->cases[i];
        bool met = is_met(at, confidence);
        if (!at->is_dynamic || (best_met && !met))
            continue;
        if (best == NULL || (met && !best_met) || at->executor_s < best->executor_s) {
            best = at;
            best_met = met;
        }
    }
    return best;
}

/* What rounding alone makes of equal times is none. */
static double change_percent(double now, double before)
{
    double change = 100.0 * (now / before - 1.0);
    return fabs(change) < 1e-6 ? 0.0 : change;
}

/* "4.2 % longer", "as long" */
static struct quantity_text change_text(double percent, const char *more, const char *less)
{
    struct quantity_text made = {"the same"};
    if (fabs(percent) >= 0.05)
        (void)snprintf(made.text, sizeof made.text, "%.32s%s", quantity_percent(fabs(percent)).text,
                       percent > 0 ? more : less);
    return made;
}

static void explain_dynamic(const struct autoscaling_case *fixed,
                            const struct autoscaling_case *dynamic,
                            double confidence,
                            struct findings *reasons)
{
    double longer = change_percent(dynamic->predicted_duration_s, fixed->predicted_duration_s);
    double dearer = change_percent(dynamic->executor_s, fixed->executor_s);
    struct finding *note = finding_add(
        reasons, "dynamic_allocation",
        "With dynamic allocation that begins with %" PRId64 " executor%s and goes up to %" PRId64
        " the job is predicted to take %s (%s) and to hold executors for %s in "
        "all (%s)%s.",
        dynamic->policy.initial_executors, PLURAL(dynamic->policy.initial_executors),
        dynamic->policy.max_executors, quantity_duration(dynamic->predicted_duration_s).text,
        change_text(longer, " longer", " shorter").text,
        quantity_duration(dynamic->executor_s).text, change_text(dearer, " more", " less").text,
        is_met(dynamic, confidence) ? "" : "; no dynamic case meets the deadline with confidence");
    finding_text(note, "allocation", autoscaling_allocation_name(dynamic->allocation));
    finding_number(note, "duration_s", dynamic->predicted_duration_s);
    finding_number(note, "executor_s", dynamic->executor_s);
    finding_number(note, "static_duration_s", fixed->predicted_duration_s);
    finding_number(note, "static_executor_s", fixed->executor_s);
    finding_number(note, "duration_change_percent", longer);
    finding_number(note, "executor_s_change_percent", dearer);
    finding_number(note, "deadline_probability", dynamic->deadline_probability);
}

enum pv_code autoscaling_explain(const struct autoscaling *autoscaling,
                                 const struct advise_goal *goal,
                                 struct advice *advice,
                                 struct pv_error *err)
{
    if (autoscaling->lack != NULL) {
        (void)finding_add(&advice->warnings, "no_autoscaling",
                          "Dynamic allocation cannot be replayed: %s.", autoscaling->lack);
        return findings_check(&advice->warnings, err);
    }
    const struct autoscaling_case *fixed = autoscaling_find(autoscaling, AUTOSCALING_STATIC);
    const struct autoscaling_case *dynamic = best_dynamic(autoscaling, goal->confidence);
    if (fixed != NULL && dynamic != NULL)
        explain_dynamic(fixed, dynamic, goal->confidence, &advice->reasons);
    if (!autoscaling->startup_measured) {
        struct finding *note =
            finding_add(&advice->warnings, "executor_startup_assumed",
                        "No log of the nearest run says how long executors take to start: it is "
                        "taken to be %s.",
                        quantity_duration(autoscaling->startup_s).text);
        finding_number(note, "executor_startup_s", autoscaling->startup_s);
    }
    PV_TRY(findings_check(&advice->reasons, err));
    return findings_check(&advice->warnings, err);
}

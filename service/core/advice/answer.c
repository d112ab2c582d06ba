#include "core/advice/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/beside_running.h"
#include "core/advice/bottleneck_advice.h"
#include "core/advice/history_limits.h"
#include "core/advice/label_group_explain.h"
#include "core/advice/lost_executors.h"
#include "core/advice/reason_order.h"
#include "core/advice/spark_advice.h"
#include "core/diagnosis/idle_cores.h"
#include "core/history/problem_size.h"
#include "core/spark/property_value.h"

/* --- what ran --- */

/* Where the request sets no maximum, what ran does: a few times as many executors. */
static void bound_by_history(const struct advice_known *known,
                             const struct advice_limits *limits,
                             struct advice_answer *answer)
{
    const struct advice_question *asked = known->question;
    const struct history_prediction *prediction = known->prediction;
    int64_t cores = prediction->curve.cores_per_executor;
    int64_t bound = history_extent_bound(&prediction->extent, limits->extrapolation, cores);
    answer->goal = asked->goal;
    answer->goal.last_executors = history_extent_last(&prediction->extent, cores);
    if (asked->has_max_executors || bound == RUN_UNKNOWN)
        return;
    if (bound < asked->goal.min_executors)
        bound = asked->goal.min_executors;
    answer->is_bounded = bound < answer->goal.max_executors;
    if (answer->is_bounded) {
        answer->goal.max_executors = bound;
        answer->goal.limited_by = "the reach of the recorded runs";
    }
}

/* In local mode the driver is the only executor, unless the request is about a cluster: it names one,
 * or sets the executors, or says what properties the job has now. */
static void bound_by_local_mode(const struct advice_known *known, struct advice_answer *answer)
{
    const struct advice_question *asked = known->question;
    const struct history_prediction *prediction = known->prediction;
    const struct spark_constraints *constraints = &asked->spark_constraints;
    const struct strview master =
        constraints->n_current > 0
            ? property_find(constraints->current, constraints->n_current, "spark.master")
            : property_find(prediction->spark.properties, prediction->spark.n, "spark.master");
    answer->is_local = property_is_local(master) && prediction->extent.last.executors == 1 &&
                       !known->cluster->is_named && !asked->has_max_executors &&
                       answer->goal.min_executors == 1;
    if (answer->is_local) {
        answer->goal.max_executors = 1;
        answer->goal.limited_by = "local mode";
        answer->is_bounded = false;
    }
}

/* A barrier stage starts only when executors have a task slot for each of its tasks. */
static enum pv_code bound_by_barrier(const struct advice_known *known,
                                     const struct advice_limits *limits,
                                     struct advice_answer *answer,
                                     struct pv_error *err)
{
    const struct curve *curve = &known->prediction->curve;
    int64_t fewest = curve->fewest_executors;
    if (fewest <= answer->goal.min_executors)
        return PV_OK;
    bool is_asked = known->question->has_max_executors || known->cluster->is_named;
    if (!is_asked && fewest <= limits->executors && fewest > answer->goal.max_executors)
        answer->goal.max_executors = fewest;
    if (fewest > answer->goal.max_executors)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints/max_executors", "out_of_range",
                        "is less than %" PRId64
                        ": a barrier stage needs as many executors at once for its tasks",
                        fewest);
    answer->goal.min_executors = fewest;
    return PV_OK;
}

/* Warns of cores that no task can take on the executors recommended. */
static enum pv_code
warn_of_idle_cores(const struct curve_slots *slots, struct findings *warnings, struct pv_error *err)
{
    struct task_slots with_resource = slots->of;
    const struct task_slots *of = &with_resource;
    char why[96];
    struct idle_cores idle;
    if (slots->resource[0] != '\0')
        with_resource.resource = strview_of(slots->resource);
    PV_TRY(idle_cores_find(of, slots->cores, slots->per_executor, warnings->arena, &idle, err));
    if (idle.cores < 1)
        return PV_OK;
    if (isnan(idle.share))
        (void)snprintf(why, sizeof why, "a task takes %" PRId64 " CPU%s", of->task_cores,
                       PLURAL(of->task_cores));
    else
        (void)snprintf(why, sizeof why,
                       "the share of a %.*s that a task takes allows %" PRId64 " task%s at once",
                       (int)of->resource.n, of->resource.at, slots->per_executor,
                       PLURAL(slots->per_executor));
    struct finding *note = finding_add(
        warnings, "idle_cores", "%" PRId64 " core%s of each executor idle%s: %s. %s", idle.cores,
        PLURAL(idle.cores), PLURAL_VERB(idle.cores, "s", ""), why, idle.cure);
    finding_number(note, "idle_cores_per_executor", (double)idle.cores);
    finding_number(note, "task_slots_per_executor", (double)slots->per_executor);
    finding_number(note, "executor_cores", (double)idle.taken);
    finding_number(note, "resource_per_task", idle.share);
    return PV_OK;
}

static enum pv_code explain_slots(struct advice_answer *answer, struct pv_error *err)
{
    struct findings *reasons = &answer->advice.reasons;
    const struct curve *curve = &answer->curve;
    int64_t executors = answer->advice.recommendation.executors;
    for (size_t i = 0; i < curve->n_slots; i++) {
        const struct curve_slots *slots = &curve->slots[i];
        const struct task_slots *of = &slots->of;
        char profile[64] = "", resource[96] = "";
        int64_t own = task_slots_executors(of, executors);
        double all = (double)own * (double)slots->per_executor;
        if (of->profile > 0)
            (void)snprintf(profile, sizeof profile, " for stages of resource profile %" PRId64,
                           of->profile);
        if (slots->resource[0] != '\0' && !isnan(of->resource_per_task))
            (void)snprintf(resource, sizeof resource, ", %s of a %s a task",
                           quantity_number(of->resource_per_task).text, slots->resource);
        struct finding *note = finding_add(reasons, "task_slots",
                                           "%" PRId64 " executor%s %s %.0f task slot%s%s: %" PRId64
                                           " core%s, %" PRId64 " CPU%s a task%s.",
                                           own, PLURAL(own), PLURAL_VERB(own, "has", "have"), all,
                                           PLURAL(all), profile, slots->cores, PLURAL(slots->cores),
                                           of->task_cores, PLURAL(of->task_cores), resource);
        finding_number(note, "executors", (double)own);
        finding_number(note, "task_slots", all);
        finding_number(note, "cores_per_executor", (double)slots->cores);
        finding_number(note, "cores_per_task", (double)of->task_cores);
        finding_number(note, "resource_profile_id", (double)of->profile);
        PV_TRY(warn_of_idle_cores(slots, &answer->advice.warnings, err));
    }
    if (curve->fewest_executors > 1) {
        struct finding *note = finding_add(
            reasons, "barrier_stage",
            "A barrier stage needs a task slot for each of its tasks at once: at least %" PRId64
            " executor%s.",
            curve->fewest_executors, PLURAL(curve->fewest_executors));
        finding_number(note, "executors", (double)curve->fewest_executors);
    }
    if (answer->is_local)
        (void)finding_add(&answer->advice.warnings, "local_mode",
                          "The job runs in local mode, where the driver is the only executor. Set "
                          "max_executors or name a cluster to ask about a cluster.");
    return PV_OK;
}

/* Executors that the job is to keep are those recommended. */
static void keep_executors(const struct advice_known *known, struct advice_answer *answer)
{
    struct advise_goal *goal = &answer->goal;
    int64_t kept =
        spark_kept_executors(&known->prediction->spark, &known->question->spark_constraints);
    if (kept < goal->min_executors || kept > goal->max_executors ||
        curve_find(&known->prediction->curve, kept) == NULL)
        return;
    goal->min_executors = goal->max_executors = kept;
    goal->limited_by = "spark.executor.instances";
}

/* The greatest probability to meet the deadline, of counts within the bound or beyond it. */
static double
probability_within(const struct curve *curve, const struct advise_goal *goal, bool within)
{
    double best = 0.0;
    for (size_t i = 0; i < curve->n_points; i++)
        if (within ? advise_is_allowed(goal, &curve->points[i])
                   : curve->points[i].executors > goal->max_executors &&
                         advise_is_affordable(goal, &curve->points[i]))
            best = fmax(best, curve_probability(curve, &curve->points[i], goal->deadline_s));
    return best;
}

/* Would more executors have been advised without the bound? What lies far beyond what ran is so
 * uncertain that a small probability alone does not speak for it. */
static bool is_held_back(const struct advice_answer *answer)
{
    const struct curve *curve = &answer->curve;
    const struct advise_goal *goal = &answer->goal;
    if (answer->advice.slowdown.known && answer->advice.verdict != ADVISE_MET)
        return false; /* it is the slowdown that nothing supports more executors for */
    if (answer->advice.verdict == ADVISE_MET)
        return answer->advice.recommendation.executors == goal->max_executors;
    if (answer->advice.verdict == ADVISE_MISSED)
        return answer->advice.remedies.max_executors != RUN_UNKNOWN;
    return probability_within(curve, goal, false) >
           probability_within(curve, goal, true) + ADVISE_NEAR_BEST;
}

static void warn_of_bound(const struct advice_known *known,
                          const struct advice_limits *limits,
                          struct advice_answer *answer)
{
    if (!answer->is_bounded || !is_held_back(answer))
        return;
    int64_t most = known->prediction->extent.most_cores;
    struct finding *note =
        finding_add(&answer->advice.warnings, "executors_bounded",
                    "Executors were considered up to %" PRId64 ", which have %s times the %" PRId64
                    " core%s of the largest run: more would be a guess. Set max_executors to allow "
                    "them.",
                    answer->goal.max_executors, quantity_number(limits->extrapolation).text, most,
                    PLURAL(most));
    finding_number(note, "max_executors", (double)answer->goal.max_executors);
    finding_number(note, "most_cores", (double)most);
    finding_number(note, "extrapolation_max", limits->extrapolation);
}

/* The most that it has for an executor: of its traits, and of the machine that is priced, which no
 * executor can exceed. RUN_UNKNOWN. */
static int64_t memory_of_cluster(const struct advice_known *known)
{
    const struct advice_cluster *cluster = known->cluster;
    int64_t most =
        cluster->is_named ? cluster->cluster.traits.memory_bytes_per_executor : RUN_UNKNOWN;
    int64_t machine =
        cluster->pricing.has_price ? cluster->pricing.price.machine_memory_bytes : RUN_UNKNOWN;
    return most == RUN_UNKNOWN || (machine != RUN_UNKNOWN && machine < most) ? machine : most;
}

/* Executors that cost alike cost least where they are held for the least time in all. */
static void warn_of_missing_price(const struct advice_known *known, struct advice_answer *answer)
{
    if (known->question->goal.objective == ADVISE_MIN_COST && !answer->pricing.known)
        (void)finding_add(&answer->advice.warnings, "cost_in_executor_seconds",
                          "No price is known: the least cost is taken to be the fewest executor "
                          "seconds.");
}

/* Sizes in blocks of input and in tasks do not share a scale. */
static enum pv_code warn_of_other_measures(const struct advice_known *known,
                                           struct arena *arena,
                                           struct advice *advice,
                                           struct pv_error *err)
{
    const struct history_prediction *prediction = known->prediction;
    size_t n = prediction->n_measured_otherwise;
    if (n == 0)
        return PV_OK;
    advice->warnings.arena = arena;
    struct finding *note = finding_add(
        &advice->warnings, "problem_sizes_differ",
        "%zu of the latest runs %s not used: the application's problem sizes are measured by %s, "
        "and %s otherwise. To compare all runs, set its problem_size_measure to one that suits "
        "them all, such as first_parallel_stage.",
        n, PLURAL_VERB(n, "is", "are"), problem_size_measure_name(prediction->curve.size_measure),
        PLURAL_VERB(n, "this one is measured", "these are measured"));
    finding_number(note, "runs", (double)n);
    finding_text(note, "problem_size_measured_by", prediction->curve.size_measure);
    return findings_check(&advice->warnings, err);
}

static void warn_of_assumed_size(const struct advice_known *known, struct advice_answer *answer)
{
    const struct advice_question *asked = known->question;
    if (asked->application.at == NULL || !isnan(asked->problem_size))
        return;
    const struct quantity_text size =
        quantity_problem_size(answer->curve.problem_size, answer->curve.size_measure);
    struct finding *note = finding_add(
        &answer->advice.warnings, "problem_size_of_latest_run",
        "The request names no problem size: it is taken to be that of the latest run, %s.",
        size.text);
    finding_number(note, "problem_size", answer->curve.problem_size);
}

/* What is paid for, as the executors that may be recommended are packed: their memory is planned for
 * as many cores as the last run had. */
static enum pv_code take_price(const struct advice_known *known,
                               struct arena *arena,
                               struct advice_answer *answer,
                               struct pv_error *err)
{
    const struct history_prediction *prediction = known->prediction;
    struct pricing_terms *terms = &answer->terms;
    int64_t cores = prediction->curve.cores_per_executor, bytes = RUN_UNKNOWN;
    *terms = known->cluster->pricing;
    terms->executor_startup_s = prediction->executor_startup_s;
    if (terms->has_price && price_is_of_machines(&terms->price))
        PV_TRY(memory_container(prediction, known->question, answer->goal.last_executors, cores,
                                memory_of_cluster(known), arena, &bytes, err));
    PV_TRY(pricing_pack(terms, cores, bytes, err));
    answer->goal.billing = pricing_billing(terms, false);
    return PV_OK;
}

/* "7.5 % more"; a twentieth of a percent is none. */
static const char *describe_change(double percent, char text[80])
{
    if (fabs(percent) < 0.05)
        return "as much";
    (void)snprintf(text, 80, "%s %s", quantity_percent(fabs(percent)).text,
                   percent > 0 ? "more" : "less");
    return text;
}

static void compare_with_last_run(const struct advice_known *known, struct advice_answer *answer)
{
    const struct advise_choice *choice = &answer->advice.recommendation;
    const struct curve_point *last = curve_find(&answer->curve, answer->goal.last_executors);
    if (last == NULL)
        return;
    const struct billing *billing = &answer->pricing.billing;
    bool plain = billing_is_plain(billing);
    double unit_s = billing_unit_s(billing, choice->executors, choice->predicted_duration_s);
    double last_unit_s = billing_unit_s(billing, last->executors, last->duration_s);
    struct advice_comparison made = {
        .known = true,
        .with = &known->prediction->extent,
        .executors = last->executors,
        .predicted_duration_s = last->duration_s,
        .cost = billing_cost(billing, last->executors, last->duration_s),
        .duration_change_percent = 100.0 * (choice->predicted_duration_s / last->duration_s - 1.0),
        .cost_change_percent = 100.0 * (unit_s / last_unit_s - 1.0)};
    char longer[80], costlier[80];
    answer->comparison = made;
    struct finding *note =
        choice->executors == made.executors
            ? finding_add(&answer->advice.reasons, "compared_with_last_run",
                          "The last run had as many cores.")
            : finding_add(&answer->advice.reasons, "compared_with_last_run",
                          "On as many cores as the last run had (%" PRId64
                          " executor%s) the job is predicted to take %s. The recommendation "
                          "takes %s time and %s%s%s.",
                          made.executors, PLURAL(made.executors),
                          quantity_duration(made.predicted_duration_s).text,
                          describe_change(made.duration_change_percent, longer),
                          plain ? "" : "costs ",
                          describe_change(made.cost_change_percent, costlier),
                          plain ? " executor time" : "");
    finding_number(note, "last_executors", (double)made.executors);
    finding_number(note, "last_predicted_duration_s", made.predicted_duration_s);
    finding_number(note, "duration_change_percent", made.duration_change_percent);
    finding_number(note, "cost_change_percent", made.cost_change_percent);
}

/* --- the answer --- */

/* What is true of the prediction, whatever is advised. */
static enum pv_code explain_prediction(const struct advice_known *known,
                                       struct arena *arena,
                                       struct advice *advice,
                                       struct pv_error *err)
{
    const struct history_prediction *prediction = known->prediction;
    const struct predictor *predictor = &prediction->predictor;
    if (predictor->has_replay || predictor->has_model)
        PV_TRY(predictor_explain(predictor, &prediction->curve, advice, err));
    PV_TRY(lost_executors_explain(prediction->replayed.n_points > 0 ? &prediction->replayed
                                                                    : &prediction->curve,
                                  arena, advice, err));
    warned_runs_explain(&prediction->curve.warned, false, &advice->warnings);
    PV_TRY(unrelated_runs_explain(&prediction->unrelated, advice, err));
    PV_TRY(warn_of_other_measures(known, arena, advice, err));
    PV_TRY(latest_run_explain(&prediction->latest, advice, err));
    return label_group_explain(&prediction->group, known->question, arena, advice, err);
}

static enum pv_code advise_memory(const struct advice_known *known,
                                  struct arena *arena,
                                  struct advice_answer *answer,
                                  struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    const struct history_prediction *prediction = known->prediction;
    const struct advise_choice *choice = &answer->advice.recommendation;
    bool answered = answer->advice.verdict != ADVISE_UNKNOWN;
    int64_t cores = answered ? answer->curve.cores_per_executor
                    : asked->cores_per_executor != RUN_UNKNOWN
                        ? asked->cores_per_executor
                        : prediction->extent.last.cores_per_executor;
    if ((asked->include & (ADVICE_MEMORY | ADVICE_SPARK)) == 0)
        return PV_OK;
    return memory_advise(prediction, asked, answered ? choice->executors : RUN_UNKNOWN, cores,
                         answered ? choice->predicted_duration_s : (double)NAN,
                         memory_of_cluster(known), arena, &answer->advice, &answer->memory, err);
}

/* Nothing can be predicted; what the runs show is reported. */
static enum pv_code answer_without_curve(const struct advice_known *known,
                                         const struct advice_limits *limits,
                                         struct arena *arena,
                                         struct advice_answer *answer,
                                         struct pv_error *err)
{
    const struct history_prediction *prediction = known->prediction;
    answer->goal = known->question->goal;
    answer->curve = prediction->curve;
    answer->advice.objective = answer->goal.objective;
    enum history_lack lack =
        history_limits_find(prediction, &answer->advice.recommendation, limits);
    PV_TRY(history_limits_refuse(prediction, limits, lack, answer->goal.confidence, arena,
                                 &answer->advice, err));
    PV_TRY(latest_run_explain(&prediction->latest, &answer->advice, err));
    warned_runs_explain(&prediction->newest, true, &answer->advice.warnings);
    PV_TRY(warn_of_other_measures(known, arena, &answer->advice, err));
    return advise_memory(known, arena, answer, err);
}

static enum pv_code compare_allocations(const struct advice_known *known,
                                        const struct advice_limits *limits,
                                        struct arena *arena,
                                        struct arena *scratch,
                                        struct advice_answer *answer,
                                        struct pv_error *err)
{
    int64_t by_cores = limits->cores / answer->curve.cores_per_executor;
    const struct autoscaling_question question = {
        .runs = known->runs,
        .n_runs = known->n_runs,
        .curve = &answer->curve,
        .goal = &answer->goal,
        .choice = &answer->advice.recommendation,
        .last_executors = answer->goal.last_executors,
        .before = &known->prediction->spark,
        .spark_constraints = &known->question->spark_constraints,
        .executors_max = by_cores < limits->executors ? by_cores : limits->executors,
        .billing =
            answer->pricing.known ? answer->pricing.billing : billing_of_executors((double)NAN),
        .task_budget = limits->task_budget};
    PV_TRY(autoscaling_compare(&question, arena, scratch, &answer->autoscaling, err));
    answer->has_autoscaling = answer->autoscaling.lack == NULL;
    return autoscaling_explain(&answer->autoscaling, &answer->goal, &answer->advice, err);
}

static enum pv_code make_answer(const struct advice_known *known,
                                const struct advice_limits *limits,
                                struct arena *arena,
                                struct arena *scratch,
                                struct advice_answer *answer,
                                struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    const struct advise_goal *goal = &answer->goal;
    const struct pricing_terms *terms = &answer->terms;
    const struct history_prediction *prediction = known->prediction;
    struct advice *advice = &answer->advice;
    const struct beside_known beside = {.question = asked,
                                        .goal = goal,
                                        .cluster = known->cluster,
                                        .prediction = prediction,
                                        .runs = known->runs,
                                        .n_runs = known->n_runs,
                                        .running = known->running};
    struct beside_counts *counts = NULL;
    *answer = (struct advice_answer){.has_joint = false};
    if (prediction->lack != NULL)
        return answer_without_curve(known, limits, arena, answer, err);
    bound_by_history(known, limits, answer);
    bound_by_local_mode(known, answer);
    PV_TRY(bound_by_barrier(known, limits, answer, err));
    keep_executors(known, answer);
    PV_TRY(take_price(known, arena, answer, err));
    PV_TRY(beside_running_choose(&beside, limits, arena, scratch, &counts, err));
    PV_TRY(pricing_advise(&counts->curve, goal, terms, arena, &answer->curve, advice,
                          &answer->pricing, err));
    enum history_lack lack = history_limits_find(prediction, &advice->recommendation, limits);
    if (lack != HISTORY_SUFFICES) {
        PV_TRY(
            history_limits_refuse(prediction, limits, lack, goal->confidence, arena, advice, err));
        warn_of_assumed_size(known, answer);
        PV_TRY(advise_memory(known, arena, answer, err));
        return explain_prediction(known, arena, advice, err);
    }
    compare_with_last_run(known, answer);
    PV_TRY(pricing_explain(terms, &answer->pricing, goal, advice, err));
    PV_TRY(advice_cluster_explain(known->cluster, asked, advice, err));
    warn_of_bound(known, limits, answer);
    warn_of_missing_price(known, answer);
    warn_of_assumed_size(known, answer);
    PV_TRY(explain_slots(answer, err));
    PV_TRY(history_limits_warn(prediction, limits, advice, err));
    PV_TRY(explain_prediction(known, arena, advice, err));
    if (asked->n_running > 0) {
        PV_TRY(beside_running_check(&beside, &answer->curve, limits->joint_task_budget, arena,
                                    scratch, advice, &answer->joint, &answer->joint_bytes, err));
        answer->has_joint = true;
    }
    beside_running_explain(&beside, counts, advice);
    PV_TRY(advise_memory(known, arena, answer, err));
    if (answer->memory.plan.known)
        pricing_warn_of_memory(terms, &answer->pricing,
                               memory_sizes_total(&answer->memory.plan.set), advice);
    PV_TRY(bottlenecks_explain(&prediction->bottlenecks, arena, advice, err));
    if ((asked->include & ADVICE_AUTOSCALING) != 0)
        PV_TRY(compare_allocations(known, limits, arena, scratch, answer, err));
    if ((asked->include & ADVICE_SPARK) != 0) {
        struct spark_constraints constraints = asked->spark_constraints;
        constraints.max_executors =
            asked->has_max_executors || known->cluster->is_named ? goal->max_executors : 0;
        PV_TRY(spark_advise(prediction, &constraints, prediction->curve.cores_per_executor,
                            &answer->memory.plan, arena, advice, &answer->spark, err));
        answer->has_spark = true;
        if (answer->is_local)
            answer->spark.platform = "local";
    }
    if ((asked->include & ADVICE_STAGES) != 0)
        PV_TRY(quotas_plan(&prediction->stages, goal, prediction->curve.cores_per_executor,
                           prediction->curve.problem_size, arena, advice, &answer->quotas,
                           &answer->has_quotas, err));
    return PV_OK;
}

static void warn_of_folded_name(const struct advice_known *known, struct advice_answer *answer)
{
    const struct advice_question *asked = known->question;
    if (asked->folded_from.at == NULL)
        return;
    struct finding *note =
        finding_add(&answer->advice.warnings, "name_folded",
                    "There is no application \"%s\": the rules for names of recurring jobs fold it "
                    "into \"%s\".",
                    asked->folded_from.at, asked->application.at);
    finding_text(note, "asked", asked->folded_from.at);
    finding_text(note, "application", asked->application.at);
}

enum pv_code advice_answer(const struct advice_known *known,
                           const struct advice_limits *limits,
                           struct arena *arena,
                           struct arena *scratch,
                           struct advice_answer *answer,
                           struct pv_error *err)
{
    PV_TRY(make_answer(known, limits, arena, scratch, answer, err));
    warn_of_folded_name(known, answer);
    reasons_order(&answer->advice.reasons);
    return answer->advice.warnings.failed ? pv_no_memory(err) : PV_OK;
}

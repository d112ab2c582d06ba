#include "codec/advice/advice.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "codec/advice/advice_autoscaling.h"
#include "codec/advice/advice_beside.h"
#include "codec/advice/advice_memory.h"
#include "codec/advice/advice_spark.h"
#include "codec/clusters/given_cluster.h"
#include "codec/clusters/price_book.h"
#include "codec/json/finding.h"
#include "core/advice/stage_slots.h"

/* --- request --- */

/* In the order of enum advise_objective. */
static const char *const objectives[] = {"min_executors", "min_cost",   "min_time",
                                         "max_speedup",   "efficiency", NULL};

/* In the order of enum pricing_market. */
static const char *const markets[] = {"on_demand", "spot", "cheapest", NULL};

#define Q struct advice_question
#define L struct codec_advice_limits
enum { KEEP = SHAPE_KEEP };

/* All members about Spark properties, after those that they are held against. */
static void decode_spark(const struct codec_node *constraints, const void *limits, void *request)
{
    (void)limits;
    codec_advice_spark_decode(constraints, request);
}

static void decode_cluster(const struct codec_node *constraints, const void *limits, void *object)
{
    struct advice_question *request = object;
    struct codec_given_cluster given;
    codec_given_cluster_decode(constraints, CODEC_OPTIONAL,
                               ((const struct codec_advice_limits *)limits)->cores, &given);
    request->cluster = given.name;
    request->sized_cluster = given.sized;
}

/* A price of one's own overrides that of a price book as a whole. */
static const struct shape_member constraint_members[] = {
    {"min_executors", SHAPE_COUNT(Q, goal.min_executors), .flags = KEEP, .least = 1,
     SHAPE_LIMIT(L, executors)},
    {"max_executors", SHAPE_COUNT(Q, goal.max_executors), SHAPE_GIVEN(Q, has_max_executors),
     .flags = KEEP, .least = 1, SHAPE_LIMIT(L, executors)},
    {"cores_per_executor", SHAPE_COUNT(Q, cores_per_executor), .least = 1, SHAPE_LIMIT(L, cores)},
    {"max_cost", SHAPE_NUMBER(Q, goal.max_cost), .flags = CODEC_ABOVE, .high = CODEC_COST_MAX},
    {"tolerance_percent", SHAPE_NUMBER(Q, goal.tolerance_percent), .flags = KEEP, .high = 1000},
    {"cluster", SHAPE_CODE, .decode = decode_cluster},
    {"beside_admissions", SHAPE_BOOLEAN(Q, beside_admissions)},
    {"price_per_executor_hour", SHAPE_NUMBER(Q, price.per_executor_hour), .high = CODEC_PRICE_MAX},
    {"spot_per_executor_hour", SHAPE_NUMBER(Q, price.spot_per_executor_hour),
     .high = CODEC_PRICE_MAX},
    {"interruptions_per_hour", SHAPE_NUMBER(Q, price.interruptions_per_hour),
     .high = CODEC_INTERRUPTIONS_MAX},
    {"price_per_machine_hour", SHAPE_NUMBER(Q, price.per_machine_hour), .high = CODEC_PRICE_MAX},
    {"spot_per_machine_hour", SHAPE_NUMBER(Q, price.spot_per_machine_hour),
     .high = CODEC_PRICE_MAX},
    {"machine_cores", SHAPE_COUNT(Q, price.machine_cores), .least = 1, .most = CODEC_COUNT_MAX},
    {"machine_memory_bytes", SHAPE_COUNT(Q, price.machine_memory_bytes), .least = 1,
     .most = CODEC_BYTES_MAX},
    {"startup_billed_s", SHAPE_NUMBER(Q, price.startup_billed_s), .high = CODEC_SECONDS_MAX},
    {"minimum_billed_s", SHAPE_NUMBER(Q, price.minimum_billed_s), .high = CODEC_SECONDS_MAX},
    {"billing_increment_s", SHAPE_NUMBER(Q, price.billing_increment_s), .high = CODEC_SECONDS_MAX},
    {"memory_price_per_gib_hour", SHAPE_NUMBER(Q, memory_price_per_gib_hour),
     .high = CODEC_PRICE_MAX},
    {"dynamic_allocation", SHAPE_CODE, .flags = CODEC_NULLABLE},
    {"current", SHAPE_CODE, .flags = CODEC_NULLABLE},
    {"enforced", SHAPE_CODE, .flags = CODEC_NULLABLE},
    {"preserve", SHAPE_CODE, .flags = CODEC_NULLABLE},
    {"exclude", SHAPE_CODE, .flags = CODEC_NULLABLE, .decode = decode_spark},
};
const struct shape codec_advice_constraints_shape = {.request = "AdviceConstraints",
                                                     SHAPE_OF(constraint_members, Q)};

/* What the members about a price must say in view of each other. */
static void check_price(const struct codec_node *constraints, struct advice_question *request)
{
    static const char *const names[PRICE_MEMBERS] = {
        "price_per_executor_hour", "spot_per_executor_hour", "interruptions_per_hour",
        "price_per_machine_hour",  "spot_per_machine_hour",  "machine_cores",
        "machine_memory_bytes"};
    static const char *const need_price[] = {"max_cost", "startup_billed_s", "minimum_billed_s",
                                             "billing_increment_s"};
    bool spot = codec_present(constraints, "spot_per_executor_hour") ||
                codec_present(constraints, "spot_per_machine_hour");
    request->has_price = codec_present(constraints, "price_per_executor_hour") ||
                         codec_present(constraints, "price_per_machine_hour");
    codec_price_check(constraints, names);
    for (size_t i = 0; i < sizeof need_price / sizeof *need_price; i++)
        if (codec_present(constraints, need_price[i]) && !request->has_price && !spot &&
            request->cluster.at == NULL) {
            codec_fault_member(constraints, "price_per_executor_hour", "required",
                               "must be sent where %s is, or a cluster that a price book prices",
                               need_price[i]);
            return;
        }
}

/* max_executors is as sent, or as many as there may be of that size: cores_max bounds both. */
static void check_cores(const struct codec_node *constraints,
                        const struct codec_advice_limits *most,
                        struct advice_question *request)
{
    struct advise_goal *goal = &request->goal;
    if (request->cores_per_executor < 1)
        return;
    int64_t executors = most->cores / request->cores_per_executor;
    bool sent = request->has_max_executors;
    if (sent ? goal->max_executors > executors : goal->min_executors > executors)
        codec_fault_member(constraints, "cores_per_executor", "out_of_range",
                           "with %s_executors there are more than %lld core%s (cores_max)",
                           sent ? "max" : "min", (long long)most->cores, PLURAL(most->cores));
    else if (!sent && goal->max_executors > executors)
        goal->max_executors = executors;
}

/* Admissions and earlier advice are those of a registered cluster. */
static void need_registered(const struct codec_node *constraints,
                            const struct advice_question *request,
                            const char *member)
{
    if (request->sized_cluster != NULL)
        codec_fault_member(constraints, "cluster", "conflict",
                           "must be the name of a registered cluster with %s", member);
    else if (!codec_present(constraints, "cluster"))
        codec_fault_member(constraints, "cluster", "required", "is required with %s", member);
}

static void decode_constraints(const struct codec_node *node, const void *limits, void *object)
{
    struct advice_question *request = object;
    const struct advise_goal *goal = &request->goal;
    struct codec_node constraints = codec_object(node, "constraints", CODEC_OPTIONAL);
    if (constraints.json == NULL)
        return;
    shape_decode(&constraints, &codec_advice_constraints_shape, limits, request);
    check_cores(&constraints, limits, request);
    if (request->has_max_executors)
        request->goal.limited_by = "max_executors of the request";
    if (request->has_max_executors)
        request->goal.limited_by = "max_executors of the request";
    if (codec_present(&constraints, "min_executors") && request->has_max_executors &&
        goal->max_executors > 0 && goal->min_executors > goal->max_executors)
        codec_fault_member(&constraints, "min_executors", "out_of_range",
                           "is larger than max_executors");
    check_price(&constraints, request);
    if (request->beside_admissions)
        need_registered(&constraints, request, "beside_admissions");
}

#define R struct advice_running
static const struct shape_member running_members[] = {
    {"application", SHAPE_NAME(R, application), .flags = CODEC_REQUIRED},
    {"problem_size", SHAPE_NUMBER(R, problem_size), .flags = CODEC_NULLABLE,
     .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"release_s", SHAPE_NUMBER(R, release_s), .flags = KEEP, .low = -CODEC_SECONDS_MAX,
     .high = CODEC_SECONDS_MAX},
    {"deadline_s", SHAPE_NUMBER(R, deadline_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"progress", SHAPE_NUMBER(R, progress), .flags = CODEC_NULLABLE, .high = 1},
    {"memory_bytes", SHAPE_COUNT(R, memory_bytes), .flags = CODEC_NULLABLE, .least = 1,
     .most = CODEC_BYTES_MAX},
};
const struct shape codec_advice_running_shape = {.request = "RunningJob",
                                                 SHAPE_OF(running_members, R),
                                                 .unique = "application",
                                                 .twice = "is listed twice"};

/* In the order of enum running_source. */
static const char *const running_sources[] = {"request", "advice", NULL};

/* What was advised was so for a cluster; memory is that of a cluster. */
static void check_beside(const struct codec_node *node, const struct advice_question *request)
{
    struct codec_node constraints = codec_member(node, "constraints");
    bool advised = request->running_from == RUNNING_ADVISED;
    bool named = json_value_is_object(constraints.json) && codec_present(&constraints, "cluster");
    if (request->has_launch_order && !advised && request->n_running == 0)
        codec_fault_member(node, "launch_order", "conflict",
                           "needs running jobs: running, or running_from advice");
    if (!named && (advised || advice_counts_memory(request)))
        codec_fault_member(&constraints, "cluster", "required", "is required with %s",
                           advised ? "running_from advice" : "memory_bytes or launch_order");
    else if (advised && request->sized_cluster != NULL)
        need_registered(&constraints, request, "running_from advice");
}

/* The size of the cluster that they share must be known. */
static void check_running(const struct codec_node *node, const struct advice_question *request)
{
    struct codec_node constraints = codec_member(node, "constraints");
    if (request->n_running > 0 && (!json_value_is_object(constraints.json) ||
                                   (!codec_present(&constraints, "max_executors") &&
                                    !codec_present(&constraints, "cluster"))))
        codec_fault_member(&constraints, "max_executors", "required",
                           "must be sent with running jobs, or a cluster: its size must be known");
}

/* In the order of the bits of enum advice_include. */
static const char *const includes[] = {
    "alternatives",     "contention", "spark",  "data_needed", "stages",
    "next_experiments", "copy_plan",  "memory", "autoscaling", NULL};

static void decode_profile(const struct codec_node *node, const void *limits, void *object)
{
    struct advice_question *request = object;
    struct codec_node run = codec_object(node, "profile", CODEC_OPTIONAL);
    if (run.json != NULL)
        codec_run_decode(&run, &((const struct codec_advice_limits *)limits)->run,
                         &request->profile);
}

static void decode_copy_plan(const struct codec_node *node, const void *limits, void *object)
{
    codec_advice_clusters_decode(node, limits, object);
}

static const struct shape_member members[] = {
    {"application", SHAPE_NAME(Q, application)},
    {"profile", SHAPE_CODE, .decode = decode_profile},
    {"labels", SHAPE_LABELS(Q, labels, n_labels), .flags = CODEC_NULLABLE,
     SHAPE_LIMIT(L, run.labels)},
    {"problem_size", SHAPE_NUMBER(Q, problem_size), .flags = CODEC_NULLABLE,
     .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"deadline_s", SHAPE_NUMBER(Q, goal.deadline_s), .flags = CODEC_NULLABLE,
     .low = CODEC_SECONDS_MIN, .high = CODEC_SECONDS_MAX},
    {"confidence", SHAPE_NUMBER(Q, goal.confidence), .flags = KEEP | CODEC_ABOVE,
     .high = 0.999999999},
    {"objective", SHAPE_WORD(Q, goal.objective, objectives), .flags = KEEP},
    {"market", SHAPE_WORD(Q, market, markets), .flags = KEEP},
    {"constraints", SHAPE_CODE, .decode = decode_constraints},
    {"running", SHAPE_OBJECTS(Q, running, n_running, &codec_advice_running_shape),
     SHAPE_LIMIT(L, running)},
    {"running_from", SHAPE_WORD(Q, running_from, running_sources)},
    {"launch_order", SHAPE_WORD(Q, launch_order, edf_launch_order_words),
     SHAPE_GIVEN(Q, has_launch_order)},
    {"copy_plan", SHAPE_CODE, .decode = decode_copy_plan},
    {"include", SHAPE_WORDS(Q, include, includes), .flags = KEEP},
    {"apply", SHAPE_WORDS(Q, spark_constraints.apply, spark_proposal_words), .flags = KEEP},
};
const struct shape codec_advice_shape = {.request = "AdviceRequest", SHAPE_OF(members, Q)};

static void check_subject(const struct codec_node *node, const struct advice_question *request)
{
    bool application = codec_member(node, "application").json != NULL;
    bool profile = codec_member(node, "profile").json != NULL;
    if (request->n_labels > 0 && profile)
        codec_fault_member(node, "labels", "conflict",
                           "must be left out with a profile: labels separate runs of an "
                           "application, and a profile is a single run");
    if (application && profile)
        codec_fault_member(node, "profile", "conflict",
                           "must not be given together with application");
    if (!application && !profile)
        codec_fault_member(node, "application", "required", "is required, or profile");
}

void codec_advice_decode(const struct codec_node *node,
                         const struct codec_advice_limits *limits,
                         struct advice_question *request)
{
    *request = advice_question_open(limits->executors);
    shape_decode(node, &codec_advice_shape, limits, request);
    request->profile.asked = stage_slots_asked(&request->spark_constraints);
    check_subject(node, request);
    check_running(node, request);
    check_beside(node, request);
    if (codec_member(node, "include").json == NULL)
        request->include |= request->n_clusters > 0 ? ADVICE_COPY_PLAN : 0;
    else if ((request->include & ADVICE_COPY_PLAN) != 0 && !codec_present(node, "copy_plan"))
        codec_fault_member(node, "copy_plan", "required",
                           "is required when include lists copy_plan: it names the clusters");
}

/* --- reply --- */

static void write_interval(struct writer *w, const struct advise_choice *choice)
{
    writer_member_array(w, "interval_s");
    writer_number(w, choice->lower_s);
    writer_number(w, choice->upper_s);
    writer_end_array(w);
}

/* Is there an executor count to report? */
static bool is_answered(const struct codec_advice_reply *reply)
{
    return reply->answer->advice.verdict != ADVISE_UNKNOWN;
}

static void write_recommendation(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advise_choice *choice = &reply->answer->advice.recommendation;
    if (!writer_member_object_or_null(w, "recommendation", is_answered(reply)))
        return;
    writer_member_integer(w, "executors", choice->executors);
    writer_member_integer(w, "cores_per_executor", reply->answer->curve.cores_per_executor);
    writer_member_number(w, "predicted_duration_s", choice->predicted_duration_s);
    write_interval(w, choice);
    writer_member_number(w, "deadline_probability", choice->deadline_probability);
    writer_member_number(w, "speedup", choice->speedup);
    writer_member_number(w, "efficiency", choice->efficiency);
    writer_member_number(w, "cost", choice->cost);
    writer_end_object(w);
}

static bool is_extrapolated(const struct codec_advice_reply *reply)
{
    const struct curve *curve = &reply->answer->curve;
    const struct curve_point *point =
        curve_find(curve, reply->answer->advice.recommendation.executors);
    return curve->size_extrapolated || curve->executor_cores_extrapolated ||
           (point != NULL && point->extrapolated);
}

static const char *describe_group(const struct label_group *group)
{
    if (group->ignored)
        return group->runs == 0
                   ? "no run has these labels: runs of all labels are taken"
                   : "these labels explain the time, but none of their runs can be replayed and "
                     "they are too few for a model: runs of all labels are taken";
    return group->asked ? "the prediction is for runs with these labels"
                        : "the prediction is for runs with the labels of the latest run, which "
                          "explain the time: ask for others with labels";
}

static void write_model(struct writer *w, const struct codec_advice_reply *reply)
{
    bool predicts = reply->answer->curve.runs > 0;
    if (!writer_member_object_or_null(w, "model", predicts))
        return;
    writer_member_string(w, "kind",
                         reply->answer->curve.model_kind == NULL ? "replay"
                                                                 : reply->answer->curve.model_kind);
    writer_member_number(w, "loo_mape_percent", reply->answer->curve.loo_mape_percent);
    writer_member_integer(w, "observations", (int64_t)reply->answer->curve.runs);
    writer_member_boolean(w, "extrapolation", is_extrapolated(reply));
    writer_key(w, "label_group");
    codec_label_group_encode(w, reply->group, describe_group(reply->group));
    writer_end_object(w);
}

/* Rounded upwards, for a deadline that would do is asked for again. */
static void write_deadline(struct writer *w, double deadline_s)
{
    if (!isnan(deadline_s))
        writer_member_number(w, "deadline_s", writer_rounded_up(deadline_s, WRITER_DIGITS_MEANT));
}

/* As the caller sent it. */
static void write_as_sent(struct writer *w, const char *key, double value)
{
    unsigned digits = writer_set_digits(w, 0);
    writer_member_number(w, key, value);
    w->digits = digits;
}

static void write_joint_remedies(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct joint_outcome *joint = &reply->answer->joint;
    write_deadline(w, joint->deadline_s);
    if (joint->min_total_cores != RUN_UNKNOWN) {
        int64_t cores = reply->answer->curve.cores_per_executor;
        writer_member_integer(w, "max_executors", (joint->min_total_cores + cores - 1) / cores);
        writer_member_integer(w, "min_total_cores", joint->min_total_cores);
    }
    if (!joint->exact)
        writer_member_boolean(w, "exact", false);
}

static void write_remedies(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advise_remedies *remedies = &reply->answer->advice.remedies;
    writer_member_object(w, "remedies");
    if (reply->answer->has_joint && reply->answer->joint.has_remedies) {
        write_joint_remedies(w, reply);
    } else {
        write_deadline(w, remedies->deadline_s);
        if (remedies->max_executors != RUN_UNKNOWN)
            writer_member_integer(w, "max_executors", remedies->max_executors);
        if (!isnan(remedies->max_cost))
            writer_member_number(w, "max_cost", remedies->max_cost);
    }
    writer_end_object(w);
}

/* How executors share machines, where these have the price. */
static void write_machines(struct writer *w,
                           const struct pricing_terms *terms,
                           const struct pricing *pricing,
                           bool machines)
{
    const struct price *price = &terms->price;
    const int64_t none = RUN_UNKNOWN;
    writer_member_number(w, "price_per_machine_hour",
                         machines ? pricing->billing.per_hour : (double)NAN);
    writer_member_count(w, "machine_cores", machines ? price->machine_cores : none);
    writer_member_count(w, "machine_memory_bytes", machines ? price->machine_memory_bytes : none);
    writer_member_count(w, "container_bytes", machines ? terms->container_bytes : none);
    writer_member_count(w, "executors_per_machine",
                        machines ? pricing->billing.executors_per_machine : none);
    writer_member_count(w, "machines", machines ? pricing->units : none);
}

static void write_billed(struct writer *w, const struct price *price, const struct pricing *pricing)
{
    writer_member_number(w, "startup_billed_s", price->startup_billed_s);
    writer_member_number(w, "minimum_billed_s", price->minimum_billed_s);
    writer_member_number(w, "billing_increment_s", price->billing_increment_s);
    writer_member_number(w, "billed_s", pricing->billed_s);
}

/* The price that was used, where there is one. */
static void write_pricing(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct pricing *pricing = &reply->answer->pricing;
    const struct pricing_terms *terms = reply->terms;
    bool spot = pricing->market == PRICING_SPOT;
    bool own = terms->source == PRICING_OF_REQUEST;
    bool machines = pricing->billing.executors_per_machine > 0;
    if (!writer_member_object_or_null(w, "pricing", pricing->known && is_answered(reply)))
        return;
    writer_member_string(w, "market", pricing_market_name(pricing->market));
    writer_member_string(w, "currency", terms->currency);
    writer_member_number(w, "price_per_executor_hour",
                         machines ? (double)NAN : pricing->billing.per_hour);
    write_machines(w, terms, pricing, machines);
    write_billed(w, &terms->price, pricing);
    writer_member_string(w, "source", own ? "request" : "price_book");
    writer_member_string(w, "price_book", terms->book);
    writer_member_string(w, "cluster", terms->source == PRICING_OF_CLUSTER ? terms->subject : NULL);
    writer_member_string(w, "machine_type",
                         terms->source == PRICING_OF_MACHINE_TYPE ? terms->subject : NULL);
    writer_member_number(w, "on_demand_cost", pricing->on_demand_cost);
    writer_member_number(w, "interruptions_per_hour",
                         spot ? terms->price.interruptions_per_hour : (double)NAN);
    writer_member_number(w, "executor_startup_s", spot ? terms->executor_startup_s : (double)NAN);
    writer_member_number(w, "expected_interruptions", pricing->interruptions);
    writer_member_number(w, "interruption_s", pricing->interruption_s);
    writer_member_number(w, "interruption_cost", pricing->interruption_cost);
    writer_end_object(w);
}

/* What the recommendation changes against what ran last. */
static void write_last_run(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advice_comparison *made = &reply->answer->comparison;
    if (!writer_member_object_or_null(w, "last_run", made->known))
        return;
    const char *run_id = made->with->last.run_id;
    writer_member_string(w, "run_id", run_id[0] == '\0' ? NULL : run_id);
    writer_member_integer(w, "executors", made->with->last.executors);
    writer_member_integer(w, "cores_per_executor", made->with->last.cores_per_executor);
    writer_member_number(w, "problem_size", made->with->last.problem_size);
    writer_member_number(w, "duration_s", made->with->last.duration_s);
    writer_member_number(w, "predicted_duration_s", made->predicted_duration_s);
    writer_member_number(w, "cost", made->cost);
    writer_member_number(w, "duration_change_percent", made->duration_change_percent);
    writer_member_number(w, "cost_change_percent", made->cost_change_percent);
    writer_end_object(w);
}

static void write_alternatives(struct writer *w, const struct advice *advice)
{
    writer_member_array(w, "alternatives");
    for (size_t i = 0; i < advice->n_alternatives; i++) {
        const struct advise_choice *choice = &advice->alternatives[i];
        writer_begin_object(w);
        writer_member_integer(w, "executors", choice->executors);
        writer_member_number(w, "predicted_duration_s", choice->predicted_duration_s);
        write_interval(w, choice);
        writer_member_number(w, "deadline_probability", choice->deadline_probability);
        writer_member_number(w, "cost", choice->cost);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void write_quotas(struct writer *w, const struct stage_plan *quotas)
{
    if (!writer_member_array_or_null(w, "stages", quotas != NULL))
        return;
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    for (size_t i = 0; i < quotas->n_steps; i++) {
        const struct stage_plan_step *step = &quotas->steps[i];
        writer_begin_object(w);
        writer_member_integer(w, "id", step->id);
        writer_member_number(w, "deadline_s", step->deadline_s);
        writer_member_number(w, "estimated_cores", step->estimated_cores);
        writer_member_number(w, "max_allocable_cores", step->max_allocable_cores);
        writer_member_number(w, "initial_cores_per_executor", step->initial_cores_per_executor);
        writer_end_object(w);
    }
    writer_end_array(w);
    w->digits = digits;
}

/* Names of the jobs that meet their deadline (or miss it). */
static void write_jobs(struct writer *w, const struct codec_advice_reply *reply, bool met)
{
    writer_member_array(w, met ? "met" : "missed");
    const struct joint_outcome *joint = reply->answer->has_joint ? &reply->answer->joint : NULL;
    for (size_t i = 0; joint != NULL && i < reply->question->n_running; i++)
        if (joint->running[i].met == met)
            writer_text(w, reply->question->running[i].application);
    if (joint != NULL && !isnan(reply->question->goal.deadline_s) && joint->met == met)
        writer_text(w, advice_job_name(reply->question));
    writer_end_array(w);
}

static void write_contention(struct writer *w, const struct codec_advice_reply *reply)
{
    writer_member_object(w, "contention");
    writer_member_boolean(w, "with_running", reply->answer->has_joint);
    write_jobs(w, reply, true);
    write_jobs(w, reply, false);
    writer_end_object(w);
}

static void write_data_needed(struct writer *w, const struct advice *advice)
{
    if (!writer_member_object_or_null(w, "data_needed", advice->data_needed_runs > 0))
        return;
    writer_member_integer(w, "runs", advice->data_needed_runs);
    writer_member_string(w, "why", advice->data_needed_why);
    writer_member_array(w, "suggested");
    for (size_t i = 0; i < advice->n_data_needed; i++) {
        writer_begin_object(w);
        writer_member_number(w, "problem_size", advice->data_needed_problem_size);
        writer_member_integer(w, "executors", advice->data_needed_executors[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* What calls of their own reply alike, digit for digit. */
static void write_as_elsewhere(struct writer *w, const struct codec_advice_reply *reply)
{
    unsigned digits = writer_set_digits(w, 0);
    if (reply->question->include & ADVICE_STAGES)
        write_quotas(w, reply->answer->has_quotas ? &reply->answer->quotas : NULL);
    if (reply->question->include & ADVICE_COPY_PLAN) {
        writer_key(w, "copy_plan");
        if (reply->copies_asked == NULL)
            writer_null(w);
        else
            codec_copy_plan_encode(w, reply->copies_asked, reply->copies);
    }
    if (reply->experiments != NULL) {
        writer_key(w, "next_experiments");
        codec_experiments_encode_items(w, reply->experiments);
    } else if (reply->question->include & ADVICE_NEXT_EXPERIMENTS) {
        writer_member_array(w, "next_experiments");
        writer_end_array(w);
    }
    w->digits = digits;
}

void codec_advice_encode(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advice_question *question = reply->question;
    const struct advice *advice = &reply->answer->advice;
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    writer_begin_object(w);
    writer_member_string(w, "id", reply->id);
    writer_member_text(w, "application", question->application);
    writer_member_number(w, "problem_size", reply->answer->curve.problem_size);
    writer_member_string(w, "problem_size_measured_by", reply->answer->curve.size_measure);
    write_as_sent(w, "deadline_s", question->goal.deadline_s);
    write_as_sent(w, "confidence", question->goal.confidence);
    writer_member_string(w, "objective", advise_objective_name(advice->objective));
    writer_member_instant(w, "created_at", reply->created_us);
    writer_member_string(w, "verdict", advise_verdict_name(advice->verdict));
    writer_member_boolean(w, "feasible", advice->verdict == ADVISE_MET);
    write_recommendation(w, reply);
    write_last_run(w, reply);
    write_model(w, reply);
    write_pricing(w, reply);
    if (advice->verdict == ADVISE_AT_RISK || advice->verdict == ADVISE_MISSED)
        write_remedies(w, reply);
    if (question->include & ADVICE_ALTERNATIVES)
        write_alternatives(w, advice);
    if (question->include & ADVICE_CONTENTION)
        write_contention(w, reply);
    if (question->include & ADVICE_SPARK)
        codec_advice_spark_encode(w, reply->answer);
    if (question->include & ADVICE_MEMORY)
        codec_advice_memory_encode(w, reply->answer);
    if (question->include & ADVICE_AUTOSCALING)
        codec_advice_autoscaling_encode(
            w, reply->answer->has_autoscaling ? &reply->answer->autoscaling : NULL);
    if ((question->include & ADVICE_DATA_NEEDED) != 0 || advice->data_needed_decides ||
        advice->verdict == ADVISE_UNKNOWN)
        write_data_needed(w, advice);
    write_as_elsewhere(w, reply);
    if (question->running_from == RUNNING_ADVISED || question->launches.bytes > 0)
        codec_advice_beside_encode(w, question, reply->answer);
    codec_findings_encode(w, "reasons", &advice->reasons);
    codec_findings_encode(w, "warnings", &advice->warnings);
    writer_end_object(w);
    w->digits = digits;
}

void codec_advice_encode_event(struct writer *w, const struct codec_advice_reply *reply)
{
    writer_begin_object(w);
    writer_member_string(w, "id", reply->id);
    writer_member_text(w, "application", reply->question->application);
    const struct advice *advice = &reply->answer->advice;
    writer_member_string(w, "verdict", advise_verdict_name(advice->verdict));
    writer_member_boolean(w, "feasible", advice->verdict == ADVISE_MET);
    if (is_answered(reply)) {
        writer_member_integer(w, "executors", advice->recommendation.executors);
        writer_member_number(w, "predicted_duration_s",
                             advice->recommendation.predicted_duration_s);
    } else {
        writer_member_null(w, "executors");
        writer_member_null(w, "predicted_duration_s");
    }
    writer_member_number(w, "deadline_s", reply->question->goal.deadline_s);
    writer_end_object(w);
}

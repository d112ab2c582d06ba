#include "codec/advice/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codec/json/finding.h"

/* --- request --- */

static const char *const known_members[] = {
    "application", "profile", "labels",  "problem_size", "deadline_s", "confidence", "objective",
    "constraints", "running", "include", "market",       "copy_plan",  NULL};

/* In the order of enum advise_objective. */
static const char *const objectives[] = {"min_executors", "min_cost",   "min_time",
                                         "max_speedup",   "efficiency", NULL};

/* In the order of enum pricing_market. */
static const char *const markets[] = {"on_demand", "spot", "cheapest", NULL};

/* One's own price, in place of that of a price book as a whole. */
static void decode_price(const struct codec_node *constraints, struct advice_question *request)
{
    struct price *price = &request->price;
    price->per_executor_hour =
        codec_number(constraints, "price_per_executor_hour", CODEC_OPTIONAL, 0.0, 1e12);
    price->spot_per_executor_hour =
        codec_number(constraints, "spot_per_executor_hour", CODEC_OPTIONAL, 0.0, 1e12);
    price->interruptions_per_hour =
        codec_number(constraints, "interruptions_per_hour", CODEC_OPTIONAL, 0.0, 3600.0);
    request->has_price = codec_present(constraints, "price_per_executor_hour");
    bool spot = codec_present(constraints, "spot_per_executor_hour");
    if (spot && !request->has_price)
        codec_fault_member(constraints, "price_per_executor_hour", "required",
                           "goes with spot_per_executor_hour");
    if (codec_present(constraints, "interruptions_per_hour") && !spot)
        codec_fault_member(constraints, "spot_per_executor_hour", "required",
                           "goes with interruptions_per_hour");
    if (codec_present(constraints, "max_cost") && !request->has_price && !spot &&
        request->cluster.at == NULL)
        codec_fault_member(constraints, "price_per_executor_hour", "required",
                           "max_cost needs a price, or a cluster that a price book prices");
}

static void decode_constraints(const struct codec_node *node,
                               const struct codec_advice_limits *limits,
                               struct advice_question *request)
{
    static const char *const known[] = {"min_executors",
                                        "max_executors",
                                        "cores_per_executor",
                                        "max_cost",
                                        "price_per_executor_hour",
                                        "spot_per_executor_hour",
                                        "interruptions_per_hour",
                                        "cluster",
                                        NULL};
    struct codec_node constraints = codec_object(node, "constraints", CODEC_OPTIONAL);
    struct advise_goal *goal = &request->goal;
    goal->min_executors = 1;
    goal->max_executors = limits->executors;
    goal->max_cost = (double)NAN;
    goal->price_per_executor_hour = (double)NAN;
    request->cores_per_executor = RUN_UNKNOWN;
    request->cluster = (struct strview){NULL, 0};
    request->cluster_cores = RUN_UNKNOWN;
    request->has_max_executors = false;
    request->has_price = false;
    if (constraints.json == NULL)
        return;
    codec_refuse_unknown(&constraints, known);
    int64_t least =
        codec_integer(&constraints, "min_executors", CODEC_OPTIONAL, 1, limits->executors);
    int64_t most =
        codec_integer(&constraints, "max_executors", CODEC_OPTIONAL, 1, limits->executors);
    goal->min_executors = least == RUN_UNKNOWN ? 1 : least;
    goal->max_executors = most == RUN_UNKNOWN ? limits->executors : most;
    request->cores_per_executor = codec_integer(&constraints, "cores_per_executor", CODEC_OPTIONAL,
                                                1, limits->cores / goal->max_executors);
    goal->max_cost = codec_number(&constraints, "max_cost", CODEC_ABOVE, 0.0, 1e15);
    request->has_max_executors = most != RUN_UNKNOWN;
    request->cluster = codec_name(&constraints, "cluster", CODEC_OPTIONAL);
    decode_price(&constraints, request);
    if (least != RUN_UNKNOWN && most != RUN_UNKNOWN && least > most)
        codec_fault_member(&constraints, "min_executors", "out_of_range",
                           "is larger than max_executors");
}

static bool is_twice(const struct advice_running running[], size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (running[i].application.at != NULL &&
            strview_equal(running[k].application, running[i].application))
            return true;
    return false;
}

static void decode_running_job(const struct codec_node *item, struct advice_running *running)
{
    static const char *const known[] = {"application", "problem_size", "release_s",
                                        "deadline_s",  "progress",     NULL};
    *running = (struct advice_running){.problem_size = RUN_UNKNOWN};
    if (!codec_expect_object(item))
        return;
    codec_refuse_unknown(item, known);
    running->application = codec_name(item, "application", CODEC_REQUIRED);
    running->problem_size =
        codec_integer(item, "problem_size", CODEC_NULLABLE, 1, CODEC_PROBLEM_SIZE_MAX);
    running->release_s = codec_number(item, "release_s", CODEC_OPTIONAL, -1e12, 1e12);
    if (isnan(running->release_s))
        running->release_s = 0;
    running->deadline_s = codec_number(item, "deadline_s", CODEC_REQUIRED | CODEC_ABOVE, 0.0, 1e12);
    running->progress = codec_number(item, "progress", CODEC_NULLABLE, 0.0, 1.0);
}

static void decode_running(const struct codec_node *node,
                           const struct codec_advice_limits *limits,
                           struct advice_question *request)
{
    struct codec_node list = codec_array(node, "running", CODEC_OPTIONAL, 0, limits->running);
    request->running = NULL;
    request->n_running = 0;
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    request->running = arena_calloc(node->reader->arena, n, sizeof *request->running);
    if (request->running == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    request->n_running = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_running_job(&item, &request->running[i]);
        if (is_twice(request->running, i))
            codec_fault_member(&item, "application", "duplicate", "stands twice in the list");
    }
    struct codec_node constraints = codec_member(node, "constraints");
    if (n > 0 &&
        (!json_is_object(constraints.json) || (!codec_present(&constraints, "max_executors") &&
                                               !codec_present(&constraints, "cluster"))))
        codec_fault_member(&constraints, "max_executors", "required",
                           "beside running jobs the size of the cluster must be known");
}

static const struct {
    const char *word;
    unsigned bit;
} includes[] = {
    {"alternatives", ADVICE_ALTERNATIVES}, {"stages", ADVICE_STAGES},
    {"contention", ADVICE_CONTENTION},     {"spark", ADVICE_SPARK},
    {"data_needed", ADVICE_DATA_NEEDED},   {"next_experiments", ADVICE_NEXT_EXPERIMENTS},
    {"copy_plan", ADVICE_COPY_PLAN}};

static void decode_include(const struct codec_node *node, struct advice_question *request)
{
    enum { WORDS = sizeof includes / sizeof *includes };
    struct codec_node list = codec_array(node, "include", CODEC_OPTIONAL, 0, 64);
    request->include = ADVICE_ALTERNATIVES | ADVICE_STAGES | ADVICE_SPARK |
                       (request->n_clusters > 0 ? ADVICE_COPY_PLAN : 0);
    if (list.json == NULL)
        return;
    request->include = 0;
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        const char *word = json_string_value(item.json);
        size_t k = 0;
        while (word != NULL && k < WORDS && strcmp(word, includes[k].word) != 0)
            k++;
        if (word == NULL || k == WORDS)
            codec_fault(&item, "not_allowed",
                        "is none of alternatives, stages, contention, spark, data_needed, "
                        "next_experiments, copy_plan");
        else
            request->include |= includes[k].bit;
    }
    if ((request->include & ADVICE_COPY_PLAN) != 0 && !codec_present(node, "copy_plan"))
        codec_fault_member(node, "copy_plan", "required", "the clusters of the plan are needed");
}

static void decode_subject(const struct codec_node *node,
                           const struct codec_advice_limits *limits,
                           struct advice_question *request)
{
    bool application = codec_member(node, "application").json != NULL;
    bool profile = codec_member(node, "profile").json != NULL;
    request->application = (struct strview){NULL, 0};
    request->problem_size =
        codec_integer(node, "problem_size", CODEC_NULLABLE, 1, CODEC_PROBLEM_SIZE_MAX);
    if (application)
        request->application = codec_name(node, "application", CODEC_OPTIONAL);
    if (profile) {
        struct codec_node run = codec_object(node, "profile", CODEC_OPTIONAL);
        if (run.json != NULL)
            codec_run_decode(&run, &limits->run, &request->profile);
    }
    codec_labels(node, "labels", CODEC_NULLABLE, (size_t)limits->run.labels, &request->labels,
                 &request->n_labels);
    if (request->n_labels > 0 && profile)
        codec_fault_member(node, "labels", "conflict",
                           "tell runs of an application apart; a profile is a single one");
    if (application && profile)
        codec_fault_member(node, "profile", "conflict",
                           "stands beside application; give one of them");
    if (!application && !profile)
        codec_fault_member(node, "application", "required", "application or profile is required");
}

void codec_advice_decode(const struct codec_node *node,
                         const struct codec_advice_limits *limits,
                         struct advice_question *request)
{
    codec_refuse_unknown(node, known_members);
    decode_subject(node, limits, request);
    request->goal.deadline_s =
        codec_number(node, "deadline_s", CODEC_NULLABLE | CODEC_ABOVE, 0.0, 1e12);
    double confidence =
        codec_number(node, "confidence", CODEC_OPTIONAL | CODEC_ABOVE, 0.0, 1.0 - 1e-9);
    request->goal.confidence = isnan(confidence) ? 0.95 : confidence;
    request->goal.objective = (enum advise_objective)codec_choice(
        node, "objective", CODEC_OPTIONAL, objectives, (size_t)ADVISE_MIN_EXECUTORS);
    request->market = (enum pricing_market)codec_choice(node, "market", CODEC_OPTIONAL, markets,
                                                        (size_t)PRICING_ON_DEMAND);
    decode_constraints(node, limits, request);
    codec_advice_clusters_decode(node, limits, request);
    decode_running(node, limits, request);
    decode_include(node, request);
}

/* --- reply --- */

static void write_interval(struct writer *w, const struct advise_choice *choice)
{
    writer_member_array(w, "interval_s");
    writer_number(w, choice->lower_s);
    writer_number(w, choice->upper_s);
    writer_end_array(w);
}

static void write_recommendation(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advise_choice *choice = &reply->answer->advice.recommendation;
    writer_member_object(w, "recommendation");
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
    const struct curve_point *point =
        curve_find(&reply->answer->curve, reply->answer->advice.recommendation.executors);
    return reply->answer->curve.size_extrapolated || (point != NULL && point->extrapolated);
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
    writer_member_object(w, "model");
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

static void write_joint_remedies(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct joint_outcome *joint = &reply->answer->joint;
    if (!isnan(joint->deadline_s))
        writer_member_number(w, "deadline_s", joint->deadline_s);
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
        if (!isnan(remedies->deadline_s))
            writer_member_number(w, "deadline_s", remedies->deadline_s);
        if (remedies->max_executors != RUN_UNKNOWN)
            writer_member_integer(w, "max_executors", remedies->max_executors);
    }
    writer_end_object(w);
}

/* The price that was used, where there is one. */
static void write_pricing(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct pricing *pricing = &reply->answer->pricing;
    const struct pricing_terms *terms = reply->terms;
    bool spot = pricing->market == PRICING_SPOT;
    bool own = terms->source == PRICING_OF_REQUEST;
    if (!writer_member_object_or_null(w, "pricing", pricing->known))
        return;
    writer_member_string(w, "market", pricing_market_name(pricing->market));
    writer_member_string(w, "currency", terms->currency);
    writer_member_number(w, "price_per_executor_hour", pricing->per_executor_hour);
    writer_member_string(w, "source", own ? "request" : "price_book");
    writer_member_string(w, "price_book", terms->book);
    writer_member_string(w, "cluster", terms->source == PRICING_OF_CLUSTER ? terms->subject : NULL);
    writer_member_string(w, "machine_type",
                         terms->source == PRICING_OF_MACHINE_TYPE ? terms->subject : NULL);
    writer_member_number(w, "on_demand_cost", pricing->on_demand_cost);
    writer_member_number(w, "interruptions_per_hour",
                         spot ? terms->price.interruptions_per_hour : (double)NAN);
    writer_member_number(w, "expected_interruptions", pricing->interruptions);
    writer_member_number(w, "interruption_s", pricing->interruption_s);
    writer_member_number(w, "interruption_cost", pricing->interruption_cost);
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

static void write_count_member(struct writer *w, const char *key, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    writer_member_string(w, key, text);
}

/* Sorted by key (docs/design.md, "Spark properties"); what the job had before is not known here. */
static void write_spark(struct writer *w, const struct codec_advice_reply *reply)
{
    writer_member_object(w, "spark");
    writer_member_object(w, "properties");
    write_count_member(w, "spark.executor.cores", reply->answer->curve.cores_per_executor);
    write_count_member(w, "spark.executor.instances",
                       reply->answer->advice.recommendation.executors);
    writer_end_object(w);
    writer_member_array(w, "changes");
    writer_end_array(w);
    writer_end_object(w);
}

static void write_data_needed(struct writer *w, const struct advice *advice)
{
    if (!writer_member_object_or_null(w, "data_needed", advice->data_needed_runs > 0))
        return;
    writer_member_integer(w, "runs", advice->data_needed_runs);
    writer_member_string(w, "why", advice->data_needed_why);
    writer_end_object(w);
}

void codec_advice_encode(struct writer *w, const struct codec_advice_reply *reply)
{
    const struct advice_question *question = reply->question;
    const struct advice *advice = &reply->answer->advice;
    writer_begin_object(w);
    writer_member_string(w, "id", reply->id);
    writer_member_text(w, "application", question->application);
    writer_member_integer(w, "problem_size", reply->answer->curve.problem_size);
    writer_member_number(w, "deadline_s", question->goal.deadline_s);
    writer_member_number(w, "confidence", question->goal.confidence);
    writer_member_string(w, "objective", advise_objective_name(advice->objective));
    writer_member_instant(w, "created_at", reply->created_us);
    writer_member_boolean(w, "feasible", advice->feasible);
    write_recommendation(w, reply);
    write_model(w, reply);
    write_pricing(w, reply);
    if (!advice->feasible)
        write_remedies(w, reply);
    if (question->include & ADVICE_ALTERNATIVES)
        write_alternatives(w, advice);
    if (question->include & ADVICE_STAGES)
        write_quotas(w, reply->answer->has_quotas ? &reply->answer->quotas : NULL);
    if (question->include & ADVICE_CONTENTION)
        write_contention(w, reply);
    if (question->include & ADVICE_SPARK)
        write_spark(w, reply);
    if (question->include & ADVICE_DATA_NEEDED)
        write_data_needed(w, advice);
    if (question->include & ADVICE_COPY_PLAN) {
        writer_key(w, "copy_plan");
        if (reply->copies_asked == NULL)
            writer_null(w);
        else
            codec_copy_plan_encode(w, reply->copies_asked, reply->copies);
    }
    if (reply->experiments != NULL) {
        writer_key(w, "next_experiments");
        codec_experiments_encode_items(w, reply->experiments);
    }
    codec_findings_encode(w, "reasons", &advice->reasons);
    codec_findings_encode(w, "warnings", &advice->warnings);
    writer_end_object(w);
}

void codec_advice_encode_event(struct writer *w, const struct codec_advice_reply *reply)
{
    writer_begin_object(w);
    writer_member_string(w, "id", reply->id);
    writer_member_text(w, "application", reply->question->application);
    writer_member_boolean(w, "feasible", reply->answer->advice.feasible);
    writer_member_integer(w, "executors", reply->answer->advice.recommendation.executors);
    writer_member_number(w, "predicted_duration_s",
                         reply->answer->advice.recommendation.predicted_duration_s);
    writer_member_number(w, "deadline_s", reply->question->goal.deadline_s);
    writer_end_object(w);
}

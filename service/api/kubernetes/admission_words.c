#include "api/kubernetes/admission_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/spark/property_value.h"

enum { NUMBER_ROOM = 32, NAME_ROOM = 49, COUNT_ROOM = 96 };

/* --- numbers --- */

/* "4 executors of 2 cores"; cores RUN_UNKNOWN: "4 executors". */
static const char *count(int64_t executors, int64_t cores, char text[COUNT_ROOM])
{
    int n = snprintf(text, COUNT_ROOM, "%" PRId64 " executor%s", executors, PLURAL(executors));
    if (cores != RUN_UNKNOWN)
        (void)snprintf(text + n, COUNT_ROOM - (size_t)n, " of %" PRId64 " core%s", cores,
                       PLURAL(cores));
    return text;
}

const char *admission_subject(const struct advice_made *made, struct arena *arena)
{
    char name[NAME_ROOM];
    strview_shorten(made->question.application, name, sizeof name);
    return arena_printf(arena, "provisor: %s: ", name);
}

/* --- the prediction --- */

const char *admission_describe_prediction(const struct advice_made *made, struct arena *arena)
{
    const struct advise_choice *choice = &made->answer.advice.recommendation;
    char executors[COUNT_ROOM];
    const struct quantity_text confidence = quantity_share(made->question.goal.confidence);
    return arena_printf(arena,
                        "%s %s predicted to take %s (%s with %s confidence). The deadline of %s is "
                        "met with a probability of %s; %s is required.",
                        count(choice->executors, made->answer.curve.cores_per_executor, executors),
                        PLURAL_VERB(choice->executors, "is", "are"),
                        quantity_duration(choice->predicted_duration_s).text,
                        quantity_interval(choice->lower_s, choice->upper_s).text, confidence.text,
                        quantity_duration(made->question.goal.deadline_s).text,
                        quantity_probability(choice->deadline_probability).text, confidence.text);
}

/* --- what would help --- */

/* Who says how many executors there may be, at most so many; RUN_UNKNOWN: nobody but the curve. */
static const char *
bound_of(const struct admission_review *review, const struct advice_made *made, int64_t *most)
{
    int64_t of_author = review->question.max_executors;
    int64_t of_cluster =
        made->cluster.is_named ? made->cluster.cluster.traits.executors : RUN_UNKNOWN;
    bool author = of_author != RUN_UNKNOWN && (of_cluster == RUN_UNKNOWN || of_author < of_cluster);
    *most = author ? of_author : of_cluster;
    return author ? "the annotation provisor/max-executors allows" : "the cluster has";
}

/* The fewest executors that meet the deadline with confidence, whatever bounds them. RUN_UNKNOWN. */
static int64_t fewest_in_time(const struct advice_made *made)
{
    const struct curve *curve = &made->answer.curve;
    const struct advise_goal *goal = &made->answer.goal;
    for (size_t i = 0; i < curve->n_points; i++)
        if (advise_is_affordable(goal, &curve->points[i]) &&
            curve_probability(curve, &curve->points[i], goal->deadline_s) >= goal->confidence)
            return curve->points[i].executors;
    return RUN_UNKNOWN;
}

static const char *describe_fewest(const struct admission_review *review,
                                   const struct advice_made *made,
                                   struct arena *arena)
{
    const struct curve *curve = &made->answer.curve;
    int64_t fewest = fewest_in_time(made), most = RUN_UNKNOWN;
    const char *who = bound_of(review, made, &most);
    const struct quantity_text confidence = quantity_share(made->question.goal.confidence);
    char executors[COUNT_ROOM];
    if (fewest == RUN_UNKNOWN)
        return arena_printf(arena,
                            "No number of executors up to %" PRId64
                            " meets the deadline with a probability of %s.",
                            curve->points[curve->n_points - 1].executors, confidence.text);
    (void)count(fewest, curve->cores_per_executor, executors);
    if (most != RUN_UNKNOWN && fewest > most)
        return arena_printf(arena,
                            "It takes at least %s to meet the deadline with a probability of %s, "
                            "but %s at most %" PRId64 ".",
                            executors, confidence.text, who, most);
    return arena_printf(arena,
                        "It takes at least %s to meet the deadline with a probability of %s.",
                        executors, confidence.text);
}

const char *admission_describe_remedy(const struct admission_review *review,
                                      const struct advice_made *made,
                                      struct arena *arena)
{
    const struct advise_goal *goal = &made->answer.goal;
    double deadline_s = made->answer.advice.remedies.deadline_s;
    const char *fewest = describe_fewest(review, made, arena);
    char executors[COUNT_ROOM];
    if (fewest == NULL || isnan(deadline_s))
        return fewest;
    return arena_printf(arena, "%s The shortest deadline that %s%s %s is %s.", fewest,
                        goal->min_executors == goal->max_executors ? "" : "up to ",
                        count(goal->max_executors, RUN_UNKNOWN, executors),
                        PLURAL_VERB(goal->max_executors, "meets", "meet"),
                        quantity_duration_at_least(deadline_s).text);
}

/* Why no more executors were considered: a clause behind their number. */
static const char *describe_bound(const struct admission_review *review,
                                  const struct advice_made *made,
                                  struct arena *arena)
{
    const struct advise_goal *goal = &made->answer.goal;
    int64_t most = RUN_UNKNOWN;
    const char *who = bound_of(review, made, &most);
    if (goal->min_executors == goal->max_executors && review->question.n_preserve > 0)
        return ", because their number is preserved";
    if (made->answer.is_bounded)
        return "; recorded runs do not support a prediction for more";
    return most == goal->max_executors ? arena_printf(arena, "; %s no more", who) : "";
}

const char *admission_describe_considered(const struct admission_review *review,
                                          const struct advice_made *made,
                                          struct arena *arena)
{
    const struct advise_goal *goal = &made->answer.goal;
    int64_t asked = spark_object_executors(&review->object);
    char executors[COUNT_ROOM] = "any number of executors", most[COUNT_ROOM];
    char least[NUMBER_ROOM] = "only ";
    const char *bound = describe_bound(review, made, arena);
    if (asked != RUN_UNKNOWN)
        (void)count(asked, spark_object_cores(&review->object), executors);
    if (goal->min_executors < goal->max_executors)
        (void)snprintf(least, sizeof least, "%" PRId64 " to ", goal->min_executors);
    (void)count(goal->max_executors, made->answer.curve.cores_per_executor, most);
    return bound == NULL
               ? NULL
               : arena_printf(arena,
                              "The application asks for %s and is left as it is. Provisor "
                              "considered %s%s%s.",
                              executors, least, most, bound);
}

const char *admission_describe_unknown(const struct advice_made *made, struct arena *arena)
{
    const struct findings *reasons = &made->answer.advice.reasons;
    return arena_printf(arena, "There is no prediction. %s",
                        reasons->n == 0 ? "The history is too short." : reasons->items[0].message);
}

/* --- memory --- */

static const char *advised_memory(const struct spark_configuration *spark)
{
    for (size_t i = 0; i < spark->n; i++)
        if (strcmp(spark->properties[i].key, "spark.executor.memory") == 0)
            return spark->properties[i].value;
    return NULL;
}

/* As Spark writes it. */
static const char *memory_text(int64_t bytes, char text[NUMBER_ROOM])
{
    const int64_t mib = INT64_C(1) << 20, gib = INT64_C(1) << 30;
    if (bytes % gib == 0)
        (void)snprintf(text, NUMBER_ROOM, "%" PRId64 "g", bytes / gib);
    else
        (void)snprintf(text, NUMBER_ROOM, "%" PRId64 "m", bytes / mib);
    return text;
}

/* What recorded executors had: by the history of memory, else by the properties of the last run. */
static int64_t recorded_memory(const struct history_prediction *prediction)
{
    if (prediction->memory.ran.heap > 0)
        return prediction->memory.ran.heap;
    return property_size(
        property_find(prediction->spark.properties, prediction->spark.n, "spark.executor.memory"),
        INT64_C(1) << 20);
}

const char *admission_describe_memory(const struct admission_review *review,
                                      const struct advice_made *made,
                                      struct arena *arena,
                                      bool *differs)
{
    const struct memory_plan *plan = &made->answer.memory.plan;
    const char *advised = made->answer.has_spark ? advised_memory(&made->answer.spark) : NULL;
    struct strview own = spark_object_property(&review->object, "spark.executor.memory");
    int64_t ran = recorded_memory(&made->prediction.item->prediction);
    int64_t set = own.at == NULL ? INT64_C(1) << 30 : property_size(own, INT64_C(1) << 20);
    char now[NUMBER_ROOM], then[NUMBER_ROOM];
    bool stays = advised == NULL || property_size(strview_of(advised), INT64_C(1) << 20) == set;
    bool enough = plan->known && (double)set >= plan->needed_heap; /* false where that is NAN */
    *differs = ran > 0 && set > 0 && ran != set && stays && !enough;
    if (!*differs)
        return NULL;
    return arena_printf(arena,
                        "Executor memory is %s%s; recorded runs had %s, which the prediction "
                        "assumes.",
                        memory_text(set, now), own.at == NULL ? " (Spark's default)" : "",
                        memory_text(ran, then));
}

const char *admission_describe_memory_change(const struct admission_review *review,
                                             const struct advice_made *made,
                                             struct arena *arena,
                                             bool *changes)
{
    static const char key[] = "spark.executor.memory";
    struct strview own = spark_object_property(&review->object, key);
    const char *advised = made->answer.has_spark ? advised_memory(&made->answer.spark) : NULL;
    const char *reason = "it is advised";
    int64_t mib = INT64_C(1) << 20;
    *changes = own.at != NULL && advised != NULL &&
               property_size(strview_of(advised), mib) != property_size(own, mib);
    if (!*changes)
        return NULL;
    for (size_t i = 0; i < made->answer.spark.n_changes; i++)
        if (strcmp(made->answer.spark.changes[i].key, key) == 0)
            reason = made->answer.spark.changes[i].reason;
    return arena_printf(arena, "Executor memory is changed from %.*s to %s: %s.",
                        (int)(own.n < NUMBER_ROOM ? own.n : NUMBER_ROOM), own.at, advised, reason);
}

const char *
admission_describe_memory_proposal(const struct advice_made *made, struct arena *arena, bool *has)
{
    const struct spark_configuration *spark = &made->answer.spark;
    *has = made->answer.has_spark && spark->n_proposals > 0 &&
           spark->proposals[0].kind == PROPOSAL_MEMORY;
    if (!*has)
        return NULL;
    const struct spark_change *proposal = &spark->proposals[0];
    return arena_printf(arena,
                        "Proposed, not applied: %s=%s (%s). The annotation provisor/apply: memory "
                        "applies it.",
                        proposal->key, proposal->new_value, proposal->reason);
}

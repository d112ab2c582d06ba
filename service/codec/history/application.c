#include "codec/history/application.h"

#include "core/joblog/spark/properties.h"

#define A struct application
#define L struct codec_application_limits
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

/* A struct application from where its retention is. */
static const struct shape_member retention_members[] = {
    {"days", SHAPE_COUNT(A, retention_days), .flags = NULLABLE, .least = 1, .most = CODEC_DAYS_MAX},
    {"runs", SHAPE_COUNT(A, retention_runs), .flags = NULLABLE, .least = 1,
     .most = CODEC_COUNT_MAX},
};
static const struct shape retention_shape = {SHAPE_OF(retention_members, A)};

static void check_measure(const struct codec_node *node, const void *limits, void *object)
{
    const struct size_measure *measure = object;
    bool keyed = measure->kind == SIZE_LABEL || measure->kind == SIZE_SPARK_PROPERTY;
    (void)limits;
    if (keyed != (measure->key.at != NULL))
        codec_fault_member(node, "key", keyed ? "required" : "conflict", "%s",
                           keyed ? "is required: the label or Spark property that holds the size"
                                 : "is allowed only with the kinds label and spark_property");
    else if (measure->kind == SIZE_SPARK_PROPERTY && !properties_keep(measure->key))
        codec_fault_member(node, "key", "not_allowed",
                           "is not one of the Spark properties that are kept of a log");
}

#define M struct size_measure
static const struct shape_member measure_members[] = {
    {"kind", SHAPE_WORD(M, kind, size_measure_words), .flags = CODEC_REQUIRED},
    {"key", SHAPE_TEXT(M, key), .flags = NULLABLE, .least = 1, .most = CODEC_NAME_MAX},
};
static const struct shape measure_shape = {SHAPE_OF(measure_members, M), .check = check_measure};

#define R struct application_last_run
static const struct shape_member last_run_members[] = {
    {"id", SHAPE_ID(R, id), .flags = REPLY},
    {"problem_size", SHAPE_NUMBER(R, problem_size), .flags = REPLY | NULLABLE},
    {"problem_size_measured_by", SHAPE_TEXT(R, problem_size_measure), .flags = REPLY | NULLABLE},
    {"executors", SHAPE_COUNT(R, executors), .flags = REPLY | NULLABLE},
    {"cores_per_executor", SHAPE_COUNT(R, cores_per_executor), .flags = REPLY | NULLABLE},
    {"duration_s", SHAPE_NUMBER(R, duration_s), .flags = REPLY | NULLABLE},
    {"succeeded", SHAPE_BOOLEAN(R, succeeded), .flags = REPLY},
};
const struct shape codec_last_run_shape = {.reply = "LastRun", SHAPE_OF(last_run_members, R)};

#define V struct application_last_advice
static const struct shape_member last_advice_members[] = {
    {"id", SHAPE_ID(V, id), .flags = REPLY},
    {"verdict", SHAPE_TEXT(V, verdict), .flags = REPLY | NULLABLE},
    {"feasible", SHAPE_BOOLEAN(V, feasible), .flags = REPLY},
    {"executors", SHAPE_COUNT(V, executors), .flags = REPLY | NULLABLE},
    {"predicted_duration_s", SHAPE_NUMBER(V, predicted_duration_s), .flags = REPLY | NULLABLE},
    {"deadline_s", SHAPE_NUMBER(V, deadline_s), .flags = REPLY | NULLABLE},
    {"confidence", SHAPE_NUMBER(V, confidence), .flags = REPLY | NULLABLE},
    {"deadline_probability", SHAPE_NUMBER(V, deadline_probability), .flags = REPLY | NULLABLE},
};
const struct shape codec_last_advice_shape = {.reply = "LastAdvice",
                                              SHAPE_OF(last_advice_members, V)};

static void encode_last_run(struct writer *w, const void *object, const void *context)
{
    const struct application *application = object;
    (void)context;
    writer_key(w, "last_run");
    if (application->last_run.id[0] == '\0')
        writer_null(w);
    else
        shape_encode(w, &codec_last_run_shape, &application->last_run, 0, NULL);
}

static void encode_last_advice(struct writer *w, const void *object, const void *context)
{
    const struct application *application = object;
    (void)context;
    writer_key(w, "last_advice");
    if (application->last_advice.id[0] == '\0')
        writer_null(w);
    else {
        /* What is predicted has as many digits as in the advice itself; what was sent has all. */
        struct application_last_advice shown = application->last_advice;
        shown.predicted_duration_s =
            writer_rounded(shown.predicted_duration_s, WRITER_DIGITS_MEANT);
        shown.deadline_probability =
            writer_rounded(shown.deadline_probability, WRITER_DIGITS_MEANT);
        shape_encode(w, &codec_last_advice_shape, &shown, 0, NULL);
    }
}

enum { LAST_RUN = SHAPE_GROUP(0), LAST_ADVICE = SHAPE_GROUP(1) };

static const struct shape_member members[] = {
    {"id", SHAPE_ID(A, id), .flags = REPLY},
    {"name", SHAPE_NAME(A, name), .flags = CODEC_REQUIRED},
    {"description", SHAPE_TEXT(A, description), .flags = NULLABLE,
     .most = CODEC_DESCRIPTION_BYTES_MAX},
    {"labels", SHAPE_LABELS(A, labels, n_labels), .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"retention", .kind = SHAPE_KIND_OBJECT, .of = &retention_shape, .flags = REPLY},
    {"problem_size_measure", SHAPE_OBJECT(A, size_measure, &measure_shape)},
    {"runs", SHAPE_COUNT(A, runs), .flags = REPLY},
    {"created_at", SHAPE_INSTANT(A, created_us), .flags = REPLY},
    {"updated_at", SHAPE_INSTANT(A, updated_us), .flags = REPLY},
    {"last_run_at", SHAPE_INSTANT(A, last_run_us), .flags = REPLY | NULLABLE},
    {"last_advice_at", SHAPE_INSTANT(A, last_advice_us), .flags = REPLY | NULLABLE},
    {"last_run", SHAPE_CODE, .flags = REPLY | NULLABLE | LAST_RUN, .encode = encode_last_run},
    {"last_advice", SHAPE_CODE, .flags = REPLY | NULLABLE | LAST_ADVICE,
     .encode = encode_last_advice},
};
const struct shape codec_application_shape = {.request = "ApplicationCreate",
                                              .reply = "Application",
                                              .reply_sometimes = LAST_RUN | LAST_ADVICE,
                                              SHAPE_OF(members, A)};

#define S struct application_change
static const struct shape_member change_members[] = {
    {"description", SHAPE_TEXT(S, to.description), SHAPE_GIVEN(S, has_description),
     .flags = NULLABLE, .most = CODEC_DESCRIPTION_BYTES_MAX},
    {"labels", SHAPE_LABELS(S, to.labels, to.n_labels), SHAPE_GIVEN(S, has_labels),
     .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"retention", SHAPE_OBJECT(S, to, &retention_shape), SHAPE_GIVEN(S, has_retention),
     .flags = NULLABLE},
    {"problem_size_measure", SHAPE_OBJECT(S, to.size_measure, &measure_shape),
     SHAPE_GIVEN(S, has_size_measure)},
};
const struct shape codec_application_change_shape = {.request = "ApplicationPatch",
                                                     SHAPE_OF(change_members, S)};

static const struct application nothing = {.retention_days = RUN_UNKNOWN,
                                           .retention_runs = RUN_UNKNOWN,
                                           .last_run_us = RUN_NO_INSTANT,
                                           .last_advice_us = RUN_NO_INSTANT};

void codec_application_decode(const struct codec_node *node,
                              const struct codec_application_limits *limits,
                              struct application *application)
{
    *application = nothing;
    shape_decode(node, &codec_application_shape, limits, application);
}

void codec_application_decode_change(const struct codec_node *node,
                                     const struct codec_application_limits *limits,
                                     struct application_change *change)
{
    *change = (struct application_change){.to = nothing};
    shape_decode(node, &codec_application_change_shape, limits, change);
    if (json_value_members(node->json) == 0)
        codec_fault(node, "required",
                    "needs at least one of description, labels, retention, "
                    "problem_size_measure");
}

void codec_application_encode(struct writer *w,
                              const struct application *application,
                              unsigned include)
{
    unsigned without = ((include & APPLICATION_LAST_RUN) != 0 ? 0u : LAST_RUN) |
                       ((include & APPLICATION_LAST_ADVICE) != 0 ? 0u : LAST_ADVICE);
    shape_encode(w, &codec_application_shape, application, without, NULL);
}

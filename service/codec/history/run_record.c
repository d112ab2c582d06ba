#include <stdlib.h>

#include "base/order.h"
#include "codec/history/log_metrics.h"
#include "codec/history/run.h"
#include "codec/json/finding.h"
#include "core/history/log_origin.h"
#include "core/history/problem_size.h"
#include "core/spark/property_type.h"

enum {
    ID_TEXT_MAX = 1024,
    PROPERTIES_MAX = 10000,
    PROPERTY_BYTES_MAX = 65536,
    PROFILES_MAX = 1000,
    WARNINGS_MAX = 1000,
    WARNING_BYTES_MAX = 4096
};

/* --- members with rules of their own --- */

/* Taken back from a reply, and not looked at. */
static void decode_application(const struct codec_node *node, const void *limits, void *object)
{
    (void)limits;
    (void)object;
    (void)codec_name(node, "application", CODEC_NULLABLE);
}

static void encode_application(struct writer *w, const void *object, const void *context)
{
    const struct codec_run_context *more = context;
    (void)object;
    writer_member_text(w, "application", more->application);
}

static void decode_measure(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    struct strview word =
        codec_text(node, "problem_size_measured_by", CODEC_NULLABLE, 1, CODEC_NAME_MAX);
    (void)limits;
    if (word.at != NULL && problem_size_measure_word(word) == NULL)
        codec_fault_member(node, "problem_size_measured_by", "not_allowed",
                           "is not a measure of problem sizes");
    run->problem_size_measure = word;
}

static void encode_measure(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    writer_member_text(w, "problem_size_measured_by", run->problem_size_measure);
}

static int compare_keys(const void *a, const void *b)
{
    const struct run_label *x = a;
    const struct run_label *y = b;
    return strcmp(x->key.at, y->key.at);
}

static void decode_property_map(const struct codec_node *node,
                                const char *member,
                                struct run_label **properties,
                                size_t *n_properties)
{
    struct codec_node map = codec_object(node, member, CODEC_NULLABLE);
    if (map.json == NULL)
        return;
    size_t n = json_value_members(map.json);
    struct run_label *all = codec_allocate(&map, n, sizeof *all);
    if (all == NULL)
        return;
    if (n > PROPERTIES_MAX) {
        codec_fault(&map, "too_many_items", "may hold at most %d properties", PROPERTIES_MAX);
        return;
    }
    size_t i = 0;
    for (size_t m = 0; m < n; m++) {
        struct codec_node property = codec_member_at(&map, m);
        all[i].key = arena_copy(map.reader->arena, json_value_key_view(map.json, m));
        all[i].value = codec_as_text(&property, 0, PROPERTY_BYTES_MAX);
        if (all[i].value.at == NULL)
            return;
        all[i].value = property_in_one_form(all[i].key, all[i].value, map.reader->arena);
        if (all[i].key.at == NULL || all[i].value.at == NULL) {
            (void)pv_no_memory(map.reader->err);
            return;
        }
        i++;
    }
    qsort(all, n, sizeof *all, compare_keys);
    *properties = all;
    *n_properties = n;
}

static void decode_properties(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    (void)limits;
    decode_property_map(node, "spark_properties", &run->spark_properties, &run->n_spark_properties);
}

static void decode_submitted(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    (void)limits;
    decode_property_map(node, "submitted_properties", &run->submitted_properties,
                        &run->n_submitted_properties);
}

static void encode_properties(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    writer_key(w, "spark_properties");
    shape_encode_labels(w, run->spark_properties, run->n_spark_properties);
}

static void encode_submitted(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    writer_key(w, "submitted_properties");
    shape_encode_labels(w, run->submitted_properties, run->n_submitted_properties);
}

static void decode_warning(const struct codec_node *node, struct findings *warnings)
{
    static const char *const known[] = {"code", "message", "evidence", NULL};
    static const char *const known_evidence[] = {"count", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    struct strview code = codec_text(node, "code", CODEC_REQUIRED, 1, WARNING_BYTES_MAX);
    struct strview message = codec_text(node, "message", CODEC_REQUIRED, 0, WARNING_BYTES_MAX);
    struct codec_node evidence = codec_object(node, "evidence", CODEC_OPTIONAL);
    if (code.at == NULL || message.at == NULL)
        return;
    struct finding *warning = finding_add(warnings, code.at, "%s", message.at);
    if (evidence.json == NULL)
        return;
    codec_refuse_unknown(&evidence, known_evidence);
    int64_t count = codec_integer(&evidence, "count", CODEC_REQUIRED, 0, CODEC_ID_MAX);
    finding_number(warning, "count", (double)count);
}

static void decode_warnings(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    (void)limits;
    struct codec_node list = codec_array(node, "warnings", CODEC_NULLABLE, 0, WARNINGS_MAX);
    size_t n = json_value_items(list.json);
    run->warnings.arena = node->reader->arena;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_warning(&item, &run->warnings);
    }
    if (run->warnings.failed)
        (void)pv_no_memory(node->reader->err);
}

static void run_record_encode_warnings(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    codec_findings_encode(w, "warnings", &run->warnings);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a text of lower-case hexadecimal digits; at == NULL if there are none, or other
 * characters. */
static struct strview hex_bytes(const struct codec_node *node, struct strview text)
{
    bool good = text.n > 0 && text.n % 2 == 0;
    for (size_t i = 0; good && i < text.n; i++)
        good = hex_value(text.at[i]) >= 0;
    char *bytes = good ? codec_allocate(node, text.n / 2, 1) : NULL;
    if (bytes == NULL)
        return (struct strview){NULL, 0};
    for (size_t i = 0; i < text.n / 2; i++)
        bytes[i] = (char)((unsigned)hex_value(text.at[2 * i]) << 4 |
                          (unsigned)hex_value(text.at[2 * i + 1]));
    return (struct strview){bytes, text.n / 2};
}

static void encode_hex(struct writer *w, const char *name, struct strview bytes)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * LOG_BEGINNING_BYTES_MAX];
    if (bytes.n > LOG_BEGINNING_BYTES_MAX)
        bytes = (struct strview){NULL, 0};
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned byte = (unsigned char)bytes.at[i];
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    writer_member_text(w, name, (struct strview){bytes.at == NULL ? NULL : hex, 2 * bytes.n});
}

static void decode_digest(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    (void)limits;
    struct strview text = codec_text(node, "log_digest", CODEC_NULLABLE, 0, SIZE_MAX);
    if (text.at == NULL)
        return;
    run->log_digest = hex_bytes(node, text);
    if (run->log_digest.n != RUN_DIGEST_BYTES)
        codec_fault_member(node, "log_digest", "invalid_digest",
                           "must be 64 lower-case hexadecimal digits");
}

static void encode_digest(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    encode_hex(w, "log_digest", run->log_digest);
}

static void decode_beginning(const struct codec_node *node, const void *limits, void *object)
{
    struct run *run = object;
    (void)limits;
    struct strview text = codec_text(node, "log_beginning", CODEC_NULLABLE, 0, SIZE_MAX);
    if (text.at == NULL)
        return;
    run->log_beginning = hex_bytes(node, text);
    if (!log_beginning_fits(run->log_beginning.n))
        codec_fault_member(node, "log_beginning", "invalid_beginning",
                           "must be 16 to 144 lower-case hexadecimal digits, a multiple of 8");
}

static void encode_beginning(struct writer *w, const void *object, const void *context)
{
    const struct run *run = object;
    (void)context;
    encode_hex(w, "log_beginning", run->log_beginning);
}

/* --- the shape --- */

/* Which members are there: those of runs from logs, of records (lines of an export) and of replies
 * alone, and the stages. */
enum {
    OF_LOG = SHAPE_GROUP(0),
    OF_RECORD = SHAPE_GROUP(1),
    OF_REPLY = SHAPE_GROUP(2),
    STAGES = SHAPE_GROUP(3),
    NULLABLE = CODEC_NULLABLE,
    LOG_FLAGS = OF_LOG | NULLABLE
};

#define P struct run_resources
static const struct shape_member profile_members[] = {
    {"id", SHAPE_COUNT(P, id), .flags = CODEC_REQUIRED},
    {"executors", SHAPE_COUNT(P, executors), .flags = NULLABLE, .most = CODEC_COUNT_MAX},
    {"cores_per_executor", SHAPE_COUNT(P, cores_per_executor), .flags = NULLABLE,
     .most = CODEC_COUNT_MAX},
    {"executor_memory_bytes", SHAPE_COUNT(P, executor_memory_bytes), .flags = NULLABLE,
     .most = CODEC_BYTES_MAX},
    {"cores_per_task", SHAPE_COUNT(P, cores_per_task), .flags = NULLABLE, .most = CODEC_COUNT_MAX},
    {"resource", SHAPE_TEXT(P, resource), .flags = NULLABLE, .least = 1, .most = 31},
    {"resource_per_executor", SHAPE_COUNT(P, resource_per_executor), .flags = NULLABLE,
     .most = CODEC_COUNT_MAX},
    {"resource_per_task", SHAPE_NUMBER(P, resource_per_task), .flags = NULLABLE,
     .high = CODEC_COUNT_MAX},
};
const struct shape codec_resource_profile_shape = {
    .request = "ResourceProfileRecord", .reply = "ResourceProfile", SHAPE_OF(profile_members, P)};

#define T struct run
static const struct shape_member members[] = {
    {"id", SHAPE_ID(T, id), .flags = NULLABLE | SHAPE_KNOWN},
    {"application", SHAPE_CODE, .flags = NULLABLE | SHAPE_KNOWN | OF_REPLY,
     .decode = decode_application, .encode = encode_application},
    {"recorded_at", SHAPE_INSTANT(T, recorded_us), .flags = NULLABLE | SHAPE_KNOWN},
    {"problem_size", SHAPE_NUMBER(T, problem_size), .flags = NULLABLE, .low = 0,
     .high = CODEC_PROBLEM_SIZE_MAX},
    {"problem_size_given", SHAPE_BOOLEAN(T, problem_size_given), .flags = NULLABLE | SHAPE_TRUE},
    {"problem_size_measured_by", SHAPE_CODE, .flags = NULLABLE, .decode = decode_measure,
     .encode = encode_measure},
    {"executors", SHAPE_COUNT(T, executors), .flags = NULLABLE, .most = CODEC_COUNT_MAX},
    {"cores_per_executor", SHAPE_COUNT(T, cores_per_executor), .flags = NULLABLE,
     .most = CODEC_COUNT_MAX},
    {"duration_s", SHAPE_NUMBER(T, duration_s), .flags = CODEC_REQUIRED | NULLABLE,
     .high = CODEC_SECONDS_MAX},
    {"initialization_s", SHAPE_NUMBER(T, initialization_s), .flags = NULLABLE,
     .high = CODEC_SECONDS_MAX},
    {"started_at", SHAPE_INSTANT(T, started_us), .flags = NULLABLE},
    {"succeeded", SHAPE_BOOLEAN(T, succeeded), .flags = NULLABLE | SHAPE_TRUE},
    {"advice_id", SHAPE_ID(T, advice_id), .flags = NULLABLE},
    {"labels", SHAPE_LABELS(T, labels, n_labels), .flags = NULLABLE,
     SHAPE_LIMIT(struct codec_run_limits, labels)},
    {"task_times_summarized", SHAPE_BOOLEAN(T, tasks_thinned), .flags = NULLABLE},
    {"log_digest", SHAPE_CODE, .flags = LOG_FLAGS | OF_RECORD, .decode = decode_digest,
     .encode = encode_digest},
    {"log_beginning", SHAPE_CODE, .flags = LOG_FLAGS | OF_RECORD, .decode = decode_beginning,
     .encode = encode_beginning},
    {"log_complete", SHAPE_BOOLEAN(T, ended), .flags = LOG_FLAGS | OF_RECORD | SHAPE_TRUE},
    {"spark_application_id", SHAPE_TEXT(T, spark_application_id), .flags = LOG_FLAGS, .least = 1,
     .most = ID_TEXT_MAX},
    {"spark_attempt_id", SHAPE_TEXT(T, spark_attempt_id), .flags = LOG_FLAGS, .most = ID_TEXT_MAX},
    {"spark_version", SHAPE_TEXT(T, spark_version), .flags = LOG_FLAGS, .most = ID_TEXT_MAX},
    /* clang-format off */
    RUN_TOTALS(CODEC_FIGURE_COUNT, CODEC_FIGURE_SECONDS)
    RUN_FIGURES(CODEC_FIGURE_COUNT, CODEC_FIGURE_SECONDS, CODEC_FIGURE_CODE)
    RUN_METRICS(CODEC_METRIC_COUNT, CODEC_METRIC_SECONDS)
    /* clang-format on */
    {"resource_profiles", SHAPE_OBJECTS(T, resources, n_resources, &codec_resource_profile_shape),
     .flags = LOG_FLAGS, .most = PROFILES_MAX},
    {"spark_properties", SHAPE_CODE, .flags = LOG_FLAGS | SHAPE_KNOWN, .decode = decode_properties,
     .encode = encode_properties},
    {"submitted_properties", SHAPE_CODE, .flags = LOG_FLAGS | SHAPE_KNOWN,
     .decode = decode_submitted, .encode = encode_submitted},
    {"warnings", SHAPE_CODE, .flags = LOG_FLAGS | SHAPE_KNOWN, .decode = decode_warnings,
     .encode = run_record_encode_warnings},
    {"nodes", SHAPE_OBJECTS(T, nodes, n_nodes, &codec_run_node_shape), .flags = NULLABLE | STAGES,
     .most = CODEC_RUN_NODES_MAX},
    {"executor_lifetimes",
     SHAPE_OBJECTS(T, executor_lifetimes, n_executor_lifetimes, &codec_executor_lifetime_shape),
     .flags = NULLABLE | STAGES, .most = RUN_EXECUTOR_LIFETIMES_MAX},
    {"stages", SHAPE_CODE, .flags = NULLABLE | STAGES, .decode = codec_stages_decode_member,
     .encode = codec_stages_encode_member},
};
const struct shape codec_run_shape = {.request = "RunRecord",
                                      .reply = "Run",
                                      .reply_without = OF_RECORD,
                                      .reply_sometimes = STAGES,
                                      SHAPE_OF(members, T)};

/* --- reading --- */

static int compare_profiles(const void *a, const void *b)
{
    const struct run_resources *x = a;
    const struct run_resources *y = b;
    return compare_int64(x->id, y->id);
}

void codec_run_decode_record(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run *run)
{
    struct codec_run_limits recorded = *limits;
    recorded.as_recorded = true;
    *run = (struct run){.from_log = shape_has(node, &codec_run_shape, OF_LOG)};
    run_clear_log(run);
    shape_decode(node, &codec_run_shape, &recorded, run);
    if (run->id[0] != '\0' && run->id[14] != '7') {
        run->id[0] = '\0';
        codec_fault_member(node, "id", "invalid_id", "must be a UUID of version 7");
    }
    codec_run_nodes_check(node, run);
    codec_executor_lifetimes_check(node, run);
    if (run->n_resources > 0)
        qsort(run->resources, run->n_resources, sizeof *run->resources, compare_profiles);
    if (run->log_digest.at != NULL && run->spark_application_id.at == NULL)
        codec_fault_member(node, "spark_application_id", "required", "is required with log_digest");
}

/* --- writing --- */

void codec_run_encode(struct writer *w,
                      const struct run *run,
                      struct strview application,
                      unsigned include)
{
    const struct codec_run_context context = {.application = application,
                                              .with_tasks = (include & CODEC_RUN_TASKS) != 0};
    unsigned without = (include & CODEC_RUN_RECORD) != 0 ? OF_REPLY : OF_RECORD;
    /* A reply has the same members whatever the run came from; in a record those of a log make it
     * one. */
    if (!run->from_log && (include & CODEC_RUN_RECORD) != 0)
        without |= OF_LOG;
    if ((include & (CODEC_RUN_STAGES | CODEC_RUN_TASKS)) == 0)
        without |= STAGES;
    shape_encode(w, &codec_run_shape, run, without, &context);
}

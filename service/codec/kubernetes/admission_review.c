#include "codec/kubernetes/admission_review.h"

#include <math.h>
#include <stdio.h>

#include "base/nearest.h"
#include "codec/kubernetes/annotation_value.h"

static const char API_VERSION[] = "admission.k8s.io/v1";
#define ANNOTATIONS "provisor/"

/* --- request --- */

static const char *text_at(const struct json_value *object, const char *key)
{
    const char *text = json_value_text(json_value_member(object, key));
    return text == NULL ? "" : text;
}

static void expect_word(const struct codec_node *node, const char *key, const char *word)
{
    struct codec_node member = codec_member(node, key);
    if (!strview_is(codec_string(&member), word))
        codec_fault_member(node, key, member.json == NULL ? "required" : "not_allowed",
                           "must be %s", word);
}

struct reading {
    struct arena *arena;
    const struct json_value *request;
    const struct json_value *object;
    const struct json_value *annotations;
    struct admission_review *review;
    bool memory; /* there was not enough */
};

static struct strview keep_text(struct reading *reading, const char *text, size_t n)
{
    struct strview copy = arena_copy(reading->arena, (struct strview){text, n});
    reading->memory = reading->memory || copy.at == NULL;
    return copy;
}

/* at == NULL: there is no such annotation. */
static struct strview annotation(const struct reading *reading, const char *key)
{
    return json_value_view(json_value_member(reading->annotations, key));
}

static void settle(struct reading *reading, enum review_concern concern, const char *why)
{
    if (reading->review->concern != REVIEW_ASKS)
        return;
    reading->review->concern = concern;
    (void)snprintf(reading->review->why, sizeof reading->review->why, "%s%s",
                   why[0] == '\0' ? "" : "provisor: ", why);
}

/* Which kinds there is something to say about, and where they have their specification. */
static const struct spark_kind {
    const char *group, *version, *kind;
    const char *specification;
    enum spark_operator of;
} spark_kinds[] = {
    {"sparkoperator.k8s.io", "v1beta2", "SparkApplication", "/spec", SPARK_OPERATOR_KUBEFLOW},
    {"sparkoperator.k8s.io", "v1beta2", "ScheduledSparkApplication", "/spec/template",
     SPARK_OPERATOR_KUBEFLOW},
    {"spark.apache.org", "v1", "SparkApplication", "/spec", SPARK_OPERATOR_APACHE},
    {"spark.apache.org", "v1beta1", "SparkApplication", "/spec", SPARK_OPERATOR_APACHE},
};

/* NULL: it is none of them. */
static const struct spark_kind *kind_of(const struct json_value *request)
{
    const struct json_value *kind = json_value_member(request, "kind");
    for (size_t i = 0; i < sizeof spark_kinds / sizeof *spark_kinds; i++)
        if (strcmp(text_at(kind, "group"), spark_kinds[i].group) == 0 &&
            strcmp(text_at(kind, "version"), spark_kinds[i].version) == 0 &&
            strcmp(text_at(kind, "kind"), spark_kinds[i].kind) == 0)
            return &spark_kinds[i];
    return NULL;
}

/* A change of anything but the specification, such as a label or a finalizer, asks nothing. */
static bool is_new_specification(const struct reading *reading)
{
    const char *operation = text_at(reading->request, "operation");
    const struct json_value *old = json_value_member(reading->request, "oldObject");
    if (strcmp(operation, "CREATE") == 0)
        return true;
    return strcmp(operation, "UPDATE") == 0 &&
           !json_value_equal(json_value_member(old, "spec"),
                             json_value_member(reading->object, "spec"));
}

static bool has_annotations(const struct json_value *annotations)
{
    for (size_t i = 0; i < json_value_members(annotations); i++) {
        if (strncmp(json_value_key(annotations, i), ANNOTATIONS, strlen(ANNOTATIONS)) == 0)
            return true;
    }
    return false;
}

static bool is_known(const char *name, struct nearest *nearest)
{
    static const char *const known[] = {"action",       "application", "apply",         "cluster",
                                        "confidence",   "deadline",    "max-executors", "preserve",
                                        "problem-size", "speculation"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0)
            return true;
        nearest_try(nearest, name, known[i]);
    }
    return false;
}

/* Most are typing errors. */
static void read_unknown(struct reading *reading)
{
    struct admission_review *review = reading->review;
    for (size_t i = 0; i < json_value_members(reading->annotations); i++) {
        const char *key = json_value_key(reading->annotations, i);
        struct nearest nearest = {NULL, 0};
        char name[65];
        if (strncmp(key, ANNOTATIONS, strlen(ANNOTATIONS)) != 0 ||
            is_known(key + strlen(ANNOTATIONS), &nearest) ||
            review->n_unknown == REVIEW_UNKNOWN_MAX)
            continue;
        strview_shorten(strview_of(key + strlen(ANNOTATIONS)), name, sizeof name);
        const char *text =
            nearest.word == NULL
                ? arena_printf(reading->arena, "provisor: there is no annotation " ANNOTATIONS "%s",
                               name)
                : arena_printf(reading->arena,
                               "provisor: there is no annotation " ANNOTATIONS
                               "%s. Did you mean " ANNOTATIONS "%s?",
                               name, nearest.word);
        reading->memory = reading->memory || text == NULL;
        review->unknown[review->n_unknown++] = text;
    }
}

/* Words of provisor/action. */
static void read_action(struct reading *reading)
{
    struct strview action = annotation(reading, ANNOTATIONS "action");
    reading->review->question.only_warns = strview_is(action, "warn");
    if (strview_is(action, "off")) {
        settle(reading, REVIEW_NONE, "");
        reading->review->n_unknown = 0;
    } else if (action.at != NULL && !strview_is(action, "warn") && !strview_is(action, "enforce"))
        settle(reading, REVIEW_FAULTY,
               "the annotation provisor/action must be off, warn or enforce");
}

/* Kinds with commas or blanks between them. */
static void read_apply(struct reading *reading)
{
    const char *at = annotation(reading, ANNOTATIONS "apply").at;
    while (at != NULL && *(at += strspn(at, ", \t\r\n")) != '\0') {
        size_t n = strcspn(at, ", \t\r\n");
        unsigned kind = spark_proposal_of((struct strview){at, n});
        reading->review->question.apply |= kind;
        at += n;
        if (kind != 0)
            continue;
        const char *why = "the annotation provisor/apply must list kinds of changes:";
        for (size_t i = 0; why != NULL && spark_proposal_words[i] != NULL; i++)
            why = arena_printf(reading->arena, "%s%s %s", why, i == 0 ? "" : ",",
                               spark_proposal_words[i]);
        reading->memory = reading->memory || why == NULL;
        settle(reading, REVIEW_FAULTY, why == NULL ? "" : why);
        return;
    }
}

static void read_speculation(struct reading *reading)
{
    struct strview speculation = annotation(reading, ANNOTATIONS "speculation");
    if (strview_is(speculation, "true"))
        reading->review->question.apply |= PROPOSAL_SPECULATION;
    if (speculation.at != NULL && !strview_is(speculation, "true") &&
        !strview_is(speculation, "false"))
        settle(reading, REVIEW_FAULTY, "the annotation provisor/speculation must be true or false");
}

static void read_max_executors(struct reading *reading)
{
    struct strview most = annotation(reading, ANNOTATIONS "max-executors");
    reading->review->question.max_executors = RUN_UNKNOWN;
    if (most.at != NULL && !annotation_count(most, &reading->review->question.max_executors))
        settle(reading, REVIEW_FAULTY,
               "the annotation provisor/max-executors must be a whole number of at least 1");
}

static void read_value(struct reading *reading,
                       const char *key,
                       bool (*read)(struct strview, double *),
                       double *value,
                       const char *why)
{
    struct strview text = annotation(reading, key);
    *value = (double)NAN;
    if (text.at != NULL && !read(text, value))
        settle(reading, REVIEW_FAULTY, why);
}

static bool read_share(struct strview text, double *share)
{
    return annotation_number(text, share) && *share > 0 && *share < 1;
}

/* Keys with commas or blanks between them. */
static void read_preserve(struct reading *reading)
{
    struct review_question *question = &reading->review->question;
    const char *at = annotation(reading, ANNOTATIONS "preserve").at;
    question->preserve =
        arena_array(reading->arena, at == NULL ? 0 : REVIEW_KEYS_MAX, sizeof *question->preserve);
    reading->memory = reading->memory || question->preserve == NULL;
    while (!reading->memory && at != NULL && *(at += strspn(at, ", \t\r\n")) != '\0') {
        size_t n = strcspn(at, ", \t\r\n");
        if (question->n_preserve == REVIEW_KEYS_MAX) {
            settle(reading, REVIEW_FAULTY,
                   "the annotation provisor/preserve lists more than 100 keys");
            return;
        }
        question->preserve[question->n_preserve++] = keep_text(reading, at, n);
        at += n;
    }
}

/* A generated name is the prefix and five characters behind it. */
static struct strview object_name(const struct reading *reading)
{
    const struct json_value *metadata = json_value_member(reading->object, "metadata");
    struct strview application = spark_object_conf(&reading->review->object, "spark.app.name");
    struct strview name = strview_of(text_at(metadata, "name"));
    if (application.n > 0)
        return application;
    if (name.n > 0)
        return name;
    name = strview_of(text_at(metadata, "generateName"));
    while (name.n > 0 && name.at[name.n - 1] == '-')
        name.n--;
    return name;
}

static void read_application(struct reading *reading)
{
    struct strview name = annotation(reading, ANNOTATIONS "application");
    if (name.at == NULL)
        name = object_name(reading);
    reading->review->question.application =
        name.n == 0 ? (struct strview){NULL, 0} : keep_text(reading, name.at, name.n);
    if (name.n == 0)
        settle(reading, REVIEW_HALF,
               "the object has no name: the annotation provisor/application gives one");
}

static void read_annotations(struct reading *reading)
{
    struct review_question *question = &reading->review->question;
    struct strview cluster = annotation(reading, ANNOTATIONS "cluster");
    read_unknown(reading);
    read_action(reading);
    read_speculation(reading);
    read_apply(reading);
    read_max_executors(reading);
    read_value(reading, ANNOTATIONS "problem-size", annotation_size, &question->problem_size,
               "the annotation provisor/problem-size must be a number of blocks, such as 64, or of "
               "bytes with a unit, such as 8GiB");
    read_value(reading, ANNOTATIONS "deadline", annotation_duration, &question->deadline_s,
               "the annotation provisor/deadline must be a length of time such as 90s or 1h30m");
    read_value(reading, ANNOTATIONS "confidence", read_share, &question->confidence,
               "the annotation provisor/confidence must be a number above 0 and below 1");
    read_preserve(reading);
    if (cluster.at != NULL)
        question->cluster = keep_text(reading, cluster.at, cluster.n);
    if (isnan(question->deadline_s))
        settle(reading, REVIEW_HALF, "there is no advice without the annotation provisor/deadline");
    if (isnan(question->problem_size))
        settle(reading, REVIEW_HALF,
               "there is no advice without the annotation provisor/problem-size");
    read_application(reading);
}

/* A kind of another operator, or of another version. */
static bool is_of_spark(const struct json_value *kind)
{
    return strstr(text_at(kind, "group"), "spark") != NULL ||
           strstr(text_at(kind, "kind"), "Spark") != NULL;
}

/* The author asks, and would wait for an answer in vain. */
static void refuse_kind(struct reading *reading)
{
    const struct json_value *kind = json_value_member(reading->request, "kind");
    char group[49], version[25], name[49], why[REVIEW_WHY_MAX];
    strview_shorten(strview_of(text_at(kind, "group")), group, sizeof group);
    strview_shorten(strview_of(text_at(kind, "version")), version, sizeof version);
    strview_shorten(strview_of(text_at(kind, "kind")), name, sizeof name);
    (void)snprintf(why, sizeof why, "%s of %s/%s is not known, and is admitted unchanged", name,
                   group, version);
    bool is_off = strview_is(annotation(reading, ANNOTATIONS "action"), "off");
    settle(reading, is_of_spark(kind) && !is_off ? REVIEW_HALF : REVIEW_NONE, why);
}

static void read_object(struct reading *reading)
{
    struct admission_review *review = reading->review;
    const struct spark_kind *kind = kind_of(reading->request);
    const struct json_value *spec = json_value_member(reading->object, "spec");
    if (text_at(reading->request, "subResource")[0] != '\0' ||
        !has_annotations(reading->annotations) || !is_new_specification(reading))
        return;
    review->concern = REVIEW_ASKS;
    if (kind == NULL) {
        refuse_kind(reading);
        return;
    }
    if (strcmp(kind->specification, "/spec") != 0)
        spec = json_value_member(spec, "template");
    if (spark_object_read(spec, kind->specification, kind->of, reading->arena, &review->object,
                          &reading->memory))
        read_annotations(reading);
    else
        review->concern = REVIEW_NONE;
}

void codec_admission_review_decode(const struct codec_node *node, struct admission_review *review)
{
    *review = (struct admission_review){.concern = REVIEW_NONE};
    expect_word(node, "apiVersion", API_VERSION);
    expect_word(node, "kind", "AdmissionReview");
    struct codec_node request = codec_object(node, "request", CODEC_REQUIRED);
    if (request.json == NULL)
        return;
    review->uid = codec_text(&request, "uid", CODEC_REQUIRED, 1, 128);
    review->dry_run = codec_boolean(&request, "dryRun", CODEC_NULLABLE, false);
    struct reading reading = {.arena = node->reader->arena,
                              .request = request.json,
                              .object = json_value_member(request.json, "object"),
                              .review = review};
    reading.annotations =
        json_value_member(json_value_member(reading.object, "metadata"), "annotations");
    read_object(&reading);
    if (reading.memory)
        (void)pv_no_memory(node->reader->err);
}

/* --- identity --- */

struct strview codec_admission_review_identity(const struct codec_node *node, struct arena *arena)
{
    static const char *const members[] = {"kind",   "subResource", "operation",
                                          "object", "oldObject",   "dryRun"};
    enum { MEMBERS = sizeof members / sizeof *members };
    const struct json_value *request = json_value_member(node->json, "request");
    struct strview text = {NULL, 0};
    struct writer w;
    writer_init(&w, arena);
    for (size_t i = 0; i < MEMBERS; i++) {
        json_value_write(&w, json_value_member(request, members[i]), true);
        writer_end_line(&w); /* no JSON text has one that is written compactly */
    }
    text.at = writer_finish(&w, &text.n);
    return text;
}

/* --- answer --- */

static void write_status(struct writer *w, const struct admission_answer *answer)
{
    if (answer->code == 0)
        return;
    writer_member_object(w, "status");
    writer_member_integer(w, "code", answer->code);
    writer_member_string(w, "message", answer->message);
    writer_end_object(w);
}

static void write_warnings(struct writer *w, const struct admission_answer *answer)
{
    if (answer->n_warnings == 0)
        return;
    writer_member_array(w, "warnings");
    for (size_t i = 0; i < answer->n_warnings; i++) {
        char text[REVIEW_WARNING_BYTES_MAX + 1];
        strview_shorten(strview_of(answer->warnings[i]), text, sizeof text);
        writer_string(w, text);
    }
    writer_end_array(w);
}

static void write_audit(struct writer *w, const struct admission_answer *answer)
{
    if (answer->verdict == NULL)
        return;
    writer_member_object(w, "auditAnnotations");
    writer_member_string(w, "verdict", answer->verdict);
    if (answer->advice != NULL)
        writer_member_string(w, "advice", answer->advice);
    writer_end_object(w);
}

void codec_admission_answer_encode(struct writer *w,
                                   struct strview uid,
                                   const struct admission_answer *answer)
{
    writer_begin_object(w);
    writer_member_string(w, "apiVersion", API_VERSION);
    writer_member_string(w, "kind", "AdmissionReview");
    writer_member_object(w, "response");
    writer_member_text(w, "uid", uid);
    writer_member_boolean(w, "allowed", answer->allowed);
    write_status(w, answer);
    write_warnings(w, answer);
    if (answer->patch != NULL) {
        writer_member_string(w, "patchType", "JSONPatch");
        writer_member_string(w, "patch", answer->patch);
    }
    write_audit(w, answer);
    writer_end_object(w);
    writer_end_object(w);
}

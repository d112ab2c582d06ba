#include "codec/kubernetes/admission_question.h"

#include <math.h>

#include "core/joblog/spark/properties.h"

#define DYNAMIC_ALLOCATION "spark.dynamicAllocation.enabled"

/* Spark's default of a property that the object does not set but that recorded runs may have had. The
 * external shuffle service is part of YARN. */
static struct strview default_of(const struct spark_object *object, const char *key)
{
    bool is_service = strcmp(key, "spark.shuffle.service.enabled") == 0;
    bool counts =
        spark_object_is_dynamic(object) ? is_service : strcmp(key, DYNAMIC_ALLOCATION) == 0;
    return counts ? strview_of("false") : (struct strview){NULL, 0};
}

/* Of what an object says only what is kept of logs, too: sparkConf may hold secrets. */
static void write_current(struct writer *w, const struct spark_object *object)
{
    writer_member_object(w, "current");
    for (size_t i = 0; i < properties_count(); i++) {
        struct strview value = spark_object_property(object, properties_key(i));
        if (value.at == NULL)
            value = default_of(object, properties_key(i));
        if (value.at != NULL)
            writer_member_text(w, properties_key(i), value);
    }
    writer_end_object(w);
}

static bool is_repeated(const struct review_question *question, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strview_equal(question->preserve[k], question->preserve[i]))
            return true;
    return false;
}

/* With dynamic allocation the number of instances is the initial one, which no advice is about. */
static bool is_enforced(const struct admission_review *review, struct strview key)
{
    bool unused =
        spark_object_is_dynamic(&review->object) && strview_is(key, "spark.executor.instances");
    return !unused && properties_keep(key) &&
           spark_object_property(&review->object, key.at).at != NULL;
}

static void write_preserved(struct writer *w, const struct admission_review *review)
{
    const struct review_question *question = &review->question;
    writer_member_object(w, "enforced");
    for (size_t i = 0; i < question->n_preserve; i++) {
        struct strview key = question->preserve[i];
        if (!is_repeated(question, i) && is_enforced(review, key))
            writer_member_text(w, key.at, spark_object_property(&review->object, key.at));
    }
    writer_end_object(w);
    writer_member_array(w, "exclude");
    for (size_t i = 0; i < question->n_preserve; i++)
        if (!is_repeated(question, i) && !is_enforced(review, question->preserve[i]))
            writer_text(w, question->preserve[i]);
    writer_end_array(w);
}

/* Dynamic allocation may take fewer executors than it is allowed. */
static void write_asked(struct writer *w, const struct spark_object *object)
{
    int64_t executors = spark_object_executors(object);
    int64_t cores = spark_object_cores(object);
    if (executors != RUN_UNKNOWN) {
        if (!spark_object_is_dynamic(object))
            writer_member_integer(w, "min_executors", executors);
        writer_member_integer(w, "max_executors", executors);
    }
    if (cores != RUN_UNKNOWN)
        writer_member_integer(w, "cores_per_executor", cores);
}

static void write_applied(struct writer *w, unsigned apply)
{
    writer_member_array(w, "apply");
    for (size_t i = 0; spark_proposal_words[i] != NULL; i++)
        if ((apply & 1U << i) != 0)
            writer_string(w, spark_proposal_words[i]);
    writer_end_array(w);
}

static void write_constraints(struct writer *w, const struct admission_review *review, bool chooses)
{
    writer_member_object(w, "constraints");
    if (review->question.cluster.at != NULL)
        writer_member_text(w, "cluster", review->question.cluster);
    writer_member_boolean(w, "dynamic_allocation", spark_object_is_dynamic(&review->object));
    write_current(w, &review->object);
    if (chooses && review->question.max_executors != RUN_UNKNOWN)
        writer_member_integer(w, "max_executors", review->question.max_executors);
    if (chooses)
        write_preserved(w, review);
    else
        write_asked(w, &review->object);
    writer_end_object(w);
}

void codec_admission_question_encode(struct writer *w,
                                     const struct admission_review *review,
                                     bool chooses)
{
    const struct review_question *question = &review->question;
    writer_begin_object(w);
    writer_member_text(w, "application", question->application);
    writer_member_number(w, "problem_size", question->problem_size);
    writer_member_number(w, "deadline_s", question->deadline_s);
    if (!isnan(question->confidence))
        writer_member_number(w, "confidence", question->confidence);
    write_constraints(w, review, chooses);
    if (question->apply != 0)
        write_applied(w, question->apply);
    writer_end_object(w);
}

const char *codec_admission_origin(const char *pointer, bool chooses)
{
    static const struct {
        const char *pointer;
        const char *origin;
    } origins[] = {
        {"/application", "the application (annotation provisor/application)"},
        {"/problem_size", "the annotation provisor/problem-size"},
        {"/deadline_s", "the annotation provisor/deadline"},
        {"/confidence", "the annotation provisor/confidence"},
        {"/constraints/cluster", "the annotation provisor/cluster"},
        {"/constraints/enforced", "a property of the annotation provisor/preserve"},
        {"/constraints/exclude", "a key in the annotation provisor/preserve"},
        {"/constraints/current", "a property of the object"},
        {"/constraints/cores_per_executor", "spec.executor.cores"},
    };
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        size_t n = strlen(origins[i].pointer);
        if (strncmp(pointer, origins[i].pointer, n) == 0 &&
            (pointer[n] == '\0' || pointer[n] == '/'))
            return origins[i].origin;
    }
    if (chooses && strcmp(pointer, "/constraints/max_executors") == 0)
        return "the annotation provisor/max-executors";
    return "the number of executors";
}

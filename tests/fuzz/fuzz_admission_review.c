/*
 * Any bytes as the body of POST /v1/kubernetes/admission. What is no review says where it is wrong. A
 * review that asks has a question that is JSON, read by the codec of advice without a crash, and its
 * patch is a list of operations below the specification, none of them on a key that is preserved.
 */
#include <jansson.h>
#include <string.h>

#include "codec/advice/advice.h"
#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/spark_patch.h"
#include "fuzz_body.h"

static const struct codec_advice_limits limits = {
    .run = {.stages = 8, .tasks = 100, .labels = 8}, .executors = 1000, .cores = 10000};
static const struct codec_bounds bounds = {.depth = 64, .values = 100000};

static void
require_question(const struct admission_review *review, bool chooses, struct arena *arena)
{
    struct pv_error err = {0};
    struct codec_document body;
    struct advice_question question;
    struct writer w;
    size_t n = 0;
    writer_init(&w, arena);
    codec_admission_question_encode(&w, review, chooses);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    FUZZ_REQUIRE(codec_open(&body, text, n, &bounds, arena, &err) == PV_OK);
    codec_advice_decode(&body.top, &limits, &question);
    if (codec_close(&body) != PV_OK)
        FUZZ_REQUIRE(err.n_faults > 0 && codec_admission_origin(err.faults[0].at, chooses) != NULL);
}

static void require_operations(json_t *operations, size_t n)
{
    size_t i;
    json_t *operation;
    FUZZ_REQUIRE(json_array_size(operations) == n);
    json_array_foreach(operations, i, operation)
    {
        const char *path = json_string_value(json_object_get(operation, "path"));
        FUZZ_REQUIRE(path != NULL && strncmp(path, "/spec/", strlen("/spec/")) == 0);
        FUZZ_REQUIRE((strcmp(json_string_value(json_object_get(operation, "op")), "add") == 0) ==
                     (json_object_get(operation, "value") != NULL));
    }
}

static void require_patch(const struct admission_review *review, struct arena *arena)
{
    struct spark_property properties[] = {{"spark.executor.cores", "4"},
                                          {"spark.executor.instances", "9"},
                                          {"spark.executor.memory", "8g"},
                                          {"spark.sql.shuffle.partitions", "36"}};
    struct spark_change changes[] = {{.key = "spark.dynamicAllocation.maxExecutors"},
                                     {.key = "spark.speculation"}};
    const struct spark_configuration advised = {
        .properties = properties, .n = 4, .changes = changes, .n_changes = 2};
    struct writer w;
    size_t n = 0;
    writer_init(&w, arena);
    size_t operations = spark_patch_encode(&w, &review->object, &advised, review->question.preserve,
                                           review->question.n_preserve, "id");
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    require_operations(json, operations);
    json_decref(json);
    FUZZ_REQUIRE(strlen(spark_patch_base64(arena, (struct strview){text, n})) == (n + 2) / 3 * 4);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct admission_review review;
    codec_admission_review_decode(top, &review);
    if (!fuzz_body_is_taken(top))
        return;
    FUZZ_REQUIRE(review.uid.n > 0);
    FUZZ_REQUIRE((review.why[0] != '\0') ==
                 (review.concern == REVIEW_HALF || review.concern == REVIEW_FAULTY));
    if (review.concern != REVIEW_ASKS)
        return;
    require_question(&review, true, arena);
    require_question(&review, false, arena);
    require_patch(&review, arena);
}

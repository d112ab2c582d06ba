#include "codec/kubernetes/admission_review.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/annotation_value.h"
#include "codec/kubernetes/spark_patch.h"

static const struct codec_bounds bounds = {.depth = 64, .values = 100000};

/* What a review decodes to; lives until the next one. */
static struct admission_review review;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_admission_review_decode(&document.top, &review);
    return codec_close(&document);
}

#define KIND                                                                                       \
    "{\"group\":\"sparkoperator.k8s.io\",\"version\":\"v1beta2\",\"kind\":\"SparkApplication\"}"
#define REVIEW(operation, metadata, spec, more)                                                    \
    "{\"apiVersion\":\"admission.k8s.io/"                                                          \
    "v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\","                                \
    "\"kind\":" KIND ",\"operation\":\"" operation "\",\"object\":{\"metadata\":" metadata         \
    ",\"spec\":" spec "}" more "}}"
#define ASKED                                                                                      \
    "{\"name\":\"etl\",\"annotations\":{\"provisor/deadline\":\"90s\",\"provisor/"                 \
    "problem-size\":\"64\"}}"
#define SPEC "{\"executor\":{\"instances\":4,\"cores\":2,\"memory\":\"4g\"}}"

Test(admission_review, annotations_make_a_question)
{
    cr_assert_eq(decode(REVIEW("CREATE", ASKED, SPEC, ",\"dryRun\":true")), PV_OK);
    cr_expect_eq(review.concern, REVIEW_ASKS);
    cr_expect(review.dry_run && !review.question.only_warns);
    cr_expect_str_eq(review.uid.at, "u");
    cr_expect_str_eq(review.question.application.at, "etl");
    cr_expect(review.question.deadline_s == 90 && review.question.problem_size == 64);
    cr_expect(isnan(review.question.confidence));
    cr_expect_eq(spark_object_executors(&review.object), 4);
    cr_expect_eq(spark_object_cores(&review.object), 2);
}

Test(admission_review, names_come_from_annotation_property_object_or_prefix)
{
    static const struct {
        const char *body;
        const char *name;
    } cases[] = {
        {REVIEW("CREATE",
                "{\"name\":\"n\",\"annotations\":{\"provisor/deadline\":\"1s\",\"provisor/problem-"
                "size\":\"1\",\"provisor/application\":\"a\"}}",
                "{\"sparkConf\":{\"spark.app.name\":\"p\"}}", ""),
         "a"},
        {REVIEW("CREATE", ASKED, "{\"sparkConf\":{\"spark.app.name\":\"p\"}}", ""), "p"},
        {REVIEW("CREATE",
                "{\"generateName\":\"etl--\",\"annotations\":{\"provisor/deadline\":\"1s\","
                "\"provisor/problem-size\":\"1\"}}",
                "{}", ""),
         "etl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode(cases[i].body), PV_OK);
        cr_assert_eq(review.concern, REVIEW_ASKS, "case %zu: %s", i, review.why);
        cr_expect_str_eq(review.question.application.at, cases[i].name);
    }
}

Test(admission_review, what_has_no_name_asks_nothing)
{
    cr_assert_eq(
        decode(REVIEW("CREATE",
                      "{\"generateName\":\"-\",\"annotations\":{\"provisor/deadline\":\"1s\","
                      "\"provisor/problem-size\":\"1\"}}",
                      "{}", "")),
        PV_OK);
    cr_expect_eq(review.concern, REVIEW_HALF);
    cr_expect(strstr(review.why, "provisor/application") != NULL);
}

Test(admission_review, an_update_counts_where_the_specification_differs)
{
    cr_assert_eq(decode(REVIEW("UPDATE", ASKED, SPEC, ",\"oldObject\":{\"spec\":" SPEC "}")),
                 PV_OK);
    cr_expect_eq(review.concern, REVIEW_NONE);
    cr_assert_eq(decode(REVIEW("UPDATE", ASKED, SPEC, ",\"oldObject\":{\"spec\":{}}")), PV_OK);
    cr_expect_eq(review.concern, REVIEW_ASKS);
    cr_assert_eq(decode(REVIEW("UPDATE", ASKED, SPEC, ",\"oldObject\":null")), PV_OK);
    cr_expect_eq(review.concern, REVIEW_ASKS);
    cr_assert_eq(decode(REVIEW("DELETE", ASKED, SPEC, "")), PV_OK);
    cr_expect_eq(review.concern, REVIEW_NONE);
}

Test(admission_review, the_first_fault_of_annotations_is_reported)
{
    cr_assert_eq(decode(REVIEW("CREATE",
                               "{\"name\":\"n\",\"annotations\":{\"provisor/deadline\":\"soon\","
                               "\"provisor/confidence\":\"2\"}}",
                               "{}", "")),
                 PV_OK);
    cr_expect_eq(review.concern, REVIEW_FAULTY);
    cr_expect(strstr(review.why, "provisor/deadline") != NULL);
}

Test(admission_review, what_is_no_review_is_a_fault)
{
    cr_expect_eq(decode("{}"), PV_E_INVALID);
    cr_expect_eq(err.n_faults, 3);
    cr_expect_eq(decode("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                        "\"request\":{}}"),
                 PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/request/uid");
}

Test(annotation_value, lengths_of_time)
{
    static const struct {
        const char *text;
        double seconds; /* 0: none */
    } cases[] = {{"90s", 90},    {"1h30m", 5400}, {"1.5h", 5400}, {"90", 90},  {"250ms", 0.25},
                 {"2d", 172800}, {"", 0},         {"0s", 0},      {"s", 0},    {"1h30", 0},
                 {"1x", 0},      {"-5s", 0},      {"1 h", 0},     {".5s", 0},  {"1.2.3s", 0},
                 {"1e3", 0},     {"0x10", 0},     {"inf", 0},     {"1h 1m", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = -1;
        bool good = annotation_duration(strview_of(cases[i].text), &seconds);
        cr_expect_eq(good, cases[i].seconds > 0, "%s", cases[i].text);
        cr_expect(!good || fabs(seconds - cases[i].seconds) < 1e-9, "%s", cases[i].text);
    }
}

Test(annotation_value, sizes_count_blocks_or_bytes)
{
    static const struct {
        const char *text;
        double blocks;
    } cases[] = {{"64", 64},          {"8.5", 8.5},   {"8GiB", 64},   {"128MiB", 1},
                 {"134217728B", 1},   {"1TiB", 8192}, {"", 0},        {"0", 0},
                 {"8 GiB", 0},        {"8gib", 0},    {"GiB", 0},     {"8GiBx", 0},
                 {"8Gi", 64},         {"8G", 64},     {"8g", 64},     {"128m", 1},
                 {"128M", 1},         {"131072k", 1}, {"131072K", 1}, {"1t", 8192},
                 {"134.217728MB", 1}, {"8gi", 0},     {"8P", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double blocks = -1;
        bool good = annotation_size(strview_of(cases[i].text), &blocks);
        cr_expect_eq(good, cases[i].blocks > 0, "%s", cases[i].text);
        cr_expect(!good || fabs(blocks - cases[i].blocks) < 1e-9, "%s", cases[i].text);
    }
}

static const char *identity(const char *body)
{
    struct codec_document document;
    struct pv_error why = {0};
    cr_assert_eq(codec_open(&document, body, strlen(body), &bounds, &arena, &why), PV_OK);
    struct strview text = codec_admission_review_identity(&document.top, &arena);
    const char *kept = arena_strndup(&arena, text.at, text.n);
    cr_assert_eq(codec_close(&document), PV_OK);
    return kept;
}

Test(admission_review, an_identity_is_that_of_the_object)
{
    static const char one[] = REVIEW("CREATE", ASKED, SPEC, ",\"dryRun\":false");
    static const char reordered[] =
        REVIEW("CREATE", ASKED, "{\"executor\":{\"memory\":\"4g\",\"cores\":2,\"instances\":4}}",
               ",\"userInfo\":{\"username\":\"x\"},\"dryRun\":false");
    static const char other[] =
        REVIEW("CREATE", ASKED, "{\"executor\":{\"instances\":5}}", ",\"dryRun\":false");
    arena_init(&arena, 0);
    cr_expect_str_eq(identity(one), identity(reordered));
    cr_expect_str_neq(identity(one), identity(other));
    cr_expect_str_neq(identity(one), identity(REVIEW("UPDATE", ASKED, SPEC, ",\"dryRun\":false")));
    cr_expect_str_neq(identity(one), identity(REVIEW("CREATE", ASKED, SPEC, ",\"dryRun\":true")));
    cr_expect(strlen(identity("{}")) > 0);
}

/* --- the question --- */

static const char *question(bool chooses)
{
    struct writer w;
    size_t n = 0;
    writer_init(&w, &arena);
    codec_admission_question_encode(&w, &review, chooses);
    return writer_finish(&w, &n);
}

Test(admission_question, what_is_preserved_is_enforced_where_it_is_set_and_left_out_elsewhere)
{
    cr_assert_eq(
        decode(REVIEW("CREATE",
                      "{\"name\":\"etl\",\"annotations\":{\"provisor/deadline\":\"90s\",\"provisor/"
                      "problem-size\":\"64\",\"provisor/preserve\":\"spark.executor.cores, "
                      "spark.speculation spark.executor.cores\"}}",
                      SPEC, "")),
        PV_OK);
    cr_expect_str_eq(question(true),
                     "{\"application\":\"etl\",\"problem_size\":64,\"deadline_s\":90,"
                     "\"constraints\":{\"dynamic_allocation\":false,\"current\":{"
                     "\"spark.dynamicAllocation.enabled\":\"false\","
                     "\"spark.executor.cores\":\"2\",\"spark.executor.instances\":\"4\","
                     "\"spark.executor.memory\":\"4g\"},\"enforced\":{\"spark.executor.cores\":"
                     "\"2\"},\"exclude\":[\"spark.speculation\"]}}",
                     "named once");
    cr_expect_str_eq(question(false),
                     "{\"application\":\"etl\",\"problem_size\":64,\"deadline_s\":90,"
                     "\"constraints\":{\"dynamic_allocation\":false,\"current\":{"
                     "\"spark.dynamicAllocation.enabled\":\"false\","
                     "\"spark.executor.cores\":\"2\",\"spark.executor.instances\":\"4\","
                     "\"spark.executor.memory\":\"4g\"},\"min_executors\":4,\"max_executors\":4,"
                     "\"cores_per_executor\":2}}");
}

Test(admission_question, secrets_of_the_object_are_no_part_of_it)
{
    cr_assert_eq(
        decode(REVIEW("CREATE",
                      "{\"name\":\"etl\",\"annotations\":{\"provisor/deadline\":\"90s\","
                      "\"provisor/problem-size\":\"64\",\"provisor/preserve\":"
                      "\"spark.hadoop.fs.s3a.secret.key\"}}",
                      "{\"sparkConf\":{\"spark.hadoop.fs.s3a.secret.key\":\"hunter2\"}}", "")),
        PV_OK);
    cr_expect(strstr(question(true), "hunter2") == NULL);
}

/* --- the patch --- */

static const char *patch(const struct spark_configuration *advised, const char *id)
{
    struct writer w;
    size_t n = 0;
    writer_init(&w, &arena);
    (void)spark_patch_encode(&w, &review.object, advised, review.question.preserve,
                             review.question.n_preserve, id);
    return writer_finish(&w, &n);
}

Test(spark_patch, segments_are_escaped_and_sections_made)
{
    struct spark_property properties[] = {{"spark.a/b~c", "1"}, {"spark.executor.instances", "4"}};
    struct spark_change changes[] = {{.key = "spark.dynamicAllocation.minExecutors"},
                                     {.key = "spark.gone", .old_value = "x"}};
    const struct spark_configuration advised = {
        .properties = properties, .n = 2, .changes = changes, .n_changes = 2};
    cr_assert_eq(decode(REVIEW("CREATE", ASKED,
                               "{\"executor\":{\"instances\":3},\"dynamicAllocation\":{"
                               "\"minExecutors\":1}}",
                               "")),
                 PV_OK);
    cr_expect_str_eq(patch(&advised, "id"),
                     "[{\"op\":\"add\",\"path\":\"/spec/sparkConf\",\"value\":{}},"
                     "{\"op\":\"add\",\"path\":\"/spec/sparkConf/spark.a~1b~0c\",\"value\":\"1\"},"
                     "{\"op\":\"add\",\"path\":\"/spec/executor/instances\",\"value\":4},"
                     "{\"op\":\"remove\",\"path\":\"/spec/dynamicAllocation/minExecutors\"},"
                     "{\"op\":\"add\",\"path\":\"/spec/sparkConf/spark.provisor.adviceId\","
                     "\"value\":\"id\"}]");
}

Test(spark_patch, nothing_that_is_there_is_written_again)
{
    struct spark_property properties[] = {{"spark.executor.cores", "2"},
                                          {"spark.executor.memory", "4g"}};
    const struct spark_configuration advised = {.properties = properties, .n = 2};
    cr_assert_eq(decode(REVIEW("CREATE", ASKED, SPEC, "")), PV_OK);
    cr_expect_str_eq(patch(&advised, NULL), "[]");
}

Test(spark_patch, what_is_kept_is_kept_whatever_is_advised)
{
    struct spark_property properties[] = {{"spark.executor.cores", "9"}};
    struct spark_change changes[] = {{.key = "spark.executor.memory"}};
    const struct spark_configuration advised = {
        .properties = properties, .n = 1, .changes = changes, .n_changes = 1};
    struct strview keep[] = {strview_of("spark.executor.memory"),
                             strview_of("spark.executor.cores")};
    cr_assert_eq(decode(REVIEW("CREATE", ASKED, SPEC, "")), PV_OK);
    review.question.preserve = keep;
    review.question.n_preserve = 2;
    cr_expect_str_eq(patch(&advised, NULL), "[]");
}

Test(spark_patch, words_fit_their_room_and_count_what_they_leave_out)
{
    enum { PROPERTIES = 40, TEXTS = 3, ROOM = 247 };
    struct spark_property properties[PROPERTIES];
    struct spark_change changes[] = {{.key = "spark.executor.memory"}};
    const char *texts[TEXTS];
    bool memory = true;
    char keys[PROPERTIES][64];
    for (size_t i = 0; i < PROPERTIES; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "spark.some.rather.long.name.of.a.property.%zu", i);
        properties[i] = (struct spark_property){keys[i], "an even longer value of that property"};
    }
    struct spark_configuration advised = {
        .properties = properties, .n = PROPERTIES, .changes = changes, .n_changes = 1};
    cr_assert_eq(decode(REVIEW("CREATE", ASKED, SPEC, "")), PV_OK);
    cr_assert_eq(spark_patch_describe(&review.object, &advised, NULL, 0, ROOM, &arena, texts, TEXTS,
                                      &memory),
                 TEXTS);
    cr_expect(!memory);
    size_t described = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        cr_expect_lt(strlen(texts[i]), ROOM);
        cr_expect(strncmp(texts[i], "would set spark.some", 20) == 0);
        for (const char *at = texts[i]; (at = strstr(at, "set spark")) != NULL; at++)
            described++;
    }
    char rest[64];
    (void)snprintf(rest, sizeof rest, ", and make %zu other changes", PROPERTIES + 1 - described);
    cr_expect(strstr(texts[TEXTS - 1], rest) != NULL, "%s", texts[TEXTS - 1]);
    advised.n = 0;
    cr_assert_eq(spark_patch_describe(&review.object, &advised, NULL, 0, ROOM, &arena, texts, TEXTS,
                                      &memory),
                 1);
    cr_expect_str_eq(texts[0], "would remove executor.memory (4g)");
}

/* RFC 4648, section 10. */
Test(spark_patch, base64)
{
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"},
                                             {"\xff\xfe\xfd", "//79"}};
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        cr_expect_str_eq(spark_patch_base64(&arena, strview_of(vectors[i][0])), vectors[i][1]);
}

/* --- the answer --- */

Test(admission_answer, warnings_are_cut_between_characters)
{
    char words[601] = "";
    for (size_t i = 0; i < 300; i++)
        memcpy(words + 2 * i, "\xc3\xa9", 3);
    const struct admission_answer answer = {.allowed = true, .warnings = {words}, .n_warnings = 1};
    struct writer w;
    size_t n = 0;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    codec_admission_answer_encode(&w, strview_of("u"), &answer);
    const char *text = writer_finish(&w, &n);
    json_t *parsed = json_loadb(text, n, 0, NULL);
    cr_assert_not_null(parsed);
    const char *warning = json_string_value(
        json_array_get(json_object_get(json_object_get(parsed, "response"), "warnings"), 0));
    cr_expect(strlen(warning) <= REVIEW_WARNING_BYTES_MAX && strlen(warning) > 250);
    json_decref(parsed);
}

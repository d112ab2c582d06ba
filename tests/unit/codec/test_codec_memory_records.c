/* What clients send to be stored, and admission reviews, when memory fails. */
#include <criterion/criterion.h>

#include "codec/access/access.h"
#include "codec/clusters/cluster.h"
#include "codec/clusters/cluster_samples.h"
#include "codec/clusters/price_book.h"
#include "codec/clusters/price_csv.h"
#include "codec/history/application.h"
#include "codec/history/name_rules.h"
#include "codec/history/run.h"
#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/spark_patch.h"
#include "codec/webhooks/webhook.h"
#include "codec_memory.h"
#include "failing_malloc.h"

TestSuite(codec_memory_records, .init = codec_memory_set_up, .timeout = 300);

/* --- resources --- */

static enum pv_code token(const struct codec_node *top, struct pv_error *err)
{
    struct token token;
    struct writer w;
    codec_token_decode(top, &token);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_token_encode(&w, &token);
    return codec_memory_finish(&w, err);
}

static enum pv_code cluster(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_cluster_limits limits = {.labels = 8, .cores = 1000};
    struct cluster cluster;
    struct writer w;
    codec_cluster_decode(top, &limits, &cluster);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_cluster_encode(&w, &cluster);
    return codec_memory_finish(&w, err);
}

static enum pv_code webhook(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_webhook_limits limits = {.labels = 8};
    struct webhook webhook;
    struct writer w;
    codec_webhook_decode(top, &limits, &webhook);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_webhook_encode(&w, &webhook, true);
    return codec_memory_finish(&w, err);
}

static enum pv_code price_book(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_price_book_limits limits = {.rows = 8};
    struct price_book book;
    struct writer w;
    size_t n;
    codec_price_book_decode(top, &limits, &book);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_price_book_encode(&w, &book, true);
    PV_TRY(codec_memory_finish(&w, err));
    return codec_price_csv_encode(&book, top->reader->arena, &n) == NULL ? pv_no_memory(err)
                                                                         : PV_OK;
}

static enum pv_code application(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_application_limits limits = {.labels = 8};
    struct application application;
    struct writer w;
    codec_application_decode(top, &limits, &application);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_application_encode(&w, &application, APPLICATION_LAST_RUN | APPLICATION_LAST_ADVICE);
    return codec_memory_finish(&w, err);
}

static enum pv_code name_rules(const struct codec_node *top, struct pv_error *err)
{
    struct codec_name_rules rules;
    struct writer w;
    codec_name_rules_decode(top, &rules);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_name_rules_encode(&w, true, rules.rules, rules.n);
    return codec_memory_finish(&w, err);
}

Test(codec_memory_records, resources)
{
    cr_expect_gt(
        codec_memory_one("{\"name\":\"ci\",\"scopes\":[\"read\",\"write\"],\"team\":\"t\"}", token),
        2);
    cr_expect_gt(
        codec_memory_one(
            "{\"url\":\"https://a\",\"events\":[\"run.ingested\"],\"applications\":[\"a\"],"
            "\"labels\":{\"k\":\"v\"},\"authorization\":\"x\"}",
            webhook),
        4);
    cr_expect_gt(codec_memory_one(
                     "{\"description\":\"d\",\"labels\":{\"a\":\"b\",\"c\":\"d\"},\"executors\":4,"
                     "\"cores_per_executor\":2,\"price_book\":\"p\",\"machine_type\":\"m\"}",
                     cluster),
                 8);
    cr_expect_gt(
        codec_memory_faulty("{\"description\":7,\"labels\":{\"a\":1},\"unknown\":2}", cluster), 1);
    cr_expect_gt(
        codec_memory_one(
            "{\"currency\":\"EUR\",\"prices\":[{\"machine_type\":\"m\",\"per_executor_hour\":1},"
            "{\"cluster\":\"c\",\"per_executor_hour\":2,\"spot_per_executor_hour\":1}]}",
            price_book),
        4);
    cr_expect_gt(codec_memory_one("{\"name\":\"a\",\"description\":\"d\",\"labels\":{\"k\":\"v\"}}",
                                  application),
                 4);
    cr_expect_gt(
        codec_memory_one("{\"rules\":[{\"name\":\"r\",\"pattern\":\"a-*\",\"application\":\"a\"}]}",
                         name_rules),
        4);
}

static enum pv_code run(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_run_limits limits = {.stages = 8, .tasks = 100, .labels = 4};
    struct run run;
    struct writer w;
    codec_run_decode(top, &limits, &run);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_run_encode(&w, &run, strview_of("a"), CODEC_RUN_STAGES | CODEC_RUN_TASKS);
    return codec_memory_finish(&w, err);
}

static enum pv_code run_record(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_run_limits limits = {.stages = 8, .tasks = 100, .labels = 4};
    struct run run;
    struct writer w;
    codec_run_decode_record(top, &limits, &run);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_run_encode(&w, &run, strview_of("a"), CODEC_RUN_RECORD);
    return codec_memory_finish(&w, err);
}

Test(codec_memory_records, runs)
{
    cr_expect_gt(codec_memory_one(CODEC_MEMORY_RUN, run), 10);
    cr_expect_gt(codec_memory_one(CODEC_MEMORY_RUN, run_record), 10);
    cr_expect_gt(
        codec_memory_one("{\"duration_s\":20,\"spark_application_id\":\"a\",\"log_digest\":"
                         "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                         "\"spark_properties\":{\"spark.a\":\"1\",\"spark.b\":\"2\"},"
                         "\"warnings\":[{\"code\":\"c\",\"message\":\"m\"}]}",
                         run_record),
        10);
    cr_expect_gt(
        codec_memory_faulty(
            "{\"problem_size\":8,\"executors\":2,\"cores_per_executor\":2,\"duration_s\":20,"
            "\"stages\":[{\"id\":0,\"parents\":[1]},{\"id\":1,\"parents\":[0]}]}",
            run),
        4);
}

static enum pv_code price_csv(void *context)
{
    const struct strview *text = context;
    struct pv_error err = {0};
    struct price_book book;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = codec_price_csv_decode(*text, NULL, 100, &arena, &book, &err);
    arena_fini(&arena);
    return code;
}

Test(codec_memory_records, price_csv)
{
    static const char csv[] = "machine_type,per_executor_hour,currency\r\n\"m,1\",0.5,EUR\r\n"
                              "m2,0.25,EUR\r\n";
    struct strview text = {csv, sizeof csv - 1};
    cr_expect_eq(price_csv(&text), PV_OK);
    cr_expect_gt(failing_malloc_run(price_csv, &text, PV_E_MEMORY, 1), 2);
}

static enum pv_code samples(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_cluster_samples_limits limits = {
        .samples = 64, .now_us = INT64_C(1728000000000000), .ahead_us = INT64_C(86400000000)};
    struct codec_cluster_samples samples;
    (void)err;
    codec_cluster_samples_decode(top, strview_of("eu"), &limits, &samples);
    return codec_result(top->reader);
}

Test(codec_memory_records, cluster_samples)
{
    codec_memory_seeds("cluster_samples", samples);
}

/* --- Kubernetes --- */

static enum pv_code admission(const struct codec_node *top, struct pv_error *err)
{
    struct admission_review review;
    struct spark_property property = {"spark.executor.cores", "7"};
    const struct spark_configuration advised = {.properties = &property, .n = 1};
    struct writer w;
    size_t n = 0;
    codec_admission_review_decode(top, &review);
    PV_TRY(codec_result(top->reader));
    if (review.concern != REVIEW_ASKS)
        return PV_OK;
    writer_init(&w, top->reader->arena);
    codec_admission_question_encode(&w, &review, true);
    if (writer_finish(&w, &n) == NULL)
        return pv_no_memory(err);
    writer_init(&w, top->reader->arena);
    (void)spark_patch_encode(&w, &review.object, &advised, NULL, 0, "id");
    const char *patch = writer_finish(&w, &n);
    bool made =
        patch != NULL && spark_patch_base64(top->reader->arena, (struct strview){patch, n}) != NULL;
    return made ? PV_OK : pv_no_memory(err);
}

Test(codec_memory_records, admission_review)
{
    codec_memory_seeds("admission_review", admission);
}

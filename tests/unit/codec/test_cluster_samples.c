#include "codec/clusters/cluster_samples.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
static const int64_t NOW = INT64_C(1700000000000000);

static struct arena arena;
static struct pv_error err;
static struct codec_cluster_samples samples;

static enum pv_code decode(const char *text)
{
    const struct codec_cluster_samples_limits limits = {
        .samples = 4, .now_us = NOW, .ahead_us = 60000000};
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, &arena, &err));
    codec_cluster_samples_decode(&document.top, strview_of("eu"), &limits, &samples);
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_cluster_samples, .fini = fini);

/* It says that the cluster is watched just now. */
Test(codec_cluster_samples, an_empty_report_is_of_this_instant)
{
    cr_assert_eq(decode("{}"), PV_OK);
    cr_expect_eq(samples.n_processing + samples.n_transfers + samples.n_outages, 0);
    cr_expect_eq(samples.first_us, NOW);
    cr_expect_eq(samples.newest_us, NOW);
    cr_assert_eq(decode("{\"processing\": null, \"transfers\": null, \"outages\": null}"), PV_OK);
    cr_expect_eq(samples.newest_us, NOW);
}

Test(codec_cluster_samples, instants_span_what_was_watched)
{
    cr_assert_eq(
        decode("{\"processing\": [{\"operation\": \"map\", \"bytes_per_s\": 5}],"
               " \"transfers\": [{\"from\": \"us\", \"bytes_per_s\": 6.5,"
               "                  \"at\": \"2023-11-14T22:00:00Z\"}],"
               " \"outages\": [{\"at\": \"2023-11-14T21:00:00Z\", \"duration_s\": 0.25}]}"),
        PV_OK);
    cr_expect_eq(samples.processing[0].sample.at_us, NOW, "not given: now");
    cr_expect_eq(samples.processing[0].sample.value, 5);
    cr_expect_eq(samples.transfers[0].sample.at_us, NOW - INT64_C(800000000));
    cr_expect(strview_is(samples.transfers[0].of, "us"));
    cr_expect_eq(samples.outages[0].until_us - samples.outages[0].from_us, 250000);
    cr_expect_eq(samples.first_us, samples.outages[0].from_us);
    cr_expect_eq(samples.newest_us, NOW);
}

Test(codec_cluster_samples, every_fault_is_told_at_its_place)
{
    static const struct {
        const char *text;
        const char *at;
        const char *code;
    } rows[] = {
        {"{\"speed\": 1}", "/speed", "unknown_field"},
        {"{\"processing\": [{\"bytes_per_s\": 1}]}", "/processing/0/operation", "required"},
        {"{\"processing\": [{\"operation\": \"\", \"bytes_per_s\": 1}]}", "/processing/0/operation",
         NULL},
        {"{\"processing\": [{\"operation\": \"m\", \"bytes_per_s\": 0}]}",
         "/processing/0/bytes_per_s", "out_of_range"},
        {"{\"processing\": [1]}", "/processing/0", NULL},
        {"{\"transfers\": [{\"from\": \"eu\", \"bytes_per_s\": 1}]}", "/transfers/0/from",
         "same_cluster"},
        {"{\"transfers\": [{\"from\": \"us\", \"bytes_per_s\": 1, \"at\": "
         "\"1969-01-01T00:00:00Z\"}]}",
         "/transfers/0/at", "out_of_range"},
        {"{\"outages\": [{\"at\": \"2023-11-14T22:14:21Z\", \"duration_s\": 1}]}", "/outages/0/at",
         "in_future"},
        {"{\"outages\": [{\"at\": \"2023-11-14T22:13:21Z\", \"duration_s\": 100}]}",
         "/outages/0/duration_s", "in_future"},
        {"{\"outages\": [{\"at\": null, \"duration_s\": 100}]}", "/outages/0/at", NULL},
        {"{\"processing\": [{\"operation\": \"m\", \"bytes_per_s\": 1},"
         " {\"operation\": \"m\", \"bytes_per_s\": 1}],"
         " \"transfers\": [{\"from\": \"us\", \"bytes_per_s\": 1},"
         " {\"from\": \"us\", \"bytes_per_s\": 1}, {\"from\": \"us\", \"bytes_per_s\": 1}]}",
         "/transfers", "too_many_items"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_eq(decode(rows[i].text), PV_E_INVALID, "%s", rows[i].text);
        cr_expect_str_eq(err.faults[0].at, rows[i].at);
        if (rows[i].code != NULL)
            cr_expect_str_eq(err.faults[0].code, rows[i].code);
    }
}

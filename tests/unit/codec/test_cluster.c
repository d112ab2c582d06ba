#include "codec/clusters/cluster.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
static const struct codec_cluster_limits limits = {.labels = 2, .cores = 1000};

static struct arena arena;
static struct pv_error err;
static struct cluster cluster;

static enum pv_code decode(const char *text)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, &arena, &err));
    codec_cluster_decode(&document.top, &limits, &cluster);
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_cluster, .fini = fini);

Test(codec_cluster, nothing_told_is_nothing_known)
{
    cr_assert_eq(decode("{}"), PV_OK);
    cr_assert_eq(cluster.traits.executors, RUN_UNKNOWN);
    cr_assert_eq(cluster.traits.slots, RUN_UNKNOWN);
    cr_assert(isnan(cluster.traits.slot_s) && isnan(cluster.traits.unreachable_probability));
    cr_assert_null(cluster.price_book.at);
    cr_assert_null(cluster.traits.machine_type.at);
    cr_assert_eq(cluster.n_labels, 0u);
    cr_assert_eq(decode("{\"executors\":null,\"price_book\":null,\"labels\":null}"), PV_OK);
    cr_assert_eq(cluster.traits.executors, RUN_UNKNOWN);
}

/* What is written, read and written again is the same text. */
Test(codec_cluster, what_is_shown_reads_back)
{
    static const char text[] =
        "{\"executors\":10,\"cores_per_executor\":100,\"memory_bytes_per_executor\":4294967296,"
        "\"slots\":0,\"slot_s\":0.1,\"unreachable_probability\":1,\"ingress_bytes_per_s\":0,"
        "\"egress_bytes_per_s\":1e+18,\"price_book\":\"b\",\"machine_type\":\"m\"}";
    struct writer w;
    size_t n;
    cr_assert_eq(decode(text), PV_OK);
    cr_assert_eq(cluster.traits.executors * cluster.traits.cores_per_executor, limits.cores);
    strcpy(cluster.id, "0190d4a0-0000-7000-8000-000000000000");
    cluster.name = strview_of("a\"b");
    cluster.created_us = cluster.updated_us = 0;
    cluster.version = 3;
    writer_init(&w, &arena);
    codec_cluster_encode(&w, &cluster);
    cr_assert_str_eq(
        writer_finish(&w, &n),
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"name\":\"a\\\"b\","
        "\"description\":null,\"labels\":{},\"executors\":10,"
        "\"cores_per_executor\":100,\"memory_bytes_per_executor\":4294967296,"
        "\"slots\":0,\"slot_s\":0.1,\"unreachable_probability\":1,"
        "\"ingress_bytes_per_s\":0,\"egress_bytes_per_s\":1e+18,\"price_book\":\"b\","
        "\"machine_type\":\"m\",\"version\":3,"
        "\"created_at\":\"1970-01-01T00:00:00Z\",\"updated_at\":\"1970-01-01T00:00:00Z\"}");
}

Test(codec_cluster, faults_point_at_their_member)
{
    static const struct {
        const char *text, *at, *code;
    } cases[] = {
        {"{\"executors\":0}", "/executors", "out_of_range"},
        {"{\"executors\":1001}", "/executors", "out_of_range"},
        {"{\"executors\":101,\"cores_per_executor\":10}", "/executors", "out_of_range"},
        {"{\"cores_per_executor\":2.5}", "/cores_per_executor", "wrong_type"},
        {"{\"slot_s\":0}", "/slot_s", "out_of_range"},
        {"{\"slots\":-1}", "/slots", "out_of_range"},
        {"{\"unreachable_probability\":-0.1}", "/unreachable_probability", "out_of_range"},
        {"{\"egress_bytes_per_s\":2e18}", "/egress_bytes_per_s", "out_of_range"},
        {"{\"price_book\":\"\"}", "/price_book", "invalid_name"},
        {"{\"machine_type\":[]}", "/machine_type", "wrong_type"},
        {"{\"labels\":{\"a\":\"\",\"b\":\"\",\"c\":\"\"}}", "/labels", "too_many_items"},
        {"{\"price-book\":\"b\"}", "/price-book", "unknown_field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode(cases[i].text), PV_E_INVALID, "%s", cases[i].text);
        cr_assert_eq(err.n_faults, 1u, "%s", cases[i].text);
        cr_assert_str_eq(err.faults[0].at, cases[i].at);
        cr_assert_str_eq(err.faults[0].code, cases[i].code);
    }
}

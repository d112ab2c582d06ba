/* One log through every door: fed whole, in pieces, compressed, from a file. */
#include "ingest/ingest.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char LOG[] =
    "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n"
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"app-1\","
    "\"Timestamp\":1000,\"User\":\"u\"}\n"
    "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":61000}\n";

struct outcome {
    struct arena arena;
    struct run run;
    unsigned char digest[INGEST_DIGEST];
    enum pv_code code;
    struct pv_error err;
};

static struct ingest_limits default_limits(void)
{
    struct config config;
    struct ingest_limits limits;
    config_defaults(&config);
    ingest_limits_read(&config, &limits);
    return limits;
}

static void start(struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    cr_assert_geq(sodium_init(), 0);
    arena_init(&outcome->arena, 0);
}

static struct outcome feed(const char *bytes, size_t n, size_t piece, struct ingest_limits limits)
{
    struct outcome outcome;
    start(&outcome);
    struct ingest *intake = ingest_create(&limits);
    cr_assert_not_null(intake);
    for (size_t at = 0; outcome.code == PV_OK && at < n; at += piece)
        outcome.code =
            ingest_feed(intake, bytes + at, n - at < piece ? n - at : piece, &outcome.err);
    if (outcome.code == PV_OK)
        outcome.code =
            ingest_finish(intake, &outcome.arena, &outcome.run, outcome.digest, &outcome.err);
    ingest_destroy(intake);
    return outcome;
}

static void expect_same(const struct outcome *one, const struct outcome *other)
{
    cr_assert_eq(one->code, PV_OK, "%s", one->err.detail);
    cr_assert_eq(other->code, PV_OK, "%s", other->err.detail);
    cr_assert_arr_eq(one->digest, other->digest, INGEST_DIGEST);
    cr_assert_eq(one->run.duration_s, 60.0);
    cr_assert_eq(other->run.duration_s, 60.0);
}

/* The digest is that of the plain text, as libsodium computes it in one go. */
Test(intake, digest_is_of_the_plain_bytes)
{
    unsigned char want[INGEST_DIGEST];
    struct outcome whole = feed(LOG, sizeof LOG - 1, sizeof LOG, default_limits());
    cr_assert_eq(whole.code, PV_OK, "%s", whole.err.detail);
    (void)crypto_generichash(want, sizeof want, (const unsigned char *)LOG, sizeof LOG - 1, NULL,
                             0);
    cr_assert_arr_eq(whole.digest, want, sizeof want);
    arena_fini(&whole.arena);
}

Test(intake, pieces_and_compression_change_nothing)
{
    unsigned char packed[4096];
    z_stream z;
    memset(&z, 0, sizeof z);
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)LOG;
    z.avail_in = sizeof LOG - 1;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    struct outcome whole = feed(LOG, sizeof LOG - 1, sizeof LOG, default_limits());
    for (size_t piece = 1; piece <= 8; piece++) {
        struct outcome split = feed(LOG, sizeof LOG - 1, piece, default_limits());
        struct outcome gzip = feed((char *)packed, z.total_out, piece, default_limits());
        expect_same(&whole, &split);
        expect_same(&whole, &gzip);
        arena_fini(&split.arena);
        arena_fini(&gzip.arena);
    }
    arena_fini(&whole.arena);
}

Test(intake, a_file_reads_as_what_is_fed)
{
    char path[] = "/tmp/test_intake_XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, LOG, sizeof LOG - 1), (ssize_t)sizeof LOG - 1);
    (void)close(fd);
    struct outcome whole = feed(LOG, sizeof LOG - 1, sizeof LOG, default_limits());
    struct outcome file;
    start(&file);
    struct ingest_limits limits = default_limits();
    file.code = ingest_read_path(path, &limits, &file.arena, &file.run, file.digest, &file.err);
    (void)unlink(path);
    expect_same(&whole, &file);
    arena_fini(&whole.arena);
    arena_fini(&file.arena);
}

Test(intake, refusals_say_why)
{
    struct outcome empty = feed("", 0, 1, default_limits());
    cr_assert_eq(empty.code, PV_E_INVALID);
    struct ingest_limits limits = default_limits();
    limits.sent_bytes = 64;
    struct outcome long_log = feed(LOG, sizeof LOG - 1, 16, limits);
    cr_assert_eq(long_log.code, PV_E_TOO_LARGE);
    cr_assert_not_null(strstr(long_log.err.detail, "eventlog_bytes_max"));
    struct outcome missing;
    start(&missing);
    missing.code = ingest_read_path("/nonexistent/log", &limits, &missing.arena, &missing.run,
                                    missing.digest, &missing.err);
    cr_assert_eq(missing.code, PV_E_NOT_FOUND);
    cr_assert_not_null(strstr(missing.err.detail, "No such file"));
}

/*
 * Running out of memory is an ordinary error: the k-th allocation of ours fails, for k = 1, 2, ...
 * until the whole archive is read. Nothing may be lost on the way, nor any of the spool's share
 * stay taken. The allocator is replaced at link time (--wrap), for this program only, and only
 * while an archive is read; the libraries keep their own.
 */
#include "ingest/ingest.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t n);

static long allowed = -1; /* allocations before one fails; negative: none fails */

static bool fails(void)
{
    if (allowed < 0)
        return false;
    return allowed-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *at, size_t n)
{
    return fails() ? NULL : __real_realloc(at, n);
}

static const char *const files[][2] = {
    {"d/events_2_a", "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":61000}\n"},
    {"d/README", "no log\n"},
    {"d/events_1_a", "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":"
                     "\"app-1\",\"Timestamp\":1000,\"User\":\"u\"}\n"}};

static size_t pack(int format, char *bytes, size_t room)
{
    size_t n = 0;
    struct archive *a = archive_write_new();
    cr_assert_eq(archive_write_set_format(a, format), ARCHIVE_OK);
    cr_assert_eq(archive_write_set_bytes_per_block(a, 0), ARCHIVE_OK);
    cr_assert_eq(archive_write_open_memory(a, bytes, room, &n), ARCHIVE_OK);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, files[i][0]);
        archive_entry_set_size(entry, (la_int64_t)strlen(files[i][1]));
        archive_entry_set_filetype(entry, AE_IFREG);
        cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
        (void)archive_write_data(a, files[i][1], strlen(files[i][1]));
        archive_entry_free(entry);
    }
    cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
    (void)archive_write_free(a);
    return n;
}

static enum pv_code
read_archive(const struct ingest_limits *limits, const char *bytes, size_t n, struct run *run)
{
    unsigned char digest[INGEST_DIGEST];
    struct arena arena;
    arena_init(&arena, 0);
    struct ingest *intake = ingest_create(limits);
    enum pv_code code = intake == NULL ? PV_E_MEMORY : ingest_feed(intake, bytes, n, NULL);
    if (code == PV_OK)
        code = ingest_finish(intake, &arena, run, digest, NULL);
    ingest_destroy(intake);
    arena_fini(&arena);
    return code;
}

static const int formats[] = {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_ZIP};
static char bytes[16384];

Test(ingest_memory, every_allocation_may_fail)
{
    struct config config;
    struct ingest_limits limits;
    struct ledger disk = {.max = 0};
    struct ledger_share share = {.ledger = &disk};
    struct spool_place place;
    cr_assert_geq(sodium_init(), 0);
    config_defaults(&config);
    (void)snprintf(config.spool_directory, sizeof config.spool_directory, "/tmp");
    spool_place_init(&place, &config, &share);
    ingest_limits_read(&config, &limits);
    limits.spool = &place;
    for (size_t i = 0; i < 2; i++) {
        size_t n = pack(formats[i], bytes, sizeof bytes);
        struct run run = {.duration_s = 0};
        long k = 0;
        enum pv_code code;
        do {
            allowed = k++;
            code = read_archive(&limits, bytes, n, &run);
            allowed = -1;
            cr_assert(code == PV_OK || code == PV_E_MEMORY, "archive %zu, allocation %ld: %s", i, k,
                      pv_code_name(code));
            cr_assert_eq(atomic_load(&share.used), 0);
        } while (code != PV_OK);
        cr_assert_eq(run.duration_s, 60.0);
        /* At least: intake, reader, two framings, spool, container, bundle, parts, names, peek. */
        cr_assert_gt(k, 10);
    }
}

/* Wherever the account has no more, also while files are only peeked at, that is what is told. */
Test(ingest_memory, what_reading_an_archive_holds_is_counted)
{
    struct config config;
    struct ingest_limits limits;
    struct ledger disk = {.max = 0};
    struct ledger_share share = {.ledger = &disk};
    struct spool_place place;
    cr_assert_geq(sodium_init(), 0);
    config_defaults(&config);
    (void)snprintf(config.spool_directory, sizeof config.spool_directory, "/tmp");
    spool_place_init(&place, &config, &share);
    for (size_t i = 0; i < 2; i++) {
        size_t n = pack(formats[i], bytes, sizeof bytes);
        size_t max = 0;
        enum pv_code code;
        do {
            max += 8192;
            struct ledger memory = {.max = max, .unit = max};
            struct ledger_share all = {.ledger = &memory};
            struct ledger_account account = {.share = &all};
            struct run run = {.duration_s = 0};
            ingest_limits_read(&config, &limits);
            limits.spool = &place;
            ingest_limits_set_account(&limits, &account);
            code = read_archive(&limits, bytes, n, &run);
            cr_assert_eq(code, account.refused ? PV_E_MEMORY : PV_OK, "archive %zu, %zu bytes: %s",
                         i, max, pv_code_name(code));
            cr_assert_eq(account.used, 0);
        } while (code != PV_OK);
        /* At least: two decoders, the reader of the archive, its block. */
        cr_assert_gt(max, 2 * 128 * 1024 + 256 * 1024);
    }
}

/*
 * Any bytes as an upload that may be an archive: no input may crash the readers of tar and zip,
 * make them give more than the limits, or leave a part of the spool's share taken; and the pieces
 * in which it comes, or being read in turns, change nothing. Built once for any bytes, and once for
 * tars (-DFUZZ_TAR), whose checksums are put right first, or few inputs would get beyond them.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "ingest/ingest.h"

enum { TOTAL = 1 << 20, BLOCK = 512 };

struct outcome {
    enum pv_code code;
    unsigned char digest[INGEST_DIGEST];
};

static struct ledger disk = {.max = TOTAL, .unit = TOTAL};
static struct ledger_share share = {.ledger = &disk};

static struct ingest_limits limits_for(struct spool_place *place)
{
    static struct config config; /* the place borrows it */
    struct ingest_limits limits;
    config_defaults(&config);
    (void)snprintf(config.spool_directory, sizeof config.spool_directory, "/tmp");
    config.spool_bytes_max = TOTAL;
    config.eventlog_plain_bytes_max = TOTAL;
    config.eventlog_memory_bytes_max = 8 * TOTAL;
    config.archive_entries_max = 100;
    config.archive_name_bytes_max = 200;
    config.zstd_window_log_max = 20;
    config.eventlog_block_bytes_max = TOTAL;
    spool_place_init(place, &config, &share);
    ingest_limits_read(&config, &limits);
    limits.spool = place;
    return limits;
}

static struct outcome read_all(const char *data, size_t n, size_t piece, uint64_t turn)
{
    struct spool_place place;
    struct outcome outcome = {.code = PV_OK};
    struct ingest_limits limits = limits_for(&place);
    struct ingest *intake = ingest_create(&limits);
    struct arena arena;
    struct run run;
    FUZZ_REQUIRE(intake != NULL);
    arena_init(&arena, 0);
    for (size_t at = 0; at < n && outcome.code == PV_OK; at += piece)
        outcome.code = ingest_feed(intake, data + at, n - at < piece ? n - at : piece, NULL);
    bool more = true;
    while (outcome.code == PV_OK && more)
        outcome.code = ingest_read(intake, turn, &more, NULL);
    if (outcome.code == PV_OK)
        outcome.code = ingest_finish(intake, &arena, &run, outcome.digest, NULL);
    FUZZ_REQUIRE(ingest_counts(intake).read.bytes <= TOTAL);
    FUZZ_REQUIRE(atomic_load(&share.used) <= TOTAL);
    ingest_destroy(intake);
    FUZZ_REQUIRE(atomic_load(&share.used) == 0);
    arena_fini(&arena);
    return outcome;
}

#ifdef FUZZ_TAR
/* Every block that claims to be a header gets the sum that it should have. */
static void repair(char *data, size_t n)
{
    for (char *block = data; n - (size_t)(block - data) >= BLOCK; block += BLOCK) {
        if (block != data && memcmp(block + 257, "ustar", 5) != 0)
            continue;
        unsigned sum = 0;
        memset(block + 148, ' ', 8);
        for (size_t i = 0; i < BLOCK; i++)
            sum += (unsigned char)block[i];
        (void)snprintf(block + 148, 8, "%06o", sum);
    }
}
#else
static void repair(char *data, size_t n)
{
    (void)data;
    (void)n;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > TOTAL || sodium_init() < 0)
        return 0;
    char *copy = malloc(n > 0 ? n : 1);
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, data, n);
    repair(copy, n);
    struct outcome whole = read_all(copy, n, n > 0 ? n : 1, UINT64_MAX);
    struct outcome pieces = read_all(copy, n, 1 + n / 7, 1);
    if (whole.code == PV_OK && pieces.code == PV_OK)
        FUZZ_REQUIRE(memcmp(whole.digest, pieces.digest, sizeof whole.digest) == 0);
    free(copy);
    return 0;
}

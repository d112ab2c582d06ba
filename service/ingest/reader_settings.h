#ifndef INGEST_READER_SETTINGS_H
#define INGEST_READER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compression/compression.h"
#include "config/config.h"
#include "core/joblog/joblog.h"
#include "ingest/spool.h"

enum { INGEST_DIGEST = 32 }; /* bytes of BLAKE2b-256 */

/*
 * Looks on while a path is read: bytes is how many of those on disk are done, false makes it end
 * with PV_E_CANCELLED. Called a few times a second.
 */
struct ingest_watch {
    bool (*go_on)(void *context, uint64_t bytes);
    void *context;
};

struct ingest_limits {
    uint64_t sent_bytes; /* a log as sent or stored, before decompression */
    struct compression_limits framing;
    struct joblog_limits log;
    size_t archive_entries;           /* files of an archive or folder */
    size_t archive_name_bytes;        /* of each of them */
    const struct spool_place *spool;  /* borrowed; NULL: what needs a spool is refused */
    const struct ingest_watch *watch; /* borrowed; NULL: nobody watches. Of ingest_read_path only */
};

/* The limits that the settings state; spool and watch are left NULL. */
void ingest_limits_read(const struct config *config, struct ingest_limits *limits);

/* What reading a log holds is counted in the account, borrowed: decoders, unfinished lines, what is
 * known of the log and of an archive's files. Without this call it is not counted. */
void ingest_limits_set_account(struct ingest_limits *limits, struct ledger_account *account);

/* What becomes of free texts of a log, by the settings: without this call the strictest. Hashes are
 * keyed by the service's key and the team, so they are equal within a team and mean nothing outside
 * of it. */
void ingest_limits_set_privacy(struct ingest_limits *limits,
                               const struct config *config,
                               const unsigned char service_key[32],
                               const char *team_id);

#endif

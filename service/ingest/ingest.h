#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/joblog/joblog.h"
#include "ingest/reader_settings.h"

/*
 * The road from the bytes of an event log to a run: archives and rolling logs taken apart, framing
 * (decompression), the digest of the plain bytes, the log reader. Uploads and imports take the same
 * road, so the same log has the same digest and the same run however it came in: as one file, as a
 * tar or zip of its parts, as a folder. One intake belongs to one thread at a time.
 *
 * A log that is one stream is read while it is fed. An archive (recognised by its first bytes, also
 * after decompression) is spooled, and read when it is whole: that is the work of ingest_read.
 */
struct ingest;

/* NULL when memory is exhausted. limits is copied. */
struct ingest *ingest_create(const struct ingest_limits *limits);
/* Accepts NULL. */
void ingest_destroy(struct ingest *intake);

/*
 * Take the next n bytes of the log as they were sent, in pieces of any size.
 * PV_E_TOO_LARGE: more than limits.sent_bytes; else as decompressor_feed, joblog_feed, spool_open
 * and spool_write.
 */
enum pv_code
ingest_feed(struct ingest *intake, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/*
 * No more bytes. *more: it is an archive, which ingest_read is yet to read.
 * PV_E_INVALID: no bytes at all; else as decompressor_finish, joblog_feed.
 */
enum pv_code ingest_end(struct ingest *intake, bool *more, struct pv_error *err) PV_MUSTCHECK;

/*
 * Read on in the archive, about `budget` bytes, and say whether there is more. It takes the disk
 * and a core, but nothing else: call it again until *more is false, or leave the rest to
 * ingest_finish. PV_E_SYNTAX: damaged; PV_E_MEDIA_TYPE: packed in a way that is not supported, or
 * an archive within an archive; PV_E_INVALID: no log in it, or several; PV_E_LIMIT: a limit (detail
 * says which).
 */
enum pv_code
ingest_read(struct ingest *intake, uint64_t budget, bool *more, struct pv_error *err) PV_MUSTCHECK;

/*
 * The run of the log (everything it points at lives in `arena`) and the BLAKE2b-256 digest of its
 * plain bytes, those of its parts one after another. The run is written only on PV_OK; the digest also
 * when all bytes were read and are not a log.
 * Ends and reads what is left to read. Errors as above and as joblog_finish.
 */
enum pv_code ingest_finish(struct ingest *intake,
                           struct arena *arena,
                           struct run *run,
                           unsigned char digest[INGEST_DIGEST],
                           struct pv_error *err) PV_MUSTCHECK;

/* What came in so far; valid at any time, also after a failure. */
struct ingest_counts {
    uint64_t bytes_sent;
    struct joblog_counts read;
};
struct ingest_counts ingest_counts(const struct ingest *intake);

/*
 * The log that lies at `path`: a file (plain, compressed, an archive) or the folder of a rolling
 * log (Spark's eventlog_v2_..., or Databricks' of parts by time). Blocks on the disk. Errors as
 * above, and PV_E_NOT_FOUND when it cannot be opened or read (detail: the system's reason).
 */
enum pv_code ingest_read_path(const char *path,
                              const struct ingest_limits *limits,
                              struct arena *arena,
                              struct run *run,
                              unsigned char digest[INGEST_DIGEST],
                              struct pv_error *err) PV_MUSTCHECK;

#endif

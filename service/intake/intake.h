#ifndef INTAKE_INTAKE_H
#define INTAKE_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "core/history/run.h"
#include "core/sparklog/sparklog.h"
#include "framing/framing.h"

/*
 * The road from the bytes of an event log to a run: framing (decompression), the digest of the
 * plain bytes, the reader of the kind of log it is. Uploads and imports take the same road, so the
 * same log has the same digest and the same run however it came in. One intake belongs to one
 * thread at a time.
 */
struct intake;

enum { INTAKE_DIGEST = 32 };

struct intake_limits {
    uint64_t sent_bytes; /* a log as sent or stored, before decompression */
    struct framing_limits framing;
    struct sparklog_limits log;
};

/* The limits that the settings state. */
void intake_limits_read(const struct config *config, struct intake_limits *limits);

/* NULL when memory is exhausted. limits is copied. */
struct intake *intake_create(const struct intake_limits *limits);
/* Accepts NULL. */
void intake_destroy(struct intake *intake);

/*
 * Take the next n bytes of the log as they were sent, in pieces of any size.
 * PV_E_TOO_LARGE: more than limits.sent_bytes; else as framing_feed and joblog_feed.
 */
enum pv_code
intake_feed(struct intake *intake, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/*
 * No more bytes: the run of the log (everything it points at lives in `arena`) and the BLAKE2b-256
 * digest of the plain bytes. Both are written only on PV_OK.
 * PV_E_INVALID: no bytes at all, or as joblog_finish; else as framing_finish and joblog_finish.
 */
enum pv_code intake_finish(struct intake *intake,
                           struct arena *arena,
                           struct run *run,
                           unsigned char digest[INTAKE_DIGEST],
                           struct pv_error *err) PV_MUSTCHECK;

/* What came in so far; valid at any time, also after a failure. */
struct intake_counts {
    uint64_t bytes_sent;
    struct sparklog_counts read;
};
struct intake_counts intake_counts(const struct intake *intake);

/*
 * The log that lies at `path`, a file. Blocks on the disk. Errors as above, and PV_E_NOT_FOUND when
 * it cannot be opened or read (detail: the system's reason).
 */
enum pv_code intake_read_path(const char *path,
                              const struct intake_limits *limits,
                              struct arena *arena,
                              struct run *run,
                              unsigned char digest[INTAKE_DIGEST],
                              struct pv_error *err) PV_MUSTCHECK;

#endif

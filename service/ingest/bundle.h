#ifndef INGEST_BUNDLE_H
#define INGEST_BUNDLE_H

#include "ingest/container.h"
#include "ingest/text.h"

/*
 * The log that lies in a container, read part by part. A part may be compressed in its own way; one
 * whose compressed stream was cut is counted (`truncated`), and the next one is read after it. An
 * archive within the container is refused.
 */
struct bundle;

/*
 * stored_bytes: how long the archive was as it was sent, to which the plain bytes may stand in the
 * allowed ratio. The container is the bundle's from now on, also on failure.
 */
enum pv_code bundle_open(struct container *container,
                         const struct ingest_limits *limits,
                         uint64_t stored_bytes,
                         struct bundle **bundle,
                         struct pv_error *err) PV_MUSTCHECK;

/* Accepts NULL. */
void bundle_close(struct bundle *bundle);

/*
 * Read on, about `budget` bytes (stored and plain together) or to the end, as *done reports. The
 * first call looks at the list of files. Errors as those of container.h, members.h and stream.h;
 * the detail begins with the name of the part at fault.
 */
enum pv_code bundle_read(struct bundle *bundle,
                         struct text *text,
                         uint64_t budget,
                         bool *done,
                         struct pv_error *err) PV_MUSTCHECK;

/* Parts that should lie between those that are there; known after the first bundle_read. */
uint64_t bundle_missing(const struct bundle *bundle);
/* True if the first part is compacted: it lacks jobs that had ended. Known after the first
 * bundle_read. */
bool bundle_compacted(const struct bundle *bundle);
/* Parts that were passed over, for they are packed as no log is; *first: the name of one of them. */
uint64_t bundle_skipped(const struct bundle *bundle, const char **first);
/* The part that holds the start of the log, NULL if it is not known to be there. *cut: the name of its
 * compression if the stream of it was cut, else NULL. */
const char *bundle_first_part(const struct bundle *bundle, const char **cut);
/* Bytes read out of the container, before decompression. */
uint64_t bundle_stored_bytes(const struct bundle *bundle);

#endif

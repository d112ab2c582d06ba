#ifndef FRAMING_FRAMING_H
#define FRAMING_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"
#include "base/error.h"

/*
 * Streams of compressed bytes in, plain bytes out. The kind is recognised by the first bytes; each
 * kind is a row in a table (framing.c) and a file of its own (gzip.c, zstd.c, plain.c). One decoder
 * belongs to one thread at a time.
 */
struct framing;

struct framing_limits {
    uint64_t total_bytes;    /* plain bytes a stream may give */
    double ratio;            /* plain bytes per compressed byte, judged beyond the first MiB out */
    unsigned window_log_max; /* zstd: largest window, as a power of two */
};

/* Takes plain bytes; anything but PV_OK stops the decoder, which passes it on. */
typedef enum pv_code (*framing_sink)(void *context,
                                     const char *bytes,
                                     size_t n,
                                     struct pv_error *err);

/* NULL when memory is exhausted. limits is copied. */
struct framing *
framing_create(const struct framing_limits *limits, framing_sink sink, void *context);
void framing_destroy(struct framing *framing);

/*
 * Take the next n bytes of the stream, in pieces of any size.
 * PV_E_SYNTAX: not what its first bytes promised; PV_E_LIMIT: a limit above (detail says which);
 * PV_E_MEDIA_TYPE: a coding that is recognised but not supported; PV_E_MEMORY; what the sink
 * answered.
 */
enum pv_code framing_feed(struct framing *framing,
                          const char *bytes,
                          size_t n,
                          struct pv_error *err) PV_MUSTCHECK;

/* End of the stream. *truncated tells whether the last frame was unfinished (not an error). */
enum pv_code
framing_finish(struct framing *framing, bool *truncated, struct pv_error *err) PV_MUSTCHECK;

/* "plain", "gzip", "zstd"; "unknown" before the first bytes. */
const char *framing_kind(const struct framing *framing);

#endif

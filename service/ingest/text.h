#ifndef INGEST_TEXT_H
#define INGEST_TEXT_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/joblog/joblog.h"
#include "ingest/reader_settings.h"

/*
 * The plain text of a log, taken part by part: the log reader, the digest, and how much came. A
 * part begins a new line even where the one before it ends without one; the line end put between
 * them is part of the text and of its digest.
 */
struct text {
    struct joblog *log;
    crypto_generichash_state digest;
    uint64_t bytes_max;
    uint64_t bytes;
    char last;   /* of the bytes taken */
    bool broken; /* a part has ended without a line end */
};

/* false: memory is exhausted. */
bool text_init(struct text *text, const struct ingest_limits *limits);
void text_fini(struct text *text);

/* A compression_sink; context is the text. PV_E_LIMIT: over bytes_max; as joblog_feed. */
enum pv_code
text_take(void *context, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* A part is over. cut: the name of its compression if the stream of it was cut, else NULL. */
void text_end_member(struct text *text, const char *cut);

/* As ingest_finish. */
enum pv_code text_finish(struct text *text,
                         struct arena *arena,
                         struct run *run,
                         unsigned char digest[INGEST_DIGEST],
                         struct pv_error *err) PV_MUSTCHECK;

#endif

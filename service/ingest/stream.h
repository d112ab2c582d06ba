#ifndef INGEST_STREAM_H
#define INGEST_STREAM_H

#include "ingest/text.h"

/*
 * One stream of bytes as it is stored: perhaps compressed, and before or after that perhaps an
 * archive. A log's plain bytes go to the text; those of an archive (decompressed, where it was
 * compressed as a whole) to whoever takes archives here.
 */
struct stream;

enum stream_archive { STREAM_TAR, STREAM_ZIP };

typedef enum pv_code (*stream_archive_sink)(
    void *context, enum stream_archive kind, const char *bytes, size_t n, struct pv_error *err);

/* NULL when memory is exhausted. text is borrowed. */
struct stream *stream_create(const struct compression_limits *limits,
                             struct text *text,
                             stream_archive_sink archive,
                             void *context);
/* Accepts NULL. */
void stream_destroy(struct stream *stream);

/* As decompressor_feed, text_take, and what the archive sink answered. */
enum pv_code
stream_feed(struct stream *stream, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* No more bytes. *cut: the name of the compression if its stream was cut, else NULL. */
enum pv_code
stream_finish(struct stream *stream, const char **cut, struct pv_error *err) PV_MUSTCHECK;

#endif

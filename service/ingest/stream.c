#include "ingest/stream.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/sniff.h"

/* First bytes, held back until they show what follows. */
struct layer {
    enum sniffed what;
    size_t n;
    char head[SNIFF_BYTES];
};

struct stream {
    struct decompressor *framing;
    struct text *text;
    stream_archive_sink archive;
    void *context;
    struct layer stored; /* as they came */
    struct layer plain;  /* out of the framing */
};

/* Where a layer sends what is no archive. */
typedef enum pv_code (*layer_next)(struct stream *stream,
                                   const char *bytes,
                                   size_t n,
                                   struct pv_error *err);

static enum pv_code pass(struct stream *stream,
                         const struct layer *layer,
                         layer_next next,
                         const char *bytes,
                         size_t n,
                         struct pv_error *err)
{
    if (n == 0)
        return PV_OK;
    if (layer->what == SNIFF_LOG)
        return next(stream, bytes, n, err);
    return stream->archive(stream->context, layer->what == SNIFF_TAR ? STREAM_TAR : STREAM_ZIP,
                           bytes, n, err);
}

static enum pv_code stream_decide(
    struct stream *stream, struct layer *layer, layer_next next, bool at_end, struct pv_error *err)
{
    layer->what = sniff((const unsigned char *)layer->head, layer->n, at_end);
    if (layer->what == SNIFF_MORE)
        return PV_OK;
    return pass(stream, layer, next, layer->head, layer->n, err);
}

static enum pv_code layer_feed(struct stream *stream,
                               struct layer *layer,
                               layer_next next,
                               const char *bytes,
                               size_t n,
                               struct pv_error *err)
{
    size_t taken = 0;
    if (layer->what == SNIFF_MORE) {
        taken = n < SNIFF_BYTES - layer->n ? n : SNIFF_BYTES - layer->n;
        memcpy(layer->head + layer->n, bytes, taken);
        layer->n += taken;
        enum pv_code code = stream_decide(stream, layer, next, false, err);
        if (code != PV_OK || layer->what == SNIFF_MORE)
            return code;
    }
    return pass(stream, layer, next, bytes + taken, n - taken, err);
}

static enum pv_code
to_text(struct stream *stream, const char *bytes, size_t n, struct pv_error *err)
{
    return text_take(stream->text, bytes, n, err);
}

static enum pv_code
to_framing(struct stream *stream, const char *bytes, size_t n, struct pv_error *err)
{
    return decompressor_feed(stream->framing, bytes, n, err);
}

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct stream *stream = context;
    return layer_feed(stream, &stream->plain, to_text, bytes, n, err);
}

struct stream *stream_create(const struct compression_limits *limits,
                             struct text *text,
                             stream_archive_sink archive,
                             void *context)
{
    struct stream *stream = malloc(sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->text = text;
    stream->archive = archive;
    stream->context = context;
    stream->stored.what = stream->plain.what = SNIFF_MORE;
    stream->stored.n = stream->plain.n = 0;
    stream->framing = decompressor_create(limits, take_plain, stream);
    if (stream->framing != NULL)
        return stream;
    free(stream);
    return NULL;
}

void stream_destroy(struct stream *stream)
{
    if (stream == NULL)
        return;
    decompressor_destroy(stream->framing);
    free(stream);
}

enum pv_code stream_feed(struct stream *stream, const char *bytes, size_t n, struct pv_error *err)
{
    return layer_feed(stream, &stream->stored, to_framing, bytes, n, err);
}

enum pv_code stream_finish(struct stream *stream, const char **cut, struct pv_error *err)
{
    bool truncated = false;
    enum pv_code code = PV_OK;
    if (stream->stored.what == SNIFF_MORE)
        code = stream_decide(stream, &stream->stored, to_framing, true, err);
    if (code == PV_OK)
        code = decompressor_finish(stream->framing, &truncated, err);
    if (code == PV_OK && stream->plain.what == SNIFF_MORE)
        code = stream_decide(stream, &stream->plain, to_text, true, err);
    *cut = truncated ? compression_kind(stream->framing) : NULL;
    return code;
}

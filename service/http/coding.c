#include "http/coding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "http/accept.h"

/* A window of 16 KiB: 128 KiB for one reply. Level 1 takes half the time of the default. */
enum { LEVEL = 1, WINDOW_BITS = 14, AS_GZIP = 16, MEMORY_LEVEL = 7 };

static bool begin(z_stream *z)
{
    *z = (z_stream){0};
    return deflateInit2(z, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP, MEMORY_LEVEL,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

/* --- bodies made piece by piece --- */

struct packed_source {
    const struct http_source *plain;
    void *plain_state;
    z_stream z;
    char *bytes; /* the piece that is being sent */
    size_t capacity;
    bool ended;
};

/* All of a piece, so that the client can read it at once; at the end what ends the stream. */
static enum pv_code
pack_piece(struct packed_source *packed, struct strview plain, size_t *n, struct pv_error *err)
{
    size_t most = deflateBound(&packed->z, plain.n) + 64;
    if (most > packed->capacity) {
        char *bytes = realloc(packed->bytes, most);
        if (bytes == NULL)
            return pv_no_memory(err);
        packed->bytes = bytes;
        packed->capacity = most;
    }
    packed->z.next_in = (Bytef *)(uintptr_t)plain.at;
    packed->z.avail_in = (uInt)plain.n;
    packed->z.next_out = (Bytef *)packed->bytes;
    packed->z.avail_out = (uInt)packed->capacity;
    (void)deflate(&packed->z, plain.n > 0 ? Z_SYNC_FLUSH : Z_FINISH);
    *n = packed->capacity - packed->z.avail_out;
    return PV_OK;
}

static enum pv_code packed_next(void *state, const char **bytes, size_t *n, struct pv_error *err)
{
    struct packed_source *packed = state;
    struct strview plain = {NULL, 0};
    *n = 0;
    if (packed->ended)
        return PV_OK;
    PV_TRY(packed->plain->next(packed->plain_state, &plain.at, &plain.n, err));
    PV_TRY(pack_piece(packed, plain, n, err));
    packed->ended = plain.n == 0;
    *bytes = packed->bytes;
    return PV_OK;
}

static void packed_end(void *state)
{
    struct packed_source *packed = state;
    packed->plain->end(packed->plain_state);
    (void)deflateEnd(&packed->z);
    free(packed->bytes);
    free(packed);
}

static enum pv_code pack_source(struct http_response *response, struct pv_error *err)
{
    static const struct http_source source = {.next = packed_next, .end = packed_end};
    struct packed_source *packed = calloc(1, sizeof *packed);
    if (packed == NULL)
        return pv_no_memory(err);
    packed->plain = response->source;
    packed->plain_state = response->source_state;
    if (!begin(&packed->z)) {
        free(packed);
        return pv_no_memory(err);
    }
    response->source = &source;
    response->source_state = packed;
    return PV_OK;
}

/* --- whole bodies --- */

/* *packed stays false if the body would not become smaller. */
static enum pv_code pack_body(struct http_request *request,
                              struct http_response *response,
                              bool *packed,
                              struct pv_error *err)
{
    z_stream z;
    char *bytes = arena_alloc(request->arena, response->body_n);
    if (bytes == NULL || !begin(&z))
        return pv_no_memory(err);
    z.next_in = (Bytef *)(uintptr_t)response->body;
    z.avail_in = (uInt)response->body_n;
    z.next_out = (Bytef *)bytes;
    z.avail_out = (uInt)response->body_n;
    *packed = deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (*packed) {
        response->body = bytes;
        response->body_n -= z.avail_out;
    }
    (void)deflateEnd(&z);
    return PV_OK;
}

/* --- headers --- */

static const char **find_header(struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcasecmp(response->headers[i].name, name) == 0)
            return &response->headers[i].value;
    return NULL;
}

static enum pv_code
mark_tag(struct http_request *request, struct http_response *response, struct pv_error *err)
{
    const char **tag = find_header(response, "ETag");
    size_t n = tag == NULL ? 0 : strlen(*tag);
    bool is_marked = n >= 7 && strcmp(*tag + n - 6, "-gzip\"") == 0;
    if (n < 2 || (*tag)[n - 1] != '"' || is_marked)
        return PV_OK;
    *tag = arena_printf(request->arena, "%.*s-gzip\"", (int)(n - 1), *tag);
    return *tag == NULL ? pv_no_memory(err) : PV_OK;
}

static void add_vary(struct http_request *request, struct http_response *response)
{
    const char **vary = find_header(response, "Vary");
    if (vary == NULL || strcmp(*vary, "Accept-Encoding") != 0)
        http_response_header(request, response, "Vary", "Accept-Encoding");
}

/* A 304 has the tag that the client has: the packed one only if it named that. */
static enum pv_code
confirm(struct http_request *request, struct http_response *response, struct pv_error *err)
{
    const char *tags = http_header(request, "If-None-Match");
    const char **tag = find_header(response, "ETag");
    const char *plain = tag == NULL ? NULL : *tag;
    PV_TRY(mark_tag(request, response, err));
    if (plain != NULL && (tags == NULL || strstr(tags, *tag) == NULL))
        *tag = plain;
    add_vary(request, response);
    return PV_OK;
}

enum pv_code http_reply_pack(struct http_request *request,
                             struct http_response *response,
                             size_t bytes_min,
                             struct pv_error *err)
{
    const char *type = response->content_type;
    bool is_stream = type != NULL && strncmp(type, "text/event-stream", 17) == 0;
    bool packed = false;
    if (find_header(response, "Content-Encoding") != NULL || is_stream)
        return PV_OK;
    if (response->status == 304)
        return confirm(request, response, err);
    if (response->source == NULL && (response->body_n < bytes_min || response->body_n > INT32_MAX))
        return PV_OK;
    add_vary(request, response);
    if (!http_accepts_gzip(request))
        return PV_OK;
    if (response->source != NULL) {
        PV_TRY(pack_source(response, err));
        packed = true;
    } else
        PV_TRY(pack_body(request, response, &packed, err));
    if (!packed)
        return PV_OK;
    http_response_header(request, response, "Content-Encoding", "gzip");
    return mark_tag(request, response, err);
}

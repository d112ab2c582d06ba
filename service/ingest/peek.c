#include "ingest/peek.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/sniff.h"

/* As much as a block of any codec of Spark's takes before it gives its first byte. */
enum { READ_MAX = 64 * 1024 };

struct peek {
    size_t n;
    char head[SNIFF_BYTES]; /* plain */
    char stored[READ_MAX];
};

/* Stops the framing once enough is known. */
static enum pv_code keep_head(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct peek *peek = context;
    size_t room = SNIFF_BYTES - peek->n;
    size_t taken = n < room ? n : room;
    memcpy(peek->head + peek->n, bytes, taken);
    peek->n += taken;
    return peek->n == SNIFF_BYTES ? pv_fail(err, PV_E_CANCELLED, "enough is known") : PV_OK;
}

static bool is_archive(const char *bytes, size_t n)
{
    return sniff((const unsigned char *)bytes, n < SNIFF_BYTES ? n : SNIFF_BYTES, true) !=
           SNIFF_LOG;
}

/* Spark's events, and Hadoop's job histories. */
static bool begins_as_log(const struct peek *peek)
{
    static const char *const beginnings[] = {"{\"Event\":", "Avro-"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (peek->n >= strlen(beginnings[i]) &&
            memcmp(peek->head, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static enum pv_code peek_classify(struct peek *peek,
                                  size_t stored,
                                  const struct compression_limits *limits,
                                  bool *may_be_log,
                                  struct pv_error *err)
{
    struct decompressor *framing = decompressor_create(limits, keep_head, peek);
    if (framing == NULL)
        return pv_no_memory(err);
    bool cut;
    enum pv_code code = decompressor_feed(framing, peek->stored, stored, NULL);
    if (code == PV_OK)
        code = decompressor_finish(framing, &cut, NULL);
    decompressor_destroy(framing);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    /* Damaged, cut or stopped: what came out decides. */
    *may_be_log = begins_as_log(peek) || is_archive(peek->head, peek->n);
    return PV_OK;
}

static enum pv_code
read_stored(struct container *container, struct peek *peek, size_t *stored, struct pv_error *err)
{
    size_t n = 1;
    for (*stored = 0; n > 0 && *stored < READ_MAX; *stored += n)
        PV_TRY(container_read(container, peek->stored + *stored, READ_MAX - *stored, &n, err));
    return PV_OK;
}

enum pv_code peek_at_member(struct container *container,
                            const struct member *member,
                            const struct compression_limits *limits,
                            bool *may_be_log,
                            struct pv_error *err)
{
    struct pv_error why;
    pv_error_clear(&why);
    enum pv_code code = container_open_member(container, member, &why);
    if (code == PV_E_MEDIA_TYPE) {
        *may_be_log = true;
        return PV_OK;
    }
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    struct peek *peek = malloc(sizeof *peek);
    if (peek == NULL)
        return pv_no_memory(err);
    peek->n = 0;
    size_t stored = 0;
    code = read_stored(container, peek, &stored, err);
    if (code == PV_OK && is_archive(peek->stored, stored))
        *may_be_log = true;
    else if (code == PV_OK)
        code = peek_classify(peek, stored, limits, may_be_log, err);
    free(peek);
    return code;
}

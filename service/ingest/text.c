#include "ingest/text.h"

#include <inttypes.h>

bool text_init(struct text *text, const struct ingest_limits *limits)
{
    *text = (struct text){.bytes_max = limits->framing.total_bytes, .last = '\n'};
    (void)crypto_generichash_init(&text->digest, NULL, 0, INGEST_DIGEST);
    text->log = joblog_create(&limits->log);
    return text->log != NULL;
}

void text_fini(struct text *text)
{
    joblog_destroy(text->log);
    text->log = NULL;
}

static enum pv_code take_bytes(struct text *text, const char *bytes, size_t n, struct pv_error *err)
{
    if (n > text->bytes_max - text->bytes)
        return pv_fail(err, PV_E_LIMIT,
                       "the log holds more than %" PRIu64
                       " bytes once it is decompressed (eventlog_plain_bytes_max)",
                       text->bytes_max);
    text->bytes += n;
    text->last = bytes[n - 1];
    (void)crypto_generichash_update(&text->digest, (const unsigned char *)bytes, n);
    return joblog_feed(text->log, bytes, n, err);
}

enum pv_code text_take(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct text *text = context;
    if (n == 0)
        return PV_OK;
    enum pv_code code = text->broken ? take_bytes(text, "\n", 1, err) : PV_OK;
    text->broken = false;
    return code == PV_OK ? take_bytes(text, bytes, n, err) : code;
}

void text_end_member(struct text *text, const char *cut)
{
    if (cut != NULL)
        joblog_note_truncated(text->log, cut);
    text->broken = text->last != '\n' && cut == NULL;
}

enum pv_code text_finish(struct text *text,
                         struct arena *arena,
                         struct run *run,
                         unsigned char digest[INGEST_DIGEST],
                         struct pv_error *err)
{
    (void)crypto_generichash_final(&text->digest, digest, INGEST_DIGEST);
    return joblog_finish(text->log, arena, run, err);
}

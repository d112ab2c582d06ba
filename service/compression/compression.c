#include "compression/compression.h"

#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "compression/compression_internal.h"

enum compression_match compression_match_at(
    const unsigned char *head, size_t n, size_t offset, const char *magic, size_t n_magic)
{
    if (n <= offset)
        return FRAMING_MAYBE;
    size_t have = n - offset < n_magic ? n - offset : n_magic;
    if (memcmp(head + offset, magic, have) != 0)
        return FRAMING_NO;
    return have == n_magic ? FRAMING_YES : FRAMING_MAYBE;
}

/* The format of old lz4 tools, without lengths and checksums. */
static enum compression_match match_lz4_legacy(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, "\x02\x21\x4c\x18", 4);
}

static enum compression_match match_zip(const unsigned char *head, size_t n)
{
    enum compression_match file = compression_match_at(head, n, 0, "PK\x03\x04", 4);
    return file != FRAMING_NO ? file : compression_match_at(head, n, 0, "PK\x05\x06", 4);
}

static enum compression_match match_bzip2(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, "BZh", 3);
}

static enum compression_match match_xz(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0,
                                "\xfd"
                                "7zXZ\0",
                                6);
}

/* The magic of a tar stands late, so do not wait for it where a line of JSON begins. */
static enum compression_match match_tar(const unsigned char *head, size_t n)
{
    if (n > 0 && (head[0] == '{' || head[0] == '\n' || head[0] == '\0'))
        return FRAMING_NO;
    return compression_match_at(head, n, 257, "ustar", 5);
}

/* In this order; compression_plain stands last and takes what nobody else does. */
static const struct compression_coding lz4_legacy = {.name = "lz4 (legacy)",
                                                     .match = match_lz4_legacy};
static const struct compression_coding zip = {.name = "zip", .match = match_zip};
static const struct compression_coding bzip2 = {.name = "bzip2", .match = match_bzip2};
static const struct compression_coding xz = {.name = "xz", .match = match_xz};
static const struct compression_coding tar = {.name = "tar", .match = match_tar};

static const struct compression_coding *const codings[] = {
    &compression_gzip,
    &compression_zstd,
    &compression_lz4_block,
    &compression_lz4_frame,
    &compression_snappy_java,
    &compression_snappy_framed,
    &compression_lzf,
    &lz4_legacy,
    &zip,
    &bzip2,
    &xz,
    &tar,
    &compression_plain,
};

struct decompressor *
decompressor_create(const struct compression_limits *limits, compression_sink sink, void *context)
{
    if (!ledger_take(limits->account, sizeof(struct decompressor)))
        return NULL;
    struct decompressor *framing = malloc(sizeof *framing);
    if (framing == NULL) {
        ledger_give(limits->account, sizeof *framing);
        return NULL;
    }
    /* The buffers need no clearing. */
    memset(framing, 0, offsetof(struct decompressor, head));
    framing->limits = *limits;
    framing->sink = sink;
    framing->context = context;
    framing->counted = sizeof *framing;
    return framing;
}

enum pv_code decompressor_count(struct decompressor *framing,
                                size_t *counted,
                                size_t bytes,
                                struct pv_error *err)
{
    size_t more = bytes > *counted ? bytes - *counted : 0;
    if (!ledger_take(framing->limits.account, more))
        return pv_no_memory(err);
    framing->counted += more;
    *counted += more;
    return PV_OK;
}

void decompressor_destroy(struct decompressor *framing)
{
    if (framing == NULL)
        return;
    if (framing->state != NULL)
        framing->coding->destroy(framing->state);
    free(framing->large);
    ledger_give(framing->limits.account, framing->counted);
    free(framing);
}

const char *compression_kind(const struct decompressor *framing)
{
    return framing->coding == NULL ? "unknown" : framing->coding->name;
}

static enum pv_code compression_choose(struct decompressor *framing,
                                       const struct compression_coding *coding,
                                       struct pv_error *err)
{
    if (coding->feed == NULL) {
        framing->coding = coding;
        return pv_fail(err, PV_E_MEDIA_TYPE,
                       "the body is coded as %s, which is not supported: send it plain, as gzip, "
                       "zstd, lz4, snappy or lzf",
                       coding->name);
    }
    if (coding->create != NULL) {
        size_t before = 0;
        PV_TRY(decompressor_count(framing, &before, coding->state_bytes, err));
        framing->state = coding->create(&framing->limits);
        if (framing->state == NULL)
            return pv_no_memory(err);
    }
    framing->coding = coding;
    return PV_OK;
}

/*
 * The first row that agrees, provided that no row before it may still agree; at the end of the
 * stream a supported coding that agrees so far is one that was cut within its magic.
 */
static const struct compression_coding *recognise(const struct decompressor *framing, bool at_end)
{
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        enum compression_match match = codings[i]->match(framing->head, framing->n_head);
        if (match == FRAMING_YES)
            return codings[i];
        if (match == FRAMING_MAYBE && !at_end)
            return NULL;
        if (match == FRAMING_MAYBE && codings[i]->feed != NULL)
            return codings[i];
    }
    return &compression_plain;
}

/* Gather first bytes until they identify the coding. *taken says how many of the n went into head.
 */
static enum pv_code take_head(
    struct decompressor *framing, const char *bytes, size_t n, size_t *taken, struct pv_error *err)
{
    size_t room = FRAMING_HEAD - framing->n_head;
    *taken = n < room ? n : room;
    memcpy(framing->head + framing->n_head, bytes, *taken);
    framing->n_head += *taken;
    const struct compression_coding *coding = recognise(framing, false);
    if (coding == NULL)
        return PV_OK;
    PV_TRY(compression_choose(framing, coding, err));
    return coding->feed(framing, (const char *)framing->head, framing->n_head, err);
}

static enum pv_code
compression_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    size_t taken = 0;
    if (framing->coding == NULL) {
        enum pv_code code = take_head(framing, bytes, n, &taken, err);
        if (code != PV_OK || taken == n)
            return code;
    }
    return framing->coding->feed(framing, bytes + taken, n - taken, err);
}

enum pv_code
decompressor_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    duty_parses(SIZE_MAX); /* nobody knows what it comes to */
    if (framing->failed != PV_OK)
        return pv_fail(err, framing->failed, "the stream has failed before");
    if (n == 0)
        return PV_OK;
    framing->failed = compression_feed(framing, bytes, n, err);
    return framing->failed;
}

enum pv_code
decompressor_finish(struct decompressor *framing, bool *truncated, struct pv_error *err)
{
    if (framing->failed != PV_OK)
        return pv_fail(err, framing->failed, "the stream has failed before");
    if (framing->coding == NULL && framing->n_head > 0) {
        framing->failed = compression_choose(framing, recognise(framing, true), err);
        if (framing->failed == PV_OK)
            framing->failed =
                framing->coding->feed(framing, (const char *)framing->head, framing->n_head, err);
        if (framing->failed != PV_OK)
            return framing->failed;
    }
    *truncated = framing->coding != NULL && framing->coding->unfinished != NULL &&
                 framing->coding->unfinished(framing->state);
    return PV_OK;
}

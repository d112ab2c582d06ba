#ifndef COMPRESSION_COMPRESSION_INTERNAL_H
#define COMPRESSION_COMPRESSION_INTERNAL_H

#include "compression/compression.h"

/* What the first bytes say about a coding. */
enum compression_match {
    FRAMING_NO,
    FRAMING_MAYBE, /* all bytes so far agree, more are needed */
    FRAMING_YES
};

/*
 * One coding: a row of the table in framing.c. A coding that is only recognised has no functions
 * but `match`.
 */
struct compression_coding {
    const char *name;
    size_t state_bytes; /* what a state takes from the beginning */
    enum compression_match (*match)(const unsigned char *head, size_t n);
    /* NULL when memory is exhausted. */
    void *(*create)(const struct compression_limits *limits);
    /* Decode n bytes into framing->buffer piece by piece, each handed on by decompressor_emit, or
     * into decompressor_room. */
    enum pv_code (*feed)(struct decompressor *framing,
                         const char *bytes,
                         size_t n,
                         struct pv_error *err);
    /* Does the stream end within a frame? */
    bool (*unfinished)(const void *state);
    void (*destroy)(void *state);
};

extern const struct compression_coding compression_plain;
extern const struct compression_coding compression_gzip;
extern const struct compression_coding compression_zstd;
extern const struct compression_coding compression_lz4_block;
extern const struct compression_coding compression_lz4_frame;
extern const struct compression_coding compression_snappy_java;
extern const struct compression_coding compression_snappy_framed;
extern const struct compression_coding compression_lzf;

enum { FRAMING_BUFFER = 1 << 17, FRAMING_HEAD = 512 };

struct decompressor {
    struct compression_limits limits;
    compression_sink sink;
    void *context;
    const struct compression_coding *coding; /* NULL until recognised */
    void *state;                             /* of the coding */
    enum pv_code failed;                     /* sticky: nothing is taken after a failure */
    uint64_t bytes_in;                       /* consumed by the coding */
    uint64_t bytes_out;
    size_t filled; /* plain bytes in buffer that wait for decompressor_flush */
    char *large;   /* room for what does not fit into buffer, or NULL */
    size_t n_large;
    size_t large_counted;
    size_t counted; /* all that is counted in limits.account */
    size_t n_head;
    unsigned char head[FRAMING_HEAD]; /* first bytes while the coding is not known */
    char buffer[FRAMING_BUFFER];      /* where codings put plain bytes */
};

/* Do the first n bytes agree with a magic that stands at `offset`? */
enum compression_match compression_match_at(
    const unsigned char *head, size_t n, size_t offset, const char *magic, size_t n_magic);

/*
 * One part of what the decoder holds comes to `bytes` now; *counted is what it came to before, 0 at
 * first. A part that became smaller is counted as before: what is given back lies in between
 * others. PV_E_MEMORY: limits.account does not allow it.
 */
enum pv_code decompressor_count(struct decompressor *framing,
                                size_t *counted,
                                size_t bytes,
                                struct pv_error *err) PV_MUSTCHECK;

/* --- plain bytes out (output.c) --- */

/* Check the limits, then hand n plain bytes to the sink. */
enum pv_code decompressor_emit(struct decompressor *framing,
                               const char *bytes,
                               size_t n,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Room for n plain bytes, valid until the next call; decompressor_wrote says that they are there.
 * Small blocks gather in the buffer, so that the sink gets long pieces; decompressor_flush hands on
 * the rest. PV_E_LIMIT when they could not be given out anyway.
 */
enum pv_code decompressor_room(struct decompressor *framing,
                               size_t n,
                               char **room,
                               struct pv_error *err) PV_MUSTCHECK;
enum pv_code
decompressor_wrote(struct decompressor *framing, size_t n, struct pv_error *err) PV_MUSTCHECK;
enum pv_code decompressor_flush(struct decompressor *framing, struct pv_error *err) PV_MUSTCHECK;

/* --- formats made of parts whose lengths are known when they begin (blocks.c) --- */

/* Handles the part of `want` bytes and sets `want` to the length of the next one. */
typedef enum pv_code (*compression_block)(struct decompressor *framing,
                                          const unsigned char *part,
                                          struct pv_error *err);

/* The first member of a coding's state. */
struct compression_blocks {
    compression_block take;
    size_t want;          /* bytes of the next part, >= 1 */
    uint32_t skip;        /* bytes to pass over before it */
    unsigned char *bytes; /* a part that came in pieces: have of want bytes */
    size_t have;
    size_t capacity;
    size_t counted;
};

/* A state of `size` bytes, all 0 but `take` and the length of the first part. NULL: no memory. */
void *compression_blocks_create(size_t size, size_t want, compression_block take);
void compression_blocks_destroy(void *state);

/* Cut n bytes into parts; those that lie whole in `bytes` are not copied. Flushes at the end. */
enum pv_code compression_blocks_feed(struct decompressor *framing,
                                     const char *bytes,
                                     size_t n,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Has a part begun that is not whole? */
bool compression_blocks_within(const struct compression_blocks *parts);

/* Largest plain block that the limits allow. */
size_t compression_block_bytes_max(const struct compression_limits *limits);

/* PV_E_LIMIT when a block of n plain bytes, as its header says, is too large. */
enum pv_code compression_check_block(const struct decompressor *framing,
                                     uint64_t n,
                                     struct pv_error *err) PV_MUSTCHECK;

static inline uint32_t compression_le32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t compression_be32(const unsigned char *at)
{
    return (uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[0] << 24;
}

#endif

#ifndef FRAMING_FRAMING_INTERNAL_H
#define FRAMING_FRAMING_INTERNAL_H

#include "framing/framing.h"

/* What the first bytes say about a coding. */
enum framing_match {
    FRAMING_NO,
    FRAMING_MAYBE, /* all bytes so far agree, more are needed */
    FRAMING_YES
};

/*
 * One coding: a row of the table in framing.c. A coding that is only recognised has no functions
 * but `match`.
 */
struct framing_coding {
    const char *name;
    enum framing_match (*match)(const unsigned char *head, size_t n);
    /* NULL when memory is exhausted. */
    void *(*create)(const struct framing_limits *limits);
    /* Decode n bytes into framing->buffer piece by piece, each handed on by framing_emit, or into
     * framing_room. */
    enum pv_code (*feed)(struct framing *framing,
                         const char *bytes,
                         size_t n,
                         struct pv_error *err);
    /* Does the stream end within a frame? */
    bool (*unfinished)(const void *state);
    void (*destroy)(void *state);
};

extern const struct framing_coding framing_plain;
extern const struct framing_coding framing_gzip;
extern const struct framing_coding framing_zstd;
extern const struct framing_coding framing_lz4_block;
extern const struct framing_coding framing_lz4_frame;
extern const struct framing_coding framing_snappy_java;
extern const struct framing_coding framing_snappy_framed;
extern const struct framing_coding framing_lzf;

enum { FRAMING_BUFFER = 1 << 17, FRAMING_HEAD = 512 };

struct framing {
    struct framing_limits limits;
    framing_sink sink;
    void *context;
    const struct framing_coding *coding; /* NULL until recognised */
    void *state;                         /* of the coding */
    enum pv_code failed;                 /* sticky: nothing is taken after a failure */
    uint64_t bytes_in;                   /* consumed by the coding */
    uint64_t bytes_out;
    size_t filled; /* plain bytes in buffer that wait for framing_flush */
    char *large;   /* room for what does not fit into buffer, or NULL */
    size_t n_large;
    size_t n_head;
    unsigned char head[FRAMING_HEAD]; /* first bytes while the coding is not known */
    char buffer[FRAMING_BUFFER];      /* where codings put plain bytes */
};

/* Do the first n bytes agree with a magic that stands at `offset`? */
enum framing_match framing_match_at(
    const unsigned char *head, size_t n, size_t offset, const char *magic, size_t n_magic);

/* --- plain bytes out (output.c) --- */

/* Check the limits, then hand n plain bytes to the sink. */
enum pv_code framing_emit(struct framing *framing,
                          const char *bytes,
                          size_t n,
                          struct pv_error *err) PV_MUSTCHECK;

/*
 * Room for n plain bytes, valid until the next call; framing_wrote says that they are there. Small
 * blocks gather in the buffer, so that the sink gets long pieces; framing_flush hands on the rest.
 * PV_E_LIMIT when they could not be given out anyway.
 */
enum pv_code
framing_room(struct framing *framing, size_t n, char **room, struct pv_error *err) PV_MUSTCHECK;
enum pv_code framing_wrote(struct framing *framing, size_t n, struct pv_error *err) PV_MUSTCHECK;
enum pv_code framing_flush(struct framing *framing, struct pv_error *err) PV_MUSTCHECK;

enum pv_code framing_no_memory(struct pv_error *err);

/* --- formats made of parts whose lengths are known when they begin (parts.c) --- */

struct framing_parts {
    size_t want;          /* bytes of the next part, >= 1 */
    uint32_t skip;        /* bytes to pass over before it */
    unsigned char *bytes; /* a part that came in pieces: have of want bytes */
    size_t have;
    size_t room;
};

/*
 * Handles the part of parts->want bytes and sets parts->want to the length of the next one. The
 * caller of framing_parts_feed keeps parts at the beginning of framing->state.
 */
typedef enum pv_code (*framing_part)(struct framing *framing,
                                     const unsigned char *part,
                                     struct pv_error *err);

/* Cut n bytes into parts; those that lie whole in `bytes` are not copied. Flushes at the end. */
enum pv_code framing_parts_feed(struct framing *framing,
                                framing_part handle,
                                const char *bytes,
                                size_t n,
                                struct pv_error *err) PV_MUSTCHECK;

/* Has a part begun that is not whole? */
bool framing_parts_within(const struct framing_parts *parts);
void framing_parts_fini(struct framing_parts *parts);

/* Largest plain block that the limits allow. */
size_t framing_block_bytes_max(const struct framing_limits *limits);

/* PV_E_LIMIT when a block of n plain bytes, as its header says, is too large. */
enum pv_code
framing_check_block(const struct framing *framing, uint64_t n, struct pv_error *err) PV_MUSTCHECK;

static inline uint32_t framing_le32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t framing_be32(const unsigned char *at)
{
    return (uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[0] << 24;
}

#endif

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
    /* Decode n bytes into framing->buffer piece by piece, each handed on by framing_emit. */
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
    size_t n_head;
    unsigned char head[FRAMING_HEAD]; /* first bytes while the coding is not known */
    char buffer[FRAMING_BUFFER];      /* where codings put plain bytes */
};

/* Check the limits, then hand n plain bytes to the sink. */
enum pv_code framing_emit(struct framing *framing,
                          const char *bytes,
                          size_t n,
                          struct pv_error *err) PV_MUSTCHECK;

#endif

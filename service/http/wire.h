#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Follows the bytes of a connection and finds what RFC 9112 calls for refusing, but the library takes
 * or passes over in silence: a line that ends without CR, a folded header field, a NUL, a request
 * line with blanks too many, a Host that is missing, a transfer coding in HTTP/1.0, chunks that are
 * none. Other faults of header fields are left to http/fields.c, which can name them.
 */
struct http_wire {
    unsigned state;
    size_t parameters_max;
    uint64_t message; /* the number of the request under way, from 0 */
    /* of that request: */
    size_t parameters;
    char word[24]; /* version, name or value under way, cut */
    size_t word_n;
    bool in_query, http_1_0, has_host, has_length, has_coding, unclear;
    unsigned field; /* which of those with a meaning here */
    uint64_t left;  /* bytes of the body or chunk to come */
};

/* parameters_max: of a query. */
void http_wire_init(struct http_wire *wire, size_t parameters_max);

/*
 * The next n bytes. NULL: they may go on. Else what is wrong, as a sentence; *good is then how many
 * bytes belong to requests before the faulty one, and the rest of the connection cannot be
 * understood.
 */
const char *http_wire_read(struct http_wire *wire, const char *bytes, size_t n, size_t *good);

#endif

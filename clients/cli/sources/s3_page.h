#ifndef CLI_SOURCES_S3_PAGE_H
#define CLI_SOURCES_S3_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vector.h"

/* The XML of S3: a page of the reply of ListObjectsV2, and the reply that is an error. */
struct s3_entry {
    const char *key;     /* decoded */
    const char *etag;    /* without its quotes; "": none */
    int64_t bytes;       /* -1: not said */
    int64_t modified_us; /* INSTANT_UNKNOWN: not said */
};

struct s3_page {
    VECTOR(struct s3_entry) entries;
    const char *next; /* the continuation token of the next page; NULL: this is the last */
};

/* All in the arena. false: it is no such page, and *fault says how in a few words, or memory ran out,
 * and it is NULL. */
bool s3_page_parse(
    struct arena *arena, const char *text, size_t n, struct s3_page *page, const char **fault);

/* Printable; "": not said. */
struct s3_error {
    const char *code;
    const char *message;
    const char *region;
};

/* false: it is no error of S3. */
bool s3_error_parse(struct arena *arena, const char *text, size_t n, struct s3_error *error);

#endif

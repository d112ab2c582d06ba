#ifndef CLI_SOURCES_SOURCE_INTERNAL_H
#define CLI_SOURCES_SOURCE_INTERNAL_H

#include "cli/sources/source.h"

/*
 * What a kind of source does, by the functions of source.h of the same name. Its own structs begin
 * with these two, which its open functions fill.
 */
struct source_kind {
    bool (*list)(struct source *, source_found *, void *context, struct failure *);
    bool (*read_open)(struct source *,
                      const struct source_object *,
                      struct source_stream **,
                      struct failure *);
    bool (*read)(struct source_stream *, void *bytes, size_t n, size_t *got, struct failure *);
    void (*read_close)(struct source_stream *);
    void (*close)(struct source *);
};

struct source {
    const struct source_kind *kind;
};

struct source_stream {
    const struct source_kind *kind;
};

#endif

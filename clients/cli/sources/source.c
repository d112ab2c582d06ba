#include "cli/sources/source.h"

#include <string.h>

#include "cli/sources/source_internal.h"

bool source_name_unfinished(const char *file)
{
    static const char end[] = ".inprogress";
    size_t n = strlen(file);
    return n >= sizeof end - 1 && strcmp(file + n - (sizeof end - 1), end) == 0;
}

bool source_list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    return source->kind->list(source, found, context, failure);
}

bool source_read_open(struct source *source,
                      const struct source_object *object,
                      struct source_stream **stream,
                      struct failure *failure)
{
    return source->kind->read_open(source, object, stream, failure);
}

bool source_read(
    struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    return stream->kind->read(stream, bytes, n, got, failure);
}

void source_read_close(struct source_stream *stream)
{
    if (stream != NULL)
        stream->kind->read_close(stream);
}

void source_close(struct source *source)
{
    if (source != NULL)
        source->kind->close(source);
}

#include "cli/ingest/part_stream.h"

#include "cli/ingest/local_files.h"

void part_stream_begin(struct part_stream *part,
                       struct source *source,
                       const struct source_object *object)
{
    *part = (struct part_stream){.source = source, .object = object, .left = object->bytes};
}

void part_stream_end(struct part_stream *part)
{
    source_read_close(part->stream);
    part->stream = NULL;
}

/* Behind the last byte announced there is none. */
static bool check_end(struct part_stream *part, struct failure *failure)
{
    char byte;
    size_t got = 0;
    if (part->object->unfinished)
        return true; /* what is appended meanwhile is read next time */
    if (!source_read(part->stream, &byte, 1, &got, failure))
        return false;
    return got == 0 ||
           fail(failure, EXIT_FAILED, "%s: it is longer than it was", changed_while_read);
}

bool part_stream_read(
    struct part_stream *part, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    *got = 0;
    if (part->left == 0)
        return true;
    if (part->stream == NULL &&
        !source_read_open(part->source, part->object, &part->stream, failure))
        return false;
    if (part->left < 0)
        return source_read(part->stream, bytes, n, got, failure);
    size_t wanted = (uint64_t)part->left < n ? (size_t)part->left : n;
    if (!source_read(part->stream, bytes, wanted, got, failure))
        return false;
    if (*got == 0)
        return fail(failure, EXIT_FAILED, "%s: it is shorter than it was", changed_while_read);
    part->left -= (int64_t)*got;
    return part->left > 0 || check_end(part, failure);
}

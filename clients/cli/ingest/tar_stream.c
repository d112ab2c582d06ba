#include "cli/ingest/tar_stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/instant.h"

enum { BLOCK = 512, END = 2 * BLOCK };

/* --- headers --- */

struct header {
    char *bytes; /* TAR_HEADER_MAX of them */
    size_t n;
    bool whole; /* nothing more is wanted */
};

static la_ssize_t keep(struct archive *archive, void *context, const void *bytes, size_t n)
{
    struct header *header = context;
    (void)archive;
    if (header->whole || n > TAR_HEADER_MAX - header->n)
        return -1;
    memcpy(header->bytes + header->n, bytes, n);
    header->n += n;
    return (la_ssize_t)n;
}

static bool write_entry(struct archive *archive, const struct source_object *part)
{
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL)
        return false;
    archive_entry_set_pathname(entry, part->file);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, part->bytes);
    if (part->modified_us != INSTANT_UNKNOWN)
        archive_entry_set_mtime(entry, part->modified_us / 1000000, 0);
    /* A warning is about a name in no known encoding: its bytes are kept. */
    bool good = archive_write_header(archive, entry) >= ARCHIVE_WARN;
    archive_entry_free(entry);
    return good;
}

static bool make_header(const struct source_object *part, struct header *header)
{
    struct archive *archive = archive_write_new();
    header->n = 0;
    header->whole = false;
    bool good = archive != NULL && archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK &&
                archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK &&
                archive_write_open(archive, header, NULL, keep, NULL) == ARCHIVE_OK &&
                write_entry(archive, part);
    header->whole = true; /* or the part would be written as zeros now */
    if (archive != NULL)
        (void)archive_write_free(archive);
    return good;
}

static size_t padding(int64_t bytes)
{
    return (size_t)(BLOCK - bytes % BLOCK) % BLOCK;
}

bool tar_stream_bytes(const struct ingest_log *log, int64_t *bytes, struct failure *failure)
{
    char room[TAR_HEADER_MAX];
    struct header header = {.bytes = room};
    int64_t sum = END;
    for (size_t i = 0; i < log->n_parts; i++) {
        const struct source_object *part = &log->parts[i];
        if (part->bytes < 0 || !make_header(part, &header))
            return fail(failure, EXIT_FAILED, "%s cannot be part of an archive", part->name);
        sum += (int64_t)header.n + part->bytes + (int64_t)padding(part->bytes);
    }
    *bytes = sum;
    return true;
}

/* --- reading --- */

void tar_stream_begin(struct tar_stream *tar, const struct ingest_log *log)
{
    tar->log = log;
    tar->next = 0;
    tar->in_part = false;
    tar->header_n = tar->header_at = 0;
    tar->ended = false;
}

void tar_stream_end(struct tar_stream *tar)
{
    if (tar->in_part)
        part_stream_end(&tar->part);
    tar->in_part = false;
}

static void set_zeros(struct tar_stream *tar, size_t n)
{
    memset(tar->header, 0, n);
    tar->header_n = n;
    tar->header_at = 0;
}

static bool begin_part(struct tar_stream *tar, struct failure *failure)
{
    const struct source_object *part = &tar->log->parts[tar->next++];
    struct header header = {.bytes = tar->header};
    if (!make_header(part, &header))
        return fail(failure, EXIT_FAILED, "%s cannot be part of an archive", part->name);
    tar->header_n = header.n;
    tar->header_at = 0;
    part_stream_begin(&tar->part, tar->log->source, part);
    tar->in_part = true;
    return true;
}

static void leave_part(struct tar_stream *tar)
{
    set_zeros(tar, padding(tar->part.object->bytes));
    part_stream_end(&tar->part);
    tar->in_part = false;
}

static size_t take_header(struct tar_stream *tar, void *bytes, size_t n)
{
    size_t left = tar->header_n - tar->header_at;
    size_t m = left < n ? left : n;
    memcpy(bytes, tar->header + tar->header_at, m);
    tar->header_at += m;
    return m;
}

bool tar_stream_read(
    struct tar_stream *tar, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    for (;;) {
        *got = take_header(tar, bytes, n);
        if (*got > 0)
            return true;
        if (tar->in_part) {
            if (!part_stream_read(&tar->part, bytes, n, got, failure))
                return false;
            if (*got > 0)
                return true;
            leave_part(tar);
        } else if (tar->next < tar->log->n_parts) {
            if (!begin_part(tar, failure))
                return false;
        } else if (!tar->ended) {
            tar->ended = true;
            set_zeros(tar, END);
        } else {
            return true;
        }
    }
}

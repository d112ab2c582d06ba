/*
 * tar by libarchive: ustar, pax, GNU and version 7. A part is found again by the place of its
 * header, so parts in any order cost no search.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/container.h"

enum { BLOCK = 64 * 1024 };

struct tar {
    struct container base;
    int fd;
    uint64_t bytes;
    uint64_t at;
    struct archive *reader;
    char block[BLOCK];
};

/* --- how libarchive reads the file --- */

static la_ssize_t read_block(struct archive *reader, void *context, const void **bytes)
{
    struct tar *tar = context;
    ssize_t n;
    do
        n = pread(tar->fd, tar->block, BLOCK, (off_t)tar->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        archive_set_error(reader, errno, "%s", strerror(errno));
    else
        tar->at += (uint64_t)n;
    *bytes = tar->block;
    return n;
}

/* Never beyond the end: the library must notice that a tar was cut. */
static la_int64_t skip_bytes(struct archive *reader, void *context, la_int64_t wanted)
{
    struct tar *tar = context;
    (void)reader;
    uint64_t left = tar->bytes > tar->at ? tar->bytes - tar->at : 0;
    uint64_t n = wanted < 0 ? 0 : (uint64_t)wanted < left ? (uint64_t)wanted : left;
    tar->at += n;
    return (la_int64_t)n;
}

static enum pv_code container_tar_fail(const struct tar *tar, struct pv_error *err)
{
    if (archive_errno(tar->reader) == ENOMEM)
        return pv_no_memory(err);
    const char *why = archive_error_string(tar->reader);
    char shown[MEMBERS_SHOWN];
    members_show(strview_of(why == NULL ? "no reason given" : why), shown);
    return pv_fail(err, PV_E_SYNTAX, "the tar is damaged or cut short: %s", shown);
}

static void close_reader(struct tar *tar)
{
    if (tar->reader != NULL)
        (void)archive_read_free(tar->reader);
    tar->reader = NULL;
}

static enum pv_code open_reader(struct tar *tar, uint64_t at, struct pv_error *err)
{
    close_reader(tar);
    tar->at = at;
    tar->reader = archive_read_new();
    if (tar->reader == NULL)
        return pv_no_memory(err);
    int result = archive_read_support_format_tar(tar->reader);
    if (result == ARCHIVE_OK)
        result = archive_read_open2(tar->reader, tar, NULL, read_block, skip_bytes, NULL);
    return result == ARCHIVE_OK ? PV_OK : container_tar_fail(tar, err);
}

/*
 * *entry NULL at the end. A warning is about what we do not use: owners, times, character sets.
 * What libarchive says may be tried again is damage all the same, and may stay so for ever.
 */
static enum pv_code next_entry(struct tar *tar, struct archive_entry **entry, struct pv_error *err)
{
    int result = archive_read_next_header(tar->reader, entry);
    if (result == ARCHIVE_EOF)
        *entry = NULL;
    if (result == ARCHIVE_EOF || result == ARCHIVE_OK || result == ARCHIVE_WARN)
        return PV_OK;
    return container_tar_fail(tar, err);
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);
    return name != NULL ? name : archive_entry_pathname(entry);
}

static bool is_file(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == NULL &&
           name_of(entry) != NULL;
}

/* --- the kind --- */

static enum pv_code
container_tar_list(struct container *container, struct members *members, struct pv_error *err)
{
    struct tar *tar = (struct tar *)container;
    struct archive_entry *entry = NULL;
    enum pv_code code = open_reader(tar, 0, err);
    while (code == PV_OK) {
        code = next_entry(tar, &entry, err);
        if (code != PV_OK || entry == NULL)
            break;
        /* Other kinds of entries count towards the limit, too. */
        const char *name = is_file(entry) ? name_of(entry) : ".";
        code = members_add(members, name, (uint64_t)archive_read_header_position(tar->reader), err);
    }
    close_reader(tar);
    return code;
}

static enum pv_code container_tar_open_member(struct container *container,
                                              const struct member *member,
                                              struct pv_error *err)
{
    struct tar *tar = (struct tar *)container;
    struct archive_entry *entry = NULL;
    enum pv_code code = open_reader(tar, member->where, err);
    if (code == PV_OK)
        code = next_entry(tar, &entry, err);
    if (code != PV_OK)
        return code;
    if (entry == NULL || !is_file(entry) || strcmp(name_of(entry), member->name) != 0)
        return pv_fail(err, PV_E_SYNTAX, "the tar is damaged: a file is not where it was listed");
    return PV_OK;
}

static enum pv_code
read_member(struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err)
{
    struct tar *tar = (struct tar *)container;
    la_ssize_t got = archive_read_data(tar->reader, bytes, room);
    if (got < 0)
        return container_tar_fail(tar, err);
    *n = (size_t)got;
    return PV_OK;
}

static void container_tar_destroy(struct container *container)
{
    struct tar *tar = (struct tar *)container;
    close_reader(tar);
    free(tar);
}

static const struct container_kind kind = {.list = container_tar_list,
                                           .open = container_tar_open_member,
                                           .read = read_member,
                                           .destroy = container_tar_destroy};

enum pv_code
container_open_tar(int fd, uint64_t bytes, struct container **container, struct pv_error *err)
{
    struct tar *tar = calloc(1, sizeof *tar);
    if (tar == NULL)
        return pv_no_memory(err);
    tar->base.kind = &kind;
    tar->fd = fd;
    tar->bytes = bytes;
    *container = &tar->base;
    return PV_OK;
}

/*
 * zip by libzip, which reads the list at the end of the archive and finds every file from there.
 * The list is held in memory: what opening an archive may read is bounded, since 46 bytes there
 * cost several times as many here. Only the two ways of packing that every program writes are
 * taken: others cost up to gigabytes of memory to unpack.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "ingest/container.h"

struct zip_container {
    struct container base;
    int fd;
    uint64_t bytes;
    uint64_t at;
    uint64_t list_bytes_max;
    uint64_t list_bytes; /* read while the archive was opened */
    struct ledger_account *account;
    size_t counted;
    bool opened;
    zip_error_t error; /* of the source */
    zip_t *zip;
    zip_file_t *file;
};

/* --- how libzip reads the file --- */

static zip_int64_t source_read(struct zip_container *zip, void *bytes, uint64_t n)
{
    if (!zip->opened) {
        zip->list_bytes += n;
        if (zip->list_bytes > zip->list_bytes_max) {
            zip_error_set(&zip->error, ZIP_ER_READ, E2BIG);
            return -1;
        }
    }
    ssize_t got;
    do
        got = pread(zip->fd, bytes, n, (off_t)zip->at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        zip_error_set(&zip->error, ZIP_ER_READ, errno);
    else
        zip->at += (uint64_t)got;
    return got;
}

static zip_int64_t source_seek(struct zip_container *zip, void *data, uint64_t n)
{
    zip_int64_t to = zip_source_seek_compute_offset(zip->at, zip->bytes, data, n, &zip->error);
    if (to < 0)
        return -1;
    zip->at = (uint64_t)to;
    return 0;
}

static zip_int64_t source_stat(const struct zip_container *zip, void *data)
{
    zip_stat_t *stat = data;
    zip_stat_init(stat);
    stat->valid = ZIP_STAT_SIZE;
    stat->size = zip->bytes;
    return sizeof *stat;
}

static zip_int64_t source(void *context, void *data, zip_uint64_t n, zip_source_cmd_t command)
{
    struct zip_container *zip = context;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        zip->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return source_read(zip, data, n);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_STAT:
        return source_stat(zip, data);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&zip->error, data, n);
    case ZIP_SOURCE_SEEK:
        return source_seek(zip, data, n);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)zip->at;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
    default:
        zip_error_set(&zip->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static enum pv_code container_zip_fail(zip_error_t *error, struct pv_error *err)
{
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return pv_no_memory(err);
    char shown[MEMBERS_SHOWN];
    members_show(strview_of(zip_error_strerror(error)), shown);
    return pv_fail(err, PV_E_SYNTAX, "the zip is damaged or cut short: %s", shown);
}

/* --- the kind --- */

static bool is_link(zip_t *zip, zip_uint64_t i)
{
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    return zip_file_get_external_attributes(zip, i, 0, &system, &attributes) == 0 &&
           system == ZIP_OPSYS_UNIX && (attributes >> 16 & 0170000) == 0120000;
}

static enum pv_code
container_zip_list(struct container *container, struct members *members, struct pv_error *err)
{
    struct zip_container *zip = (struct zip_container *)container;
    zip_int64_t n = zip_get_num_entries(zip->zip, 0);
    enum pv_code code = PV_OK;
    for (zip_int64_t i = 0; code == PV_OK && i < n; i++) {
        const char *name = zip_get_name(zip->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (name == NULL)
            return container_zip_fail(zip_get_error(zip->zip), err);
        /* Other kinds of entries count towards the limit, too. */
        code =
            members_add(members, is_link(zip->zip, (zip_uint64_t)i) ? "." : name, (uint64_t)i, err);
    }
    return code;
}

static void close_file(struct zip_container *zip)
{
    if (zip->file != NULL)
        (void)zip_fclose(zip->file);
    zip->file = NULL;
}

static enum pv_code container_zip_open_member(struct container *container,
                                              const struct member *member,
                                              struct pv_error *err)
{
    struct zip_container *zip = (struct zip_container *)container;
    zip_stat_t stat;
    close_file(zip);
    if (zip_stat_index(zip->zip, member->where, 0, &stat) != 0)
        return container_zip_fail(zip_get_error(zip->zip), err);
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
        return pv_fail(err, PV_E_MEDIA_TYPE, "it is encrypted");
    if ((stat.valid & ZIP_STAT_COMP_METHOD) != 0 && stat.comp_method != ZIP_CM_STORE &&
        stat.comp_method != ZIP_CM_DEFLATE)
        return pv_fail(err, PV_E_MEDIA_TYPE,
                       "it is packed with method %u of zip; stored and deflated files are taken",
                       (unsigned)stat.comp_method);
    zip->file = zip_fopen_index(zip->zip, member->where, 0);
    return zip->file == NULL ? container_zip_fail(zip_get_error(zip->zip), err) : PV_OK;
}

static enum pv_code
read_member(struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err)
{
    struct zip_container *zip = (struct zip_container *)container;
    zip_int64_t got = zip_fread(zip->file, bytes, room);
    if (got < 0)
        return container_zip_fail(zip_file_get_error(zip->file), err);
    *n = (size_t)got;
    return PV_OK;
}

static void container_zip_destroy(struct container *container)
{
    struct zip_container *zip = (struct zip_container *)container;
    close_file(zip);
    if (zip->zip != NULL)
        zip_discard(zip->zip);
    zip_error_fini(&zip->error);
    ledger_give(zip->account, zip->counted);
    free(zip);
}

static const struct container_kind kind = {.list = container_zip_list,
                                           .open = container_zip_open_member,
                                           .read = read_member,
                                           .destroy = container_zip_destroy};

static enum pv_code open_archive(struct zip_container *zip, struct pv_error *err)
{
    zip_error_t error;
    zip_error_init(&error);
    enum pv_code code = PV_OK;
    zip_source_t *made = zip_source_function_create(source, zip, &error);
    if (made != NULL)
        zip->zip = zip_open_from_source(made, ZIP_RDONLY, &error);
    if (zip->zip == NULL && made != NULL)
        zip_source_free(made);
    if (zip->zip == NULL && zip->list_bytes > zip->list_bytes_max)
        code = pv_fail(err, PV_E_LIMIT,
                       "the list of files of the zip is longer than %" PRIu64
                       " bytes (archive_entries_max)",
                       zip->list_bytes_max);
    else if (zip->zip == NULL)
        code = container_zip_fail(&error, err);
    zip_error_fini(&error);
    zip->opened = true;
    return code;
}

/* What libzip makes of the list, by experience at most so many times its bytes. */
static enum pv_code count_list(struct zip_container *zip, struct pv_error *err)
{
    enum { LIST_FACTOR = 8 };
    size_t bytes = (size_t)zip->list_bytes * LIST_FACTOR;
    if (!ledger_take(zip->account, bytes))
        return pv_no_memory(err);
    zip->counted = bytes;
    return PV_OK;
}

enum pv_code container_open_zip(int fd,
                                uint64_t bytes,
                                const struct ingest_limits *limits,
                                struct container **container,
                                struct pv_error *err)
{
    /* For an entry of the list, name and extra fields included; the search for it reads 64 kB. */
    static const uint64_t entry_bytes = 512;
    static const uint64_t search_bytes = 256 * 1024;
    struct zip_container *zip = calloc(1, sizeof *zip);
    if (zip == NULL)
        return pv_no_memory(err);
    zip->base.kind = &kind;
    zip->fd = fd;
    zip->bytes = bytes;
    zip->list_bytes_max = limits->archive_entries * entry_bytes + search_bytes;
    zip->account = limits->log.account;
    zip_error_init(&zip->error);
    enum pv_code code = open_archive(zip, err);
    if (code == PV_OK)
        code = count_list(zip, err);
    if (code == PV_OK)
        *container = &zip->base;
    else
        container_zip_destroy(&zip->base);
    return code;
}

/* A folder on disk: the files that lie in it, not those in folders below. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/container.h"

struct folder {
    struct container base;
    int fd;
    DIR *entries; /* owns fd */
    int member;   /* -1: none open */
};

static enum pv_code container_folder_fail(struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "cannot be read: %s", strerror(errno));
}

static bool is_file(const struct folder *folder, const char *name)
{
    struct stat status;
    return fstatat(folder->fd, name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

static enum pv_code
container_folder_list(struct container *container, struct members *members, struct pv_error *err)
{
    struct folder *folder = (struct folder *)container;
    enum pv_code code = PV_OK;
    while (code == PV_OK) {
        errno = 0;
        const struct dirent *entry = readdir(folder->entries);
        if (entry == NULL)
            return errno == 0 ? PV_OK : container_folder_fail(err);
        if (is_file(folder, entry->d_name))
            code = members_add(members, entry->d_name, 0, err);
    }
    return code;
}

static void close_member(struct folder *folder)
{
    if (folder->member >= 0)
        (void)close(folder->member);
    folder->member = -1;
}

static enum pv_code container_folder_open_member(struct container *container,
                                                 const struct member *member,
                                                 struct pv_error *err)
{
    struct folder *folder = (struct folder *)container;
    close_member(folder);
    /* Not waiting for a writer, should it have become a pipe meanwhile. */
    folder->member = openat(folder->fd, member->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return folder->member < 0 ? container_folder_fail(err) : PV_OK;
}

static enum pv_code
read_member(struct container *container, char *bytes, size_t room, size_t *n, struct pv_error *err)
{
    struct folder *folder = (struct folder *)container;
    ssize_t got;
    do
        got = read(folder->member, bytes, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return container_folder_fail(err);
    *n = (size_t)got;
    return PV_OK;
}

static void container_folder_destroy(struct container *container)
{
    struct folder *folder = (struct folder *)container;
    close_member(folder);
    (void)closedir(folder->entries);
    free(folder);
}

static const struct container_kind kind = {.list = container_folder_list,
                                           .open = container_folder_open_member,
                                           .read = read_member,
                                           .destroy = container_folder_destroy};

enum pv_code container_open_folder(int fd, struct container **container, struct pv_error *err)
{
    struct folder *folder = calloc(1, sizeof *folder);
    DIR *entries = folder == NULL ? NULL : fdopendir(fd);
    if (entries == NULL) {
        enum pv_code code = folder == NULL ? pv_no_memory(err) : container_folder_fail(err);
        free(folder);
        (void)close(fd);
        return code;
    }
    *folder = (struct folder){.base = {&kind}, .fd = fd, .entries = entries, .member = -1};
    *container = &folder->base;
    return PV_OK;
}

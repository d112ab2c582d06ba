#include "cli/ingest/local_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/vector.h"
#include "cli/sources/source_internal.h"

const char changed_while_read[] = "changed while it was read";

enum { IDENTITY = 64 };

struct local_stream {
    struct source_stream stream;
    int fd;
    bool unfinished;
    struct stat begun;
};

/* --- a source --- */

static void local_close(struct source *source)
{
    free(source);
}

/* Local files are found by struct find. */
static bool
local_list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    (void)source;
    (void)found;
    (void)context;
    return fail(failure, EXIT_FAILED, "local files are not listed by a source");
}

static bool local_fail(struct failure *failure)
{
    return fail(failure, EXIT_FAILED, "cannot be read: %s", strerror(errno));
}

static void identify_file(const struct stat *status, char identity[IDENTITY])
{
    (void)snprintf(identity, IDENTITY, "%" PRId64 "-%" PRId64 ".%09ld", (int64_t)status->st_size,
                   (int64_t)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool local_read_open(struct source *source,
                            const struct source_object *object,
                            struct source_stream **stream,
                            struct failure *failure)
{
    char identity[IDENTITY];
    struct local_stream *local = calloc(1, sizeof *local);
    if (local == NULL)
        return fail_memory(failure);
    bool standard = strcmp(object->name, "-") == 0;
    local->stream.kind = source->kind;
    local->unfinished = object->unfinished;
    /* What was a file when it was found may be a pipe by now, whose other end nobody opens. */
    local->fd = standard ? STDIN_FILENO : open(object->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (local->fd < 0 || fstat(local->fd, &local->begun) != 0) {
        (void)local_fail(failure);
        source_read_close(&local->stream);
        return false;
    }
    identify_file(&local->begun, identity);
    bool changed = !S_ISREG(local->begun.st_mode) ||
                   (!object->unfinished && strcmp(identity, object->identity) != 0);
    if (!standard && changed) {
        source_read_close(&local->stream);
        return fail(failure, EXIT_FAILED, "%s", changed_while_read);
    }
    (void)posix_fadvise(local->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *stream = &local->stream;
    return true;
}

static bool local_read(
    struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    struct local_stream *local = (struct local_stream *)stream;
    struct stat now;
    ssize_t m;
    do
        m = read(local->fd, bytes, n);
    while (m < 0 && errno == EINTR);
    if (m < 0)
        return local_fail(failure);
    *got = (size_t)m;
    if (m > 0 || local->unfinished || local->fd == STDIN_FILENO)
        return true;
    if (fstat(local->fd, &now) != 0)
        return local_fail(failure);
    return is_same(&now, &local->begun) || fail(failure, EXIT_FAILED, "%s", changed_while_read);
}

static void local_read_close(struct source_stream *stream)
{
    struct local_stream *local = (struct local_stream *)stream;
    if (local->fd > STDIN_FILENO)
        (void)close(local->fd);
    free(local);
}

static const struct source_kind local_kind = {.list = local_list,
                                              .read_open = local_read_open,
                                              .read = local_read,
                                              .read_close = local_read_close,
                                              .close = local_close};

bool source_local_open(struct source **source, struct failure *failure)
{
    struct source *local = calloc(1, sizeof *local);
    if (local == NULL)
        return fail_memory(failure);
    local->kind = &local_kind;
    *source = local;
    return true;
}

/* --- what lies under a path --- */

struct folder_files {
    struct arena arena;
    struct source_object *items;
    size_t n;
    size_t capacity;
};

static bool describe(struct arena *arena,
                     const char *path,
                     const char *folder,
                     const char *file,
                     const struct stat *status,
                     struct source_object *object)
{
    char identity[IDENTITY];
    identify_file(status, identity);
    *object = (struct source_object){.name = path,
                                     .folder = folder,
                                     .file = file,
                                     .identity = arena_strdup(arena, identity),
                                     .bytes = status->st_size,
                                     .modified_us = (int64_t)status->st_mtim.tv_sec * 1000000 +
                                                    status->st_mtim.tv_nsec / 1000,
                                     .unfinished = source_name_unfinished(file)};
    return object->identity != NULL;
}

static bool add_entry(struct folder_files *files, const char *folder, const char *file)
{
    struct stat status;
    char *name = arena_strdup(&files->arena, file);
    char *path = arena_printf(&files->arena, "%s/%s", folder, file);
    if (name == NULL || path == NULL)
        return false;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return true; /* gone meanwhile, or no part of a log */
    struct source_object *object = vector_add(NULL, files);
    return object != NULL && describe(&files->arena, path, folder, name, &status, object);
}

static int compare_files(const void *a, const void *b)
{
    const struct source_object *x = a;
    const struct source_object *y = b;
    return strcmp(x->file, y->file);
}

static bool list_files(const char *path, struct folder_files *files, bool *readable)
{
    DIR *folder = opendir(path);
    bool good = true;
    *readable = folder != NULL;
    if (folder == NULL)
        return true;
    for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;)
        good = add_entry(files, path, entry->d_name);
    (void)closedir(folder);
    if (files->n > 0)
        qsort(files->items, files->n, sizeof *files->items, compare_files);
    return good;
}

static bool add_unreadable(struct log_list *list, const char *path)
{
    char reason[128];
    (void)snprintf(reason, sizeof reason, "cannot be read: %s", strerror(errno));
    return log_list_add_other(list, path, FIND_UNREADABLE, reason);
}

static bool add_rolling_folder(struct log_list *list, struct source *local, const char *path)
{
    struct folder_files files = {.items = NULL};
    bool readable = true;
    arena_init(&files.arena, 0);
    bool good = list_files(path, &files, &readable) &&
                (readable ? log_list_add_rolling(list, local, path, files.items, files.n)
                          : add_unreadable(list, path));
    free(files.items);
    arena_fini(&files.arena);
    return good;
}

static bool add_log(struct log_list *list, struct source *local, const char *path)
{
    struct stat status;
    struct source_object object;
    const char *slash = strrchr(path, '/');
    if (stat(path, &status) != 0)
        return add_unreadable(list, path);
    if (S_ISDIR(status.st_mode))
        return add_rolling_folder(list, local, path);
    return describe(&list->arena, path, "", slash == NULL ? path : slash + 1, &status, &object) &&
           log_list_add_file(list, local, &object);
}

static bool add_standard_input(struct log_list *list, struct source *local)
{
    static const struct source_object object = {.name = "-",
                                                .folder = "",
                                                .file = "-",
                                                .identity = "",
                                                .bytes = -1,
                                                .modified_us = INSTANT_UNKNOWN};
    if (!log_list_add_file(list, local, &object))
        return false;
    list->items[list->n - 1].once = true;
    return true;
}

static bool add_found(struct log_list *list, struct source *local, const struct find *find)
{
    bool good = true;
    for (size_t i = 0; i < find->n && good; i++) {
        const struct find_item *item = &find->items[i];
        good = item->kind == FIND_LOG
                   ? add_log(list, local, item->path)
                   : log_list_add_other(list, item->path, item->kind, item->reason);
    }
    return good;
}

bool log_list_add_path(struct log_list *list,
                       struct source *local,
                       const char *path,
                       struct failure *failure)
{
    struct find find = {.items = NULL};
    if (strcmp(path, "-") == 0)
        return add_standard_input(list, local) || fail_memory(failure);
    bool good = find_add(&find, path, NULL) == PV_OK && add_found(list, local, &find);
    find_fini(&find);
    return good || fail_memory(failure);
}

#include "logfiles/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"

enum { DEPTH_MAX = 64 };

struct find_folder {
    dev_t device;
    ino_t inode;
    bool taken;
};

/* --- growing --- */

static enum pv_code add_item(struct find *find,
                             const char *path,
                             enum find_kind kind,
                             uint64_t bytes,
                             const char *reason,
                             struct pv_error *err)
{
    if (!vector_reserve(NULL, find->items, find->capacity, find->n + 1))
        return pv_no_memory(err);
    struct find_item *item = &find->items[find->n];
    *item = (struct find_item){.path = strdup(path), .kind = kind, .bytes = bytes};
    if (item->path == NULL)
        return pv_no_memory(err);
    (void)snprintf(item->reason, sizeof item->reason, "%s", reason);
    find->n++;
    find->bytes += kind == FIND_LOG ? bytes : 0;
    return PV_OK;
}

static enum pv_code
find_skip(struct find *find, const char *path, const char *reason, struct pv_error *err)
{
    return add_item(find, path, FIND_SKIPPED, 0, reason, err);
}

static enum pv_code cannot_read(struct find *find, const char *path, struct pv_error *err)
{
    char reason[128];
    (void)snprintf(reason, sizeof reason, "cannot be read: %s", strerror(errno));
    return add_item(find, path, FIND_UNREADABLE, 0, reason, err);
}

/* --- folders that were seen: a set by open addressing --- */

static struct find_folder *slot_of(struct find_folder *slots, size_t n, const struct stat *status)
{
    uint64_t hash =
        ((uint64_t)status->st_ino ^ (uint64_t)status->st_dev << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (n - 1);
    while (slots[at].taken &&
           (slots[at].inode != status->st_ino || slots[at].device != status->st_dev))
        at = (at + 1) & (n - 1);
    return &slots[at];
}

static bool grow_seen(struct find *find)
{
    if (find->n_seen * 2 < find->seen_capacity)
        return true;
    size_t capacity = find->seen_capacity == 0 ? 64 : find->seen_capacity * 2;
    struct find_folder *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < find->seen_capacity; i++) {
        const struct find_folder *old = &find->seen[i];
        if (old->taken)
            *slot_of(slots, capacity, &(struct stat){.st_dev = old->device, .st_ino = old->inode}) =
                *old;
    }
    free(find->seen);
    find->seen = slots;
    find->seen_capacity = capacity;
    return true;
}

static enum pv_code
see_folder(struct find *find, const struct stat *status, bool *again, struct pv_error *err)
{
    if (!grow_seen(find))
        return pv_no_memory(err);
    struct find_folder *slot = slot_of(find->seen, find->seen_capacity, status);
    *again = slot->taken;
    find->n_seen += !slot->taken;
    *slot = (struct find_folder){status->st_dev, status->st_ino, true};
    return PV_OK;
}

/* --- names --- */

static bool find_begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
    size_t n = strlen(name);
    size_t m = strlen(with);
    return n >= m && strcmp(name + n - m, with) == 0;
}

/* events_<n>_...: a part of a rolling log of Spark's. */
static bool is_spark_part(const char *name)
{
    if (!find_begins(name, "events_"))
        return false;
    size_t digits = strspn(name + 7, "0123456789");
    return digits > 0 && name[7 + digits] == '_';
}

/* eventlog-2026-01-05--10-00: a part of a log of Databricks', named by its time. */
static bool is_timed_part(const char *name)
{
    return find_begins(name, "eventlog-") && strspn(name + 9, "0123456789-") >= 17;
}

bool find_is_part(const char *name)
{
    return is_spark_part(name) || is_timed_part(name);
}

bool find_is_rolling(char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (find_is_part(names[i]))
            return true;
    return false;
}

const char *find_ignored_name(const char *name)
{
    if (name[0] == '.')
        return "hidden";
    if (ends(name, "_conf.xml") || ends(name, ".summary") || find_begins(name, "appstatus_") ||
        strcmp(name, "_SUCCESS") == 0)
        return "a companion of logs, not a log";
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **items;
    size_t n;
    size_t capacity;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static bool add_name(struct names *names, const char *name)
{
    if (!vector_reserve(NULL, names->items, names->capacity, names->n + 1))
        return false;
    names->items[names->n] = strdup(name);
    return names->items[names->n] != NULL && ++names->n > 0;
}

/* False when the folder cannot be read (errno) or memory runs out (ENOMEM). */
static bool list_folder(const char *path, struct names *names)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    bool sound = true;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        sound = add_name(names, entry->d_name);
        if (!sound) {
            errno = ENOMEM;
            break;
        }
    }
    sound = sound && errno == 0;
    int why = errno;
    (void)closedir(folder);
    errno = why;
    if (sound && names->n > 0)
        qsort(names->items, names->n, sizeof *names->items, compare_names);
    return sound;
}

static char *find_join(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
    size_t size = n + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%s%s%s", folder, slash, name);
    return path;
}

/* --- walking --- */

static enum pv_code
walk(struct find *find, const char *path, const char *name, unsigned depth, struct pv_error *err);

/* What the parts take on disk. */
static uint64_t sum_bytes(const char *path, const struct names *names)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < names->n; i++) {
        struct stat status;
        char *part = find_join(path, names->items[i]);
        if (part != NULL && stat(part, &status) == 0 && S_ISREG(status.st_mode))
            sum += (uint64_t)status.st_size;
        free(part);
    }
    return sum;
}

static enum pv_code walk_names(struct find *find,
                               const char *path,
                               const struct names *names,
                               unsigned depth,
                               struct pv_error *err)
{
    for (size_t i = 0; i < names->n; i++) {
        char *below = find_join(path, names->items[i]);
        if (below == NULL)
            return pv_no_memory(err);
        enum pv_code code = walk(find, below, names->items[i], depth + 1, err);
        free(below);
        PV_TRY(code);
    }
    return PV_OK;
}

static enum pv_code
walk_folder(struct find *find, const char *path, unsigned depth, struct pv_error *err)
{
    struct names names = {NULL, 0, 0};
    enum pv_code code;
    if (!list_folder(path, &names))
        code = errno == ENOMEM ? pv_no_memory(err) : cannot_read(find, path, err);
    else if (find_is_rolling(names.items, names.n))
        code = add_item(find, path, FIND_LOG, sum_bytes(path, &names), "", err);
    else
        code = walk_names(find, path, &names, depth, err);
    free_names(&names);
    return code;
}

static enum pv_code
take_file(struct find *find, const char *path, const struct stat *status, struct pv_error *err)
{
    if (!S_ISREG(status->st_mode))
        return find_skip(find, path, "neither a file nor a folder", err);
    if (status->st_size == 0)
        return find_skip(find, path, "empty", err);
    return add_item(find, path, FIND_LOG, (uint64_t)status->st_size, "", err);
}

/* name NULL: named by the caller, so it is looked into whatever it is called. */
static enum pv_code
walk(struct find *find, const char *path, const char *name, unsigned depth, struct pv_error *err)
{
    struct stat status;
    const char *reason = name == NULL ? NULL : find_ignored_name(name);
    if (reason != NULL)
        return find_skip(find, path, reason, err);
    if (stat(path, &status) != 0)
        return errno == ELOOP ? find_skip(find, path, "a link that leads in a circle", err)
                              : cannot_read(find, path, err);
    if (!S_ISDIR(status.st_mode))
        return take_file(find, path, &status, err);
    if (depth > DEPTH_MAX)
        return add_item(find, path, FIND_UNREADABLE, 0, "folders are nested too deep", err);
    bool again = false;
    enum pv_code code = see_folder(find, &status, &again, err);
    if (code != PV_OK)
        return code;
    return again ? find_skip(find, path, "a folder that was seen already", err)
                 : walk_folder(find, path, depth, err);
}

enum pv_code find_add(struct find *find, const char *path, struct pv_error *err)
{
    return walk(find, path, NULL, 0, err);
}

void find_fini(struct find *find)
{
    for (size_t i = 0; i < find->n; i++)
        free(find->items[i].path);
    free(find->items);
    free(find->seen);
    *find = (struct find){.items = NULL};
}

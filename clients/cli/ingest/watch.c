#include "cli/ingest/watch.h"

#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "logfiles/find.h"
#include "threads/clock.h"

enum { DEPTH_MAX = 64, EVENTS_BYTES = 64 * 1024, SETTLE_MS = 50, SLICE_MS = 200 };

static const unsigned EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;

struct watch {
    int fd;       /* -1: nothing can be watched */
    char **paths; /* of the folders, by their descriptor */
    size_t n;
    size_t capacity;
};

struct watch *watch_open(void)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch != NULL)
        watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return watch;
}

void watch_close(struct watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->fd >= 0)
        (void)close(watch->fd);
    for (size_t i = 0; i < watch->n; i++)
        free(watch->paths[i]);
    free(watch->paths);
    free(watch);
}

/* --- paths --- */

bool watch_paths_add(struct watch_paths *paths, const char *path, bool whole)
{
    if (paths->n > 0 && strcmp(paths->items[paths->n - 1].path, path) == 0) {
        paths->items[paths->n - 1].whole = paths->items[paths->n - 1].whole || whole;
        return true; /* events come in groups */
    }
    char *copy = strdup(path);
    struct watch_path *added = copy == NULL ? NULL : vector_add(NULL, paths);
    if (added == NULL) {
        free(copy);
        return false;
    }
    *added = (struct watch_path){copy, whole};
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    const struct watch_path *x = a;
    const struct watch_path *y = b;
    return strcmp(x->path, y->path);
}

void watch_paths_unite(struct watch_paths *paths)
{
    size_t n = 0;
    if (paths->n > 0)
        qsort(paths->items, paths->n, sizeof *paths->items, compare_paths);
    for (size_t i = 0; i < paths->n; i++) {
        struct watch_path *path = &paths->items[i];
        if (n == 0 || strcmp(paths->items[n - 1].path, path->path) != 0) {
            paths->items[n++] = *path;
            continue;
        }
        paths->items[n - 1].whole = paths->items[n - 1].whole || path->whole;
        free(path->path);
    }
    paths->n = n;
}

void watch_paths_clear(struct watch_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->items[i].path);
    free(paths->items);
    *paths = (struct watch_paths){.items = NULL};
}

/* --- folders --- */

static bool is_same_folder(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

/* Is the folder new, or known by this path? By another path it is watched already. */
static bool know_folder(struct watch *watch, size_t descriptor, const char *path)
{
    if (!vector_reserve(NULL, watch->paths, watch->capacity, descriptor + 1))
        return false;
    for (; watch->n <= descriptor; watch->n++)
        watch->paths[watch->n] = NULL;
    char **known = &watch->paths[descriptor];
    if (*known != NULL && strcmp(*known, path) != 0 && !is_same_folder(*known, path)) {
        free(*known); /* it was renamed */
        *known = NULL;
    }
    if (*known == NULL)
        *known = strdup(path);
    return watch->paths[descriptor] != NULL && strcmp(watch->paths[descriptor], path) == 0;
}

static void add_folder(struct watch *watch, const char *path, unsigned depth)
{
    struct stat status;
    char below[PATH_MAX];
    int descriptor = inotify_add_watch(watch->fd, path, EVENTS);
    if (descriptor < 0 || !know_folder(watch, (size_t)descriptor, path) || depth >= DEPTH_MAX)
        return;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        int n = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (n > 0 && (size_t)n < sizeof below && stat(below, &status) == 0 &&
            S_ISDIR(status.st_mode))
            add_folder(watch, below, depth + 1);
    }
    (void)closedir(folder);
}

void watch_add(struct watch *watch, const char *path)
{
    char folder[PATH_MAX];
    if (watch->fd < 0)
        return;
    /* As find names what lies below it. */
    (void)snprintf(folder, sizeof folder, "%s", path);
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        folder[--n] = '\0';
    add_folder(watch, folder, 0);
}

/* --- events --- */

static bool holds_part(const char *path)
{
    DIR *folder = opendir(path);
    bool found = false;
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(folder)) != NULL;)
        found = find_is_part(entry->d_name);
    (void)closedir(folder);
    return found;
}

/* Is it the folder that is the log? Files beside the parts belong to it, too. */
static bool is_of_folder(const char *folder, const char *file)
{
    bool beside = strncmp(file, "appstatus_", strlen("appstatus_")) == 0 ||
                  strncmp(file, "eventlog", strlen("eventlog")) == 0;
    return find_is_part(file) || (beside && holds_part(folder));
}

/* false: it was lost. */
static bool
take_event(struct watch *watch, const struct inotify_event *event, struct watch_paths *paths)
{
    char path[PATH_MAX];
    if ((event->mask & IN_Q_OVERFLOW) != 0)
        return false;
    size_t at = (size_t)event->wd;
    const char *folder = at < watch->n ? watch->paths[at] : NULL;
    if (folder != NULL && (event->mask & IN_IGNORED) != 0) {
        free(watch->paths[at]);
        watch->paths[at] = NULL;
        return true;
    }
    if (folder == NULL || event->len == 0)
        return true;
    int n = snprintf(path, sizeof path, "%s/%s", folder, event->name);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    if ((event->mask & IN_ISDIR) != 0)
        add_folder(watch, path, 1); /* what came before is found by looking into it */
    else if (is_of_folder(folder, event->name))
        return watch_paths_add(paths, folder, false);
    else if (find_ignored_name(event->name) != NULL)
        return true;
    return watch_paths_add(paths, path, (event->mask & IN_MOVED_TO) != 0);
}

/* false: some were lost. */
static bool take_events(struct watch *watch, struct watch_paths *paths)
{
    _Alignas(struct inotify_event) char bytes[EVENTS_BYTES];
    bool whole = true;
    ssize_t n;
    while ((n = read(watch->fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            struct inotify_event event;
            memcpy(&event, bytes + at, sizeof event);
            const struct inotify_event *there = (const void *)(bytes + at);
            whole = take_event(watch, there, paths) && whole;
            at += (ssize_t)(sizeof event + event.len);
        }
    return whole;
}

bool watch_wait(struct watch *watch,
                double seconds,
                const atomic_bool *stop,
                struct watch_paths *paths)
{
    uint64_t end = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
    struct pollfd ready = {.fd = watch->fd, .events = POLLIN};
    for (uint64_t now; !atomic_load(stop) && (now = clock_monotonic_ns()) < end;) {
        uint64_t left_ms = (end - now) / 1000000 + 1;
        if (poll(&ready, 1, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS) <= 0)
            continue;
        clock_sleep_ms(SETTLE_MS); /* events come in groups */
        return !take_events(watch, paths);
    }
    return false;
}

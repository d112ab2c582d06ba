#ifndef CLI_INGEST_WATCH_H
#define CLI_INGEST_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Folders and all below them, watched for files that come (inotify). Where the system cannot watch (a
 * network file system, too many folders, no inotify) whoever waits finds out by looking again from
 * time to time; that is to be done in any case.
 */
struct watch;

/* A file or folder that something happened to. */
struct watch_path {
    char *path;
    bool whole; /* it was moved there: nobody is writing it */
};

struct watch_paths {
    struct watch_path *items;
    size_t n;
    size_t capacity;
};

/* NULL: no memory. */
struct watch *watch_open(void);
void watch_close(struct watch *watch); /* NULL is allowed */

/* Watch the folder `path` and those below it; calling it again adds what is new. Anything else than a
 * folder is passed over. */
void watch_add(struct watch *watch, const char *path);

/*
 * Wait until something happens, but no longer than this, and while *stop is not set. What happened is
 * added to paths, each once. Answers whether all has to be looked at again, since events were lost.
 */
bool watch_wait(struct watch *watch,
                double seconds,
                const atomic_bool *stop,
                struct watch_paths *paths);

/* Add a path unless it is there. false: no memory. */
bool watch_paths_add(struct watch_paths *paths, const char *path, bool whole);
void watch_paths_clear(struct watch_paths *paths);

#endif

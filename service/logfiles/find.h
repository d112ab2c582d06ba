#ifndef LOGFILES_FIND_H
#define LOGFILES_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Everything that lies under a path, each thing once: logs to be read, and what is not, with the
 * reason. Symbolic links are followed; a folder that was seen already is not entered again, so
 * links that lead in circles end.
 */
enum find_kind {
    FIND_LOG,       /* a file, or the folder of a rolling log */
    FIND_SKIPPED,   /* no log by its look: empty, hidden, a companion of logs, no file at all */
    FIND_UNREADABLE /* the system's reason */
};

struct find_item {
    char *path; /* as the caller's path leads to it */
    enum find_kind kind;
    uint64_t bytes;   /* stored, over all files of a folder */
    char reason[128]; /* "" for a log */
};

struct find_folder;

struct find {
    struct find_item *items; /* in the order of names, folder by folder */
    size_t n;
    size_t capacity;
    uint64_t bytes; /* of the logs */
    struct find_folder *seen;
    size_t n_seen;
    size_t seen_capacity;
};

/* Nothing found yet: {0}. Free with find_fini. */
void find_fini(struct find *find);

/* Add what lies at and under `path`. Only memory may run out; what cannot be read is an item. */
enum pv_code find_add(struct find *find, const char *path, struct pv_error *err) PV_MUSTCHECK;

/* Why a file of that name below a path is not looked into ("hidden"); NULL: it is. */
const char *find_ignored_name(const char *name);

/* Is it the name of a part of a rolling log? A folder that holds one is one log. */
bool find_is_part(const char *name);

/* Does a folder of these file names hold one log in parts (rolling: Spark's, Databricks')? */
bool find_is_rolling(char *const names[], size_t n);

#endif

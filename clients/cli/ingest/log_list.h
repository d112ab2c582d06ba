#ifndef CLI_INGEST_LOG_LIST_H
#define CLI_INGEST_LOG_LIST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "cli/sources/source.h"
#include "logfiles/find.h"

/*
 * The logs among what a source lists. The files of a folder that holds parts of a rolling log are one
 * log, named as the folder; every other file is one by itself. What is no log by its look is in the
 * list too, with the reason, as in struct find.
 */
struct ingest_log {
    struct source *source;
    const char *name;
    const char *identity; /* another when its content is; "": unknown */
    enum find_kind kind;
    const char *reason;          /* of what is no log; else "" */
    struct source_object *parts; /* by name */
    size_t n_parts;
    int64_t bytes;       /* of all parts; -1: unknown */
    int64_t modified_us; /* of the latest part; INSTANT_UNKNOWN */
    bool rolling;        /* sent as an archive of its parts */
    bool unfinished;     /* is being written */
    bool finished;       /* says so: it need not be watched for whether it grows */
    bool once;           /* cannot be read again (standard input) */
};

struct log_list {
    struct arena arena; /* of all strings and parts */
    struct ingest_log *items;
    size_t n;
    size_t capacity;
};

void log_list_init(struct log_list *list);
void log_list_fini(struct log_list *list);

/* All that a source lists. false: what could not be listed; what was is in the list. *stop ends it
 * early. */
bool log_list_add_source(struct log_list *list,
                         struct source *source,
                         const atomic_bool *stop,
                         struct failure *failure);

/* A log of one file. The object is copied. false: no memory. */
bool log_list_add_file(struct log_list *list,
                       struct source *source,
                       const struct source_object *object);

/* A rolling log, of these files of one folder; they are copied, and those that are no part of it left
 * out. false: no memory. */
bool log_list_add_rolling(struct log_list *list,
                          struct source *source,
                          const char *folder,
                          const struct source_object files[],
                          size_t n);

/* What is no log, or cannot be read. false: no memory. */
bool log_list_add_other(struct log_list *list,
                        const char *name,
                        enum find_kind kind,
                        const char *reason);

#endif

#ifndef CLI_INGEST_LOCAL_FILES_H
#define CLI_INGEST_LOCAL_FILES_H

#include "cli/ingest/log_list.h"

/*
 * Logs on disk, and standard input, as a source. The identity of a file is its length and time of
 * modification; a file that has another of them when it was read to its end fails, since what was read
 * may be half of the one and half of the other.
 */
bool source_local_open(struct source **source, struct failure *failure);

/* What lies at and under a path ("-": standard input), as `provisord import` finds it. false: no
 * memory. */
bool log_list_add_path(struct log_list *list,
                       struct source *local,
                       const char *path,
                       struct failure *failure);

/* What a failure says of a log that has changed. */
extern const char changed_while_read[];

#endif

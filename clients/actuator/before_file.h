#ifndef ACTUATOR_BEFORE_FILE_H
#define ACTUATOR_BEFORE_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/failure.h"

/*
 * What executors had before their first quota was written, on disk, so that a process which was killed
 * does not take its own quotas for it: an object of {place, worker, quota} by the executor's id.
 */
/* Keep the file for this process, until *fd is closed or the process ends, by a lock on `file`.lock.
 * False, with EXIT_FAILED: another process has it. Where no lock can be made, *fd is -1: then the file
 * cannot be written either, which is said there. */
bool before_file_lock(const char *file, int *fd, struct failure *failure);

/* A new reference; an empty object where there is no file. NULL: EXIT_FAILED. */
json_t *before_file_read(const char *file, struct failure *failure);

/* The file is replaced as a whole or not at all. */
bool before_file_write(const char *file, const json_t *before, struct failure *failure);

#endif

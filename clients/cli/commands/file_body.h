#ifndef CLI_COMMANDS_FILE_BODY_H
#define CLI_COMMANDS_FILE_BODY_H

#include "cli/commands/invocation.h"

/* A file as the body of a request, read while it is sent. */
struct file_body {
    int file;
    const char *name; /* for people */
    struct remote_body body;
};

/* file: its path, or "-" for standard input. The struct may not move until file_body_close. False:
 * recorded. */
bool file_body_open(struct invocation *invocation, const char *file, struct file_body *opened);

/* Also of one that could not be opened. */
void file_body_close(struct file_body *opened);

#endif

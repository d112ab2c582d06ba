#ifndef CLI_COMMANDS_OPERATION_H
#define CLI_COMMANDS_OPERATION_H

#include "cli/commands/invocation.h"

/* Long work of the service, as several commands begin and follow it. */

/* Wait until it has ended, with its progress on standard error where that is a terminal. The
 * operation as it ended, or NULL: recorded; it goes on by itself then. */
json_t *operation_follow(struct invocation *invocation, const char *id);

/* The operation and its result, in the forms asked for. */
bool operation_write(struct invocation *invocation, const json_t *operation);

/* What its end means: EXIT_DONE if it succeeded; if not, the failure is recorded. */
int operation_outcome(struct invocation *invocation, const json_t *operation);

#endif

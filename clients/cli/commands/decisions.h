#ifndef CLI_COMMANDS_DECISIONS_H
#define CLI_COMMANDS_DECISIONS_H

#include "cli/commands/invocation.h"

/*
 * What `slot-decisions` and `speculation` have in common: the service decides on the state in a file
 * or, with --log, on every state of a log.
 */
struct decision_kind {
    const char *path;             /* "/v1/slot-decisions" */
    const struct column *columns; /* of what was decided on a line of a log */
    size_t n_columns;
    /* The decision on one state, in the forms asked for. False: recorded. */
    bool (*write)(struct invocation *invocation, const json_t *decision);
};

/* --log, --lines and --figures. */
extern const struct option_group decision_options;

/* Run the command. Where lines of a log are at fault, the status is EXIT_USAGE once all others are
 * shown. */
int decisions_run(struct invocation *invocation, const struct decision_kind *kind);

#endif

#ifndef CLI_COMMANDS_ONE_CALL_H
#define CLI_COMMANDS_ONE_CALL_H

#include "cli/commands/invocation.h"

/*
 * Commands that are one call of the service: rows of tables. A command has `run = one_call_run` and
 * its struct one_call as `context`. Reasons and warnings of the reply are shown behind its parts.
 */
struct call_part {
    const char *title; /* NULL: none */
    const char *path;  /* of a list or an object in the reply; "": the reply itself */
    const char
        *key; /* not NULL: an object, whose members become rows with their name under this key */
    const struct column *columns; /* NULL ends the parts */
    size_t n_columns;
};

enum { CALL_PARTS_MAX = 6 };

struct one_call {
    const char *method;
    const char *path;             /* "/v1/quota-loops/{}": {} is the first word */
    const char *noun;             /* of the items of a list, or of a deleted resource; else NULL */
    bool is_list;                 /* a collection in pages, at most --limit items */
    bool has_file;                /* the last word is a file with the body, JSON or YAML */
    bool once;                    /* a repeated request would have its effect twice */
    const char *const *read_only; /* members of replies that the body must not have, or NULL */
    json_t *(*prepare)(struct invocation *invocation,
                       const json_t *document); /* the body; NULL: recorded */
    struct call_part parts[CALL_PARTS_MAX];
};

int one_call_run(struct invocation *invocation);

/* Options of lists, and of commands that delete. */
extern const struct option_group one_call_list_options;
extern const struct option_group one_call_delete_options;

#endif

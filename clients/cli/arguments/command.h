#ifndef CLI_ARGUMENTS_COMMAND_H
#define CLI_ARGUMENTS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Commands and their options as tables: what is parsed, --help, the manual pages and the completion
 * of shells all come from here, so that they cannot differ.
 */
enum option_kind {
    OPTION_FLAG,     /* takes no value */
    OPTION_TEXT,     /* any text but an empty one */
    OPTION_FILE,     /* a path, completed as one */
    OPTION_CHOICE,   /* one of the words of `value`, "on_demand|spot" */
    OPTION_COUNT,    /* a whole number from 1 */
    OPTION_NUMBER,   /* a number from 0 */
    OPTION_SHARE,    /* 0.95 or 95% */
    OPTION_DURATION, /* 90s, 15m, 1h30m, or seconds */
    OPTION_SIZE,     /* blocks of input, or bytes with a unit: 64, 8GiB */
    OPTION_BYTES     /* bytes, alone or with a unit: 1073741824, 16g, 16GiB, 16GB */
};

struct option_spec {
    const char *name; /* "deadline", for --deadline; NULL ends a list */
    char letter;      /* 'q' for -q; 0: none */
    enum option_kind kind;
    const char *value; /* placeholder in the help, or the words of a choice; NULL: by the kind */
    const char *help;
    bool repeated; /* may be given several times; of others the last one counts */
};

/* Options that several commands share, under a heading of the help. */
struct option_group {
    const char *heading;
    const struct option_spec *options; /* ended by a NULL name */
};

enum { COMMAND_GROUPS_MAX = 6 };

struct invocation; /* what a command is given (cli/commands/invocation.h) */

struct command {
    const char *name;
    const char *summary;    /* one line, begins with a verb */
    const char *positional; /* "APPLICATION [RUN]"; NULL: none */
    size_t positional_min;
    size_t positional_max;
    const char *rest;        /* what stands behind "--": "COMMAND..."; NULL: nothing may */
    const char *description; /* paragraphs, a blank line between them; NULL: the summary says it */
    const char *examples; /* command lines, each with an indented explanation before it; or NULL */
    const struct option_group *groups[COMMAND_GROUPS_MAX]; /* ended by NULL */
    const struct command *const *subcommands;              /* ended by NULL; or NULL */
    int (*run)(
        struct invocation *invocation); /* NULL: wants a subcommand; returns an exit_status */
    const void *context;                /* of `run`; NULL: none */
    const char *words;                  /* what completion offers as words, "a|b"; or NULL */
    bool hidden;                        /* of no interest to people */
    bool is_program;                    /* a program of its own, provisor-NAME */
};

/* Options of every command. */
extern const struct option_group global_options;

/* The placeholder of an option's value: its own, or by its kind. */
const char *option_placeholder(const struct option_spec *option);

#endif

#ifndef CLI_ARGUMENTS_PARSE_H
#define CLI_ARGUMENTS_PARSE_H

#include "cli/arguments/command.h"
#include "cli/failure.h"

/*
 * A command line, read by the tables of commands. Values are checked here by the kind of their
 * option, so the getters cannot fail. Texts are those of argv.
 */
struct given_option {
    const struct option_spec *option;
    const char *text; /* "" of a flag */
};

enum { GIVEN_MAX = 1024, COMMAND_DEPTH_MAX = 3 };

struct arguments {
    const struct command
        *path[COMMAND_DEPTH_MAX]; /* from the outermost command to the one to run */
    size_t depth;                 /* 0: no command was given */
    struct given_option given[GIVEN_MAX];
    size_t n_given;
    char **positional;
    size_t n_positional;
    char **rest; /* behind "--" */
    size_t n_rest;
    bool help;    /* --help or -h */
    bool version; /* --version */
};

/*
 * Read argv (argc of them, the program's name first; they may be reordered). commands: ended by
 * NULL. Unknown commands and options are EXIT_USAGE and name the nearest one.
 */
bool arguments_parse(int argc,
                     char *argv[],
                     const struct command *const commands[],
                     struct arguments *arguments,
                     struct failure *failure);

bool argument_given(const struct arguments *arguments, const char *name);
/* The value as given last, or NULL. */
const char *argument_text(const struct arguments *arguments, const char *name);
/* Of OPTION_COUNT, _NUMBER, _SHARE (0 to 1), _DURATION (seconds), _SIZE (blocks) and _BYTES;
 * without it the fallback. */
double argument_number(const struct arguments *arguments, const char *name, double fallback);
/* The values of a repeated option, one a call: *at begins at 0. NULL: no more. */
const char *argument_next(const struct arguments *arguments, const char *name, size_t *at);

/* A value read as an option of this kind reads it; false: it is none. */
bool option_read_number(enum option_kind kind, const char *text, double *value);

#endif

#ifndef CLI_COMMANDS_INVOCATION_H
#define CLI_COMMANDS_INVOCATION_H

#include <signal.h>

#include "cli/arguments/parse.h"
#include "cli/output/form.h"
#include "cli/output/json_text.h"
#include "cli/output/report.h"
#include "cli/output/table.h"
#include "cli/remote/remote.h"

/*
 * What a command is given. A command returns its exit status; what failed is recorded in `failure`,
 * which main() prints.
 */
struct invocation {
    const struct arguments *arguments;
    const struct command *const *commands; /* all of the program */
    struct settings settings;
    struct remote *remote; /* opened by invocation_remote */
    struct outputs outputs;
    struct failure failure;
    bool quiet;
};

/* Forms of output that most commands have, as bits for outputs_read. */
enum {
    FORMS_OF_TABLES =
        1U << FORM_TABLE | 1U << FORM_JSON | 1U << FORM_YAML | 1U << FORM_CSV | 1U << FORM_MARKDOWN
};

/* Open the remote and read the forms of output. False: recorded in the failure. */
bool invocation_begin(struct invocation *invocation, unsigned forms);

/* The first word behind the command, "" without one. */
const char *invocation_word(const struct invocation *invocation, size_t index);

/* Words for a person, on standard error, unless --quiet. */
void invocation_say(const struct invocation *invocation, const char *format, ...) PV_PRINTF(2, 3);

/* The failure's exit status, or EXIT_FAILED where none was recorded. */
int invocation_failed(const struct invocation *invocation);

/* Set by SIGINT and SIGTERM once invocation_catch_signals was called; a second one ends the process. */
extern atomic_bool invocation_stop;
void invocation_catch_signals(void);

/* The whole of a file ("-": standard input) of at most 64 MiB; free it. NULL: recorded. */
char *invocation_read_file(struct invocation *invocation, const char *file, size_t *n);

/* The same as a document, JSON or YAML. NULL: recorded, with the line. */
json_t *invocation_read_document(struct invocation *invocation, const char *file);

/* --yes of what cannot be undone: without it nothing is done. what: "the application x". */
bool invocation_confirmed(struct invocation *invocation, const char *what);

/* A list or a record in the forms asked for; all: what JSON and YAML hold. */
bool invocation_write_list(struct invocation *invocation,
                           const json_t *items,
                           const struct column columns[],
                           size_t n_columns);
bool invocation_write_record(struct invocation *invocation,
                             const json_t *record,
                             const struct column columns[],
                             size_t n_columns);
/* Several parts; all: what JSON and YAML hold. */
bool invocation_write_report(struct invocation *invocation,
                             const struct section sections[],
                             size_t n_sections,
                             const json_t *all);

/* Is a form for people among those asked for, on standard output? */
bool invocation_for_people(const struct invocation *invocation);

/* Of a command with --ascii: is a picture to be drawn with characters of ASCII alone? */
bool invocation_draws_ascii(const struct invocation *invocation);

#endif

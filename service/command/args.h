#ifndef COMMAND_ARGS_H
#define COMMAND_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "store/store.h"

/*
 * The words of a command line: options of the subcommand (--name=value or --name value), settings
 * (--name=value, checked by config_read) and the rest.
 */
struct arg_option {
    const char *name;    /* "team", for --team */
    const char *value;   /* out: as given (the first one), NULL when it was not; of a flag "" */
    bool flag;           /* takes no value */
    const char **values; /* out: of an option that may be repeated, in order; else NULL */
    size_t values_max;
    size_t n_values;
};

/*
 * Fill in options (ended by a NULL name), move plain words into positional (at most
 * positional_max) and read settings from file, environment and the words that are left. The file is
 * --config=FILE, else PROVISOR_CONFIG. Says what is wrong on standard error and answers false.
 */
bool args_read(int argc,
               char *argv[],
               struct arg_option options[],
               const char *positional[],
               size_t positional_max,
               size_t *n_positional,
               struct config *config);

/* The connection string of the schema's owner: database_owner_url, or database_url without it. */
const char *args_owner_url(const struct config *config);

/*
 * Where err is PV_E_UNAVAILABLE, say on standard error which setting named the database that was
 * tried (of the owner, or of the service) and how it can be given.
 */
void args_explain_unreachable(const struct config *config,
                              bool as_owner,
                              const struct pv_error *err);

/* How migrations are applied, as the settings say; borrows from config. */
struct store_migrate_options args_migrate_options(const struct config *config);

/* A tab and the instant, "-" for RUN_NO_INSTANT, on standard output. */
void args_print_instant(int64_t us);

/* "90d", "12h", "30m", "45s" in seconds; false for anything else, zero, or over 100 years. */
bool args_parse_duration(const char *text, int64_t *seconds);

/* "read,write" as bits of enum scope; 0 when a word is unknown, missing or twice. */
unsigned args_parse_scopes(const char *text);

#endif

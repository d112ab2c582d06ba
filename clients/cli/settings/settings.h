#ifndef CLI_SETTINGS_SETTINGS_H
#define CLI_SETTINGS_SETTINGS_H

#include <limits.h>
#include <stdbool.h>

#include "cli/arguments/parse.h"
#include "cli/failure.h"

/*
 * Where the service is, with which token it is asked, and how the client behaves: from flags, else
 * the environment, else the chosen profile of the configuration file, else the default.
 */
enum { SETTING_TEXT = 1024, TOKEN_TEXT_MAX = 4096 }; /* a service account's token is long */

/* The document that a request was read from, for messages about its faults. */
struct request_document {
    char file[PATH_MAX];
    char *text; /* owned; NULL: the request is from options */
    size_t n;
};

struct settings {
    char profile[64];                /* section of the file; "default" unless chosen */
    char config_file[PATH_MAX];      /* whether it exists or not */
    char credentials_file[PATH_MAX]; /* beside it */
    char url[SETTING_TEXT];          /* without a slash at its end */
    bool url_chosen;                 /* it is not the default */
    char url_from[128];              /* where it was specified, for messages */
    char token[TOKEN_TEXT_MAX];      /* "" : none */
    char token_from[PATH_MAX + 96];  /* where it was specified, for messages */
    bool token_of_login;             /* that is where `provisor login` stores another one */
    char ca_file[PATH_MAX];          /* "": the system's */
    double timeout_s;                /* of one request, without what it uploads */
    unsigned attempts_max;           /* of one request */
    bool fail_closed; /* of gate and submit, when the service is away: on_unavailable = fail */
    bool quiet;
    double tolerance;                  /* share below which a change is not proposed */
    const struct arguments *arguments; /* the command line they are from */
    struct request_document document;
};

/* Read them all. A file that does not exist is empty; one that cannot be understood, or holds a key
 * that does not exist, is EXIT_USAGE with the line. */
bool settings_read(const struct arguments *arguments,
                   struct settings *settings,
                   struct failure *failure);

/* Write url and token of the profile to the two files, which are made if necessary; the rest of
 * them stays as it is. A file is replaced as a whole or not at all; that with the token has mode
 * 0600. */
bool settings_write_login(const struct settings *settings, struct failure *failure);

/* The token in a file ("-": standard input), without the blanks around it. */
bool settings_read_token_file(const char *file,
                              char token[TOKEN_TEXT_MAX],
                              struct failure *failure);

/* Forget the token and the document. */
void settings_clear(struct settings *settings);

#endif

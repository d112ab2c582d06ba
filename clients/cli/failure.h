#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/code.h"
#include "cli/exit.h"

/*
 * Why something could not be done, for a person at a terminal: what happened and where, and what to
 * do next. Owned by the caller, filled without allocation; the first failure wins.
 */
struct failure {
    enum exit_status status; /* EXIT_DONE: none */
    bool unavailable; /* the service is away or overloaded: nothing is wrong with what was asked */
    bool token_refused; /* the service does not take the token, or was given none */
    char what[4096];
    char next[512]; /* "" where there is nothing to do about it */
};

/* Record what happened, unless something is recorded already. Always false, so that a function can
 * `return fail(...)`. failure may be NULL. */
bool fail(struct failure *failure, enum exit_status status, const char *format, ...)
    PV_PRINTF(3, 4);

/* What to do about it, unless that is recorded already. Always false. */
bool fail_next(struct failure *failure, const char *format, ...) PV_PRINTF(2, 3);

/* `fail` for memory that ran out. */
bool fail_memory(struct failure *failure);

/* Text that may be from elsewhere, without what a terminal would obey: control characters become blanks
 * or, beyond ASCII, their code, such as \u0085; so do changes of direction for people, on a terminal and
 * on standard error. Line feeds stay. */
void print_safely(FILE *out, const char *text);
void print_safely_n(FILE *out, const char *text, size_t n);

/* "provisor: warning: ..." on standard error. */
void warn(const char *format, ...) PV_PRINTF(1, 2);

/* Write it on standard error as "provisor: WHAT" and, indented, what to do next. */
void failure_print(const struct failure *failure);

#endif

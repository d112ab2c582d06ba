#ifndef CLI_REMOTE_SUBJECT_H
#define CLI_REMOTE_SUBJECT_H

#include <jansson.h>
#include <stddef.h>

#include "cli/settings/settings.h"

/*
 * What a fault of a request is about, as the caller gave it: the option of the command line
 * ("--cores 1000"), the place in the file ("night.yaml:7: items[1].cores"), or the member ("cores").
 */
enum { SUBJECT_TEXT = 1024 };

/* error: of a problem's `errors`. */
void subject_of_fault(const struct settings *settings,
                      const json_t *error,
                      char subject[SUBJECT_TEXT]);

/* The text of a fault with the members that are options of the command named as these:
 * "is required without --expires". */
void subject_translate(const struct settings *settings, const char *text, char *out, size_t room);

/* The option that sets this member or parameter in the command that is run; NULL: none does. */
const char *subject_option(const struct arguments *arguments, const char *member, size_t n);

#endif

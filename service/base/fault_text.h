#ifndef BASE_FAULT_TEXT_H
#define BASE_FAULT_TEXT_H

#include <stddef.h>

#include "base/error.h"

/*
 * Faults as sentences of their own. The text of a fault is about the place of the fault, and most
 * begin with a verb: "is required", "must be at most 8". A sentence begins with the place:
 * "items[1].cores must be at most 8", "constraints.max_cost: needs a price".
 */
enum { FAULT_NAME_MAX = 320, FAULT_SENTENCE_MAX = 640 };

/* The place as people name it: "items[1].cores" for /items/1/cores, "the body" for the whole body;
 * parameters and headers have their names. */
void fault_name_place(enum pv_place place, const char *at, char name[FAULT_NAME_MAX]);

/* A caller's name in quotes, cut between characters at 80 bytes: "nightly-etl". By value, for printf. */
struct fault_quoted {
    char text[84];
};
struct fault_quoted fault_quote(const char *name);

/* name and text as a sentence: a verb follows its subject, any other text a colon. A text that says
 * "there is no application ..." needs no "application" before it. */
void fault_write_sentence(const char *name, const char *text, char *out, size_t room);

#endif

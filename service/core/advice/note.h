#ifndef CORE_ADVICE_NOTE_H
#define CORE_ADVICE_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/code.h"

/* Reasons and warnings: a stable code, a sentence, and the figures behind it. */
enum { NOTE_EVIDENCE_MAX = 12, NOTES_MAX = 16 };

struct note_evidence {
    const char *name; /* static */
    double value;     /* NAN when `text` says it */
    const char *text; /* NULL when `value` says it */
};

struct note {
    const char *code; /* static */
    const char *message;
    struct note_evidence evidence[NOTE_EVIDENCE_MAX];
    size_t n_evidence;
};

struct note_list {
    struct note *items;
    size_t n;
    bool failed; /* memory ran out: somewhere a note is missing */
};

/*
 * Append a note whose message is printed into the arena; the result takes evidence. Never NULL: a
 * note that does not fit goes into `spare` and `failed` is set.
 */
struct note *note_add(struct note_list *list,
                      struct arena *arena,
                      struct note *spare,
                      const char *code,
                      const char *format,
                      ...) PV_PRINTF(5, 6);

void note_number(struct note *note, const char *name, double value);
/* text must live as long as the note. */
void note_text(struct note *note, const char *name, const char *text);

#endif

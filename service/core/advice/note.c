#include "core/advice/note.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct note *next_note(struct note_list *list, struct arena *arena, struct note *spare)
{
    if (list->items == NULL)
        list->items = arena_calloc(arena, NOTES_MAX, sizeof *list->items);
    if (list->items == NULL || list->n == NOTES_MAX) {
        list->failed = true;
        return spare;
    }
    return &list->items[list->n++];
}

struct note *note_add(struct note_list *list,
                      struct arena *arena,
                      struct note *spare,
                      const char *code,
                      const char *format,
                      ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    struct note *note = next_note(list, arena, spare);
    memset(note, 0, sizeof *note);
    note->code = code;
    note->message = arena_strdup(arena, text);
    if (note->message == NULL) {
        note->message = "";
        list->failed = true;
    }
    return note;
}

void note_number(struct note *note, const char *name, double value)
{
    if (note->n_evidence < NOTE_EVIDENCE_MAX && isfinite(value))
        note->evidence[note->n_evidence++] = (struct note_evidence){name, value, NULL};
}

void note_text(struct note *note, const char *name, const char *text)
{
    if (note->n_evidence < NOTE_EVIDENCE_MAX && text != NULL && text[0] != '\0')
        note->evidence[note->n_evidence++] = (struct note_evidence){name, (double)NAN, text};
}

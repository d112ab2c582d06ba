#ifndef CLI_COMMANDS_ADVICE_VIEW_H
#define CLI_COMMANDS_ADVICE_VIEW_H

#include "cli/commands/question.h"

/* Parts that advice may be shown with. */
enum { ADVICE_VERDICT = 1, ADVICE_WHY = 2 };

/* Advice as a person at a terminal reads it: parts, and what to do in any case. */
void advice_view_write(FILE *out,
                       const struct terminal *terminal,
                       const struct answer *answer,
                       unsigned parts);

/* Writes the limits that would let the deadline be met, and the runs needed for an answer, below an
 * empty line. Writes nothing if the advice names neither. */
void advice_write_remedies(FILE *out, const struct terminal *terminal, const json_t *advice);

/* The verdict as a sentence: "6 executors with 4 cores each finish within 90 s with 97.4 %." */
void advice_headline(const json_t *advice, char *out, size_t room);

/* How a verdict is coloured. */
enum style advice_style(const json_t *advice);

#endif

#ifndef SUPPORT_RUN_TEXT_H
#define SUPPORT_RUN_TEXT_H

#include "core/history/run.h"

/* Everything a run says, as text, so that two runs can be compared and a difference be read. The
 * caller frees it; NULL when memory is exhausted. */
char *run_text(const struct run *run);

#endif

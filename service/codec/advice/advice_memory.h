#ifndef CODEC_ADVICE_ADVICE_MEMORY_H
#define CODEC_ADVICE_ADVICE_MEMORY_H

#include "base/json_writer.h"
#include "core/advice/answer.h"

/* The member `memory` of advice; null where the history shows nothing of memory. */
void codec_advice_memory_encode(struct writer *w, const struct advice_answer *answer);

#endif

#ifndef CODEC_ADVICE_ADVICE_BESIDE_H
#define CODEC_ADVICE_ADVICE_BESIDE_H

#include "base/json_writer.h"
#include "core/advice/answer.h"

/* The member `beside`: the jobs that the advice was given beside. */
void codec_advice_beside_encode(struct writer *w,
                                const struct advice_question *question,
                                const struct advice_answer *answer);

#endif

#ifndef CODEC_ADVICE_ADVICE_BESIDE_H
#define CODEC_ADVICE_ADVICE_BESIDE_H

#include "codec/advice/advice.h"

/* The member `beside`: the jobs that the advice was given beside. */
void codec_advice_beside_encode(struct writer *w, const struct codec_advice_reply *reply);

#endif

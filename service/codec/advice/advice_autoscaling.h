#ifndef CODEC_ADVICE_ADVICE_AUTOSCALING_H
#define CODEC_ADVICE_ADVICE_AUTOSCALING_H

#include "base/json_writer.h"
#include "core/advice/autoscaling.h"

/* The member `autoscaling` of advice; NULL: null. */
void codec_advice_autoscaling_encode(struct writer *w, const struct autoscaling *autoscaling);

#endif

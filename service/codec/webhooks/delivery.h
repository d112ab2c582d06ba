#ifndef CODEC_WEBHOOKS_DELIVERY_H
#define CODEC_WEBHOOKS_DELIVERY_H

#include "codec/json/shape.h"
#include "core/webhooks/webhook.h"

/* Deliveries of events to webhooks, in replies. */
extern const struct shape codec_webhook_delivery_shape;
extern const struct shape codec_webhook_delivery_summary_shape;

/* Where the struct has the event's data and the log of attempts, with both. */
void codec_webhook_delivery_encode(struct writer *w, const struct webhook_delivery *delivery);

#endif

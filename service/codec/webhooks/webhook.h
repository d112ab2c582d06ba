#ifndef CODEC_WEBHOOKS_WEBHOOK_H
#define CODEC_WEBHOOKS_WEBHOOK_H

#include "codec/json/shape.h"
#include "core/webhooks/webhook.h"

/* Webhooks and what is asked of them (openapi: webhooks.yaml). */
#define CODEC_WEBHOOK_URL_MAX 2048
#define CODEC_WEBHOOK_APPLICATIONS_MAX 100
#define CODEC_WEBHOOK_CONCURRENCY_MAX 32
#define CODEC_WEBHOOK_CONCURRENCY 8 /* where none is sent */
#define CODEC_AUTHORIZATION_MAX 4096
#define CODEC_OVERLAP_S_MAX 604800
#define CODEC_OVERLAP_S 86400
/* whsec_ and the base64 of 24 to 64 bytes */
#define CODEC_WEBHOOK_SECRET_MIN 38
#define CODEC_WEBHOOK_SECRET_MAX 94

struct codec_webhook_limits {
    int64_t labels;
};

extern const struct shape codec_webhook_shape;
extern const struct shape codec_webhook_created_shape;
extern const struct shape codec_webhook_change_shape;
extern const struct shape codec_webhook_rotation_shape;
extern const struct shape codec_webhook_redelivery_shape;

/*
 * POST: {url, events, ...}. Whether the service may connect to the URL is for others to judge, and
 * so are the bytes of a secret. Faults: unknown members, types, ranges, an event type that there is
 * not, a name twice, a secret for v1a.
 */
void codec_webhook_decode(const struct codec_node *node,
                          const struct codec_webhook_limits *limits,
                          struct webhook *webhook);

/* PATCH: likewise; no member at all is a fault. */
void codec_webhook_decode_change(const struct codec_node *node,
                                 const struct codec_webhook_limits *limits,
                                 struct webhook_change *change);

/* POST .../rotate: {secret?, overlap_s?}. */
void codec_webhook_decode_rotation(const struct codec_node *node,
                                   struct webhook_rotation *rotation);

/* POST .../redeliver: {status?, since?, until?}. */
void codec_webhook_decode_redelivery(const struct codec_node *node,
                                     struct webhook_redelivery *redelivery);

/* created: with the member `secret`, null where the struct has none. The authorization is never
 * written. */
void codec_webhook_encode(struct writer *w, const struct webhook *webhook, bool created);

#endif

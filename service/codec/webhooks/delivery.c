#include "codec/webhooks/delivery.h"

#define D struct webhook_delivery
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY, WHOLE = SHAPE_GROUP(0) };

static void encode_data(struct writer *w, const void *object, const void *context)
{
    const struct webhook_delivery *delivery = object;
    (void)context;
    writer_key(w, "data");
    writer_raw(w, delivery->data);
}

static void encode_log(struct writer *w, const void *object, const void *context)
{
    const struct webhook_delivery *delivery = object;
    (void)context;
    writer_key(w, "log");
    writer_raw(w, delivery->log);
}

static const struct shape_member members[] = {
    {"id", SHAPE_ID(D, id), .flags = REPLY},
    {"webhook_id", SHAPE_ID(D, webhook_id), .flags = REPLY},
    {"message_id", SHAPE_TEXT(D, message_id), .flags = REPLY},
    {"event_type", SHAPE_TEXT(D, event_type), .flags = REPLY},
    {"severity", SHAPE_WORD(D, severity, event_severity_words), .flags = REPLY},
    {"status", SHAPE_WORD(D, status, webhook_delivery_words), .flags = REPLY},
    {"reason", SHAPE_TEXT(D, reason), .flags = REPLY | NULLABLE},
    {"attempts", SHAPE_COUNT(D, attempts), .flags = REPLY},
    {"event_at", SHAPE_INSTANT(D, event_us), .flags = REPLY},
    {"created_at", SHAPE_INSTANT(D, created_us), .flags = REPLY},
    {"next_attempt_at", SHAPE_INSTANT(D, next_us), .flags = REPLY | NULLABLE},
    {"give_up_at", SHAPE_INSTANT(D, give_up_us), .flags = REPLY},
    {"ended_at", SHAPE_INSTANT(D, ended_us), .flags = REPLY | NULLABLE},
    {"data", SHAPE_CODE, .flags = REPLY | WHOLE, .encode = encode_data},
    {"log", SHAPE_CODE, .flags = REPLY | WHOLE, .encode = encode_log},
};
const struct shape codec_webhook_delivery_shape = {.reply = "WebhookDelivery",
                                                   SHAPE_OF(members, D)};
const struct shape codec_webhook_delivery_summary_shape = {
    .reply = "WebhookDeliverySummary", .reply_without = WHOLE, SHAPE_OF(members, D)};

void codec_webhook_delivery_encode(struct writer *w, const struct webhook_delivery *delivery)
{
    shape_encode(w, &codec_webhook_delivery_shape, delivery, delivery->log.at == NULL ? WHOLE : 0,
                 NULL);
}

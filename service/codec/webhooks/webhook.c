#include "codec/webhooks/webhook.h"

#include <string.h>

#define W struct webhook
#define L struct codec_webhook_limits
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY, SECRET = SHAPE_GROUP(0) };

static bool is_visible(char c)
{
    return c > 0x20 && c < 0x7f;
}

/* The value of a header field as it stands there: what blanks at its ends were would be lost. */
static void check_authorization(const struct codec_node *node, struct strview value)
{
    bool sound = value.n > 0 && is_visible(value.at[0]) && is_visible(value.at[value.n - 1]);
    for (size_t i = 0; sound && i < value.n; i++)
        sound = is_visible(value.at[i]) || value.at[i] == ' ';
    if (value.at != NULL && value.n > 0 && !sound)
        codec_fault_member(node, "authorization", "invalid_text",
                           "must be visible ASCII, with blanks between at most");
}

static void check_secret(const struct codec_node *node, struct strview secret)
{
    static const char prefix[] = "whsec_";
    if (secret.at != NULL &&
        (secret.n < sizeof prefix - 1 || memcmp(secret.at, prefix, sizeof prefix - 1) != 0))
        codec_fault_member(node, "secret", "invalid_secret",
                           "must be whsec_ and the base64 of 24 to 64 bytes");
}

static void refuse_same(const struct codec_node *list, const struct webhook_name names[], size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (names[i].name.n > 0 && strview_equal(names[i].name, names[k].name)) {
                struct codec_node item = codec_item(list, i);
                codec_fault(&item, "duplicate", "is listed twice");
                break;
            }
}

static void decode_applications(const struct codec_node *node, const void *limits, void *object)
{
    struct webhook *webhook = object;
    struct codec_node list;
    (void)limits;
    webhook->applications =
        codec_list(node, "applications", CODEC_OPTIONAL, 0, CODEC_WEBHOOK_APPLICATIONS_MAX,
                   sizeof *webhook->applications, &list, &webhook->n_applications);
    for (size_t i = 0; i < webhook->n_applications; i++) {
        struct codec_node item = codec_item(&list, i);
        webhook->applications[i].name = codec_as_name(&item);
    }
    refuse_same(&list, webhook->applications, webhook->n_applications);
}

static void encode_applications(struct writer *w, const void *object, const void *context)
{
    const struct webhook *webhook = object;
    (void)context;
    writer_member_array(w, "applications");
    for (size_t i = 0; i < webhook->n_applications; i++)
        writer_text(w, webhook->applications[i].name);
    writer_end_array(w);
}

static void encode_status(struct writer *w, const void *object, const void *context)
{
    (void)context;
    writer_member_string(w, "status", webhook_status_words[webhook_status(object)]);
}

static void encode_status_reason(struct writer *w, const void *object, const void *context)
{
    (void)context;
    writer_member_text(w, "status_reason", webhook_status_reason(object));
}

static void check_webhook(const struct codec_node *node, const void *limits, void *object)
{
    const struct webhook *webhook = object;
    (void)limits;
    check_authorization(node, webhook->authorization);
    if (webhook->signature == WEBHOOK_V1A && webhook->secret.at != NULL)
        codec_fault_member(node, "secret", "conflict",
                           "is allowed only with signature v1; the service makes the key of v1a");
    else
        check_secret(node, webhook->secret);
}

static const struct shape_member members[] = {
    {"id", SHAPE_ID(W, id), .flags = REPLY},
    {"url", SHAPE_TEXT(W, url), .flags = CODEC_REQUIRED, .least = 1, .most = CODEC_WEBHOOK_URL_MAX},
    {"description", SHAPE_TEXT(W, description), .flags = NULLABLE,
     .most = CODEC_DESCRIPTION_BYTES_MAX},
    {"events", SHAPE_WORDS(W, events, webhook_event_words), .flags = CODEC_REQUIRED, .least = 1},
    {"applications", SHAPE_CODE, .decode = decode_applications, .encode = encode_applications},
    {"labels", SHAPE_LABELS(W, labels, n_labels), .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"min_severity", SHAPE_WORD(W, min_severity, event_severity_words)},
    {"format", SHAPE_WORD(W, format, webhook_format_words)},
    {"signature", SHAPE_WORD(W, signature, webhook_signature_words)},
    {"public_key", SHAPE_TEXT(W, public_key), .flags = REPLY | NULLABLE},
    {"secret", SHAPE_TEXT(W, secret), .flags = NULLABLE | SECRET, .least = CODEC_WEBHOOK_SECRET_MIN,
     .most = CODEC_WEBHOOK_SECRET_MAX},
    {"authorization", SHAPE_TEXT(W, authorization), .flags = NULLABLE | SHAPE_WRITE_ONLY,
     .least = 1, .most = CODEC_AUTHORIZATION_MAX},
    {"has_authorization", SHAPE_BOOLEAN(W, has_authorization), .flags = REPLY},
    {"concurrency", SHAPE_COUNT(W, concurrency), .flags = SHAPE_KEEP, .least = 1,
     .most = CODEC_WEBHOOK_CONCURRENCY_MAX},
    {"enabled", SHAPE_BOOLEAN(W, enabled), .flags = SHAPE_TRUE},
    {"status", SHAPE_CODE, .flags = REPLY, .encode = encode_status},
    {"status_reason", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_status_reason},
    {"held_until", SHAPE_INSTANT(W, held_until_us), .flags = REPLY | NULLABLE},
    {"consecutive_failures", SHAPE_COUNT(W, failures), .flags = REPLY},
    {"last_delivered_at", SHAPE_INSTANT(W, last_delivered_us), .flags = REPLY | NULLABLE},
    {"last_failed_at", SHAPE_INSTANT(W, last_failed_us), .flags = REPLY | NULLABLE},
    {"last_error", SHAPE_TEXT(W, last_error), .flags = REPLY | NULLABLE},
    {"pending", SHAPE_COUNT(W, pending), .flags = REPLY},
    {"former_secret_until", SHAPE_INSTANT(W, former_until_us), .flags = REPLY | NULLABLE},
    {"version", SHAPE_COUNT(W, version), .flags = REPLY, .least = 1},
    {"created_at", SHAPE_INSTANT(W, created_us), .flags = REPLY},
    {"updated_at", SHAPE_INSTANT(W, updated_us), .flags = REPLY},
};
const struct shape codec_webhook_shape = {.request = "WebhookCreate",
                                          .reply = "Webhook",
                                          .reply_without = SECRET,
                                          SHAPE_OF(members, W),
                                          .check = check_webhook};
const struct shape codec_webhook_created_shape = {.reply = "WebhookCreated", SHAPE_OF(members, W)};

#define C struct webhook_change
static void
decode_applications_change(const struct codec_node *node, const void *limits, void *object)
{
    struct webhook_change *change = object;
    change->has_applications = json_value_member(node->json, "applications") != NULL;
    decode_applications(node, limits, &change->to);
}

static void check_change(const struct codec_node *node, const void *limits, void *object)
{
    const struct webhook_change *change = object;
    (void)limits;
    check_authorization(node, change->to.authorization);
    if (json_value_members(node->json) == 0)
        codec_fault(node, "required", "needs at least one member to change");
}

static const struct shape_member change_members[] = {
    {"url", SHAPE_TEXT(C, to.url), SHAPE_GIVEN(C, has_url), .least = 1,
     .most = CODEC_WEBHOOK_URL_MAX},
    {"description", SHAPE_TEXT(C, to.description), SHAPE_GIVEN(C, has_description),
     .flags = NULLABLE, .most = CODEC_DESCRIPTION_BYTES_MAX},
    {"events", SHAPE_WORDS(C, to.events, webhook_event_words), SHAPE_GIVEN(C, has_events),
     .least = 1},
    {"applications", SHAPE_CODE, .decode = decode_applications_change},
    {"labels", SHAPE_LABELS(C, to.labels, to.n_labels), SHAPE_GIVEN(C, has_labels),
     .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"min_severity", SHAPE_WORD(C, to.min_severity, event_severity_words),
     SHAPE_GIVEN(C, has_min_severity)},
    {"format", SHAPE_WORD(C, to.format, webhook_format_words), SHAPE_GIVEN(C, has_format)},
    {"authorization", SHAPE_TEXT(C, to.authorization), SHAPE_GIVEN(C, has_authorization),
     .flags = NULLABLE, .least = 1, .most = CODEC_AUTHORIZATION_MAX},
    {"concurrency", SHAPE_COUNT(C, to.concurrency), SHAPE_GIVEN(C, has_concurrency), .least = 1,
     .most = CODEC_WEBHOOK_CONCURRENCY_MAX},
    {"enabled", SHAPE_BOOLEAN(C, to.enabled), SHAPE_GIVEN(C, has_enabled), .flags = SHAPE_TRUE},
};
const struct shape codec_webhook_change_shape = {
    .request = "WebhookPatch", SHAPE_OF(change_members, C), .check = check_change};

#define R struct webhook_rotation
static void check_rotation(const struct codec_node *node, const void *limits, void *object)
{
    const struct webhook_rotation *rotation = object;
    (void)limits;
    check_secret(node, rotation->secret);
}

static const struct shape_member rotation_members[] = {
    {"secret", SHAPE_TEXT(R, secret), .flags = NULLABLE, .least = CODEC_WEBHOOK_SECRET_MIN,
     .most = CODEC_WEBHOOK_SECRET_MAX},
    {"overlap_s", SHAPE_COUNT(R, overlap_s), .flags = SHAPE_KEEP, .most = CODEC_OVERLAP_S_MAX},
};
const struct shape codec_webhook_rotation_shape = {
    .request = "WebhookRotate", SHAPE_OF(rotation_members, R), .check = check_rotation};

#define D struct webhook_redelivery
static void check_redelivery(const struct codec_node *node, const void *limits, void *object)
{
    const struct webhook_redelivery *asked = object;
    (void)limits;
    if (asked->since_us != RUN_NO_INSTANT && asked->until_us != RUN_NO_INSTANT &&
        asked->until_us <= asked->since_us)
        codec_fault_member(node, "until", "out_of_range", "must lie after since");
}

static const struct shape_member redelivery_members[] = {
    {"status", SHAPE_WORD(D, status, webhook_redelivery_words)},
    {"since", SHAPE_INSTANT(D, since_us), .flags = NULLABLE},
    {"until", SHAPE_INSTANT(D, until_us), .flags = NULLABLE},
};
const struct shape codec_webhook_redelivery_shape = {
    .request = "WebhookRedeliver", SHAPE_OF(redelivery_members, D), .check = check_redelivery};

static const struct webhook nothing = {.concurrency = CODEC_WEBHOOK_CONCURRENCY,
                                       .former_until_us = RUN_NO_INSTANT,
                                       .held_until_us = RUN_NO_INSTANT,
                                       .last_delivered_us = RUN_NO_INSTANT,
                                       .last_failed_us = RUN_NO_INSTANT};

void codec_webhook_decode(const struct codec_node *node,
                          const struct codec_webhook_limits *limits,
                          struct webhook *webhook)
{
    *webhook = nothing;
    shape_decode(node, &codec_webhook_shape, limits, webhook);
}

void codec_webhook_decode_change(const struct codec_node *node,
                                 const struct codec_webhook_limits *limits,
                                 struct webhook_change *change)
{
    *change = (struct webhook_change){.to = nothing};
    shape_decode(node, &codec_webhook_change_shape, limits, change);
}

void codec_webhook_decode_rotation(const struct codec_node *node, struct webhook_rotation *rotation)
{
    *rotation = (struct webhook_rotation){.overlap_s = CODEC_OVERLAP_S};
    shape_decode(node, &codec_webhook_rotation_shape, NULL, rotation);
}

void codec_webhook_decode_redelivery(const struct codec_node *node,
                                     struct webhook_redelivery *redelivery)
{
    *redelivery = (struct webhook_redelivery){.status = 0};
    shape_decode(node, &codec_webhook_redelivery_shape, NULL, redelivery);
}

void codec_webhook_encode(struct writer *w, const struct webhook *webhook, bool created)
{
    shape_encode(w, &codec_webhook_shape, webhook, created ? 0 : SECRET, NULL);
}

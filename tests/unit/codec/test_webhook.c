#include "codec/webhooks/webhook.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "codec/webhooks/delivery.h"

#define URL "\"url\":\"https://a.example/h\""
#define MUST URL ",\"events\":[\"run.ingested\"]"
#define SECRET "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"

static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
static const struct codec_webhook_limits limits = {.labels = 2};

static struct arena arena;
static struct pv_error err;
static struct webhook webhook;
static struct webhook_change change;
static struct webhook_rotation rotation;
static struct webhook_redelivery redelivery;

enum what { CREATE, CHANGE, ROTATE, REDELIVER };

static enum pv_code decode_as(enum what what, const char *text)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, &arena, &err));
    switch (what) {
    case CREATE:
        codec_webhook_decode(&document.top, &limits, &webhook);
        break;
    case CHANGE:
        codec_webhook_decode_change(&document.top, &limits, &change);
        break;
    case ROTATE:
        codec_webhook_decode_rotation(&document.top, &rotation);
        break;
    case REDELIVER:
        codec_webhook_decode_redelivery(&document.top, &redelivery);
        break;
    }
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_webhook, .fini = fini);

Test(codec_webhook, what_is_left_out_has_its_default)
{
    cr_assert_eq(decode_as(CREATE, "{" MUST "}"), PV_OK);
    cr_assert_eq(webhook.events, 1u);
    cr_assert_eq(webhook.min_severity, EVENT_INFO);
    cr_assert_eq(webhook.format, WEBHOOK_STANDARD);
    cr_assert_eq(webhook.signature, WEBHOOK_V1);
    cr_assert_eq(webhook.concurrency, 8);
    cr_assert(webhook.enabled);
    cr_assert_eq(webhook.n_applications + webhook.n_labels, 0u);
    cr_assert_null(webhook.secret.at);
    cr_assert_null(webhook.authorization.at);
    cr_assert_null(webhook.description.at);
    cr_assert_eq(decode_as(CREATE,
                           "{" MUST ",\"secret\":null,\"authorization\":null,\"labels\":null,"
                           "\"description\":null}"),
                 PV_OK);
    cr_assert_null(webhook.secret.at);
}

Test(codec_webhook, every_event_has_its_bit)
{
    char text[256];
    for (size_t i = 0; webhook_event_words[i] != NULL; i++) {
        (void)snprintf(text, sizeof text, "{" URL ",\"events\":[\"%s\"]}", webhook_event_words[i]);
        cr_assert_eq(decode_as(CREATE, text), PV_OK, "%s", text);
        cr_assert_eq(webhook.events, 1u << i);
    }
}

/* What is written holds neither the authorization nor, but for the one reply, the secret. */
Test(codec_webhook, what_is_written)
{
    struct writer w;
    size_t n;
    cr_assert_eq(decode_as(CREATE, "{" URL ",\"description\":\"d\",\"events\":[\"model.drifted\","
                                   "\"run.ingested\"],\"applications\":[\"b\",\"a\"],"
                                   "\"labels\":{\"k\":\"v\"},\"min_severity\":\"warning\","
                                   "\"format\":\"text\",\"authorization\":\"Bearer 77\","
                                   "\"secret\":\"" SECRET "\",\"concurrency\":32,"
                                   "\"enabled\":false}"),
                 PV_OK);
    strcpy(webhook.id, "0190d4a0-0000-7000-8000-000000000000");
    webhook.has_authorization = true;
    webhook.version = 3;
    static const char wanted[] =
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"url\":\"https://a.example/h\","
        "\"description\":\"d\",\"events\":[\"run.ingested\",\"model.drifted\"],"
        "\"applications\":[\"b\",\"a\"],\"labels\":{\"k\":\"v\"},\"min_severity\":\"warning\","
        "\"format\":\"text\",\"signature\":\"v1\",\"public_key\":null,\"has_authorization\":true,"
        "\"concurrency\":32,\"enabled\":false,\"status\":\"disabled\",\"status_reason\":"
        "\"a request disabled it\","
        "\"held_until\":null,\"consecutive_failures\":0,\"last_delivered_at\":null,"
        "\"last_failed_at\":null,\"last_error\":null,\"pending\":0,\"former_secret_until\":null,"
        "\"version\":3,\"created_at\":\"1970-01-01T00:00:00Z\","
        "\"updated_at\":\"1970-01-01T00:00:00Z\"}";
    writer_init(&w, &arena);
    codec_webhook_encode(&w, &webhook, false);
    cr_assert_str_eq(writer_finish(&w, &n), wanted);
    writer_init(&w, &arena);
    codec_webhook_encode(&w, &webhook, true);
    const char *created = writer_finish(&w, &n);
    cr_assert_not_null(strstr(created, "\"secret\":\"" SECRET "\""));
    cr_assert_null(strstr(created, "Bearer"));
}

Test(codec_webhook, the_status_says_how_it_fares)
{
    struct webhook one = {.enabled = true};
    cr_assert_eq(webhook_status(&one), WEBHOOK_ACTIVE);
    cr_assert_null(webhook_status_reason(&one).at);
    one.pauses = 2;
    cr_assert_eq(webhook_status(&one), WEBHOOK_PAUSED);
    cr_assert(strview_is(webhook_status_reason(&one), "attempts keep failing"));
    one.enabled = false;
    cr_assert_eq(webhook_status(&one), WEBHOOK_DISABLED);
    cr_assert(strview_is(webhook_status_reason(&one), "a request disabled it"));
    one.disabled_reason = strview_of("the endpoint answered 410 (gone)");
    cr_assert(strview_is(webhook_status_reason(&one), "the endpoint answered 410 (gone)"));
}

Test(codec_webhook, a_change_sets_what_was_sent_and_no_more)
{
    cr_assert_eq(decode_as(CREATE, "{" MUST ",\"labels\":{\"k\":\"v\"},\"applications\":[\"a\"]}"),
                 PV_OK);
    struct webhook before = webhook;
    struct arena kept = arena;
    arena = (struct arena){0};
    cr_assert_eq(decode_as(CHANGE, "{\"description\":null,\"concurrency\":1}"), PV_OK);
    cr_assert(change.has_description && change.has_concurrency);
    cr_assert_not(change.has_url || change.has_events || change.has_applications ||
                  change.has_labels || change.has_min_severity || change.has_format ||
                  change.has_authorization || change.has_enabled);
    webhook_apply(&before, &change);
    cr_assert_eq(before.concurrency, 1);
    cr_assert_eq(before.n_labels, 1u);
    cr_assert_eq(before.n_applications, 1u);
    cr_assert(before.enabled);
    cr_assert_eq(decode_as(CHANGE, "{" URL ",\"description\":\"x\",\"events\":[\"model.drifted\"],"
                                   "\"applications\":[],\"labels\":null,"
                                   "\"min_severity\":\"critical\",\"format\":\"cloudevents\","
                                   "\"authorization\":null,\"concurrency\":2,\"enabled\":false}"),
                 PV_OK);
    cr_assert(change.has_authorization && change.to.authorization.at == NULL);
    webhook_apply(&before, &change);
    cr_assert(strview_is(before.description, "x") && before.events == 1u << 4);
    cr_assert_eq(before.n_labels + before.n_applications, 0u);
    cr_assert_eq(before.min_severity, EVENT_CRITICAL);
    cr_assert_eq(before.format, WEBHOOK_CLOUDEVENTS);
    cr_assert_eq(before.concurrency, 2);
    cr_assert_not(before.enabled);
    arena_fini(&kept);
}

Test(codec_webhook, rotation_and_redelivery)
{
    cr_assert_eq(decode_as(ROTATE, "{}"), PV_OK);
    cr_assert(rotation.overlap_s == 86400 && rotation.secret.at == NULL);
    cr_assert_eq(decode_as(ROTATE, "{\"overlap_s\":0,\"secret\":\"" SECRET "\"}"), PV_OK);
    cr_assert(rotation.overlap_s == 0 && strview_is(rotation.secret, SECRET));
    cr_assert_eq(decode_as(REDELIVER, "{}"), PV_OK);
    cr_assert_str_eq(webhook_redelivery_words[redelivery.status], "dead");
    cr_assert(redelivery.since_us == RUN_NO_INSTANT && redelivery.until_us == RUN_NO_INSTANT);
    cr_assert_eq(decode_as(REDELIVER,
                           "{\"status\":\"delivered\",\"since\":\"1970-01-01T00:00:01Z\","
                           "\"until\":\"1970-01-01T00:00:02Z\"}"),
                 PV_OK);
    cr_assert_eq(redelivery.since_us, 1000000);
    cr_assert_eq(redelivery.until_us, 2000000);
}

Test(codec_webhook, faults_point_at_their_member)
{
    static const struct {
        enum what what;
        const char *text, *at, *code;
    } cases[] = {
        {CREATE, "{\"events\":[\"run.ingested\"]}", "/url", "required"},
        {CREATE, "{" URL "}", "/events", "required"},
        {CREATE, "{\"url\":\"\",\"events\":[\"run.ingested\"]}", "/url", "out_of_range"},
        {CREATE, "{" URL ",\"events\":[]}", "/events", "too_few_items"},
        {CREATE, "{" URL ",\"events\":\"run.ingested\"}", "/events", "wrong_type"},
        {CREATE, "{" URL ",\"events\":[\"run.ingested\",\"advice.create\"]}", "/events/1",
         "not_allowed"},
        {CREATE, "{" URL ",\"events\":[\"webhook.ping\"]}", "/events/0", "not_allowed"},
        {CREATE, "{" URL ",\"events\":[\"run.ingested\",\"run.ingested\"]}", "/events/1",
         "duplicate"},
        {CREATE, "{" MUST ",\"applications\":[\"a\",\"\"]}", "/applications/1", "invalid_name"},
        {CREATE, "{" MUST ",\"applications\":[\"a\",\"b\",\"a\"]}", "/applications/2", "duplicate"},
        {CREATE, "{" MUST ",\"applications\":{}}", "/applications", "wrong_type"},
        {CREATE, "{" MUST ",\"labels\":{\"a\":\"\",\"b\":\"\",\"c\":\"\"}}", "/labels",
         "too_many_items"},
        {CREATE, "{" MUST ",\"min_severity\":\"error\"}", "/min_severity", "not_allowed"},
        {CREATE, "{" MUST ",\"format\":\"xml\"}", "/format", "not_allowed"},
        {CREATE, "{" MUST ",\"signature\":\"v2\"}", "/signature", "not_allowed"},
        {CREATE, "{" MUST ",\"secret\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3MDEyMzQ1\"}", "/secret",
         "invalid_secret"},
        {CREATE, "{" MUST ",\"secret\":\"whsec_\"}", "/secret", "out_of_range"},
        {CREATE, "{" MUST ",\"signature\":\"v1a\",\"secret\":\"" SECRET "\"}", "/secret",
         "conflict"},
        {CREATE, "{" MUST ",\"authorization\":\"\"}", "/authorization", "out_of_range"},
        {CREATE, "{" MUST ",\"authorization\":\"a\\r\\nX: b\"}", "/authorization", "invalid_text"},
        {CREATE, "{" MUST ",\"authorization\":\"a\\u0007b\"}", "/authorization", "invalid_text"},
        {CREATE, "{" MUST ",\"authorization\":\"\xc3\xa9\"}", "/authorization", "invalid_text"},
        {CREATE, "{" MUST ",\"authorization\":\" a\"}", "/authorization", "invalid_text"},
        {CREATE, "{" MUST ",\"concurrency\":0}", "/concurrency", "out_of_range"},
        {CREATE, "{" MUST ",\"concurrency\":33}", "/concurrency", "out_of_range"},
        {CREATE, "{" MUST ",\"enabled\":1}", "/enabled", "wrong_type"},
        {CREATE, "{" MUST ",\"event\":[]}", "/event", "unknown_field"},
        {CREATE, "{" MUST ",\"public_key\":\"x\"}", "/public_key", "unknown_field"},
        {CHANGE, "{}", "", "required"},
        {CHANGE, "{\"signature\":\"v1a\"}", "/signature", "unknown_field"},
        {CHANGE, "{\"secret\":\"" SECRET "\"}", "/secret", "unknown_field"},
        {CHANGE, "{\"url\":null}", "/url", "wrong_type"},
        {CHANGE, "{\"events\":[]}", "/events", "too_few_items"},
        {CHANGE, "{\"authorization\":\"a\\nb\"}", "/authorization", "invalid_text"},
        {CHANGE, "{\"applications\":[\"a\",\"a\"]}", "/applications/1", "duplicate"},
        {CHANGE, "{\"concurrency\":33}", "/concurrency", "out_of_range"},
        {ROTATE, "{\"overlap_s\":604801}", "/overlap_s", "out_of_range"},
        {ROTATE, "{\"overlap_s\":-1}", "/overlap_s", "out_of_range"},
        {ROTATE, "{\"secret\":\"0123456789012345678901234567890123456789\"}", "/secret",
         "invalid_secret"},
        {REDELIVER, "{\"status\":\"pending\"}", "/status", "not_allowed"},
        {REDELIVER, "{\"since\":\"yesterday\"}", "/since", "invalid_instant"},
        {REDELIVER, "{\"since\":\"2026-01-05T10:00:00Z\",\"until\":\"2026-01-05T10:00:00Z\"}",
         "/until", "out_of_range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode_as(cases[i].what, cases[i].text), PV_E_INVALID, "%s", cases[i].text);
        cr_assert_eq(err.n_faults, 1u, "%s: %zu", cases[i].text, err.n_faults);
        cr_assert_str_eq(err.faults[0].at, cases[i].at, "%s", cases[i].text);
        cr_assert_str_eq(err.faults[0].code, cases[i].code, "%s: %s", cases[i].text,
                         err.faults[0].code);
    }
}

Test(codec_webhook, a_misspelt_event_is_told_the_nearest)
{
    cr_assert_eq(decode_as(CREATE, "{" URL ",\"events\":[\"advice.create\"]}"), PV_E_INVALID);
    cr_assert_not_null(strstr(err.faults[0].detail, "did you mean advice.created?"), "%s",
                       err.faults[0].detail);
}

Test(codec_webhook, no_more_applications_than_a_hundred)
{
    char text[4096] = "{" MUST ",\"applications\":[";
    for (int i = 0; i <= CODEC_WEBHOOK_APPLICATIONS_MAX; i++) {
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n, "%s\"a%d\"", i == 0 ? "" : ",", i);
    }
    strcat(text, "]}");
    cr_assert_eq(decode_as(CREATE, text), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/applications");
    cr_assert_str_eq(err.faults[0].code, "too_many_items");
}

Test(codec_webhook, a_delivery_with_and_without_what_it_holds)
{
    struct webhook_delivery delivery = {.id = "0190d4a0-0000-7000-8000-000000000001",
                                        .webhook_id = "0190d4a0-0000-7000-8000-000000000000",
                                        .message_id = strview_of("evt_0190"),
                                        .event_type = strview_of("webhook.ping"),
                                        .status = DELIVERY_DEAD,
                                        .reason = strview_of("gave_up"),
                                        .attempts = 2,
                                        .next_us = RUN_NO_INSTANT};
    struct writer w;
    size_t n;
    writer_init(&w, &arena);
    codec_webhook_delivery_encode(&w, &delivery);
    const char *brief = writer_finish(&w, &n);
    cr_assert_not_null(strstr(brief, "\"status\":\"dead\",\"reason\":\"gave_up\",\"attempts\":2"));
    cr_assert_null(strstr(brief, "\"log\""));
    delivery.data = strview_of("{\"webhook_id\":\"x\"}");
    delivery.log = strview_of("[{\"status\":503}]");
    writer_init(&w, &arena);
    codec_webhook_delivery_encode(&w, &delivery);
    cr_assert_not_null(strstr(writer_finish(&w, &n), ",\"data\":{\"webhook_id\":\"x\"},"
                                                     "\"log\":[{\"status\":503}]}"));
}

#include "webhooks/attempts.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "store/store.h"
#include "threads/clock.h"

static struct config config;
static struct held_webhooks held;
static struct held_webhook *webhook;
static struct attempts attempts;

static void begin(void)
{
    const struct webhook_held row = {.key = {"team", "hook"}, .url = {"", 0}, .concurrency = 8};
    config_defaults(&config);
    config.webhook_pause_after = 2;
    webhook = held_webhooks_add(&held, &row);
    attempts_init(&attempts);
}

static const struct delivery_record *
note_of(long status, const char *error, int64_t tries, struct sender_outcome outcome)
{
    struct pv_error err = {.code = PV_OK};
    outcome.attempted = true;
    outcome.status = status;
    outcome.complete = status > 0;
    outcome.at_us = 1000000;
    outcome.duration_ms = 12;
    (void)snprintf(outcome.error, sizeof outcome.error, "%s", error);
    (void)snprintf(outcome.answer, sizeof outcome.answer, "hello \"you\"");
    outcome.answer_n = strlen(outcome.answer);
    const struct delivery_due due = {.id = "d", .event_id = "e", .attempts = 7, .tries = tries};
    struct flight *flight = flight_add(&held, webhook, &due);
    cr_assert_eq(attempts_note(&attempts, &config, flight, &outcome, &err), PV_OK);
    struct attempt *last = attempts.first;
    while (last->next != NULL)
        last = last->next;
    return &last->record;
}

static const struct delivery_record *note(long status, const char *error, int64_t tries)
{
    return note_of(status, error, tries, (struct sender_outcome){.began_ns = UINT64_MAX});
}

static void end(void)
{
    attempts_fini(&attempts);
    held_webhooks_clear(&held);
}

Test(attempts, success, .init = begin, .fini = end)
{
    const struct delivery_record *record = note(204, "", 0);
    cr_expect(strview_is(record->result, "delivered") && record->attempts == 7);
    cr_expect(
        strview_is(
            record->entry,
            "{\"at\":\"1970-01-01T00:00:01Z\",\"status\":204,\"error\":null,\"duration_ms\":12,"
            "\"response\":\"hello \\\"you\\\"\"}"),
        "%.*s", (int)record->entry.n, record->entry.at);
    cr_expect(webhook->changed && webhook->succeeded && !webhook->leaving &&
              webhook->error.at == NULL);
    cr_expect_eq(atomic_load(&webhook->lane.limit), 2);
}

Test(attempts, failure_is_tried_again_later_each_time, .init = begin, .fini = end)
{
    const struct delivery_record *record = note(500, "", 0);
    cr_expect(strview_is(record->result, "failed") && record->delay_ms >= 4000 &&
              record->delay_ms <= 6000);
    cr_expect(strview_is(webhook->error, "the answer was 500") && !webhook->leaving);
    config.webhook_pause_after = 100;
    record = note(0, "no answer within 20 s", 3);
    cr_expect(record->delay_ms >= 108000 && record->delay_ms <= 162000);
    cr_expect(strview_is(webhook->error, "no answer within 20 s"));
    cr_expect_not_null(
        strstr(record->entry.at, "\"status\":null,\"error\":\"no answer within 20 s\""));
}

Test(attempts, gone_disables, .init = begin, .fini = end)
{
    const struct delivery_record *record = note(410, "", 0);
    cr_expect(strview_is(record->result, "gone") && webhook->is_gone);
}

Test(attempts, an_endpoint_that_asks_for_years_waits_for_hours, .init = begin, .fini = end)
{
    const struct delivery_record *record = note_of(
        503, "", 0, (struct sender_outcome){.began_ns = UINT64_MAX, .retry_after_ms = 86400000});
    cr_expect_eq(record->delay_ms, config.webhook_retry_max_s * 1000);
    cr_expect_eq(webhook->health.hold_ms, config.webhook_retry_max_s * 1000);
}

Test(attempts, failures_in_a_row_pause, .init = begin, .fini = end)
{
    (void)note(500, "", 0);
    cr_expect(!webhook->leaving && webhook->hold_until_ns == 0);
    (void)note(500, "", 0);
    cr_expect(webhook->leaving && webhook->hold_until_ns > 0 && webhook->health.pauses == 1);
    (void)note(200, "", 0);
    cr_expect(webhook->hold_until_ns == 0 && webhook->health.pauses == 0 &&
              webhook->health.failures == 0);
}

Test(attempts, what_was_under_way_ends_no_wait_that_was_asked_for, .init = begin, .fini = end)
{
    uint64_t before_ns = clock_monotonic_ns() - 1;
    (void)note_of(429, "", 0,
                  (struct sender_outcome){.began_ns = before_ns, .retry_after_ms = 60000});
    uint64_t until_ns = webhook->hold_until_ns;
    cr_assert(webhook->leaving && until_ns > clock_monotonic_ns() + 59000000000u);
    (void)note_of(200, "", 0, (struct sender_outcome){.began_ns = before_ns});
    cr_expect_eq(webhook->hold_until_ns, until_ns);
    cr_expect_eq(webhook->health.failures, 0);
    (void)note(200, "", 0);
    cr_expect_eq(webhook->hold_until_ns, 0, "an attempt after the wait ends it");
}

/* A webhook that changed is written down though there is no attempt: without a database it waits. If
 * nothing changed, no database is asked. */
Test(attempts, a_change_without_an_attempt_is_written_down, .init = begin, .fini = end)
{
    struct pv_error err = {.code = PV_OK};
    struct store *store = NULL;
    const char owner[37] = "018f0000-0000-7000-8000-000000000000";
    cr_assert_eq(store_open(&(struct store_options){.conninfo = "host=/nonexistent",
                                                    .connections_max = 1,
                                                    .wait_ms = 1000,
                                                    .statement_timeout_ms = 1000},
                            &store, &err),
                 PV_OK);
    cr_expect_eq(attempts_write(&attempts, store, owner, &held, &err), PV_OK);
    webhook->changed = true;
    cr_expect_eq(attempts_write(&attempts, store, owner, &held, &err), PV_E_UNAVAILABLE);
    cr_expect(webhook->changed);
    store_close(store);
}

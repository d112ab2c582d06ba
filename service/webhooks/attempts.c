#include "webhooks/attempts.h"

#include "base/json_writer.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"

METRIC_COUNTER(
    results,
    "provisor_webhook_deliveries_total",
    "What became of attempts: delivered, retried (to be tried again), or dead (given up).",
    "result");

static const double latency_bounds_s[] = {0.01, 0.025, 0.05, 0.1, 0.2,  0.5,
                                          1,    5,     60,   600, 3600, 86400};
METRIC_HISTOGRAM(latency,
                 "provisor_webhook_delivery_latency_seconds",
                 "From an event to its delivery.",
                 "",
                 latency_bounds_s);

void attempts_init(struct attempts *attempts)
{
    *attempts = (struct attempts){.n = 0};
    attempts->end = &attempts->first;
    arena_init(&attempts->arena, 0);
}

void attempts_fini(struct attempts *attempts)
{
    arena_fini(&attempts->arena);
}

static struct backoff_limits limits_of(const struct config *config)
{
    return (struct backoff_limits){.retry_first_ms = config->webhook_retry_first_ms,
                                   .retry_max_ms = config->webhook_retry_max_s * 1000,
                                   .pause_after = config->webhook_pause_after,
                                   .pause_first_ms = config->webhook_pause_first_s * 1000,
                                   .pause_max_ms = config->webhook_pause_max_s * 1000};
}

/* By the database's clock, which may be ahead of ours. */
static double seconds_since(int64_t us)
{
    int64_t passed_us = clock_wall_us() - us;
    return passed_us < 0 ? 0 : (double)passed_us * 1e-6;
}

static double random_share(void)
{
    uint8_t bytes[2];
    clock_random(bytes, sizeof bytes);
    return (double)(bytes[0] | bytes[1] << 8) / 65535;
}

/* The attempt as people see it. */
static struct strview write_entry(struct arena *arena, const struct sender_outcome *outcome)
{
    struct writer w;
    struct strview entry;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_instant(&w, "at", outcome->at_us);
    writer_member_count(&w, "status", outcome->status > 0 ? outcome->status : -1);
    writer_member_string(&w, "error", outcome->error[0] == '\0' ? NULL : outcome->error);
    writer_member_integer(&w, "duration_ms", outcome->duration_ms);
    writer_member_text(&w, "response",
                       (struct strview){outcome->status > 0 ? outcome->answer : NULL,
                                        outcome->status > 0 ? outcome->answer_n : 0});
    writer_end_object(&w);
    entry.at = writer_finish(&w, &entry.n);
    return entry;
}

/* What the list of webhooks shows of a failure. */
static struct strview say_failure(struct arena *arena, const struct sender_outcome *outcome)
{
    return strview_of(outcome->error[0] != '\0'
                          ? arena_strdup(arena, outcome->error)
                          : arena_printf(arena, "the answer was %ld", outcome->status));
}

static bool slows_down(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

enum { GONE = 410 };

/* How long it asks us to wait, within what we would wait by ourselves: an endpoint that asks for years
 * shall not cost an event. */
static int64_t wait_asked_ms(const struct config *config, const struct sender_outcome *outcome)
{
    int64_t most_ms = config->webhook_retry_max_s * 1000;
    return outcome->retry_after_ms < most_ms ? outcome->retry_after_ms : most_ms;
}

static void judge_failure(const struct config *config,
                          const struct flight *flight,
                          const struct sender_outcome *outcome,
                          struct delivery_record *record)
{
    const struct backoff_limits limits = limits_of(config);
    record->result = strview_of(outcome->status == GONE ? "gone" : "failed");
    record->delay_ms = backoff_delay_ms(&limits, flight->tries + 1, wait_asked_ms(config, outcome),
                                        random_share());
}

static void note_health(const struct config *config,
                        struct held_webhook *webhook,
                        const struct sender_outcome *outcome)
{
    const struct backoff_limits limits = limits_of(config);
    bool was_paused = webhook->health.pauses > 0;
    bool is_late = outcome->began_ns < webhook->held_since_ns;
    if (sender_succeeded(outcome)) {
        health_succeeded(&webhook->health);
        /* A pause of ours is over. A wait that the endpoint asked for is not, whatever it answered to
         * what was under way when it asked. */
        if (was_paused || !is_late)
            webhook->hold_until_ns = 0;
    } else {
        health_failed(&webhook->health, &limits,
                      slows_down(outcome->status) ? wait_asked_ms(config, outcome) : 0, is_late);
        if (!is_late && webhook->health.hold_ms > 0) {
            webhook->held_since_ns = clock_monotonic_ns();
            webhook->hold_until_ns =
                webhook->held_since_ns + (uint64_t)webhook->health.hold_ms * 1000000u;
        }
    }
    if (was_paused != (webhook->health.pauses > 0))
        LOG_EVENT(LOG_WARN, was_paused ? "webhook.resumed" : "webhook.paused", NULL,
                  LOG_TEXT("webhook_id", webhook->row.key.id),
                  LOG_COUNT("failures", webhook->health.failures));
    atomic_store(&webhook->lane.limit, webhook->health.allowed);
    webhook->leaving |= webhook->hold_until_ns > 0;
    webhook->changed = true;
}

enum pv_code attempts_note(struct attempts *attempts,
                           const struct config *config,
                           struct flight *flight,
                           const struct sender_outcome *outcome,
                           struct pv_error *err)
{
    struct held_webhook *webhook = flight->webhook;
    struct attempt *made = arena_calloc(&attempts->arena, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    struct delivery_record *record = &made->record;
    *record = (struct delivery_record){.webhook = webhook->row.key, .attempts = flight->attempts};
    memcpy(record->id, flight->id, sizeof record->id);
    record->entry = write_entry(&attempts->arena, outcome);
    if (record->entry.at == NULL)
        return pv_no_memory(err);
    made->flight = flight;
    note_health(config, webhook, outcome);
    if (sender_succeeded(outcome)) {
        record->result = strview_of("delivered");
        webhook->succeeded = true;
        metric_add(&results, 1, METRIC_LABELS("delivered"));
        metric_observe(&latency, seconds_since(flight->happened_us), NULL);
    } else {
        judge_failure(config, flight, outcome, record);
        webhook->error = say_failure(&attempts->arena, outcome);
        webhook->is_gone |= outcome->status == GONE;
    }
    *attempts->end = made;
    attempts->end = &made->next;
    attempts->n++;
    return PV_OK;
}

/* --- writing it down --- */

static int64_t hold_left_ms(const struct held_webhook *webhook)
{
    uint64_t now_ns = clock_monotonic_ns();
    return webhook->hold_until_ns <= now_ns
               ? 0
               : (int64_t)((webhook->hold_until_ns - now_ns) / 1000000 + 1);
}

static struct webhook_record describe_webhook(const struct held_webhook *webhook)
{
    return (struct webhook_record){
        .key = webhook->row.key,
        .version = webhook->row.version,
        .failures = webhook->health.failures,
        .pauses = webhook->health.pauses,
        .hold_ms = hold_left_ms(webhook),
        .succeeded = webhook->succeeded,
        .error = webhook->error,
        .disable = strview_of(webhook->is_gone ? "the endpoint answered 410 (gone)" : NULL)};
}

static void forget_changes(struct held_webhooks *held)
{
    for (struct held_webhook *w = held->first; w != NULL; w = w->next) {
        if (!w->changed)
            continue;
        if (w->is_gone)
            LOG_EVENT(LOG_WARN, "webhook.disabled", NULL, LOG_TEXT("webhook_id", w->row.key.id));
        w->leaving |= w->is_gone;
        w->changed = w->succeeded = w->is_gone = false;
        w->error = (struct strview){NULL, 0};
    }
}

static bool any_changed(const struct held_webhooks *held)
{
    for (const struct held_webhook *w = held->first; w != NULL; w = w->next)
        if (w->changed)
            return true;
    return false;
}

/* These attempts, up to n of them, and the webhooks that changed. */
static enum pv_code write_down(const struct attempt *first,
                               size_t n,
                               struct store *store,
                               const char owner[37],
                               const struct held_webhooks *held,
                               struct pv_error *err)
{
    struct arena arena;
    int64_t dead = 0;
    size_t n_records = 0;
    size_t n_webhooks = 0;
    size_t n_failed = 0;
    arena_init(&arena, 0);
    struct delivery_record *records = arena_calloc(&arena, n + 1, sizeof *records);
    struct webhook_record *webhooks = arena_calloc(&arena, held->n + 1, sizeof *webhooks);
    enum pv_code code = records == NULL || webhooks == NULL ? pv_no_memory(err) : PV_OK;
    for (const struct attempt *a = first; code == PV_OK && n_records < n; a = a->next) {
        n_failed += strview_is(a->record.result, "delivered") ? 0 : 1;
        records[n_records++] = a->record;
    }
    for (const struct held_webhook *w = held->first; code == PV_OK && w != NULL; w = w->next)
        if (w->changed)
            webhooks[n_webhooks++] = describe_webhook(w);
    if (code == PV_OK)
        code = store_deliveries_record(store, &arena, owner, records, n_records, webhooks,
                                       n_webhooks, &dead, err);
    if (code == PV_OK) {
        metric_add(&results, (double)dead, METRIC_LABELS("dead"));
        metric_add(&results, (double)n_failed - (double)dead, METRIC_LABELS("retried"));
    }
    arena_fini(&arena);
    return code;
}

/* Whether waiting may help: the database is away, or busy. */
static bool will_pass(enum pv_code code)
{
    return code == PV_E_UNAVAILABLE || code == PV_E_TIMEOUT || code == PV_E_RETRY ||
           code == PV_E_MEMORY;
}

enum { UNWRITABLE_HOLD_S = 60 };

/* What the database refuses of one delivery holds up no other: each by itself. A webhook with one that
 * cannot be written down is left alone for a while, for that one will be sent again. */
static enum pv_code write_singly(struct attempts *attempts,
                                 struct store *store,
                                 const char owner[37],
                                 struct held_webhooks *held,
                                 struct pv_error *err)
{
    for (struct attempt *a = attempts->first; a != NULL; a = a->next) {
        struct pv_error why = {.code = PV_OK};
        enum pv_code code = write_down(a, 1, store, owner, held, &why);
        if (will_pass(code))
            return pv_fail(err, code, "%s", why.detail);
        if (code == PV_OK)
            continue;
        struct held_webhook *webhook = a->flight->webhook;
        LOG_EVENT(LOG_ERROR, "webhook.attempt_not_recorded", NULL,
                  LOG_TEXT("webhook_id", webhook->row.key.id),
                  LOG_TEXT("delivery_id", a->flight->id), LOG_TEXT("reason", why.detail));
        webhook->leaving = webhook->changed = true;
        webhook->hold_until_ns = clock_monotonic_ns() + UNWRITABLE_HOLD_S * UINT64_C(1000000000);
    }
    struct pv_error ignored = {.code = PV_OK};
    enum pv_code code = write_down(NULL, 0, store, owner, held, &ignored);
    return will_pass(code) ? pv_fail(err, code, "%s", ignored.detail) : PV_OK;
}

enum pv_code attempts_write(struct attempts *attempts,
                            struct store *store,
                            const char owner[37],
                            struct held_webhooks *held,
                            struct pv_error *err)
{
    if (attempts->n == 0 && !any_changed(held))
        return PV_OK;
    struct pv_error refused = {.code = PV_OK};
    enum pv_code code = write_down(attempts->first, attempts->n, store, owner, held, &refused);
    if (code != PV_OK && will_pass(code))
        return pv_fail(err, code, "%s", refused.detail);
    if (code != PV_OK)
        PV_TRY(write_singly(attempts, store, owner, held, err));
    for (struct attempt *a = attempts->first; a != NULL; a = a->next)
        flight_remove(held, a->flight);
    forget_changes(held);
    arena_clear(&attempts->arena);
    attempts->first = NULL;
    attempts->end = &attempts->first;
    attempts->n = 0;
    return PV_OK;
}

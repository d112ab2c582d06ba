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

static void judge_failure(const struct config *config,
                          const struct flight *flight,
                          const struct sender_outcome *outcome,
                          struct delivery_record *record)
{
    const struct backoff_limits limits = limits_of(config);
    int64_t delay_ms =
        backoff_delay_ms(&limits, flight->tries + 1, outcome->retry_after_ms, random_share());
    uint64_t next_ns = clock_monotonic_ns() + (uint64_t)delay_ms * 1000000u;
    bool is_gone = outcome->status == GONE;
    bool is_dead = is_gone || next_ns > flight->give_up_ns;
    record->status = strview_of(is_dead ? "dead" : "pending");
    record->reason = strview_of(is_gone ? "disabled" : is_dead ? "gave_up" : NULL);
    record->delay_ms = is_dead ? 0 : delay_ms;
    metric_add(&results, 1, METRIC_LABELS(is_dead ? "dead" : "retried"));
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
                      slows_down(outcome->status) ? outcome->retry_after_ms : 0, is_late);
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
        record->status = strview_of("delivered");
        webhook->succeeded = true;
        metric_add(&results, 1, METRIC_LABELS("delivered"));
        metric_observe(&latency, (double)(clock_wall_us() - flight->happened_us) * 1e-6, NULL);
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

static enum pv_code write_down(const struct attempts *attempts,
                               struct store *store,
                               const char owner[37],
                               const struct held_webhooks *held,
                               struct arena *arena,
                               struct pv_error *err)
{
    struct delivery_record *records = arena_calloc(arena, attempts->n + 1, sizeof *records);
    struct webhook_record *webhooks = arena_calloc(arena, held->n + 1, sizeof *webhooks);
    size_t n_records = 0;
    size_t n_webhooks = 0;
    if (records == NULL || webhooks == NULL)
        return pv_no_memory(err);
    for (const struct attempt *a = attempts->first; a != NULL; a = a->next)
        records[n_records++] = a->record;
    for (const struct held_webhook *w = held->first; w != NULL; w = w->next)
        if (w->changed)
            webhooks[n_webhooks++] = describe_webhook(w);
    return store_deliveries_record(store, arena, owner, records, n_records, webhooks, n_webhooks,
                                   err);
}

enum pv_code attempts_write(struct attempts *attempts,
                            struct store *store,
                            const char owner[37],
                            struct held_webhooks *held,
                            struct pv_error *err)
{
    struct arena arena;
    if (attempts->n == 0 && !any_changed(held))
        return PV_OK;
    arena_init(&arena, 0);
    enum pv_code code = write_down(attempts, store, owner, held, &arena, err);
    arena_fini(&arena);
    if (code != PV_OK)
        return code;
    for (struct attempt *a = attempts->first; a != NULL; a = a->next)
        flight_remove(held, a->flight);
    forget_changes(held);
    arena_clear(&attempts->arena);
    attempts->first = NULL;
    attempts->end = &attempts->first;
    attempts->n = 0;
    return PV_OK;
}

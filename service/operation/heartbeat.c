#include <string.h>

#include "base/plural.h"
#include "log/log.h"
#include "operation/runner_internal.h"
#include "threads/clock.h"
#include "threads/cond.h"

/*
 * The heart beat: one statement for all that the process holds. Everything else that happens by
 * itself hangs on it: leases of the dead, numbers for the metrics, looking for work.
 */
enum {
    BEAT_MS = 400,     /* so a cancellation is heard within half a second */
    LOST_EVERY = 2,    /* beats */
    COUNT_EVERY = 10,  /* beats */
    LOST_AT_ONCE = 50, /* put back in one go */
    GRACE_MS = 300     /* at the end: for workers to give back what they hold by themselves */
};

/* --- what we hold --- */

static size_t
list_held(struct operation_runner *runner, struct operation_held *held, struct runner_slot **slots)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < runner->n_slots; i++) {
        struct runner_slot *slot = &runner->slots[i];
        if (!slot->busy)
            continue;
        held[n] = (struct operation_held){.key = slot->key,
                                          .done = atomic_load(&slot->flags.done),
                                          .total = atomic_load(&slot->flags.total),
                                          .unit = strview_of(atomic_load(&slot->flags.unit))};
        slots[n++] = slot;
    }
    (void)pthread_mutex_unlock(&runner->lock);
    return n;
}

static bool same_attempt(const struct runner_slot *slot, const struct operation_key *key)
{
    return slot->busy && slot->key.attempt == key->attempt && strcmp(slot->key.id, key->id) == 0;
}

static void heartbeat_apply(struct operation_runner *runner,
                            const struct operation_held *held,
                            struct runner_slot *slot,
                            uint64_t asked_ns)
{
    (void)pthread_mutex_lock(&runner->lock);
    if (same_attempt(slot, &held->key)) {
        if (held->still)
            slot->lease_end_ns =
                asked_ns + (uint64_t)runner->config->operation_lease_s * 1000000000u;
        else
            slot_stop(slot, STOP_LOST);
        if (held->still && held->cancel)
            slot_stop(slot, STOP_CANCELLED);
    }
    (void)pthread_mutex_unlock(&runner->lock);
}

/* Nobody answers: whose lease has run out by our own clock may have been taken by another. */
static void stop_overdue(struct operation_runner *runner)
{
    uint64_t now_ns = clock_monotonic_ns();
    (void)pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < runner->n_slots; i++)
        if (runner->slots[i].busy && now_ns >= runner->slots[i].lease_end_ns)
            slot_stop(&runner->slots[i], STOP_LOST);
    (void)pthread_mutex_unlock(&runner->lock);
}

static void renew_leases(struct operation_runner *runner)
{
    struct arena arena;
    struct pv_error err = {.code = PV_OK};
    arena_init(&arena, 0);
    struct operation_held *held = arena_calloc(&arena, runner->n_slots, sizeof *held);
    struct runner_slot **slots = arena_calloc(&arena, runner->n_slots, sizeof *slots);
    enum pv_code code = PV_E_MEMORY;
    uint64_t asked_ns = clock_monotonic_ns();
    size_t n = 0;
    if (held != NULL && slots != NULL) {
        n = list_held(runner, held, slots);
        code = store_operation_renew(runner->options.store, &arena,
                                     runner->config->operation_lease_s * 1000, held, n, &err);
    }
    for (size_t i = 0; code == PV_OK && i < n; i++)
        heartbeat_apply(runner, &held[i], slots[i], asked_ns);
    if (code != PV_OK) {
        LOG_EVENT(LOG_WARN, "operation.leases_not_renewed", NULL, LOG_TEXT("reason", err.detail));
        stop_overdue(runner);
    }
    arena_fini(&arena);
}

/* --- what the dead left --- */

/* Done by the process that asked for it, and by no other. */
static bool is_its_own(const struct operation_runner *runner, struct strview name)
{
    for (const struct operation_kind *kind = runner->options.kinds; kind->name != NULL; kind++)
        if (strview_equal(strview_of(kind->name), name))
            return kind->run == NULL;
    return false;
}

static enum pv_code end_lost(struct operation_runner *runner,
                             struct arena *arena,
                             struct store_tx *tx,
                             const struct operation_key *key,
                             const struct operation_row *row,
                             struct pv_error *err)
{
    bool cancelled = row->cancel_asked_us != RUN_NO_INSTANT;
    enum operation_status status = cancelled ? OPERATION_CANCELLED : OPERATION_FAILED;
    struct pv_error why = {.code = PV_OK};
    if (is_its_own(runner, row->kind))
        (void)pv_fail(&why, PV_E_LOST,
                      "the process that did this is gone: what it stored until then stays, and the "
                      "operation can be started again");
    else
        (void)pv_fail(&why, PV_E_ABANDONED, "%lld attempt%s ended with the process that made %s",
                      (long long)row->losses + 1, PLURAL(row->losses + 1),
                      PLURAL_VERB(row->losses + 1, "it", "them"));
    const char *event =
        operation_event_data(arena, key->id, row->kind, row->application_name, status);
    struct operation_end end = {.status = status,
                                .event = strview_of(event),
                                .total = RUN_UNKNOWN,
                                .keep_s = runner->config->operation_retention_s,
                                .lost_only = true};
    if (!cancelled)
        end.error = attempt_describe(runner, arena, &why);
    if (event == NULL || (!cancelled && end.error.at == NULL))
        return pv_no_memory(err);
    return store_operation_finish(tx, key, &end, err);
}

static enum pv_code reclaim_one(struct operation_runner *runner,
                                struct arena *arena,
                                const struct operation_key *key,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct operation_row row = {.losses = 0};
    PV_TRY(attempt_begin_tx(runner, key->team_id, STORE_WRITE, &tx, err));
    PV_TRY(store_operation_load_head(tx, arena, key, &row, err));
    bool over = row.cancel_asked_us != RUN_NO_INSTANT ||
                row.losses + 1 >= runner->config->operation_attempts_max ||
                is_its_own(runner, row.kind);
    if (over)
        PV_TRY(end_lost(runner, arena, tx, key, &row, err));
    else
        PV_TRY(store_operation_requeue(tx, key, true, true, err));
    PV_TRY(store_commit(&tx, err));
    LOG_EVENT(LOG_WARN, "operation.taken_back", row.request_id.at,
              LOG_TEXT("operation_id", key->id), LOG_COUNT("attempt", key->attempt),
              LOG_COUNT("losses", row.losses + 1));
    return PV_OK;
}

static void reclaim_lost(struct operation_runner *runner)
{
    struct arena arena;
    struct operation_key *keys = NULL;
    struct pv_error err = {.code = PV_OK};
    size_t n = 0;
    arena_init(&arena, 0);
    enum pv_code code =
        store_operation_lost(runner->options.store, &arena, LOST_AT_ONCE, &keys, &n, &err);
    for (size_t i = 0; code == PV_OK && i < n; i++) {
        struct pv_error why = {.code = PV_OK};
        struct arena_mark keys_end = arena_mark(&arena); /* an operation may hold megabytes */
        enum pv_code taken = reclaim_one(runner, &arena, &keys[i], &why);
        arena_rewind(&arena, keys_end);
        if (taken != PV_OK && taken != PV_E_LEASE_LOST && taken != PV_E_RETRY)
            LOG_EVENT(LOG_WARN, "operation.not_taken_back", NULL,
                      LOG_TEXT("operation_id", keys[i].id), LOG_TEXT("reason", why.detail));
    }
    arena_fini(&arena);
}

static void review_turns(struct operation_runner *runner)
{
    (void)pthread_mutex_lock(&runner->lock);
    runner_review_turns(runner);
    size_t working = turns_count(&runner->turns, TURN_WORKING);
    size_t waiting = turns_count(&runner->turns, TURN_WAITING);
    (void)pthread_mutex_unlock(&runner->lock);
    size_t bytes = 0;
    for (size_t i = 0; i < runner->n_slots; i++)
        bytes += slot_bytes(&runner->slots[i]);
    runner_set_held(working, waiting, bytes);
}

static void count_operations(struct operation_runner *runner)
{
    struct operation_counts counts;
    struct pv_error err = {.code = PV_OK};
    if (store_operation_count(runner->options.store, &counts, &err) != PV_OK)
        return;
    runner_set_backlog(&counts);
}

/* --- the thread --- */

/* Sleeps; false when the runner is ending. */
static bool wait_for_beat(struct operation_runner *runner, long ms)
{
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)ms * 1000000;
    (void)pthread_mutex_lock(&runner->lock);
    while (!runner->ending && cond_wait_until(&runner->tick, &runner->lock, until_ns))
        ;
    bool go_on = !runner->ending;
    (void)pthread_mutex_unlock(&runner->lock);
    return go_on;
}

/* What workers have not given back by themselves; the fence keeps their late words out. */
static void requeue_all(struct operation_runner *runner)
{
    clock_sleep_ms(GRACE_MS);
    for (size_t i = 0; i < runner->n_slots; i++) {
        const struct runner_slot *slot = &runner->slots[i];
        (void)pthread_mutex_lock(&runner->lock);
        bool busy = slot->busy;
        struct operation_key key = slot->key;
        (void)pthread_mutex_unlock(&runner->lock);
        if (busy)
            attempt_requeue(runner, &key, false);
    }
}

static bool await_schema(struct operation_runner *runner)
{
    struct pv_error err = {.code = PV_OK};
    while (store_ready(runner->options.store, NULL, &err) != PV_OK)
        if (!wait_for_beat(runner, BEAT_MS))
            return false;
    return true;
}

static long beat_ms(const struct config *config)
{
    long fifth = (long)config->operation_lease_s * 200;
    return fifth < BEAT_MS ? fifth : BEAT_MS;
}

void *heartbeat_run(void *argument)
{
    struct operation_runner *runner = argument;
    bool go_on = await_schema(runner);
    for (unsigned beat = 0; go_on; beat++) {
        renew_leases(runner);
        review_turns(runner);
        if (beat % LOST_EVERY == 0)
            reclaim_lost(runner);
        if (beat % COUNT_EVERY == 0)
            count_operations(runner);
        operation_runner_wake(runner);
        go_on = wait_for_beat(runner, beat_ms(runner->config));
    }
    requeue_all(runner);
    return NULL;
}

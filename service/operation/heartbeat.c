#include <string.h>
#include <time.h>

#include "log/log.h"
#include "operation/operation_internal.h"
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
                                          .done = atomic_load(&slot->pulse.done),
                                          .total = atomic_load(&slot->pulse.total),
                                          .unit = strview_of(atomic_load(&slot->pulse.unit))};
        slots[n++] = slot;
    }
    (void)pthread_mutex_unlock(&runner->lock);
    return n;
}

static bool same_attempt(const struct runner_slot *slot, const struct operation_key *key)
{
    return slot->busy && slot->key.attempt == key->attempt && strcmp(slot->key.id, key->id) == 0;
}

static void hear(struct operation_runner *runner,
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
            pulse_stop(&slot->pulse, STOP_LOST);
        if (held->still && held->cancel)
            pulse_stop(&slot->pulse, STOP_CANCELLED);
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
            pulse_stop(&runner->slots[i].pulse, STOP_LOST);
    (void)pthread_mutex_unlock(&runner->lock);
}

static void renew(struct operation_runner *runner)
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
        hear(runner, &held[i], slots[i], asked_ns);
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
                      "the process that did it is gone: what it had stored by then stays, and it "
                      "can be begun again");
    else
        (void)pv_fail(&why, PV_E_ABANDONED, "%lld attempts ended with the process that made them",
                      (long long)row->losses + 1);
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

static enum pv_code take_back_one(struct operation_runner *runner,
                                  const struct operation_key *key,
                                  struct pv_error *err)
{
    struct arena arena;
    struct store_tx *tx = NULL;
    struct operation_row row = {.losses = 0};
    arena_init(&arena, 0);
    enum pv_code code = attempt_begin_tx(runner, key->team_id, STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_load(tx, &arena, key, &row, err);
    bool over = row.cancel_asked_us != RUN_NO_INSTANT ||
                row.losses + 1 >= runner->config->operation_attempts_max ||
                is_its_own(runner, row.kind);
    if (code == PV_OK)
        code = over ? end_lost(runner, &arena, tx, key, &row, err)
                    : store_operation_give_back(tx, key, true, true, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    if (code == PV_OK)
        LOG_EVENT(LOG_WARN, "operation.taken_back", row.request_id.at,
                  LOG_TEXT("operation_id", key->id), LOG_COUNT("attempt", key->attempt),
                  LOG_COUNT("losses", row.losses + 1));
    arena_fini(&arena);
    return code;
}

static void take_back(struct operation_runner *runner)
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
        enum pv_code taken = take_back_one(runner, &keys[i], &why);
        if (taken != PV_OK && taken != PV_E_CANCELLED && taken != PV_E_RETRY)
            LOG_EVENT(LOG_WARN, "operation.not_taken_back", NULL,
                      LOG_TEXT("operation_id", keys[i].id), LOG_TEXT("reason", why.detail));
    }
    arena_fini(&arena);
}

static void count_all(struct operation_runner *runner)
{
    struct operation_tally tally;
    struct pv_error err = {.code = PV_OK};
    if (store_operation_count(runner->options.store, &tally, &err) != PV_OK)
        return;
    runner_set_backlog(&tally);
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
static void give_all_back(struct operation_runner *runner)
{
    const struct timespec grace = {.tv_nsec = GRACE_MS * 1000000L};
    (void)nanosleep(&grace, NULL);
    for (size_t i = 0; i < runner->n_slots; i++) {
        struct runner_slot *slot = &runner->slots[i];
        struct store_tx *tx = NULL;
        struct pv_error err = {.code = PV_OK};
        (void)pthread_mutex_lock(&runner->lock);
        bool busy = slot->busy;
        struct operation_key key = slot->key;
        (void)pthread_mutex_unlock(&runner->lock);
        if (!busy || attempt_begin_tx(runner, key.team_id, STORE_WRITE, &tx, &err) != PV_OK)
            continue;
        enum pv_code code = store_operation_give_back(tx, &key, false, false, &err);
        if (code == PV_OK)
            code = store_commit(&tx, &err);
        store_rollback(&tx);
        if (code != PV_OK && code != PV_E_CANCELLED)
            LOG_EVENT(LOG_WARN, "operation.not_given_back", NULL, LOG_TEXT("operation_id", key.id),
                      LOG_TEXT("reason", err.detail));
    }
}

static bool await_schema(struct operation_runner *runner)
{
    struct pv_error err = {.code = PV_OK};
    while (store_ready(runner->options.store, &err) != PV_OK)
        if (!wait_for_beat(runner, BEAT_MS))
            return false;
    return true;
}

static long beat_ms(const struct config *config)
{
    long fifth = (long)config->operation_lease_s * 200;
    return fifth < BEAT_MS ? fifth : BEAT_MS;
}

void *beat_run(void *argument)
{
    struct operation_runner *runner = argument;
    bool go_on = await_schema(runner);
    for (unsigned beat = 0; go_on; beat++) {
        renew(runner);
        if (beat % LOST_EVERY == 0)
            take_back(runner);
        if (beat % COUNT_EVERY == 0)
            count_all(runner);
        operation_runner_wake(runner);
        go_on = wait_for_beat(runner, beat_ms(runner->config));
    }
    give_all_back(runner);
    return NULL;
}

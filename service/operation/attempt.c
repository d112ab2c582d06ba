#include <stdio.h>
#include <string.h>

#include "log/log.h"
#include "operation/runner_internal.h"
#include "threads/clock.h"

/*
 * One attempt: load what is to be done, do it, and write what became of it. The work may end in any
 * way while the lease is lost, the cancellation comes and the process is asked to end; the
 * database decides which of them was first (store_operation_finish).
 */
struct attempt {
    struct operation_runner *runner;
    struct runner_slot *slot;
    const struct operation_kind *kind;
    struct operation_run run;
    struct operation_row row;
    struct arena arena;
    uint64_t began_ns;
};

enum pv_code attempt_begin_tx(struct operation_runner *runner,
                              const char *team_id,
                              enum store_mode mode,
                              struct store_tx **tx,
                              struct pv_error *err)
{
    struct principal who = {.scopes = SCOPE_READ | SCOPE_WRITE};
    (void)snprintf(who.team_id, sizeof who.team_id, "%s", team_id);
    (void)snprintf(who.actor, sizeof who.actor, "operation runner");
    return store_begin(runner->options.store, &who, "", mode, tx, err);
}

struct strview
attempt_describe(struct operation_runner *runner, struct arena *arena, const struct pv_error *err)
{
    size_t n = 0;
    const char *text = runner->options.describe(arena, err, &n);
    return (struct strview){text, text == NULL ? 0 : n};
}

/* --- load --- */

static const struct operation_kind *find_kind(const struct operation_runner *runner,
                                              struct strview name)
{
    for (const struct operation_kind *kind = runner->options.kinds; kind->name != NULL; kind++)
        if (strview_equal(strview_of(kind->name), name))
            return kind;
    return NULL;
}

static void fill_run(struct attempt *a, const struct operation_key *key)
{
    const struct operation_row *row = &a->row;
    a->run = (struct operation_run){.config = a->runner->config,
                                    .store = a->runner->options.store,
                                    .arena = &a->arena,
                                    .key = *key,
                                    .application_id = row->application_id,
                                    .application = row->application_name.at,
                                    .request = row->request,
                                    .request_id = row->request_id.at,
                                    .trace_id = row->trace_id.at,
                                    .kind = row->kind,
                                    .flags = &a->slot->flags,
                                    .give_way = slot_pause,
                                    .slot = a->slot};
    struct principal *who = &a->run.who;
    memcpy(who->team_id, key->team_id, sizeof who->team_id);
    memcpy(who->token_id, row->token_id, sizeof who->token_id);
    (void)snprintf(who->actor, sizeof who->actor, "%s", row->actor.at);
    who->scopes = row->scopes;
}

static enum pv_code
load_operation(struct attempt *a, const struct operation_key *key, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(attempt_begin_tx(a->runner, key->team_id, STORE_READ, &tx, err));
    PV_TRY(store_operation_load(tx, &a->arena, key, &a->row, err));
    a->kind = find_kind(a->runner, a->row.kind);
    fill_run(a, key);
    return a->kind != NULL ? PV_OK : pv_fail(err, PV_E_INTERNAL, "a kind that was not asked for");
}

/* --- write what became of it --- */

static bool lease_holds(const struct attempt *a)
{
    return atomic_load(&a->slot->flags.stop) != STOP_LOST;
}

static enum pv_code
end_once(struct attempt *a, const struct operation_end *end, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(a->runner->options.store, &a->run.who, a->run.request_id, STORE_WRITE, &tx,
                       err));
    PV_TRY(store_operation_finish(tx, &a->run.key, end, err));
    return store_commit(&tx, err);
}

static enum pv_code requeue(struct operation_runner *runner,
                            const struct operation_key *key,
                            bool loss,
                            struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(attempt_begin_tx(runner, key->team_id, STORE_WRITE, &tx, err));
    PV_TRY(store_operation_requeue(tx, key, loss, false, err));
    return store_commit(&tx, err);
}

/* Where that fails, too, the lease runs out. */
void attempt_requeue(struct operation_runner *runner, const struct operation_key *key, bool loss)
{
    struct pv_error err = {.code = PV_OK};
    enum pv_code code = requeue(runner, key, loss, &err);
    if (code != PV_OK && code != PV_E_LEASE_LOST)
        LOG_EVENT(LOG_WARN, "operation.not_given_back", NULL, LOG_TEXT("operation_id", key->id),
                  LOG_TEXT("reason", err.detail));
}

static bool worth_another_try(enum pv_code code)
{
    return code == PV_E_UNAVAILABLE || code == PV_E_RETRY || code == PV_E_TIMEOUT;
}

/* While the lease holds: what was worked out is worth waiting for the database. */
static enum pv_code
end_patiently(struct attempt *a, enum operation_status status, struct strview document)
{
    const char *event = operation_event_data(&a->arena, a->run.key.id, a->row.kind,
                                             a->row.application_name, status);
    const struct operation_end end = {
        .status = status,
        .result = status == OPERATION_SUCCEEDED ? document : (struct strview){NULL, 0},
        .error = status == OPERATION_FAILED ? document : (struct strview){NULL, 0},
        .event = strview_of(event),
        .done = atomic_load(&a->slot->flags.done),
        .total = atomic_load(&a->slot->flags.total),
        .unit = strview_of(atomic_load(&a->slot->flags.unit)),
        .keep_s = a->runner->config->operation_retention_s};
    enum pv_code code = event == NULL ? PV_E_MEMORY : PV_E_UNAVAILABLE;
    for (long ms = 50; worth_another_try(code) && lease_holds(a); ms = ms < 800 ? ms * 2 : ms) {
        struct pv_error err = {.code = PV_OK};
        code = end_once(a, &end, &err);
        if (worth_another_try(code))
            clock_sleep_ms(ms);
        else if (code != PV_OK && code != PV_E_CANCELLED && code != PV_E_LEASE_LOST)
            LOG_EVENT(LOG_ERROR, "operation.not_ended", a->run.request_id,
                      LOG_TEXT("operation_id", a->run.key.id), LOG_TEXT("reason", err.detail));
    }
    return code;
}

/* --- what became of it, for log and metrics --- */

static void count_attempt(struct attempt *a, const char *outcome, const struct pv_error *err)
{
    double seconds = (double)(clock_monotonic_ns() - a->began_ns) * 1e-9;
    runner_count_attempt(a->kind->name, outcome, seconds);
    LOG_EVENT(LOG_INFO, "operation.attempted", a->run.request_id,
              LOG_TEXT("operation_id", a->run.key.id), LOG_TEXT("kind", a->kind->name),
              LOG_TEXT("outcome", outcome), LOG_COUNT("attempt", a->run.key.attempt),
              LOG_NUMBER("duration_s", seconds), LOG_COUNT("pauses", a->slot->pauses),
              LOG_TEXT("trace_id", a->run.trace_id), LOG_TEXT("reason", err->detail));
}

/* --- decide --- */

static const char *fail_or_return(struct attempt *a, enum pv_code code, struct pv_error *err)
{
    if (worth_another_try(code) && a->row.losses + 1 < a->runner->config->operation_attempts_max) {
        attempt_requeue(a->runner, &a->run.key, true);
        return "returned";
    }
    if (err->code == PV_OK)
        err->code = code;
    if (code == PV_E_INTERNAL) { /* what went wrong inside is for the log */
        LOG_EVENT(LOG_ERROR, "operation.internal", a->run.request_id,
                  LOG_TEXT("operation_id", a->run.key.id), LOG_TEXT("detail", err->detail));
        *err = (struct pv_error){.code = PV_E_INTERNAL};
    }
    struct strview problem = attempt_describe(a->runner, &a->arena, err);
    return end_patiently(a, OPERATION_FAILED, problem) == PV_OK ? "failed" : "lost";
}

static const char *end_cancelled(struct attempt *a)
{
    struct strview nothing = {NULL, 0};
    return end_patiently(a, OPERATION_CANCELLED, nothing) == PV_OK ? "cancelled" : "lost";
}

static const char *
decide_outcome(struct attempt *a, enum pv_code code, struct strview result, struct pv_error *err)
{
    if (a->run.finished)
        return "succeeded";
    if (code == PV_OK)
        code = end_patiently(a, OPERATION_SUCCEEDED, result);
    if (code == PV_OK)
        return "succeeded";
    if (code == PV_E_LEASE_LOST)
        return "lost";
    switch ((enum operation_stop)atomic_load(&a->slot->flags.stop)) {
    case STOP_LOST:
        return "lost";
    case STOP_CANCELLED:
        return end_cancelled(a);
    case STOP_ENDING:
        attempt_requeue(a->runner, &a->run.key, false);
        return "returned";
    case STOP_NOT:
        break;
    }
    /* The end found it cancelled before the heart beat did. */
    return code == PV_E_CANCELLED ? end_cancelled(a) : fail_or_return(a, code, err);
}

static enum pv_code
load_head(struct attempt *a, const struct operation_key *key, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(attempt_begin_tx(a->runner, key->team_id, STORE_READ, &tx, err));
    return store_operation_load_head(tx, &a->arena, key, &a->row, err);
}

/*
 * What could not be loaded, or done for want of memory, ends as work does that failed with that
 * code, so that it comes back no oftener. Of what filled the attempt's memory there is still enough
 * without its documents. Where that much cannot be had either it is a loss like any other.
 */
static void end_unloaded(struct attempt *a,
                         const struct operation_key *key,
                         enum pv_code code,
                         struct pv_error *err)
{
    struct pv_error why = {.code = PV_OK};
    LOG_EVENT(LOG_WARN, "operation.not_loaded", NULL, LOG_TEXT("operation_id", key->id),
              LOG_TEXT("reason", err->detail));
    arena_fini(&a->arena);
    arena_init(&a->arena, 0);
    enum pv_code head = load_head(a, key, &why);
    if (head == PV_E_LEASE_LOST)
        return;
    if (head != PV_OK) {
        attempt_requeue(a->runner, key, true);
        return;
    }
    fill_run(a, key);
    const char *outcome = decide_outcome(a, code, (struct strview){NULL, 0}, err);
    LOG_EVENT(LOG_INFO, "operation.unloaded_ended", a->run.request_id,
              LOG_TEXT("operation_id", key->id), LOG_TEXT("outcome", outcome));
    if (a->kind != NULL)
        count_attempt(a, outcome, err);
}

/*
 * true: the team's share of the memory of all did not do. Where it would have if nobody else held
 * any, the operation comes back after a rest, as if the database had been away; else it fails.
 */
static bool lacked_memory(const struct attempt *a, enum pv_code *code, struct pv_error *err)
{
    const struct ledger_account *account = &a->slot->account;
    if (*code != PV_E_MEMORY || !account->refused || a->run.finished)
        return false;
    struct pv_error why = {.code = PV_OK};
    size_t max = account->share->ledger->max;
    (void)resources_refuse(account, RESOURCE_MEMORY, &why);
    pv_error_clear(err);
    if (ledger_fits_alone(account))
        *code = pv_fail(
            err, PV_E_UNAVAILABLE,
            "there is not enough memory: other requests hold too much (memory_bytes_max = %zu)",
            max);
    else
        *code = pv_fail(err, PV_E_LIMIT,
                        "it needs more memory than one team may have (three quarters of "
                        "memory_bytes_max = %zu)",
                        max);
    return true;
}

static void attempt_work(struct attempt *a, const struct operation_key *key)
{
    struct pv_error err = {.code = PV_OK};
    struct strview result = {NULL, 0};
    bool has_turn = slot_await_turn(a->slot);
    a->began_ns = clock_monotonic_ns();
    enum pv_code code = load_operation(a, key, &err);
    bool loaded = code == PV_OK;
    if (loaded)
        code = has_turn
                   ? a->kind->run(a->runner->options.context, &a->run, &result, &err)
                   : pv_fail(&err, PV_E_CANCELLED, "the operation was stopped before it began");
    bool starved = lacked_memory(a, &code, &err);
    if (loaded && !starved)
        count_attempt(a, decide_outcome(a, code, result, &err), &err);
    else if (code != PV_E_LEASE_LOST)
        end_unloaded(a, key, code, &err);
}

void attempt_run(struct runner_slot *slot, const struct operation_key *key)
{
    struct attempt a = {.runner = slot->runner, .slot = slot};
    struct resources *resources = slot->runner->options.resources;
    if (!resources_open(resources, RESOURCE_MEMORY, key->team_id, &slot->account)) {
        attempt_requeue(slot->runner, key, true);
        return;
    }
    slot->account.refused = false;
    arena_init(&a.arena, (size_t)slot->runner->config->request_memory_bytes_max);
    a.arena.account = &slot->account;
    attempt_work(&a, key);
    arena_fini(&a.arena);
    resources_close(resources, &slot->account);
}

#define _GNU_SOURCE /* gethostname */
#include "operation/local_operation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "threads/clock.h"

enum {
    BEAT_EVERY_MS = 250,
    LEASES = 3 /* nobody waits for this one, so a failover of the database may last longer */
};

static enum pv_code
adopt(struct operation_hold *hold, const struct operation_row *row, struct pv_error *err)
{
    char worker[96];
    char host[64] = "";
    struct store_tx *tx = NULL;
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    (void)snprintf(worker, sizeof worker, "%s:%ld", host, (long)getpid());
    enum pv_code code =
        store_begin(hold->store, &hold->who, hold->request_id, STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_adopt(tx, row, worker, hold->lease_ms, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

enum pv_code operation_hold_begin(struct operation_hold *hold,
                                  struct store *store,
                                  const struct config *config,
                                  const struct principal *who,
                                  const char *request_id,
                                  const struct operation_request *asked,
                                  struct pv_error *err)
{
    struct operation_row row = {.kind = strview_of(asked->kind),
                                .application_name = asked->application_name,
                                .trace_id = strview_of(asked->trace_id),
                                .request = asked->request};
    *hold = (struct operation_hold){.config = config,
                                    .store = store,
                                    .who = *who,
                                    .request_id = request_id,
                                    .kind = row.kind,
                                    .application_name = row.application_name,
                                    .lease_ms = config->operation_lease_s * 1000 * LEASES};
    clock_uuid7(row.id);
    struct operation_key *key = &hold->held.key;
    memcpy(key->id, row.id, sizeof key->id);
    memcpy(key->team_id, who->team_id, sizeof key->team_id);
    key->attempt = 1;
    hold->held.total = RUN_UNKNOWN;
    return adopt(hold, &row, err);
}

bool operation_hold_beat(struct operation_hold *hold, int64_t done, int64_t total, const char *unit)
{
    uint64_t now_ns = clock_monotonic_ns();
    struct operation_held *held = &hold->held;
    held->done = done > held->done ? done : held->done;
    held->total = total;
    held->unit = strview_of(unit);
    if (now_ns < hold->next_ns || hold->lost)
        return !held->cancel;
    struct arena arena;
    arena_init(&arena, 0);
    bool cancel = held->cancel;
    if (store_operation_renew(hold->store, &arena, hold->lease_ms, held, 1, NULL) == PV_OK)
        hold->lost = !held->still;
    held->cancel = held->cancel || cancel;
    arena_fini(&arena);
    hold->next_ns = clock_monotonic_ns() + (uint64_t)BEAT_EVERY_MS * 1000000;
    return !held->cancel;
}

static enum pv_code
end_once(struct operation_hold *hold, const struct operation_end *end, struct pv_error *err)
{
    struct store_tx *tx = NULL;
    enum pv_code code =
        store_begin(hold->store, &hold->who, hold->request_id, STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_finish(tx, &hold->held.key, end, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

enum pv_code operation_hold_end(struct operation_hold *hold,
                                enum operation_status status,
                                struct strview document,
                                struct pv_error *err)
{
    struct arena arena;
    struct strview none = {NULL, 0};
    arena_init(&arena, 0);
    const char *event =
        operation_event_data(&arena, hold->held.key.id, hold->kind, hold->application_name, status);
    struct operation_end end = {.status = status,
                                .result = status == OPERATION_FAILED ? none : document,
                                .error = status == OPERATION_FAILED ? document : none,
                                .event = strview_of(event),
                                .done = hold->held.done,
                                .total = hold->held.total,
                                .unit = hold->held.unit,
                                .keep_s = hold->config->operation_retention_s};
    enum pv_code code = event == NULL ? pv_no_memory(err) : end_once(hold, &end, err);
    arena_fini(&arena);
    if (code != PV_E_CANCELLED || status != OPERATION_SUCCEEDED)
        return code;
    /* It was cancelled when all was done, or it is not ours. */
    pv_error_clear(err);
    return operation_hold_end(hold, OPERATION_CANCELLED, document, err);
}

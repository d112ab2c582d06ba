#include "operation/local_operation.h"

#include <string.h>

#include "threads/clock.h"

enum {
    BEAT_EVERY_MS = 250,
    LEASES = 3 /* nobody waits for this one, so a failover of the database may last longer */
};

static enum pv_code insert_running(struct local_operation *operation,
                                   const struct operation_row *row,
                                   struct pv_error *err)
{
    char worker[OPERATION_WORKER_NAME];
    operation_name_worker(worker);
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(operation->store, &operation->who, operation->request_id, STORE_WRITE, &tx,
                       err));
    PV_TRY(store_operation_insert_running(tx, row, worker, operation->lease_ms, err));
    return store_commit(&tx, err);
}

enum pv_code local_operation_begin(struct local_operation *operation,
                                   struct store *store,
                                   const struct config *config,
                                   const struct principal *who,
                                   const char *request_id,
                                   const struct operation_request *asked,
                                   struct pv_error *err)
{
    const struct operation_row row = operation_row_of(asked);
    *operation = (struct local_operation){.config = config,
                                          .store = store,
                                          .who = *who,
                                          .request_id = request_id,
                                          .kind = row.kind,
                                          .application_name = row.application_name,
                                          .lease_ms = config->operation_lease_s * 1000 * LEASES};
    struct operation_key *key = &operation->held.key;
    memcpy(key->id, row.id, sizeof key->id);
    memcpy(key->team_id, who->team_id, sizeof key->team_id);
    key->attempt = 1;
    operation->held.total = RUN_UNKNOWN;
    return insert_running(operation, &row, err);
}

bool local_operation_report(struct local_operation *operation,
                            int64_t done,
                            int64_t total,
                            const char *unit)
{
    uint64_t now_ns = clock_monotonic_ns();
    struct operation_held *held = &operation->held;
    held->done = done > held->done ? done : held->done;
    held->total = total;
    held->unit = strview_of(unit);
    if (now_ns < operation->next_ns || operation->lost)
        return !held->cancel;
    struct arena arena;
    arena_init(&arena, 0);
    bool cancel = held->cancel;
    if (store_operation_renew(operation->store, &arena, operation->lease_ms, held, 1, NULL) ==
        PV_OK)
        operation->lost = !held->still;
    held->cancel = held->cancel || cancel;
    arena_fini(&arena);
    operation->next_ns = clock_monotonic_ns() + (uint64_t)BEAT_EVERY_MS * 1000000;
    return !held->cancel;
}

static enum pv_code
end_once(struct local_operation *operation, const struct operation_end *end, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(operation->store, &operation->who, operation->request_id, STORE_WRITE, &tx,
                       err));
    PV_TRY(store_operation_finish(tx, &operation->held.key, end, err));
    return store_commit(&tx, err);
}

enum pv_code local_operation_end(struct local_operation *operation,
                                 enum operation_status status,
                                 struct strview document,
                                 struct pv_error *err)
{
    struct arena arena;
    struct strview none = {NULL, 0};
    arena_init(&arena, 0);
    const char *event = operation_event_data(&arena, operation->held.key.id, operation->kind,
                                             operation->application_name, status);
    struct operation_end end = {.status = status,
                                .result = status == OPERATION_FAILED ? none : document,
                                .error = status == OPERATION_FAILED ? document : none,
                                .event = strview_of(event),
                                .done = operation->held.done,
                                .total = operation->held.total,
                                .unit = operation->held.unit,
                                .keep_s = operation->config->operation_retention_s};
    enum pv_code code = event == NULL ? pv_no_memory(err) : end_once(operation, &end, err);
    arena_fini(&arena);
    if (code != PV_E_CANCELLED || status != OPERATION_SUCCEEDED)
        return code;
    /* It was cancelled when all was done. */
    pv_error_clear(err);
    return local_operation_end(operation, OPERATION_CANCELLED, document, err);
}

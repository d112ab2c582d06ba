#include "operation/operation.h"

#include <string.h>

#include "base/json_writer.h"
#include "operation/operation_internal.h"
#include "threads/clock.h"

/* --- what a worker tells --- */

void pulse_begin(struct operation_pulse *pulse)
{
    atomic_store(&pulse->done, 0);
    atomic_store(&pulse->total, RUN_UNKNOWN);
    atomic_store(&pulse->unit, NULL);
    atomic_store(&pulse->stop, STOP_NOT);
}

void pulse_stop(struct operation_pulse *pulse, enum operation_stop why)
{
    int none = STOP_NOT;
    (void)atomic_compare_exchange_strong(&pulse->stop, &none, (int)why);
}

bool operation_goes_on(const struct operation_run *run)
{
    return atomic_load_explicit(&run->pulse->stop, memory_order_relaxed) == STOP_NOT;
}

/* Only this thread writes the three, so there is nothing to order between them. */
bool operation_progress(struct operation_run *run, int64_t done, int64_t total, const char *unit)
{
    struct operation_pulse *pulse = run->pulse;
    if (done > atomic_load_explicit(&pulse->done, memory_order_relaxed))
        atomic_store_explicit(&pulse->done, done, memory_order_relaxed);
    atomic_store_explicit(&pulse->total, total, memory_order_relaxed);
    atomic_store_explicit(&pulse->unit, unit, memory_order_relaxed);
    return operation_goes_on(run);
}

/* --- the end, in a transaction of the work --- */

const char *operation_event_data(struct arena *arena,
                                 const char *id,
                                 struct strview kind,
                                 struct strview application,
                                 enum operation_status status)
{
    struct writer w;
    size_t n;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_string(&w, "id", id);
    writer_member_text(&w, "kind", kind);
    writer_member_text(&w, "application", application);
    writer_member_string(&w, "status", operation_status_word(status));
    writer_end_object(&w);
    return writer_finish(&w, &n);
}

enum pv_code operation_finish(struct operation_run *run,
                              struct store_tx *tx,
                              struct strview result,
                              struct pv_error *err)
{
    const char *event = operation_event_data(run->arena, run->key.id, run->kind,
                                             strview_of(run->application), OPERATION_SUCCEEDED);
    if (event == NULL)
        return pv_no_memory(err);
    const struct operation_end end = {.status = OPERATION_SUCCEEDED,
                                      .result = result,
                                      .event = strview_of(event),
                                      .done = atomic_load(&run->pulse->done),
                                      .total = atomic_load(&run->pulse->total),
                                      .unit = strview_of(atomic_load(&run->pulse->unit)),
                                      .keep_s = run->config->operation_retention_s};
    return store_operation_finish(tx, &run->key, &end, err);
}

enum pv_code operation_commit(struct operation_run *run,
                              struct store_tx **tx,
                              struct strview result,
                              struct pv_error *err)
{
    enum pv_code code = operation_finish(run, *tx, result, err);
    if (code == PV_OK)
        code = store_commit(tx, err);
    else
        store_rollback(tx);
    run->finished = code == PV_OK;
    return code;
}

/* --- the beginning --- */

enum pv_code operation_submit(struct store_tx *tx,
                              const struct config *config,
                              const struct operation_request *asked,
                              char id[37],
                              struct pv_error *err)
{
    struct operation_row row = {.kind = strview_of(asked->kind),
                                .application_name = asked->application_name,
                                .trace_id = strview_of(asked->trace_id),
                                .request = asked->request};
    if (asked->application_id != NULL)
        memcpy(row.application_id, asked->application_id,
               strnlen(asked->application_id, sizeof row.application_id - 1));
    clock_uuid7(row.id);
    enum pv_code code = store_operation_insert(tx, &row, config->operation_team_queued_max, err);
    if (code == PV_OK)
        memcpy(id, row.id, sizeof row.id);
    return code;
}

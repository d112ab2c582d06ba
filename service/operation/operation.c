#define _GNU_SOURCE /* gethostname */
#include "operation/operation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "threads/clock.h"

/* --- what a worker reports --- */

void progress_flags_reset(struct progress_flags *flags)
{
    atomic_store(&flags->done, 0);
    atomic_store(&flags->total, RUN_UNKNOWN);
    atomic_store(&flags->unit, NULL);
    atomic_store(&flags->stop, STOP_NOT);
    atomic_store(&flags->over, false);
    atomic_store(&flags->beside_bytes, 0);
}

void progress_flags_stop(struct progress_flags *flags, enum operation_stop why)
{
    int none = STOP_NOT;
    (void)atomic_compare_exchange_strong(&flags->stop, &none, (int)why);
}

bool operation_goes_on(const struct operation_run *run)
{
    return atomic_load_explicit(&run->flags->stop, memory_order_relaxed) == STOP_NOT;
}

/* Only this thread writes the three, so there is nothing to order between them. */
bool operation_progress(struct operation_run *run, int64_t done, int64_t total, const char *unit)
{
    struct progress_flags *flags = run->flags;
    if (done > atomic_load_explicit(&flags->done, memory_order_relaxed))
        atomic_store_explicit(&flags->done, done, memory_order_relaxed);
    atomic_store_explicit(&flags->total, total, memory_order_relaxed);
    atomic_store_explicit(&flags->unit, unit, memory_order_relaxed);
    if (atomic_load_explicit(&flags->over, memory_order_relaxed) && run->give_way != NULL)
        run->give_way(run->slot);
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
                                      .done = atomic_load(&run->flags->done),
                                      .total = atomic_load(&run->flags->total),
                                      .unit = strview_of(atomic_load(&run->flags->unit)),
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
    store_rollback(tx);
    run->finished = code == PV_OK;
    return code;
}

/* --- the beginning --- */

void operation_name_worker(char name[OPERATION_WORKER_NAME])
{
    char host[64] = "";
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    (void)snprintf(name, OPERATION_WORKER_NAME, "%s:%ld", host, (long)getpid());
}

struct operation_row operation_row_of(const struct operation_request *asked)
{
    struct operation_row row = {.kind = strview_of(asked->kind),
                                .application_name = asked->application_name,
                                .trace_id = strview_of(asked->trace_id),
                                .request = asked->request};
    if (asked->application_id != NULL)
        memcpy(row.application_id, asked->application_id,
               strnlen(asked->application_id, sizeof row.application_id - 1));
    clock_uuid7(row.id);
    return row;
}

enum pv_code operation_submit(struct store_tx *tx,
                              const struct config *config,
                              const struct operation_request *asked,
                              char id[37],
                              struct pv_error *err)
{
    const struct operation_row row = operation_row_of(asked);
    PV_TRY(store_operation_insert(tx, &row, config->operation_team_queued_max, err));
    memcpy(id, row.id, sizeof row.id);
    return PV_OK;
}

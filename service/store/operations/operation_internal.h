#ifndef STORE_OPERATIONS_OPERATION_INTERNAL_H
#define STORE_OPERATIONS_OPERATION_INTERNAL_H

#include "store/operations/operation.h"
#include "store/store_internal.h"

/* What row_operation reads, of the relation o; the request and the result (or NULL) follow. */
#define OPERATION_COLUMNS                                                                          \
    "o.id, o.kind, o.application_id, o.application_name, o.token_id, o.actor, o.scopes::bigint,"   \
    " o.request_id, o.trace_id, o.status, o.done, o.total, o.unit, o.attempt, o.attempt_done,"     \
    " o.losses, o.events, o.version, o.error, o.created_at, o.started_at, o.updated_at,"           \
    " o.finished_at, o.expires_at, o.cancel_asked_at,"                                             \
    " CASE o.status WHEN 'queued' THEN 1 + (SELECT count(*) FROM provisor.operation q"             \
    " WHERE q.team_id = o.team_id AND q.status = 'queued'"                                         \
    " AND (q.created_at, q.id) < (o.created_at, o.id)) END"

enum pv_code
row_operation(struct row *row, struct operation_row *operation, struct pv_error *err) PV_MUSTCHECK;
enum operation_status row_operation_status(struct row *row);

#endif

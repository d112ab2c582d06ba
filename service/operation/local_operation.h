#ifndef OPERATION_LOCAL_OPERATION_H
#define OPERATION_LOCAL_OPERATION_H

#include "operation/operation.h"

/*
 * An operation that this process does by itself, outside any runner, since what it needs lies here:
 * an import reads files of this machine's disk. It is in the table like others, from its first
 * moment as running, so that it can be watched and cancelled over HTTP; no worker ever takes it.
 * When the process dies, its lease runs out and the operation has failed (operation/heartbeat.c).
 *
 * One thread at a time.
 */
struct local_operation {
    const struct config *config;
    struct store *store;
    struct principal who;
    const char *request_id;
    struct operation_held held;
    struct strview kind;
    struct strview application_name;
    int64_t lease_ms;
    uint64_t next_ns; /* when to beat again */
    bool lost;        /* the lease ran out: others have ended it */
};

/*
 * Put it into the table as running, with the audit row "operation.submit". asked and request_id are
 * borrowed until the end; asked->application_id may be NULL although there is a name. PV_E_* of the
 * store.
 */
enum pv_code local_operation_begin(struct local_operation *operation,
                                   struct store *store,
                                   const struct config *config,
                                   const struct principal *who,
                                   const char *request_id,
                                   const struct operation_request *asked,
                                   struct pv_error *err) PV_MUSTCHECK;

/*
 * Renew the lease and report how far it is, a few times a second however often it is called. A
 * database that is away is no reason to stop. false: it was cancelled, stop.
 */
bool local_operation_report(struct local_operation *operation,
                            int64_t done,
                            int64_t total,
                            const char *unit);

/*
 * The end. document: a JSON text, the error (problem details) of OPERATION_FAILED, else the result.
 * One that was cancelled before it succeeded ends as cancelled. PV_E_LEASE_LOST: it is not ours any
 * more.
 */
enum pv_code local_operation_end(struct local_operation *operation,
                                 enum operation_status status,
                                 struct strview document,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif

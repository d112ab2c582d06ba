#ifndef STORE_OUTBOX_OUTBOX_H
#define STORE_OUTBOX_OUTBOX_H

#include "core/history/run.h"
#include "store/history/application.h"
#include "store/store.h"

/*
 * Events that a transaction reports, written with what they report: the table provisor.outbox,
 * from which a sender will take them. The drift of an application is the one event that is
 * written elsewhere (models/application_model.c), by the statement that decides whether it is new.
 * Every function is deferred: it fails with the transaction.
 */

/* An event of that type about the application of the transaction, if it has one. data: JSON. */
enum pv_code outbox_append(struct store_tx *tx,
                           const char *type,
                           struct strview data,
                           struct pv_error *err) PV_MUSTCHECK;

/* run.ingested: one run. */
enum pv_code outbox_append_run(struct store_tx *tx,
                               const struct application *application,
                               const struct run *run,
                               struct pv_error *err) PV_MUSTCHECK;

/* run.ingested: so many runs of an import. */
enum pv_code outbox_append_import(struct store_tx *tx,
                                  const struct application *application,
                                  int64_t inserted,
                                  int64_t replaced,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

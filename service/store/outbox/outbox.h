#ifndef STORE_OUTBOX_OUTBOX_H
#define STORE_OUTBOX_OUTBOX_H

#include "core/history/run.h"
#include "core/webhooks/webhook.h"
#include "store/history/application.h"
#include "store/store.h"

/*
 * Events that a transaction reports, written with what they report: the table provisor.outbox,
 * from which they are dispatched to webhooks (store/webhooks/dispatch.h). The drift of an
 * application is the one event that is written elsewhere (models/application_model.c), by the
 * statement that decides whether it is new. Every function is deferred: it fails with the
 * transaction.
 */

struct outbox_event {
    const char *type; /* "advice.created" */
    enum event_severity severity;
    struct strview data;            /* JSON object: ids and the headline */
    const struct run_label *labels; /* which webhooks may ask for; not part of what is sent */
    size_t n_labels;
};

/* That event about the application of the transaction, if it has one. */
enum pv_code outbox_append(struct store_tx *tx,
                           const struct outbox_event *event,
                           struct pv_error *err) PV_MUSTCHECK;

/* run.ingested: one run; and deadline.missed, where it took longer than the deadline of the advice
 * that it followed. */
enum pv_code outbox_append_run(struct store_tx *tx,
                               const struct application *application,
                               const struct run *run,
                               struct pv_error *err) PV_MUSTCHECK;

/* run.ingested: so many runs of an import. Deadlines that were missed long ago are no news. */
enum pv_code outbox_append_import(struct store_tx *tx,
                                  const struct application *application,
                                  int64_t inserted,
                                  int64_t replaced,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

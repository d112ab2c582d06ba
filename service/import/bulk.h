#ifndef IMPORT_BULK_H
#define IMPORT_BULK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "core/history/run.h"
#include "logfiles/find.h"
#include "logfiles/outcome.h"
#include "store/store.h"

/*
 * Logs from disk into the history, several at a time, each by itself: one that cannot be taken
 * stops no other, and what was reported as stored is committed. The same log again is known,
 * whoever brings it (store/history/run.h), so an import may be stopped and begun again, and two may
 * run at once.
 */
struct bulk_options {
    const struct config *config;
    struct store *store;
    struct principal who;
    const char *request_id;   /* of the import, for audit rows */
    const char *application;  /* NULL: the one that the log names */
    struct run_label *labels; /* sorted by key, keys unique */
    size_t n_labels;
    size_t threads;
    bool dry_run;            /* find out what would be done */
    const atomic_bool *stop; /* finish what is begun, begin nothing more */
    /* Called for each item, from any thread, also by two at a time. */
    void (*notify)(void *context, const struct log_result *result);
    void *context;
};

struct bulk;

/* Begin. The options and items must outlive it. *started is written only on PV_OK. PV_E_MEMORY: no
 * memory or thread; else why the database could not be asked for the service's key. */
enum pv_code bulk_start(const struct bulk_options *options,
                        const struct find *find,
                        struct bulk **started,
                        struct pv_error *err) PV_MUSTCHECK;

/* How far it is. */
struct log_progress bulk_progress(struct bulk *bulk);

/* Wait for the threads and free. *lost: the database could not be reached any more, so what was
 * left was not tried; err says why. */
void bulk_join(struct bulk *bulk, bool *lost, struct pv_error *err);

#endif

#ifndef MAINTENANCE_MAINTENANCE_THREAD_H
#define MAINTENANCE_MAINTENANCE_THREAD_H

#include "base/arena.h"
#include "config/config.h"
#include "maintenance/pass.h"
#include "store/store.h"

/*
 * The thread that maintains the database while the server runs: a pass soon after the start and
 * then one every config->maintenance_interval_s, of all replicas together. Waits while the schema
 * is behind or the database away.
 */
struct maintenance_thread;

/* Starts the thread, unless the interval is 0. NULL: no memory or thread. Borrows store, config and
 * the listener's context; the listener is notified on the thread. */
struct maintenance_thread *maintenance_thread_create(struct store *store,
                                                     const struct config *config,
                                                     struct maintenance_listener listener);

/* Ends a pass between two batches and joins the thread. Accepts NULL. */
void maintenance_thread_destroy(struct maintenance_thread *maintenance);

#endif

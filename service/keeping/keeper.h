#ifndef KEEPING_KEEPER_H
#define KEEPING_KEEPER_H

#include "base/arena.h"
#include "config/config.h"
#include "keeping/pass.h"
#include "store/store.h"

/*
 * The thread that keeps house beside the server: a pass soon after the start and then one every
 * config->keeping_interval_s, of all replicas together. Waits while the schema is behind or the
 * database away. keeper_write_metrics may be called from any thread.
 */
struct keeper;

/* Starts the thread, unless the interval is 0. NULL: no memory or thread. Borrows store, config and
 * the listener's context; the listener is told on the thread. */
struct keeper *
keeper_create(struct store *store, const struct config *config, struct keeping_listener listener);

/* Ends a pass between two batches and joins the thread. Accepts NULL. */
void keeper_destroy(struct keeper *keeper);

/* Samples for /metrics, complete lines; NULL when memory is exhausted. */
const char *keeper_write_metrics(struct keeper *keeper, struct arena *arena);

#endif

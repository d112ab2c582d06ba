#ifndef WEBHOOKS_DISPATCHER_H
#define WEBHOOKS_DISPATCHER_H

#include "config/config.h"
#include "store/store.h"

/*
 * Events to webhooks: the thread that asks the database. It makes deliveries of events, takes
 * webhooks that have something due, hands their deliveries to the sender (dispatch/sender.h), and
 * writes down how each attempt ended. Every process with `webhook_delivery` has one; webhooks are
 * held by leases, so each is served by one process at a time and none waits for a process that is gone
 * for longer than a lease.
 *
 * Delivery is at least once, in no particular order: an attempt of which the outcome could not be
 * written down is made again, with the same webhook-id.
 */
struct dispatcher;

/* Start the threads. They wait for the schema by themselves. key: of the service, 32 bytes, from
 * which that of sealed secrets is derived; read when the schema is there. PV_E_INVALID: the setting
 * webhook_private_targets cannot be read; PV_E_UNAVAILABLE: no thread. */
enum pv_code dispatcher_create(struct store *store,
                               const struct config *config,
                               struct dispatcher **dispatcher,
                               struct pv_error *err) PV_MUSTCHECK;

/* No more attempts begin; those under way may end. */
void dispatcher_ask_end(struct dispatcher *dispatcher);

/* Write down what has ended and let go of what is held; attempts that last longer than end_s are cut
 * off, and made again by another process. NULL: nothing to do. */
void dispatcher_destroy(struct dispatcher *dispatcher, unsigned end_s);

#endif

#ifndef STORE_OUTBOX_EVENT_LISTENER_H
#define STORE_OUTBOX_EVENT_LISTENER_H

#include "store/store.h"

/*
 * Hearing of events without asking for them. Events of this process are reported by
 * store_on_events, those of others by a notification of PostgreSQL, which needs a connection of its
 * own that stays with one server: behind PgBouncer in transaction mode nothing is heard, so whoever
 * listens also asks from time to time.
 */

/*
 * From here on `report` is called after every commit of a transaction that wrote an event, or that
 * changed what is to be delivered otherwise (`urgent`: a webhook, a delivery asked for again), by the
 * thread that committed: it only wakes somebody. Set before other threads use the store; NULL ends
 * it, after the last of them. Without it, such transactions notify PostgreSQL as they commit.
 * (Notifying commits wait for one another, so a busy service notifies by itself, now and then.)
 */
void store_on_events(struct store *store,
                     void (*report)(void *context, bool urgent),
                     void *context);

/* Notify the listeners of all other processes. from: who does, an id. */
enum pv_code
store_events_notify(struct store *store, const char from[37], struct pv_error *err) PV_MUSTCHECK;

struct event_listener;

/* A connection that listens. PV_E_UNAVAILABLE. */
enum pv_code event_listener_open(struct store *store,
                                 struct event_listener **listener,
                                 struct pv_error *err) PV_MUSTCHECK;
void event_listener_close(struct event_listener *listener); /* NULL: nothing to do */

/* Readable when there is something to hear. */
int event_listener_fd(const struct event_listener *listener);

/* Take what was heard from others than `self`, without waiting. false: the connection is lost. */
bool event_listener_drain(struct event_listener *listener, const char self[37], bool *heard);

#endif

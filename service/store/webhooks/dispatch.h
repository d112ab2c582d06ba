#ifndef STORE_WEBHOOKS_DISPATCH_H
#define STORE_WEBHOOKS_DISPATCH_H

#include "store/store.h"

/*
 * What a process that delivers events to webhooks asks of the database: ids and rows of all teams,
 * by functions of the schema's owner (migration 0035). Each call is a transaction of its own.
 *
 * A webhook is held by a lease, by one process at a time; every call below that names webhooks
 * renews it or does nothing for those that are no longer held. A delivery is fenced by the number of
 * its attempts: what two processes report of the same attempt counts once.
 */

/* Events that have not been dispatched become deliveries of the webhooks that ask for them, the oldest
 * first: of so many that they make at most `batch` deliveries. Beyond pending_max pending deliveries of a
 * webhook, further ones are dead at once (reason "queue_full"). */
struct dispatch_limits {
    int64_t batch;
    int64_t pending_max;
    int64_t give_up_s; /* after which a delivery is given up */
};
struct dispatched {
    int64_t events;
    int64_t deliveries; /* made of them */
    bool webhooks;      /* there is an enabled webhook, of whatever team */
    bool more;          /* there may be more events */
};
enum pv_code store_events_dispatch(struct store *store,
                                   const struct dispatch_limits *limits,
                                   struct dispatched *dispatched,
                                   struct pv_error *err) PV_MUSTCHECK;

struct webhook_key {
    char team_id[37];
    char id[37];
};

/* A webhook as its holder needs it. Secrets are sealed (dispatch/seal.h). */
struct webhook_held {
    struct webhook_key key;
    struct strview url;
    struct strview format;
    struct strview signature;
    struct strview secret;
    struct strview former_secret; /* at == NULL: none */
    int64_t former_secret_until_us;
    struct strview authorization_value; /* at == NULL: none */
    int64_t concurrency;
    int64_t failures;
    int64_t pauses;
    int64_t version;
};

/* Webhooks that have something due and that nobody holds, those that waited longest first. */
enum pv_code store_webhooks_claim(struct store *store,
                                  struct arena *arena,
                                  const char owner[37],
                                  int64_t lease_ms,
                                  size_t most,
                                  struct webhook_held **held,
                                  size_t *n,
                                  struct pv_error *err) PV_MUSTCHECK;

struct delivery_wanted {
    struct webhook_key key;
    int64_t most; /* deliveries; 0: only renew the lease */
};
struct delivery_busy {
    char id[37];
};

/* A delivery that is due, or with id "" only that the webhook is still held and what its version is. */
struct delivery_due {
    struct webhook_key webhook;
    int64_t version; /* of the webhook: one that changed is to be released and claimed anew */
    char id[37];
    char event_id[37];
    struct strview type;
    int64_t severity;
    struct strview data; /* JSON */
    int64_t happened_us;
    int64_t attempts; /* so far */
    int64_t tries;    /* likewise, since it was last asked for */
};

/* Deliveries of webhooks that are held, but none of those in busy. A webhook without a row is lost:
 * another process has it, or it is disabled or deleted. */
enum pv_code store_deliveries_load(struct store *store,
                                   struct arena *arena,
                                   const char owner[37],
                                   int64_t lease_ms,
                                   const struct delivery_wanted *wanted,
                                   size_t n_wanted,
                                   const struct delivery_busy *busy,
                                   size_t n_busy,
                                   struct delivery_due **due,
                                   size_t *n,
                                   struct pv_error *err) PV_MUSTCHECK;

/* How an attempt ended. */
struct delivery_record {
    struct webhook_key webhook;
    char id[37];
    int64_t attempts;      /* before this one */
    struct strview result; /* "delivered", "failed", or "gone": never to be tried again */
    int64_t delay_ms;      /* of a failed one, until the next: beyond its time it is dead */
    struct strview entry;  /* JSON: this attempt, for the log that people read */
};

/* How a webhook fares after attempts. */
struct webhook_record {
    struct webhook_key key;
    int64_t version;  /* that the attempts were made with: of another it says nothing */
    int64_t failures; /* one after the other */
    int64_t pauses;
    int64_t hold_ms;        /* nothing is sent for so long; 0: nothing holds it */
    bool succeeded;         /* one of the attempts did */
    struct strview error;   /* of the last one that failed; at == NULL: none did */
    struct strview disable; /* why it is disabled now; at == NULL: it is not */
};

/* *dead counts the deliveries that were given up. */
enum pv_code store_deliveries_record(struct store *store,
                                     struct arena *arena,
                                     const char owner[37],
                                     const struct delivery_record *records,
                                     size_t n_records,
                                     const struct webhook_record *webhooks,
                                     size_t n_webhooks,
                                     int64_t *dead,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Whoever has something to do for them may take them from now on. */
enum pv_code store_webhooks_release(struct store *store,
                                    struct arena *arena,
                                    const char owner[37],
                                    const struct webhook_key *keys,
                                    size_t n,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Pending deliveries whose time was over five minutes ago are dead (reason "gave_up"), at most batch. */
enum pv_code store_deliveries_expire(struct store *store,
                                     int64_t batch,
                                     int64_t *expired,
                                     struct pv_error *err) PV_MUSTCHECK;

struct webhook_counts {
    int64_t active;
    int64_t paused;
    int64_t disabled;
    int64_t pending;       /* deliveries */
    double event_age_s;    /* of the oldest event that was not dispatched */
    double delivery_age_s; /* how long the delivery that is due longest has waited */
};
enum pv_code store_webhooks_count(struct store *store,
                                  struct webhook_counts *counts,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

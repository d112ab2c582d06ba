#ifndef WEBHOOKS_ATTEMPTS_H
#define WEBHOOKS_ATTEMPTS_H

#include "config/config.h"
#include "dispatch/sender.h"
#include "webhooks/held_webhooks.h"

/*
 * What became of attempts, until it is written down. While the database is away they wait here; there
 * are never more than there were deliveries loaded.
 */
struct attempt {
    struct flight *flight;
    struct delivery_record record;
    struct attempt *next;
};

struct attempts {
    struct arena arena; /* of the texts */
    struct attempt *first;
    struct attempt **end;
    size_t n;
};

void attempts_init(struct attempts *attempts);
void attempts_fini(struct attempts *attempts);

/* Judge an outcome: of the delivery whether it is delivered, tried again or dead, of the webhook how it
 * fares. PV_E_MEMORY: nothing is noted; the delivery is made again after the lease. */
enum pv_code attempts_note(struct attempts *attempts,
                           const struct config *config,
                           struct flight *flight,
                           const struct sender_outcome *outcome,
                           struct pv_error *err) PV_MUSTCHECK;

/* Write all of them down, with the webhooks concerned, whose flights end by that. On failure
 * everything stays as it is. */
enum pv_code attempts_write(struct attempts *attempts,
                            struct store *store,
                            const char owner[37],
                            struct held_webhooks *held,
                            struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef STORE_WEBHOOKS_DELIVERY_H
#define STORE_WEBHOOKS_DELIVERY_H

#include "core/webhooks/webhook.h"
#include "store/store.h"

/*
 * Deliveries of events to the webhooks of a team, as calls see them; those that send have functions
 * of their own. All texts of results live in `arena`; writers add the audit row.
 */
struct webhook_delivery_list {
    struct webhook_delivery *items;
    size_t n;
    bool more;
};

/* What is not given selects everything. */
struct webhook_delivery_filter {
    const char *webhook_id;
    const char *status; /* of webhook_delivery_words */
    const char *event_type;
};

/* Newest first, behind before_id ("": from the newest one), without data and log. */
enum pv_code store_webhook_delivery_list(struct store_tx *tx,
                                         struct arena *arena,
                                         const struct webhook_delivery_filter *filter,
                                         const char *before_id,
                                         size_t limit,
                                         struct webhook_delivery_list *list,
                                         struct pv_error *err) PV_MUSTCHECK;

/* With data and log. PV_E_NOT_FOUND. */
enum pv_code store_webhook_delivery_find(struct store_tx *tx,
                                         struct arena *arena,
                                         const char *webhook_id,
                                         const char *id,
                                         struct webhook_delivery *delivery,
                                         struct pv_error *err) PV_MUSTCHECK;

/* The three below are for a webhook that is held (store_webhook_hold) and enabled; what they put
 * there is due at once, and given up give_up_s from now. */

/* An event webhook.ping for this webhook alone. */
enum pv_code store_webhook_ping(struct store_tx *tx,
                                struct arena *arena,
                                const char *webhook_id,
                                int64_t give_up_s,
                                struct webhook_delivery *delivery,
                                struct pv_error *err) PV_MUSTCHECK;

/* PV_E_NOT_FOUND. An attempt that is under way counts as any other. */
enum pv_code store_webhook_redeliver(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *webhook_id,
                                     const char *id,
                                     int64_t give_up_s,
                                     struct webhook_delivery *delivery,
                                     struct pv_error *err) PV_MUSTCHECK;

/* The oldest `most` of those asked for; *more: there are others. */
enum pv_code store_webhook_redeliver_many(struct store_tx *tx,
                                          const char *webhook_id,
                                          const struct webhook_redelivery *asked,
                                          int64_t most,
                                          int64_t give_up_s,
                                          int64_t *redelivered,
                                          bool *more,
                                          struct pv_error *err) PV_MUSTCHECK;

#endif

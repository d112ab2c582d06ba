#ifndef STORE_WEBHOOKS_WEBHOOK_H
#define STORE_WEBHOOKS_WEBHOOK_H

#include "core/webhooks/webhook.h"
#include "store/store.h"

/*
 * The webhooks of a team. All texts of results live in `arena`; writers add the audit row, which
 * names the webhook and nothing of what it holds. Whoever writes a webhook and its deliveries locks
 * the webhook first, as the functions of migration 0035 do.
 */

/* What only the sender reads back. A text with at == NULL is none. */
struct webhook_sealed {
    struct strview secret;        /* encrypted */
    struct strview public_key;    /* 32 bytes, of v1a */
    struct strview authorization; /* encrypted */
};

struct webhook_list {
    struct webhook *items;
    size_t n;
    bool more;
};

/* PV_E_NOT_FOUND, as of another team's. */
enum pv_code store_webhook_find(struct store_tx *tx,
                                struct arena *arena,
                                const char *id,
                                struct webhook *webhook,
                                struct pv_error *err) PV_MUSTCHECK;
/* Likewise, and it stays as it is until the transaction ends. */
enum pv_code store_webhook_hold(struct store_tx *tx,
                                struct arena *arena,
                                const char *id,
                                struct webhook *webhook,
                                struct pv_error *err) PV_MUSTCHECK;

/* By id, which is the order in which they were made, behind after_id ("": from the first one). */
enum pv_code store_webhook_list(struct store_tx *tx,
                                struct arena *arena,
                                const char *after_id,
                                size_t limit,
                                struct webhook_list *list,
                                struct pv_error *err) PV_MUSTCHECK;

/* webhook->id is the caller's, which the sealed texts are bound to. *webhook becomes what is
 * stored. PV_E_LIMIT: the team has `most` already. */
enum pv_code store_webhook_insert(struct store_tx *tx,
                                  struct arena *arena,
                                  int64_t most,
                                  const struct webhook_sealed *sealed,
                                  struct webhook *webhook,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * The three below are for a webhook that is held, and raise its version. *webhook becomes what is
 * stored. What waits for one that is not enabled is dead from then on.
 *
 * authorization  the sealed value to set, {NULL, 0} to remove it; NULL: it stays
 * renewed        failures are forgotten and a pause ends
 */
enum pv_code store_webhook_update(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct strview *authorization,
                                  bool renewed,
                                  struct webhook *webhook,
                                  struct pv_error *err) PV_MUSTCHECK;
/* The secret of now becomes the former one for overlap_s; 0: there is no former one. */
enum pv_code store_webhook_rotate(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct webhook_sealed *sealed,
                                  int64_t overlap_s,
                                  struct webhook *webhook,
                                  struct pv_error *err) PV_MUSTCHECK;
/* With its deliveries. */
enum pv_code store_webhook_delete(struct store_tx *tx,
                                  const struct webhook *webhook,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

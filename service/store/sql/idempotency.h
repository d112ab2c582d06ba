#ifndef STORE_SQL_IDEMPOTENCY_H
#define STORE_SQL_IDEMPOTENCY_H

#include "store/store.h"

/*
 * Idempotency keys (docs/design.md, "Idempotency keys"): scoped by token + method + path, kept for
 * 24 h, written in the transaction of the effect they guard.
 */
enum idempotency_state { IDEMPOTENCY_FRESH, IDEMPOTENCY_REPLAY };

struct idempotency_reply {
    unsigned status;
    struct strview content_type;
    struct strview location; /* at == NULL: none */
    struct strview body;
};

/*
 * What was answered to the key before: IDEMPOTENCY_REPLAY with *reply, or IDEMPOTENCY_FRESH. Takes
 * no lock, so that the caller may give its connection back before it computes; the claim that
 * follows decides. PV_E_INVALID as below.
 */
enum pv_code store_idempotency_find(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const unsigned char body_hash[32],
                                    enum idempotency_state *state,
                                    struct idempotency_reply *reply,
                                    struct pv_error *err) PV_MUSTCHECK;

/*
 * Claim the key inside tx. IDEMPOTENCY_FRESH: go on, then call _keep before the commit.
 * IDEMPOTENCY_REPLAY: *reply is what was answered then. PV_E_INVALID (header Idempotency-Key, code
 * "key_reused"): another body; PV_E_CONFLICT: the first request is still running.
 */
enum pv_code store_idempotency_claim(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *method,
                                     const char *path,
                                     const char *key,
                                     const unsigned char body_hash[32],
                                     enum idempotency_state *state,
                                     struct idempotency_reply *reply,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_idempotency_keep(struct store_tx *tx,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const struct idempotency_reply *reply,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef DISPATCH_SEAL_H
#define DISPATCH_SEAL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strview.h"

/*
 * Secrets at rest: XChaCha20-Poly1305 with a key derived from that of the service. What they belong to
 * is authenticated with them, so a secret that is copied to another row, or column, does not open.
 */
struct seal_place {
    const char *team_id;
    const char *webhook_id;
    const char *purpose; /* "secret", "authorization" */
};

/* In the arena; at == NULL: no memory. service_key: 32 bytes. */
struct strview seal_close(struct arena *arena,
                          const unsigned char service_key[32],
                          const struct seal_place *place,
                          struct strview secret);

/* PV_E_INTERNAL: it was not sealed by this service for that place. */
enum pv_code seal_open(struct arena *arena,
                       const unsigned char service_key[32],
                       const struct seal_place *place,
                       struct strview sealed,
                       struct strview *secret,
                       struct pv_error *err) PV_MUSTCHECK;

#endif

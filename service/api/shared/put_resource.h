#ifndef API_SHARED_PUT_RESOURCE_H
#define API_SHARED_PUT_RESOURCE_H

#include "api/api.h"
#include "http/etag.h"
#include "store/clusters/reference.h"

/* What the named resources that are put as a whole (clusters, price books) have in common. */

/*
 * Strong tag of a version. The id is part of it, so that a resource that was deleted and made anew
 * under its name has none of the tags it had before.
 */
void put_resource_etag(const char id[37], int64_t version, char out[HTTP_ETAG_TEXT]);

/*
 * If-Match, then If-None-Match, of a request that writes (RFC 9110, 13.2.2). etags: those of the
 * resource's representations, ended by NULL; none at all where there is no resource. what: "the
 * cluster". PV_E_PRECONDITION.
 */
enum pv_code put_resource_check(const struct http_request *request,
                                const char *const etags[],
                                const char *what,
                                struct pv_error *err) PV_MUSTCHECK;

/* PV_E_CONFLICT that says who refers to the thing (locked by this), PV_OK when nobody does. */
enum pv_code put_resource_refuse_referenced(struct store_tx *tx,
                                            struct arena *arena,
                                            enum reference_kind kind,
                                            const char *id,
                                            struct pv_error *err) PV_MUSTCHECK;

#endif

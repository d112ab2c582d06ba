#ifndef API_SHARED_WRITE_H
#define API_SHARED_WRITE_H

#include "api/api.h"

/*
 * The frame of every call that changes something: one transaction that holds the effect, its audit
 * row, its outbox event and, where the caller sent an Idempotency-Key, the key with the reply
 * (docs/design.md, "Idempotency keys").
 */
struct api_write {
    struct store_tx *tx;
    const char *idempotency_key; /* NULL: none sent */
};

/*
 * Begin. body_hash: 32 bytes over the raw body and the query, or NULL, where the body is that of
 * the request (api_body_hash). *replayed: the key was used before and the response is already
 * filled in: return PV_OK at once, nothing is open.
 */
enum pv_code api_write_begin(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             const unsigned char body_hash[32],
                             struct api_write *write,
                             bool *replayed,
                             struct pv_error *err) PV_MUSTCHECK;

/* The same, of a request that has its key (1 to 255 characters) in its body rather than in a field of
 * its header. */
enum pv_code api_write_begin_keyed(struct api *api,
                                   struct http_request *request,
                                   struct http_response *response,
                                   const char *key,
                                   const unsigned char body_hash[32],
                                   struct api_write *write,
                                   bool *replayed,
                                   struct pv_error *err) PV_MUSTCHECK;

/*
 * Answer a request whose Idempotency-Key was used before, in a short transaction of its own;
 * nothing is open afterwards. For calls that compute for long, take further connections or look at
 * what may have changed since then between this and api_write_begin, which checks again and decides
 * between two that run together. Where a key was sent the step moves to HTTP_IO (http_move).
 * *replayed: return PV_OK at once.
 */
enum pv_code api_write_replay(struct api *api,
                              struct http_request *request,
                              struct http_response *response,
                              bool *replayed,
                              struct pv_error *err) PV_MUSTCHECK;

/* Keep the finished response under the key (if any) without committing: for store calls that
 * commit. */
enum pv_code api_write_keep(struct http_request *request,
                            const struct http_response *response,
                            struct api_write *write,
                            struct pv_error *err) PV_MUSTCHECK;

/* api_write_keep, then commit. */
enum pv_code api_write_commit(struct http_request *request,
                              const struct http_response *response,
                              struct api_write *write,
                              struct pv_error *err) PV_MUSTCHECK;

/* Undo; safe after any of the above, also after success. */
void api_write_end(struct api_write *write);

/* A write that ends wherever its block is left: `api_write_auto_t write = {0};`. */
#define api_write_auto_t __attribute__((cleanup(api_write_end))) struct api_write

/* Hash of request->body and the query without `fields`, for api_write_begin. */
void api_body_hash(const struct http_request *request, unsigned char hash[32]);

/* Take it now where an Idempotency-Key will want it: by who decodes the body, which may be large.
 */
void api_body_keep_hash(struct http_request *request);

#endif

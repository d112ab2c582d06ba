#ifndef API_API_H
#define API_API_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/history/event_log_upload.h"
#include "config/config.h"
#include "dispatch/target.h"
#include "http/message.h"
#include "http/reply_members.h"
#include "http/route.h"
#include "resources/resources.h"
#include "store/store.h"

/*
 * What every handler is given (the `context` of http/route.h). The handlers of a resource live in
 * one file, api/<folder>/<resource>.c; api/routes.h is the table of calls, which declares them. A
 * handler reads as: decode (codec), load (store), compute (core), save (store), encode (codec).
 */
struct prediction_cache; /* api/advice/prediction_cache.h: replay curves by application and history
                            version */
struct fitter;           /* api/models/fitter.h: models of histories that changed */
struct operation_runner; /* operation/runner.h: long work */
struct operation_watch;  /* api/operations/operation_watch.h: who waits for it */

struct api {
    const struct config *config;
    struct store *store;
    struct prediction_cache *history;
    struct resources *resources;         /* that teams share; NULL: no server runs */
    struct fitter *fitter;               /* NULL: only readers fit */
    struct operation_runner *operations; /* NULL: left to other processes */
    struct operation_watch *watch;
    struct target_policy targets; /* where webhooks may lead */
    /* The database's service key, asked for once (api_service_key). */
    pthread_mutex_t key_lock;
    bool has_key;
    unsigned char key[32];
};

/* Borrows all three; history may be NULL where no call needs it. PV_E_MEMORY; PV_E_INVALID: a setting
 * that cannot be read, which err names. */
enum pv_code api_init(struct api *api,
                      const struct config *config,
                      struct store *store,
                      struct prediction_cache *history,
                      struct pv_error *err) PV_MUSTCHECK;
void api_fini(struct api *api);

/* Begin to read as the caller's team: *tx is the caller's to roll back (store_tx_auto_t). */
enum pv_code api_read(struct api *api,
                      const struct http_request *request,
                      struct store_tx **tx,
                      struct pv_error *err) PV_MUSTCHECK;

/* Key of token hashes and cursor MACs, the same on every replica. Fails as store_service_key. */
enum pv_code
api_service_key(struct api *api, unsigned char key[32], struct pv_error *err) PV_MUSTCHECK;

/* Every call of the service, ended by a row whose template is NULL. */
extern const struct http_route api_routes[];

/* What ?fields= may name, of the calls whose contract has that parameter; made from openapi/. */
extern const struct http_reply_members api_reply_members[];

#endif

#ifndef API_ADVICE_ADVICE_MADE_H
#define API_ADVICE_ADVICE_MADE_H

#include "api/advice/advice_load.h"
#include "codec/advice/advice.h"
#include "store/advice/advice.h"

/*
 * One advice while it is made, by whichever call asks for it: loaded (advice_load.h), answered,
 * counted, stored. Zeros at first; `prediction` is to be ended whatever became of it.
 */
struct advice_made {
    struct advice_question question; /* with what clusters add to it */
    struct advice_cluster cluster;
    struct advice_prediction prediction;
    struct advice_runs runs;
    struct advice_answer answer;
};

/* What a request for advice may ask for. */
struct codec_advice_limits advice_made_limits(const struct config *config);

/* With the prediction at hand. Fails as advice_answer. */
enum pv_code advice_made_answer(struct api *api,
                                struct http_request *request,
                                struct advice_made *made,
                                struct pv_error *err) PV_MUSTCHECK;

/* Count it among the metrics. */
void advice_made_count(const struct advice_made *made, bool dry_run);

/* What its representation is made of, with neither experiments nor copies. Borrows `id`. */
struct codec_advice_reply
advice_made_reply(const struct advice_made *made, const char *id, int64_t created_us);

/* Places a fault: a lack of history at the application; too much work at those of the size, the
 * cores and the cluster that were sent. sent: the question before the cluster's members were taken.
 * Returns `code`, or that of the fault. */
enum pv_code advice_made_place_fault(enum pv_code code,
                                     const struct advice_question *sent,
                                     struct pv_error *err);

/* The row and its event, of which the arguments are those of advice_made_store. */
enum pv_code advice_made_row(struct http_request *request,
                             const struct advice_made *made,
                             const struct codec_advice_reply *reply,
                             struct strview question,
                             struct strview document,
                             struct advice_row *row,
                             struct strview *event,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * Advice, audit row and event in the transaction, and its commit: *tx is NULL afterwards. Before the
 * reply is kept (api_write_keep) the transaction has to know the application (store_set_application),
 * so that it goes with it.
 *
 * question, document  JSON texts: the body of POST /v1/advice, and codec_advice_encode of the reply
 */
enum pv_code advice_made_store(struct http_request *request,
                               const struct advice_made *made,
                               const struct codec_advice_reply *reply,
                               struct strview question,
                               struct strview document,
                               struct store_tx **tx,
                               struct pv_error *err) PV_MUSTCHECK;

#endif

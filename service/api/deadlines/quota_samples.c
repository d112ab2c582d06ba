#include <math.h>
#include <sodium.h>
#include <stdio.h>

#include "api/routes.h"
#include "api/shared/reply.h"
#include "base/quantity_text.h"
#include "codec/deadlines/quota_loop.h"
#include "store/control/quota_loop.h"

/*
 * POST /v1/quota-loops/{name}/samples. One transaction with one row: held, changed, committed before
 * the reply goes out, so that what was acknowledged is there after a crash. A sample leaves neither an
 * event nor an audit row, and its sequence is its idempotency key: the last reply is in the row.
 */
struct sample_sent {
    struct codec_quota_sample sent;
    unsigned char hash[QUOTA_SAMPLE_HASH];
};

/* --- what is the same sample --- */

static void absorb(crypto_generichash_state *state, const void *bytes, size_t n)
{
    (void)crypto_generichash_update(state, bytes, n);
}

/* A length before each text, so that no two samples read alike. */
static void absorb_text(crypto_generichash_state *state, struct strview text)
{
    uint64_t n = text.at == NULL ? UINT64_MAX : text.n;
    absorb(state, &n, sizeof n);
    if (text.n > 0)
        absorb(state, text.at, text.n);
}

/* 0 and -0 are one number; what was not sent is one NAN. */
static void absorb_number(crypto_generichash_state *state, double number)
{
    double plain = isnan(number) ? (double)NAN : number + 0.0;
    absorb(state, &plain, sizeof plain);
}

static void absorb_reading(crypto_generichash_state *state, const struct quota_reading *reading)
{
    const int64_t counts[] = {reading->stage, reading->tasks, reading->completed_tasks};
    absorb_text(state, reading->id);
    absorb_text(state, reading->application);
    absorb_text(state, reading->worker);
    absorb(state, counts, sizeof counts);
    absorb_number(state, reading->stage_deadline_s);
    absorb_number(state, reading->stage_started_s);
    absorb_number(state, reading->initial_cores);
}

/* Over values, so that white space, the order of members and how numbers are spelled do not count. */
static void hash_sample(const struct codec_quota_sample *sent,
                        unsigned char hash[QUOTA_SAMPLE_HASH])
{
    const struct quota_sample *sample = &sent->sample;
    const uint64_t sizes[] = {(uint64_t)sample->sequence, sent->has_ended, sample->n_ended,
                              sample->n};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, QUOTA_SAMPLE_HASH);
    absorb(&state, sizes, sizeof sizes);
    absorb_number(&state, sample->at_s);
    for (size_t i = 0; i < sample->n_ended; i++)
        absorb_text(&state, sample->ended[i]);
    for (size_t i = 0; i < sample->n; i++)
        absorb_reading(&state, &sample->executors[i]);
    (void)crypto_generichash_final(&state, hash, QUOTA_SAMPLE_HASH);
}

/* --- the call --- */

static enum pv_code sample_decode(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct config *config = ((struct api *)context)->config;
    const struct codec_quota_limits limits = {
        .applications = (size_t)config->quota_loop_applications_max,
        .executors = (size_t)config->quota_loop_executors_max};
    struct sample_sent *asked = request->state;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(config, request, &body, err));
    codec_quota_sample_decode(&body.top, &limits, &asked->sent);
    PV_TRY(codec_close(&body));
    hash_sample(&asked->sent, asked->hash);
    return PV_OK;
}

static enum pv_code
check_order(const struct quota_loop *loop, const struct quota_sample *sample, struct pv_error *err)
{
    switch (quota_loop_order(loop, sample)) {
    case QUOTA_ORDER_NEXT:
        break;
    case QUOTA_ORDER_SAME:
        return pv_fail(err, PV_E_CONFLICT, "sample %lld was taken with another body",
                       (long long)sample->sequence);
    case QUOTA_ORDER_OLD:
        return pv_fail(err, PV_E_CONFLICT,
                       "the sequence %lld is lower than %lld, that of the last sample",
                       (long long)sample->sequence, (long long)loop->sequence);
    case QUOTA_ORDER_BACKWARDS:
        return pv_fail(err, PV_E_CONFLICT, "at_s of %s s is before the %s s of the last sample",
                       quantity_digits(sample->at_s, 15).text,
                       quantity_digits(loop->at_s, 15).text);
    }
    return PV_OK;
}

/* Its text, or where it went wrong; w: of the reply. */
static enum pv_code take(struct http_request *request,
                         const struct quota_sample *sample,
                         struct quota_loop *loop,
                         struct writer *w,
                         struct pv_error *err)
{
    struct quota_outcome outcome;
    struct quota_faults faults;
    struct findings warnings = {.arena = request->arena};
    PV_TRY(check_order(loop, sample, err));
    PV_TRY(quota_loop_take(loop, sample, request->arena, &outcome, &faults, err));
    if (faults.n > 0)
        return codec_quota_refuse(&faults, err);
    quota_settings_warn(&loop->settings, &warnings);
    PV_TRY(findings_check(&warnings, err));
    writer_init(w, request->arena);
    codec_quota_outcome_encode(w, loop, &outcome, &warnings);
    return PV_OK;
}

/* A commit without an answer leaves open what became of the sample: its sequence, not a key, shows it. */
static enum pv_code commit_sample(struct store_tx **tx, int64_t sequence, struct pv_error *err)
{
    enum pv_code code = store_commit(tx, err);
    if (code == PV_E_UNAVAILABLE && err != NULL)
        (void)snprintf(err->detail, sizeof err->detail,
                       "the connection to the database was lost, so it is not known whether sample"
                       " %lld was taken; send the same sample again, with the same sequence",
                       (long long)sequence);
    return code;
}

static enum pv_code sample_store(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    const struct sample_sent *asked = request->state;
    const struct quota_sample *sample = &asked->sent.sample;
    const char *name = http_path_parameter(request, "name");
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    struct quota_loop loop;
    struct strview reply;
    struct writer w;
    PV_TRY(
        store_begin(api->store, &request->principal, request->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_quota_loop_hold_for_sample(tx, request->arena, name, sample->sequence, asked->hash,
                                            &loop, &reply, err));
    if (reply.at != NULL) {
        response->status = 200;
        response->body = reply.at;
        response->body_n = reply.n;
        return PV_OK;
    }
    PV_TRY(take(request, sample, &loop, &w, err));
    PV_TRY(api_reply(response, 200, &w, err));
    reply = (struct strview){response->body, response->body_n};
    PV_TRY(store_quota_loop_save_sample(tx, name, &loop, asked->hash, reply, err));
    return commit_sample(&tx, sample->sequence, err);
}

const struct http_call quota_samples_add = {
    .state_bytes = sizeof(struct sample_sent),
    .steps = {{HTTP_BODY, sample_decode}, {HTTP_IO, sample_store}},
};

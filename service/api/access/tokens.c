#include <sodium.h>
#include <string.h>

#include "api/access/find_team.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "codec/access/access.h"
#include "http/problem.h"
#include "http/token.h"
#include "store/access/access.h"
#include "threads/clock.h"

/* /v1/tokens: what a team's programs are known by. */

_Static_assert((int)TOKEN_HASH == (int)TOKEN_HASH_BYTES, "one size of hash");

static const char *const no_parameters[] = {NULL};

static void no_store(struct http_request *request, struct http_response *response)
{
    http_response_header(request, response, "Cache-Control", "no-store");
}

static enum pv_code decode_token(struct api *api,
                                 struct http_request *request,
                                 struct token *wanted,
                                 struct pv_error *err)
{
    struct codec_document body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_token_decode(&body.top, wanted);
    if (wanted->expires_us != RUN_NO_INSTANT && wanted->expires_us <= clock_wall_us())
        codec_fault_member(&body.top, "expires_at", "out_of_range", "must be in the future");
    return codec_close(&body);
}

/*
 * The team the new token is for: the caller's own, or the named one. *as becomes the request as
 * that team would send it, so that rows, audit and idempotency key are that team's.
 */
static enum pv_code choose_team(struct api *api,
                                struct http_request *request,
                                struct strview *team,
                                struct http_request *as,
                                struct pv_error *err)
{
    *as = *request;
    struct token own;
    PV_TRY(store_token_lookup(api->store, request->arena, request->principal.token_id, &own, NULL,
                              err));
    if (team->at == NULL || strview_equal(*team, own.team)) {
        *team = own.team;
        return PV_OK;
    }
    bool found;
    PV_TRY(api_team_find(api, request, *team, as->principal.team_id, &found, err));
    return found ? PV_OK
                 : pv_fault(err, PV_PLACE_POINTER, "/team", "not_found", "there is no such team");
}

/* The secret is gone from memory but for the text, which the reply holds. */
static enum pv_code insert_token(struct api *api,
                                 struct store_tx *tx,
                                 struct token *token,
                                 char text[TOKEN_TEXT],
                                 struct pv_error *err)
{
    unsigned char key[32];
    unsigned char secret[TOKEN_SECRET];
    PV_TRY(api_service_key(api, key, err));
    clock_uuid7(token->id);
    token_make(token->id, secret, text);
    token_hash(key, token->id, secret, token->hash);
    sodium_memzero(secret, sizeof secret);
    token->text = strview_of(text);
    return store_token_insert(tx, token, err);
}

static enum pv_code reply_token(struct http_request *request,
                                struct http_response *response,
                                const struct token *token,
                                struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_token_encode(&w, token);
    no_store(request, response);
    PV_TRY(api_reply_location(request, response, "/v1/tokens", token->id, err));
    return api_reply(response, 201, &w, err);
}

/*
 * Commit. What is kept under an Idempotency-Key may not be the reply, which holds the secret:
 * a repeated request gets a conflict instead.
 */
static enum pv_code commit_token(struct http_request *request,
                                 const struct token *token,
                                 struct api_write *write,
                                 struct pv_error *err)
{
    struct pv_error repeated = {.code = PV_OK};
    struct http_response again = {.status = 0};
    (void)pv_fail(&repeated, PV_E_CONFLICT,
                  "token %s was made with this key, and its text is shown only once: revoke it and "
                  "make another",
                  token->id);
    http_reply_problem(request, &again, &repeated, (struct http_challenge){.scope = NULL});
    return api_write_commit(request, &again, write, err);
}

static enum pv_code token_create_decode(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return decode_token(context, request, request->state, err);
}

static enum pv_code token_create_store(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct api *api = context;
    struct http_request as;
    struct token token = *(const struct token *)request->state;
    char text[TOKEN_TEXT];
    api_write_auto_t write = {0};
    bool replayed;
    PV_TRY(choose_team(api, request, &token.team, &as, err));
    PV_TRY(api_write_begin(api, &as, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(insert_token(api, write.tx, &token, text, err));
    PV_TRY(reply_token(request, response, &token, err));
    return commit_token(&as, &token, &write, err);
}

const struct http_call token_create = {
    .state_bytes = sizeof(struct token),
    .steps = {{HTTP_BODY, token_create_decode}, {HTTP_IO, token_create_store}},
};

enum pv_code token_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct token_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_token_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_token_encode(&list.w, &page.items[i]);
    no_store(request, response);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

enum pv_code token_revoke(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    struct api *api = context;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    store_tx_auto_t *tx = NULL;
    PV_TRY(
        store_begin(api->store, &request->principal, request->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_token_revoke(tx, id, err));
    response->status = 204;
    return store_commit(&tx, err);
}

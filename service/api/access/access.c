#include "api/access/access.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "codec/access/access.h"
#include "http/problem.h"
#include "http/token.h"
#include "store/access/access.h"
#include "threads/clock.h"

_Static_assert((int)TOKEN_HASH == (int)TOKEN_HASH_BYTES, "one size of hash");
_Static_assert(SCOPE_READ == 1 && SCOPE_WRITE == 2 && SCOPE_ADMIN == 4,
               "the order of codec_scope_words");

enum { LOOKUP_MEMORY = 64 * 1024, TEAM_PAGE = 500 };

/* --- who asks --- */

static enum pv_code refuse_token(struct pv_error *err)
{
    pv_error_clear(err);
    return pv_fail(err, PV_E_UNAUTHENTICATED, "the token is not valid");
}

static bool token_is_live(const struct token_row *row)
{
    return row->revoked_us == RUN_NO_INSTANT &&
           (row->expires_us == RUN_NO_INSTANT || row->expires_us > clock_wall_us());
}

/* Cut at a character's border: the actor stands in JSON. */
static void copy_actor(struct strview name, char *actor, size_t size)
{
    size_t n = name.n < size ? name.n : size - 1;
    while (n > 0 && !strview_is_utf8((struct strview){name.at, n}))
        n--;
    memcpy(actor, name.at, n);
    actor[n] = '\0';
}

static enum pv_code check_secret(struct api *api,
                                 struct arena *arena,
                                 const char *id,
                                 const unsigned char *secret,
                                 struct principal *who,
                                 struct pv_error *err)
{
    unsigned char key[32];
    enum pv_code code = api_service_key(api, key, err);
    if (code != PV_OK)
        return code;
    struct token_row row;
    code = store_token_lookup(api->store, arena, id, &row, err);
    if (code == PV_E_NOT_FOUND)
        return refuse_token(err);
    if (code != PV_OK)
        return code;
    if (!token_matches(key, id, secret, row.hash) || !token_is_live(&row))
        return refuse_token(err);
    *who = (struct principal){.scopes = row.scopes};
    memcpy(who->team_id, row.team_id, sizeof who->team_id);
    memcpy(who->token_id, row.id, sizeof who->token_id);
    copy_actor(row.name, who->actor, sizeof who->actor);
    return PV_OK;
}

enum pv_code
api_authenticate(void *context, const char *token, struct principal *who, struct pv_error *err)
{
    char id[37];
    unsigned char secret[TOKEN_SECRET];
    if (!token_parse(token, id, secret))
        return refuse_token(err);
    struct arena arena;
    arena_init(&arena, LOOKUP_MEMORY);
    enum pv_code code = check_secret(context, &arena, id, secret, who, err);
    arena_fini(&arena);
    sodium_memzero(secret, sizeof secret);
    return code;
}

/* --- tokens --- */

static void no_store(struct http_request *request, struct http_response *response)
{
    http_response_header(request, response, "Cache-Control", "no-store");
}

static struct codec_token wire_token(const struct token_row *row, const char *text)
{
    return (struct codec_token){.id = row->id,
                                .team = row->team_name,
                                .name = row->name,
                                .scopes = row->scopes,
                                .expires_us = row->expires_us,
                                .created_us = row->created_us,
                                .last_used_us = row->last_used_us,
                                .revoked_us = row->revoked_us,
                                .text = text};
}

static enum pv_code decode_token(struct api *api,
                                 struct http_request *request,
                                 struct codec_token *wanted,
                                 struct pv_error *err)
{
    struct api_body body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_token_decode(&body.top, wanted);
    if (wanted->expires_us != RUN_NO_INSTANT && wanted->expires_us <= clock_wall_us())
        codec_fault_member(&body.top, "expires_at", "out_of_range", "must lie in the future");
    return api_body_close(&body);
}

/* Id of the team of that name; only the operators' team may look. */
static enum pv_code find_team(struct api *api,
                              struct http_request *request,
                              struct strview name,
                              char id[37],
                              struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    struct team_list page = {.more = true};
    char after[37] = "";
    bool found = false;
    while (page.more && !found) {
        struct arena_mark mark = arena_mark(request->arena);
        PV_TRY(store_team_list(tx, request->arena, after, TEAM_PAGE, &page, err));
        for (size_t i = 0; i < page.n && !found; i++) {
            memcpy(after, page.items[i].id, sizeof after);
            found = strview_equal(page.items[i].name, name);
        }
        arena_rewind(request->arena, mark);
    }
    store_rollback(&tx);
    if (!found)
        return pv_fault(err, PV_PLACE_POINTER, "/team", "not_found", "there is no such team");
    memcpy(id, after, sizeof after);
    return PV_OK;
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
    struct token_row own;
    PV_TRY(store_token_lookup(api->store, request->arena, request->principal.token_id, &own, err));
    if (team->at == NULL || strview_equal(*team, own.team_name)) {
        *team = own.team_name;
        return PV_OK;
    }
    return find_team(api, request, *team, as->principal.team_id, err);
}

static enum pv_code insert_token(struct api *api,
                                 struct store_tx *tx,
                                 const struct codec_token *wanted,
                                 struct token_row *row,
                                 char text[TOKEN_TEXT],
                                 struct pv_error *err)
{
    unsigned char key[32];
    PV_TRY(api_service_key(api, key, err));
    *row = (struct token_row){.team_name = wanted->team,
                              .name = wanted->name,
                              .scopes = wanted->scopes,
                              .created_us = clock_wall_us(),
                              .expires_us = wanted->expires_us,
                              .last_used_us = RUN_NO_INSTANT,
                              .revoked_us = RUN_NO_INSTANT};
    unsigned char secret[TOKEN_SECRET];
    clock_uuid7(row->id);
    token_make(row->id, secret, text);
    token_hash(key, row->id, secret, row->hash);
    sodium_memzero(secret, sizeof secret);
    return store_token_insert(tx, row, err);
}

static enum pv_code reply_token(struct http_request *request,
                                struct http_response *response,
                                const struct token_row *row,
                                const char *text,
                                struct pv_error *err)
{
    const char *location = arena_printf(request->arena, "/v1/tokens/%s", row->id);
    if (location == NULL)
        return pv_no_memory(err);
    struct writer w;
    writer_init(&w, request->arena);
    struct codec_token wire = wire_token(row, text);
    codec_token_encode(&w, &wire);
    http_response_header(request, response, "Location", location);
    no_store(request, response);
    return api_reply(response, 201, &w, err);
}

/*
 * Commit. What is kept under an Idempotency-Key may not be the reply, which holds the secret:
 * a repeated request is told that it has been carried out.
 */
static enum pv_code commit_token(struct http_request *request,
                                 const struct token_row *row,
                                 struct api_write *write,
                                 struct pv_error *err)
{
    struct pv_error told = {.code = PV_OK};
    struct http_response again = {.status = 0};
    (void)pv_fail(&told, PV_E_CONFLICT,
                  "token %s was made with this key, and its text is shown only once: revoke it and "
                  "make another",
                  row->id);
    http_reply_problem(request, &again, &told, (struct http_challenge){.scope = NULL});
    return api_write_commit(request, &again, write, err);
}

enum pv_code token_create(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    struct api *api = context;
    struct codec_token wanted;
    PV_TRY(decode_token(api, request, &wanted, err));
    struct http_request as;
    PV_TRY(choose_team(api, request, &wanted.team, &as, err));
    api_write_auto_t write = {0};
    bool replayed;
    PV_TRY(api_write_begin(api, &as, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    struct token_row row;
    char text[TOKEN_TEXT] = "";
    PV_TRY(insert_token(api, write.tx, &wanted, &row, text, err));
    PV_TRY(reply_token(request, response, &row, text, err));
    return commit_token(&as, &row, &write, err);
}

static const char *const page_query[] = {"limit", "cursor", NULL};

/* limit, cursor and a read transaction: how every list begins. */
static enum pv_code begin_list(struct api *api,
                               struct http_request *request,
                               size_t *limit,
                               struct cursor *cursor,
                               struct store_tx **tx,
                               struct pv_error *err)
{
    bool has;
    PV_TRY(http_check_query(request, page_query, err));
    PV_TRY(cursor_read(api, request, request->template, limit, cursor, &has, err));
    return api_read(api, request, tx, err);
}

static void begin_page(struct writer *w, struct http_request *request)
{
    writer_init(w, request->arena);
    writer_begin_object(w);
    writer_key(w, "items");
    writer_begin_array(w);
}

static enum pv_code end_page(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             struct writer *w,
                             const char *last_id, /* NULL: nothing follows */
                             struct pv_error *err)
{
    struct cursor next = {.instant_us = RUN_NO_INSTANT};
    if (last_id != NULL)
        (void)snprintf(next.text, sizeof next.text, "%s", last_id);
    return api_reply_page(api, request, response, w, request->template,
                          last_id == NULL ? NULL : &next, err);
}

enum pv_code token_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    struct api *api = context;
    size_t limit;
    struct cursor cursor;
    store_tx_auto_t *tx = NULL;
    struct token_list list;
    PV_TRY(begin_list(api, request, &limit, &cursor, &tx, err));
    PV_TRY(store_token_list(tx, request->arena, cursor.text, limit, &list, err));
    store_rollback(&tx);
    struct writer w;
    begin_page(&w, request);
    for (size_t i = 0; i < list.n; i++) {
        struct codec_token wire = wire_token(&list.items[i], NULL);
        codec_token_encode(&w, &wire);
    }
    no_store(request, response);
    return end_page(api, request, response, &w, list.more ? list.items[list.n - 1].id : NULL, err);
}

enum pv_code token_revoke(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    struct api *api = context;
    char id[37];
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    store_tx_auto_t *tx = NULL;
    PV_TRY(
        store_begin(api->store, &request->principal, request->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_token_revoke(tx, id, err));
    PV_TRY(store_commit(&tx, err));
    store_rollback(&tx);
    response->status = 204;
    return PV_OK;
}

/* --- teams --- */

static enum pv_code decode_team(struct api *api,
                                struct http_request *request,
                                struct strview *name,
                                struct pv_error *err)
{
    struct api_body body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_team_decode(&body.top, name);
    return api_body_close(&body);
}

enum pv_code team_create(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err)
{
    struct api *api = context;
    struct strview name;
    PV_TRY(decode_team(api, request, &name, err));
    api_write_auto_t write = {0};
    bool replayed;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    struct team_row team;
    PV_TRY(store_team_insert(write.tx, request->arena, name, &team, err));
    struct writer w;
    writer_init(&w, request->arena);
    codec_team_encode(&w, team.id, team.name, team.created_us);
    PV_TRY(api_reply(response, 201, &w, err));
    return api_write_commit(request, response, &write, err);
}

enum pv_code team_list(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err)
{
    struct api *api = context;
    size_t limit;
    struct cursor cursor;
    store_tx_auto_t *tx = NULL;
    struct team_list list;
    PV_TRY(begin_list(api, request, &limit, &cursor, &tx, err));
    PV_TRY(store_team_list(tx, request->arena, cursor.text, limit, &list, err));
    store_rollback(&tx);
    struct writer w;
    begin_page(&w, request);
    for (size_t i = 0; i < list.n; i++)
        codec_team_encode(&w, list.items[i].id, list.items[i].name, list.items[i].created_us);
    return end_page(api, request, response, &w, list.more ? list.items[list.n - 1].id : NULL, err);
}

/* --- audit --- */

enum pv_code audit_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    struct api *api = context;
    size_t limit;
    struct cursor cursor;
    store_tx_auto_t *tx = NULL;
    struct audit_list list;
    PV_TRY(begin_list(api, request, &limit, &cursor, &tx, err));
    PV_TRY(store_audit_list(tx, request->arena, cursor.text, limit, &list, err));
    store_rollback(&tx);
    struct writer w;
    begin_page(&w, request);
    for (size_t i = 0; i < list.n; i++) {
        const struct audit_row *row = &list.items[i];
        struct codec_audit wire = {.id = row->id,
                                   .token_id = row->token_id,
                                   .actor = row->actor,
                                   .action = row->action,
                                   .subject = row->subject,
                                   .request_id = row->request_id,
                                   .at_us = row->at_us};
        codec_audit_encode(&w, &wire);
    }
    return end_page(api, request, response, &w, list.more ? list.items[list.n - 1].id : NULL, err);
}

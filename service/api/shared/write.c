#include "api/shared/write.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "store/sql/idempotency.h"

enum { KEY_MAX = 255 };

static const char *method_word(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "GET";
    case HTTP_POST:
        return "POST";
    case HTTP_PUT:
        return "PUT";
    case HTTP_PATCH:
        return "PATCH";
    case HTTP_DELETE:
        return "DELETE";
    case HTTP_METHOD_COUNT:
        break;
    }
    return "?";
}

static enum pv_code refuse_key(const char *why, struct pv_error *err)
{
    enum pv_code code = pv_fail(err, PV_E_SYNTAX, "Idempotency-Key %s", why);
    (void)pv_fault(err, PV_PLACE_HEADER, "Idempotency-Key", "invalid_key", "%s", why);
    return code;
}

static bool is_visible(char c)
{
    return c > 0x20 && c < 0x7f;
}

/* The inside of a quoted string of RFC 8941 into key; false when it is none. */
static bool unquote(const char *text, size_t n, char *key)
{
    if (n < 2 || text[n - 1] != '"')
        return false;
    size_t at = 0;
    for (size_t i = 1; i < n - 1; i++) {
        if (text[i] == '"' || !(is_visible(text[i]) || text[i] == ' '))
            return false;
        if (text[i] == '\\') {
            i++;
            if (i == n - 1 || (text[i] != '"' && text[i] != '\\'))
                return false;
        }
        key[at++] = text[i];
    }
    key[at] = '\0';
    return true;
}

static bool copy_bare(const char *text, size_t n, char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!is_visible(text[i]) || text[i] == '"')
            return false;
    memcpy(key, text, n + 1);
    return true;
}

/* The key, quoted as the draft wants it or bare as most clients send it; NULL when none is sent. */
static enum pv_code
read_key(const struct http_request *request, const char **key, struct pv_error *err)
{
    const char *sent = NULL;
    for (size_t i = 0; i < request->n_headers; i++) {
        if (strcasecmp(request->headers[i].name, "Idempotency-Key") != 0)
            continue;
        if (sent != NULL)
            return refuse_key("is sent twice", err);
        sent = request->headers[i].value;
    }
    *key = NULL;
    if (sent == NULL)
        return PV_OK;
    size_t n = strlen(sent);
    char *text = arena_alloc(request->arena, n + 1);
    if (text == NULL)
        return pv_no_memory(err);
    bool good = sent[0] == '"' ? unquote(sent, n, text) : copy_bare(sent, n, text);
    if (!good)
        return refuse_key("must be a quoted string, or visible ASCII without quotes", err);
    if (text[0] == '\0' || strlen(text) > KEY_MAX)
        return refuse_key("must be 1 to 255 characters long", err);
    *key = text;
    return PV_OK;
}

static enum pv_code write_replay(struct http_request *request,
                                 const struct idempotency_reply *reply,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    bool located = reply->location.at != NULL;
    const char *location =
        located ? arena_strndup(request->arena, reply->location.at, reply->location.n) : NULL;
    const char *content_type =
        arena_strndup(request->arena, reply->content_type.at, reply->content_type.n);
    if (content_type == NULL || (located && location == NULL))
        return pv_no_memory(err);
    response->status = reply->status;
    response->content_type = content_type;
    response->body = reply->body.at;
    response->body_n = reply->body.n;
    http_response_header(request, response, "Idempotency-Replayed", "true");
    if (located)
        http_response_header(request, response, "Location", location);
    return PV_OK;
}

static enum pv_code write_claim(struct http_request *request,
                                struct http_response *response,
                                const unsigned char body_hash[32],
                                struct api_write *write,
                                bool *replayed,
                                struct pv_error *err)
{
    enum idempotency_state state = IDEMPOTENCY_FRESH;
    struct idempotency_reply reply = {.status = 0};
    PV_TRY(store_idempotency_claim(write->tx, request->arena, method_word(request->method),
                                   request->path, write->idempotency_key, body_hash, &state, &reply,
                                   err));
    if (state == IDEMPOTENCY_REPLAY) {
        PV_TRY(write_replay(request, &reply, response, err));
        *replayed = true;
        api_write_end(write);
    }
    return PV_OK;
}

static bool has_key(const struct http_request *request)
{
    for (size_t i = 0; i < request->n_headers; i++)
        if (strcasecmp(request->headers[i].name, "Idempotency-Key") == 0)
            return true;
    return false;
}

/* A length before each part, so that no two requests read alike. */
static void write_absorb(crypto_generichash_state *state, const char *bytes, size_t n)
{
    uint64_t length = n;
    (void)crypto_generichash_update(state, (const unsigned char *)&length, sizeof length);
    (void)crypto_generichash_update(state, (const unsigned char *)bytes, n);
}

void api_body_hash(const struct http_request *request, unsigned char hash[32])
{
    if (request->body_hashed) {
        memcpy(hash, request->body_hash, sizeof request->body_hash);
        return;
    }
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, 32);
    write_absorb(&state, request->body, request->body_n);
    for (size_t i = 0; i < request->n_query; i++) {
        /* What is to be seen of the reply changes nothing of what is done. */
        if (request->reply_members != NULL && strcmp(request->query[i].name, "fields") == 0)
            continue;
        write_absorb(&state, request->query[i].name, strlen(request->query[i].name));
        write_absorb(&state, request->query[i].value, strlen(request->query[i].value));
    }
    (void)crypto_generichash_final(&state, hash, 32);
}

void api_body_keep_hash(struct http_request *request)
{
    if (request->body_hashed || !has_key(request))
        return;
    api_body_hash(request, request->body_hash);
    request->body_hashed = true;
}

enum pv_code api_write_begin_keyed(struct api *api,
                                   struct http_request *request,
                                   struct http_response *response,
                                   const char *key,
                                   const unsigned char body_hash[32],
                                   struct api_write *write,
                                   bool *replayed,
                                   struct pv_error *err)
{
    unsigned char own_hash[32];
    *write = (struct api_write){.idempotency_key = key};
    *replayed = false;
    if (body_hash == NULL && key != NULL) {
        api_body_hash(request, own_hash);
        body_hash = own_hash;
    }
    enum pv_code code = store_begin(api->store, &request->principal, request->request_id,
                                    STORE_WRITE, &write->tx, err);
    if (code == PV_OK && key != NULL)
        code = write_claim(request, response, body_hash, write, replayed, err);
    if (code != PV_OK)
        api_write_end(write);
    return code;
}

enum pv_code api_write_begin(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             const unsigned char body_hash[32],
                             struct api_write *write,
                             bool *replayed,
                             struct pv_error *err)
{
    const char *key = NULL;
    *write = (struct api_write){.tx = NULL};
    *replayed = false;
    PV_TRY(read_key(request, &key, err));
    return api_write_begin_keyed(api, request, response, key, body_hash, write, replayed, err);
}

enum pv_code api_write_replay(struct api *api,
                              struct http_request *request,
                              struct http_response *response,
                              bool *replayed,
                              struct pv_error *err)
{
    enum idempotency_state state = IDEMPOTENCY_FRESH;
    struct idempotency_reply reply = {.status = 0};
    unsigned char hash[32];
    store_tx_auto_t *tx = NULL;
    const char *key = NULL;
    *replayed = false;
    PV_TRY(read_key(request, &key, err));
    if (key == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    api_body_hash(request, hash);
    PV_TRY(store_begin(api->store, &request->principal, request->request_id, STORE_READ, &tx, err));
    PV_TRY(store_idempotency_find(tx, request->arena, method_word(request->method), request->path,
                                  key, hash, &state, &reply, err));
    store_rollback(&tx);
    if (state == IDEMPOTENCY_REPLAY) {
        PV_TRY(write_replay(request, &reply, response, err));
        *replayed = true;
    }
    return PV_OK;
}

static struct strview location_of(const struct http_response *response)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcasecmp(response->headers[i].name, "Location") == 0)
            return strview_of(response->headers[i].value);
    return (struct strview){NULL, 0};
}

enum pv_code api_write_keep(struct http_request *request,
                            const struct http_response *response,
                            struct api_write *write,
                            struct pv_error *err)
{
    if (write->idempotency_key == NULL)
        return PV_OK;
    struct idempotency_reply reply = {.status = response->status,
                                      .content_type = strview_of(response->content_type == NULL
                                                                     ? "application/json"
                                                                     : response->content_type),
                                      .location = location_of(response),
                                      .body = {response->body, response->body_n}};
    return store_idempotency_keep(write->tx, method_word(request->method), request->path,
                                  write->idempotency_key, &reply, err);
}

enum pv_code api_write_commit(struct http_request *request,
                              const struct http_response *response,
                              struct api_write *write,
                              struct pv_error *err)
{
    PV_TRY(api_write_keep(request, response, write, err));
    return store_commit(&write->tx, err);
}

void api_write_end(struct api_write *write)
{
    store_rollback(&write->tx);
}

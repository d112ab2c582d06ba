#include "api/access/authenticate.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "base/instant.h"
#include "http/token.h"
#include "store/access/access.h"
#include "threads/clock.h"

enum { LOOKUP_MEMORY = 64 * 1024 };

static enum pv_code refuse_token(struct pv_error *err)
{
    pv_error_clear(err);
    return pv_fail(err, PV_E_UNAUTHENTICATED, "the token is not valid");
}

/* Counted from before the question: at the latest it then ends when the database says so. */
static uint64_t expiry_ns(uint64_t asked_ns, int64_t left_us)
{
    uint64_t left_ns;
    uint64_t expires_ns;
    bool ever = !__builtin_mul_overflow((uint64_t)left_us, 1000, &left_ns) &&
                !__builtin_add_overflow(asked_ns, left_ns, &expires_ns);
    return ever ? expires_ns : 0;
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

/* Only who holds a token learns what has become of it. */
static enum pv_code refuse_ended(const struct token *token, struct pv_error *err)
{
    char at[INSTANT_TEXT];
    pv_error_clear(err);
    if (token->revoked_us != INSTANT_UNKNOWN)
        return pv_fail(err, PV_E_UNAUTHENTICATED, "the token was revoked");
    /* In whole seconds: TOKEN_REASON bytes are kept of it. */
    instant_format(token->expires_us - token->expires_us % 1000000, at);
    return pv_fail(err, PV_E_UNAUTHENTICATED, "the token expired at %s", at);
}

static bool is_live(const struct token *token, int64_t left_us)
{
    return token->revoked_us == INSTANT_UNKNOWN && left_us > 0;
}

static enum pv_code check_secret(struct api *api,
                                 struct arena *arena,
                                 const char *id,
                                 const unsigned char *secret,
                                 struct principal *who,
                                 struct pv_error *err)
{
    unsigned char key[32];
    struct token row;
    int64_t left_us = 0;
    PV_TRY(api_service_key(api, key, err));
    uint64_t asked_ns = clock_monotonic_ns();
    enum pv_code code = store_token_lookup(api->store, arena, id, &row, &left_us, err);
    if (code == PV_E_NOT_FOUND)
        return refuse_token(err);
    PV_TRY(code);
    if (!token_matches(key, id, secret, row.hash))
        return refuse_token(err);
    if (!is_live(&row, left_us))
        return refuse_ended(&row, err);
    *who = (struct principal){.scopes = row.scopes,
                              .expires_ns = expiry_ns(asked_ns, left_us),
                              .expires_us = row.expires_us};
    memcpy(who->team_id, row.team_id, sizeof who->team_id);
    memcpy(who->token_id, row.id, sizeof who->token_id);
    copy_actor(row.name, who->actor, sizeof who->actor);
    return PV_OK;
}

bool api_recognize_token(const char *token)
{
    char id[37];
    unsigned char secret[TOKEN_SECRET];
    bool good = token_parse(token, id, secret);
    sodium_memzero(secret, sizeof secret);
    return good;
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

enum pv_code api_check_token(struct api *api, const struct principal *who, struct pv_error *err)
{
    struct arena arena;
    struct token row;
    int64_t left_us = 0;
    arena_init(&arena, LOOKUP_MEMORY);
    enum pv_code code = store_token_lookup(api->store, &arena, who->token_id, &row, &left_us, err);
    if (code == PV_E_NOT_FOUND)
        code = refuse_token(err);
    else if (code == PV_OK && !is_live(&row, left_us))
        code = refuse_ended(&row, err);
    arena_fini(&arena);
    return code;
}

#include "codec/access/access.h"

#include <string.h>

_Static_assert(SCOPE_READ == 1 && SCOPE_WRITE == 2 && SCOPE_ADMIN == 4,
               "the order of codec_scope_words");
const char *const codec_scope_words[] = {"read", "write", "admin", NULL};

enum { SCOPE_WORDS = 3, NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

/* Bit of the word at a node; 0 with a fault. */
static unsigned decode_scope(const struct codec_node *item)
{
    const char *word = json_value_text(item->json);
    for (unsigned i = 0; word != NULL && i < SCOPE_WORDS; i++)
        if (strcmp(word, codec_scope_words[i]) == 0)
            return 1u << i;
    codec_fault(item, "not_allowed", "must be one of: read, write, admin");
    return 0;
}

static void decode_scopes(const struct codec_node *node, const void *limits, void *object)
{
    struct token *token = object;
    struct codec_node array = codec_array(node, "scopes", CODEC_REQUIRED, 1, SCOPE_WORDS);
    (void)limits;
    for (size_t i = 0; array.json != NULL && i < json_value_items(array.json); i++) {
        struct codec_node item = codec_item(&array, i);
        unsigned scope = decode_scope(&item);
        if ((token->scopes & scope) != 0)
            codec_fault(&item, "duplicate", "is named twice");
        token->scopes |= scope;
    }
}

static void encode_scopes(struct writer *w, const void *object, const void *context)
{
    const struct token *token = object;
    (void)context;
    writer_key(w, "scopes");
    writer_begin_array(w);
    for (unsigned i = 0; i < SCOPE_WORDS; i++)
        if ((token->scopes & 1u << i) != 0)
            writer_string(w, codec_scope_words[i]);
    writer_end_array(w);
}

#define T struct token
static const struct shape_member token_members[] = {
    {"id", SHAPE_ID(T, id), .flags = REPLY},
    {"team", SHAPE_NAME(T, team)},
    {"name", SHAPE_NAME(T, name), .flags = CODEC_REQUIRED},
    {"scopes", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_scopes,
     .encode = encode_scopes},
    {"created_at", SHAPE_INSTANT(T, created_us), .flags = REPLY},
    {"expires_at", SHAPE_INSTANT(T, expires_us), .flags = NULLABLE},
    {"last_used_at", SHAPE_INSTANT(T, last_used_us), .flags = REPLY | NULLABLE},
    {"revoked_at", SHAPE_INSTANT(T, revoked_us), .flags = REPLY | NULLABLE},
    {"token", SHAPE_TEXT(T, text), .flags = REPLY | SHAPE_GROUP(0)},
};
const struct shape codec_token_shape = {.request = "TokenCreate",
                                        .reply = "Token",
                                        .reply_without = SHAPE_GROUP(0),
                                        SHAPE_OF(token_members, T)};
const struct shape codec_token_created_shape = {.reply = "TokenCreated",
                                                SHAPE_OF(token_members, T)};

void codec_token_decode(const struct codec_node *node, struct token *token)
{
    *token = (struct token){.scopes = 0};
    shape_decode(node, &codec_token_shape, NULL, token);
}

void codec_token_encode(struct writer *w, const struct token *token)
{
    shape_encode(w, &codec_token_shape, token, token->text.at == NULL ? SHAPE_GROUP(0) : 0, NULL);
}

#define M struct team
static const struct shape_member team_members[] = {
    {"id", SHAPE_ID(M, id), .flags = REPLY},
    {"name", SHAPE_NAME(M, name), .flags = CODEC_REQUIRED},
    {"created_at", SHAPE_INSTANT(M, created_us), .flags = REPLY},
};
const struct shape codec_team_shape = {
    .request = "TeamCreate", .reply = "Team", SHAPE_OF(team_members, M)};

void codec_team_decode(const struct codec_node *node, struct team *team)
{
    *team = (struct team){.id = ""};
    shape_decode(node, &codec_team_shape, NULL, team);
}

void codec_team_encode(struct writer *w, const struct team *team)
{
    shape_encode(w, &codec_team_shape, team, 0, NULL);
}

/* --- quotas and what there is of them --- */

#define QUOTA(name, which)                                                                         \
    {                                                                                              \
        name, SHAPE_COUNT(struct team_quotas, of[which]), .flags = NULLABLE, .most = QUOTA_MAX     \
    }
static const struct shape_member team_quotas_members[] = {
    QUOTA("applications_max", QUOTA_APPLICATIONS),
    QUOTA("runs_max", QUOTA_RUNS),
    QUOTA("advice_max", QUOTA_ADVICE),
    QUOTA("tokens_max", QUOTA_TOKENS),
    QUOTA("operations_max", QUOTA_OPERATIONS),
    QUOTA("replies_max", QUOTA_REPLIES),
    QUOTA("bytes_max", QUOTA_BYTES),
};
const struct shape codec_team_quotas_shape = {.request = "TeamQuotas",
                                              SHAPE_OF(team_quotas_members, struct team_quotas)};

void codec_team_quotas_decode(const struct codec_node *node, struct team_quotas *quotas)
{
    shape_decode(node, &codec_team_quotas_shape, NULL, quotas);
}

#define U struct usage
static const struct shape_member quota_members[] = {
    {"name", SHAPE_TEXT(U, name), .flags = REPLY},
    {"unit", SHAPE_TEXT(U, unit), .flags = REPLY},
    {"used", SHAPE_COUNT(U, used), .flags = REPLY},
    {"limit", SHAPE_COUNT(U, limit), .flags = REPLY | NULLABLE},
    {"own", SHAPE_BOOLEAN(U, own), .flags = REPLY},
};
const struct shape codec_quota_shape = {.reply = "Quota", SHAPE_OF(quota_members, U)};

static const struct shape_member usage_members[] = {
    {"counted_at", SHAPE_INSTANT(struct usage_list, counted_us), .flags = REPLY | NULLABLE},
    {"quotas", SHAPE_OBJECTS(struct usage_list, items, n, &codec_quota_shape), .flags = REPLY},
};
const struct shape codec_usage_shape = {.reply = "Usage",
                                        SHAPE_OF(usage_members, struct usage_list)};

void codec_usage_encode(struct writer *w, const struct usage_list *usage)
{
    shape_encode(w, &codec_usage_shape, usage, 0, NULL);
}

#define A struct audit_record
static void encode_replaced(struct writer *w, const void *object, const void *context)
{
    const A *audit = object;
    (void)context;
    writer_key(w, "replaced_run");
    if (audit->replaced.at == NULL)
        writer_null(w);
    else
        writer_raw(w, audit->replaced);
}

static const struct shape_member audit_members[] = {
    {"id", SHAPE_ID(A, id), .flags = REPLY},
    {"at", SHAPE_INSTANT(A, at_us), .flags = REPLY},
    {"actor", SHAPE_TEXT(A, actor), .flags = REPLY},
    {"token_id", SHAPE_ID(A, token_id), .flags = REPLY | NULLABLE},
    {"action", SHAPE_TEXT(A, action), .flags = REPLY},
    {"subject", SHAPE_TEXT(A, subject), .flags = REPLY},
    {"request_id", SHAPE_TEXT(A, request_id), .flags = REPLY | NULLABLE},
    {"replaced_run", SHAPE_CODE, .flags = REPLY | NULLABLE, .encode = encode_replaced},
};
const struct shape codec_audit_shape = {.reply = "AuditRecord", SHAPE_OF(audit_members, A)};

void codec_audit_encode(struct writer *w, const struct audit_record *audit)
{
    shape_encode(w, &codec_audit_shape, audit, 0, NULL);
}

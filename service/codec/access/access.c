#include "codec/access/access.h"

#include <string.h>

const char *const codec_scope_words[] = {"read", "write", "admin", NULL};

enum { SCOPE_WORDS = 3 };

/* Bit of the word at a node; 0 with a fault. */
static unsigned decode_scope(const struct codec_node *item)
{
    const char *word = json_string_value(item->json);
    for (unsigned i = 0; word != NULL && i < SCOPE_WORDS; i++)
        if (strcmp(word, codec_scope_words[i]) == 0)
            return 1u << i;
    codec_fault(item, "not_allowed", "must be one of: read, write, admin");
    return 0;
}

static unsigned decode_scopes(const struct codec_node *node)
{
    struct codec_node array = codec_array(node, "scopes", CODEC_REQUIRED, 1, SCOPE_WORDS);
    unsigned scopes = 0;
    for (size_t i = 0; array.json != NULL && i < json_array_size(array.json); i++) {
        struct codec_node item = codec_item(&array, i);
        unsigned scope = decode_scope(&item);
        if ((scopes & scope) != 0)
            codec_fault(&item, "duplicate", "is named twice");
        scopes |= scope;
    }
    return scopes;
}

void codec_token_decode(const struct codec_node *node, struct codec_token *token)
{
    static const char *const known[] = {"name", "scopes", "expires_at", "team", NULL};
    codec_refuse_unknown(node, known);
    *token = (struct codec_token){
        .name = codec_name(node, "name", CODEC_REQUIRED),
        .scopes = decode_scopes(node),
        .expires_us = codec_instant(node, "expires_at", CODEC_NULLABLE),
        .team = codec_name(node, "team", CODEC_OPTIONAL),
    };
}

static void encode_scopes(struct writer *w, unsigned scopes)
{
    writer_member_array(w, "scopes");
    for (unsigned i = 0; i < SCOPE_WORDS; i++)
        if ((scopes & 1u << i) != 0)
            writer_string(w, codec_scope_words[i]);
    writer_end_array(w);
}

void codec_token_encode(struct writer *w, const struct codec_token *token)
{
    writer_begin_object(w);
    writer_member_string(w, "id", token->id);
    writer_member_text(w, "team", token->team);
    writer_member_text(w, "name", token->name);
    encode_scopes(w, token->scopes);
    writer_member_instant(w, "created_at", token->created_us);
    writer_member_instant(w, "expires_at", token->expires_us);
    writer_member_instant(w, "last_used_at", token->last_used_us);
    writer_member_instant(w, "revoked_at", token->revoked_us);
    if (token->text != NULL)
        writer_member_string(w, "token", token->text);
    writer_end_object(w);
}

void codec_team_decode(const struct codec_node *node, struct strview *name)
{
    static const char *const known[] = {"name", NULL};
    codec_refuse_unknown(node, known);
    *name = codec_name(node, "name", CODEC_REQUIRED);
}

void codec_team_encode(struct writer *w, const char *id, struct strview name, int64_t created_us)
{
    writer_begin_object(w);
    writer_member_string(w, "id", id);
    writer_member_text(w, "name", name);
    writer_member_instant(w, "created_at", created_us);
    writer_end_object(w);
}

void codec_audit_encode(struct writer *w, const struct codec_audit *audit)
{
    bool by_token = audit->token_id[0] != '\0';
    struct strview none = {NULL, 0};
    writer_begin_object(w);
    writer_member_string(w, "id", audit->id);
    writer_member_instant(w, "at", audit->at_us);
    writer_member_text(w, "actor", audit->actor);
    writer_member_string(w, "token_id", by_token ? audit->token_id : NULL);
    writer_member_text(w, "action", audit->action);
    writer_member_text(w, "subject", audit->subject);
    writer_member_text(w, "request_id", audit->request_id.n == 0 ? none : audit->request_id);
    writer_end_object(w);
}

#ifndef CODEC_ACCESS_ACCESS_H
#define CODEC_ACCESS_ACCESS_H

#include "base/json_writer.h"
#include "codec/json/reader.h"

/*
 * Tokens, teams and audit rows as they stand on the wire (openapi: TokenCreate, Token, Team,
 * AuditRecord). Scopes are bits in the order of codec_scope_words. The store has structs of its
 * own; api/access/access.c moves them over.
 */
extern const char *const codec_scope_words[]; /* "read", "write", "admin", NULL */

struct codec_token {
    const char *id;
    struct strview team; /* POST: at == NULL for the caller's own */
    struct strview name;
    unsigned scopes;
    int64_t expires_us; /* RUN_NO_INSTANT: never */
    /* replies only */
    int64_t created_us;
    int64_t last_used_us;
    int64_t revoked_us;
    const char *text; /* the token itself, in the reply that made it; else NULL: no such member */
};

/* POST: {name, scopes, expires_at?, team?}. Texts live in the reader's arena. */
void codec_token_decode(const struct codec_node *node, struct codec_token *token);
void codec_token_encode(struct writer *w, const struct codec_token *token);

/* POST: {name}. */
void codec_team_decode(const struct codec_node *node, struct strview *name);
void codec_team_encode(struct writer *w, const char *id, struct strview name, int64_t created_us);

struct codec_audit {
    const char *id;
    const char *token_id; /* "": none */
    struct strview actor;
    struct strview action;
    struct strview subject;
    struct strview request_id;
    int64_t at_us;
};
void codec_audit_encode(struct writer *w, const struct codec_audit *audit);

#endif

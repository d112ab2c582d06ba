#ifndef CODEC_ACCESS_ACCESS_H
#define CODEC_ACCESS_ACCESS_H

#include "base/access.h"
#include "codec/json/shape.h"

/* Tokens, teams and audit records (openapi: access.yaml). */
extern const struct shape codec_token_shape;
extern const struct shape codec_token_created_shape;
extern const struct shape codec_team_shape;
extern const struct shape codec_audit_shape;

/* Words of the bits of enum scope, in their order. */
extern const char *const codec_scope_words[]; /* "read", "write", "admin", NULL */

/* POST: {name, scopes, expires_at?, team?}. Texts live in the reader's arena; team.at == NULL: the
 * caller's own. */
void codec_token_decode(const struct codec_node *node, struct token *token);
/* With `token`, the text, where the struct has it. */
void codec_token_encode(struct writer *w, const struct token *token);

/* POST: {name}. */
void codec_team_decode(const struct codec_node *node, struct team *team);
void codec_team_encode(struct writer *w, const struct team *team);

extern const struct shape codec_team_quotas_shape;
extern const struct shape codec_quota_shape;
extern const struct shape codec_usage_shape;

/* PUT: {applications?, runs?, ...}. */
void codec_team_quotas_decode(const struct codec_node *node, struct team_quotas *quotas);
void codec_usage_encode(struct writer *w, const struct usage_list *usage);

void codec_audit_encode(struct writer *w, const struct audit_record *audit);

#endif

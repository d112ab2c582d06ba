#ifndef STORE_ACCESS_ACCESS_H
#define STORE_ACCESS_ACCESS_H

#include "base/access.h"
#include "store/store.h"

/* Teams, tokens, audit. */
struct token_list {
    struct token *items;
    size_t n;
    bool more;
};
struct team_list {
    struct team *items;
    size_t n;
    bool more;
};
struct audit_list {
    struct audit_record *items; /* newest first */
    size_t n;
    bool more;
};

/*
 * By id, of whatever team: the one look-up made before a team is known (a SECURITY DEFINER
 * function). PV_E_NOT_FOUND. Notes the use when the last one is over a minute old.
 *
 * left_us    how long the token is valid yet by the database's clock, which is the same for all
 *            replicas; not above 0 when it has expired, INT64_MAX when it never does;
 *            may be NULL
 */
enum pv_code store_token_lookup(struct store *store,
                                struct arena *arena,
                                const char *token_id,
                                struct token *token,
                                int64_t *left_us,
                                struct pv_error *err) PV_MUSTCHECK;

/* Tokens of the transaction's team. after_id "" for the first page; ascending by id. */
enum pv_code
store_token_insert(struct store_tx *tx, struct token *token, struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_token_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *after_id,
                              size_t limit,
                              struct token_list *list,
                              struct pv_error *err) PV_MUSTCHECK;
/* Idempotent. PV_E_NOT_FOUND for another team's. */
enum pv_code
store_token_revoke(struct store_tx *tx, const char *token_id, struct pv_error *err) PV_MUSTCHECK;

/*
 * Teams. Only the operator's team ("is_operator", the one `provisord token create` makes first) may
 * list all or create; store functions check it in the database. PV_E_FORBIDDEN otherwise.
 * PV_E_CONFLICT: name taken.
 */
enum pv_code store_team_insert(struct store_tx *tx,
                               struct arena *arena,
                               struct strview name,
                               struct team *team,
                               struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_team_list(struct store_tx *tx,
                             struct arena *arena,
                             const char *after_id,
                             size_t limit,
                             struct team_list *list,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * For the command line, with the owner's connection: the team of that name (made when missing; the
 * first one ever is the operator's) gets this token; token->id and hash are the caller's.
 */
enum pv_code store_bootstrap_token(const char *owner_conninfo,
                                   const char *team_name,
                                   struct token *token,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Likewise: the tokens of that team (NULL: of all), newest last; PV_E_NOT_FOUND: no such team. */
enum pv_code store_owner_token_list(const char *owner_conninfo,
                                    struct arena *arena,
                                    const char *team_name,
                                    struct token_list *list,
                                    struct pv_error *err) PV_MUSTCHECK;
/* Likewise: the id of the team of that name. PV_E_NOT_FOUND. */
enum pv_code store_owner_team_find(const char *owner_conninfo,
                                   const char *team_name,
                                   char team_id[37],
                                   struct pv_error *err) PV_MUSTCHECK;
/* Likewise: revoke it, of whatever team. PV_E_NOT_FOUND. */
enum pv_code store_owner_token_revoke(const char *owner_conninfo,
                                      const char *token_id,
                                      struct pv_error *err) PV_MUSTCHECK;

/*
 * 32 random bytes made by the first migration, the same for every replica: key of token hashes and
 * of the MAC in cursors. Ask once and keep it.
 */
enum pv_code
store_service_key(struct store *store, unsigned char key[32], struct pv_error *err) PV_MUSTCHECK;

enum pv_code store_audit_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *before_id,
                              size_t limit,
                              struct audit_list *list,
                              struct pv_error *err) PV_MUSTCHECK;

#endif

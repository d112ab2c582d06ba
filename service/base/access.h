#ifndef BASE_ACCESS_H
#define BASE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/principal.h"
#include "base/strview.h"

/*
 * Teams, their tokens and the audit, as rows and on the wire. Instants that have not come are
 * INSTANT_UNKNOWN. A token reads prv_<id>_<secret>_<checksum> (http/token.h); of the secret only a
 * keyed BLAKE2b hash is stored.
 */
enum { TOKEN_HASH_BYTES = 32 };

struct token {
    char id[37];
    char team_id[37];
    struct strview team; /* its name */
    struct strview name; /* what its owner calls it */
    unsigned scopes;
    unsigned char hash[TOKEN_HASH_BYTES];
    int64_t created_us;
    int64_t expires_us;   /* unknown: never */
    int64_t last_used_us; /* kept to about a minute */
    int64_t revoked_us;   /* unknown: live */
    struct strview text;  /* the token itself, where it has just been made */
};

struct team {
    char id[37];
    struct strview name;
    int64_t created_us;
};

/* What bounds how much a team stores; in the order of provisor.check_usage (migration 0020). */
enum quota {
    QUOTA_APPLICATIONS,
    QUOTA_RUNS,
    QUOTA_ADVICE,
    QUOTA_TOKENS,
    QUOTA_OPERATIONS,
    QUOTA_REPLIES, /* kept under an Idempotency-Key */
    QUOTA_BYTES,
    QUOTAS
};

/* Quotas of a team in place of the settings, each 0 to QUOTA_MAX. Unknown: the setting holds; 0: no
 * bound. */
#define QUOTA_MAX INT64_C(1000000000000000)
struct team_quotas {
    int64_t of[QUOTAS];
};

/* How much of one thing a team stores. */
struct usage {
    struct strview name; /* "runs" */
    struct strview unit; /* "count" or "bytes" */
    int64_t used;
    int64_t limit; /* unknown: no bound */
    bool own;      /* it is the team's own, not that of the settings */
};

struct usage_list {
    struct usage *items;
    size_t n;
    int64_t counted_us; /* the last recount; unknown: none yet */
};

struct audit_record {
    char id[37];
    char token_id[37]; /* "": none */
    struct strview actor;
    struct strview action;  /* "run.insert" */
    struct strview subject; /* what it was done to */
    struct strview request_id;
    int64_t at_us;
    struct strview replaced; /* JSON: figures of the run that was replaced; at == NULL: none */
};

#endif

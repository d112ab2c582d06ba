#ifndef BASE_PRINCIPAL_H
#define BASE_PRINCIPAL_H

#include <stdint.h>

/* Scopes are a set of bits. */
enum scope { SCOPE_READ = 1, SCOPE_WRITE = 2, SCOPE_ADMIN = 4 };

/* Who asks: the team everything belongs to, and the token that speaks for it. */
struct principal {
    char team_id[37];  /* UUID text; "" for nobody */
    char token_id[37]; /* UUID text */
    char actor[64];    /* short public name of the token for audit rows */
    unsigned scopes;
    uint64_t expires_ns; /* by the monotonic clock, when the token does; 0: never */
    int64_t expires_us;  /* the same instant as the token has it; of use if expires_ns is not 0 */
};

#endif

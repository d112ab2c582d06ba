#ifndef STORE_ACCESS_ACCESS_INTERNAL_H
#define STORE_ACCESS_ACCESS_INTERNAL_H

#include "store/access/access.h"
#include "store/sql/columns.h"

/* {token}: all of a token but its hash, read from TOKENS. */
extern const struct columns token_columns;
#define TOKENS                                                                                     \
    "(SELECT x.*, m.name AS team_name FROM provisor.token x"                                       \
    " JOIN provisor.team m ON m.team_id = x.team_id) t"

#endif

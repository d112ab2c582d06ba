#ifndef STORE_SQL_MIGRATIONS_H
#define STORE_SQL_MIGRATIONS_H

#include <stddef.h>

#include "store/sql/online_index.h"

/* The files of db/migrations as the build found them (embed_migrations.py writes the table). */
struct migration {
    unsigned version; /* 1, 2, 3, ... */
    const char *name;
    const char *checksum; /* SHA-256 of the file, hexadecimal */
    const char *sql;
    /* Programs whose newest migration is older no longer work with the schema; 0: all that did do.
     */
    unsigned oldest_program;
    const struct online_index *index; /* what the file makes outside a transaction; NULL: nothing */
};

extern const struct migration migrations[];
extern const size_t n_migrations;

#endif

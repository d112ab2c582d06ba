#ifndef STORE_SQL_MIGRATIONS_H
#define STORE_SQL_MIGRATIONS_H

#include <stddef.h>

/* The files of db/migrations as the build found them (embed_migrations.py writes the table). */
struct migration {
    unsigned version; /* 1, 2, 3, ... */
    const char *name;
    const char *checksum; /* SHA-256 of the file, hexadecimal */
    const char *sql;
};

extern const struct migration migrations[];
extern const size_t n_migrations;

#endif

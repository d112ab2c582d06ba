#ifndef TESTS_UNIT_STORE_DATABASE_H
#define TESTS_UNIT_STORE_DATABASE_H

#include <stdio.h>
#include <stdlib.h>

#include "store/access/access.h"
#include "store/advice/advice.h"
#include "store/history/application.h"
#include "store/history/run.h"
#include "store/sql/idempotency.h"

/*
 * Tests against a real PostgreSQL: plain programs (threads, sanitizers), run only where
 * PROVISOR_DATABASE_URL (the service's role) and PROVISOR_DATABASE_OWNER_URL are set; else they
 * exit with 77, which Meson counts as skipped. Every test makes teams of its own, so one database
 * serves any number of runs.
 */
enum { EXIT_SKIPPED = 77 };

struct database {
    const char *url;
    const char *owner_url;
    struct store *store;
};

/* Migrates and opens; exits with 77 without the environment, with 1 when the database is not
 * usable. */
struct database database_open(unsigned connections);
void database_close(struct database *database);

/* A new team with a token that may do everything. */
struct principal database_team(const struct database *database, const char *name);

/* A run with two stages whose doubles have no short decimal form; all pointers are static or in
 * arena. */
struct run database_run(struct arena *arena, int64_t problem_size, int64_t executors);
/* The same as from an event log of that application id. */
struct run database_log_run(struct arena *arena, const char *spark_application_id, bool ended);

/* Ends the program with the place and the words of the failure. */
void database_fail(const char *file, int line, const char *what, const struct pv_error *err)
    __attribute__((noreturn));

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth))                                                                              \
            database_fail(__FILE__, __LINE__, #truth, NULL);                                       \
    } while (0)

/* The call answers PV_OK. `err` must be in scope. */
#define DO(call)                                                                                   \
    do {                                                                                           \
        pv_error_clear(&err);                                                                      \
        if ((call) != PV_OK)                                                                       \
            database_fail(__FILE__, __LINE__, #call, &err);                                        \
    } while (0)

/* The call answers that code. */
#define REFUSES(code_wanted, call)                                                                 \
    do {                                                                                           \
        pv_error_clear(&err);                                                                      \
        enum pv_code answered = (call);                                                            \
        if (answered != (code_wanted)) {                                                           \
            (void)fprintf(stderr, "answered %s\n", pv_code_name(answered));                        \
            database_fail(__FILE__, __LINE__, #call, &err);                                        \
        }                                                                                          \
    } while (0)

#endif

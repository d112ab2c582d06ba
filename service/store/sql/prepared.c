#include "store/sql/prepared.h"

#include <inttypes.h>
#include <libpq-events.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

/* More than the program has statements worth preparing. */
enum { STATEMENTS_MAX = 64 };

struct memory {
    bool same_server;
    unsigned n;
    uint64_t hashes[STATEMENTS_MAX];
};

static int on_event(PGEventId event, void *info, void *context)
{
    (void)context;
    if (event == PGEVT_CONNDESTROY) {
        const PGEventConnDestroy *destroyed = info;
        free(PQinstanceData(destroyed->conn, on_event));
    }
    return 1;
}

bool prepared_attach(PGconn *conn)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (memory != NULL && PQregisterEventProc(conn, on_event, "prepared", NULL) == 1 &&
        PQsetInstanceData(conn, on_event, memory) == 1)
        return true;
    free(memory);
    return false;
}

void prepared_learn_backend(PGconn *conn, int backend_pid)
{
    struct memory *memory = PQinstanceData(conn, on_event);
    if (memory != NULL)
        memory->same_server = backend_pid == PQbackendPID(conn);
}

/* The texts are the program's own, so nobody can choose two that collide. */
static uint64_t hash_of(const char *text)
{
    return hash_text(HASH_START, text);
}

enum prepared_step
prepared_find(PGconn *conn, const char *text, char name[static PREPARED_NAME_MAX])
{
    const struct memory *memory = PQinstanceData(conn, on_event);
    if (memory == NULL || !memory->same_server)
        return PREPARED_NEVER;
    uint64_t hash = hash_of(text);
    (void)snprintf(name, PREPARED_NAME_MAX, "pv_%016" PRIx64, hash);
    for (unsigned i = 0; i < memory->n; i++) {
        if (memory->hashes[i] == hash)
            return PREPARED_READY;
    }
    return memory->n < STATEMENTS_MAX ? PREPARED_FIRST : PREPARED_NEVER;
}

bool prepared_note(PGconn *conn, const char *text)
{
    struct memory *memory = PQinstanceData(conn, on_event);
    if (memory == NULL || memory->n == STATEMENTS_MAX)
        return false;
    memory->hashes[memory->n++] = hash_of(text);
    return true;
}

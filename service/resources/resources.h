#ifndef RESOURCES_RESOURCES_H
#define RESOURCES_RESOURCES_H

#include <pthread.h>

#include "base/error.h"
#include "base/ledger.h"
#include "config/config.h"

/*
 * What requests and operations hold of the process, for each resource a ledger (base/ledger.h) with a share for
 * each team that holds some: whoever uses much leaves room for the others. A lone team may use what
 * nobody else wants, but for the part that is left free. Safe from any thread.
 */
enum resource {
    RESOURCE_MEMORY,  /* bytes: bodies, work, replies until they are read; operations */
    RESOURCE_SPOOL,   /* bytes on disk: uploads and exports under way */
    RESOURCE_EXPORTS, /* exports of runs under way */
    RESOURCE_IMPORTS, /* imports being stored */
    RESOURCE_WAITS,   /* replies held by `Prefer: wait` */
    RESOURCE_STREAMS, /* open event streams */
    /* connections on which a valid token came, of the team of the last one: they are there
     * before anybody knows whose they are, so they are taken anyway (http/connection.c) */
    RESOURCE_CONNECTIONS,
    RESOURCE_COUNT
};

struct resources {
    struct ledger ledgers[RESOURCE_COUNT];
    pthread_mutex_t lock;
    struct team_resources *buckets[256]; /* teams that hold something, under the lock */
};

void resources_init(struct resources *resources, const struct config *config);
void resources_fini(struct resources *resources);

/*
 * The account is one of the team's share from now on ("": of requests that nobody has asked yet);
 * what it holds moves there. false: there is no memory for a share; the account is as before.
 */
bool resources_open(struct resources *resources,
                    enum resource resource,
                    const char *team,
                    struct ledger_account *account) PV_MUSTCHECK;

/* Give back what the account still holds, and let go of the share. Of an account never opened, or
 * closed before: nothing. */
void resources_close(struct resources *resources, struct ledger_account *account);

/*
 * Open the account (which must be zero) and take n from it. Else the account is zero, and PV_E_QUOTA:
 * the team has its share and others hold some, too; PV_E_UNAVAILABLE: all is held; PV_E_MEMORY.
 */
enum pv_code resources_take(struct resources *resources,
                            enum resource resource,
                            const char *team,
                            struct ledger_account *account,
                            size_t n,
                            struct pv_error *err) PV_MUSTCHECK;

/* The error for an account that was refused: PV_E_QUOTA or PV_E_UNAVAILABLE as above. */
enum pv_code resources_refuse(const struct ledger_account *account,
                              enum resource resource,
                              struct pv_error *err);

/* Bring the metrics up to date. */
void resources_collect(const struct resources *resources);

#endif

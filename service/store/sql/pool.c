#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "log/log.h"
#include "store/outbox/event_listener.h"
#include "store/sql/prepared.h"
#include "store/store_internal.h"
#include "store/usage/tally.h"
#include "threads/clock.h"
#include "threads/cond.h"

/*
 * A bounded set of connections. While the server is away one caller at a time tries to connect, and
 * each failure doubles the pause before the next try. In that pause everybody else fails at once
 * when no connection is open, and else waits for one that is, or for the end of the pause. When
 * the server is back at most a few connect together, so that its return is not a stampede.
 */
enum {
    CONNECTING_MAX = 4,
    BACKOFF_FIRST_MS = 50,
    BACKOFF_MAX_MS = 1000,
    IDLE_MAX = 4096 /* sanity bound of the pool */
};
#define NS_PER_MS UINT64_C(1000000)

struct store {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct conninfo info;
    unsigned max;
    unsigned wait_ms;
    unsigned statement_timeout_ms;
    PGconn **idle; /* last in, first out: a quiet pool keeps few connections warm */
    unsigned n_idle;
    unsigned open; /* idle, in use, and being made */
    unsigned connecting;
    unsigned waiting;
    unsigned failures; /* to connect, in a row */
    uint64_t retry_at_ns;
    uint64_t connects;
    uint64_t connect_failures;
    int64_t quotas[QUOTAS];
    struct tally *tally;
    void (*report_events)(void *context, bool urgent);
    void *report_context;
};

static bool init_locks(struct store *store)
{
    if (!cond_init(&store->changed))
        return false;
    if (pthread_mutex_init(&store->lock, NULL) == 0)
        return true;
    pthread_cond_destroy(&store->changed);
    return false;
}

enum pv_code
store_open(const struct store_options *options, struct store **opened, struct pv_error *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return pv_no_memory(err);
    store->max = options->connections_max == 0 ? 1 : options->connections_max;
    if (store->max > IDLE_MAX)
        store->max = IDLE_MAX;
    store->wait_ms = options->wait_ms;
    store->statement_timeout_ms = options->statement_timeout_ms;
    memcpy(store->quotas, options->quotas, sizeof store->quotas);
    store->idle = calloc(store->max, sizeof *store->idle);
    store->tally = tally_create();
    enum pv_code code = store->idle == NULL || store->tally == NULL
                            ? pv_no_memory(err)
                            : conninfo_parse(options->conninfo, &store->info, err);
    if (code == PV_OK && !init_locks(store))
        code = pv_no_memory(err);
    if (code == PV_OK) {
        *opened = store;
        return PV_OK;
    }
    conninfo_free(&store->info);
    tally_destroy(store->tally);
    free(store->idle);
    free(store);
    return code;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (unsigned i = 0; i < store->n_idle; i++)
        PQfinish(store->idle[i]);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->lock);
    conninfo_free(&store->info);
    tally_destroy(store->tally);
    free(store->idle);
    free(store);
}

struct store_statistics store_statistics(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    struct store_statistics s = {
        .connections_in_use = store->open - store->n_idle - store->connecting,
        .connections_idle = store->n_idle,
        .waiting = store->waiting,
        .connects = store->connects,
        .connect_failures = store->connect_failures,
    };
    pthread_mutex_unlock(&store->lock);
    return s;
}

void store_on_events(struct store *store, void (*report)(void *context, bool urgent), void *context)
{
    store->report_events = report;
    store->report_context = context;
}

bool pool_reports_events(const struct store *store)
{
    return store->report_events != NULL;
}

void pool_report_events(const struct store *store, bool urgent)
{
    if (store->report_events != NULL)
        store->report_events(store->report_context, urgent);
}

const struct conninfo *pool_conninfo(const struct store *store)
{
    return &store->info;
}

const int64_t *pool_quotas(const struct store *store)
{
    return store->quotas;
}

struct tally *pool_tally(const struct store *store)
{
    return store->tally;
}

unsigned pool_statement_timeout_ms(const struct store *store)
{
    return store->statement_timeout_ms;
}

/* --- making and judging connections --- */

/* Notices are for people at a terminal; libpq would print them. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

enum pv_code connection_open(const struct conninfo *info, PGconn **conn, struct pv_error *err)
{
    PGconn *made = PQconnectdbParams((const char *const *)info->keywords,
                                     (const char *const *)info->values, 0);
    if (made == NULL)
        return pv_no_memory(err);
    if (PQstatus(made) != CONNECTION_OK) {
        PQfinish(made);
        if (err != NULL)
            err->retry_after_s = 1;
        return pv_fail(err, PV_E_UNAVAILABLE, "the database cannot be reached");
    }
    (void)PQsetNoticeReceiver(made, ignore_notice, NULL);
    *conn = made;
    return PV_OK;
}

/*
 * An idle connection has nothing to say. If there is something to read the server has closed it, is
 * about to (its last words come first), or reports a changed setting; a new one is cheap beside a
 * request that fails.
 */
static bool is_quiet(PGconn *conn)
{
    struct pollfd p = {.fd = PQsocket(conn), .events = POLLIN};
    return p.fd >= 0 && poll(&p, 1, 0) == 0;
}

static enum pv_code open_pipelined(struct store *store, PGconn **conn, struct pv_error *err)
{
    PGconn *made = NULL;
    PV_TRY(connection_open(&store->info, &made, err));
    if (!prepared_attach(made)) {
        PQfinish(made);
        return pv_no_memory(err);
    }
    if (PQsetnonblocking(made, 1) != 0 || PQenterPipelineMode(made) != 1) {
        PQfinish(made);
        return pv_fail(err, PV_E_INTERNAL, "the database connection cannot be set up");
    }
    *conn = made;
    return PV_OK;
}

/* --- acquire and release: the lock is held where a name ends in _locked --- */

/* Looking at a connection and closing one may wait for the network: not under the lock. */
static PGconn *take_idle_locked(struct store *store)
{
    while (store->n_idle > 0) {
        PGconn *conn = store->idle[--store->n_idle];
        pthread_mutex_unlock(&store->lock);
        bool quiet = is_quiet(conn);
        if (!quiet)
            PQfinish(conn);
        pthread_mutex_lock(&store->lock);
        if (quiet)
            return conn;
        store->open--;
    }
    return NULL;
}

/* 50 ms, 100, ... 1 s, each lengthened by up to a quarter so that replicas fall out of step. */
static uint64_t backoff_ns(unsigned failures, uint64_t now_ns)
{
    uint64_t ms = BACKOFF_FIRST_MS;
    for (unsigned i = 1; i < failures && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    if (ms > BACKOFF_MAX_MS)
        ms = BACKOFF_MAX_MS;
    return (ms + now_ns / 1000 % (ms / 4)) * NS_PER_MS;
}

static enum pv_code connect_locked(struct store *store, PGconn **conn, struct pv_error *err)
{
    store->open++;
    store->connecting++;
    pthread_mutex_unlock(&store->lock);
    enum pv_code code = open_pipelined(store, conn, err);
    pthread_mutex_lock(&store->lock);
    store->connecting--;
    if (code == PV_OK) {
        if (store->failures > 0)
            LOG_EVENT(LOG_INFO, "store.reconnected", NULL, LOG_COUNT("failures", store->failures));
        store->failures = 0;
        store->connects++;
    } else {
        if (store->failures == 0)
            LOG_EVENT(LOG_WARN, "store.connect_failed", NULL);
        store->open--;
        store->failures++;
        store->connect_failures++;
        uint64_t now = clock_monotonic_ns();
        store->retry_at_ns = now + backoff_ns(store->failures, now);
    }
    pthread_cond_broadcast(&store->changed);
    return code;
}

static bool may_connect_locked(const struct store *store)
{
    unsigned together = store->failures > 0 ? 1 : CONNECTING_MAX;
    return store->open < store->max && store->connecting < together;
}

static enum pv_code unavailable(struct pv_error *err, const char *why)
{
    if (err != NULL)
        err->retry_after_s = 1;
    return pv_fail(err, PV_E_UNAVAILABLE, "%s", why);
}

/* False when the deadline has passed. */
static bool wait_locked(struct store *store, uint64_t deadline_ns)
{
    store->waiting++;
    bool in_time = cond_wait_until(&store->changed, &store->lock, deadline_ns);
    store->waiting--;
    return in_time;
}

static enum pv_code acquire_locked(struct store *store, PGconn **conn, struct pv_error *err)
{
    uint64_t deadline = clock_monotonic_ns() + (uint64_t)store->wait_ms * NS_PER_MS;
    for (;;) {
        *conn = take_idle_locked(store);
        if (*conn != NULL)
            return PV_OK;
        bool resting = store->failures > 0 && clock_monotonic_ns() < store->retry_at_ns;
        if (resting && store->open == 0)
            return unavailable(err, "the database cannot be reached");
        if (!resting && may_connect_locked(store))
            return connect_locked(store, conn, err);
        /* Nobody signals the end of the pause. */
        bool pause_first = resting && store->retry_at_ns < deadline;
        if (!wait_locked(store, pause_first ? store->retry_at_ns : deadline) && !pause_first)
            return unavailable(err, "no database connection became free in time");
    }
}

enum pv_code pool_acquire(struct store *store, PGconn **conn, struct pv_error *err)
{
    duty_waits();
    pthread_mutex_lock(&store->lock);
    enum pv_code code = acquire_locked(store, conn, err);
    pthread_mutex_unlock(&store->lock);
    return code;
}

void pool_release(struct store *store, PGconn *conn, bool healthy)
{
    if (conn == NULL)
        return;
    bool keep = healthy && PQstatus(conn) == CONNECTION_OK &&
                PQtransactionStatus(conn) == PQTRANS_IDLE &&
                PQpipelineStatus(conn) == PQ_PIPELINE_ON;
    if (!keep)
        PQfinish(conn);
    pthread_mutex_lock(&store->lock);
    if (keep)
        store->idle[store->n_idle++] = conn;
    else
        store->open--;
    pthread_cond_signal(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

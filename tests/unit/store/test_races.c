/* Proves on a real PostgreSQL that what several threads do at once happens once. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "database.h"
#include "store/store_internal.h"
#include "threads/clock.h"

enum { THREADS = 8 };

static struct database db;
static struct principal team;
static pthread_barrier_t gate;

/* What one thread saw. */
struct witness {
    enum pv_code code;
    unsigned kind;
    char id[37];
};

static void run_together(void *(*body)(void *), struct witness witnesses[THREADS])
{
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&gate, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, body, &witnesses[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&gate);
}

static size_t count_kind(const struct witness witnesses[THREADS], unsigned kind)
{
    size_t n = 0;
    for (size_t i = 0; i < THREADS; i++)
        n += witnesses[i].code == PV_OK && witnesses[i].kind == kind;
    return n;
}

/* --- the same log, and the application it belongs to, from all threads --- */

static void *ingest(void *argument)
{
    struct witness *seen = argument;
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    const unsigned char digest[32] = {42};
    struct run run = database_log_run(&arena, "application_race", true);
    struct application application;
    struct run_insert insert = {.outcome = RUN_INSERTED};
    struct store_tx *tx = NULL;
    (void)pthread_barrier_wait(&gate);
    DO(store_begin(db.store, &team, "", STORE_WRITE, &tx, &err));
    DO(store_application_ensure(tx, &arena, "raced", &application, &err));
    DO(store_run_insert(tx, &arena, &application, digest, &run, &insert, &err));
    seen->code = store_commit(&tx, &err);
    seen->kind = insert.outcome;
    memcpy(seen->id, run.id, sizeof seen->id);
    arena_fini(&arena);
    return NULL;
}

static void the_same_log_from_all_threads_is_one_run(void)
{
    struct witness seen[THREADS] = {0};
    run_together(ingest, seen);
    CHECK(count_kind(seen, RUN_INSERTED) == 1);
    CHECK(count_kind(seen, RUN_UNCHANGED) == THREADS - 1);
    for (size_t i = 1; i < THREADS; i++)
        CHECK(strcmp(seen[0].id, seen[i].id) == 0);
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    struct store_tx *tx = NULL;
    struct application application;
    DO(store_begin(db.store, &team, "", STORE_READ, &tx, &err));
    DO(store_application_find(tx, &arena, "raced", &application, &err));
    CHECK(application.runs == 1 && application.history_version == 1);
    DO(store_commit(&tx, &err));
    arena_fini(&arena);
}

/* --- one idempotency key from all threads --- */

enum { CLAIMED = 1, REPLAYED = 2, TOLD_TO_WAIT = 3 };

static void *claim(void *argument)
{
    struct witness *seen = argument;
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    const unsigned char hash[32] = {1};
    enum idempotency_state state = IDEMPOTENCY_FRESH;
    struct idempotency_reply reply = {0};
    struct store_tx *tx = NULL;
    (void)pthread_barrier_wait(&gate);
    DO(store_begin(db.store, &team, "", STORE_WRITE, &tx, &err));
    enum pv_code code =
        store_idempotency_claim(tx, &arena, "POST", "/v1/x", "key", hash, &state, &reply, &err);
    if (code == PV_E_CONFLICT) {
        store_rollback(&tx);
        seen->kind = TOLD_TO_WAIT;
    } else if (code == PV_OK && state == IDEMPOTENCY_FRESH) {
        const struct timespec work = {.tv_nsec = 50000000};
        (void)nanosleep(&work, NULL);
        const struct idempotency_reply kept = {.status = 201, .body = strview_of("done")};
        DO(store_idempotency_keep(tx, "POST", "/v1/x", "key", &kept, &err));
        DO(store_commit(&tx, &err));
        seen->kind = CLAIMED;
    } else {
        CHECK(code == PV_OK && reply.status == 201 && strview_is(reply.body, "done"));
        DO(store_commit(&tx, &err));
        seen->kind = REPLAYED;
    }
    arena_fini(&arena);
    return NULL;
}

static void one_key_is_claimed_once(void)
{
    struct witness seen[THREADS] = {0};
    run_together(claim, seen);
    CHECK(count_kind(seen, CLAIMED) == 1);
    CHECK(count_kind(seen, REPLAYED) + count_kind(seen, TOLD_TO_WAIT) == THREADS - 1);
    run_together(claim, seen);
    CHECK(count_kind(seen, REPLAYED) == THREADS);
}

/* --- replicas that start together --- */

static void *migrate_too(void *argument)
{
    struct witness *seen = argument;
    struct pv_error err = {0};
    unsigned applied = 0;
    const struct store_migrate_options how = {
        .conninfo = db.owner_url, .lock_timeout_ms = 1000, .lock_wait_s = 60};
    (void)pthread_barrier_wait(&gate);
    seen->code = store_migrate(&how, &applied, &err);
    seen->kind = applied;
    return NULL;
}

static void replicas_may_migrate_together(void)
{
    struct witness seen[THREADS] = {0};
    run_together(migrate_too, seen);
    CHECK(count_kind(seen, 0) == THREADS);
    struct pv_error err = {0};
    DO(store_ready(db.store, NULL, &err));
}

/* --- more callers than connections --- */

static void *use_a_connection(void *argument)
{
    struct witness *seen = argument;
    struct pv_error err = {0};
    (void)pthread_barrier_wait(&gate);
    for (int i = 0; i < 20 && seen->code == PV_OK; i++)
        seen->code = store_ready(db.store, NULL, &err);
    return NULL;
}

static void callers_wait_for_a_free_connection(void)
{
    struct witness seen[THREADS] = {0};
    run_together(use_a_connection, seen);
    CHECK(count_kind(seen, 0) == THREADS);
    struct store_statistics now = store_statistics(db.store);
    CHECK(now.connections_in_use == 0 && now.connections_idle <= 3 && now.waiting == 0);
}

static void a_caller_who_waits_too_long_is_told_to_come_back(void)
{
    struct pv_error err = {0};
    struct store *small = NULL;
    DO(store_open(
        &(struct store_options){
            .conninfo = db.url, .connections_max = 1, .wait_ms = 50, .statement_timeout_ms = 1000},
        &small, &err));
    struct arena arena;
    arena_init(&arena, 0);
    struct store_tx *holder = NULL;
    struct application_list list;
    DO(store_begin(small, &team, "", STORE_READ, &holder, &err));
    DO(store_application_list(holder, &arena,
                              &(struct application_filter){
                                  .name_prefix = "", .name_contains = "", .after = "", .limit = 1},
                              &list, &err));
    REFUSES(PV_E_UNAVAILABLE, store_ready(small, NULL, &err));
    CHECK(err.retry_after_s > 0);
    DO(store_commit(&holder, &err));
    DO(store_ready(small, NULL, &err));
    arena_fini(&arena);
    store_close(small);
}

/* --- while nobody can connect --- */

/* libpq reads the file at each connection: without it there is none. */
static void write_service_file(const char *path)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(db.url, &why);
    FILE *file = fopen(path, "w");
    CHECK(options != NULL && file != NULL);
    CHECK(fputs("[races]\n", file) >= 0);
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
        if (o->val != NULL)
            CHECK(fprintf(file, "%s=%s\n", o->keyword, o->val) > 0);
    CHECK(fclose(file) == 0);
    PQconninfoFree(options);
}

/* One connection is in use throughout, so nobody fails at once; and nobody gives it back. */
static void a_caller_waits_no_longer_than_the_pause_after_a_failure(void)
{
    char path[] = "/tmp/provisor-races-XXXXXX";
    struct pv_error err = {0};
    struct store *two = NULL;
    PGconn *held = NULL;
    PGconn *late = NULL;
    int file = mkstemp(path);
    CHECK(file >= 0 && close(file) == 0 && setenv("PGSERVICEFILE", path, 1) == 0);
    write_service_file(path);
    DO(store_open(&(struct store_options){.conninfo = "service=races",
                                          .connections_max = 2,
                                          .wait_ms = 20000,
                                          .statement_timeout_ms = 1000},
                  &two, &err));
    DO(pool_acquire(two, &held, &err));
    CHECK(unlink(path) == 0);
    uint64_t before_ns = clock_monotonic_ns();
    for (int i = 0; i < 4; i++) /* each lengthens the pause, and waits for the end of the last */
        REFUSES(PV_E_UNAVAILABLE, pool_acquire(two, &late, &err));
    write_service_file(path);
    DO(pool_acquire(two, &late, &err));
    CHECK(clock_monotonic_ns() - before_ns < UINT64_C(10000000000));
    pool_release(two, late, true);
    pool_release(two, held, true);
    store_close(two);
    CHECK(unlink(path) == 0);
}

int main(void)
{
    db = database_open(3);
    team = database_team(&db, "races");
    the_same_log_from_all_threads_is_one_run();
    one_key_is_claimed_once();
    replicas_may_migrate_together();
    callers_wait_for_a_free_connection();
    a_caller_who_waits_too_long_is_told_to_come_back();
    a_caller_waits_no_longer_than_the_pause_after_a_failure();
    (void)puts("ok");
    database_close(&db);
    return 0;
}

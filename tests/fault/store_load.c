/*
 * store_load: threads that ingest logs and store advice, each with its key, asking again as
 * a client would while the answer is "unavailable", until standard input ends. Then everything that
 * was acknowledged must be there, once. Prints one JSON line of counts; what takes the database
 * away is somebody else.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "database.h"
#include "threads/clock.h"

enum { THREADS = 4, KEPT_MAX = 200000 };

static struct database db;
static struct principal team;
static atomic_bool stopping;

struct load {
    unsigned number;
    unsigned logs;        /* acknowledged */
    unsigned advice;      /* acknowledged */
    unsigned unavailable; /* answers that said to come back */
    unsigned resolved;    /* acknowledged only when asked again: the first answer was lost */
    char (*run_ids)[37];
    char (*advice_ids)[37];
};

static void rest(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* Only what a client may retry is forgiven. */
static void forgive(struct load *load, enum pv_code code, const struct pv_error *err)
{
    if (code != PV_E_UNAVAILABLE && code != PV_E_CONFLICT && code != PV_E_RETRY)
        database_fail(__FILE__, __LINE__, "an answer that is no outage", err);
    CHECK(code != PV_E_UNAVAILABLE || err->retry_after_s > 0);
    load->unavailable++;
    rest(20);
}

static enum pv_code
ingest_once(struct load *load, struct arena *arena, char id[37], struct pv_error *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "application_%u_%u", load->number, load->logs);
    const unsigned char digest[32] = {(unsigned char)load->number, (unsigned char)load->logs};
    struct run run = database_log_run(arena, name, true);
    struct application application;
    struct run_insert insert = {.outcome = RUN_INSERTED};
    struct store_tx *tx = NULL;
    enum pv_code code = store_begin(db.store, &team, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_application_ensure(tx, arena, "loaded", &application, err);
    if (code == PV_OK)
        code = store_run_insert(tx, arena, &application, digest, &run, &insert, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    load->resolved += code == PV_OK && insert.outcome == RUN_UNCHANGED;
    memcpy(id, run.id, sizeof run.id);
    return code;
}

static enum pv_code
advise_once(struct load *load, struct arena *arena, char id[37], struct pv_error *err)
{
    char key[64];
    (void)snprintf(key, sizeof key, "advice-%u-%u", load->number, load->advice);
    const unsigned char hash[32] = {7};
    struct advice_row advice = {.feasible = true,
                                .executors = 3,
                                .predicted_duration_s = 1.5,
                                .deadline_s = (double)NAN,
                                .request = strview_of("{}"),
                                .document = strview_of("{\"a\": 1}")};
    clock_uuid7(advice.id);
    enum idempotency_state state = IDEMPOTENCY_FRESH;
    struct idempotency_reply reply = {.status = 201, .body = strview_of(advice.id)};
    struct store_tx *tx = NULL;
    enum pv_code code = store_begin(db.store, &team, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_idempotency_claim(tx, arena, "POST", "/v1/advice", key, hash, &state, &reply,
                                       err);
    if (code == PV_OK && state == IDEMPOTENCY_FRESH) {
        code = store_idempotency_keep(tx, "POST", "/v1/advice", key, &reply, err);
        if (code == PV_OK)
            code = store_advice_insert_commit(&tx, &advice, strview_of("{}"), err);
    } else if (code == PV_OK) {
        load->resolved++;
    }
    store_rollback(&tx);
    if (code == PV_OK)
        (void)snprintf(id, 37, "%.*s", (int)reply.body.n, reply.body.at);
    return code;
}

static void *run_load(void *argument)
{
    struct load *load = argument;
    while (!atomic_load(&stopping) && load->logs < KEPT_MAX && load->advice < KEPT_MAX) {
        struct arena arena;
        struct pv_error err = {0};
        arena_init(&arena, 0);
        enum pv_code code = ingest_once(load, &arena, load->run_ids[load->logs], &err);
        if (code == PV_OK)
            load->logs++;
        else
            forgive(load, code, &err);
        pv_error_clear(&err);
        code = advise_once(load, &arena, load->advice_ids[load->advice], &err);
        if (code == PV_OK)
            load->advice++;
        else
            forgive(load, code, &err);
        arena_fini(&arena);
    }
    return NULL;
}

/* How many of the team's advice there are, walked page by page. */
static size_t count_advice(struct store_tx *tx, struct arena *arena)
{
    struct pv_error err = {0};
    struct advice_filter filter = {.since_us = RUN_NO_INSTANT,
                                   .until_us = RUN_NO_INSTANT,
                                   .feasible = RUN_UNKNOWN,
                                   .before_us = RUN_NO_INSTANT,
                                   .limit = 500};
    struct advice_list list;
    size_t n = 0;
    do {
        DO(store_advice_list(tx, arena, &filter, &list, &err));
        n += list.n;
        if (list.n > 0) {
            filter.before_us = list.items[list.n - 1].created_us;
            memcpy(filter.before_id, list.items[list.n - 1].id, sizeof filter.before_id);
        }
    } while (list.more);
    return n;
}

static void verify(const struct load loads[THREADS])
{
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    struct store_tx *tx = NULL;
    struct application application;
    DO(store_begin(db.store, &team, "", STORE_READ, &tx, &err));
    DO(store_application_find(tx, &arena, "loaded", &application, &err));
    size_t logs = 0;
    size_t advice = 0;
    for (size_t t = 0; t < THREADS; t++) {
        struct run run;
        struct advice_row row;
        logs += loads[t].logs;
        advice += loads[t].advice;
        for (size_t i = 0; i < loads[t].logs; i++)
            DO(store_run_find(tx, &arena, "loaded", loads[t].run_ids[i], 0, &run, NULL, &err));
        for (size_t i = 0; i < loads[t].advice; i++)
            DO(store_advice_find(tx, &arena, loads[t].advice_ids[i], &row, &err));
    }
    /* A last request of each thread may have been carried out and its answer lost. */
    size_t there = count_advice(tx, &arena);
    CHECK((size_t)application.runs >= logs && (size_t)application.runs <= logs + THREADS);
    CHECK(there >= advice && there <= advice + THREADS);
    DO(store_commit(&tx, &err));
    arena_fini(&arena);
}

int main(void)
{
    db = database_open(THREADS);
    team = database_team(&db, "load");
    struct load loads[THREADS] = {0};
    pthread_t threads[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        loads[t] = (struct load){.number = t,
                                 .run_ids = calloc(KEPT_MAX + 1, 37),
                                 .advice_ids = calloc(KEPT_MAX + 1, 37)};
        CHECK(loads[t].run_ids != NULL && loads[t].advice_ids != NULL);
        CHECK(pthread_create(&threads[t], NULL, run_load, &loads[t]) == 0);
    }
    (void)puts("loading");
    (void)fflush(stdout);
    while (getchar() != EOF) {
    }
    atomic_store(&stopping, true);
    struct load sum = {0};
    for (unsigned t = 0; t < THREADS; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
        sum.logs += loads[t].logs;
        sum.advice += loads[t].advice;
        sum.unavailable += loads[t].unavailable;
        sum.resolved += loads[t].resolved;
    }
    verify(loads);
    struct store_statistics pool = store_statistics(db.store);
    (void)printf("{\"logs\": %u, \"advice\": %u, \"unavailable\": %u, \"resolved\": %u,"
                 " \"connects\": %llu, \"connect_failures\": %llu}\n",
                 sum.logs, sum.advice, sum.unavailable, sum.resolved,
                 (unsigned long long)pool.connects, (unsigned long long)pool.connect_failures);
    for (unsigned t = 0; t < THREADS; t++) {
        free(loads[t].run_ids);
        free(loads[t].advice_ids);
    }
    database_close(&db);
    return 0;
}

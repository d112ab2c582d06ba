/*
 * Calls of the store on a real PostgreSQL with the k-th allocation failing, for k = 1, 2, ... until
 * the call is through: it answers PV_E_MEMORY, gives back what it held, and its transaction leaves
 * nothing behind. Each time on a connection of its own, so that connecting is part of it.
 */
#include <math.h>
#include <string.h>

#include "database.h"
#include "failing_malloc.h"
#include "store/advice/accuracy.h"
#include "store/advice/team_accuracy.h"
#include "store/clusters/cluster.h"
#include "store/clusters/price_book.h"
#include "store/clusters/reference.h"
#include "store/history/name_rules.h"
#include "store/history/run_arrivals.h"
#include "store/history/run_import.h"
#include "store/history/run_measured.h"
#include "store/models/application_model.h"
#include "store/operations/operation.h"
#include "store/workloads/workload.h"
#include "threads/clock.h"

static struct database db;
static struct principal who;
static struct application there; /* with a run that names advice, and one of a log */
static struct run log_input;     /* to import */
static struct run input;         /* to insert */
static struct arena input_arena;
static char operation_id[37];

typedef enum pv_code (*call)(struct store_tx *tx, struct arena *arena, struct pv_error *err);

/* --- calls --- */

static enum pv_code applications(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct run_label labels[] = {{{"k", 1}, {"v", 1}}};
    struct application made = {.name = strview_of("made"),
                               .labels = labels,
                               .n_labels = 1,
                               .retention_days = RUN_UNKNOWN,
                               .retention_runs = RUN_UNKNOWN};
    struct application shown;
    const struct application_change change = {.has_description = true,
                                              .to = {.description = strview_of("d")}};
    const struct application_filter filter = {.name_prefix = "",
                                              .name_contains = "",
                                              .after = "",
                                              .before_us = RUN_NO_INSTANT,
                                              .limit = 10};
    struct application_list list;
    PV_TRY(store_application_insert(tx, arena, &made, err));
    PV_TRY(store_application_show(tx, arena, "made", &shown, err));
    PV_TRY(store_application_update(tx, arena, "made", RUN_UNKNOWN, &change, &shown, err));
    PV_TRY(store_application_list(tx, arena, &filter, &list, err));
    PV_TRY(store_application_load_latest(tx, arena, list.items, list.n,
                                         APPLICATION_LAST_RUN | APPLICATION_LAST_ADVICE, err));
    return store_application_delete(tx, "made", RUN_UNKNOWN, err);
}

static enum pv_code insert_run(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct run run = input;
    struct run_insert insert;
    struct strview name;
    run.id[0] = '\0';
    PV_TRY(store_run_insert(tx, arena, &there, NULL, &run, &insert, err));
    return store_run_find(tx, arena, there.name.at, run.id, RUN_WITH_STAGES | RUN_WITH_TASKS, &run,
                          &name, err);
}

static enum pv_code import(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct run run = log_input;
    struct run_import items[] = {{.run = &run}};
    PV_TRY(store_run_import_begin(tx, &there, err));
    PV_TRY(store_run_import_find(tx, arena, &there, items, 1, err));
    return items[0].n_known == 0 || items[0].known[0].log_digest.at == NULL ? PV_E_INTERNAL : PV_OK;
}

static enum pv_code list_runs(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    const struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                      .until_us = RUN_NO_INSTANT,
                                      .before_us = RUN_NO_INSTANT,
                                      .limit = 10,
                                      .with = RUN_WITH_STAGES | RUN_WITH_TASKS,
                                      .stages_most = 1000,
                                      .tasks_most = 1000};
    struct run_list list;
    struct missing_counts missing;
    PV_TRY(store_run_list(tx, arena, &there, &filter, &list, err));
    PV_TRY(store_run_nearest(tx, arena, &there, 8, true, 10, &list, err));
    return store_run_missing_counts(tx, &there, &missing, err);
}

static enum pv_code observe(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct run_observations observations;
    struct run_measured_list measured;
    PV_TRY(store_run_observations(tx, arena, there.id, 10, &observations, err));
    return store_run_measured(tx, arena, there.id, 10, NULL, 0, &measured, err);
}

static enum pv_code advice(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    const struct advice_filter filter = {.since_us = RUN_NO_INSTANT,
                                         .until_us = RUN_NO_INSTANT,
                                         .before_us = RUN_NO_INSTANT,
                                         .feasible = RUN_UNKNOWN,
                                         .limit = 10};
    const struct accuracy_filter accuracy = {.before_us = RUN_NO_INSTANT, .limit = 10};
    struct advice_list list;
    struct advice_row row;
    struct accuracy_list compared;
    struct team_accuracy team;
    PV_TRY(store_advice_list(tx, arena, &filter, &list, err));
    PV_TRY(store_advice_find(tx, arena, list.items[0].id, &row, err));
    PV_TRY(store_accuracy_list(tx, arena, &there, &accuracy, &compared, err));
    return store_team_accuracy(tx, arena, RUN_NO_INSTANT, RUN_NO_INSTANT, &team, err);
}

static enum pv_code access(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct token token = {
        .name = strview_of("ci"), .scopes = 1, .hash = {4}, .expires_us = RUN_NO_INSTANT};
    struct token_list tokens;
    struct audit_list audit;
    PV_TRY(store_token_insert(tx, &token, err));
    PV_TRY(store_token_list(tx, arena, "", 10, &tokens, err));
    PV_TRY(store_token_revoke(tx, token.id, err));
    return store_audit_list(tx, arena, "", 10, &audit, err);
}

static enum pv_code clusters(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct price_row rows[] = {
        {.machine_type = strview_of("m"), .price = price_of_executors(1, (double)NAN, (double)NAN)},
        {.cluster = strview_of("eu"), .price = price_of_executors(2, 1, 0.5)}};
    struct price_book book = {.name = strview_of("book"),
                              .currency = strview_of("EUR"),
                              .row_count = 2,
                              .rows = rows,
                              .n_rows = 2};
    struct run_label labels[] = {{{"k", 1}, {"v", 1}}};
    struct cluster cluster = {.name = strview_of("eu"),
                              .labels = labels,
                              .n_labels = 1,
                              .traits = {.executors = 4,
                                         .cores_per_executor = 2,
                                         .memory_bytes_per_executor = 8,
                                         .slots = 4,
                                         .slot_s = 1}};
    const struct cluster_filter filter = {.labels = labels, .n_labels = 1};
    struct cluster_list clusters_found;
    struct price_book_list books;
    struct price_book found_book;
    struct reference_list references;
    bool found;
    PV_TRY(store_registry_lock(tx, err));
    PV_TRY(store_price_book_insert(tx, arena, 10, &book, err));
    memcpy(cluster.price_book_id, book.id, sizeof cluster.price_book_id);
    PV_TRY(store_cluster_insert(tx, arena, 10, &cluster, err));
    PV_TRY(store_cluster_update(tx, arena, &cluster, err));
    PV_TRY(store_price_book_look(tx, arena, "book", true, &found_book, &found, err));
    PV_TRY(store_cluster_list(tx, arena, &filter, "", 10, &clusters_found, err));
    PV_TRY(store_price_book_list(tx, arena, NULL, "", 10, &books, err));
    return store_reference_list(tx, arena, REFERENCE_TO_PRICE_BOOK, book.id, 10, &references, err);
}

static enum pv_code operations(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    const struct operation_row wanted = {.kind = strview_of("refit"), .request = strview_of("{}")};
    const struct operation_filter filter = {.since_us = RUN_NO_INSTANT,
                                            .until_us = RUN_NO_INSTANT,
                                            .before_us = RUN_NO_INSTANT,
                                            .limit = 10};
    struct operation_row operation = wanted;
    struct operation_list list;
    struct operation_event *events;
    size_t n;
    bool changed;
    clock_uuid7(operation.id);
    PV_TRY(store_operation_insert(tx, &operation, 1000, err));
    PV_TRY(store_operation_find(tx, arena, operation_id, &operation, err));
    PV_TRY(store_operation_list(tx, arena, &filter, &list, err));
    PV_TRY(store_operation_cancel(tx, arena, operation_id, 60, &operation, &changed, err));
    return store_operation_events(tx, arena, operation_id, 0, 10, &events, &n, err);
}

static enum pv_code keys(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    static const unsigned char hash[32] = {1};
    const struct idempotency_reply reply = {201, strview_of("application/json"),
                                            strview_of("/v1/x"), strview_of("{}")};
    struct idempotency_reply kept;
    enum idempotency_state state;
    PV_TRY(store_idempotency_claim(tx, arena, "POST", "/v1/x", "k", hash, &state, &kept, err));
    PV_TRY(store_idempotency_keep(tx, "POST", "/v1/x", "k", &reply, err));
    return store_idempotency_find(tx, arena, "POST", "/v1/x", "k", hash, &state, &kept, err);
}

static enum pv_code rules(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    const struct name_rule made[] = {
        {.name = strview_of("r"), .pattern = strview_of("a-.*"), .application = strview_of("a")}};
    struct name_rules found;
    PV_TRY(store_name_rules_set(tx, made, 1, RUN_UNKNOWN, err));
    return store_name_rules_get(tx, arena, &found, err);
}

static enum pv_code workloads(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    const struct workload_room room = {.workloads = 10, .bytes = 1000};
    struct workload_record record = {.name = strview_of("w"),
                                     .jobs = 1,
                                     .tasks = 1,
                                     .runs = 1,
                                     .chunks = 1,
                                     .bytes = 5,
                                     .summary = strview_of("{}")};
    struct workload_page page;
    struct strview content;
    clock_uuid7(record.id);
    PV_TRY(store_workload_append(tx, record.id, 0, strview_of("chunk"), err));
    PV_TRY(store_workload_finish(tx, arena, &room, &record, err));
    PV_TRY(store_workload_find(tx, arena, record.id, &record, err));
    PV_TRY(store_workload_list(tx, arena, "", 10, &page, err));
    PV_TRY(store_workload_chunk(tx, arena, record.id, 0, &content, err));
    return store_workload_delete(tx, record.id, err);
}

static enum pv_code arrivals(struct store_tx *tx, struct arena *arena, struct pv_error *err)
{
    struct run_application of;
    const struct run_arrivals_filter filter = {.applications = &of,
                                               .n_applications = 1,
                                               .since_us = RUN_NO_INSTANT,
                                               .until_us = RUN_NO_INSTANT,
                                               .after_us = RUN_NO_INSTANT,
                                               .limit = 10,
                                               .tasks_most = 1000};
    struct run_arrivals page;
    memcpy(of.id, there.id, sizeof of.id);
    return store_run_arrivals(tx, arena, &filter, &page, err);
}

/* --- each of them --- */

static enum pv_code attempt(void *context)
{
    const struct store_options options = {
        .conninfo = db.url, .connections_max = 1, .wait_ms = 5000, .statement_timeout_ms = 10000};
    struct pv_error err = {0};
    struct arena arena;
    struct store *store;
    PV_TRY(store_open(&options, &store, &err));
    struct store_tx *tx = NULL;
    arena_init(&arena, 0);
    enum pv_code code = store_begin(store, &who, "req-1", STORE_WRITE, &tx, &err);
    if (code == PV_OK)
        code = (*(const call *)context)(tx, &arena, &err);
    store_rollback(&tx);
    arena_fini(&arena);
    store_close(store);
    return code;
}

static enum pv_code look_up(void *context)
{
    const struct store_options options = {
        .conninfo = db.url, .connections_max = 1, .wait_ms = 5000, .statement_timeout_ms = 10000};
    struct pv_error err = {0};
    struct token token;
    unsigned char key[32];
    struct arena arena;
    (void)context;
    struct store *store;
    PV_TRY(store_open(&options, &store, &err));
    arena_init(&arena, 0);
    enum pv_code code = store_token_lookup(store, &arena, who.token_id, &token, NULL, &err);
    if (code == PV_OK)
        code = store_service_key(store, key, &err);
    arena_fini(&arena);
    store_close(store);
    return code;
}

static void prepare(void)
{
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    static const unsigned char digest[32] = {7};
    struct run_insert insert;
    struct advice_row made = {.application_name = strview_of("there"),
                              .objective = strview_of("min_time"),
                              .executors = 2,
                              .predicted_duration_s = 100,
                              .lower_s = 50,
                              .upper_s = 200,
                              .confidence = 0.9,
                              .problem_size = (double)NAN,
                              .cores_per_executor = RUN_UNKNOWN,
                              .deadline_s = (double)NAN,
                              .deadline_probability = (double)NAN,
                              .request = strview_of("{}"),
                              .document = strview_of("{}")};
    struct operation_row operation = {.kind = strview_of("refit"), .request = strview_of("{}")};
    clock_uuid7(made.id);
    clock_uuid7(operation.id);
    memcpy(operation_id, operation.id, sizeof operation_id);
    DO(store_begin(db.store, &who, "req-1", STORE_WRITE, &tx, &err));
    DO(store_application_ensure(tx, &input_arena, "there", &there, &err));
    DO(store_operation_insert(tx, &operation, 10, &err));
    memcpy(made.application_id, there.id, sizeof made.application_id);
    DO(store_advice_insert_commit(&tx, &made, strview_of("{}"), &err));
    struct run run = database_run(&input_arena, 8, 2);
    memcpy(run.advice_id, made.id, sizeof run.advice_id);
    DO(store_begin(db.store, &who, "req-1", STORE_WRITE, &tx, &err));
    DO(store_run_insert(tx, &input_arena, &there, NULL, &run, &insert, &err));
    run = database_log_run(&input_arena, "app-1", true);
    DO(store_run_insert(tx, &input_arena, &there, digest, &run, &insert, &err));
    DO(store_commit(&tx, &err));
    input = database_run(&input_arena, 8, 4);
    log_input = database_log_run(&input_arena, "app-1", true);
}

int main(void)
{
    static const struct {
        const char *name;
        call call;
    } calls[] = {{"applications", applications},
                 {"insert_run", insert_run},
                 {"import", import},
                 {"list_runs", list_runs},
                 {"observe", observe},
                 {"advice", advice},
                 {"access", access},
                 {"clusters", clusters},
                 {"operations", operations},
                 {"keys", keys},
                 {"rules", rules},
                 {"workloads", workloads},
                 {"arrivals", arrivals}};
    bool good = true;
    db = database_open(2);
    who = database_team(&db, "memory");
    arena_init(&input_arena, 0);
    prepare();
    for (size_t i = 0; i <= sizeof calls / sizeof calls[0]; i++) {
        bool last = i == sizeof calls / sizeof calls[0];
        call one = last ? NULL : calls[i].call;
        enum pv_code whole = last ? look_up(NULL) : attempt(&one);
        long n = failing_malloc_run(last ? look_up : attempt, &one, PV_E_MEMORY, 1);
        bool passed = whole == PV_OK && n > 5;
        good = good && passed;
        (void)printf("%s %zu - %s: %ld allocations %s\n", passed ? "ok" : "not ok", i + 1,
                     last ? "look_up" : calls[i].name, n, n < 0 ? failing_malloc_complaint() : "");
    }
    arena_fini(&input_arena);
    database_close(&db);
    return good ? 0 : 1;
}

/* Proves on a real PostgreSQL that a workload comes back as it was, whole or not at all, and that runs come in the order of their
 * arrival, a page at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "store/history/run_arrivals.h"
#include "store/workloads/workload.h"
#include "threads/clock.h"

static struct database db;
static struct pv_error err;

static const struct workload_room room = {.workloads = 2, .bytes = 1000};

static struct store_tx *begin(const struct principal *who, enum store_mode mode)
{
    struct store_tx *tx = NULL;
    DO(store_begin(db.store, who, "req-1", mode, &tx, &err));
    return tx;
}

static struct workload_record some_workload(void)
{
    struct workload_record record = {.name = strview_of("nightly/é"),
                                     .origin = WORKLOAD_SWIM,
                                     .jobs = 7,
                                     .tasks = 60,
                                     .reduce_tasks = 20,
                                     .runs = 30,
                                     .reduce_runs = 3,
                                     .name_bytes = 35,
                                     .chunks = 2,
                                     .bytes = 400,
                                     .sorted = true,
                                     .law_jobs = 5,
                                     .law_seconds_per_byte = 1.0 / 3,
                                     .law_log_r_squared = 0.25,
                                     .law_r_squared = 0.9,
                                     .law_without_input_s = (double)NAN,
                                     .summary = strview_of("{\"work_s\": 1.50}")};
    clock_uuid7(record.id);
    return record;
}

/* With its two chunks, in the transaction. */
static struct workload_record insert(struct store_tx *tx, struct arena *arena)
{
    struct workload_record record = some_workload();
    DO(store_workload_append(tx, record.id, 0, (struct strview){"\0\xff", 2}, &err));
    DO(store_workload_append(tx, record.id, 1, strview_of("second"), &err));
    DO(store_workload_finish(tx, arena, &room, &record, &err));
    return record;
}

static void check_same(const struct workload_record *a, const struct workload_record *b)
{
    CHECK(strcmp(a->id, b->id) == 0 && strview_equal(a->name, b->name) && a->origin == b->origin);
    CHECK(a->jobs == b->jobs && a->tasks == b->tasks && a->reduce_tasks == b->reduce_tasks);
    CHECK(a->runs == b->runs && a->reduce_runs == b->reduce_runs);
    CHECK(a->name_bytes == b->name_bytes && a->chunks == b->chunks && a->bytes == b->bytes);
    CHECK(a->sorted == b->sorted && a->law_jobs == b->law_jobs);
    CHECK(memcmp(&a->law_seconds_per_byte, &b->law_seconds_per_byte, sizeof(double)) == 0);
    CHECK(memcmp(&a->law_r_squared, &b->law_r_squared, sizeof(double)) == 0);
    CHECK(memcmp(&a->law_log_r_squared, &b->law_log_r_squared, sizeof(double)) == 0);
    CHECK(isnan(b->law_without_input_s) && strview_equal(a->summary, b->summary));
}

static void a_workload_comes_back_as_it_was(struct arena *arena)
{
    struct principal who = database_team(&db, "workloads");
    struct store_tx *tx = begin(&who, STORE_WRITE);
    struct workload_record made = insert(tx, arena), found, wanted = some_workload();
    struct strview content;
    CHECK(made.created_us > 0);
    DO(store_commit(&tx, &err));
    tx = begin(&who, STORE_READ);
    DO(store_workload_find(tx, arena, made.id, &found, &err));
    check_same(&made, &found);
    memcpy(wanted.id, found.id, sizeof wanted.id);
    check_same(&wanted, &found);
    DO(store_workload_chunk(tx, arena, made.id, 0, &content, &err));
    CHECK(content.n == 2 && memcmp(content.at, "\0\xff", 2) == 0);
    DO(store_workload_chunk(tx, arena, made.id, 1, &content, &err));
    CHECK(strview_is(content, "second"));
    REFUSES(PV_E_NOT_FOUND, store_workload_chunk(tx, arena, made.id, 2, &content, &err));
    store_rollback(&tx);

    struct principal other = database_team(&db, "stranger");
    tx = begin(&other, STORE_WRITE);
    REFUSES(PV_E_NOT_FOUND, store_workload_find(tx, arena, made.id, &found, &err));
    REFUSES(PV_E_NOT_FOUND, store_workload_chunk(tx, arena, made.id, 0, &content, &err));
    REFUSES(PV_E_NOT_FOUND, store_workload_delete(tx, made.id, &err));
    store_rollback(&tx);

    tx = begin(&who, STORE_WRITE);
    DO(store_workload_delete(tx, made.id, &err));
    DO(store_commit(&tx, &err));
    tx = begin(&who, STORE_READ);
    REFUSES(PV_E_NOT_FOUND, store_workload_chunk(tx, arena, made.id, 0, &content, &err));
    store_rollback(&tx);
}

static void chunks_without_their_workload_are_not_committed(struct arena *arena)
{
    struct principal who = database_team(&db, "halves");
    struct store_tx *tx = begin(&who, STORE_WRITE);
    struct workload_page page;
    DO(store_workload_append(tx, some_workload().id, 0, strview_of("alone"), &err));
    REFUSES(PV_E_INVALID, store_commit(&tx, &err));
    tx = begin(&who, STORE_READ);
    DO(store_workload_list(tx, arena, "", 10, &page, &err));
    CHECK(page.n == 0 && !page.more);
    store_rollback(&tx);
}

static void a_team_has_room_for_so_many(struct arena *arena)
{
    struct principal who = database_team(&db, "room");
    struct store_tx *tx = begin(&who, STORE_WRITE);
    struct workload_record first = insert(tx, arena);
    struct workload_page page;
    DO(store_workload_check_room(tx, &room, 600, &err));
    REFUSES(PV_E_LIMIT, store_workload_check_room(tx, &room, 601, &err));
    CHECK(strstr(err.detail, "1001 bytes") != NULL && strstr(err.detail, "1000") != NULL);
    struct workload_record second = insert(tx, arena), third = some_workload();
    REFUSES(PV_E_LIMIT, store_workload_finish(tx, arena, &room, &third, &err));
    CHECK(strstr(err.detail, "2 workloads already") != NULL);
    DO(store_workload_list(tx, arena, "", 1, &page, &err));
    CHECK(page.n == 1 && page.more && strcmp(page.items[0].id, first.id) == 0);
    DO(store_workload_list(tx, arena, first.id, 1, &page, &err));
    CHECK(page.n == 1 && !page.more && strcmp(page.items[0].id, second.id) == 0);
    store_rollback(&tx);
}

/* --- arrivals --- */

enum { APPLICATIONS = 3, RUNS = 12 };

static void
insert_runs(const struct principal *who, struct arena *arena, struct run_application applications[])
{
    static const char *const names[APPLICATIONS] = {"a", "b", "c"};
    struct store_tx *tx = begin(who, STORE_WRITE);
    for (int i = 0; i < RUNS; i++) {
        struct application application;
        struct run run = database_run(arena, 8, 2);
        struct run_insert insert;
        run.started_us = INT64_C(1000000000) * (i / 2); /* pairs arrive together */
        run.succeeded = i != 5;
        DO(store_application_ensure(tx, arena, names[i % APPLICATIONS], &application, &err));
        memcpy(applications[i % APPLICATIONS].id, application.id, sizeof application.id);
        DO(store_run_insert(tx, arena, &application, NULL, &run, &insert, &err));
    }
    DO(store_commit(&tx, &err));
}

static void runs_come_in_the_order_of_their_arrival(struct arena *arena)
{
    struct principal who = database_team(&db, "arrivals");
    struct run_application applications[APPLICATIONS];
    size_t seen = 0, of[APPLICATIONS] = {0};
    insert_runs(&who, arena, applications);
    struct run_arrivals_filter filter = {.applications = applications,
                                         .n_applications = APPLICATIONS,
                                         .since_us = RUN_NO_INSTANT,
                                         .until_us = RUN_NO_INSTANT,
                                         .after_us = RUN_NO_INSTANT,
                                         .limit = 5,
                                         .tasks_most = 1000000};
    struct run_arrivals page = {.more = true};
    struct store_tx *tx = begin(&who, STORE_READ);
    while (page.more) {
        DO(store_run_arrivals(tx, arena, &filter, &page, &err));
        for (size_t i = 0; i < page.n; i++, seen++) {
            const struct run_arrival *run = &page.items[i];
            CHECK(run->instant_us == INT64_C(1000000000) * (int64_t)(seen / 2) && run->submitted);
            CHECK(run->succeeded ? run->n_stages == 3 && run->stages[0].task_durations_s != NULL
                                 : run->n_stages == 0);
            of[run->application]++;
            filter.after_us = run->instant_us;
            memcpy(filter.after_id, run->id, sizeof filter.after_id);
        }
    }
    CHECK(seen == RUNS && of[0] == 4 && of[1] == 4 && of[2] == 4);
    store_rollback(&tx);
}

static void a_page_of_arrivals_is_bounded(struct arena *arena)
{
    struct principal who = database_team(&db, "pages of arrivals");
    struct run_application applications[APPLICATIONS];
    insert_runs(&who, arena, applications);
    struct run_arrivals_filter filter = {.applications = applications,
                                         .n_applications = 1,
                                         .since_us = 1000000000,
                                         .until_us = INT64_C(4000000000),
                                         .after_us = RUN_NO_INSTANT,
                                         .limit = 5,
                                         .tasks_most = 1};
    struct run_arrivals page;
    struct store_tx *tx = begin(&who, STORE_READ);
    DO(store_run_arrivals(tx, arena, &filter, &page, &err));
    CHECK(page.n == 1 && page.more && page.items[0].instant_us == 1000000000);
    filter.after_us = page.items[0].instant_us;
    memcpy(filter.after_id, page.items[0].id, sizeof filter.after_id);
    DO(store_run_arrivals(tx, arena, &filter, &page, &err));
    CHECK(page.n == 1 && !page.more && page.items[0].instant_us == INT64_C(3000000000));
    filter.since_us = filter.after_us = INT64_C(90000000000);
    DO(store_run_arrivals(tx, arena, &filter, &page, &err));
    CHECK(page.n == 0 && !page.more);
    store_rollback(&tx);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(struct arena *arena);
    } tests[] = {
        {"a workload comes back as it was", a_workload_comes_back_as_it_was},
        {"chunks without their workload are not committed",
         chunks_without_their_workload_are_not_committed},
        {"a team has room for so many", a_team_has_room_for_so_many},
        {"runs come in the order of their arrival", runs_come_in_the_order_of_their_arrival},
        {"a page of arrivals is bounded", a_page_of_arrivals_is_bounded},
    };
    db = database_open(4);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        tests[i].run(&arena);
        arena_fini(&arena);
        (void)printf("ok %zu - %s\n", i + 1, tests[i].name);
    }
    database_close(&db);
    return 0;
}

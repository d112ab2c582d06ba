/* Long work in the table: quotas, fences and who wins between an end and a cancellation. */
#include "store/operations/operation.h"

#include <pthread.h>
#include <string.h>

#include "database.h"
#include "threads/clock.h"

enum { QUOTA = 5, THREADS = 12, LEASE_MS = 60000, KEEP_S = 60 };

static struct database db;
static const struct strview kinds[] = {{"unit", 4}};
static const struct operation_claim any = {
    .worker = "unit", .kinds = kinds, .n_kinds = 1, .lease_ms = LEASE_MS, .team_running_max = 1000};
static const struct strview done = {"{\"done\":true}", 13};

static enum pv_code submit(const struct principal *team, char id[37], struct pv_error *err)
{
    struct store_tx *tx = NULL;
    struct operation_row row = {.kind = kinds[0], .request = {"{}", 2}};
    clock_uuid7(row.id);
    memcpy(id, row.id, sizeof row.id);
    enum pv_code code = store_begin(db.store, team, "r", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_insert(tx, &row, QUOTA, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

/* Other programs' operations of this kind may lie there: what is claimed must be ours. */
static struct operation_key claim(const struct principal *team, const char *id)
{
    struct pv_error err = {0};
    struct operation_key key = {.attempt = 0};
    struct arena arena;
    bool taken = true;
    arena_init(&arena, 0);
    while (taken && strcmp(key.id, id) != 0)
        DO(store_operation_claim(db.store, &arena, &any, &key, &taken, &err));
    CHECK(taken && strcmp(key.team_id, team->team_id) == 0);
    arena_fini(&arena);
    return key;
}

static enum pv_code finish(const struct principal *team,
                           const struct operation_key *key,
                           enum operation_status status,
                           struct pv_error *err)
{
    struct store_tx *tx = NULL;
    const struct operation_end end = {
        .status = status,
        .result = status == OPERATION_SUCCEEDED ? done : (struct strview){NULL, 0},
        .event = {"{}", 2},
        .done = 3,
        .total = 7,
        .unit = {"steps", 5},
        .keep_s = KEEP_S};
    enum pv_code code = store_begin(db.store, team, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_finish(tx, key, &end, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

static enum pv_code give_back(const struct principal *team,
                              const struct operation_key *key,
                              bool loss,
                              struct pv_error *err)
{
    struct store_tx *tx = NULL;
    enum pv_code code = store_begin(db.store, team, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_operation_requeue(tx, key, loss, false, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

static struct operation_row
find(const struct principal *team, struct arena *arena, const char *id, bool cancel)
{
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    struct operation_row row;
    bool changed = false;
    DO(store_begin(db.store, team, "", cancel ? STORE_WRITE : STORE_READ, &tx, &err));
    if (cancel)
        DO(store_operation_cancel(tx, arena, id, KEEP_S, &row, &changed, &err));
    else
        DO(store_operation_find(tx, arena, id, &row, &err));
    DO(store_commit(&tx, &err));
    return row;
}

/* --- */

static struct principal crowd;

static void *submit_one(void *argument)
{
    struct pv_error err = {0};
    char id[37];
    *(enum pv_code *)argument = submit(&crowd, id, &err);
    CHECK(*(enum pv_code *)argument != PV_E_QUOTA || err.retry_after_s > 0);
    return NULL;
}

static void a_team_queues_as_many_as_it_may_whoever_asks_at_once(void)
{
    pthread_t threads[THREADS];
    enum pv_code codes[THREADS];
    size_t queued = 0;
    crowd = database_team(&db, "operation crowd");
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, submit_one, &codes[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        queued += codes[i] == PV_OK;
        CHECK(codes[i] == PV_OK || codes[i] == PV_E_QUOTA);
    }
    CHECK(queued == QUOTA);
}

static void an_attempt_that_lost_its_hold_writes_nothing(void)
{
    struct pv_error err = {0};
    struct principal team = database_team(&db, "operation fence");
    struct arena arena;
    char id[37];
    arena_init(&arena, 0);
    DO(submit(&team, id, &err));
    struct operation_key first = claim(&team, id);
    DO(give_back(&team, &first, false, &err));
    REFUSES(PV_E_LEASE_LOST, finish(&team, &first, OPERATION_SUCCEEDED, &err));
    struct operation_key second = claim(&team, id);
    CHECK(second.attempt == first.attempt + 1);
    REFUSES(PV_E_LEASE_LOST, finish(&team, &first, OPERATION_SUCCEEDED, &err));
    REFUSES(PV_E_LEASE_LOST, give_back(&team, &first, true, &err));
    DO(finish(&team, &second, OPERATION_SUCCEEDED, &err));
    REFUSES(PV_E_LEASE_LOST, finish(&team, &second, OPERATION_SUCCEEDED, &err));
    struct operation_row row = find(&team, &arena, id, false);
    CHECK(row.status == OPERATION_SUCCEEDED && strview_equal(row.result, done));
    CHECK(row.done == 7 && row.total == 7 && row.losses == 0);
    arena_fini(&arena);
}

static void who_is_cancelled_cannot_succeed_any_more(void)
{
    struct pv_error err = {0};
    struct principal team = database_team(&db, "operation cancel");
    struct arena arena;
    char id[37];
    arena_init(&arena, 0);
    DO(submit(&team, id, &err));
    struct operation_key key = claim(&team, id);
    CHECK(find(&team, &arena, id, true).status == OPERATION_RUNNING);
    REFUSES(PV_E_CANCELLED, finish(&team, &key, OPERATION_SUCCEEDED, &err));
    DO(finish(&team, &key, OPERATION_CANCELLED, &err));
    struct operation_row row = find(&team, &arena, id, false);
    CHECK(row.status == OPERATION_CANCELLED && row.result.at == NULL && row.done == 3);
    arena_fini(&arena);
}

static void a_loss_rests_before_it_is_tried_again(void)
{
    struct pv_error err = {0};
    struct principal team = database_team(&db, "operation loss");
    struct arena arena;
    char id[37];
    bool taken = true;
    struct operation_key other;
    arena_init(&arena, 0);
    DO(submit(&team, id, &err));
    struct operation_key key = claim(&team, id);
    DO(give_back(&team, &key, true, &err));
    CHECK(find(&team, &arena, id, false).losses == 1);
    while (taken) {
        DO(store_operation_claim(db.store, &arena, &any, &other, &taken, &err));
        CHECK(!taken || strcmp(other.id, id) != 0);
    }
    arena_fini(&arena);
}

/* What a busy process asks: nothing of teams that hold enough of it, nothing that came just now. */
static void a_busy_process_leaves_what_is_new_and_what_is_barred(void)
{
    struct pv_error err = {0};
    struct principal team = database_team(&db, "operation barred");
    struct operation_key barred = {.attempt = 0};
    struct operation_key other;
    struct operation_claim asked = any;
    struct arena arena;
    char id[37];
    bool taken = true;
    arena_init(&arena, 0);
    DO(submit(&team, id, &err));
    memcpy(barred.team_id, team.team_id, sizeof barred.team_id);
    asked.barred = &barred;
    asked.n_barred = 1;
    while (taken) {
        DO(store_operation_claim(db.store, &arena, &asked, &other, &taken, &err));
        CHECK(!taken || strcmp(other.id, id) != 0);
    }
    asked = any;
    asked.waited_ms = 3600000;
    DO(store_operation_claim(db.store, &arena, &asked, &other, &taken, &err));
    CHECK(!taken || strcmp(other.id, id) != 0);
    (void)claim(&team, id);
    arena_fini(&arena);
}

int main(void)
{
    db = database_open(THREADS);
    a_team_queues_as_many_as_it_may_whoever_asks_at_once();
    an_attempt_that_lost_its_hold_writes_nothing();
    who_is_cancelled_cannot_succeed_any_more();
    a_loss_rests_before_it_is_tried_again();
    a_busy_process_leaves_what_is_new_and_what_is_barred();
    database_close(&db);
    return 0;
}

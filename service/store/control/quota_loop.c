#include "store/control/quota_loop.h"

#include "base/plural.h"
#include "store/sql/columns.h"

#define W struct quota_worker
static const struct column of_worker[] = {
    {"worker_names", COLUMN_TEXT(W, name)},
    {"worker_cores", COLUMN_NUMBER(W, cores)},
};
static const struct columns workers = {"worker", COLUMNS_OF(of_worker, W)};

#define A struct quota_application
static const struct column of_application[] = {
    {"application_names", COLUMN_TEXT(A, name)},
    {"application_releases_s", COLUMN_NUMBER(A, release_s)},
    {"application_deadlines_s", COLUMN_NUMBER(A, deadline_s)},
    {"application_alphas", COLUMN_NUMBER(A, alpha)},
    {"application_nominal_rates", COLUMN_NUMBER(A, nominal_rate)},
    {"application_ended", COLUMN_BOOLEAN(A, ended)},
};
static const struct columns applications = {"application", COLUMNS_OF(of_application, A)};

/* All that a sample may change of applications. */
static const struct column of_ended[] = {
    {"application_ended", COLUMN_BOOLEAN(A, ended)},
};
static const struct columns ended_marks = {"ended_mark", COLUMNS_OF(of_ended, A)};

#define E struct quota_executor
static const struct column of_executor[] = {
    {"executor_ids", COLUMN_TEXT(E, id)},
    {"executor_applications", COLUMN_COUNT(E, application)},
    {"executor_workers", COLUMN_COUNT(E, worker)},
    {"executor_stages", COLUMN_COUNT(E, stage)},
    {"executor_tasks", COLUMN_COUNT(E, tasks)},
    {"executor_completed_tasks", COLUMN_COUNT(E, completed_tasks)},
    {"executor_stage_starts_s", COLUMN_NUMBER(E, stage_started_s)},
    {"executor_stage_deadlines_s", COLUMN_NUMBER(E, stage_deadline_s)},
    {"executor_set_points", COLUMN_NUMBER(E, set_point)},
    {"executor_integral_cores", COLUMN_NUMBER(E, integral_cores)},
    {"executor_cores", COLUMN_NUMBER(E, cores)},
};
static const struct columns executors = {"executor", COLUMNS_OF(of_executor, E)};

#define L struct quota_loop
static const struct column of_settings[] = {
    {"strategy", COLUMN_WORD(L, settings.strategy, contention_strategy_words)},
    {"gamma", COLUMN_NUMBER(L, settings.gamma)},
    {"average_nominal_rate", COLUMN_NUMBER(L, settings.average_nominal_rate)},
    {.name = NULL, COLUMN_STRUCTS(L, settings.workers, settings.n_workers, &workers)},
    {.name = NULL,
     COLUMN_STRUCTS(L, settings.applications, settings.n_applications, &applications)},
    {"gain", COLUMN_NUMBER(L, settings.controller.gain)},
    {"integral_time_s", COLUMN_NUMBER(L, settings.controller.integral_time_s)},
    {"sample_s", COLUMN_NUMBER(L, settings.controller.sample_s)},
    {"core_quantum", COLUMN_NUMBER(L, settings.controller.core_quantum)},
    {"core_min", COLUMN_NUMBER(L, settings.controller.core_min)},
    {"period_us", COLUMN_COUNT(L, settings.period_us)},
};
static const struct columns settings = {"settings", COLUMNS_OF(of_settings, L)};

static const struct column of_progress[] = {
    {"sequence", COLUMN_COUNT(L, sequence)},
    {"at_s", COLUMN_NUMBER(L, at_s)},
    {.name = NULL, COLUMN_STRUCTS(L, executors, n_executors, &executors)},
};
static const struct columns progress = {"progress", COLUMNS_OF(of_progress, L)};

static const struct column of_ending[] = {
    {.name = NULL, COLUMN_STRUCTS(L, settings.applications, settings.n_applications, &ended_marks)},
};
static const struct columns ending = {"ending", COLUMNS_OF(of_ending, L)};

/* --- reading --- */

static bool is_sound(const struct quota_loop *loop)
{
    for (size_t i = 0; i < loop->n_executors; i++) {
        const struct quota_executor *executor = &loop->executors[i];
        if (executor->application < 0 || executor->worker < 0 ||
            (size_t)executor->application >= loop->settings.n_applications ||
            (size_t)executor->worker >= loop->settings.n_workers)
            return false;
    }
    return true;
}

/* The columns {settings}, {progress} from where the row stands. */
static void read_loop(struct row *row, struct quota_loop *loop)
{
    *loop = (struct quota_loop){.sequence = RUN_UNKNOWN};
    columns_read(row, &settings, loop);
    columns_read(row, &progress, loop);
    row->unreadable |= !row_failed(row) && !is_sound(loop);
}

static enum pv_code none_there(struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "there is no quota loop of that name");
}

static enum pv_code read_one(struct store_tx *tx,
                             const struct sql *sql,
                             struct arena *arena,
                             struct quota_loop *loop,
                             bool *found,
                             struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    *found = row_count(result) > 0;
    if (!*found)
        return PV_OK;
    struct row row = row_at(result, 0, arena);
    read_loop(&row, loop);
    return row_done(&row, err);
}

enum pv_code store_quota_loop_find(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   struct quota_loop *loop,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {settings}, {progress} FROM provisor.quota_loop WHERE team_id = $1 AND name = $2",
        .of = {&settings, &progress}};
    struct sql sql;
    bool found = false;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    PV_TRY(read_one(tx, &sql, arena, loop, &found, err));
    return found ? PV_OK : none_there(err);
}

enum pv_code store_quota_loop_hold(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   struct quota_loop *loop,
                                   bool *found,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {settings}, {progress} FROM provisor.quota_loop WHERE team_id = $1 AND name = $2"
        " FOR NO KEY UPDATE",
        .of = {&settings, &progress}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    return read_one(tx, &sql, arena, loop, found, err);
}

enum pv_code store_quota_loop_hold_for_sample(struct store_tx *tx,
                                              struct arena *arena,
                                              const char *name,
                                              int64_t sequence,
                                              const unsigned char hash[QUOTA_SAMPLE_HASH],
                                              struct quota_loop *loop,
                                              struct strview *reply,
                                              struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {settings}, {progress}, CASE WHEN sequence = $3 AND sample_hash = $4 THEN reply END"
        " FROM provisor.quota_loop WHERE team_id = $1 AND name = $2 FOR NO KEY UPDATE",
        .of = {&settings, &progress}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    sql_int(&sql, sequence);
    sql_bytes(&sql, hash, QUOTA_SAMPLE_HASH);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return none_there(err);
    struct row row = row_at(result, 0, arena);
    read_loop(&row, loop);
    *reply = row_text(&row);
    return row_done(&row, err);
}

static enum pv_code read_list(const PGresult *result,
                              size_t limit,
                              struct arena *arena,
                              struct quota_loop_list *list,
                              struct pv_error *err)
{
    size_t rows = row_count(result);
    size_t n = rows > limit ? limit : rows;
    struct quota_loop_item *items = arena_array(arena, n, sizeof *items);
    if (items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        items[i].name = row_text(&row);
        read_loop(&row, &items[i].loop);
        PV_TRY(row_done(&row, err));
    }
    *list = (struct quota_loop_list){items, n, rows > limit};
    return PV_OK;
}

enum pv_code store_quota_loop_list(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *after,
                                   size_t limit,
                                   struct quota_loop_list *list,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT name, {settings}, {progress} FROM provisor.quota_loop"
        " WHERE team_id = $1 AND name > $2 ORDER BY name LIMIT $3",
        .of = {&settings, &progress}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(after));
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return read_list(result, limit, arena, list, err);
}

/* --- writing --- */

static enum pv_code
audit(struct store_tx *tx, const char *action, const char *name, struct pv_error *err)
{
    return journal_audit(tx, action, "quota_loop", strview_of(name), err);
}

enum pv_code store_quota_loop_save_sample(struct store_tx *tx,
                                          const char *name,
                                          const struct quota_loop *loop,
                                          const unsigned char hash[QUOTA_SAMPLE_HASH],
                                          struct strview reply,
                                          struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.quota_loop SET (sample_hash, reply, sampled_at, {progress:written},"
        " {ending:written}) = ROW ($3, $4, now(), {progress:values}, {ending:values})"
        " WHERE team_id = $1 AND name = $2",
        .of = {&progress, &ending}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    sql_bytes(&sql, hash, QUOTA_SAMPLE_HASH);
    sql_text(&sql, reply);
    columns_bind(&sql, &progress, loop);
    columns_bind(&sql, &ending, loop);
    return tx_defer(tx, &sql, err);
}

/* Of a team one at a time makes a loop, so what is counted is still so when it is there. */
static enum pv_code check_number(struct store_tx *tx, int64_t most, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(tx_lock_team(tx, "quota_loop", err));
    tx_sql(tx, &sql, "SELECT count(*) FROM provisor.quota_loop WHERE team_id = $1");
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    int64_t there = row_int(&row);
    return there < most ? PV_OK
                        : pv_fail(err, PV_E_LIMIT,
                                  "the team has %lld quota loop%s already, as many as it may "
                                  "(quota_loops_max)",
                                  (long long)there, PLURAL(there));
}

enum pv_code store_quota_loop_insert(struct store_tx *tx,
                                     const char *name,
                                     int64_t most,
                                     const struct quota_loop *loop,
                                     struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.quota_loop (team_id, name, {settings:written})"
        " VALUES ($1, $2, {settings:values}) ON CONFLICT DO NOTHING RETURNING 1",
        .of = {&settings}};
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(check_number(tx, most, err));
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    columns_bind(&sql, &settings, loop);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_RETRY, "the quota loop has just been made");
    return audit(tx, "quota_loop.insert", name, err);
}

enum pv_code store_quota_loop_update(struct store_tx *tx,
                                     const char *name,
                                     const struct quota_loop *loop,
                                     struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.quota_loop SET ({settings:written}, {progress:written})"
        " = ROW ({settings:values}, {progress:values}) WHERE team_id = $1 AND name = $2",
        .of = {&settings, &progress}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    columns_bind(&sql, &settings, loop);
    columns_bind(&sql, &progress, loop);
    PV_TRY(tx_defer(tx, &sql, err));
    return audit(tx, "quota_loop.update", name, err);
}

static enum pv_code
count_gone(struct store_tx *tx, const struct sql *sql, size_t *gone, struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    *gone = row_count(result);
    return PV_OK;
}

enum pv_code store_quota_loop_delete(struct store_tx *tx, const char *name, struct pv_error *err)
{
    struct sql sql;
    size_t gone = 0;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.quota_loop WHERE team_id = $1 AND name = $2 RETURNING 1");
    sql_text(&sql, strview_of(name));
    PV_TRY(count_gone(tx, &sql, &gone, err));
    return gone > 0 ? audit(tx, "quota_loop.delete", name, err) : none_there(err);
}

enum pv_code store_quota_loops_expire(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.quota_loop WHERE ctid = ANY (ARRAY("
           "SELECT ctid FROM provisor.quota_loop WHERE team_id = $1"
           " AND sampled_at < now() - $2 * interval '1 day'"
           " ORDER BY name LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    return count_gone(tx, &sql, gone, err);
}

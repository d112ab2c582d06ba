#include "store/clusters/price_book.h"

#include "store/clusters/reference.h"
#include "store/sql/columns.h"
#include "threads/clock.h"

#define B struct price_book
static const struct column book_list[] = {
    {"id", COLUMN_ID(B, id), .computed = true},
    {"name", COLUMN_TEXT(B, name), .computed = true},
    {"currency", COLUMN_TEXT(B, currency)},
    {"rows", COLUMN_COUNT(B, row_count)},
    {"version", COLUMN_COUNT(B, version), .computed = true},
    {"created_at", COLUMN_INSTANT(B, created_us), .computed = true},
    {"updated_at", COLUMN_INSTANT(B, updated_us), .computed = true},
};
static const struct columns book_columns = {"book", COLUMNS_OF(book_list, B)};

#define P struct price_row
static const struct column price_list[] = {
    {"machine_type", COLUMN_TEXT(P, machine_type)},
    {"cluster", COLUMN_TEXT(P, cluster)},
    /* Of a machine it is stored, too, for programs that know of no other price (migration 0034). */
    {"per_executor_hour", COLUMN_NUMBER(P, price.per_executor_hour),
     .read = "CASE WHEN per_machine_hour IS NULL THEN per_executor_hour END"},
    {"spot_per_executor_hour", COLUMN_NUMBER(P, price.spot_per_executor_hour)},
    {"interruptions_per_hour", COLUMN_NUMBER(P, price.interruptions_per_hour)},
    {"per_machine_hour", COLUMN_NUMBER(P, price.per_machine_hour)},
    {"spot_per_machine_hour", COLUMN_NUMBER(P, price.spot_per_machine_hour)},
    {"machine_cores", COLUMN_COUNT(P, price.machine_cores)},
    {"machine_memory_bytes", COLUMN_COUNT(P, price.machine_memory_bytes)},
    {"startup_billed_s", COLUMN_NUMBER(P, price.startup_billed_s)},
    {"minimum_billed_s", COLUMN_NUMBER(P, price.minimum_billed_s)},
    {"billing_increment_s", COLUMN_NUMBER(P, price.billing_increment_s)},
};
static const struct columns price_columns = {"price", COLUMNS_OF(price_list, P)};

static enum pv_code
read_rows(struct store_tx *tx, struct arena *arena, struct price_book *book, struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {price} FROM provisor.price WHERE team_id = $1 AND price_book_id = $2"
        " ORDER BY position",
        .of = {&price_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    bool more;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, book->id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_items(result, SIZE_MAX, arena, &price_columns, &book->rows, &book->n_rows,
                              &more, err);
}

enum pv_code store_price_book_look(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   bool with_rows,
                                   struct price_book *book,
                                   bool *found,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {book} FROM provisor.price_book WHERE team_id = $1 AND name = $2",
        .of = {&book_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    PV_TRY(tx_query(tx, &sql, &result, err));
    *book = (struct price_book){.rows = NULL};
    *found = row_count(result) > 0;
    if (*found)
        PV_TRY(columns_read_row(result, 0, arena, &book_columns, book, err));
    return *found && with_rows ? read_rows(tx, arena, book, err) : PV_OK;
}

/* As older programs are to see them, which know of no machines: one for each executor. NULL: memory
 * is exhausted. */
static struct price_row *rows_to_store(const struct price_book *book, struct arena *arena)
{
    struct price_row *rows = arena_array(arena, book->n_rows, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < book->n_rows; i++) {
        rows[i] = book->rows[i];
        rows[i].price.per_executor_hour = price_on_demand(&rows[i].price);
    }
    return rows;
}

/* The rows, each led to the cluster it names where that is there. */
static enum pv_code insert_rows(struct store_tx *tx,
                                const struct price_book *book,
                                struct arena *arena,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.price (team_id, price_book_id, position, cluster_id, {price:written})"
        " SELECT $1, $2, at, (SELECT id FROM provisor.cluster"
        "  WHERE team_id = $1 AND name = given.cluster), {price:written}"
        " FROM unnest({price:values}) WITH ORDINALITY AS given ({price:written}, at)",
        .of = {&price_columns}};
    struct sql sql;
    const struct price_row *rows = rows_to_store(book, arena);
    if (rows == NULL)
        return pv_no_memory(err);
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, book->id);
    columns_bind_all(&sql, &price_columns, rows, book->n_rows);
    return tx_defer(tx, &sql, err);
}

/* The book's own row was written by `sql`; then its prices and the audit. */
static enum pv_code finish_write(struct store_tx *tx,
                                 const struct sql *sql,
                                 const char *action,
                                 struct arena *arena,
                                 struct price_book *book,
                                 struct pv_error *err)
{
    result_auto_t *result = NULL;
    struct price_book stored = {.rows = NULL};
    PV_TRY(tx_query(tx, sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_RETRY, "the price book has just been deleted");
    PV_TRY(columns_read_row(result, 0, arena, &book_columns, &stored, err));
    stored.rows = book->rows;
    stored.n_rows = book->n_rows;
    PV_TRY(insert_rows(tx, &stored, arena, err));
    PV_TRY(journal_audit(tx, action, "price_book", stored.name, err));
    *book = stored;
    return PV_OK;
}

enum pv_code store_price_book_insert(struct store_tx *tx,
                                     struct arena *arena,
                                     int64_t most,
                                     struct price_book *book,
                                     struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.price_book (team_id, id, name, {book:written})"
        " VALUES ($1, $2, $3, {book:values}) RETURNING {book}",
        .of = {&book_columns}};
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    PV_TRY(store_registry_check_number(tx, REFERENCE_TO_PRICE_BOOK, most, err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    sql_text(&sql, book->name);
    columns_bind(&sql, &book_columns, book);
    return finish_write(tx, &sql, "price_book.insert", arena, book, err);
}

enum pv_code store_price_book_update(struct store_tx *tx,
                                     struct arena *arena,
                                     struct price_book *book,
                                     struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.price_book SET ({book:written}, version, updated_at)"
        " = ROW ({book:values}, version + 1, now()) WHERE team_id = $1 AND id = $2"
        " RETURNING {book}",
        .of = {&book_columns}};
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.price WHERE team_id = $1 AND price_book_id = $2");
    sql_uuid(&sql, book->id);
    PV_TRY(tx_defer(tx, &sql, err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, book->id);
    columns_bind(&sql, &book_columns, book);
    return finish_write(tx, &sql, "price_book.update", arena, book, err);
}

enum pv_code
store_price_book_delete(struct store_tx *tx, const struct price_book *book, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.price_book WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, book->id);
    PV_TRY(tx_defer(tx, &sql, err));
    return journal_audit(tx, "price_book.delete", "price_book", book->name, err);
}

enum pv_code store_price_book_list(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *currency,
                                   const char *after,
                                   size_t limit,
                                   struct price_book_list *list,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {book} FROM provisor.price_book WHERE team_id = $1 AND name > $2"
        " AND ($3 IS NULL OR currency = $3) ORDER BY name LIMIT $4",
        .of = {&book_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(after));
    sql_text(&sql, currency == NULL ? (struct strview){NULL, 0} : strview_of(currency));
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &book_columns, list, err);
}

enum pv_code store_price_find(struct store_tx *tx,
                              struct arena *arena,
                              const char *price_book_id,
                              struct strview cluster,
                              struct strview machine_type,
                              struct price_found *price,
                              bool *found,
                              struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT b.currency, {price} FROM provisor.price p JOIN provisor.price_book b"
        " ON b.team_id = p.team_id AND b.id = p.price_book_id"
        " WHERE p.team_id = $1 AND p.price_book_id = $2"
        " AND (p.cluster = $3 OR p.machine_type = $4) ORDER BY p.cluster IS NULL LIMIT 1",
        .of = {&price_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, price_book_id);
    sql_text(&sql, cluster);
    sql_text(&sql, machine_type);
    PV_TRY(tx_query(tx, &sql, &result, err));
    *found = row_count(result) > 0;
    if (*found) {
        struct price_found read;
        struct row row = row_at(result, 0, arena);
        read.currency = row_text(&row);
        columns_read(&row, &price_columns, &read.row);
        PV_TRY(row_done(&row, err));
        *price = read;
    }
    return PV_OK;
}

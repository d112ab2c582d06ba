/* Proves that parameters and rows agree on the binary form, and what each SQLSTATE means. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "store/sql/columns.h"
#include "store/store_internal.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(sql, .init = setup, .fini = teardown, .timeout = 20);

/* A result of one row whose columns are the statement's parameters: what a server that stores and
 * returns them would send. */
static PGresult *echo(const struct sql *sql)
{
    PGresAttDesc columns[SQL_PARAMETERS_MAX] = {0};
    static char name[] = "c";
    for (int i = 0; i < sql->n; i++)
        columns[i] = (PGresAttDesc){.name = name, .typid = sql->types[i], .format = 1};
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    cr_assert_not_null(result);
    cr_assert(PQsetResultAttrs(result, sql->n, columns));
    for (int i = 0; i < sql->n; i++) {
        const char *value = sql->values[i];
        int length = value == NULL ? -1 : sql->lengths[i];
        char *copy = value == NULL ? NULL : arena_strndup(&arena, value, (size_t)length);
        cr_assert(PQsetvalue(result, 0, i, copy, length));
    }
    return result;
}

Test(sql, scalars_survive_the_trip)
{
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_int(&sql, INT64_MIN);
    sql_count(&sql, 7);
    sql_double(&sql, 5e-324);
    sql_double(&sql, -0.1);
    sql_bool(&sql, true);
    sql_bool(&sql, false);
    sql_instant(&sql, INT64_C(-62135596800000000)); /* 0001-01-01 */
    sql_text(&sql, (struct strview){"a\"b", 3});
    PGresult *result = echo(&sql);
    struct row row = row_at(result, 0, &arena);
    cr_expect(row_int(&row) == INT64_MIN);
    cr_expect(row_int(&row) == 7);
    cr_expect(row_double(&row) == 5e-324);
    cr_expect(row_double(&row) == -0.1);
    cr_expect(row_bool(&row));
    cr_expect(!row_bool(&row));
    cr_expect(row_instant(&row) == INT64_C(-62135596800000000));
    cr_expect(strview_is(row_text(&row), "a\"b"));
    cr_expect(row_done(&row, NULL) == PV_OK);
    PQclear(result);
}

Test(sql, what_is_unknown_is_null_both_ways)
{
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_count(&sql, RUN_UNKNOWN);
    sql_double(&sql, (double)NAN);
    sql_instant(&sql, RUN_NO_INSTANT);
    sql_text(&sql, (struct strview){NULL, 0});
    sql_uuid(&sql, "");
    for (int i = 0; i < sql.n; i++)
        cr_expect_null(sql.values[i], "parameter %d", i);
    PGresult *result = echo(&sql);
    struct row row = row_at(result, 0, &arena);
    cr_expect(row_int(&row) == RUN_UNKNOWN);
    cr_expect(isnan(row_double(&row)));
    cr_expect(row_instant(&row) == RUN_NO_INSTANT);
    cr_expect_null(row_text(&row).at);
    char id[37];
    row_uuid(&row, id);
    cr_expect_str_empty(id);
    cr_expect(row_done(&row, NULL) == PV_OK);
    PQclear(result);
}

Test(sql, arrays_are_taken_from_members_of_structs)
{
    const struct {
        struct strview code;
        int64_t count;
        struct strview detail;
    } warnings[] = {
        {{"one", 3}, 1, {NULL, 0}}, {{"", 0}, RUN_UNKNOWN, {"two", 3}}, {{"x", 1}, -7, {"", 0}}};
    const double numbers[] = {0.1, (double)NAN, 1e308};
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_texts(&sql, &warnings->code, 3, sizeof *warnings);
    sql_counts(&sql, &warnings->count, 3, sizeof *warnings);
    sql_texts(&sql, &warnings->detail, 3, sizeof *warnings);
    sql_doubles(&sql, numbers, 3, sizeof *numbers);
    sql_pairs(&sql, NULL, 0);
    cr_assert(!sql.exhausted);
    PGresult *result = echo(&sql);
    struct row row = row_at(result, 0, &arena);
    size_t n;
    struct strview *codes = row_texts(&row, &n);
    cr_assert_eq(n, 3);
    cr_expect(strview_is(codes[0], "one") && codes[1].at != NULL && codes[1].n == 0);
    int64_t *counts = row_counts(&row, &n);
    cr_assert_eq(n, 3);
    cr_expect(counts[0] == 1 && counts[1] == RUN_UNKNOWN && counts[2] == -7);
    struct strview *details = row_texts(&row, &n);
    cr_expect(details[0].at == NULL && strview_is(details[1], "two"));
    double *back = row_doubles(&row, &n);
    cr_expect(back[0] == 0.1 && isnan(back[1]) && back[2] == 1e308);
    cr_expect_not_null(row_pairs(&row, &n));
    cr_expect(n == 0 && row_done(&row, NULL) == PV_OK);
    PQclear(result);
}

Test(sql, uuids_are_sixteen_bytes)
{
    const char ids[2][37] = {"01234567-89ab-7def-8123-456789abcdef",
                             "ffffffff-ffff-ffff-ffff-fffffffffffe"};
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_uuids(&sql, ids[0], 2, sizeof ids[0]);
    cr_assert_eq(sql.lengths[0], 20 + 2 * 20);
    /* The second element's bytes, read as a uuid column. */
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc column = {.name = (char[]){"c"}, .format = 1};
    cr_assert(PQsetResultAttrs(result, 1, &column));
    char bytes[16];
    memcpy(bytes, sql.values[0] + 20 + 20 + 4, sizeof bytes);
    cr_assert(PQsetvalue(result, 0, 0, bytes, 16));
    struct row row = row_at(result, 0, &arena);
    char id[37];
    row_uuid(&row, id);
    cr_expect_str_eq(id, ids[1]);
    PQclear(result);
}

Test(sql, an_empty_uuid_is_null_in_an_array_too)
{
    const char ids[3][37] = {"01234567-89ab-7def-8123-456789abcdef", "",
                             "ffffffff-ffff-ffff-ffff-fffffffffffe"};
    static const unsigned char null[4] = {0xff, 0xff, 0xff, 0xff};
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_uuids(&sql, ids[0], 3, sizeof ids[0]);
    cr_assert_eq(sql.lengths[0], 20 + 20 + 4 + 20);
    cr_expect_arr_eq(sql.values[0] + 20 + 20, null, 4);
    cr_expect_eq((unsigned char)sql.values[0][20 + 20 + 4 + 4 + 15], 0xfe);
}

Test(sql, what_cannot_be_read_is_no_lack_of_memory)
{
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_text(&sql, (struct strview){"12345", 5});
    PGresult *result = echo(&sql);
    struct row row = row_at(result, 0, &arena);
    (void)row_int(&row);
    cr_expect_eq(row_done(&row, NULL), PV_E_INTERNAL);
    row = row_at(result, 0, &arena);
    (void)row_bool(&row);
    cr_expect_eq(row_done(&row, NULL), PV_E_INTERNAL);
    struct arena small;
    arena_init(&small, 1);
    row = row_at(result, 0, &small);
    (void)row_text(&row);
    cr_expect_eq(row_done(&row, NULL), PV_E_MEMORY);
    arena_fini(&small);
    PQclear(result);
}

Test(sql, a_damaged_array_is_an_error_and_no_read_past_its_end)
{
    const double numbers[] = {1, 2, 3};
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_doubles(&sql, numbers, 3, sizeof *numbers);
    for (int cut = 0; cut < sql.lengths[0]; cut++) {
        struct sql shorter = sql;
        shorter.lengths[0] = cut;
        PGresult *result = echo(&shorter);
        struct row row = row_at(result, 0, &arena);
        size_t n;
        (void)row_doubles(&row, &n);
        cr_expect_eq(row_done(&row, NULL), PV_E_INTERNAL, "cut at %d", cut);
        PQclear(result);
    }
}

Test(sql, an_exhausted_arena_is_noticed)
{
    struct arena small;
    arena_init(&small, 1);
    struct sql sql;
    sql_init(&sql, &small, "");
    const int64_t counts[] = {1};
    sql_counts(&sql, counts, 1, sizeof *counts);
    cr_expect(sql.exhausted);
    arena_fini(&small);
}

struct word {
    struct strview text;
};
struct word_list {
    struct word *items;
    size_t n;
    bool more;
};
static const struct column word_column[] = {{"word", COLUMN_TEXT(struct word, text)}};
static const struct columns word_columns = {"word", COLUMNS_OF(word_column, struct word)};

Test(sql, a_list_that_cannot_be_read_stays_as_it_was)
{
    static char long_text[8192];
    memset(long_text, 'x', sizeof long_text);
    struct sql sql;
    sql_init(&sql, &arena, "");
    sql_text(&sql, (struct strview){long_text, sizeof long_text});
    PGresult *result = echo(&sql);
    const size_t limits[] = {1, 4096}; /* no room for the items; none for what they hold */
    for (size_t i = 0; i < 2; i++) {
        struct arena small;
        struct word_list list = {.n = 0};
        arena_init(&small, limits[i]);
        cr_expect_eq(columns_read_list(result, 1, &small, &word_columns, &list, NULL), PV_E_MEMORY);
        cr_expect(list.items == NULL && list.n == 0 && !list.more);
        arena_fini(&small);
    }
    PQclear(result);
}

Test(sql, states_mean_what_the_conventions_say)
{
    static const struct {
        const char *state;
        enum pv_code code;
        bool discard;
    } wanted[] = {
        {"23505", PV_E_CONFLICT, false},   {"23503", PV_E_INVALID, false},
        {"23514", PV_E_INVALID, false},    {"40001", PV_E_RETRY, false},
        {"40P01", PV_E_RETRY, false},      {"57014", PV_E_TIMEOUT, false},
        {"53300", PV_E_UNAVAILABLE, true}, {"57P01", PV_E_UNAVAILABLE, true},
        {"57P03", PV_E_UNAVAILABLE, true}, {"08006", PV_E_UNAVAILABLE, true},
        {"25006", PV_E_UNAVAILABLE, true}, {"54000", PV_E_LIMIT, false},
        {"PV403", PV_E_FORBIDDEN, false},  {"42601", PV_E_INTERNAL, false},
        {"", PV_E_UNAVAILABLE, true},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        bool discard;
        cr_expect_eq(sqlstate_code(wanted[i].state, &discard), wanted[i].code, "%s",
                     wanted[i].state);
        cr_expect_eq(discard, wanted[i].discard, "%s", wanted[i].state);
    }
}

static const char *value_of(const struct conninfo *info, const char *keyword)
{
    for (size_t i = 0; info->keywords[i] != NULL; i++) {
        if (strcmp(info->keywords[i], keyword) == 0)
            return info->values[i];
    }
    return NULL;
}

Test(sql, a_connection_string_gets_defaults_only_where_it_is_silent)
{
    struct conninfo info = {0};
    cr_assert_eq(conninfo_parse("postgresql://u@a,b/db?connect_timeout=9&target_session_attrs="
                                "read-write",
                                &info, NULL),
                 PV_OK);
    cr_expect_str_eq(value_of(&info, "connect_timeout"), "9");
    cr_expect_str_eq(value_of(&info, "host"), "a,b");
    cr_expect_str_eq(value_of(&info, "target_session_attrs"), "read-write");
    cr_expect_str_eq(value_of(&info, "application_name"), "provisord");
    cr_expect_not_null(value_of(&info, "tcp_user_timeout"));
    cr_expect_not_null(value_of(&info, "keepalives_idle"));
    conninfo_free(&info);
    struct pv_error err = {0};
    cr_expect_eq(conninfo_parse("nonsense=1 =", &info, &err), PV_E_INVALID);
}

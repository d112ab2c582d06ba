#include "store/sql/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts --- */

struct composing {
    FILE *out;
    const struct columns_statement *statement;
    unsigned parameters; /* the greatest number so far */
};

static void put_separator(struct composing *c, bool *first)
{
    if (!*first)
        (void)fputs(", ", c->out);
    *first = false;
}

static void put_names(struct composing *c, const struct columns *columns, bool written, bool *first)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->list[i];
        if (written && column->computed)
            continue;
        if (column->kind == COLUMN_KIND_STRUCTS) {
            put_names(c, column->of, written, first);
            continue;
        }
        put_separator(c, first);
        (void)fputs(written || column->read == NULL ? column->name : column->read, c->out);
    }
}

static void put_parameters(struct composing *c, const struct columns *columns, bool *first)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->list[i];
        if (column->computed)
            continue;
        if (column->kind == COLUMN_KIND_STRUCTS) {
            put_parameters(c, column->of, first);
            continue;
        }
        for (int n = column->kind == COLUMN_KIND_PAIRS ? 2 : 1; n > 0; n--) {
            put_separator(c, first);
            (void)fprintf(c->out, "$%u", ++c->parameters);
        }
    }
}

static const struct columns *columns_find(const struct columns_statement *statement,
                                          struct strview name)
{
    for (size_t i = 0; i < sizeof statement->of / sizeof *statement->of; i++)
        if (statement->of[i] != NULL && strview_is(name, statement->of[i]->name))
            return statement->of[i];
    return NULL;
}

/* What stands between braces; false when there is no such table. */
static bool put_columns(struct composing *c, struct strview place)
{
    const char *colon = memchr(place.at, ':', place.n);
    struct strview name = {place.at, colon == NULL ? place.n : (size_t)(colon - place.at)};
    const struct columns *columns = columns_find(c->statement, name);
    bool first = true;
    if (columns == NULL)
        return false;
    if (colon != NULL && colon[1] == 'v')
        put_parameters(c, columns, &first);
    else
        put_names(c, columns, colon != NULL, &first);
    return true;
}

static unsigned greatest_parameter(const char *pattern)
{
    unsigned greatest = 0;
    for (const char *p = strchr(pattern, '$'); p != NULL; p = strchr(p + 1, '$')) {
        unsigned number = (unsigned)strtoul(p + 1, NULL, 10);
        greatest = number > greatest ? number : greatest;
    }
    return greatest;
}

static char *compose(const struct columns_statement *statement)
{
    char *text = NULL;
    size_t n = 0;
    struct composing c = {.out = open_memstream(&text, &n),
                          .statement = statement,
                          .parameters = greatest_parameter(statement->pattern)};
    bool good = c.out != NULL;
    for (const char *p = statement->pattern; good && *p != '\0'; p++) {
        if (*p == '{') {
            const char *end = strchr(p, '}');
            good = end != NULL && put_columns(&c, (struct strview){p + 1, (size_t)(end - p - 1)});
            p = good ? end : p;
            continue;
        }
        (void)fputc(*p, c.out);
    }
    if (c.out != NULL && fclose(c.out) != 0)
        good = false;
    if (good)
        return text;
    free(text);
    return NULL;
}

/* Two threads may compose at once: the first to finish is the one that counts. */
static const char *text_of(struct columns_statement *statement)
{
    char *text = atomic_load_explicit(&statement->text, memory_order_acquire);
    if (text != NULL)
        return text;
    char *made = compose(statement);
    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(&statement->text, &text, made))
        return made;
    free(made);
    return text;
}

void tx_columns(struct store_tx *tx, struct sql *sql, struct columns_statement *statement)
{
    const char *text = text_of(statement);
    tx_sql(tx, sql, text == NULL ? "" : text);
    sql->exhausted |= text == NULL;
}

void sql_columns(struct sql *sql, struct arena *arena, struct columns_statement *statement)
{
    const char *text = text_of(statement);
    sql_init(sql, arena, text == NULL ? "" : text);
    sql->exhausted |= text == NULL;
}

/* --- parameters --- */

static const void *at_const(const void *object, size_t offset)
{
    return (const char *)object + offset;
}

static void bind_integer(struct sql *sql, int64_t number)
{
    if (number == INT64_MIN)
        sql_count(sql, RUN_UNKNOWN);
    else
        sql_int(sql, number);
}

static void bind_words(struct sql *sql, unsigned listed, const char *const words[])
{
    struct strview texts[32];
    size_t n = 0;
    for (size_t i = 0; i < 32 && words[i] != NULL; i++)
        if ((listed & 1U << i) != 0)
            texts[n++] = strview_of(words[i]);
    sql_texts(sql, texts, n, sizeof *texts);
}

void columns_bind(struct sql *sql, const struct columns *columns, const void *object)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->list[i];
        const void *value = at_const(object, column->at);
        if (column->computed)
            continue;
        switch (column->kind) {
        case COLUMN_KIND_COUNT:
            sql_count(sql, *(const int64_t *)value);
            break;
        case COLUMN_KIND_INTEGER:
            bind_integer(sql, *(const int64_t *)value);
            break;
        case COLUMN_KIND_NUMBER:
            sql_double(sql, *(const double *)value);
            break;
        case COLUMN_KIND_BOOLEAN:
            sql_bool(sql, *(const bool *)value);
            break;
        case COLUMN_KIND_BITS:
            sql_int(sql, *(const unsigned *)value);
            break;
        case COLUMN_KIND_TEXT:
            sql_text(sql, *(const struct strview *)value);
            break;
        case COLUMN_KIND_JSON:
            sql_json(sql, *(const struct strview *)value);
            break;
        case COLUMN_KIND_WORD:
            sql_text(sql, strview_of(column->words[*(const unsigned *)value]));
            break;
        case COLUMN_KIND_WORDS:
            bind_words(sql, *(const unsigned *)value, column->words);
            break;
        case COLUMN_KIND_ID:
            sql_uuid(sql, value);
            break;
        case COLUMN_KIND_INSTANT:
            sql_instant(sql, *(const int64_t *)value);
            break;
        case COLUMN_KIND_PAIRS:
            sql_pairs(sql, *(struct run_label *const *)value,
                      *(const size_t *)at_const(object, column->n_at));
            break;
        case COLUMN_KIND_STRUCTS:
            columns_bind_all(sql, column->of, *(void *const *)value,
                             *(const size_t *)at_const(object, column->n_at));
            break;
        }
    }
}

void columns_bind_all(struct sql *sql, const struct columns *columns, const void *first, size_t n)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->list[i];
        const void *value = n == 0 ? NULL : at_const(first, column->at);
        if (column->computed)
            continue;
        switch (column->kind) {
        case COLUMN_KIND_COUNT:
            sql_counts(sql, value, n, columns->size);
            break;
        case COLUMN_KIND_NUMBER:
            sql_doubles(sql, value, n, columns->size);
            break;
        case COLUMN_KIND_BOOLEAN:
            sql_bools(sql, value, n, columns->size);
            break;
        case COLUMN_KIND_TEXT:
            sql_texts(sql, value, n, columns->size);
            break;
        case COLUMN_KIND_ID:
            sql_uuids(sql, value, n, columns->size);
            break;
        default: /* there are no arrays of arrays, nor any need for the others */
            sql->exhausted = true;
            break;
        }
    }
}

/* --- rows --- */

/* The elements of one array column, each into its struct; false when they are not n. There are no
 * arrays of other kinds. */
static bool
read_elements(struct row *row, const struct column *column, size_t n, char *items, size_t size)
{
    size_t there = 0;
    if (column->kind == COLUMN_KIND_COUNT) {
        const int64_t *values = row_counts(row, &there);
        for (size_t i = 0; there == n && i < n; i++)
            *(int64_t *)(void *)(items + i * size + column->at) = values[i];
    } else if (column->kind == COLUMN_KIND_NUMBER) {
        const double *values = row_doubles(row, &there);
        for (size_t i = 0; there == n && i < n; i++)
            *(double *)(void *)(items + i * size + column->at) = values[i];
    } else if (column->kind == COLUMN_KIND_BOOLEAN) {
        const bool *values = row_bools(row, &there);
        for (size_t i = 0; there == n && i < n; i++)
            *(bool *)(void *)(items + i * size + column->at) = values[i];
    } else if (column->kind == COLUMN_KIND_TEXT) {
        const struct strview *values = row_texts(row, &there);
        for (size_t i = 0; there == n && i < n; i++)
            *(struct strview *)(void *)(items + i * size + column->at) = values[i];
    }
    row->unreadable |= !row->exhausted && there != n;
    return !row_failed(row);
}

static void read_structs(struct row *row, const struct column *column, void *object)
{
    const struct columns *of = column->of;
    size_t n = row_array_length(row);
    char *items = arena_calloc(row->arena, n, of->size);
    row->exhausted |= items == NULL;
    bool sound = !row_failed(row);
    for (size_t i = 0; i < of->n && sound; i++)
        sound = read_elements(row, &of->list[i], n, items, of->size);
    *(void **)(void *)((char *)object + column->at) = sound ? items : NULL;
    *(size_t *)(void *)((char *)object + column->n_at) = sound ? n : 0;
}

static int64_t read_integer(struct row *row)
{
    bool known = !row_is_null(row);
    int64_t number = row_int(row);
    return known ? number : INT64_MIN;
}

static unsigned read_word(struct row *row, const char *const words[])
{
    struct strview text = row_text(row);
    unsigned at = 0;
    while (words[at] != NULL && !strview_is(text, words[at]))
        at++;
    row->unreadable |= words[at] == NULL && !row->exhausted;
    return words[at] == NULL ? 0 : at;
}

/* A word that this program does not know is one of a newer program, and passed over. */
static unsigned read_words(struct row *row, const char *const words[])
{
    size_t n = 0;
    unsigned listed = 0;
    const struct strview *texts = row_texts(row, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; words[k] != NULL; k++)
            if (strview_is(texts[i], words[k]))
                listed |= 1U << k;
    return listed;
}

void columns_read(struct row *row, const struct columns *columns, void *object)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *column = &columns->list[i];
        void *value = (char *)object + column->at;
        switch (column->kind) {
        case COLUMN_KIND_COUNT:
            *(int64_t *)value = row_int(row);
            break;
        case COLUMN_KIND_INTEGER:
            *(int64_t *)value = read_integer(row);
            break;
        case COLUMN_KIND_NUMBER:
            *(double *)value = row_double(row);
            break;
        case COLUMN_KIND_BOOLEAN:
            *(bool *)value = row_bool(row);
            break;
        case COLUMN_KIND_BITS:
            *(unsigned *)value = (unsigned)row_int(row);
            break;
        case COLUMN_KIND_TEXT:
        case COLUMN_KIND_JSON:
            *(struct strview *)value = row_text(row);
            break;
        case COLUMN_KIND_WORD:
            *(unsigned *)value = read_word(row, column->words);
            break;
        case COLUMN_KIND_WORDS:
            *(unsigned *)value = read_words(row, column->words);
            break;
        case COLUMN_KIND_ID:
            row_uuid(row, value);
            break;
        case COLUMN_KIND_INSTANT:
            *(int64_t *)value = row_instant(row);
            break;
        case COLUMN_KIND_PAIRS:
            *(struct run_label **)value =
                row_pairs(row, (size_t *)(void *)((char *)object + column->n_at));
            break;
        case COLUMN_KIND_STRUCTS:
            read_structs(row, column, object);
            break;
        }
    }
}

enum pv_code columns_read_row(const PGresult *result,
                              size_t at,
                              struct arena *arena,
                              const struct columns *columns,
                              void *object,
                              struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    columns_read(&row, columns, object);
    return row_done(&row, err);
}

enum pv_code columns_read_items(const PGresult *result,
                                size_t limit,
                                struct arena *arena,
                                const struct columns *columns,
                                void *items_address,
                                size_t *n,
                                bool *more,
                                struct pv_error *err)
{
    size_t there = row_count(result);
    size_t read = there > limit ? limit : there;
    char *items = arena_calloc(arena, read, columns->size);
    if (items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read; i++)
        PV_TRY(columns_read_row(result, i, arena, columns, items + i * columns->size, err));
    memcpy(items_address, &items, sizeof items);
    *n = read;
    *more = there > limit;
    return PV_OK;
}

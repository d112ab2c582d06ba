#ifndef STORE_SQL_COLUMNS_H
#define STORE_SQL_COLUMNS_H

#include <stdatomic.h>

#include "store/store_internal.h"

/*
 * The columns of a table as a table: one row for each, which says where in a struct its value
 * lives. From it come the lists of columns and parameters in statements, the parameters themselves,
 * and the reading of rows, so that a column is written once and cannot change places with another.
 */
enum column_kind {
    COLUMN_KIND_COUNT,   /* int64_t; unknown: RUN_UNKNOWN */
    COLUMN_KIND_INTEGER, /* int64_t of either sign; unknown: INT64_MIN */
    COLUMN_KIND_NUMBER,  /* double */
    COLUMN_KIND_BOOLEAN, /* bool */
    COLUMN_KIND_BITS,    /* unsigned */
    COLUMN_KIND_TEXT,    /* struct strview */
    COLUMN_KIND_JSON,    /* struct strview */
    COLUMN_KIND_WORD,    /* enum: the place of the text in `words` */
    COLUMN_KIND_WORDS,   /* unsigned or enum: an array of texts, bit i for words[i] (at most 32) */
    COLUMN_KIND_ID,      /* char[37] */
    COLUMN_KIND_INSTANT, /* int64_t */
    COLUMN_KIND_PAIRS,   /* struct run_label * and their number: two columns */
    COLUMN_KIND_STRUCTS  /* pointer to structs and their number: an array for each column of `of` */
};

struct column {
    const char *name; /* PAIRS: both; STRUCTS: ignored. Not written: any expression. */
    const char *read; /* an expression that is read in place of the name; NULL: the name is */
    enum column_kind kind;
    bool computed; /* is read but not written */
    size_t at;
    size_t n_at;
    const struct columns *of;
    const char *const *words; /* ends with NULL */
};

struct columns {
    const char *name; /* in the text of statements, and in messages */
    const struct column *list;
    size_t n;
    size_t size; /* of the struct */
};

#define COLUMN_OFFSET(T, path, ...)                                                                \
    (offsetof(T, path) + 0 * sizeof(char[_Generic(((T *)0)->path, __VA_ARGS__, default : -1)]))
#define COLUMN_COUNT(T, path) .kind = COLUMN_KIND_COUNT, .at = COLUMN_OFFSET(T, path, int64_t : 1)
#define COLUMN_INTEGER(T, path)                                                                    \
    .kind = COLUMN_KIND_INTEGER, .at = COLUMN_OFFSET(T, path, int64_t : 1)
#define COLUMN_NUMBER(T, path) .kind = COLUMN_KIND_NUMBER, .at = COLUMN_OFFSET(T, path, double : 1)
#define COLUMN_BOOLEAN(T, path) .kind = COLUMN_KIND_BOOLEAN, .at = COLUMN_OFFSET(T, path, bool : 1)
#define COLUMN_BITS(T, path) .kind = COLUMN_KIND_BITS, .at = COLUMN_OFFSET(T, path, unsigned : 1)
#define COLUMN_TEXT(T, path)                                                                       \
    .kind = COLUMN_KIND_TEXT, .at = COLUMN_OFFSET(T, path, struct strview : 1)
#define COLUMN_JSON(T, path)                                                                       \
    .kind = COLUMN_KIND_JSON, .at = COLUMN_OFFSET(T, path, struct strview : 1)
#define COLUMN_WORD(T, path, list)                                                                 \
    .kind = COLUMN_KIND_WORD, .at = COLUMN_OFFSET(T, path, unsigned : 1, int : 1), .words = (list)
#define COLUMN_WORDS(T, path, list)                                                                \
    .kind = COLUMN_KIND_WORDS, .at = COLUMN_OFFSET(T, path, unsigned : 1, int : 1), .words = (list)
/* An array decays in _Generic, so its size is checked by itself. */
#define COLUMN_ID(T, path)                                                                         \
    .kind = COLUMN_KIND_ID, .at = COLUMN_OFFSET(T, path, char * : 1) +                             \
                                  0 * sizeof(char[sizeof(((T *)0)->path) == 37 ? 1 : -1])
#define COLUMN_INSTANT(T, path)                                                                    \
    .kind = COLUMN_KIND_INSTANT, .at = COLUMN_OFFSET(T, path, int64_t : 1)
#define COLUMN_PAIRS(T, path, count)                                                               \
    .kind = COLUMN_KIND_PAIRS, .at = COLUMN_OFFSET(T, path, struct run_label * : 1),               \
    .n_at = COLUMN_OFFSET(T, count, size_t : 1)
#define COLUMN_STRUCTS(T, path, count, columns)                                                    \
    .kind = COLUMN_KIND_STRUCTS,                                                                   \
    .at = offsetof(T, path) +                                                                      \
          0 * sizeof(char[sizeof(((T *)0)->path) == sizeof(void *) ? 1 : -1]) +                    \
          0 * sizeof *((T *)0)->path,                                                              \
    .n_at = COLUMN_OFFSET(T, count, size_t : 1), .of = (columns)

#define COLUMNS_OF(list, T) (list), sizeof(list) / sizeof *(list), sizeof(T)

/*
 * A statement with places for columns, filled in once for the process:
 *   {x}         the columns of the table named x, as rows are read
 *   {x:written} those that are written
 *   {x:values}  a parameter for each of these, numbered on from the greatest $n of the pattern
 */
struct columns_statement {
    const char *pattern;
    const struct columns *of[4];
    _Atomic(char *) text;
};

/* Begin a statement of tx, like tx_sql. Lack of memory shows when it is sent. */
void tx_columns(struct store_tx *tx, struct sql *sql, struct columns_statement *statement);
/* Likewise without the team as $1, like sql_init. */
void sql_columns(struct sql *sql, struct arena *arena, struct columns_statement *statement);

/* The parameters of {x:values}: of one struct, or an array for each over n structs. They are
 * borrowed until the statement is sent. */
void columns_bind(struct sql *sql, const struct columns *columns, const void *object);
void columns_bind_all(struct sql *sql, const struct columns *columns, const void *first, size_t n);

/* The columns of {x} from where the row stands. */
void columns_read(struct row *row, const struct columns *columns, void *object);

/* Row `at` of a result, which has the columns and no others. */
enum pv_code columns_read_row(const PGresult *result,
                              size_t at,
                              struct arena *arena,
                              const struct columns *columns,
                              void *object,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * The rows of such a result as the items of a list, {items, n, more}. Where the statement asked for
 * one row more than the limit, that row is not read, only reported in `more`. On failure the list
 * is as it was.
 */
#define columns_read_list(result, limit, arena, columns, list, err)                                \
    columns_read_items((result), (limit), (arena), (columns), (void *)&(list)->items, &(list)->n,  \
                       &(list)->more, (err))

/* What the macro stands on; items_address is the address of the pointer to the items. */
enum pv_code columns_read_items(const PGresult *result,
                                size_t limit,
                                struct arena *arena,
                                const struct columns *columns,
                                void *items_address,
                                size_t *n,
                                bool *more,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

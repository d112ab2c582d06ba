#include "core/geo/performance_book.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/history/run.h"

enum { NO_TYPE = -1, NOT_WANTED = -1 };

struct performance_book {
    const struct performance_ask *ask;
    struct arena *arena;
    int64_t *row_of; /* of each place: its row in both tables, or NOT_WANTED */
    size_t n_rows;
    const struct performance_entry **processing; /* [row * n_operations + operation] */
    const struct performance_entry **transfers;  /* [row of `to` * n_places + from] */
    struct unreachable_entry *unreachable;       /* of each place */
    struct strview *types;                       /* of the places, each once, sorted */
    size_t n_types;
    int64_t *type_of;                         /* of each place, or NO_TYPE */
    struct performance **processing_of_types; /* [type * n_operations + operation], NULL: none */
    struct performance **processing_of_all;   /* of each operation */
    struct performance **transfers_of_types;  /* [type of from * n_types + type of to] */
    struct performance *transfers_of_all;
};

static const struct performance_entry nothing = {
    .speeds = {.n = 0}, .source = PERFORMANCE_NONE, .newest_us = RUN_NO_INSTANT};

const char *performance_source_name(enum performance_source source)
{
    static const char *const names[PERFORMANCE_SOURCES] = {"none", "cluster", "machine_type",
                                                           "team"};
    return names[source];
}

const char *unreachable_source_name(enum unreachable_source source)
{
    static const char *const names[UNREACHABLE_SOURCES] = {"configured", "measured", "prior"};
    return names[source];
}

/* --- types of machines --- */

static int64_t find_type(const struct performance_book *book, struct strview name)
{
    if (name.at == NULL || book->n_types == 0)
        return NO_TYPE;
    const struct strview *found =
        bsearch(&name, book->types, book->n_types, sizeof *book->types, order_by_strview);
    return found == NULL ? NO_TYPE : found - book->types;
}

static void sort_types(struct performance_book *book)
{
    size_t n = 0;
    for (size_t i = 0; i < book->ask->n_places; i++)
        if (book->ask->places[i].machine_type.at != NULL)
            book->types[n++] = book->ask->places[i].machine_type;
    if (n > 0)
        qsort(book->types, n, sizeof *book->types, order_by_strview);
    for (size_t i = 0; i < n; i++)
        if (book->n_types == 0 || !strview_equal(book->types[book->n_types - 1], book->types[i]))
            book->types[book->n_types++] = book->types[i];
    for (size_t i = 0; i < book->ask->n_places; i++)
        book->type_of[i] = find_type(book, book->ask->places[i].machine_type);
}

/* --- making one --- */

/* rows * columns pointers, all of them NULL. */
static void *performance_book_make_table(struct arena *arena, size_t rows, size_t columns)
{
    size_t cells;
    if (__builtin_mul_overflow(rows, columns, &cells))
        return NULL;
    return arena_calloc(arena, cells, sizeof(void *));
}

static bool number_rows(struct performance_book *book)
{
    const struct performance_ask *ask = book->ask;
    book->row_of = arena_calloc(book->arena, ask->n_places, sizeof *book->row_of);
    for (size_t i = 0; book->row_of != NULL && i < ask->n_places; i++) {
        bool wanted = ask->runs == NULL || ask->runs[i];
        book->row_of[i] = wanted ? (int64_t)book->n_rows++ : NOT_WANTED;
    }
    return book->row_of != NULL;
}

static bool make_tables(struct performance_book *book)
{
    size_t places = book->ask->n_places;
    size_t operations = book->ask->n_operations;
    if (!number_rows(book))
        return false;
    book->processing = performance_book_make_table(book->arena, book->n_rows, operations);
    book->transfers = performance_book_make_table(book->arena, book->n_rows, places);
    book->unreachable = arena_calloc(book->arena, places, sizeof *book->unreachable);
    book->types = arena_calloc(book->arena, places, sizeof *book->types);
    book->type_of = arena_calloc(book->arena, places, sizeof *book->type_of);
    if (book->processing == NULL || book->transfers == NULL || book->unreachable == NULL ||
        book->types == NULL || book->type_of == NULL)
        return false;
    sort_types(book);
    book->processing_of_types = performance_book_make_table(book->arena, book->n_types, operations);
    book->processing_of_all = performance_book_make_table(book->arena, 1, operations);
    book->transfers_of_types =
        performance_book_make_table(book->arena, book->n_types, book->n_types);
    return book->processing_of_types != NULL && book->processing_of_all != NULL &&
           book->transfers_of_types != NULL;
}

static void judge_outages(struct performance_book *book,
                          size_t place,
                          const struct outage outages[],
                          size_t n,
                          int64_t first_us,
                          int64_t newest_us)
{
    const struct performance_ask *ask = book->ask;
    const struct performance_place *of = &ask->places[place];
    struct unreachable_entry *entry = &book->unreachable[place];
    reachability_find(outages, n, first_us, newest_us, ask->now_us, ask->outage_half_life_s,
                      &ask->prior, of->slot_s, &entry->measured);
    bool reported = first_us <= newest_us;
    entry->outages = n;
    entry->first_us = reported ? first_us : RUN_NO_INSTANT;
    entry->newest_us = reported ? newest_us : RUN_NO_INSTANT;
    entry->source = !isnan(of->configured) ? UNREACHABLE_CONFIGURED
                    : reported             ? UNREACHABLE_MEASURED
                                           : UNREACHABLE_PRIOR;
    entry->probability = isnan(of->configured) ? entry->measured.probability : of->configured;
}

struct performance_book *performance_book_open(const struct performance_ask *ask,
                                               struct arena *arena)
{
    struct performance_book *book = arena_calloc(arena, 1, sizeof *book);
    if (book == NULL)
        return NULL;
    book->ask = ask;
    book->arena = arena;
    if (!make_tables(book))
        return NULL;
    for (size_t i = 0; i < ask->n_places; i++)
        judge_outages(book, i, NULL, 0, 1, 0);
    return book;
}

/* Where an answer is kept; NULL: it is not wanted. */
static const struct performance_entry **
processing_cell(const struct performance_book *book, size_t place, size_t operation)
{
    int64_t row = book->row_of[place];
    return row == NOT_WANTED ? NULL
                             : &book->processing[(size_t)row * book->ask->n_operations + operation];
}

static const struct performance_entry **
transfer_cell(const struct performance_book *book, size_t from, size_t to)
{
    const struct performance_ask *ask = book->ask;
    int64_t row = book->row_of[to];
    if (row == NOT_WANTED || from == to || (ask->sends != NULL && !ask->sends[from]))
        return NULL;
    return &book->transfers[(size_t)row * ask->n_places + from];
}

/* NULL when memory is exhausted; PERFORMANCE_NONE when all of it is forgotten. */
static const struct performance_entry *make_entry(struct performance_book *book,
                                                  const struct performance *observed,
                                                  enum performance_source source)
{
    double weight = performance_weight(observed, book->ask->now_us);
    if (weight <= 0)
        return &nothing;
    struct performance_entry *entry = arena_alloc(book->arena, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->source = source;
    entry->weight = weight;
    entry->samples = observed->samples;
    entry->newest_us = observed->newest_us;
    performance_speeds(observed, &entry->speeds);
    return entry;
}

static enum pv_code performance_book_fill(struct performance_book *book,
                                          const struct performance *observed,
                                          const struct performance_entry **cell,
                                          struct pv_error *err)
{
    const struct performance_entry *entry =
        cell == NULL ? &nothing : make_entry(book, observed, PERFORMANCE_CLUSTER);
    if (entry == NULL)
        return pv_no_memory(err);
    if (entry != &nothing)
        *cell = entry;
    return PV_OK;
}

enum pv_code performance_book_add_processing(struct performance_book *book,
                                             size_t place,
                                             size_t operation,
                                             const struct performance *observed,
                                             struct pv_error *err)
{
    return performance_book_fill(book, observed, processing_cell(book, place, operation), err);
}

enum pv_code performance_book_add_transfer(struct performance_book *book,
                                           size_t from,
                                           size_t to,
                                           const struct performance *observed,
                                           struct pv_error *err)
{
    return performance_book_fill(book, observed, transfer_cell(book, from, to), err);
}

void performance_book_add_outages(struct performance_book *book,
                                  size_t place,
                                  const struct outage outages[],
                                  size_t n,
                                  int64_t first_us,
                                  int64_t newest_us)
{
    judge_outages(book, place, outages, n, first_us, newest_us);
}

/* --- pools --- */

bool performance_book_lacks_processing(const struct performance_book *book, size_t operation)
{
    for (size_t row = 0; row < book->n_rows; row++)
        if (book->processing[row * book->ask->n_operations + operation] == NULL)
            return true;
    return false;
}

bool performance_book_lacks_transfers(const struct performance_book *book)
{
    for (size_t to = 0; to < book->ask->n_places; to++) {
        for (size_t from = 0; from < book->ask->n_places; from++) {
            const struct performance_entry **cell = transfer_cell(book, from, to);
            if (cell != NULL && *cell == NULL)
                return true;
        }
    }
    return false;
}

static enum pv_code pour(struct performance_book *book,
                         struct performance **pool,
                         const struct performance *observed,
                         struct pv_error *err)
{
    if (performance_weight(observed, book->ask->now_us) <= 0)
        return PV_OK;
    if (*pool == NULL) {
        struct performance *made = arena_alloc(book->arena, sizeof *made);
        if (made == NULL)
            return pv_no_memory(err);
        performance_init(made);
        *pool = made;
    }
    performance_merge(*pool, &book->ask->terms, observed);
    return PV_OK;
}

enum pv_code performance_book_pool_processing(struct performance_book *book,
                                              size_t operation,
                                              struct strview machine_type,
                                              const struct performance *observed,
                                              struct pv_error *err)
{
    int64_t type = find_type(book, machine_type);
    size_t cell = (size_t)type * book->ask->n_operations + operation;
    PV_TRY(pour(book, &book->processing_of_all[operation], observed, err));
    if (type != NO_TYPE)
        PV_TRY(pour(book, &book->processing_of_types[cell], observed, err));
    return PV_OK;
}

enum pv_code performance_book_pool_transfer(struct performance_book *book,
                                            struct strview from_type,
                                            struct strview to_type,
                                            const struct performance *observed,
                                            struct pv_error *err)
{
    int64_t from = find_type(book, from_type);
    int64_t to = find_type(book, to_type);
    PV_TRY(pour(book, &book->transfers_of_all, observed, err));
    if (from != NO_TYPE && to != NO_TYPE)
        PV_TRY(pour(book, &book->transfers_of_types[(size_t)from * book->n_types + (size_t)to],
                    observed, err));
    return PV_OK;
}

/* Of a table of n pools, the entries that stand for them; NULL where there is no pool. */
static const struct performance_entry **finish_pools(struct performance_book *book,
                                                     struct performance *const pools[],
                                                     size_t n,
                                                     enum performance_source source)
{
    const struct performance_entry **entries = performance_book_make_table(book->arena, 1, n);
    for (size_t i = 0; entries != NULL && i < n; i++) {
        if (pools[i] == NULL)
            continue;
        entries[i] = make_entry(book, pools[i], source);
        if (entries[i] == NULL)
            return NULL;
    }
    return entries;
}

/* The first that there is, or nothing. */
static const struct performance_entry *fall_back(const struct performance_entry *type,
                                                 const struct performance_entry *pool)
{
    return type != NULL ? type : pool != NULL ? pool : &nothing;
}

static enum pv_code close_processing(struct performance_book *book, struct pv_error *err)
{
    size_t operations = book->ask->n_operations;
    const struct performance_entry **of_types = finish_pools(
        book, book->processing_of_types, book->n_types * operations, PERFORMANCE_MACHINE_TYPE);
    const struct performance_entry **of_all =
        finish_pools(book, book->processing_of_all, operations, PERFORMANCE_TEAM);
    if (of_types == NULL || of_all == NULL)
        return pv_no_memory(err);
    for (size_t place = 0; place < book->ask->n_places; place++) {
        size_t type = (size_t)book->type_of[place];
        bool typed = book->type_of[place] != NO_TYPE;
        for (size_t operation = 0; operation < operations; operation++) {
            const struct performance_entry **cell = processing_cell(book, place, operation);
            if (cell != NULL && *cell == NULL)
                *cell = fall_back(typed ? of_types[type * operations + operation] : NULL,
                                  of_all[operation]);
        }
    }
    return PV_OK;
}

static const struct performance_entry *
type_of_pair(const struct performance_book *book,
             const struct performance_entry *const of_types[],
             size_t from,
             size_t to)
{
    if (book->type_of[from] == NO_TYPE || book->type_of[to] == NO_TYPE)
        return NULL;
    return of_types[(size_t)book->type_of[from] * book->n_types + (size_t)book->type_of[to]];
}

static enum pv_code close_transfers(struct performance_book *book, struct pv_error *err)
{
    size_t n = book->ask->n_places;
    const struct performance_entry **of_types = finish_pools(
        book, book->transfers_of_types, book->n_types * book->n_types, PERFORMANCE_MACHINE_TYPE);
    const struct performance_entry **of_all =
        finish_pools(book, &book->transfers_of_all, 1, PERFORMANCE_TEAM);
    if (of_types == NULL || of_all == NULL)
        return pv_no_memory(err);
    for (size_t from = 0; from < n; from++) {
        for (size_t to = 0; to < n; to++) {
            const struct performance_entry **cell = transfer_cell(book, from, to);
            if (cell != NULL && *cell == NULL)
                *cell = fall_back(type_of_pair(book, of_types, from, to), of_all[0]);
        }
    }
    return PV_OK;
}

enum pv_code performance_book_close(struct performance_book *book, struct pv_error *err)
{
    PV_TRY(close_processing(book, err));
    return close_transfers(book, err);
}

/* --- reading --- */

const struct performance_entry *
performance_book_processing(const struct performance_book *book, size_t place, size_t operation)
{
    const struct performance_entry **cell = processing_cell(book, place, operation);
    return cell == NULL ? &nothing : *cell;
}

const struct performance_entry *
performance_book_transfer(const struct performance_book *book, size_t from, size_t to)
{
    const struct performance_entry **cell = transfer_cell(book, from, to);
    return cell == NULL ? &nothing : *cell;
}

const struct unreachable_entry *performance_book_unreachable(const struct performance_book *book,
                                                             size_t place)
{
    return &book->unreachable[place];
}

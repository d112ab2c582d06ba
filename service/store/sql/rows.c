#include <math.h>
#include <string.h>

#include "store/store_internal.h"

#define POSTGRES_EPOCH_US INT64_C(946684800000000)

struct row row_at(const PGresult *result, int at, struct arena *arena)
{
    return (struct row){.result = result, .at = at, .arena = arena};
}

void result_clear(PGresult **result)
{
    PQclear(*result);
}

void results_clear(struct results *results)
{
    for (size_t i = 0; i < sizeof results->of / sizeof *results->of; i++)
        PQclear(results->of[i]);
}

size_t row_count(const PGresult *result)
{
    int n = PQntuples(result);
    return n < 0 ? 0 : (size_t)n;
}

enum pv_code row_done(const struct row *row, struct pv_error *err)
{
    if (row->exhausted)
        return pv_no_memory(err);
    return row->unreadable ? pv_fail(err, PV_E_INTERNAL, "a row of the database cannot be read")
                           : PV_OK;
}

bool row_failed(const struct row *row)
{
    return row->exhausted || row->unreadable;
}

bool row_is_null(const struct row *row)
{
    return PQgetisnull(row->result, row->at, row->column) != 0;
}

/* The bytes of the next column, NULL for a null; moves on. */
static const unsigned char *rows_next(struct row *row, size_t *n)
{
    int column = row->column++;
    if (PQgetisnull(row->result, row->at, column))
        return NULL;
    *n = (size_t)PQgetlength(row->result, row->at, column);
    return (const unsigned char *)PQgetvalue(row->result, row->at, column);
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t get64(const unsigned char *at)
{
    return (uint64_t)get32(at) << 32 | get32(at + 4);
}

static double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

void row_uuid(struct row *row, char out[37])
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    if (at == NULL || n != 16) {
        row->unreadable |= at != NULL;
        out[0] = '\0';
        return;
    }
    size_t to = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[to++] = '-';
        out[to++] = hex[at[i] >> 4];
        out[to++] = hex[at[i] & 0xf];
    }
    out[to] = '\0';
}

static struct strview copied(struct row *row, const unsigned char *at, size_t n)
{
    char *copy = arena_strndup(row->arena, (const char *)at, n);
    row->exhausted |= copy == NULL;
    return (struct strview){copy, copy == NULL ? 0 : n};
}

struct strview row_text(struct row *row)
{
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    return at == NULL ? (struct strview){NULL, 0} : copied(row, at, n);
}

struct strview row_bytes(struct row *row)
{
    return row_text(row);
}

/* smallint, integer and bigint alike. */
int64_t row_int(struct row *row)
{
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    if (at == NULL)
        return RUN_UNKNOWN;
    if (n == 8)
        return (int64_t)get64(at);
    if (n == 4)
        return (int32_t)get32(at);
    if (n == 2)
        return (int16_t)((unsigned)at[0] << 8 | at[1]);
    row->unreadable = true;
    return RUN_UNKNOWN;
}

double row_double(struct row *row)
{
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    if (at == NULL)
        return (double)NAN;
    row->unreadable |= n != 8;
    return n == 8 ? double_of(get64(at)) : (double)NAN;
}

bool row_bool(struct row *row)
{
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    row->unreadable |= at != NULL && n != 1;
    return at != NULL && n == 1 && at[0] != 0;
}

int64_t row_instant(struct row *row)
{
    size_t n = 0;
    const unsigned char *at = rows_next(row, &n);
    if (at == NULL)
        return RUN_NO_INSTANT;
    row->unreadable |= n != 8;
    return n == 8 ? (int64_t)get64(at) + POSTGRES_EPOCH_US : RUN_NO_INSTANT;
}

/* Walks a one-dimensional binary array (layout: see sql.c). */
struct elements {
    const unsigned char *at;
    const unsigned char *end;
    size_t n;
};

static bool elements_open(struct row *row, struct elements *elements)
{
    size_t size = 0;
    const unsigned char *at = rows_next(row, &size);
    *elements = (struct elements){0};
    if (at == NULL)
        return false;
    if (size < 12 || get32(at) > 1 || (get32(at) == 1 && size < 20)) {
        row->unreadable = true;
        return false;
    }
    if (get32(at) == 1)
        *elements = (struct elements){at + 20, at + size, get32(at + 12)};
    if (elements->n > (size - 12) / 4) { /* each has its length: nothing is allocated for a lie */
        row->unreadable = true;
        return false;
    }
    return true;
}

/* The next element; NULL for a null. A damaged array makes the row unreadable. */
static const unsigned char *element(struct row *row, struct elements *elements, size_t *n)
{
    *n = 0;
    if (elements->end - elements->at < 4) {
        row->unreadable = true;
        return NULL;
    }
    uint32_t length = get32(elements->at);
    elements->at += 4;
    if (length == UINT32_MAX)
        return NULL;
    if ((size_t)(elements->end - elements->at) < length) {
        row->unreadable = true;
        return NULL;
    }
    const unsigned char *at = elements->at;
    elements->at += length;
    *n = length;
    return at;
}

size_t row_array_length(const struct row *row)
{
    if (row_is_null(row) || PQgetlength(row->result, row->at, row->column) < 20)
        return 0;
    return get32((const unsigned char *)PQgetvalue(row->result, row->at, row->column) + 12);
}

int64_t *row_counts(struct row *row, size_t *n)
{
    struct elements elements;
    *n = 0;
    if (!elements_open(row, &elements))
        return NULL;
    int64_t *counts = arena_array(row->arena, elements.n, sizeof *counts);
    row->exhausted |= counts == NULL;
    for (size_t i = 0; counts != NULL && i < elements.n; i++) {
        size_t size;
        const unsigned char *at = element(row, &elements, &size);
        row->unreadable |= at != NULL && size != 8;
        counts[i] = size == 8 ? (int64_t)get64(at) : RUN_UNKNOWN;
    }
    *n = counts == NULL ? 0 : elements.n;
    return counts;
}

double *row_doubles(struct row *row, size_t *n)
{
    struct elements elements;
    *n = 0;
    if (!elements_open(row, &elements))
        return NULL;
    double *numbers = arena_array(row->arena, elements.n, sizeof *numbers);
    row->exhausted |= numbers == NULL;
    for (size_t i = 0; numbers != NULL && i < elements.n; i++) {
        size_t size;
        const unsigned char *at = element(row, &elements, &size);
        row->unreadable |= at != NULL && size != 8;
        numbers[i] = size == 8 ? double_of(get64(at)) : (double)NAN;
    }
    *n = numbers == NULL ? 0 : elements.n;
    return numbers;
}

bool *row_bools(struct row *row, size_t *n)
{
    struct elements elements;
    *n = 0;
    if (!elements_open(row, &elements))
        return NULL;
    bool *truths = arena_array(row->arena, elements.n, sizeof *truths);
    row->exhausted |= truths == NULL;
    for (size_t i = 0; truths != NULL && i < elements.n; i++) {
        size_t size;
        const unsigned char *at = element(row, &elements, &size);
        row->unreadable |= at != NULL && size != 1;
        truths[i] = size == 1 && at[0] != 0;
    }
    *n = truths == NULL ? 0 : elements.n;
    return truths;
}

struct strview *row_texts(struct row *row, size_t *n)
{
    struct elements elements;
    *n = 0;
    if (!elements_open(row, &elements))
        return NULL;
    struct strview *texts = arena_array(row->arena, elements.n, sizeof *texts);
    row->exhausted |= texts == NULL;
    for (size_t i = 0; texts != NULL && i < elements.n; i++) {
        size_t size;
        const unsigned char *at = element(row, &elements, &size);
        texts[i] = at == NULL ? (struct strview){NULL, 0} : copied(row, at, size);
    }
    *n = texts == NULL ? 0 : elements.n;
    return texts;
}

struct run_label *row_pairs(struct row *row, size_t *n)
{
    size_t n_keys;
    size_t n_values;
    struct strview *keys = row_texts(row, &n_keys);
    struct strview *values = row_texts(row, &n_values);
    *n = 0;
    struct run_label *pairs = arena_array(row->arena, n_keys, sizeof *pairs);
    row->exhausted |= pairs == NULL;
    row->unreadable |= !row->exhausted && n_keys != n_values;
    if (row_failed(row))
        return NULL;
    for (size_t i = 0; i < n_keys; i++)
        pairs[i] = (struct run_label){keys[i], values[i]};
    *n = n_keys;
    return pairs;
}

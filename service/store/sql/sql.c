#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "store/store_internal.h"

/* Types of the server (pg_type.dat); they never change. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_JSON = 114,
    OID_FLOAT8 = 701,
    OID_BOOLS = 1000,
    OID_TEXTS = 1009,
    OID_INT8S = 1016,
    OID_FLOAT8S = 1022,
    OID_TIMESTAMPTZ = 1184,
    OID_UUID = 2950,
    OID_UUIDS = 2951
};

/* Microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL counts from. */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)

void sql_init(struct sql *sql, struct arena *arena, const char *text)
{
    sql->text = text;
    sql->arena = arena;
    sql->n = 0;
    sql->exhausted = false;
    sql->repeated = false;
}

static void sql_add(struct sql *sql, Oid type, const void *at, size_t n, bool binary)
{
    assert(sql->n < SQL_PARAMETERS_MAX);
    if (n > INT_MAX) {
        sql->exhausted = true;
        return;
    }
    sql->types[sql->n] = type;
    sql->values[sql->n] = at;
    sql->lengths[sql->n] = (int)n;
    sql->formats[sql->n] = binary ? 1 : 0;
    sql->n++;
}

static void put32(unsigned char *at, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(bits >> (24 - 8 * i));
}

static void put64(unsigned char *at, uint64_t bits)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(bits >> (56 - 8 * i));
}

static uint64_t double_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void add64(struct sql *sql, Oid type, uint64_t bits, bool null)
{
    assert(sql->n < SQL_PARAMETERS_MAX);
    unsigned char *at = sql->fixed[sql->n];
    put64(at, bits);
    sql_add(sql, type, null ? NULL : at, 8, true);
}

void sql_uuid(struct sql *sql, const char *uuid)
{
    bool null = uuid == NULL || uuid[0] == '\0';
    sql_add(sql, OID_UUID, null ? NULL : uuid, null ? 0 : strlen(uuid), false);
}

void sql_text(struct sql *sql, struct strview text)
{
    sql_add(sql, OID_TEXT, text.at, text.n, true);
}

void sql_json(struct sql *sql, struct strview text)
{
    sql_add(sql, OID_JSON, text.at, text.n, true);
}

void sql_bytes(struct sql *sql, const void *at, size_t n)
{
    sql_add(sql, OID_BYTEA, at, n, true);
}

void sql_int(struct sql *sql, int64_t number)
{
    add64(sql, OID_INT8, (uint64_t)number, false);
}

void sql_count(struct sql *sql, int64_t count)
{
    add64(sql, OID_INT8, (uint64_t)count, count == RUN_UNKNOWN);
}

void sql_double(struct sql *sql, double number)
{
    add64(sql, OID_FLOAT8, double_bits(number), isnan(number));
}

void sql_bool(struct sql *sql, bool truth)
{
    assert(sql->n < SQL_PARAMETERS_MAX);
    unsigned char *at = sql->fixed[sql->n];
    at[0] = truth ? 1 : 0;
    sql_add(sql, OID_BOOL, at, 1, true);
}

void sql_bound(struct sql *sql, int64_t us, const char *open)
{
    if (us == RUN_NO_INSTANT)
        sql_add(sql, OID_TIMESTAMPTZ, open, strlen(open), false);
    else
        sql_instant(sql, us);
}

void sql_instant(struct sql *sql, int64_t us)
{
    bool null = us == RUN_NO_INSTANT;
    add64(sql, OID_TIMESTAMPTZ, null ? 0 : (uint64_t)(us - POSTGRES_EPOCH_US), null);
}

/*
 * Binary arrays: dimensions, whether there are nulls, type of the elements, then for the one
 * dimension its length and lower bound, then each element as length (-1: null) and bytes.
 */
enum { ARRAY_HEADER = 20 };

/* Room for n elements that need at most `body` bytes together; NULL when there is none. */
static unsigned char *array_open(struct sql *sql, Oid element, size_t n, size_t body)
{
    size_t size;
    if (n > INT_MAX || __builtin_mul_overflow(n, (size_t)4, &size) ||
        __builtin_add_overflow(size, body, &size) ||
        __builtin_add_overflow(size, (size_t)ARRAY_HEADER, &size)) {
        sql->exhausted = true;
        return NULL;
    }
    unsigned char *at = arena_alloc(sql->arena, size);
    if (at == NULL) {
        sql->exhausted = true;
        return NULL;
    }
    put32(at, n == 0 ? 0 : 1);
    put32(at + 4, 1); /* there may be nulls */
    put32(at + 8, (uint32_t)element);
    put32(at + 12, (uint32_t)n);
    put32(at + 16, 1);
    return at;
}

static void array_close(struct sql *sql, Oid type, const unsigned char *at, size_t n, size_t used)
{
    sql_add(sql, type, at, n == 0 ? 12 : used, true);
}

static const void *strided(const void *first, size_t i, size_t stride)
{
    return (const char *)first + i * stride;
}

/* One element of at most 8 bytes; returns what follows it. */
static unsigned char *
put_fixed(unsigned char *at, bool null, const unsigned char bytes[8], size_t n)
{
    if (null) {
        put32(at, UINT32_MAX);
        return at + 4;
    }
    put32(at, (uint32_t)n);
    memcpy(at + 4, bytes, n);
    return at + 4 + n;
}

/* The bytes of n elements of `each`; false, and the statement exhausted, when they overflow. */
static bool body_of(struct sql *sql, size_t n, size_t each, size_t *body)
{
    if (!__builtin_mul_overflow(n, each, body))
        return true;
    sql->exhausted = true;
    return false;
}

void sql_counts(struct sql *sql, const int64_t *first, size_t n, size_t stride)
{
    size_t body;
    unsigned char *start = body_of(sql, n, 8, &body) ? array_open(sql, OID_INT8, n, body) : NULL;
    if (start == NULL)
        return;
    unsigned char *at = start + ARRAY_HEADER;
    for (size_t i = 0; i < n; i++) {
        int64_t count = *(const int64_t *)strided(first, i, stride);
        unsigned char bytes[8];
        put64(bytes, (uint64_t)count);
        at = put_fixed(at, count == RUN_UNKNOWN, bytes, 8);
    }
    array_close(sql, OID_INT8S, start, n, (size_t)(at - start));
}

void sql_doubles(struct sql *sql, const double *first, size_t n, size_t stride)
{
    size_t body;
    unsigned char *start = body_of(sql, n, 8, &body) ? array_open(sql, OID_FLOAT8, n, body) : NULL;
    if (start == NULL)
        return;
    unsigned char *at = start + ARRAY_HEADER;
    for (size_t i = 0; i < n; i++) {
        double number = *(const double *)strided(first, i, stride);
        unsigned char bytes[8];
        put64(bytes, double_bits(number));
        at = put_fixed(at, isnan(number), bytes, 8);
    }
    array_close(sql, OID_FLOAT8S, start, n, (size_t)(at - start));
}

void sql_bools(struct sql *sql, const bool *first, size_t n, size_t stride)
{
    unsigned char *start = array_open(sql, OID_BOOL, n, n);
    if (start == NULL)
        return;
    unsigned char *at = start + ARRAY_HEADER;
    for (size_t i = 0; i < n; i++) {
        unsigned char byte[8] = {*(const bool *)strided(first, i, stride) ? 1 : 0};
        at = put_fixed(at, false, byte, 1);
    }
    array_close(sql, OID_BOOLS, start, n, (size_t)(at - start));
}

void sql_texts(struct sql *sql, const struct strview *first, size_t n, size_t stride)
{
    size_t body = 0;
    for (size_t i = 0; i < n; i++) {
        const struct strview *text = strided(first, i, stride);
        if (text->n > INT_MAX || __builtin_add_overflow(body, text->n, &body)) {
            sql->exhausted = true;
            return;
        }
    }
    unsigned char *start = array_open(sql, OID_TEXT, n, body);
    if (start == NULL)
        return;
    unsigned char *at = start + ARRAY_HEADER;
    for (size_t i = 0; i < n; i++) {
        const struct strview *text = strided(first, i, stride);
        put32(at, text->at == NULL ? UINT32_MAX : (uint32_t)text->n);
        at += 4;
        if (text->at != NULL && text->n > 0)
            memcpy(at, text->at, text->n);
        at += text->n;
    }
    array_close(sql, OID_TEXTS, start, n, (size_t)(at - start));
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10) & 0xf;
}

static void uuid_bytes(const char *text, unsigned char out[16])
{
    for (size_t i = 0; i < 16; i++) {
        if (*text == '-')
            text++;
        out[i] = (unsigned char)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
        text += 2;
    }
}

void sql_uuids(struct sql *sql, const char *first, size_t n, size_t stride)
{
    size_t body;
    unsigned char *start = body_of(sql, n, 16, &body) ? array_open(sql, OID_UUID, n, body) : NULL;
    if (start == NULL)
        return;
    unsigned char *at = start + ARRAY_HEADER;
    for (size_t i = 0; i < n; i++) {
        const char *uuid = strided(first, i, stride);
        bool null = uuid[0] == '\0';
        put32(at, null ? UINT32_MAX : 16);
        if (!null)
            uuid_bytes(uuid, at + 4);
        at += null ? 4 : 20;
    }
    array_close(sql, OID_UUIDS, start, n, (size_t)(at - start));
}

void sql_pairs(struct sql *sql, const struct run_label *pairs, size_t n)
{
    sql_texts(sql, n == 0 ? NULL : &pairs->key, n, sizeof *pairs);
    sql_texts(sql, n == 0 ? NULL : &pairs->value, n, sizeof *pairs);
}

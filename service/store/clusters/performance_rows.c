#include <stdlib.h>

#include "base/order.h"
#include "store/clusters/performance_internal.h"

/* --- whose a row is --- */

static int by_text(const void *a, const void *b)
{
    return compare_strview(((const struct performance_key *)a)->text,
                           ((const struct performance_key *)b)->text);
}

enum pv_code performance_index_make(struct performance_index *index,
                                    struct arena *arena,
                                    const struct strview *first,
                                    size_t n,
                                    size_t stride,
                                    struct pv_error *err)
{
    index->n = 0;
    index->keys = arena_array(arena, n, sizeof *index->keys);
    if (index->keys == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct strview *text = (const void *)((const char *)first + i * stride);
        if (text->n > 0)
            index->keys[index->n++] = (struct performance_key){*text, i};
    }
    if (index->n > 0)
        qsort(index->keys, index->n, sizeof *index->keys, by_text);
    return PV_OK;
}

static bool
performance_rows_find(const struct performance_index *index, struct strview text, size_t *at)
{
    const struct performance_key key = {text, 0};
    if (text.n == 0 || index->n == 0)
        return false;
    const struct performance_key *found =
        bsearch(&key, index->keys, index->n, sizeof *index->keys, by_text);
    if (found != NULL)
        *at = found->at;
    return found != NULL;
}

bool performance_index_text(const struct performance_index *index, struct row *row, size_t *at)
{
    return performance_rows_find(index, row_text(row), at);
}

bool performance_index_uuid(const struct performance_index *index, struct row *row, size_t *at)
{
    char id[37] = "";
    row_uuid(row, id);
    return performance_rows_find(index, strview_of(id), at);
}

/* --- reading --- */

void performance_row_read(struct row *row, struct performance *performance)
{
    size_t n[3] = {0};
    performance_init(performance);
    performance->landmark_us = row_int(row);
    performance->half_life_s = row_int(row);
    performance->level = row_int(row);
    performance->samples = row_int(row);
    performance->newest_us = row_int(row);
    const int64_t *bins = row_counts(row, &n[0]);
    const double *weights = row_doubles(row, &n[1]);
    const double *masses = row_doubles(row, &n[2]);
    row->unreadable |=
        !row->exhausted && (n[0] > PERFORMANCE_BINS_MAX || n[1] != n[0] || n[2] != n[0]);
    if (row_failed(row) || n[0] == 0)
        return;
    performance->n = n[0];
    memcpy(performance->index, bins, n[0] * sizeof *bins);
    memcpy(performance->weight, weights, n[0] * sizeof *weights);
    memcpy(performance->mass, masses, n[0] * sizeof *masses);
}

static const struct column of_outage[] = {
    {"outage_from_us", COLUMN_COUNT(struct outage, from_us)},
    {"outage_until_us", COLUMN_COUNT(struct outage, until_us)},
};
const struct columns performance_outage_columns = {"outage", COLUMNS_OF(of_outage, struct outage)};

struct outage *performance_outages_read(struct row *row, size_t *n)
{
    struct outages {
        struct outage *items;
        size_t n;
    } read;
    static const struct column column = {
        NULL, COLUMN_STRUCTS(struct outages, items, n, &performance_outage_columns)};
    static const struct columns columns = {"outages", &column, 1, sizeof(struct outages)};
    columns_read(row, &columns, &read);
    *n = read.n;
    return read.items;
}

/* --- writing --- */

/* A row beside its bins. */
struct line {
    int64_t landmark_us;
    int64_t half_life_s;
    int64_t level;
    int64_t samples;
    int64_t newest_us;
    int64_t forgotten_us;
    int64_t first; /* counted from 1, as the server does */
    int64_t last;
};

#define LINE struct line
static const struct column of_line[] = {
    {"landmark_us", COLUMN_COUNT(LINE, landmark_us)},
    {"half_life_s", COLUMN_COUNT(LINE, half_life_s)},
    {"level", COLUMN_COUNT(LINE, level)},
    {"samples", COLUMN_COUNT(LINE, samples)},
    {"newest_us", COLUMN_COUNT(LINE, newest_us)},
    {"forgotten_us", COLUMN_COUNT(LINE, forgotten_us)},
    {"first", COLUMN_COUNT(LINE, first)},
    {"last", COLUMN_COUNT(LINE, last)},
};
static const struct columns line_columns = {"line", COLUMNS_OF(of_line, LINE)};

struct bin {
    int64_t index;
    double weight;
    double mass;
};

void performance_rows_bind(struct sql *sql, const struct performance *const rows[], size_t n)
{
    struct line *lines = arena_array(sql->arena, n, sizeof *lines);
    struct bin *bins = arena_array(sql->arena, n, PERFORMANCE_BINS_MAX * sizeof *bins);
    size_t n_bins = 0;
    if (lines == NULL || bins == NULL) {
        sql->exhausted = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct performance *p = rows[i];
        lines[i] = (struct line){.landmark_us = p->landmark_us,
                                 .half_life_s = p->half_life_s,
                                 .level = p->level,
                                 .samples = p->samples,
                                 .newest_us = p->newest_us,
                                 .forgotten_us = performance_forgotten_us(p),
                                 .first = (int64_t)n_bins + 1,
                                 .last = (int64_t)(n_bins + p->n)};
        for (size_t k = 0; k < rows[i]->n; k++)
            bins[n_bins++] = (struct bin){rows[i]->index[k], rows[i]->weight[k], rows[i]->mass[k]};
    }
    columns_bind_all(sql, &line_columns, lines, n);
    sql_counts(sql, &bins->index, n_bins, sizeof *bins);
    sql_doubles(sql, &bins->weight, n_bins, sizeof *bins);
    sql_doubles(sql, &bins->mass, n_bins, sizeof *bins);
}

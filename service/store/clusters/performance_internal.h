#ifndef STORE_CLUSTERS_PERFORMANCE_INTERNAL_H
#define STORE_CLUSTERS_PERFORMANCE_INTERNAL_H

#include "core/geo/performance.h"
#include "core/geo/reachability.h"
#include "store/sql/columns.h"

/* A distribution as columns, shared by the tables that hold some (performance_rows.c). */

/* What performance_row_read reads. `of` is the table's alias and a dot. */
#define PERFORMANCE_COLUMNS(of)                                                                    \
    of "landmark_us, " of "half_life_s, " of "level, " of "samples, " of "newest_us, " of          \
       "bins, " of "weights, " of "masses"

void performance_row_read(struct row *row, struct performance *performance);

/*
 * Which of some texts one is. Rows are asked for by arrays of ids and names and say whose they are,
 * which is cheaper to look up here than to join: the server cannot know how many rows match, and
 * guesses wrong.
 */
struct performance_index {
    struct performance_key {
        struct strview text;
        size_t at;
    } * keys; /* sorted */
    size_t n;
};

/* Texts borrowed, found in an array of structs: the first one's address, how many, how far apart;
 * empty ones are left out. PV_E_MEMORY. */
enum pv_code performance_index_make(struct performance_index *index,
                                    struct arena *arena,
                                    const struct strview *first,
                                    size_t n,
                                    size_t stride,
                                    struct pv_error *err) PV_MUSTCHECK;

/* The next column, a text or a uuid; false: it is none of them, or cannot be read. */
bool performance_index_text(const struct performance_index *index, struct row *row, size_t *at);
bool performance_index_uuid(const struct performance_index *index, struct row *row, size_t *at);

extern const struct columns performance_outage_columns;

/* Two columns, in the arena: the outages of a cluster. NULLs give none. */
struct outage *performance_outages_read(struct row *row, size_t *n);

/*
 * Many rows as eleven parameters: eight arrays of a value a row, to be unnested side by side (the
 * order of PERFORMANCE_COLUMNS, then forgotten_us in microseconds, and where a row's bins begin and
 * end, counted from 1), and the bins of all rows: their numbers, weights and masses.
 */
void performance_rows_bind(struct sql *sql, const struct performance *const rows[], size_t n);

#endif

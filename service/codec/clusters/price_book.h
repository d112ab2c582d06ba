#ifndef CODEC_CLUSTERS_PRICE_BOOK_H
#define CODEC_CLUSTERS_PRICE_BOOK_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/cluster/price.h"

/* A price book as it stands on the wire. */
struct codec_price_book {
    struct strview currency;
    struct price_row *rows;
    size_t n_rows;
    /* replies only */
    const char *id;
    struct strview name;
    int64_t version;
    int64_t created_us;
    int64_t updated_us;
};

/* Prices are amounts of money an hour, at most this. */
#define CODEC_PRICE_MAX 1e12
/* Interruptions an hour: one a second. */
#define CODEC_INTERRUPTIONS_MAX 3600.0

/* Three capital letters, as ISO 4217 has them. */
bool codec_is_currency(struct strview text);

/*
 * {currency, prices: [{machine_type | cluster, per_executor_hour, spot_per_executor_hour?,
 * interruptions_per_hour?}]}: 1 to rows_max rows, each naming one of both, no machine type and no
 * cluster twice (the fault is at the second one); interruptions only with a spot price.
 */
void codec_price_book_decode(const struct codec_node *node,
                             size_t rows_max,
                             struct codec_price_book *book);

/* prices: with the rows, else their number only. */
void codec_price_book_encode(struct writer *w, const struct codec_price_book *book, bool prices);

/*
 * The first row that names what an earlier one names, and that earlier one; false: none. O(n log
 * n). *failed: memory is exhausted.
 */
bool codec_price_find_twice(const struct price_row rows[],
                            size_t n,
                            struct arena *arena,
                            size_t *first,
                            size_t *second,
                            bool *failed);

#endif

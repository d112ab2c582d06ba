#ifndef CODEC_CLUSTERS_PRICE_BOOK_H
#define CODEC_CLUSTERS_PRICE_BOOK_H

#include "codec/clusters/price_rules.h"
#include "codec/json/shape.h"
#include "core/cluster/price.h"

struct codec_price_book_limits {
    int64_t rows;
};

extern const struct shape codec_price_shape;
extern const struct shape codec_price_book_shape;
extern const struct shape codec_price_book_summary_shape;

/* The faults of price_rules_check at the members of an object, where they have these names. */
void codec_price_check(const struct codec_node *object, const char *const names[PRICE_MEMBERS]);

/* Three capital letters, as ISO 4217 has them. */
bool codec_is_currency(struct strview text);

/*
 * {currency, prices: [{machine_type | cluster, per_executor_hour | per_machine_hour, ...}]}: 1 to
 * limits->rows rows, each naming one of both, no machine type and no cluster twice (the fault is at
 * the second one); members that go together by price_rules_check.
 */
void codec_price_book_decode(const struct codec_node *node,
                             const struct codec_price_book_limits *limits,
                             struct price_book *book);

/* prices: with the rows, else their number only. */
void codec_price_book_encode(struct writer *w, const struct price_book *book, bool prices);

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

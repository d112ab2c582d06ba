#ifndef STORE_CLUSTERS_PRICE_BOOK_H
#define STORE_CLUSTERS_PRICE_BOOK_H

#include "core/cluster/price.h"
#include "store/store.h"

/* The price books of a team. All texts of results live in `arena`; writers add the audit row. */

/* *found tells whether there is one of that name. */
enum pv_code store_price_book_look(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   bool with_rows,
                                   struct price_book *book,
                                   bool *found,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Like those of clusters (store/clusters/cluster.h); rows are replaced as a whole. */
enum pv_code store_price_book_insert(struct store_tx *tx,
                                     struct arena *arena,
                                     int64_t most,
                                     struct price_book *book,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_price_book_update(struct store_tx *tx,
                                     struct arena *arena,
                                     struct price_book *book,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_price_book_delete(struct store_tx *tx,
                                     const struct price_book *book,
                                     struct pv_error *err) PV_MUSTCHECK;

struct price_book_list {
    struct price_book *items; /* without their rows */
    size_t n;
    bool more;
};

/* By name, behind `after`; currency NULL: of any. */
enum pv_code store_price_book_list(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *currency,
                                   const char *after,
                                   size_t limit,
                                   struct price_book_list *list,
                                   struct pv_error *err) PV_MUSTCHECK;

enum pv_code store_price_find(struct store_tx *tx,
                              struct arena *arena,
                              const char *price_book_id,
                              struct strview cluster,
                              struct strview machine_type,
                              struct price_found *price,
                              bool *found,
                              struct pv_error *err) PV_MUSTCHECK;

#endif

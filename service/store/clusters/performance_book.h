#ifndef STORE_CLUSTERS_PERFORMANCE_BOOK_H
#define STORE_CLUSTERS_PERFORMANCE_BOOK_H

#include "core/geo/performance_book.h"
#include "store/store.h"

/*
 * What is known of the places and operations that are asked for (core/geo/performance_book.h says
 * how to read it), in one round trip, or three where something has to be taken from others. Pools
 * are made of at most POOL_OPERATION clusters for an operation and POOL_PAIRS pairs of clusters,
 * drawn by a hash where there are more.
 *
 * Borrows the ask; the book lives in the arena. PV_E_MEMORY where it gets too large.
 */
enum { POOL_OPERATION = 500, POOL_PAIRS = 2000 };

enum pv_code store_performance_book(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct performance_ask *ask,
                                    const struct performance_book **book,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

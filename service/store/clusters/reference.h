#ifndef STORE_CLUSTERS_REFERENCE_H
#define STORE_CLUSTERS_REFERENCE_H

#include "base/strview.h"
#include "store/store.h"

/*
 * What refers to what. Foreign keys guard the references; before something is deleted its row is
 * locked and those who refer to it are listed, so that the refusal can say who they are. Who can
 * refer to a kind of thing is a view of the schema (migration 0011).
 */
enum reference_kind { REFERENCE_TO_CLUSTER, REFERENCE_TO_PRICE_BOOK };

struct reference {
    struct strview kind; /* "price book", "cluster" */
    struct strview name;
};

struct reference_list {
    struct reference *items;
    size_t n;
    bool more;
};

/* Lock the row against being deleted, changed or referred to, and list at most `limit` of those
 * that refer to it, by kind and name. */
enum pv_code store_reference_list(struct store_tx *tx,
                                  struct arena *arena,
                                  enum reference_kind kind,
                                  const char *id,
                                  size_t limit,
                                  struct reference_list *list,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * One at a time, of a team, changes its clusters and price books, until its transaction ends: what
 * was read is then still so when it is written (versions, whether a name is free, how many there
 * are, which prices name a cluster that comes).
 */
enum pv_code store_registry_lock(struct store_tx *tx, struct pv_error *err) PV_MUSTCHECK;

/* PV_E_LIMIT where the team has `most` of the kind. */
enum pv_code store_registry_check_number(struct store_tx *tx,
                                         enum reference_kind kind,
                                         int64_t most,
                                         struct pv_error *err) PV_MUSTCHECK;

#endif

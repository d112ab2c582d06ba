#ifndef STORE_CLUSTERS_CLUSTER_H
#define STORE_CLUSTERS_CLUSTER_H

#include "core/cluster/cluster.h"
#include "store/store.h"

/* The clusters of a team. All texts of results live in `arena`; writers add the audit row. */

/* *found tells whether there is one of that name. */
enum pv_code store_cluster_look(struct store_tx *tx,
                                struct arena *arena,
                                const char *name,
                                struct cluster *cluster,
                                bool *found,
                                struct pv_error *err) PV_MUSTCHECK;

/* Likewise, and hold it up to the end of the transaction: others who hold it wait, who refers to it does
 * not. */
enum pv_code store_cluster_hold(struct store_tx *tx,
                                struct arena *arena,
                                const char *name,
                                struct cluster *cluster,
                                bool *found,
                                struct pv_error *err) PV_MUSTCHECK;

/* clusters[i] is that of names[i]; of a name that nobody has, its id is "". One statement. */
enum pv_code store_cluster_of_names(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct strview names[],
                                    size_t n,
                                    struct cluster clusters[],
                                    struct pv_error *err) PV_MUSTCHECK;

/*
 * Writers hold store_registry_lock and have looked. Insert gives an id, version 1 and instants;
 * PV_E_LIMIT: the team has `most` already. Update keeps id, name and creation, and raises the
 * version. Of the price book only price_book_id is taken: it must be there.
 */
enum pv_code store_cluster_insert(struct store_tx *tx,
                                  struct arena *arena,
                                  int64_t most,
                                  struct cluster *cluster,
                                  struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_cluster_update(struct store_tx *tx,
                                  struct arena *arena,
                                  struct cluster *cluster,
                                  struct pv_error *err) PV_MUSTCHECK;
/* Nothing may refer to it (store_reference_list). */
enum pv_code store_cluster_delete(struct store_tx *tx,
                                  const struct cluster *cluster,
                                  struct pv_error *err) PV_MUSTCHECK;

/* What is not given selects everything. */
struct cluster_filter {
    const char *price_book;
    const char *machine_type;
    const struct run_label *labels; /* all of them */
    size_t n_labels;
};

struct cluster_list {
    struct cluster *items;
    size_t n;
    bool more;
};

/* By name, behind `after`. */
enum pv_code store_cluster_list(struct store_tx *tx,
                                struct arena *arena,
                                const struct cluster_filter *filter,
                                const char *after,
                                size_t limit,
                                struct cluster_list *list,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef STORE_CLUSTERS_PERFORMANCE_H
#define STORE_CLUSTERS_PERFORMANCE_H

#include "base/strview.h"
#include "core/geo/performance.h"
#include "core/geo/reachability.h"
#include "store/store.h"

/*
 * What clusters report (migration 0016). A report is read, added to (core/geo) and written in one
 * transaction that holds the cluster's row, so reports of a cluster take turns. Everything lives in
 * `arena`.
 */
struct performance_held {
    char cluster_id[37];
    struct performance *processing; /* of each operation asked for; n 0 where there is none */
    char (*from_ids)[37];           /* of each cluster asked for; "": there is none of that name */
    struct performance *transfers;  /* likewise */
    int64_t operations;             /* that are known of the cluster, those asked for among them */
    int64_t senders;                /* likewise */
    struct outage *outages;
    size_t n_outages;
    int64_t first_us; /* what was reported on */
    int64_t newest_us;
};

/* Names: each once. */
struct performance_named {
    struct strview cluster;
    const struct strview *operations;
    size_t n_operations;
    const struct strview *senders;
    size_t n_senders;
    int64_t first_us; /* the report's own */
    int64_t newest_us;
    int64_t now_us; /* what was forgotten by then counts as absent */
    int64_t outage_half_life_s;
};

/*
 * Lock and read. *found: whether there is a cluster of that name. The clusters named stay until the
 * transaction ends; which of the senders are there is for the caller to see.
 */
enum pv_code store_performance_hold(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct performance_named *named,
                                    struct performance_held *held,
                                    bool *found,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Write what became of it, a statement a table, and the audit row. Those without bins are left
 * out. */
enum pv_code store_performance_save(struct store_tx *tx,
                                    const struct performance_named *named,
                                    const struct performance_held *held,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Remove, at most `batch` of each table, what tells nothing any more; *gone is the most that went
 * from one of them. */
enum pv_code store_performance_expire(struct store_tx *tx,
                                      size_t batch,
                                      size_t *gone,
                                      struct pv_error *err) PV_MUSTCHECK;

/* --- what there is to show --- */

/* The operations of the cluster, and of the team's at most `most` more, in order. */
enum pv_code store_performance_operations(struct store_tx *tx,
                                          struct arena *arena,
                                          const char *cluster_id,
                                          size_t most,
                                          struct strview **operations,
                                          size_t *n,
                                          struct pv_error *err) PV_MUSTCHECK;

#endif

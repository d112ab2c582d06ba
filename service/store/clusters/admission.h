#ifndef STORE_CLUSTERS_ADMISSION_H
#define STORE_CLUSTERS_ADMISSION_H

#include "core/cluster/admission.h"
#include "core/cluster/reservations.h"
#include "store/store.h"

/*
 * Cores and memory of clusters that are reserved for runs: the table provisor.admission. Whoever is
 * about to reserve or to extend holds the cluster (store_cluster_hold, store_admission_hold) up to
 * the commit, on any replica, so that nobody else does. Instants are those of the database's clock.
 * All texts of results live in `arena`; writers add the audit row.
 */

/*
 * What is reserved of a cluster that the transaction holds and is not over yet, but for the
 * admission `except` ("": none), and the time now. Read after the cluster is held, since whoever
 * held it before may have added some.
 */
struct admission_holdings {
    struct reservation *items;
    size_t n;
    int64_t now_us;
};
enum pv_code store_admission_holdings(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *cluster_id,
                                      const char *except,
                                      struct admission_holdings *holdings,
                                      struct pv_error *err) PV_MUSTCHECK;

/* Gives an id and what the database adds; the rest of *admission is what is to be stored, except the
 * name of the cluster, which stays. */
enum pv_code store_admission_insert(struct store_tx *tx,
                                    struct arena *arena,
                                    struct admission *admission,
                                    struct pv_error *err) PV_MUSTCHECK;

/* PV_E_NOT_FOUND. */
enum pv_code store_admission_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct admission *admission,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Likewise, and hold it and, before it, its cluster. */
enum pv_code store_admission_hold(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct admission *admission,
                                  struct pv_error *err) PV_MUSTCHECK;

/* It is held, and its cluster; *admission is as it is then. */
enum pv_code store_admission_extend(struct store_tx *tx,
                                    struct arena *arena,
                                    int64_t expires_us,
                                    struct admission *admission,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Give it back. Of one that is over already nothing changes. PV_E_NOT_FOUND. */
enum pv_code
store_admission_release(struct store_tx *tx, const char *id, struct pv_error *err) PV_MUSTCHECK;

/*
 * The report of a run that succeeded gives back what was reserved for it, one admission at most:
 * of its application, one that follows the advice that the run followed, else (by the run or the
 * admission no advice is named) the one that began first and had begun before the run ended.
 * Deferred.
 */
enum pv_code admission_release_by_run(struct store_tx *tx,
                                      struct strview application,
                                      const struct run *run,
                                      struct pv_error *err) PV_MUSTCHECK;

/* What is not given selects everything. */
struct admission_filter {
    const char *cluster;
    const char *application;
    const char *status; /* one of admission_status_words */
};

struct admission_list {
    struct admission *items;
    size_t n;
    bool more;
};

/* In the order in which they were made, behind the id `after` ("": from the first). */
enum pv_code store_admission_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct admission_filter *filter,
                                  const char *after,
                                  size_t limit,
                                  struct admission_list *list,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Across teams: those that nobody gave back in time are expired, at most `batch`, and each is
 * reported (event admission.expired) by the transaction that does so. */
enum pv_code store_admissions_expire(struct store *store,
                                     int64_t batch,
                                     int64_t *expired,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Delete those that ended more than so many days ago, at most `batch`. */
enum pv_code store_admissions_delete_ended(struct store_tx *tx,
                                           int64_t days,
                                           size_t batch,
                                           size_t *gone,
                                           struct pv_error *err) PV_MUSTCHECK;

#endif

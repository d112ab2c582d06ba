#ifndef STORE_MAINTENANCE_MAINTENANCE_H
#define STORE_MAINTENANCE_MAINTENANCE_H

#include "base/strview.h"
#include "store/store.h"

/*
 * What the housekeeping needs of the database. Calls that take the store look across teams, through
 * one function of the schema's owner each (migration 0004), and are transactions of their own;
 * those that take a transaction work on its team alone.
 */

/* --- one replica at a time --- */

/*
 * Take the lease for lease_s seconds, or renew it. *claimed is false while another holder has it,
 * or when the last pass of anybody began less than every_s seconds ago.
 */
enum pv_code store_maintenance_claim(struct store *store,
                                     const char *holder,
                                     int64_t every_s,
                                     int64_t lease_s,
                                     bool *claimed,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code
store_maintenance_end(struct store *store, const char *holder, struct pv_error *err) PV_MUSTCHECK;

/* --- monthly partitions --- */

/*
 * One partition that is missing among this month's and those ahead is made; one month that is over
 * and past its retention (0: kept for ever), or empty of runs, is dropped. *name (in the arena)
 * says which; at == NULL: nothing to do. PV_E_RETRY: a lock was not free at once.
 */
enum pv_code store_partition_make(struct store *store,
                                  struct arena *arena,
                                  int64_t months_ahead,
                                  struct strview *name,
                                  struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_partition_drop(struct store *store,
                                  struct arena *arena,
                                  int64_t audit_days,
                                  int64_t advice_days,
                                  struct strview *name,
                                  struct pv_error *err) PV_MUSTCHECK;

/* --- runs past their retention --- */

struct retention {
    char team_id[37];
    char application_id[37];
    int64_t keep_days; /* RUN_UNKNOWN: no limit */
    int64_t keep_runs; /* likewise */
    bool due;          /* has runs beyond it */
};
struct retention_list {
    struct retention *items;
    size_t n;
};

/* The next `limit` applications of all teams by key, behind `after` (NULL: the first ones). The
 * defaults hold where an application says nothing; 0: no limit. */
enum pv_code store_retention_list(struct store *store,
                                  struct arena *arena,
                                  const struct retention *after,
                                  size_t limit,
                                  int64_t default_days,
                                  int64_t default_runs,
                                  struct retention_list *list,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Remove the oldest runs of the application that are beyond its retention, at most `batch`, with
 * one audit row; *gone counts them. The history's version and number of runs follow. *name (in the
 * arena) is what the application is called; set with PV_OK where *gone is not 0.
 */
enum pv_code store_run_expire(struct store_tx *tx,
                              struct arena *arena,
                              const struct retention *retention,
                              size_t batch,
                              struct strview *name,
                              size_t *gone,
                              struct pv_error *err) PV_MUSTCHECK;

/* --- everything else that ages --- */

struct team_id {
    char text[37];
};
/* The next `limit` teams behind `after` ("": the first ones). */
enum pv_code store_team_ids(struct store *store,
                            struct arena *arena,
                            const char *after,
                            size_t limit,
                            struct team_id **ids,
                            size_t *n,
                            struct pv_error *err) PV_MUSTCHECK;

/* At most `batch` rows each; *gone counts them. */
enum pv_code store_keys_expire(struct store_tx *tx,
                               size_t batch,
                               size_t *gone,
                               struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_events_expire(struct store_tx *tx,
                                 int64_t delivered_days,
                                 size_t batch,
                                 size_t *gone,
                                 struct pv_error *err) PV_MUSTCHECK;
/* Events not delivered for so many days. */
enum pv_code store_events_drop(struct store_tx *tx,
                               int64_t days,
                               size_t batch,
                               size_t *gone,
                               struct pv_error *err) PV_MUSTCHECK;
/* Deliveries of webhooks that ended, delivered or dead, so many days ago. */
enum pv_code store_deliveries_expire_ended(struct store_tx *tx,
                                           int64_t days,
                                           size_t batch,
                                           size_t *gone,
                                           struct pv_error *err) PV_MUSTCHECK;

/* Events, delivered or not, beyond the newest `most` of the team. */
enum pv_code store_events_trim(struct store_tx *tx,
                               int64_t most,
                               size_t batch,
                               size_t *gone,
                               struct pv_error *err) PV_MUSTCHECK;
/* Tokens that expired or were revoked so many days ago. */
enum pv_code store_tokens_expire(struct store_tx *tx,
                                 int64_t days,
                                 size_t batch,
                                 size_t *gone,
                                 struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_advice_expire(struct store_tx *tx,
                                 int64_t days,
                                 size_t batch,
                                 size_t *gone,
                                 struct pv_error *err) PV_MUSTCHECK;
enum pv_code store_audit_expire(struct store *store,
                                int64_t days,
                                size_t batch,
                                size_t *gone,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef STORE_CONTROL_QUOTA_LOOP_H
#define STORE_CONTROL_QUOTA_LOOP_H

#include "core/control/quota_loop.h"
#include "store/store.h"

/*
 * The quota loops of a team, a row each. What a loop is changed by first holds it, so that requests on
 * one loop take effect one after the other, whatever replica they come to. All texts of results live
 * in `arena`. Settings and deletions write an audit row; samples do not.
 */
enum { QUOTA_SAMPLE_HASH = 32 };

/* PV_E_NOT_FOUND: the team has none of that name. */
enum pv_code store_quota_loop_find(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   struct quota_loop *loop,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Likewise, and it stays as it is until the transaction ends; *found in place of PV_E_NOT_FOUND. */
enum pv_code store_quota_loop_hold(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *name,
                                   struct quota_loop *loop,
                                   bool *found,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Hold it for a sample. *reply: what was answered to the last one, where this has its number and its
 * hash; else at == NULL. */
enum pv_code store_quota_loop_hold_for_sample(struct store_tx *tx,
                                              struct arena *arena,
                                              const char *name,
                                              int64_t sequence,
                                              const unsigned char hash[QUOTA_SAMPLE_HASH],
                                              struct quota_loop *loop,
                                              struct strview *reply,
                                              struct pv_error *err) PV_MUSTCHECK;

/* What the sample left behind, of a loop that is held. Deferred. */
enum pv_code store_quota_loop_save_sample(struct store_tx *tx,
                                          const char *name,
                                          const struct quota_loop *loop,
                                          const unsigned char hash[QUOTA_SAMPLE_HASH],
                                          struct strview reply,
                                          struct pv_error *err) PV_MUSTCHECK;

/* PV_E_LIMIT: the team has `most` already. PV_E_RETRY: somebody else has just made it. */
enum pv_code store_quota_loop_insert(struct store_tx *tx,
                                     const char *name,
                                     int64_t most,
                                     const struct quota_loop *loop,
                                     struct pv_error *err) PV_MUSTCHECK;
/* Settings and executors, of a loop that is held. */
enum pv_code store_quota_loop_update(struct store_tx *tx,
                                     const char *name,
                                     const struct quota_loop *loop,
                                     struct pv_error *err) PV_MUSTCHECK;
/* PV_E_NOT_FOUND. */
enum pv_code
store_quota_loop_delete(struct store_tx *tx, const char *name, struct pv_error *err) PV_MUSTCHECK;

struct quota_loop_item {
    struct strview name;
    struct quota_loop loop;
};
struct quota_loop_list {
    struct quota_loop_item *items;
    size_t n;
    bool more;
};

/* By name, behind `after`. */
enum pv_code store_quota_loop_list(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *after,
                                   size_t limit,
                                   struct quota_loop_list *list,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Delete at most `batch` loops that have had no sample for so many days; *gone counts them. */
enum pv_code store_quota_loops_expire(struct store_tx *tx,
                                      int64_t days,
                                      size_t batch,
                                      size_t *gone,
                                      struct pv_error *err) PV_MUSTCHECK;

#endif

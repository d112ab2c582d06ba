#ifndef MAINTENANCE_PASS_INTERNAL_H
#define MAINTENANCE_PASS_INTERNAL_H

#include "maintenance/pass.h"

/* Shared by the steps of a pass. */

enum { PASS_LISTED = 500 /* applications, teams or runs looked up at once */ };

struct pass {
    struct store *store;
    const struct config *config;
    const struct maintenance_listener *listener; /* or NULL */
    const atomic_bool *stop;
    struct maintenance_tally *tally;
    char holder[37];
    int64_t lease_s;
    uint64_t renew_at_ns;
    bool lost; /* another holds the lease: it is never asked for again */
};

/* The process is ending, or the lease was found to be gone: nothing is begun any more. */
bool pass_is_over(const struct pass *pass);

/* Asked before each transaction; renews the lease in time. *go_on is false once the pass is
 * over. */
enum pv_code pass_may_go_on(struct pass *pass, bool *go_on, struct pv_error *err) PV_MUSTCHECK;

/* A lock that is not free at once is left for the next pass: PV_OK for PV_E_RETRY, logged with the
 * name of the step. */
enum pv_code pass_unless_busy(enum pv_code code, const char *what) PV_MUSTCHECK;

/* One transaction of the team; *gone is set only when it is committed. */
typedef enum pv_code (*pass_batch_work)(const struct pass *pass,
                                        struct store_tx *tx,
                                        const void *of,
                                        size_t *gone,
                                        struct pv_error *err);

/* Does the work for one batch, in a transaction of the team. */
enum pv_code pass_one_batch(const struct pass *pass,
                            const char *team_id,
                            pass_batch_work work,
                            const void *of,
                            size_t *gone,
                            struct pv_error *err) PV_MUSTCHECK;

/* Batch after batch until one is not full; *count grows by what is gone. */
enum pv_code pass_all_batches(struct pass *pass,
                              const char *team_id,
                              pass_batch_work work,
                              const void *of,
                              uint64_t *count,
                              struct pv_error *err) PV_MUSTCHECK;

/* --- the steps; errors are those of the store --- */

/* partitions.c: monthly partitions ahead of time, and those that hold nothing any more. */
enum pv_code partitions_make(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;
enum pv_code partitions_drop(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;

/* retention.c: runs past the retention of their application; whatever else ages, team by team; the
 * audit of all teams. */
enum pv_code retention_expire_runs(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;
enum pv_code retention_expire_of_teams(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;
enum pv_code retention_expire_audit(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;

/* task_summaries.c: task times of old runs become summaries of their distribution. */
enum pv_code task_summaries_make(struct pass *pass, struct pv_error *err) PV_MUSTCHECK;

#endif

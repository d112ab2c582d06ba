#ifndef STORE_USAGE_USAGE_H
#define STORE_USAGE_USAGE_H

#include "store/store.h"
#include "store/usage/tally.h"

/*
 * How much a team stores, and how much it may (docs/design.md, "Quotas"). Triggers count with the
 * transaction that writes (migration 0020); whoever writes asks here whether it was too much.
 */

/* --- for the writers of this folder's neighbours --- */

/*
 * Fail the transaction when the team stores more than the quotas named (1 << QUOTA_RUNS | ...)
 * allow, what it has written itself included. What other transactions have written and not yet
 * committed is not seen, so that a quota may be passed by that. Deferred: PV_E_STORAGE, or
 * PV_E_QUOTA for what passes with time, with err->quota, comes with the commit.
 */
enum pv_code usage_check(struct store_tx *tx, unsigned quotas, struct pv_error *err) PV_MUSTCHECK;

/* Likewise for runs still to be counted: so many, of tx->run_bytes bytes. */
enum pv_code usage_check_runs(struct store_tx *tx, int64_t more, struct pv_error *err) PV_MUSTCHECK;

/* Count a piece of advice or a kept reply that the transaction stores, and fail as usage_check does
 * when that is too much, unless it is counted later (usage/tally.h): then with another one of the
 * team. quotas: those to look at. Costs a round trip where it is counted now. */
enum pv_code usage_count(struct store_tx *tx,
                         const struct tally_amounts *more,
                         unsigned quotas,
                         struct pv_error *err) PV_MUSTCHECK;

/* What can be done about it: part of a sentence. "" is no quota. Never NULL. */
const char *usage_remedy(const char *quota);

/* --- names --- */

/* "runs" */
const char *quota_name(enum quota quota);
/* false: there is none of that name. */
bool quota_parse(struct strview name, enum quota *quota);

/* --- for the calls --- */

/* The bounds, by the settings, of what is counted where it is written. */
struct usage_most {
    int64_t clusters;
    int64_t price_books;
    int64_t workloads;
    int64_t workload_bytes;
};

/* Every quota of the transaction's team. */
enum pv_code store_usage_list(struct store_tx *tx,
                              struct arena *arena,
                              const struct usage_most *most,
                              struct usage_list *list,
                              struct pv_error *err) PV_MUSTCHECK;

/* Set those of the transaction's team that `changed` names (1 << QUOTA_RUNS | ...; QUOTAS_ALL),
 * with an audit row. They hold for whoever asks after the commit. */
#define QUOTAS_ALL ((1u << QUOTAS) - 1)
enum pv_code store_quotas_set(struct store_tx *tx,
                              unsigned changed,
                              const struct team_quotas *quotas,
                              struct pv_error *err) PV_MUSTCHECK;

/* Log that they were: the audit says who, this also what. request_id may be NULL. */
void quotas_log(const char *team,
                const char *request_id,
                unsigned changed,
                const struct team_quotas *quotas);

/* Count the tables of the transaction's team unless that was done less than every_s seconds ago:
 * *counted is 1 or 0. May take ten minutes. batch is not used. */
enum pv_code store_usage_recount(struct store_tx *tx,
                                 int64_t every_s,
                                 size_t batch,
                                 size_t *counted,
                                 struct pv_error *err) PV_MUSTCHECK;

/* --- for the command line, with the owner's connection --- */

struct team_usage {
    char team_id[37];
    struct strview team; /* its name */
    struct usage_list usage;
};
struct team_usage_list {
    struct team_usage *items;
    size_t n;
    bool more;
};

/* What the settings give those without quotas of their own; 0: no bound. */
struct usage_bounds {
    int64_t quotas[QUOTAS];
    struct usage_most most;
};

/* Of that team (NULL: of all), by name. What processes have not counted yet (usage/tally.h) is
 * missing. PV_E_NOT_FOUND: no such team. */
enum pv_code store_owner_usage_list(const char *owner_conninfo,
                                    struct arena *arena,
                                    const char *team_name,
                                    const struct usage_bounds *bounds,
                                    struct team_usage_list *list,
                                    struct pv_error *err) PV_MUSTCHECK;

/* As store_quotas_set, for the team of that name. PV_E_NOT_FOUND. */
enum pv_code store_owner_quotas_set(const char *owner_conninfo,
                                    const char *team_name,
                                    unsigned changed,
                                    const struct team_quotas *quotas,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef STORE_HISTORY_NAME_RULES_H
#define STORE_HISTORY_NAME_RULES_H

#include "core/history/name_folding.h"
#include "store/store.h"

/* The rules by which a team folds names of recurring jobs into applications. */
struct name_rules {
    bool customized; /* false: the built-in ones */
    int64_t version; /* 0 until the first change; each raises it */
    const struct name_rule *rules;
    size_t n;
};

/* The rules in force. */
enum pv_code store_name_rules_get(struct store_tx *tx,
                                  struct arena *arena,
                                  struct name_rules *rules,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Replace them all, or go back to the built-in ones (rules NULL). rules->version is left to the
 * store. if_version: the version that must still be there, RUN_UNKNOWN: any; PV_E_PRECONDITION. */
enum pv_code store_name_rules_set(struct store_tx *tx,
                                  const struct name_rule rules[],
                                  size_t n,
                                  int64_t if_version,
                                  struct pv_error *err) PV_MUSTCHECK;
enum pv_code
store_name_rules_reset(struct store_tx *tx, int64_t if_version, struct pv_error *err) PV_MUSTCHECK;

/*
 * Which application a job of that name belongs to: an application that exists under the whole name,
 * else what the rules fold it to. folding->n_applied is 0 in the first case.
 */
enum pv_code store_name_fold(struct store_tx *tx,
                             struct arena *arena,
                             struct strview name,
                             struct name_folding *folding,
                             struct pv_error *err) PV_MUSTCHECK;

/* there[i]: an application of the name names[i] exists. */
enum pv_code store_names_there(struct store_tx *tx,
                               struct arena *arena,
                               const struct strview names[],
                               size_t n,
                               bool there[],
                               struct pv_error *err) PV_MUSTCHECK;

#endif

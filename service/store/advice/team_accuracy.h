#ifndef STORE_ADVICE_TEAM_ACCURACY_H
#define STORE_ADVICE_TEAM_ACCURACY_H

#include "core/history/accuracy.h"
#include "store/store.h"

/* What a look at the accuracy of a whole team costs is bounded by this, however long its history.
 */
enum { TEAM_ACCURACY_RUNS = 1000 };

struct team_accuracy {
    struct accuracy_entry *entries; /* runs that name advice which is still there, newest first */
    size_t n;
    bool newest_only;  /* there are more within the window: only the TEAM_ACCURACY_RUNS newest count
                        */
    int64_t oldest_us; /* the oldest that counts; RUN_NO_INSTANT: none */
};

/* Runs of all applications of the team with since_us <= instant < until_us; either RUN_NO_INSTANT:
 * open. PV_E_MEMORY and what a transaction can fail with. */
enum pv_code store_team_accuracy(struct store_tx *tx,
                                 struct arena *arena,
                                 int64_t since_us,
                                 int64_t until_us,
                                 struct team_accuracy *accuracy,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif

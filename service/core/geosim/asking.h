#ifndef CORE_GEOSIM_ASKING_H
#define CORE_GEOSIM_ASKING_H

#include "core/geosim/board.h"
#include "core/geosim/estimates.h"

/* What a planner is shown of the board, and how its plan is carried out. */
struct asking {
    const struct geosim_terms *terms;
    struct board *board;
    const struct geosim_progress *progress; /* NULL: nobody asks */
    struct estimates estimates;
    struct geo_rates *rates; /* kept between plans */
    struct arena kept;       /* that they live in */
    struct arena work;       /* of one plan */
    struct arena_mark empty; /* of `work` */
    bool supposing;          /* that all clusters are up and all tasks have waited for ever */
};

/* On a board that is open. false: memory; it is to be closed all the same. */
bool asking_open(struct asking *asking);
void asking_close(struct asking *asking);

/* Does the planner look at the clock, so that it may change its mind though nothing has happened?
 */
bool asking_watches(const struct asking *asking);

/* Could a plan do anything, asked right after one that has moved something? */
bool asking_repeats(const struct asking *asking);

/* Could a plan do anything at all? */
bool asking_is_due(const struct asking *asking);

/* Asks and carries the plan out; *moves: how many copies were started or ended. Errors are those of
 * geo_plan_make. */
enum pv_code asking_plan(struct asking *asking, size_t *moves, struct pv_error *err) PV_MUSTCHECK;

/* While nothing runs: would a copy be started if all clusters were up, however long it took?
 * Nothing is done. */
enum pv_code asking_suppose(struct asking *asking, bool *starts, struct pv_error *err) PV_MUSTCHECK;

#endif

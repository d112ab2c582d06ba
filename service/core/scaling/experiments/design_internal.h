#ifndef CORE_SCALING_EXPERIMENTS_DESIGN_INTERNAL_H
#define CORE_SCALING_EXPERIMENTS_DESIGN_INTERNAL_H

#include "core/scaling/experiments/design.h"
#include "core/scaling/experiments/imse.h"
#include "core/scaling/experiments/information.h"

/* What the choice of runs and the description of those chosen share. */

struct experiments_candidate {
    struct effects_point at;
    double time_s;
    double executor_s; /* in units of time where the law has no unit */
    double noise;      /* variance of a run there, as a share of its time */
    double effect[EFFECTS_MAX];
};

struct experiments_state {
    const struct experiments_question *question;
    const struct model *model; /* NULL: not followed */
    struct effects effects;
    struct information known; /* by the runs that are there */
    const struct observation *rows;
    size_t n_rows; /* by N, then m */
    struct experiments_candidate *candidates;
    size_t n_candidates; /* by cost, then N, then m */
    struct experiments_candidate *asked;
    size_t n_asked;
    bool times_known;
    struct imse imse; /* its candidates are these; not of EXPERIMENTS_D_OPTIMAL */
    struct arena *arena;
};

/* Whether there are effects to be separated: a model without parameters to move has none, what is
 * assumed without a model has. */
static inline bool experiments_has_parameters(const struct experiments_state *state)
{
    return state->model == NULL || state->effects.n_own > 0;
}

/* chosen[0..n) in order, as items; runs of one configuration become one. Fills in everything of the
 * plan but without_time. */
enum pv_code experiments_describe(struct experiments_state *state,
                                  const struct experiments_candidate *const chosen[],
                                  size_t n,
                                  struct experiments_plan *plan,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef CORE_SCALING_EXPERIMENTS_DESIGN_INTERNAL_H
#define CORE_SCALING_EXPERIMENTS_DESIGN_INTERNAL_H

#include "core/scaling/experiments/design.h"
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
    struct arena *arena;
};

/* What is known after some runs came out as expected. */
struct experiments_outlook {
    struct information known;
    struct model model; /* where one is followed */
};

struct experiments_outlook experiments_look(const struct experiments_state *state);
void experiments_expect(struct experiments_state *state,
                        const struct experiments_candidate *run,
                        struct experiments_outlook *outlook);

/* How uncertain the times asked about are, as shares of them. */
struct experiments_width {
    double interval; /* mean width of the model's intervals; NAN: no model, or an open end */
    double spread;   /* mean standard deviation by what is known of the effects */
};

/* interval_s: that of the first point asked about, untouched without a model. */
struct experiments_width experiments_measure(const struct experiments_state *state,
                                             const struct experiments_outlook *outlook,
                                             double interval_s[2]);

/* Of the intervals where they have both ends before and after, else of the standard deviations. */
double experiments_cut_percent(const struct experiments_width *before,
                               const struct experiments_width *after);

/* chosen[0..n) in order, as items; fills in everything of the plan but without_time. */
enum pv_code experiments_describe(struct experiments_state *state,
                                  const struct experiments_candidate *const chosen[],
                                  size_t n,
                                  struct experiments_plan *plan,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

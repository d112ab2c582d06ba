#ifndef CORE_SCALING_EXPERIMENTS_FACTOR_EFFECTS_H
#define CORE_SCALING_EXPERIMENTS_FACTOR_EFFECTS_H

#include "core/scaling/model/law.h"

/*
 * What a run at (N, m) could show of a law: the change of the time there by each of its parameters,
 * as shares of that time.
 *
 * Every effect is scaled so that, over the region looked at, it makes the whole time at the most.
 * One standard deviation of not knowing it at all then is 1. Beside a law's own parameters stand
 * effects it leaves out but which may be there (W. DuMouchel, B. Jones, "A simple Bayesian
 * modification of D-optimal designs to reduce dependence on an assumed model", Technometrics 36,
 * 1994): a law of one problem size would otherwise never ask for another. They are those of Ernest
 * (1, N/m, ln m, m) and USBA's N.
 */
enum { EFFECTS_POTENTIAL = 5, EFFECTS_MAX = MODEL_PARAMETERS_MAX + EFFECTS_POTENTIAL };

/* How large an effect that the law leaves out may be, as a share of one that it has. */
#define EFFECTS_DOUBT 0.25

/*
 * The law that times are expected by: a fitted model, or before there is one
 *
 *     T(N, m) = unit_s (fixed + N/m)
 *
 * of which the unit is NAN as long as there is no run that shows it.
 */
struct effects_law {
    const struct model *model; /* NULL: the law above */
    double fixed;
    double unit_s;
};

/* Expected time; of a law without a unit in units of it. <= 0 or NAN: the law has left its domain.
 */
double effects_time(const struct effects_law *law, double problem_size, double executors);

struct effects {
    struct effects_law law;
    /* Whose parameters are moved to see what follows: the model's own, or of the laws it combines
     * the one that weighs most. */
    struct model_law probe;
    size_t own[MODEL_PARAMETERS_MAX];
    size_t n_own;              /* parameters of it; 0: it has none to move */
    size_t k;                  /* effects: n_own, then the potential ones */
    double scale[EFFECTS_MAX]; /* 0: shows nowhere in the region */
};

struct effects_point {
    double problem_size;
    double executors;
};

/* Of a region of n points; those where the law has no time take no part. doubt: of potential
 * effects, EFFECTS_DOUBT or 0 for none. Without a model Ernest's four count as the law's own. */
struct effects effects_of(const struct effects_law *law,
                          const struct effects_point region[],
                          size_t n,
                          double doubt);

/* dT/dp of every parameter of the law that is moved; 0 where one cannot be. */
void effects_slopes(struct effects *effects, const struct effects_point *point, double slopes[]);

/* The k effects at a point. false: the law has no time there. */
bool effects_at(struct effects *effects, const struct effects_point *point, double effect[]);

#endif

#ifndef CORE_CONTROL_SEARCH_H
#define CORE_CONTROL_SEARCH_H

#include "core/control/score.h"

/*
 * Better configurations than those asked for: alpha (one for all jobs), gamma, gain and integral
 * time are varied around them (docs/design.md, "Search for a configuration"). It finds a local
 * optimum, and stops where the simulations it may make are used up.
 */
enum control_axis { CONTROL_ALPHA, CONTROL_GAMMA, CONTROL_GAIN, CONTROL_INTEGRAL_TIME };
enum { CONTROL_AXES = 4 };
extern const char *const control_axis_words[CONTROL_AXES + 1]; /* ended by NULL */

struct control_search {
    unsigned over;      /* bit i: axis i is varied */
    size_t simulations; /* at most; each repetition of a configuration is one */
};

struct control_found {
    struct control_point point;
    struct control_score score;
    size_t tried; /* configurations, those searched from not counted */
    size_t simulations;
    bool exhausted; /* there were not enough simulations for what it would have tried next */
};

/*
 * Search from n >= 1 configurations with their scores; the best of each strategy counts. What is
 * found is never worse than the best of them. The result depends on the problem and these alone.
 * found lives in `arena`; scratch is back at its mark. As control_simulate.
 */
enum pv_code control_search_run(const struct control_problem *problem,
                                const struct control_search *search,
                                const struct control_point points[],
                                const struct control_score scores[],
                                size_t n,
                                struct control_effort *effort,
                                struct arena *arena,
                                struct arena *scratch,
                                struct control_found *found,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

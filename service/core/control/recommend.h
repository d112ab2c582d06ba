#ifndef CORE_CONTROL_RECOMMEND_H
#define CORE_CONTROL_RECOMMEND_H

#include "base/finding.h"
#include "base/strview.h"
#include "core/control/search.h"

/* Which configuration, by penalties, and the numbers that speak for it. */
enum { CONTROL_NO_SECOND = -1 };

struct control_choice {
    size_t best;
    long second; /* the next one; CONTROL_NO_SECOND: there is but one */
};

/* Of n >= 1: the least total penalty, then the fewest core seconds, then the first. */
struct control_choice control_choose(const struct control_score scores[], size_t n);

/* What is known of all of them. */
struct control_comparison {
    const struct control_problem *problem;
    const struct strview *names; /* of each job */
    const struct control_point *points;
    const struct control_score *scores;
    size_t n;
    const struct control_score *baselines; /* CONTROL_BASELINES */
};

/* Why, as findings. */
void control_explain_choice(const struct control_comparison *of,
                            const struct control_choice *choice,
                            struct findings *why);

/* What a search found, beside the best of the request's own configurations. */
void control_explain_found(const struct control_comparison *of,
                           const struct control_choice *choice,
                           const struct control_found *found,
                           struct findings *why);

#endif

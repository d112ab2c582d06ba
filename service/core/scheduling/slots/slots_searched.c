#include <math.h>

#include "core/scheduling/slots/slots_explain.h"

/* 0 stands for any number of jobs. */
static double concurrency_of(const struct slots_terms *terms)
{
    return terms->concurrency > 0 ? (double)terms->concurrency : HUGE_VAL;
}

static double queues_of(const struct slots_terms *terms)
{
    return terms->n_limits > 0 ? (double)terms->n_limits + 1 : (double)terms->queues;
}

/* Where limits are listed, their number is that of the queues, which cannot be listed beside. */
static bool
lists_limits(const struct slots_family families[], size_t n, const struct slots_terms *terms)
{
    for (size_t i = 0; i < n; i++)
        if (slots_policies[families[i].policy] == terms->policy && families[i].n_limits_s > 0)
            return true;
    return false;
}

static void add_number(const char *name,
                       double (*value)(const struct slots_terms *terms),
                       double low,
                       double high,
                       const struct slots_tried *tried,
                       const struct policy_search_found *found,
                       struct policy_searched *searched)
{
    const struct slots_terms *best = &tried->terms[found->ranks[0].candidate];
    struct policy_searched_term term = {name, value(best), value(best), value(best),
                                        low,  high,        false};
    for (size_t c = 0; c < tried->n; c++) {
        if (tried->terms[c].policy != best->policy)
            continue;
        term.least = fmin(term.least, value(&tried->terms[c]));
        term.most = fmax(term.most, value(&tried->terms[c]));
    }
    for (size_t r = 1; r < found->n; r++) {
        const struct slots_terms *other = &tried->terms[found->ranks[r].candidate];
        term.tied = term.tied || (other->policy == best->policy && value(other) != term.value &&
                                  policy_searched_ties(&found->ranks[r]));
    }
    policy_searched_add(searched, &term);
}

struct policy_searched slots_searched(const struct slots_tried *tried,
                                      const struct slots_family families[],
                                      size_t n,
                                      const struct policy_search_found *found,
                                      double asked_chance)
{
    const struct slots_terms *best = &tried->terms[found->ranks[0].candidate];
    struct policy_searched searched =
        policy_searched_begin(best->policy->name, found, asked_chance);
    if (best->concurrency > 0)
        add_number("concurrency", concurrency_of, 1, HUGE_VAL, tried, found, &searched);
    if (queues_of(best) > 0) {
        bool fixed = lists_limits(families, n, best);
        add_number("queues", queues_of, fixed ? HUGE_VAL : 2, fixed ? 0 : HUGE_VAL, tried, found,
                   &searched);
    }
    return searched;
}

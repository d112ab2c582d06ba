#ifndef CORE_SCHEDULING_COMPARISON_POLICY_SEARCHED_H
#define CORE_SCHEDULING_COMPARISON_POLICY_SEARCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/scheduling/comparison/policy_search.h"

/* How a policy was found by a search, for the explanation of a recommendation. */
enum { SEARCHED_TERMS_MAX = 4, SEARCHED_TEXT_MAX = 320, SEARCHED_VALUE_MAX = 48 };

/* A term whose value is the largest or the smallest one that was tried. */
struct policy_edge {
    const char *term; /* as on the wire */
    char value[SEARCHED_VALUE_MAX];
    bool largest;
};

struct policy_searched {
    char terms[SEARCHED_TEXT_MAX]; /* "pigeon, groups 2, weight 20" */
    struct policy_edge edges[SEARCHED_TERMS_MAX];
    size_t n_edges;
    bool cut_short;      /* as in struct policy_search_found, with the next two */
    double error_chance; /* NAN: unknown */
    double loss;         /* NAN likewise */
    double asked_chance; /* the chance of error that was asked for */
};

/* A term of the policy that was found, beside those of the candidates of the same policy. */
struct policy_searched_term {
    const char *name; /* as on the wire; static */
    double value;     /* HUGE_VAL: infinite */
    double least;     /* that was tried */
    double most;      /* likewise */
    double low;       /* the least value that there can be */
    double high;      /* the largest one */
    bool tied;        /* a candidate with another value did as well: the value does not matter */
};

/* What the search of a load found: a candidate of the policy of that name. Its terms are added. */
struct policy_searched policy_searched_begin(const char *policy,
                                             const struct policy_search_found *found,
                                             double asked_chance);

/* Whether a candidate is as good as the best one, in the repetitions of both. */
static inline bool policy_searched_ties(const struct policy_search_rank *rank)
{
    return rank->excess <= 1e-9;
}

/* Add a term to the text, which is cut off at its end, and, where the value is at an edge of several
 * that were tried, matters and could be beyond it, to the edges. At most SEARCHED_TERMS_MAX of them. */
void policy_searched_add(struct policy_searched *searched, const struct policy_searched_term *term);

#endif

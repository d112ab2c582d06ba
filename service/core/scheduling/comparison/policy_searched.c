#include "core/scheduling/comparison/policy_searched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity_text.h"

struct policy_searched policy_searched_begin(const char *policy,
                                             const struct policy_search_found *found,
                                             double asked_chance)
{
    struct policy_searched searched = {.cut_short = found->cut_short,
                                       .error_chance = found->error_chance,
                                       .loss = found->loss,
                                       .asked_chance = asked_chance};
    (void)snprintf(searched.terms, sizeof searched.terms, "%s", policy);
    return searched;
}

void policy_searched_add(struct policy_searched *searched, const struct policy_searched_term *term)
{
    size_t n = strlen(searched->terms);
    char value[SEARCHED_VALUE_MAX];
    if (isinf(term->value))
        (void)snprintf(value, sizeof value, "infinite");
    else
        (void)snprintf(value, sizeof value, "%s", quantity_number(term->value).text);
    (void)snprintf(searched->terms + n, sizeof searched->terms - n, ", %s %s", term->name, value);
    bool largest = term->value >= term->most && term->value < term->high;
    bool smallest = term->value <= term->least && term->value > term->low;
    if (term->tied || !(term->least < term->most) || !(largest || smallest))
        return;
    struct policy_edge *edge = &searched->edges[searched->n_edges++];
    *edge = (struct policy_edge){.term = term->name, .largest = largest};
    memcpy(edge->value, value, sizeof value);
}

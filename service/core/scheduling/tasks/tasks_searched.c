#include <math.h>

#include "core/scheduling/tasks/tasks_explain.h"
#include "core/scheduling/tasks/tasks_policy.h"

enum { TERMS = 4 };

static double groups_of(const struct tasks_terms *terms)
{
    return terms->groups;
}

static double reserved_of(const struct tasks_terms *terms)
{
    return terms->reserved_share;
}

static double weight_of(const struct tasks_terms *terms)
{
    return terms->weight == TASKS_WEIGHT_INFINITE ? HUGE_VAL : (double)terms->weight;
}

static double probes_of(const struct tasks_terms *terms)
{
    return terms->probes_per_task;
}

static bool has_groups(const struct tasks_policy *policy)
{
    return policy == &pigeon_policy;
}

static bool has_reserved(const struct tasks_policy *policy)
{
    return policy != &sparrow_policy;
}

static bool has_weight(const struct tasks_policy *policy)
{
    return policy == &pigeon_policy || policy == &centralised_policy;
}

static bool has_probes(const struct tasks_policy *policy)
{
    return policy == &sparrow_policy || policy == &eagle_policy;
}

/* In the order of the API; more than all workers is no number of groups. */
static const struct {
    const char *name;
    double (*value)(const struct tasks_terms *terms);
    bool (*of)(const struct tasks_policy *policy);
    double low;
    double high;
} numbers[TERMS] = {{"groups", groups_of, has_groups, 1, HUGE_VAL},
                    {"reserved_share", reserved_of, has_reserved, 0, 0.5},
                    {"weight", weight_of, has_weight, 1, HUGE_VAL},
                    {"probes_per_task", probes_of, has_probes, 1, HUGE_VAL}};

struct policy_searched tasks_searched(const struct tasks_model *model,
                                      const struct tasks_tried *tried,
                                      const struct policy_search_found *found,
                                      double asked_chance)
{
    const struct tasks_terms *best = &tried->terms[found->ranks[0].candidate];
    struct policy_searched searched =
        policy_searched_begin(best->policy->name, found, asked_chance);
    for (size_t i = 0; i < TERMS; i++) {
        if (!numbers[i].of(best->policy))
            continue;
        double value = numbers[i].value(best);
        struct policy_searched_term term = {numbers[i].name, value,           value, value,
                                            numbers[i].low,  numbers[i].high, false};
        if (numbers[i].value == groups_of)
            term.high = model->workers;
        for (size_t c = 0; c < tried->n; c++) {
            if (tried->terms[c].policy != best->policy)
                continue;
            term.least = fmin(term.least, numbers[i].value(&tried->terms[c]));
            term.most = fmax(term.most, numbers[i].value(&tried->terms[c]));
        }
        for (size_t r = 1; r < found->n; r++) {
            const struct tasks_terms *other = &tried->terms[found->ranks[r].candidate];
            term.tied =
                term.tied || (other->policy == best->policy && numbers[i].value(other) != value &&
                              policy_searched_ties(&found->ranks[r]));
        }
        policy_searched_add(&searched, &term);
    }
    return searched;
}

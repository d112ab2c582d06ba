#include "core/scheduling/slots/slots_policy.h"

#include <math.h>

#include "core/scheduling/slots/slots_resources.h"

/* Sizes of containers that take as long as all else that a task costs (tests/bench/bench_slots.c). */
enum { SIZES_FREE = 16 };

const struct slots_policy *const slots_policies[SLOTS_POLICIES] = {
    [SLOTS_FIFO] = &slots_policy_fifo,         [SLOTS_FAIR] = &slots_policy_fair,
    [SLOTS_CAPACITY] = &slots_policy_capacity, [SLOTS_FBQ] = &slots_policy_fbq,
    [SLOTS_TAGS] = &slots_policy_tags,         [SLOTS_SITA] = &slots_policy_sita,
    [SLOTS_COMP] = &slots_policy_comp,         [SLOTS_FRESH_STATIC] = &slots_policy_fresh_static,
    [SLOTS_FRESH] = &slots_policy_fresh,       [SLOTS_OMO] = &slots_policy_omo,
    [SLOTS_DRF] = &slots_policy_drf,
};

double slots_terms_weight(const struct slots_terms *terms,
                          const struct slots_cluster *cluster,
                          size_t n_jobs)
{
    const struct slots_policy *policy = terms->policy;
    if (slots_cluster_has_room(cluster) && policy->container_order != SLOTS_ALIKE) {
        bool divided = policy->container_order == SLOTS_BY_QUEUE;
        double tenants = divided ? (double)terms->n_tenants : 1;
        return fmax(1, tenants * (double)cluster->n_sizes / SIZES_FREE);
    }
    if (policy->looked_through == NULL)
        return 1;
    double jobs = (double)policy->looked_through(cluster, terms, n_jobs);
    return fmax(1, jobs / (double)policy->looked_through_free);
}

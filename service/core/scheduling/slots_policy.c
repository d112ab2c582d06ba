#include "core/scheduling/slots_policy.h"

const struct slots_policy *const slots_policies[SLOTS_POLICIES] = {
    [SLOTS_FIFO] = &slots_policy_fifo,         [SLOTS_FAIR] = &slots_policy_fair,
    [SLOTS_CAPACITY] = &slots_policy_capacity, [SLOTS_FBQ] = &slots_policy_fbq,
    [SLOTS_TAGS] = &slots_policy_tags,         [SLOTS_SITA] = &slots_policy_sita,
    [SLOTS_COMP] = &slots_policy_comp,         [SLOTS_FRESH_STATIC] = &slots_policy_fresh_static,
    [SLOTS_FRESH] = &slots_policy_fresh,       [SLOTS_OMO] = &slots_policy_omo,
};

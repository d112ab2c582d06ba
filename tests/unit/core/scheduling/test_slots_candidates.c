#include "core/scheduling/slots/slots_candidates.h"

#include <criterion/criterion.h>

#include "core/scheduling/slots/slots_policy.h"
#include "core/sim/variates.h"

enum { JOBS = 40, GROUPS = 3, STEPS = 20000 };

static struct {
    bool in;
    size_t group;
    uint64_t key;
} known[JOBS];

static size_t find_first(size_t group)
{
    size_t first = SLOTS_NOBODY;
    for (size_t j = 0; j < JOBS; j++)
        if (known[j].in && known[j].group == group &&
            (first == SLOTS_NOBODY || known[j].key < known[first].key))
            first = j;
    return first;
}

/* Keys are different: their last digits are the job's. */
Test(slots_candidates, agree_with_a_list)
{
    static const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(3, purpose, 1);
    struct slots_candidates candidates;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(slots_candidates_init(&candidates, JOBS, GROUPS, &arena));
    for (size_t step = 0; step < STEPS; step++) {
        size_t job = variate_index(&rng, JOBS);
        if (variate_index(&rng, 3) == 0) {
            known[job].in = false;
            slots_candidates_remove(&candidates, job);
        } else {
            known[job].in = true;
            known[job].group = variate_index(&rng, GROUPS);
            known[job].key = variate_index(&rng, 50) * JOBS + job;
            slots_candidates_put(&candidates, job, known[job].group, known[job].key);
        }
        for (size_t g = 0; g < GROUPS; g++)
            cr_assert_eq(slots_candidates_first(&candidates, g), find_first(g));
    }
    arena_fini(&arena);
}

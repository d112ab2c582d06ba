#include "core/deadline/worker_memory.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

enum { GIB = 1 << 30 };

static struct arena arena;

static struct worker_memory share_out(int64_t system_bytes,
                                      enum worker_memory_order order,
                                      const struct worker_memory_application applications[],
                                      size_t n,
                                      struct worker_memory_share shares[])
{
    struct worker_memory plan;
    arena_init(&arena, 0);
    cr_assert_eq(
        worker_memory_share_out(system_bytes, order, applications, n, &arena, shares, &plan, NULL),
        PV_OK);
    arena_fini(&arena);
    return plan;
}

/* S. Ripamonti, table 3.1: half of the memory is heap, whether by two applications or four. */
Test(worker_memory, the_pool_is_shared_evenly_by_those_that_use_it)
{
    static const struct worker_memory_application applications[] = {
        {25ll * GIB, NAN, true}, {15ll * GIB, NAN, false}, {10ll * GIB, NAN, true}};
    struct worker_memory_share shares[3];
    struct worker_memory plan =
        share_out(100ll * GIB, WORKER_MEMORY_GIVEN, applications, 3, shares);
    cr_expect(plan.running == 3 && plan.users == 2);
    cr_expect(plan.heap_bytes == 50ll * GIB && plan.pool_bytes == 50ll * GIB);
    cr_expect(shares[0].total_bytes == 50ll * GIB && shares[1].total_bytes == 15ll * GIB);
    cr_expect(shares[1].off_heap_bytes == 0);
    cr_expect(shares[0].after_end_bytes == 75ll * GIB); /* the other user alone */
    cr_expect(shares[1].after_end_bytes == 65ll * GIB / 2);
}

Test(worker_memory, who_does_not_fit_waits_and_later_ones_may_start)
{
    static const struct worker_memory_application applications[] = {
        {600, 5, true}, {500, 9, true}, {400, 5, true}, {1, 1, false}};
    struct worker_memory_share shares[4];
    (void)share_out(1000, WORKER_MEMORY_GIVEN, applications, 4, shares);
    cr_expect(shares[0].starts && !shares[1].starts && shares[2].starts && !shares[3].starts);
    cr_expect(shares[1].total_bytes == WORKER_MEMORY_NONE);
    /* By deadline the smallest goes first; of equal deadlines the earlier of the request. */
    struct worker_memory plan =
        share_out(1000, WORKER_MEMORY_EARLIEST_DEADLINE, applications, 4, shares);
    cr_expect(shares[3].starts && shares[0].starts && !shares[2].starts && !shares[1].starts);
    cr_expect(plan.each_bytes == 399);
    cr_expect(shares[0].after_end_bytes == WORKER_MEMORY_NONE); /* nobody else uses any */
    cr_expect(shares[3].after_end_bytes == 400);
}

Test(worker_memory, a_newcomer_takes_its_heap_from_the_pool)
{
    static const struct worker_memory_application applications[] = {{400, NAN, false}};
    struct worker_memory_share shares[1];
    struct worker_memory plan = share_out(1000, WORKER_MEMORY_GIVEN, applications, 1, shares);
    cr_expect(plan.each_bytes == WORKER_MEMORY_NONE);
    cr_expect(!worker_memory_admit(&plan, 601, true).starts);
    struct worker_memory_newcomer fits = worker_memory_admit(&plan, 600, true);
    cr_expect(fits.starts && fits.each_bytes == 0);
    cr_expect(worker_memory_admit(&plan, 100, false).each_bytes == WORKER_MEMORY_NONE);
    cr_expect(worker_memory_admit(&plan, 100, true).each_bytes == 500);
}

/* However many, in any order: nothing is given twice, and less than a byte for each user is lost. */
Test(worker_memory, no_more_is_given_than_there_is)
{
    struct rng rng = rng_make(7, 0);
    for (int round = 0; round < 2000; round++) {
        struct worker_memory_application applications[20];
        struct worker_memory_share shares[20];
        size_t n = 1 + (size_t)(20 * rng_uniform(&rng)) % 20;
        for (size_t i = 0; i < n; i++)
            applications[i] = (struct worker_memory_application){
                1 + (int64_t)(500 * rng_uniform(&rng)), floor(5 * rng_uniform(&rng)),
                rng_uniform(&rng) < 0.6};
        int64_t system = 1 + (int64_t)(3000 * rng_uniform(&rng));
        struct worker_memory plan =
            share_out(system, round % 2 ? WORKER_MEMORY_GIVEN : WORKER_MEMORY_EARLIEST_DEADLINE,
                      applications, n, shares);
        int64_t given = 0;
        for (size_t i = 0; i < n; i++) {
            given += shares[i].starts ? shares[i].total_bytes : 0;
            cr_assert(shares[i].starts || applications[i].heap_bytes > plan.pool_bytes);
        }
        int64_t idle = system - given;
        cr_assert(idle >= 0);
        cr_assert(plan.users == 0 || idle < (int64_t)plan.users);
    }
}

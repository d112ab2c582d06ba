/* Each policy's rules on schedules that are small enough to be drawn by hand. */
#include "core/scheduling/slots/slots_policy.h"

#include <criterion/criterion.h>
#include <string.h>

#include "slots_cases.h"

static struct slots_job_times times[CASE_JOBS_MAX];

#define EXPECT_TIMES(job, start, map_end, finish)                                                  \
    do {                                                                                           \
        cr_expect_eq(times[job].start_s, start, "job %d starts at %g", job, times[job].start_s);   \
        cr_expect_eq(times[job].map_end_s, map_end, "job %d, maps: %g", job,                       \
                     times[job].map_end_s);                                                        \
        cr_expect_eq(times[job].finish_s, finish, "job %d ends at %g", job, times[job].finish_s);  \
    } while (0)

static const struct slots_terms fifo = {.policy = &slots_policy_fifo};
static const struct slots_terms fair = {.policy = &slots_policy_fair};

Test(slots_policies, names_are_different)
{
    for (size_t i = 0; i < SLOTS_POLICIES; i++)
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(slots_policies[i]->name, slots_policies[j]->name);
}

/* Only FRESH and OMO look through jobs, and OMO only those whose reduces hold slots. */
Test(slots_policies, those_that_look_through_jobs_weigh_more)
{
    const struct slots_cluster cluster = {.slots = {1000, 400}, .slow_start = 0.05};
    for (size_t i = 0; i < SLOTS_POLICIES; i++) {
        struct slots_terms terms = {
            .policy = slots_policies[i], .concurrency = 5000, .batch_finish = true};
        double weight = slots_terms_weight(&terms, &cluster, 10000);
        cr_expect_eq(weight,
                     i == SLOTS_FRESH ? 25
                     : i == SLOTS_OMO ? 2
                                      : 1,
                     "%s: %g", terms.policy->name, weight);
        cr_expect_eq(slots_terms_weight(&terms, &cluster, 200), 1);
        terms.batch_finish = false;
        terms.concurrency = 8;
        cr_expect_eq(slots_terms_weight(&terms, &cluster, 10000), 1);
    }
}

/* --- fifo --- */

Test(slots_policies, fifo_serves_in_order_of_arrival_and_of_the_request)
{
    struct slots_case three = {.cluster = {.slots = {2, 0}, .slow_start = 0.05},
                               .given = {{.arrival_s = 5, .maps = {1}},
                                         {.arrival_s = 0, .maps = {3, 3, 3}},
                                         {.arrival_s = 0, .maps = {2, 2}}}};
    slots_case_run(&three, &fifo, times);
    EXPECT_TIMES(1, 0, 6, 6);
    EXPECT_TIMES(2, 3, 7, 7);
    EXPECT_TIMES(0, 6, 7, 7);
}

/* The first job's reduce is ready when 2 of 4 maps have ended, at 2; it holds the slot until they
 * all have. */
Test(slots_policies, reduces_wait_for_slow_start_and_hold_their_slot)
{
    struct slots_case two = {.cluster = {.slots = {2, 1}, .slow_start = 0.5},
                             .given = {{.arrival_s = 0, .maps = {2, 2, 2, 2}, .reduces = {3}},
                                       {.arrival_s = 0, .reduces = {1, 1, 1}}}};
    slots_case_run(&two, &fifo, times);
    EXPECT_TIMES(0, 0, 4, 7);
    EXPECT_TIMES(1, 0, 0, 8);
    two.cluster.slow_start = 0;
    slots_case_run(&two, &fifo, times);
    EXPECT_TIMES(0, 0, 4, 7);
    EXPECT_TIMES(1, 7, 0, 10);
    two.cluster.slow_start = 1;
    slots_case_run(&two, &fifo, times);
    EXPECT_TIMES(0, 0, 4, 7);
    EXPECT_TIMES(1, 0, 0, 3);
}

/* Reduces are given slots at 2 and at 9: the first shuffles until 7, the second until 14. */
Test(slots_policies, a_reduce_shuffles_from_when_it_has_its_slot)
{
    struct slots_case one = {
        .cluster = {.slots = {2, 1}, .slow_start = 0.5},
        .given = {{.arrival_s = 0, .maps = {2, 2, 2, 2}, .reduces = {2, 3}, .shuffle_s = 5}}};
    slots_case_run(&one, &fifo, times);
    EXPECT_TIMES(0, 0, 4, 17);
    one.given[0].shuffle_s = 1; /* it is done before the maps are */
    slots_case_run(&one, &fifo, times);
    EXPECT_TIMES(0, 0, 4, 10);
}

/* --- fair --- */

/* Slots at 0: A, B, A; at 2: A, B, A; at 4: A, A. */
Test(slots_policies, fair_gives_to_whom_holds_fewest)
{
    struct slots_case two = {
        .cluster = {.slots = {3, 0}, .slow_start = 0.05},
        .given = {{.arrival_s = 0, .maps = {2, 2, 2, 2, 2, 2}}, {.arrival_s = 0, .maps = {2, 2}}}};
    slots_case_run(&two, &fair, times);
    EXPECT_TIMES(0, 0, 6, 6);
    EXPECT_TIMES(1, 0, 4, 4);
}

/* One job in each phase: B's maps begin when A's have ended, its reduce when A has. */
Test(slots_policies, fair_with_a_concurrency_lets_so_many_into_each_phase)
{
    static const struct slots_terms one = {.policy = &slots_policy_fair, .concurrency = 1};
    static const struct slots_terms two = {.policy = &slots_policy_fair, .concurrency = 2};
    struct slots_case jobs = {.cluster = {.slots = {2, 2}, .slow_start = 0.05},
                              .given = {{.arrival_s = 0, .maps = {1, 1}, .reduces = {5}},
                                        {.arrival_s = 0, .maps = {1, 1}, .reduces = {5}},
                                        {.arrival_s = 0, .reduces = {2}}}};
    slots_case_run(&jobs, &one, times);
    EXPECT_TIMES(2, 0, 0, 2); /* has no maps: it enters the reduce phase at once */
    EXPECT_TIMES(0, 0, 1, 7);
    EXPECT_TIMES(1, 1, 2, 12);
    slots_case_run(&jobs, &two, times);
    EXPECT_TIMES(2, 0, 0, 2);
    EXPECT_TIMES(0, 0, 2, 7);
    EXPECT_TIMES(1, 0, 2, 7);
}

/* --- capacity --- */

/* At 0: a, b, a, a (held/share 0, 0; 1/0.75 against 1/0.25; ...). At 10 one a is left, and b may
 * hold 2 of 4: a slot stays free. */
Test(slots_policies, capacity_keeps_queues_at_their_shares_and_below_their_maximum)
{
    static const struct slots_tenant tenants[] = {{0.75, 1}, {0.25, 0.5}};
    static const struct slots_tenant unbounded[] = {{0.75, 1}, {0.25, 1}};
    struct slots_terms terms = {
        .policy = &slots_policy_capacity, .tenants = tenants, .n_tenants = 2};
    struct slots_case two = {.cluster = {.slots = {4, 0}, .slow_start = 0.05},
                             .given = {{.arrival_s = 0, .maps = {10, 10, 10, 10}, .queue = 0},
                                       {.arrival_s = 0, .maps = {10, 10, 10, 10}, .queue = 1}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 20, 20);
    EXPECT_TIMES(1, 0, 30, 30);
    terms.tenants = unbounded;
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(1, 0, 20, 20);
}

/* 1/0.15 comes out above 3/0.45, and is equal to it: the first queue gets the fifth slot. */
Test(slots_policies, capacity_takes_equal_figures_as_equal)
{
    static const struct slots_tenant tenants[] = {{0.15, 1}, {0.45, 1}, {0.4, 1}};
    const struct slots_terms terms = {
        .policy = &slots_policy_capacity, .tenants = tenants, .n_tenants = 3};
    struct slots_case two = {
        .cluster = {.slots = {5, 0}, .slow_start = 0.05},
        .given = {{.maps = {10, 10}, .queue = 0}, {.maps = {10, 10, 10, 10}, .queue = 1}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 10, 10);
    EXPECT_TIMES(1, 0, 20, 20);
}

Test(slots_policies, capacity_lets_every_queue_hold_one_slot)
{
    static const struct slots_tenant tenant = {1, 0.1};
    const struct slots_terms terms = {
        .policy = &slots_policy_capacity, .tenants = &tenant, .n_tenants = 1};
    struct slots_case one = {.cluster = {.slots = {4, 0}, .slow_start = 0.05},
                             .given = {{.maps = {5, 5}}}};
    slots_case_run(&one, &terms, times);
    EXPECT_TIMES(0, 0, 10, 10);
}

/* --- fbq and tags --- */

Test(slots_policies, fbq_moves_a_job_when_its_service_reaches_the_limit)
{
    double limit = 4;
    const struct slots_terms terms = {
        .policy = &slots_policy_fbq, .limits_s = &limit, .n_limits = 1};
    struct slots_case two = {
        .cluster = {.slots = {1, 0}, .slow_start = 0.05},
        .given = {{.arrival_s = 0, .maps = {3, 3, 3}}, {.arrival_s = 1, .maps = {3}}}};
    slots_case_run(&two, &terms, times); /* at 4, in the second task, which runs on */
    EXPECT_TIMES(0, 0, 12, 12);
    EXPECT_TIMES(1, 6, 9, 9);
    limit = 3 + 1e-10; /* with the end of the first task, before the slot is given */
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(1, 3, 6, 6);
    limit = 100;
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(1, 9, 12, 12);
}

/* Limits are of each queue: 2, then 2 more. */
Test(slots_policies, fbq_limits_add_up)
{
    static const double limits[] = {2, 2};
    const struct slots_terms terms = {
        .policy = &slots_policy_fbq, .limits_s = limits, .n_limits = 2};
    struct slots_case three = {.cluster = {.slots = {1, 0}, .slow_start = 0.05},
                               .given = {{.arrival_s = 0, .maps = {5, 1}},
                                         {.arrival_s = 0, .maps = {3, 1}},
                                         {.arrival_s = 0, .maps = {3, 1}}}};
    /* A crosses at 2 and at 4, B at 7, C at 10: then B (queue 2), C (queue 2), A (queue 3). */
    slots_case_run(&three, &terms, times);
    EXPECT_TIMES(0, 0, 14, 14);
    EXPECT_TIMES(1, 5, 12, 12);
    EXPECT_TIMES(2, 8, 13, 13);
}

/* A's first reduce holds the slot from 1 and works from 11 to 16. Its service then is 6. */
Test(slots_policies, holding_a_slot_is_no_service)
{
    double limit = 8;
    const struct slots_terms terms = {
        .policy = &slots_policy_fbq, .limits_s = &limit, .n_limits = 1};
    struct slots_case two = {
        .cluster = {.slots = {1, 1}, .slow_start = 0.05},
        .given = {{.arrival_s = 0, .maps = {1}, .reduces = {5, 5}, .shuffle_s = 10},
                  {.arrival_s = 2, .reduces = {1}}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 1, 31);
    EXPECT_TIMES(1, 31, 2, 32);
    limit = 6;
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(1, 16, 2, 17);
    EXPECT_TIMES(0, 0, 1, 32);
}

/* B reaches 2 at 1, when both of its maps have ended, A at 2; both reach 4 at 4, B by its reduce,
 * which begins to work at 2. So B is ahead of A in the third queue, too, and its other reduce gets
 * the slot at 6. */
Test(slots_policies, jobs_that_cross_together_keep_their_order)
{
    static const double limits[] = {2, 2};
    const struct slots_terms terms = {
        .policy = &slots_policy_fbq, .limits_s = limits, .n_limits = 2};
    struct slots_case two = {
        .cluster = {.slots = {3, 1}, .slow_start = 1},
        .given = {{.arrival_s = 0, .maps = {6}, .reduces = {1}},
                  {.arrival_s = 0, .maps = {1, 1}, .reduces = {4, 1}, .shuffle_s = 1}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 6, 9);
    EXPECT_TIMES(1, 0, 1, 8);
}

/* Of 3 slots the first partition has 1. A goes over to the second at 4 and gets another slot there
 * at once; what it holds it keeps. */
Test(slots_policies, tags_gives_each_queue_slots_of_its_own)
{
    static const double limit = 4;
    static const double parts[] = {0.4, 0.6};
    const struct slots_terms terms = {
        .policy = &slots_policy_tags, .limits_s = &limit, .n_limits = 1, .partitions = parts};
    struct slots_case two = {
        .cluster = {.slots = {3, 0}, .slow_start = 0.05},
        .given = {{.arrival_s = 0, .maps = {6, 6}}, {.arrival_s = 5, .maps = {1}}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 10, 10);
    EXPECT_TIMES(1, 6, 7, 7);
}

Test(slots_policies, too_few_slots_for_the_partitions_are_a_fault)
{
    static const double limits[] = {4, 5};
    static const double parts[] = {0.3, 0.3, 0.4};
    struct slots_terms terms = {.limits_s = limits, .n_limits = 2, .partitions = parts};
    struct slots_case one = {.cluster = {.slots = {2, 4}, .slow_start = 0.05},
                             .given = {{.arrival_s = 0, .maps = {6}, .reduces = {1}}}};
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(&one, true);
    for (size_t p = SLOTS_TAGS; p <= SLOTS_SITA; p++) {
        struct pv_error err = {0};
        terms.policy = slots_policies[p];
        one.cluster = (struct slots_cluster){.slots = {2, 4}, .slow_start = 0.05};
        cr_expect_eq(
            slots_simulate(&one.cluster, one.jobs, one.n, &terms, NULL, &scratch, times, &err),
            PV_E_INVALID);
        cr_expect_str_eq(err.faults[0].at, "/cluster/map_slots");
        cr_expect_str_eq(err.faults[0].code, "out_of_range");
        pv_error_clear(&err);
        one.cluster = (struct slots_cluster){.slots = {3, 2}, .slow_start = 0.05};
        cr_expect_eq(
            slots_simulate(&one.cluster, one.jobs, one.n, &terms, NULL, &scratch, times, &err),
            PV_E_INVALID);
        cr_expect_str_eq(err.faults[0].at, "/cluster/reduce_slots");
        one.cluster = (struct slots_cluster){.slots = {3, 3}, .slow_start = 0.05};
        cr_expect_eq(
            slots_simulate(&one.cluster, one.jobs, one.n, &terms, NULL, &scratch, times, NULL),
            PV_OK);
    }
    arena_fini(&scratch);
}

/* --- sita and comp --- */

/* Sizes of 5 and less go to the first slot; C was thought to be large. */
Test(slots_policies, sita_goes_by_the_predicted_size)
{
    static const double limit = 5;
    static const double parts[] = {0.5, 0.5};
    const struct slots_terms terms = {
        .policy = &slots_policy_sita, .limits_s = &limit, .n_limits = 1, .partitions = parts};
    struct slots_case three = {.cluster = {.slots = {2, 0}, .slow_start = 0.05},
                               .given = {{.arrival_s = 0, .maps = {3, 3}},
                                         {.arrival_s = 0, .maps = {5}},
                                         {.arrival_s = 0, .maps = {1}, .predicted_size_s = 100}}};
    slots_case_run(&three, &terms, times);
    EXPECT_TIMES(0, 0, 6, 6);
    EXPECT_TIMES(1, 0, 5, 5);
    EXPECT_TIMES(2, 6, 7, 7);
}

/* A, of size 4, is the last to have ended for all others: for the second one, too, which arrives at
 * that very instant. The third is smaller, and overtakes the fourth. */
Test(slots_policies, comp_goes_by_jobs_that_ended_last)
{
    const struct slots_terms terms = {.policy = &slots_policy_comp, .queues = 2};
    struct slots_case four = {.cluster = {.slots = {1, 0}, .slow_start = 0.05},
                              .given = {{.arrival_s = 0, .maps = {4}},
                                        {.arrival_s = 4, .maps = {10}},
                                        {.arrival_s = 6, .maps = {3}},
                                        {.arrival_s = 5, .maps = {5}}}};
    slots_case_run(&four, &terms, times);
    EXPECT_TIMES(1, 4, 14, 14);
    EXPECT_TIMES(2, 14, 17, 17);
    EXPECT_TIMES(3, 17, 22, 22);
}

/* Of three queues the last two jobs that ended count: sizes 1 and 2, then 2 and 6. */
Test(slots_policies, comp_forgets_earlier_jobs)
{
    const struct slots_terms terms = {.policy = &slots_policy_comp, .queues = 3};
    struct slots_case six = {.cluster = {.slots = {1, 0}, .slow_start = 0.05},
                             .given = {{.arrival_s = 0, .maps = {1}},
                                       {.arrival_s = 0, .maps = {2}},
                                       {.arrival_s = 4, .maps = {6}},
                                       {.arrival_s = 11, .maps = {8}},
                                       {.arrival_s = 12, .maps = {7}},
                                       {.arrival_s = 13, .maps = {5}}}};
    slots_case_run(&six, &terms, times);
    EXPECT_TIMES(3, 11, 19, 19);
    EXPECT_TIMES(5, 19, 24, 24);
    EXPECT_TIMES(4, 24, 31, 31);
}

/* --- fresh_static --- */

/* 12 s of maps and 3 s of reduces on 6 slots: 4 and 2, as the square roots, and not 3 and 3. */
Test(slots_policies, fresh_static_divides_the_slots_between_the_kinds)
{
    struct slots_terms terms = {.policy = &slots_policy_fresh_static, .concurrency = 1};
    struct slots_case one = {
        .cluster = {.slots = {3, 3}, .slow_start = 0.05},
        .given = {{.maps = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, .reduces = {1, 1, 1}}}};
    slots_case_run(&one, &terms, times);
    EXPECT_TIMES(0, 0, 3, 5);
    terms.split[SLOTS_MAP] = 2; /* as was found for other jobs */
    terms.split[SLOTS_REDUCE] = 4;
    slots_case_run(&one, &terms, times);
    EXPECT_TIMES(0, 0, 6, 7);
}

Test(slots_policies, fresh_wants_every_job_to_have_a_map)
{
    struct slots_case two = {.cluster = {.slots = {1, 1}, .slow_start = 0.05},
                             .given = {{.maps = {1}}, {.reduces = {1}}}};
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(&two, true);
    for (size_t p = SLOTS_FRESH_STATIC; p <= SLOTS_FRESH; p++) {
        const struct slots_terms terms = {.policy = slots_policies[p], .concurrency = 1};
        struct pv_error err = {0};
        cr_expect_eq(
            slots_simulate(&two.cluster, two.jobs, two.n, &terms, NULL, &scratch, times, &err),
            PV_E_INVALID);
        cr_expect_str_eq(err.faults[0].at, "/jobs");
    }
    arena_fini(&scratch);
}

/* --- fresh --- */

/* One job at a time: A has all three slots for its maps, which end at 2; B's begin then, and A's
 * reduces (work 6 against 2) get the two slots that are expected for them. */
Test(slots_policies, fresh_gives_slots_of_no_fixed_kind_as_work_is_left)
{
    static const struct slots_terms terms = {
        .policy = &slots_policy_fresh, .concurrency = 1, .tau1 = 1, .tau2 = 0.6};
    struct slots_case two = {
        .cluster = {.slots = {2, 1}, .slow_start = 0.05},
        .given = {{.maps = {1, 1, 1, 1, 1, 1}, .reduces = {3, 3}}, {.maps = {1, 1}}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(0, 0, 2, 5);
    EXPECT_TIMES(1, 2, 4, 4);
}

/* A and B get slots in turn, as they have consumed: B, which came later, has more slots then. */
Test(slots_policies, fresh_is_fair_in_what_jobs_have_consumed)
{
    static const struct slots_terms terms = {
        .policy = &slots_policy_fresh, .concurrency = 2, .tau1 = 1, .tau2 = 0.6};
    struct slots_case two = {
        .cluster = {.slots = {2, 0}, .slow_start = 0.05},
        .given = {{.maps = {2, 2, 2, 2, 2, 2}}, {.arrival_s = 1, .maps = {2, 2}}}};
    slots_case_run(&two, &terms, times);
    EXPECT_TIMES(1, 2, 4, 4);
    EXPECT_TIMES(0, 0, 8, 8);
}

/* --- omo --- */

/* Reduces may begin at once: three hold their slots from 0 and wait for the maps, for which the fourth
 * slot is kept until both have ended; then it goes to the last reduce. */
Test(slots_policies, omo_keeps_a_slot_for_maps)
{
    static const struct slots_terms terms = {
        .policy = &slots_policy_omo, .ema_weight = 0.5, .window_s = 10};
    struct slots_case one = {.cluster = {.slots = {2, 2}, .slow_start = 0},
                             .given = {{.maps = {1, 1}, .reduces = {5, 5, 5, 5}}}};
    slots_case_run(&one, &terms, times);
    EXPECT_TIMES(0, 0, 2, 7);
}

/* Without a window nothing is known of the rates, and reduces begin with the last map given. From
 * the first window on (at 2: two slots came free, two are available), the job has 6 maps pending at
 * 3; a shuffle of 5 s then outlasts a map by 4 s: a step is 2 x 1/(1 x (2 - 1)) = 2 s, so that two
 * maps from the end its reduce begins. */
Test(slots_policies, omo_starts_reduces_so_that_the_shuffle_ends_with_the_maps)
{
    static const struct slots_terms terms = {
        .policy = &slots_policy_omo, .ema_weight = 1, .window_s = 2, .lazy_start = true};
    struct slots_case one = {
        .cluster = {.slots = {1, 1}, .slow_start = 0},
        .given = {{.maps = {1, 1, 1, 1, 1, 1, 1, 1}, .reduces = {1}, .shuffle_s = 5}}};
    slots_case_run(&one, &terms, times);
    EXPECT_TIMES(0, 0, 5, 9);
}

/* --- shares of counts --- */

/* 0.29 x 100 comes out below 29, and 0.07 x 100 above 7. */
Test(slots_policies, rounding_errors_cost_no_slot)
{
    static const double limit = 50;
    static const double parts[] = {0.29, 0.71};
    static const struct slots_terms sita = {
        .policy = &slots_policy_sita, .limits_s = &limit, .n_limits = 1, .partitions = parts};
    static const struct slots_tasks maps[] = {{1, 29}};
    static const struct slots_job job = {.task_lists = {{maps, 1}}, .predicted_size_s = 29};
    static const struct slots_cluster cluster = {.slots = {100, 0}, .slow_start = 0.05};
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(slots_simulate(&cluster, &job, 1, &sita, NULL, &scratch, times, NULL), PV_OK);
    EXPECT_TIMES(0, 0, 1, 1);
    arena_fini(&scratch);
}

/* At 1, 7 of 100 maps have ended: the first job's reduce gets the slot before the second's. */
Test(slots_policies, rounding_errors_keep_no_reduce_waiting)
{
    static const struct slots_tasks maps[] = {{1, 100}};
    static const struct slots_tasks reduce[] = {{1, 1}};
    static const struct slots_job jobs[] = {
        {.task_lists = {{maps, 1}, {reduce, 1}}, .predicted_size_s = 1},
        {.arrival_s = 1, .task_lists = {{NULL, 0}, {reduce, 1}}, .predicted_size_s = 1}};
    static const struct slots_cluster cluster = {.slots = {7, 1}, .slow_start = 0.07};
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(slots_simulate(&cluster, jobs, 2, &fifo, NULL, &scratch, times, NULL), PV_OK);
    EXPECT_TIMES(0, 0, 15, 16);
    EXPECT_TIMES(1, 16, 1, 17);
    arena_fini(&scratch);
}

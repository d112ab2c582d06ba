/* Simulations with containers: schedules by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "containers_cases.h"

static const struct slots_terms fifo = {.policy = &slots_policy_fifo};
static const struct slots_terms fair = {.policy = &slots_policy_fair};
static const struct slots_terms drf = {.policy = &slots_policy_drf};

/* Tasks of a job that were given containers at an instant. */
static size_t given_at(const struct slots_spans *spans, size_t job, double at_s)
{
    size_t n = 0;
    for (size_t i = 0; i < spans->n; i++)
        if (spans->items[i].job == job && spans->items[i].given_s == at_s)
            n += spans->items[i].count;
    return n;
}

static void run_seen(struct containers_case *of,
                     const struct slots_terms *terms,
                     struct slots_spans *spans,
                     struct arena *arena,
                     struct slots_job_times times[])
{
    const struct slots_observer observer = {.spans = spans};
    cr_assert(slots_spans_init(spans, 1000, arena));
    containers_case_run(of, terms, &observer, times);
}

/* How many containers either of two jobs is given at 0. */
static void expect_first(struct containers_case of,
                         const struct slots_terms *terms,
                         size_t first,
                         size_t second)
{
    struct slots_job_times times[2];
    struct slots_spans spans;
    struct arena arena;
    arena_init(&arena, 0);
    run_seen(&of, terms, &spans, &arena, times);
    cr_expect_eq(given_at(&spans, 0, 0), first);
    cr_expect_eq(given_at(&spans, 1, 0), second);
    arena_fini(&arena);
}

/* The example of A. Ghodsi et al., "Dominant resource fairness", NSDI 2011, section 4.1: 9 processors and
 * 18 GB, tasks of <1, 4 GB> and <3, 1 GB>. */
static const struct containers_case ghodsi = {
    .of = {.cluster = {.ramp_up = 0.5},
           .given = {{.maps = {10, 10, 10, 10, 10}}, {.maps = {10, 10, 10, 10, 10}}}},
    .nodes = {{.speed = 1, .room = {9, 18}}},
    .n_nodes = 1,
    .requests = {{{1, 4}}, {{3, 1}}}};

Test(slots_containers, drf_equalizes_dominant_shares)
{
    expect_first(ghodsi, &drf, 3, 2);
}

/* By memory the second one is next after 4 and 1, and again after 4 and 2: its third does not fit, and
 * so the node is reserved. */
Test(slots_containers, fair_goes_by_memory)
{
    expect_first(ghodsi, &fair, 1, 2);
}

/* Queues of a half each, the first one of a half at most: of ten vcores it has two containers of two,
 * as a third would be six tenths. */
Test(slots_containers, capacity_goes_by_dominant_shares_of_queues)
{
    static const struct slots_tenant tenants[] = {{0.5, 0.5}, {0.5, 1}};
    const struct slots_terms capacity = {
        .policy = &slots_policy_capacity, .tenants = tenants, .n_tenants = 2};
    const struct containers_case of = {
        .of = {.given = {{.maps = {10, 10, 10, 10}}, {.maps = {10, 10, 10, 10}, .queue = 1}}},
        .nodes = {{.speed = 1, .room = {10, 100}}},
        .n_nodes = 1,
        .requests = {{{2, 1}}, {{2, 1}}}};
    expect_first(of, &capacity, 2, 3);
}

/* --- reservations --- */

/* Four vcores, which small maps keep in part for good unless the large one, of all four, that arrives at
 * 0.5 has them reserved: at 1 one comes free, at 4 the last of them. */
Test(slots_containers, a_large_container_does_not_starve)
{
    struct containers_case of = {
        .of = {.given = {{.maps = {1, 2, 3, 4, 1, 1, 1, 1}}, {.arrival_s = 0.5, .maps = {5}}}},
        .nodes = {{.speed = 1, .room = {4, 4}}},
        .n_nodes = 1,
        .requests = {{{1, 1}}, {{4, 1}}}};
    struct slots_job_times times[2];
    containers_case_run(&of, &drf, NULL, times);
    cr_expect_eq(times[1].start_s, 4);
    cr_expect_eq(times[1].finish_s, 9);
    cr_expect_eq(times[0].finish_s, 10);
}

/* Two nodes: the first one is reserved from 1 on, and given back at 3, when the second one is free. The
 * last small map then begins on the first. */
Test(slots_containers, a_reservation_ends_when_there_is_room_elsewhere)
{
    struct containers_case of = {
        .of = {.given = {{.maps = {1, 9, 9, 9, 3, 3, 3, 3, 2}}, {.arrival_s = 0.5, .maps = {5}}}},
        .nodes = {{.speed = 1, .room = {4, 4}}, {.speed = 1, .room = {4, 4}}},
        .n_nodes = 2,
        .requests = {{{1, 1}}, {{4, 1}}}};
    struct slots_job_times times[2];
    struct slots_spans spans;
    struct arena arena;
    arena_init(&arena, 0);
    run_seen(&of, &drf, &spans, &arena, times);
    cr_expect_eq(times[1].start_s, 3);
    cr_expect_eq(times[1].finish_s, 8);
    cr_expect_eq(given_at(&spans, 0, 1), 0);
    cr_expect_eq(given_at(&spans, 0, 3), 1);
    cr_expect_eq(times[0].finish_s, 9);
    arena_fini(&arena);
}

/* The reserved node goes down at 2, and its three maps of 3 are lost. When it is back at 6 it is not reserved
 * any more: the first job, which holds nothing either, has one container. Then the large map is next, the
 * node is reserved again, and it begins at 9. */
Test(slots_containers, a_node_that_goes_down_is_reserved_no_more)
{
    static const struct slots_incident down = {.node = 0, .at_s = 2, .until_s = 6, .down = true};
    struct containers_case of = {
        .of = {.cluster = {.incidents = &down, .n_incidents = 1},
               .given = {{.maps = {1, 3, 3, 3, 4}}, {.arrival_s = 0.5, .maps = {5}}}},
        .nodes = {{.speed = 1, .room = {4, 4}}},
        .n_nodes = 1,
        .requests = {{{1, 1}}, {{4, 1}}}};
    struct slots_job_times times[2];
    containers_case_run(&of, &drf, NULL, times);
    cr_expect_eq(times[1].start_s, 9);
    cr_expect_eq(times[1].finish_s, 14);
    cr_expect_eq(times[0].finish_s, 18);
}

/* --- reduces --- */

/* Four containers; eight maps and four reduces of 1. With half the cluster two reduces have containers
 * at 1, when half of the maps have ended; the other maps end at 2 and 3, and all reduces at 4. With all
 * of it a third reduce has one at 2, when six maps have ended, and the last map ends at 4. With nothing
 * of it maps end at 2, and reduces at 3. */
Test(slots_containers, reduces_ramp_up_to_a_limit)
{
    static const double limits[] = {0.5, 1, 0};
    static const double ends_s[] = {4, 5, 3};
    static const double starts_s[] = {1, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        struct containers_case of = {
            .of = {.cluster = {.ramp_up = limits[i]},
                   .given = {{.maps = {1, 1, 1, 1, 1, 1, 1, 1}, .reduces = {1, 1, 1, 1}}}},
            .nodes = {{.speed = 1, .room = {4, 4}}},
            .n_nodes = 1,
            .requests = {{{1, 1}, {1, 1}}}};
        struct slots_job_times times[1];
        containers_case_run(&of, &fifo, NULL, times);
        cr_expect_eq(times[0].reduce_start_s, starts_s[i]);
        cr_expect_eq(times[0].finish_s, ends_s[i]);
    }
}

/* As with slots, none has a container before slow_start of the maps have finished. */
Test(slots_containers, slow_start_holds)
{
    struct containers_case of = {
        .of = {.cluster = {.ramp_up = 1, .slow_start = 0.75},
               .given = {{.maps = {1, 1, 1, 1, 1, 1, 1, 1}, .reduces = {1, 1, 1, 1}}}},
        .nodes = {{.speed = 1, .room = {4, 4}}},
        .n_nodes = 1,
        .requests = {{{1, 1}, {1, 1}}}};
    struct slots_job_times times[1];
    containers_case_run(&of, &fifo, NULL, times);
    cr_expect_eq(times[0].reduce_start_s, 2);
    cr_expect_eq(times[0].finish_s, 3);
}

/* Ten of memory: a map takes six, a reduce five. At 1 half of the maps have ended, and a reduce has half
 * of the cluster: the other map has no room, and would never have it. The reduce is stopped, and has a
 * container again when the maps have. */
Test(slots_containers, reduces_that_leave_no_room_for_maps_are_stopped)
{
    struct containers_case of = {
        .of = {.cluster = {.ramp_up = 0.5}, .given = {{.maps = {1, 1}, .reduces = {1}}}},
        .nodes = {{.speed = 1, .room = {10, 10}}},
        .n_nodes = 1,
        .requests = {{{1, 6}, {1, 5}}}};
    struct slots_job_times times[1];
    struct slots_spans spans;
    struct arena arena;
    arena_init(&arena, 0);
    run_seen(&of, &fifo, &spans, &arena, times);
    cr_expect_eq(times[0].map_end_s, 2);
    cr_expect_eq(times[0].finish_s, 3);
    size_t stopped = 0;
    for (size_t i = 0; i < spans.n; i++)
        stopped += !spans.items[i].finished;
    cr_expect_eq(stopped, 1);
    arena_fini(&arena);
}

/* --- nodes --- */

/* Two nodes of two; the second one is down from 2 to 3: its maps begin anew. */
Test(slots_containers, tasks_are_lost_with_their_nodes)
{
    static const struct slots_incident down = {.node = 1, .at_s = 2, .until_s = 3, .down = true};
    struct containers_case of = {
        .of = {.cluster = {.incidents = &down, .n_incidents = 1},
               .given = {{.maps = {4, 4, 4, 4}}}},
        .nodes = {{.speed = 1, .room = {2, 2}}, {.speed = 1, .room = {2, 2}}},
        .n_nodes = 2,
        .requests = {{{1, 1}}}};
    struct slots_job_times times[1];
    containers_case_run(&of, &fifo, NULL, times);
    cr_expect_eq(times[0].finish_s, 7);
}

/* Node 1 slows to a tenth, and LATE asks for a copy of its map. Node 0 has a vcore free from 10 on, but
 * no memory for another one before its second map ends at 12. */
Test(slots_containers, a_copy_needs_room_for_its_container)
{
    static const struct slots_incident slow = {
        .node = 1, .at_s = 0, .until_s = 1000, .speed_factor = 0.1};
    struct slots_terms late = {.policy = &slots_policy_fifo,
                               .speculation = {.kind = SLOTS_LATE, .epoch_s = 1}};
    struct containers_case of = {
        .of = {.cluster = {.incidents = &slow, .n_incidents = 1},
               .given = {{.maps = {10, 12, 10}}}},
        .nodes = {{.speed = 1, .room = {2, 6}}, {.speed = 1, .room = {1, 3}}},
        .n_nodes = 2,
        .requests = {{{1, 3}}}};
    struct slots_job_times times[1];
    struct slots_speculation counts = {0};
    const struct slots_observer observer = {.speculation = &counts};
    containers_case_run(&of, &late, &observer, times);
    cr_expect_eq(counts.copies, 1);
    cr_expect_eq(counts.useful, 1);
    cr_expect_geq(times[0].finish_s, 20);
    cr_expect_lt(times[0].finish_s, 30);
    double with_room_s = times[0].finish_s;
    of.nodes[0].room.memory_bytes = 5; /* one map at a time, and no copy beside it */
    containers_case_run(&of, &late, &observer, times);
    cr_expect_gt(times[0].finish_s, with_room_s);
}

/* --- what cannot be --- */

Test(slots_containers, policies_for_slots_are_refused)
{
    static const double limits_s[] = {5};
    static const double halves[] = {0.5, 0.5};
    for (size_t p = 0; p < SLOTS_POLICIES; p++) {
        bool alike = p == SLOTS_FRESH || p == SLOTS_OMO;
        bool refused = p == SLOTS_TAGS || p == SLOTS_SITA || p == SLOTS_FRESH_STATIC;
        for (size_t sizes = 1; sizes <= 2; sizes++) {
            struct containers_case of = {.of = {.given = {{.maps = {1}, .reduces = {1}}}},
                                         .nodes = {{.speed = 1, .room = {4, 4}}},
                                         .n_nodes = 1,
                                         .requests = {{{1, 1}, {1, sizes}}}};
            static const struct slots_tenant all[] = {{1, 1}};
            const struct slots_terms terms = {.policy = slots_policies[p],
                                              .concurrency = alike || refused ? 1 : 0,
                                              .window_s = 10,
                                              .ema_weight = 0.5,
                                              .queues = 2,
                                              .limits_s = limits_s,
                                              .n_limits = 1,
                                              .partitions = halves,
                                              .tenants = all,
                                              .n_tenants = 1};
            struct slots_job_times times[1];
            struct arena arena;
            arena_init(&arena, 0);
            containers_case_prepare(&of, &arena);
            enum pv_code code =
                slots_simulate(&of.of.cluster, of.of.jobs, 1, &terms, NULL, &arena, times, NULL);
            cr_expect_eq(code, refused || (alike && sizes > 1) ? PV_E_INVALID : PV_OK,
                         "%s, %zu sizes", terms.policy->name, sizes);
            arena_fini(&arena);
        }
    }
}

/* --- figures --- */

/* Of four vcores and eight of memory: a map of <2, 2> for 6, one of <1, 4> for 3; by 6, 12 + 3 of 24
 * vcores x s, and 12 + 12 of 48 of memory. */
Test(slots_containers, what_is_allocated_is_counted)
{
    struct containers_case of = {.of = {.given = {{.maps = {6}}, {.maps = {3}}}},
                                 .nodes = {{.speed = 1, .room = {4, 8}}},
                                 .n_nodes = 1,
                                 .requests = {{{2, 2}}, {{1, 4}}}};
    struct slots_job_times times[2];
    struct slots_allocated allocated;
    const struct slots_observer observer = {.allocated = &allocated};
    containers_case_run(&of, &drf, &observer, times);
    cr_expect_eq(allocated.vcores_s, 15);
    cr_expect_eq(allocated.memory_byte_s, 24);
    cr_expect_eq(slots_resources_busy_s(&of.of.cluster, of.of.jobs, of.of.n, false), 3.75);
}

Test(slots_containers, many_sizes_count_for_more_work)
{
    const struct slots_cluster cluster = {.room = {1, 1}, .n_sizes = 160};
    cr_expect_eq(slots_terms_weight(&drf, &cluster, 1000), 10);
    const struct slots_terms capacity = {.policy = &slots_policy_capacity, .n_tenants = 5};
    cr_expect_eq(slots_terms_weight(&capacity, &cluster, 1000), 50);
    const struct slots_cluster few = {.room = {1, 1}, .n_sizes = 2};
    cr_expect_eq(slots_terms_weight(&drf, &few, 1000), 1);
}

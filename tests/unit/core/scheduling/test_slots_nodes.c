/* Simulations on slots of nodes: speeds, incidents, and what holds whatever happens. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/scheduling/slots/slots_seats.h"
#include "slots_cases.h"

static const struct slots_terms fifo = {.policy = &slots_policy_fifo};

/* Two nodes with a map slot each, the second one with the reduce slot, at twice the speed. */
static const struct slots_node two_nodes[] = {{.slots = {1, 0}, .speed = 1},
                                              {.slots = {1, 1}, .speed = 2}};

static struct slots_cluster cluster_of(const struct slots_node nodes[], size_t n)
{
    struct slots_cluster cluster = {.slow_start = 1, .nodes = nodes, .n_nodes = n};
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            cluster.slots[kind] += nodes[i].slots[kind];
    return cluster;
}

/* Maps of 6, 6 and 6: the first on node 0 until 6, the second on node 1 until 3, the third there until
 * 6. The reduce of 4 is given its slot at 6, shuffles for 1, and works for 2. */
Test(slots_nodes, tasks_work_at_the_speed_of_their_node)
{
    struct slots_case one = {.cluster = cluster_of(two_nodes, 2),
                             .given = {{.maps = {6, 6, 6}, .reduces = {4}, .shuffle_s = 1}}};
    struct slots_job_times times[1];
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].map_end_s, 6);
    cr_expect_eq(times[0].reduce_start_s, 6);
    cr_expect_eq(times[0].shuffle_end_s, 7);
    cr_expect_eq(times[0].finish_s, 9);
}

/* The second node is at a quarter of its speed, 0.5, from 1 to 3, and at 2 again after that: its first
 * map has done 2 by 1, 3 by 3, and ends at 4.5; then the third begins there, 6 / 2, and ends at 7.5,
 * but node 0 is free at 6. */
Test(slots_nodes, slowed_for_a_while)
{
    static const struct slots_incident slowed = {
        .node = 1, .at_s = 1, .until_s = 3, .speed_factor = 0.25};
    struct slots_case one = {.cluster = cluster_of(two_nodes, 2),
                             .given = {{.maps = {6, 6, 6, 6}}}};
    struct slots_job_times times[1];
    one.cluster.incidents = &slowed;
    one.cluster.n_incidents = 1;
    slots_case_run(&one, &fifo, times);
    /* The fourth gets node 0 at 6, until 12. */
    cr_expect_eq(times[0].finish_s, 12);
    one.given[0].maps[3] = 0;
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].finish_s, 7.5);
}

/* Two incidents overlap, a half and a half: factors multiply. Of 8 at speed 2, 2 are done by 1, 1 more
 * by 2 at 1, 0.5 by 3 at 0.5, 1 by 4 at 1, and 3.5 take 1.75 from then on. */
Test(slots_nodes, factors_of_incidents_at_one_time_multiply)
{
    static const struct slots_node node = {.slots = {1, 0}, .speed = 2};
    static const struct slots_incident incidents[] = {
        {.node = 0, .at_s = 1, .until_s = 3, .speed_factor = 0.5},
        {.node = 0, .at_s = 2, .until_s = 4, .speed_factor = 0.5}};
    struct slots_case one = {.cluster = cluster_of(&node, 1), .given = {{.maps = {8}}}};
    struct slots_job_times times[1];
    one.cluster.incidents = incidents;
    one.cluster.n_incidents = 2;
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].finish_s, 5.75);
}

/* A node that stands still from 1 to 100. */
Test(slots_nodes, stands_still)
{
    static const struct slots_incident stopped = {.node = 1, .at_s = 1, .until_s = 100};
    struct slots_case one = {.cluster = cluster_of(two_nodes, 2), .given = {{.maps = {6, 6}}}};
    struct slots_job_times times[1];
    one.cluster.incidents = &stopped;
    one.cluster.n_incidents = 1;
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].finish_s, 102);
}

/* Node 1 is down from 2 to 10. Its map, of 5, is lost at 2 and comes before the third one, of 4: it has
 * node 0 from 6 to 11. The third has node 1 from 10 to 12, and the reduce node 1 from 12 on, as its
 * slot was free all along. */
Test(slots_nodes, tasks_of_a_node_that_is_down_are_first_again)
{
    static const struct slots_incident down = {.node = 1, .at_s = 2, .until_s = 10, .down = true};
    struct slots_case one = {.cluster = cluster_of(two_nodes, 2),
                             .given = {{.maps = {6, 5, 4}, .reduces = {4}}}};
    struct slots_job_times times[1];
    one.cluster.incidents = &down;
    one.cluster.n_incidents = 1;
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].map_end_s, 12);
    cr_expect_eq(times[0].finish_s, 14);
}

/* A reduce that waits for its maps is lost, and shuffles anew. With slow start 0 it has node 1 at 0.
 * Down from 2 to 4, it has the slot again at 4; shuffle until 4 + 9 = 13, work until 15. */
Test(slots_nodes, reduces_that_wait_are_lost_too)
{
    static const struct slots_incident down = {.node = 1, .at_s = 2, .until_s = 4, .down = true};
    struct slots_case one = {.cluster = cluster_of(two_nodes, 2),
                             .given = {{.maps = {6}, .reduces = {4}, .shuffle_s = 9}}};
    struct slots_job_times times[1];
    one.cluster.slow_start = 0;
    one.cluster.incidents = &down;
    one.cluster.n_incidents = 1;
    slots_case_run(&one, &fifo, times);
    cr_expect_eq(times[0].reduce_start_s, 0);
    cr_expect_eq(times[0].shuffle_end_s, 13);
    cr_expect_eq(times[0].finish_s, 15);
}

/* --- where partitions are --- */

Test(slots_nodes, partitions_are_cut_in_the_order_of_nodes)
{
    static const struct slots_node nodes[] = {{.slots = {3, 1}, .speed = 1},
                                              {.slots = {0, 2}, .speed = 1},
                                              {.slots = {4, 1}, .speed = 1}};
    size_t maps[] = {5, 2};
    size_t reduces[] = {1, 3};
    const struct slots_partitions partitions = {.slots = {maps, reduces}, .n = 2};
    const struct slots_cluster cluster = cluster_of(nodes, 3);
    struct slots_seats seats;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(slots_seats_init(&seats, &cluster, &partitions, false, &arena));
    /* Maps: 3 of node 0 and 2 of node 2 are the first partition. */
    const size_t *range = seats.firsts[SLOTS_MAP];
    cr_assert_eq(range[1] - range[0], 2);
    cr_expect_eq(seats.items[range[0]].free, 3);
    cr_expect_eq(seats.items[range[0] + 1].node, 2);
    cr_expect_eq(seats.items[range[0] + 1].free, 2);
    cr_assert_eq(range[2] - range[1], 1);
    cr_expect_eq(seats.items[range[1]].node, 2);
    cr_expect_eq(seats.items[range[1]].free, 2);
    range = seats.firsts[SLOTS_REDUCE];
    cr_expect_eq(range[1] - range[0], 1);
    cr_expect_eq(range[2] - range[1], 2);
    arena_fini(&arena);
}

/* Of 11 slots 6 are for maps: of the first 4, 2 (24 / 11); of the first 6, 3; of all, 6. */
Test(slots_nodes, slots_divided_anew_are_divided_on_every_node)
{
    static const struct slots_node nodes[] = {{.slots = {3, 1}, .speed = 1},
                                              {.slots = {0, 2}, .speed = 1},
                                              {.slots = {4, 1}, .speed = 1}};
    static const size_t expected[] = {2, 1, 3};
    size_t maps[] = {6};
    size_t reduces[] = {5};
    const struct slots_partitions partitions = {.slots = {maps, reduces}, .n = 1};
    const struct slots_cluster cluster = cluster_of(nodes, 3);
    struct slots_seats seats;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(slots_seats_init(&seats, &cluster, &partitions, false, &arena));
    const size_t *range = seats.firsts[SLOTS_MAP];
    cr_assert_eq(range[1] - range[0], 3);
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(seats.items[range[0] + i].free, expected[i]);
    arena_fini(&arena);
}

/* Reduces of different durations wait for a map when their node goes down: each leaves those that wait,
 * and is put among those that were lost, in a step or two. Afterwards all of them are done. */
Test(slots_nodes, very_many_reduces_that_wait_are_lost_at_once, .timeout = 10)
{
    enum { REDUCES = 100000 };
    static struct slots_tasks maps = {100, 1};
    static struct slots_tasks reduces[REDUCES];
    const struct slots_node nodes[] = {{.slots = {1, 0}, .speed = 1},
                                       {.slots = {0, REDUCES}, .speed = 1}};
    const struct slots_incident down = {.node = 1, .at_s = 1, .until_s = 2, .down = true};
    struct slots_cluster cluster = cluster_of(nodes, 2);
    const struct slots_job job = {.task_lists = {{&maps, 1}, {reduces, REDUCES}},
                                  .predicted_size_s = (double)NAN};
    struct slots_job_times times;
    struct arena scratch;
    cluster.slow_start = 0;
    cluster.incidents = &down;
    cluster.n_incidents = 1;
    for (size_t i = 0; i < REDUCES; i++)
        reduces[i] = (struct slots_tasks){1 + (double)i, 1};
    arena_init(&scratch, 0);
    cr_assert_eq(slots_simulate(&cluster, &job, 1, &fifo, NULL, &scratch, &times, NULL), PV_OK);
    cr_expect_eq(times.finish_s, 100 + REDUCES);
    arena_fini(&scratch);
}

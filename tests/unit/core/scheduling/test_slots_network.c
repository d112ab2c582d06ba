/* Shuffles that share the network of the nodes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/sim/variates.h"
#include "slots_cases.h"

static const struct slots_terms fifo = {.policy = &slots_policy_fifo};

static struct slots_cluster cluster_of(const struct slots_node nodes[], size_t n)
{
    struct slots_cluster cluster = {.slow_start = 1, .nodes = nodes, .n_nodes = n};
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            cluster.slots[kind] += nodes[i].slots[kind];
    return cluster;
}

static enum pv_code attempt(struct slots_case *of,
                            const struct slots_terms *terms,
                            bool packed,
                            struct slots_traffic *traffic,
                            struct slots_job_times times[])
{
    const struct slots_observer observer = {.traffic = traffic};
    struct arena scratch;
    *traffic = (struct slots_traffic){.links = 0};
    arena_init(&scratch, 0);
    slots_case_prepare(of, packed);
    enum pv_code code = slots_simulate_observed(&of->cluster, of->jobs, of->n, terms, NULL,
                                                &observer, &scratch, times, NULL);
    arena_fini(&scratch);
    return code;
}

static struct slots_traffic
run(struct slots_case *of, const struct slots_terms *terms, struct slots_job_times times[])
{
    struct slots_traffic traffic;
    cr_assert_eq(attempt(of, terms, true, &traffic, times), PV_OK);
    return traffic;
}

/* --- by hand --- */

/* Maps on the first, reduces on the others; 10 bytes a second each way. */
static const struct slots_node one_source[] = {
    {.slots = {1, 0}, .speed = 1, .bandwidth_bytes_per_s = 10},
    {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 10},
    {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 10}};

/* The map ends at 5. Two reduces fetch 20 bytes each, at 5 a second, until 9. */
Test(slots_network, two_reduces_share_the_link_of_the_maps)
{
    struct slots_case one = {.cluster = cluster_of(one_source, 3),
                             .given = {{.maps = {5}, .reduces = {3, 3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    struct slots_traffic traffic = run(&one, &fifo, times);
    cr_expect_eq(times[0].reduce_start_s, 5);
    cr_expect_eq(times[0].shuffle_end_s, 9);
    cr_expect_eq(times[0].finish_s, 12);
    cr_expect_float_eq(traffic.link_bytes, 40, 1e-9);
    cr_expect_eq(traffic.local_bytes, 0);
    cr_expect_eq(traffic.links, 6);
    cr_expect_float_eq(traffic.busy_s, 8, 1e-9, "4 s out, 2 s into each");
    cr_expect_float_eq(traffic.busiest_s, 4, 1e-9);
}

/* Two maps, on two nodes, end at 5; one reduce fetches 20 bytes of each over its own link. */
Test(slots_network, one_reduce_gets_as_much_as_its_link_carries)
{
    static const struct slots_node nodes[] = {
        {.slots = {1, 0}, .speed = 1, .bandwidth_bytes_per_s = 10},
        {.slots = {1, 0}, .speed = 1, .bandwidth_bytes_per_s = 10},
        {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 10}};
    struct slots_case one = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {5, 5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    (void)run(&one, &fifo, times);
    cr_expect_eq(times[0].shuffle_end_s, 9);
}

/* On its own node a reduce has the bytes at once; shuffle_s is the least in any case. */
Test(slots_network, what_is_local_needs_no_network)
{
    static const struct slots_node node = {.slots = {1, 1}, .speed = 1, .bandwidth_bytes_per_s = 1};
    struct slots_case one = {.cluster = cluster_of(&node, 1),
                             .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 1e9}}};
    struct slots_job_times times[1];
    struct slots_traffic traffic = run(&one, &fifo, times);
    cr_expect_eq(times[0].finish_s, 8);
    cr_expect_eq(traffic.link_bytes, 0);
    cr_expect_eq(traffic.local_bytes, 1e9);
    one.given[0].shuffle_s = 2;
    (void)run(&one, &fifo, times);
    cr_expect_eq(times[0].finish_s, 10);
}

/* Maps end on one node at 5 and 10; a reduce that has its slot from 0 on fetches 20 bytes of each, from
 * 5 to 7 and from 10 to 12. One that has it at 10 fetches until 14. */
Test(slots_network, fetches_while_maps_run)
{
    struct slots_case one = {.cluster = cluster_of(one_source, 2),
                             .given = {{.maps = {5, 5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    (void)run(&one, &fifo, times);
    cr_expect_eq(times[0].shuffle_end_s, 14);
    one.cluster.slow_start = 0;
    (void)run(&one, &fifo, times);
    cr_expect_eq(times[0].shuffle_end_s, 12);
}

/* At 2 bytes a second, 10 of the first map's 20 are left at 10, when 20 more come: until 25. */
Test(slots_network, what_comes_later_joins_what_is_left)
{
    static const struct slots_node nodes[] = {
        {.slots = {1, 0}, .speed = 1, .bandwidth_bytes_per_s = 2},
        {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 100}};
    struct slots_case one = {.cluster = cluster_of(nodes, 2),
                             .given = {{.maps = {5, 5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    one.cluster.slow_start = 0;
    (void)run(&one, &fifo, times);
    cr_expect_float_eq(times[0].shuffle_end_s, 25, 1e-9);
}

/* Two jobs' maps end at 5 on one node. The first one's reduce fetches 20 bytes and the second one's 60,
 * each at 5 a second until the first has its own, at 9; then 40 are left at 10 a second, until 13. */
Test(slots_network, who_is_done_leaves_the_link_to_others)
{
    static const struct slots_node nodes[] = {
        {.slots = {2, 0}, .speed = 1, .bandwidth_bytes_per_s = 10},
        {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 10},
        {.slots = {0, 1}, .speed = 1, .bandwidth_bytes_per_s = 10}};
    struct slots_case two = {.cluster = cluster_of(nodes, 3),
                             .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 20},
                                       {.maps = {5}, .reduces = {3}, .shuffle_bytes = 60}}};
    struct slots_job_times times[2];
    (void)run(&two, &fifo, times);
    cr_expect_eq(times[0].shuffle_end_s, 9);
    cr_expect_eq(times[1].shuffle_end_s, 13);
}

/* --- incidents and copies --- */

static void happens(struct slots_case *of, const struct slots_incident *incident)
{
    of->cluster.incidents = incident;
    of->cluster.n_incidents = 1;
}

/* 40 bytes take 4 s from 5 on, but the maps' node is down from 6 to 9: until 12. */
Test(slots_network, nothing_comes_from_a_node_that_is_down)
{
    static const struct slots_incident down = {.node = 0, .at_s = 6, .until_s = 9, .down = true};
    struct slots_case one = {.cluster = cluster_of(one_source, 2),
                             .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    happens(&one, &down);
    struct slots_traffic traffic = run(&one, &fifo, times);
    cr_expect_float_eq(times[0].shuffle_end_s, 12, 1e-9);
    cr_expect_float_eq(traffic.link_bytes, 40, 1e-9);
}

/* The reduce's node is down from 6 to 7: 10 bytes are lost, and all 40 fetched anew, until 11. */
Test(slots_network, a_reduce_that_is_lost_fetches_anew)
{
    static const struct slots_incident down = {.node = 1, .at_s = 6, .until_s = 7, .down = true};
    struct slots_case one = {.cluster = cluster_of(one_source, 2),
                             .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    happens(&one, &down);
    struct slots_traffic traffic = run(&one, &fifo, times);
    cr_expect_float_eq(times[0].shuffle_end_s, 11, 1e-9);
    cr_expect_float_eq(traffic.link_bytes, 50, 1e-9);
}

/* A node that stands still is a matter of its tasks: its link goes on. */
Test(slots_network, speed_is_not_that_of_links)
{
    static const struct slots_incident still = {.node = 0, .at_s = 6, .until_s = 90};
    struct slots_case one = {.cluster = cluster_of(one_source, 2),
                             .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 40}}};
    struct slots_job_times times[1];
    happens(&one, &still);
    (void)run(&one, &fifo, times);
    cr_expect_eq(times[0].shuffle_end_s, 9);
}

/* Both reduces fetch until 5, and work from then on, one of them at a tenth of the speed. The other ends
 * at 15; LATE asks for a copy at 16, which fetches its 20 bytes alone until 18, and ends at 28. */
Test(slots_network, a_copy_of_a_reduce_fetches_too)
{
    static const struct slots_incident slow = {
        .node = 1, .at_s = 0, .until_s = 1000, .speed_factor = 0.1};
    struct slots_case one = {.cluster = cluster_of(one_source, 3),
                             .given = {{.maps = {1}, .reduces = {10, 10}, .shuffle_bytes = 40}}};
    const struct slots_terms late = {.policy = &slots_policy_fifo,
                                     .speculation = {.kind = SLOTS_LATE, .epoch_s = 4}};
    struct slots_job_times times[1];
    happens(&one, &slow);
    struct slots_traffic traffic = run(&one, &late, times);
    cr_expect_float_eq(times[0].finish_s, 28, 1e-9);
    cr_expect_float_eq(traffic.link_bytes, 60, 1e-9);
}

/* --- laws --- */

/* Jobs drawn, on three nodes; `cluster` borrows `nodes`. */
static void draw(struct slots_case *of, struct slots_node nodes[3], uint64_t seed, double bytes)
{
    const uint64_t keys[] = {5, seed};
    struct rng rng = variate_stream(seed, keys, 2);
    *of = (struct slots_case){.n = 0};
    for (size_t i = 0; i < 3; i++)
        nodes[i] = (struct slots_node){.slots = {1 + (size_t)variate_uniform(&rng, 0, 3),
                                                 1 + (size_t)variate_uniform(&rng, 0, 3)},
                                       .speed = 1,
                                       .bandwidth_bytes_per_s = variate_uniform(&rng, 5, 20)};
    of->cluster = cluster_of(nodes, 3);
    of->cluster.slow_start = seed % 3 == 0 ? 1 : 0.3;
    for (size_t j = 0; j < 5; j++) {
        struct case_job *job = &of->given[j];
        size_t maps = 1 + (size_t)variate_uniform(&rng, 0, 9);
        size_t reduces = 1 + (size_t)variate_uniform(&rng, 0, 6);
        job->arrival_s = floor(variate_uniform(&rng, 0, 6));
        job->shuffle_s = floor(variate_uniform(&rng, 0, 3));
        job->shuffle_bytes = bytes * variate_uniform(&rng, 0, 100);
        for (size_t i = 0; i < maps; i++)
            job->maps[i] = floor(variate_uniform(&rng, 1, 4));
        for (size_t i = 0; i < reduces; i++)
            job->reduces[i] = floor(variate_uniform(&rng, 1, 4));
    }
}

static bool suits(const struct slots_case *of, enum slots_policy_index policy)
{
    bool divided = policy == SLOTS_TAGS || policy == SLOTS_SITA;
    return !divided || (of->cluster.slots[SLOTS_MAP] >= 4 && of->cluster.slots[SLOTS_REDUCE] >= 4);
}

/* On links so wide that bytes take no time all is as it is without bytes, to the last bit. */
Test(slots_network, wide_links_are_as_none)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
        for (size_t p = 0; p < SLOTS_POLICIES; p++) {
            const struct slots_terms terms = slots_case_terms(slots_policies[p]);
            struct slots_node nodes[3];
            struct slots_case of;
            struct slots_job_times with[CASE_JOBS_MAX];
            struct slots_job_times without[CASE_JOBS_MAX];
            draw(&of, nodes, seed, 1);
            if (!suits(&of, (enum slots_policy_index)p))
                continue;
            for (size_t i = 0; i < 3; i++)
                nodes[i].bandwidth_bytes_per_s = 1e18;
            struct slots_traffic traffic = run(&of, &terms, with);
            cr_expect_gt(traffic.links, 0);
            for (size_t j = 0; j < of.n; j++)
                of.given[j].shuffle_bytes = 0;
            traffic = run(&of, &terms, without);
            cr_expect_eq(traffic.links, 0);
            for (size_t j = 0; j < of.n; j++)
                cr_expect_eq(with[j].finish_s, without[j].finish_s, "%s, seed %d, job %zu: %g, %g",
                             terms.policy->name, (int)seed, j, with[j].finish_s,
                             without[j].finish_s);
        }
}

/* Every byte that maps put out comes to a reduce once, over a link or not; no link carries more than it
 * can; and tasks that are given out one by one are treated as those that are handled together. */
Test(slots_network, all_bytes_arrive)
{
    double over_links = 0;
    for (uint64_t seed = 1; seed <= 30; seed++)
        for (size_t p = 0; p < SLOTS_POLICIES; p++) {
            const struct slots_terms terms = slots_case_terms(slots_policies[p]);
            struct slots_node nodes[3];
            struct slots_case of;
            struct slots_job_times times[CASE_JOBS_MAX];
            struct slots_job_times single[CASE_JOBS_MAX];
            double bytes = 0;
            double last_s = 0;
            draw(&of, nodes, seed, 1);
            if (!suits(&of, (enum slots_policy_index)p))
                continue;
            struct slots_traffic traffic = run(&of, &terms, times);
            for (size_t j = 0; j < of.n; j++) {
                bytes += of.given[j].shuffle_bytes;
                last_s = fmax(last_s, times[j].finish_s);
            }
            cr_expect_float_eq(traffic.link_bytes + traffic.local_bytes, bytes, 1e-9 * bytes,
                               "seed %d: %.17g over links, %.17g local, of %.17g", (int)seed,
                               traffic.link_bytes, traffic.local_bytes, bytes);
            over_links += traffic.link_bytes;
            cr_expect_leq(traffic.busiest_s, last_s * (1 + 1e-9));
            cr_assert_eq(attempt(&of, &terms, false, &traffic, single), PV_OK);
            for (size_t j = 0; j < of.n; j++)
                cr_expect_float_eq(single[j].finish_s, times[j].finish_s, 1e-9 * last_s);
        }
    cr_expect_gt(over_links, 0);
}

/* A job alone, whose reduces all have slots when its maps are done, is never slower on wider links. */
Test(slots_network, wider_links_are_no_slower_for_a_job_alone)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double before_s = HUGE_VAL;
        for (double wider = 0.25; wider <= 64; wider *= 2) {
            struct slots_node nodes[3];
            struct slots_case of;
            struct slots_job_times times[CASE_JOBS_MAX];
            draw(&of, nodes, seed, 1);
            of.cluster.slow_start = 1;
            memset(&of.given[1], 0, sizeof of.given - sizeof of.given[0]);
            of.given[0].reduces[2] = 0;
            for (size_t i = 0; i < 3; i++)
                nodes[i].bandwidth_bytes_per_s *= wider;
            (void)run(&of, &fifo, times);
            cr_expect_leq(times[0].finish_s, before_s * (1 + 1e-12));
            before_s = times[0].finish_s;
        }
    }
}

/* Figures of any size come to an end: links and bytes that differ by 27 and 16 decades. */
Test(slots_network, tiny_and_huge)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct slots_node nodes[3];
        struct slots_case of;
        struct slots_job_times times[CASE_JOBS_MAX];
        double bytes = 0;
        draw(&of, nodes, seed, 1);
        nodes[0].bandwidth_bytes_per_s = 1e-9;
        nodes[1].bandwidth_bytes_per_s = 1e18;
        for (size_t j = 0; j < 5; j++) {
            of.given[j].shuffle_bytes = j % 2 == 0 ? 1 : 0x1p53;
            bytes += of.given[j].shuffle_bytes;
        }
        struct slots_traffic traffic = run(&of, &fifo, times);
        cr_expect_float_eq(traffic.link_bytes + traffic.local_bytes, bytes, 1e-9 * bytes,
                           "seed %d: %.17g over links, %.17g local, of %.17g", (int)seed,
                           traffic.link_bytes, traffic.local_bytes, bytes);
        cr_expect(isfinite(times[0].finish_s));
    }
}

/* Incidents and copies at random: jobs end, and no byte is missing. */
Test(slots_network, whatever_happens_to_nodes)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const uint64_t keys[] = {6, seed};
        struct rng rng = variate_stream(seed, keys, 2);
        struct slots_terms terms = slots_case_terms(slots_policies[seed % 3]);
        struct slots_node nodes[3];
        struct slots_incident incidents[4];
        struct slots_case of;
        struct slots_job_times times[CASE_JOBS_MAX];
        double bytes = 0;
        draw(&of, nodes, seed, 1);
        terms.speculation =
            (struct slots_speculation_terms){.kind = seed % 2 == 0 ? SLOTS_LATE : SLOTS_ESPLASH,
                                             .epoch_s = 1,
                                             .esplash = esplash_terms_default};
        for (size_t i = 0; i < 4; i++) {
            double at_s = variate_uniform(&rng, 0, 60);
            incidents[i] = (struct slots_incident){.node = i % 3,
                                                   .at_s = at_s,
                                                   .until_s = at_s + variate_uniform(&rng, 1, 30),
                                                   .speed_factor = 0.2,
                                                   .down = i % 2 == 0};
        }
        of.cluster.incidents = incidents;
        of.cluster.n_incidents = 4;
        struct slots_traffic traffic = run(&of, &terms, times);
        for (size_t j = 0; j < of.n; j++) {
            bytes += of.given[j].shuffle_bytes;
            cr_expect(isfinite(times[j].finish_s));
        }
        cr_expect_geq(traffic.link_bytes + traffic.local_bytes, bytes * (1 - 1e-9));
    }
}

Test(slots_network, steps_are_limited_and_counted)
{
    struct slots_node nodes[3];
    struct slots_case of;
    struct slots_job_times times[CASE_JOBS_MAX];
    struct slots_traffic traffic;
    draw(&of, nodes, 1, 1);
    cr_assert_eq(attempt(&of, &fifo, true, &traffic, times), PV_OK);
    size_t steps = traffic.steps;
    cr_expect_gt(steps, 0);
    of.cluster.network_steps_max = steps;
    cr_expect_eq(attempt(&of, &fifo, true, &traffic, times), PV_OK);
    of.cluster.network_steps_max = steps - 1;
    cr_expect_eq(attempt(&of, &fifo, true, &traffic, times), PV_E_INVALID);
}

/* OMO starts reduces by how long their bytes take on a link alone, or by shuffle_s where that is more. */
Test(slots_network, how_long_a_shuffle_takes_alone)
{
    struct slots_case one = {.cluster = cluster_of(one_source, 3),
                             .given = {{.maps = {5}, .reduces = {3, 3}, .shuffle_bytes = 400}}};
    slots_case_prepare(&one, true);
    double byte_s = slots_cluster_byte_s(&one.cluster);
    cr_expect_float_eq(byte_s, 0.1, 1e-15);
    cr_expect_float_eq(slots_job_shuffle_alone_s(&one.jobs[0], byte_s), 20, 1e-12);
    one.jobs[0].shuffle_s = 30;
    cr_expect_eq(slots_job_shuffle_alone_s(&one.jobs[0], byte_s), 30);
    one.cluster.n_nodes = 0;
    cr_expect_eq(slots_cluster_byte_s(&one.cluster), 0);
}

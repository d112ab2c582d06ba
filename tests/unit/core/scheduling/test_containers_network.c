/* Containers whose shuffles share the network of the nodes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "containers_cases.h"
#include "core/sim/variates.h"
#include "rounds.h"

enum { CASES = 60, INCIDENTS = 4, SPANS = 10000, JOBS = 5 };

/* What happens to nodes. */
enum trouble { NO_TROUBLE, SLOWED, ANY_TROUBLE };

/* A workload, and what is seen of it. */
struct seen {
    struct slots_job_times times[CASE_JOBS_MAX];
    struct slots_traffic traffic;
    struct slots_allocated allocated;
    struct slots_spans spans;
    struct slots_speculation speculation;
};

static void see(struct containers_case *drawn,
                const struct slots_terms *terms,
                struct arena *arena,
                struct seen *seen)
{
    *seen = (struct seen){.traffic = {.links = 0}};
    const struct slots_observer observer = {.spans = &seen->spans,
                                            .traffic = &seen->traffic,
                                            .allocated = &seen->allocated,
                                            .speculation = &seen->speculation};
    cr_assert(slots_spans_init(&seen->spans, SPANS, arena));
    containers_case_run(drawn, terms, &observer, seen->times);
    cr_assert_eq(seen->spans.omitted, 0);
}

/* --- by hand --- */

/* A map on the first node ends at 5; the reduce, which fits on the second one only, fetches 40 bytes at 10
 * a second from then on. */
static struct containers_case one_job(void)
{
    const struct slots_resources map = {1, 1};
    const struct slots_resources reduce = {1, 2};
    return (struct containers_case){
        .of = {.cluster = {.slow_start = 1, .ramp_up = 1},
               .given = {{.maps = {5}, .reduces = {3}, .shuffle_bytes = 40}}},
        .nodes = {{.room = {2, 1}, .speed = 1, .bandwidth_bytes_per_s = 10},
                  {.room = {2, 4}, .speed = 1, .bandwidth_bytes_per_s = 10}},
        .n_nodes = 2,
        .requests = {{map, reduce}}};
}

static struct seen see_with(struct containers_case *of, const struct slots_incident *incident)
{
    const struct slots_terms fifo = {.policy = &slots_policy_fifo};
    struct arena arena;
    struct seen seen;
    arena_init(&arena, 0);
    of->of.cluster.incidents = incident;
    of->of.cluster.n_incidents = incident != NULL ? 1 : 0;
    see(of, &fifo, &arena, &seen);
    arena_fini(&arena);
    return seen;
}

Test(containers_network, reduces_fetch_before_they_work)
{
    struct containers_case of = one_job();
    struct seen seen = see_with(&of, NULL);
    cr_expect_eq(seen.times[0].shuffle_end_s, 9);
    cr_expect_eq(seen.times[0].finish_s, 12);
    cr_expect_float_eq(seen.traffic.link_bytes, 40, 1e-9);
    cr_expect_float_eq(seen.allocated.memory_byte_s, 5 + 2 * 7, 1e-9);
}

/* 10 bytes are there when the maps' node goes down, from 6 to 9. */
Test(containers_network, nothing_comes_from_a_node_that_is_down)
{
    static const struct slots_incident down = {.node = 0, .at_s = 6, .until_s = 9, .down = true};
    struct containers_case of = one_job();
    struct seen seen = see_with(&of, &down);
    cr_expect_float_eq(seen.times[0].shuffle_end_s, 12, 1e-9);
    cr_expect_float_eq(seen.traffic.link_bytes, 40, 1e-9);
}

/* The reduce's node is down from 6 to 7: all 40 bytes are fetched anew. */
Test(containers_network, a_reduce_that_is_lost_fetches_anew)
{
    static const struct slots_incident down = {.node = 1, .at_s = 6, .until_s = 7, .down = true};
    struct containers_case of = one_job();
    struct seen seen = see_with(&of, &down);
    cr_expect_float_eq(seen.times[0].shuffle_end_s, 11, 1e-9);
    cr_expect_float_eq(seen.traffic.link_bytes, 50, 1e-9);
}

/* Two maps of 5 that do not fit at one time, on the second node, which the lesser one lets go at 5 to
 * the early reduce. The other map does not fit beside it: at that very instant the reduce is stopped, and
 * its fetch with it. Both maps' outputs are then on the reduce's own node. */
Test(containers_network, an_early_reduce_that_is_stopped_fetches_no_more)
{
    struct containers_case of = one_job();
    of.of.cluster.slow_start = 0;
    memcpy(of.of.given[0].maps, (double[]){5, 5}, 2 * sizeof(double));
    of.nodes[0].room = (struct slots_resources){1, 1};
    of.nodes[1].room = (struct slots_resources){4, 4};
    of.requests[0][SLOTS_MAP] = (struct slots_resources){3, 3};
    of.requests[0][SLOTS_REDUCE] = (struct slots_resources){2, 2};
    struct seen seen = see_with(&of, NULL);
    cr_expect_eq(seen.times[0].map_end_s, 10);
    cr_expect_eq(seen.times[0].finish_s, 13);
    cr_expect_eq(seen.traffic.link_bytes, 0);
    cr_expect_float_eq(seen.traffic.local_bytes, 40, 1e-9);
}

/* --- laws --- */

static uint64_t draw_from(struct rng *rng, uint64_t least, uint64_t most)
{
    return least + variate_index(rng, (size_t)(most - least + 1));
}

static void draw_job(struct rng *rng, double after_s, struct containers_case *drawn, size_t index)
{
    struct case_job *job = &drawn->of.given[index];
    size_t maps = 1 + variate_index(rng, 8);
    size_t reduces = variate_index(rng, 6);
    job->arrival_s = after_s + (double)variate_index(rng, 4);
    job->shuffle_s = (double)variate_index(rng, 3);
    job->queue = variate_index(rng, 2);
    job->shuffle_bytes = variate_index(rng, 4) == 0 ? 0 : variate_uniform(rng, 0, 100);
    for (size_t i = 0; i < maps; i++)
        job->maps[i] = 1 + (double)variate_index(rng, 4);
    for (size_t i = 0; i < reduces; i++)
        job->reduces[i] = 1 + (double)variate_index(rng, 4);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        const struct slots_resources *room = &drawn->nodes[variate_index(rng, drawn->n_nodes)].room;
        drawn->requests[index][kind] = (struct slots_resources){
            draw_from(rng, 1, room->vcores), draw_from(rng, 1, room->memory_bytes)};
    }
}

/* Jobs in order of arrival, as spans know them. FRESH and OMO have containers that are alike. */
static void draw(struct rng *rng, bool alike, struct containers_case *drawn)
{
    static const double ramp_ups[] = {0, 0.25, 0.5, 1};
    static const double slow_starts[] = {0, 0.3, 1};
    *drawn = (struct containers_case){
        .of = {.cluster = {.slow_start = slow_starts[variate_index(rng, 3)],
                           .ramp_up = ramp_ups[variate_index(rng, 4)]}},
        .n_nodes = 1 + variate_index(rng, 4)};
    for (size_t i = 0; i < drawn->n_nodes; i++)
        drawn->nodes[i] = (struct slots_node){.speed = 0.5 * (double)draw_from(rng, 1, 3),
                                              .room = {draw_from(rng, 2, 8), draw_from(rng, 3, 16)},
                                              .bandwidth_bytes_per_s = variate_uniform(rng, 5, 20)};
    for (size_t j = 0; j < JOBS; j++)
        draw_job(rng, j > 0 ? drawn->of.given[j - 1].arrival_s : 0, drawn, j);
    for (size_t j = 0; alike && j < JOBS; j++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            drawn->requests[j][kind] = (struct slots_resources){2, 3};
}

static void draw_trouble(struct rng *rng,
                         enum trouble trouble,
                         struct containers_case *drawn,
                         struct slots_incident incidents[INCIDENTS])
{
    for (size_t i = 0; i < INCIDENTS; i++) {
        double at_s = (double)variate_index(rng, 30);
        incidents[i] =
            (struct slots_incident){.node = variate_index(rng, drawn->n_nodes),
                                    .at_s = at_s,
                                    .until_s = at_s + 1 + (double)variate_index(rng, 9),
                                    .speed_factor = 0.25 * (double)variate_index(rng, 4),
                                    .down = trouble == ANY_TROUBLE && variate_index(rng, 2) == 0};
    }
    drawn->of.cluster.incidents = incidents;
    drawn->of.cluster.n_incidents = trouble == NO_TROUBLE ? 0 : INCIDENTS;
}

/* Of every policy that goes with containers in turn; NULL: not this one. */
static const struct slots_policy *policy_of(size_t c)
{
    const struct slots_policy *policy = slots_policies[c % SLOTS_POLICIES];
    return policy->container_order != SLOTS_WITHOUT_CONTAINERS ? policy : NULL;
}

static struct slots_terms terms_of(const struct slots_policy *policy, size_t speculation)
{
    static const struct slots_tenant tenants[] = {{0.25, 0.5}, {0.75, 1}};
    struct slots_terms terms = slots_case_terms(policy);
    terms.tenants = tenants;
    terms.speculation =
        (struct slots_speculation_terms){.kind = (enum slots_speculation_kind)speculation,
                                         .epoch_s = 1,
                                         .level_count = 1,
                                         .esplash = esplash_terms_default};
    return terms;
}

/* A node never holds more than it has, looked at whenever a container is given; every task ends once. */
static void check_spans(const struct containers_case *drawn, const struct seen *seen)
{
    size_t ended[CASE_JOBS_MAX][SLOTS_KINDS] = {{0}};
    for (size_t i = 0; i < seen->spans.n; i++) {
        const struct slots_span *at = &seen->spans.items[i];
        struct slots_resources held = {0, 0};
        ended[at->job][at->kind] += at->finished ? at->count : 0;
        for (size_t k = 0; k < seen->spans.n; k++) {
            const struct slots_span *span = &seen->spans.items[k];
            if (span->node == at->node && span->given_s <= at->given_s && span->end_s > at->given_s)
                slots_resources_add(&held, &drawn->of.jobs[span->job].requests[span->kind],
                                    span->count);
        }
        cr_assert(slots_resources_fit(&held, &drawn->nodes[at->node].room));
    }
    for (size_t j = 0; j < drawn->of.n; j++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            cr_assert_eq(ended[j][kind], slots_tasks_count(&drawn->of.jobs[j].task_lists[kind]));
}

/* No byte is missing, where tasks are stopped some are moved again, and no link carries more than it
 * can. */
static void check_bytes(const struct containers_case *drawn, const struct seen *seen, bool exactly)
{
    double bytes = 0;
    double last_s = 0;
    double moved = seen->traffic.link_bytes + seen->traffic.local_bytes;
    for (size_t j = 0; j < drawn->of.n; j++) {
        if (drawn->of.jobs[j].task_lists[SLOTS_REDUCE].n > 0)
            bytes += drawn->of.jobs[j].shuffle_bytes;
        last_s = fmax(last_s, seen->times[j].finish_s);
        cr_assert(isfinite(seen->times[j].finish_s));
    }
    cr_assert_geq(moved, bytes * (1 - 1e-9));
    cr_assert(!exactly || moved <= bytes * (1 + 1e-9), "%.17g of %.17g", moved, bytes);
    cr_assert_leq(seen->traffic.busiest_s, last_s * (1 + 1e-9));
}

/* What is allocated is a sum over batches that may end at one instant in any order. */
static bool are_equal(const struct containers_case *of, const struct seen *a, const struct seen *b)
{
    for (size_t j = 0; j < of->of.n; j++)
        if (a->times[j].start_s != b->times[j].start_s ||
            a->times[j].map_end_s != b->times[j].map_end_s ||
            a->times[j].finish_s != b->times[j].finish_s)
            return false;
    return fabs(a->allocated.memory_byte_s - b->allocated.memory_byte_s) <
               1e-9 * (1 + a->allocated.memory_byte_s) &&
           a->speculation.copies == b->speculation.copies;
}

/* Nodes have room for one of those that are alike, at least. */
static void
draw_case(struct rng *rng, const struct slots_policy *policy, struct containers_case *of)
{
    draw(rng, policy->container_order == SLOTS_ALIKE, of);
    if (policy->container_order == SLOTS_ALIKE && of->n_nodes == 1)
        slots_resources_add(&of->nodes[0].room, &of->requests[0][SLOTS_MAP], 1);
}

/* Slow, stopped and lost nodes, copies, and all policies that containers go with. */
Test(containers_network, whatever_happens_all_ends_and_no_byte_is_missing)
{
    struct arena arena;
    double over_links = 0;
    size_t stopped = 0;
    arena_init(&arena, 0);
    for (size_t c = 0; c < rounds(CASES) * SLOTS_POLICIES; c++) {
        const uint64_t keys[] = {c};
        struct rng rng = variate_stream(11, keys, 1);
        struct slots_incident incidents[INCIDENTS];
        struct containers_case of;
        struct seen seen;
        struct seen again;
        if (policy_of(c) == NULL)
            continue;
        draw_case(&rng, policy_of(c), &of);
        enum trouble trouble = (enum trouble)variate_index(&rng, 3);
        draw_trouble(&rng, trouble, &of, incidents);
        const struct slots_terms terms =
            terms_of(policy_of(c), variate_index(&rng, SLOTS_SPECULATION_KINDS));
        see(&of, &terms, &arena, &seen);
        see(&of, &terms, &arena, &again);
        check_spans(&of, &seen);
        bool lost = false;
        for (size_t i = 0; i < seen.spans.n; i++)
            lost = lost || (!seen.spans.items[i].finished && ++stopped > 0);
        check_bytes(&of, &seen, !lost);
        cr_assert(are_equal(&of, &seen, &again) &&
                  seen.traffic.link_bytes == again.traffic.link_bytes);
        over_links += seen.traffic.link_bytes;
        arena_clear(&arena);
    }
    cr_expect(over_links > 0 && stopped > 0);
    arena_fini(&arena);
}

/* On links so wide that bytes take no time all is as it is without bytes, to the last bit, where no
 * outputs are on nodes that are down. (A decision of eSplash at the very instant would not see yet that reduces
 * work.) */
Test(containers_network, wide_links_are_as_none)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t c = 0; c < rounds(CASES) * SLOTS_POLICIES; c++) {
        const uint64_t keys[] = {c};
        struct rng rng = variate_stream(12, keys, 1);
        struct slots_incident incidents[INCIDENTS];
        struct containers_case of;
        struct seen with;
        struct seen without;
        if (policy_of(c) == NULL)
            continue;
        draw_case(&rng, policy_of(c), &of);
        draw_trouble(&rng, c % 2 == 0 ? NO_TROUBLE : SLOWED, &of, incidents);
        const struct slots_terms terms =
            terms_of(policy_of(c), c % 3 == 0 ? SLOTS_LATE : SLOTS_NO_SPECULATION);
        for (size_t i = 0; i < of.n_nodes; i++)
            of.nodes[i].bandwidth_bytes_per_s = 1e18;
        see(&of, &terms, &arena, &with);
        for (size_t j = 0; j < JOBS; j++)
            of.of.given[j].shuffle_bytes = 0;
        see(&of, &terms, &arena, &without);
        cr_assert(are_equal(&of, &with, &without), "%s, case %zu", terms.policy->name, c);
        cr_assert_eq(without.traffic.links, 0);
        arena_clear(&arena);
    }
    arena_fini(&arena);
}

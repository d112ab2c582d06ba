/* What holds for any workload in containers: a plain simulator agrees; no node ever holds more than it
 * has, and all work is done whatever happens; containers that are alike are slots. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "containers_cases.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "core/sim/variates.h"
#include "rounds.h"

enum { CASES = 400, INCIDENTS = 3, SPANS = 10000 };

static const double limits_s[] = {20};
static const struct slots_tenant tenants[] = {{0.25, 0.5}, {0.75, 1}};

static const struct slots_terms every_term = {.queues = 3,
                                              .limits_s = limits_s,
                                              .n_limits = 1,
                                              .tenants = tenants,
                                              .n_tenants = 2,
                                              .tau1 = FRESH_TAU1,
                                              .tau2 = FRESH_TAU2,
                                              .ema_weight = OMO_EMA_WEIGHT,
                                              .window_s = 3,
                                              .lazy_start = true,
                                              .batch_finish = true};

static uint64_t draw_from(struct rng *rng, uint64_t least, uint64_t most)
{
    return least + variate_index(rng, (size_t)(most - least + 1));
}

/* Whole seconds, so that much happens at one instant, or any. */
static double draw_time(struct rng *rng, bool whole)
{
    return whole ? 1 + (double)variate_index(rng, 9) : variate_uniform(rng, 1, 10);
}

static void draw_nodes(struct rng *rng, bool alike, struct containers_case *drawn)
{
    static const double speeds[] = {0.5, 1, 2};
    drawn->n_nodes = 1 + variate_index(rng, 4);
    for (size_t i = 0; i < drawn->n_nodes; i++)
        drawn->nodes[i] =
            (struct slots_node){.speed = alike ? 1 : speeds[variate_index(rng, 3)],
                                .room = {draw_from(rng, 2, 8), draw_from(rng, 4, 16)}};
}

/* One that fits on some node. */
static struct slots_resources draw_request(struct rng *rng, const struct containers_case *drawn)
{
    const struct slots_resources *room = &drawn->nodes[variate_index(rng, drawn->n_nodes)].room;
    return (struct slots_resources){draw_from(rng, 1, room->vcores),
                                    draw_from(rng, 1, room->memory_bytes)};
}

static void draw_jobs(struct rng *rng, bool whole, struct containers_case *drawn)
{
    size_t n = 1 + variate_index(rng, CASE_JOBS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct case_job *job = &drawn->of.given[i];
        size_t maps = 1 + variate_index(rng, CASE_TASKS_MAX - 1);
        size_t reduces = variate_index(rng, 6);
        bool equal = variate_index(rng, 2) == 0;
        job->arrival_s = whole ? (double)variate_index(rng, 10) : variate_uniform(rng, 0, 10);
        job->shuffle_s = (double)variate_index(rng, 3);
        job->queue = variate_index(rng, 2);
        for (size_t k = 0; k < maps; k++)
            job->maps[k] = equal && k > 0 ? job->maps[0] : draw_time(rng, whole);
        for (size_t k = 0; k < reduces; k++)
            job->reduces[k] = draw_time(rng, whole);
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            drawn->requests[i][kind] = draw_request(rng, drawn);
    }
}

static void draw(struct rng *rng, struct containers_case *drawn)
{
    static const double ramp_ups[] = {0, 0.25, 0.5, 1};
    bool whole = variate_index(rng, 2) == 0;
    *drawn = (struct containers_case){
        .of = {.cluster = {.slow_start = variate_index(rng, 2) == 0 ? 0 : 0.3,
                           .ramp_up = ramp_ups[variate_index(rng, 4)]}}};
    draw_nodes(rng, whole, drawn);
    draw_jobs(rng, whole, drawn);
}

/* --- a plain simulator --- */

static void compare(enum slots_policy_index policy)
{
    struct slots_terms terms = every_term;
    struct arena scratch;
    arena_init(&scratch, 0);
    terms.policy = slots_policies[policy];
    for (size_t c = 0; c < rounds(CASES); c++) {
        const uint64_t keys[] = {policy, c};
        struct rng rng = variate_stream(3, keys, 2);
        struct containers_case drawn;
        struct slots_job_times got[CASE_JOBS_MAX];
        struct slots_job_times want[CASE_JOBS_MAX];
        draw(&rng, &drawn);
        containers_case_prepare(&drawn, &scratch);
        containers_reference(&drawn.of.cluster, drawn.of.jobs, drawn.of.n, &terms, want);
        cr_assert_eq(slots_simulate(&drawn.of.cluster, drawn.of.jobs, drawn.of.n, &terms, NULL,
                                    &scratch, got, NULL),
                     PV_OK);
        for (size_t j = 0; j < drawn.of.n; j++)
            cr_assert(fabs(got[j].start_s - want[j].start_s) < 1e-9 &&
                          fabs(got[j].finish_s - want[j].finish_s) < 1e-9,
                      "%s, case %zu, job %zu: %.17g %.17g, and not %.17g %.17g", terms.policy->name,
                      c, j, got[j].start_s, got[j].finish_s, want[j].start_s, want[j].finish_s);
        arena_clear(&scratch);
    }
    arena_fini(&scratch);
}

Test(containers_laws, fifo_agrees_with_a_plain_simulator)
{
    compare(SLOTS_FIFO);
}

Test(containers_laws, fair_agrees_with_a_plain_simulator)
{
    compare(SLOTS_FAIR);
}

Test(containers_laws, drf_agrees_with_a_plain_simulator)
{
    compare(SLOTS_DRF);
}

Test(containers_laws, capacity_agrees_with_a_plain_simulator)
{
    compare(SLOTS_CAPACITY);
}

/* --- whatever happens --- */

/* Incidents, and copies of tasks. */
static void add_trouble(struct rng *rng,
                        struct containers_case *drawn,
                        struct slots_incident incidents[INCIDENTS],
                        struct slots_terms *terms)
{
    for (size_t i = 0; i < INCIDENTS; i++) {
        double at_s = (double)variate_index(rng, 20);
        incidents[i] = (struct slots_incident){.node = variate_index(rng, drawn->n_nodes),
                                               .at_s = at_s,
                                               .until_s = at_s + 1 + (double)variate_index(rng, 9),
                                               .speed_factor = 0.25 * (double)variate_index(rng, 4),
                                               .down = variate_index(rng, 2) == 0};
    }
    drawn->of.cluster.incidents = incidents;
    drawn->of.cluster.n_incidents = INCIDENTS;
    terms->speculation = (struct slots_speculation_terms){
        .kind = (enum slots_speculation_kind)variate_index(rng, SLOTS_SPECULATION_KINDS),
        .epoch_s = 1 + (double)variate_index(rng, 3),
        .level_count = 1,
        .esplash = esplash_terms_default};
}

/* A node never holds more than it has: looked at whenever a container is given. */
static void check_room(const struct containers_case *drawn, const struct slots_spans *spans)
{
    for (size_t i = 0; i < spans->n; i++) {
        const struct slots_span *at = &spans->items[i];
        struct slots_resources held = {0, 0};
        for (size_t k = 0; k < spans->n; k++) {
            const struct slots_span *span = &spans->items[k];
            if (span->node == at->node && span->given_s <= at->given_s && span->end_s > at->given_s)
                slots_resources_add(&held, &drawn->of.jobs[span->job].requests[span->kind],
                                    span->count);
        }
        cr_assert(slots_resources_fit(&held, &drawn->nodes[at->node].room),
                  "node %zu holds more than it has at %g", at->node, at->given_s);
    }
}

/* Every task ends once; what is allocated is what spans held. */
static void check_work(const struct containers_case *drawn,
                       const struct slots_spans *spans,
                       const struct slots_allocated *allocated)
{
    size_t ended[CASE_JOBS_MAX][SLOTS_KINDS] = {{0}};
    struct slots_allocated held = {0, 0};
    for (size_t i = 0; i < spans->n; i++) {
        const struct slots_span *span = &spans->items[i];
        const struct slots_resources *request = &drawn->of.jobs[span->job].requests[span->kind];
        double held_s = (double)span->count * (span->end_s - span->given_s);
        ended[span->job][span->kind] += span->finished ? span->count : 0;
        held.vcores_s += held_s * (double)request->vcores;
        held.memory_byte_s += held_s * (double)request->memory_bytes;
    }
    for (size_t j = 0; j < drawn->of.n; j++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            cr_assert_eq(ended[j][kind], slots_tasks_count(&drawn->of.jobs[j].task_lists[kind]));
    cr_assert_float_eq(allocated->vcores_s, held.vcores_s, 1e-6);
    cr_assert_float_eq(allocated->memory_byte_s, held.memory_byte_s, 1e-6);
}

/* Jobs are known by their order of arrival in spans. */
static void sort_by_arrival(struct containers_case *drawn)
{
    for (size_t i = 1; i < CASE_JOBS_MAX; i++)
        if (drawn->of.given[i].maps[0] > 0)
            drawn->of.given[i].arrival_s += drawn->of.given[i - 1].arrival_s;
}

Test(containers_laws, hold_under_every_policy_whatever_happens)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < rounds(CASES) * SLOTS_POLICIES; c++) {
        const uint64_t keys[] = {c};
        struct rng rng = variate_stream(5, keys, 1);
        struct slots_terms terms = every_term;
        struct slots_incident incidents[INCIDENTS];
        struct containers_case drawn;
        struct slots_job_times times[CASE_JOBS_MAX];
        struct slots_spans spans;
        struct slots_allocated allocated;
        const struct slots_observer observer = {.spans = &spans, .allocated = &allocated};
        terms.policy = slots_policies[c % SLOTS_POLICIES];
        enum slots_container_order order = terms.policy->container_order;
        if (order == SLOTS_WITHOUT_CONTAINERS || order == SLOTS_ALIKE)
            continue;
        draw(&rng, &drawn);
        sort_by_arrival(&drawn);
        add_trouble(&rng, &drawn, incidents, &terms);
        cr_assert(slots_spans_init(&spans, SPANS, &scratch));
        containers_case_run(&drawn, &terms, &observer, times);
        cr_assert_eq(spans.omitted, 0);
        check_room(&drawn, &spans);
        check_work(&drawn, &spans, &allocated);
        for (size_t j = 0; j < drawn.of.n; j++)
            cr_assert(isfinite(times[j].finish_s) && times[j].finish_s >= times[j].map_end_s);
        arena_clear(&scratch);
    }
    arena_fini(&scratch);
}

/* --- containers that are alike --- */

/* A workload in containers, and the same on slots. */
struct pair {
    struct containers_case drawn;
    struct slots_case slots;
    struct slots_node nodes[CASE_NODES_MAX];
    struct slots_incident incidents[INCIDENTS];
    struct slots_terms terms;
};

/* On nodes that have room for as many containers as the others have slots. Maps alone do not show that the
 * slots are theirs; FRESH and OMO know slots of no fixed kind. */
static void draw_pair(struct rng *rng, const struct slots_terms *given, struct pair *pair)
{
    struct containers_case *drawn = &pair->drawn;
    struct slots_cluster *cluster = &pair->slots.cluster;
    bool shared = given->policy->choose_shared != NULL;
    const struct slots_resources one = {2, 3};
    pair->terms = *given;
    draw(rng, drawn);
    add_trouble(rng, drawn, pair->incidents, &pair->terms);
    drawn->of.cluster.slots[SLOTS_MAP] = drawn->of.cluster.slots[SLOTS_REDUCE] = 0;
    for (size_t i = 0; i < CASE_JOBS_MAX; i++) {
        if (!shared)
            drawn->of.given[i].reduces[0] = 0;
        drawn->requests[i][SLOTS_MAP] = drawn->requests[i][SLOTS_REDUCE] = one;
    }
    pair->slots = drawn->of;
    for (size_t i = 0; i < drawn->n_nodes; i++) {
        size_t n = 1 + variate_index(rng, 4);
        size_t maps = shared ? 1 + variate_index(rng, n) : n;
        drawn->nodes[i].room = (struct slots_resources){2 * n + variate_index(rng, 2), 3 * n};
        pair->nodes[i] =
            (struct slots_node){.speed = drawn->nodes[i].speed, .slots = {maps, n - maps}};
        cluster->slots[SLOTS_MAP] += maps;
        cluster->slots[SLOTS_REDUCE] += n - maps;
    }
    if (cluster->slots[SLOTS_REDUCE] == 0 && shared) {
        pair->nodes[0].slots[SLOTS_REDUCE]++;
        cluster->slots[SLOTS_REDUCE]++;
        slots_resources_add(&drawn->nodes[0].room, &one, 1);
    }
    cluster->nodes = pair->nodes;
    cluster->n_nodes = drawn->n_nodes;
}

static void compare_with_slots(struct rng *rng, const struct slots_terms *given)
{
    struct pair pair;
    struct slots_job_times got[CASE_JOBS_MAX];
    struct slots_job_times want[CASE_JOBS_MAX];
    draw_pair(rng, given, &pair);
    slots_case_run(&pair.slots, &pair.terms, want);
    containers_case_run(&pair.drawn, &pair.terms, NULL, got);
    for (size_t j = 0; j < pair.slots.n; j++)
        cr_assert(got[j].start_s == want[j].start_s && got[j].finish_s == want[j].finish_s,
                  "%s, job %zu: %.17g and not %.17g", given->policy->name, j, got[j].finish_s,
                  want[j].finish_s);
}

Test(containers_laws, containers_that_are_alike_are_slots)
{
    for (size_t c = 0; c < rounds(CASES) * SLOTS_POLICIES; c++) {
        const uint64_t keys[] = {c};
        struct rng rng = variate_stream(9, keys, 1);
        struct slots_terms terms = every_term;
        const struct slots_tenant free_tenants[] = {{0.25, 1}, {0.75, 1}};
        terms.policy = slots_policies[c % SLOTS_POLICIES];
        terms.tenants = free_tenants;
        terms.concurrency = terms.policy == &slots_policy_fresh ? 2 : 0;
        if (terms.policy->container_order != SLOTS_WITHOUT_CONTAINERS)
            compare_with_slots(&rng, &terms);
    }
}

/* The fewest looks of decisions on copies with which a simulation comes to its end. */
static size_t least_looks(const struct slots_case *of, struct slots_terms terms)
{
    size_t low = 0; /* too few */
    size_t high = 1 << 20;
    while (high - low > 1) {
        struct slots_job_times times[CASE_JOBS_MAX];
        struct arena scratch;
        terms.speculation.looks_max = low + (high - low) / 2;
        arena_init(&scratch, 0);
        bool enough = slots_simulate(&of->cluster, of->jobs, of->n, &terms, NULL, &scratch, times,
                                     NULL) == PV_OK;
        *(enough ? &high : &low) = terms.speculation.looks_max;
        arena_fini(&scratch);
    }
    return high;
}

/* A copy that waits looks at the same nodes for room as it does for slots, and that is counted. */
Test(containers_laws, copies_that_wait_look_at_as_much_as_on_slots)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < rounds(CASES); c++) {
        const uint64_t keys[] = {c};
        struct rng rng = variate_stream(10, keys, 1);
        struct slots_terms terms = every_term;
        struct pair pair;
        terms.policy = &slots_policy_fifo;
        draw_pair(&rng, &terms, &pair);
        if (pair.terms.speculation.kind == SLOTS_NO_SPECULATION)
            continue;
        slots_case_prepare(&pair.slots, true);
        containers_case_prepare(&pair.drawn, &scratch);
        cr_assert_eq(least_looks(&pair.drawn.of, pair.terms), least_looks(&pair.slots, pair.terms),
                     "case %zu", c);
        arena_clear(&scratch);
    }
    arena_fini(&scratch);
}

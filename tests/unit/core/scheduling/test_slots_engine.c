#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/slots_engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/sim/variates.h"
#include "slots_cases.h"
#include "slots_reference.h"

enum { CASES = 3000, QUEUES = 4 };

/* --- random cases --- */

struct drawn_terms {
    struct slots_terms terms;
    double limits_s[QUEUES];
    double partitions[QUEUES];
    struct slots_tenant tenants[QUEUES];
};

/* Whole numbers meet at the same instants, thirds nearly so, and reals never. */
static double draw_time(struct rng *rng, size_t grain)
{
    static const double steps[] = {1, 0.5, 1.0 / 3};
    return grain < 3 ? steps[grain] * (double)(1 + variate_index(rng, 8))
                     : variate_uniform(rng, 0.1, 9);
}

static void draw_tasks(struct rng *rng, size_t grain, size_t most, double durations_s[])
{
    size_t n = variate_index(rng, most + 1);
    bool equal = variate_index(rng, 2) == 0;
    for (size_t i = 0; i < n; i++)
        durations_s[i] = equal && i > 0 ? durations_s[i - 1] : draw_time(rng, grain);
}

static void draw_case(struct rng *rng, size_t grain, struct slots_case *drawn)
{
    static const double slow_starts[] = {0, 0.05, 0.5, 1};
    size_t n = 1 + variate_index(rng, 7);
    *drawn = (struct slots_case){
        .cluster = {.slots = {QUEUES + variate_index(rng, 4), QUEUES + variate_index(rng, 3)},
                    .slow_start = slow_starts[variate_index(rng, 4)]}};
    for (size_t i = 0; i < n; i++) {
        struct case_job *job = &drawn->given[i];
        job->arrival_s = variate_index(rng, 3) == 0 ? 0 : draw_time(rng, grain);
        draw_tasks(rng, grain, 12, job->maps);
        draw_tasks(rng, grain, 6, job->reduces);
        if (job->maps[0] == 0 && job->reduces[0] == 0)
            job->maps[0] = draw_time(rng, grain);
        if (variate_index(rng, 2) == 0)
            job->shuffle_s = draw_time(rng, grain);
        if (variate_index(rng, 3) == 0)
            job->predicted_size_s = 4 * draw_time(rng, grain);
        job->queue = variate_index(rng, QUEUES - 1);
    }
}

/* Policies of FRESH want every job to have a map. */
static bool needs_maps(size_t policy)
{
    return policy == SLOTS_FRESH_STATIC || policy == SLOTS_FRESH;
}

static void draw_case_for(struct rng *rng, size_t grain, size_t policy, struct slots_case *drawn)
{
    draw_case(rng, grain, drawn);
    for (size_t i = 0; needs_maps(policy) && i < CASE_JOBS_MAX; i++)
        if (drawn->given[i].maps[0] == 0)
            drawn->given[i].maps[0] = drawn->given[i].reduces[0];
}

static void draw_terms(struct rng *rng, size_t grain, size_t policy, struct drawn_terms *drawn)
{
    size_t n_queues = 2 + variate_index(rng, QUEUES - 1);
    double limit_s = 0;
    *drawn = (struct drawn_terms){
        .terms = {.policy = slots_policies[policy],
                  .concurrency = variate_index(rng, 2) * (1 + variate_index(rng, 3)),
                  .queues = n_queues,
                  .limits_s = drawn->limits_s,
                  .n_limits = n_queues - 1,
                  .partitions = drawn->partitions,
                  .tenants = drawn->tenants,
                  .n_tenants = QUEUES - 1}};
    for (size_t q = 0; q < n_queues; q++) {
        limit_s = (policy == SLOTS_SITA ? limit_s : 0) + 2 * draw_time(rng, grain);
        drawn->limits_s[q] = limit_s;
        drawn->partitions[q] = 1.0 / (double)n_queues;
    }
    for (size_t t = 0; t < QUEUES - 1; t++)
        drawn->tenants[t] =
            (struct slots_tenant){t == 0 ? 0.5 : 0.25, (1 + (double)variate_index(rng, 4)) / 4};
    if (needs_maps(policy) && drawn->terms.concurrency == 0)
        drawn->terms.concurrency = 3;
    drawn->terms.tau1 = (double)variate_index(rng, 5) / 4;
    drawn->terms.tau2 = variate_uniform(rng, 0, 1);
    drawn->terms.ema_weight = (1 + (double)variate_index(rng, 4)) / 4;
    drawn->terms.window_s = draw_time(rng, grain);
    drawn->terms.lazy_start = variate_index(rng, 3) > 0;
    drawn->terms.batch_finish = variate_index(rng, 3) > 0;
}

static bool equal_times(const struct slots_job_times *a, const struct slots_job_times *b)
{
    return fabs(a->start_s - b->start_s) < 1e-9 && fabs(a->map_end_s - b->map_end_s) < 1e-9 &&
           fabs(a->finish_s - b->finish_s) < 1e-9;
}

/* Under tags, tasks begin at crossings. Those of thirds come out differently in their last bit in
 * two ways of computing them; then two ends that should be at one instant may not be. */
static void compare_policy(size_t policy)
{
    static const size_t grains[] = {0, 1, 3, 2};
    size_t n_grains = policy == SLOTS_TAGS ? 3 : 4;
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < CASES; c++) {
        const uint64_t keys[] = {policy, c};
        struct rng rng = variate_stream(7, keys, 2);
        size_t grain = grains[c % n_grains];
        struct slots_case drawn;
        struct drawn_terms terms;
        struct slots_job_times got[CASE_JOBS_MAX];
        struct slots_job_times want[CASE_JOBS_MAX];
        struct slots_job_times packed[CASE_JOBS_MAX];
        draw_case_for(&rng, grain, policy, &drawn);
        draw_terms(&rng, grain, policy, &terms);
        slots_case_prepare(&drawn, false);
        slots_reference(&drawn.cluster, drawn.jobs, drawn.n, &terms.terms, want);
        cr_assert_eq(slots_simulate(&drawn.cluster, drawn.jobs, drawn.n, &terms.terms, NULL,
                                    &scratch, got, NULL),
                     PV_OK);
        slots_case_run(&drawn, &terms.terms, packed);
        cr_assert_eq(memcmp(got, packed, drawn.n * sizeof *got), 0,
                     "%s, case %zu: it matters how tasks are packed", terms.terms.policy->name, c);
        for (size_t j = 0; j < drawn.n; j++)
            cr_assert(equal_times(&got[j], &want[j]),
                      "%s, case %zu, job %zu: %.17g %.17g %.17g, and not %.17g %.17g %.17g",
                      terms.terms.policy->name, c, j, got[j].start_s, got[j].map_end_s,
                      got[j].finish_s, want[j].start_s, want[j].map_end_s, want[j].finish_s);
    }
    arena_fini(&scratch);
}

Test(slots_engine, fifo_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_FIFO);
}

Test(slots_engine, fair_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_FAIR);
}

Test(slots_engine, capacity_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_CAPACITY);
}

Test(slots_engine, fbq_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_FBQ);
}

Test(slots_engine, tags_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_TAGS);
}

Test(slots_engine, sita_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_SITA);
}

Test(slots_engine, comp_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_COMP);
}

Test(slots_engine, fresh_static_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_FRESH_STATIC);
}

Test(slots_engine, fresh_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_FRESH);
}

Test(slots_engine, omo_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_OMO);
}

Test(slots_engine, drf_agrees_with_a_plain_simulator)
{
    compare_policy(SLOTS_DRF);
}

/* --- laws --- */

/* A policy that passes everything on to another, and watches. */
static struct {
    const struct slots_policy *policy;
    void *state;
    const struct slots_view *view;
    size_t ended, mapped;
    bool arrived[CASE_JOBS_MAX];
} watched;

static void watch_counts(void)
{
    size_t held[SLOTS_KINDS] = {0};
    for (size_t j = 0; j < watched.view->n_jobs; j++) {
        const struct slots_counts *counts = &watched.view->counts[j];
        const struct slots_job *job = &watched.view->jobs[j];
        size_t maps = slots_tasks_count(&job->task_lists[SLOTS_MAP]);
        for (size_t kind = 0; watched.arrived[j] && kind < SLOTS_KINDS; kind++) {
            cr_assert_eq(counts->pending[kind] + counts->held[kind] + counts->finished[kind],
                         slots_tasks_count(&job->task_lists[kind]));
            held[kind] += counts->held[kind];
        }
        cr_assert(watched.policy->choose_shared != NULL ||
                  counts->held[SLOTS_REDUCE] + counts->finished[SLOTS_REDUCE] == 0 ||
                  (double)counts->finished[SLOTS_MAP] >=
                      watched.view->cluster.slow_start * (double)maps - 1e-9);
        cr_assert(counts->finished[SLOTS_REDUCE] == 0 || counts->finished[SLOTS_MAP] == maps);
    }
    for (size_t kind = 0; watched.policy->choose_shared == NULL && kind < SLOTS_KINDS; kind++)
        cr_assert_leq(held[kind], watched.view->cluster.slots[kind]);
    cr_assert_leq(held[SLOTS_MAP] + held[SLOTS_REDUCE],
                  watched.view->cluster.slots[SLOTS_MAP] +
                      watched.view->cluster.slots[SLOTS_REDUCE]);
}

static enum pv_code watch_begin(const struct slots_view *view,
                                const struct slots_terms *terms,
                                struct slots_partitions *partitions,
                                struct arena *arena,
                                void **state,
                                struct pv_error *err)
{
    watched.view = view;
    *state = NULL;
    return watched.policy->begin(view, terms, partitions, arena, &watched.state, err);
}

static void watch_arrived(void *state, size_t job)
{
    cr_assert_null(state);
    for (size_t j = 0; j < watched.view->n_jobs; j++)
        cr_assert_eq(watched.arrived[j], j < job);
    watched.arrived[job] = true;
    watched.policy->arrived(watched.state, job);
}

static size_t jobs_with_maps_done(void)
{
    size_t n = 0;
    for (size_t j = 0; j < watched.view->n_jobs; j++)
        n += watched.arrived[j] && watched.view->jobs[j].task_lists[SLOTS_MAP].n > 0 &&
             watched.view->counts[j].pending[SLOTS_MAP] == 0 &&
             watched.view->counts[j].held[SLOTS_MAP] == 0;
    return n;
}

static void watch_maps_ended(void *state, size_t job)
{
    cr_assert_null(state);
    cr_assert_eq(watched.view->counts[job].pending[SLOTS_MAP], 0);
    cr_assert_eq(watched.view->counts[job].held[SLOTS_MAP], 0);
    watched.mapped++;
    if (watched.policy->maps_ended != NULL)
        watched.policy->maps_ended(watched.state, job);
}

static void watch_job_ended(void *state, size_t job)
{
    cr_assert_null(state);
    watch_counts();
    cr_assert_eq(watched.view->counts[job].held[SLOTS_REDUCE], 0);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        cr_assert_float_eq(watched.view->counts[job].finished_s[kind],
                           slots_tasks_work(&watched.view->jobs[job].task_lists[kind]), 1e-9);
    cr_assert_eq(watched.mapped, jobs_with_maps_done()); /* was reported before */
    watched.ended++;
    if (watched.policy->job_ended != NULL)
        watched.policy->job_ended(watched.state, job);
}

static void watch_crossed(void *state, const size_t jobs[], size_t n)
{
    cr_assert_null(state);
    for (size_t i = 0; i < n; i++)
        cr_assert_lt(watched.view->limit_s[jobs[i]], HUGE_VAL);
    watched.policy->crossed(watched.state, jobs, n);
}

static void watch_changed(void *state, enum slots_kind kind, size_t job)
{
    cr_assert_null(state);
    watched.policy->changed(watched.state, kind, job);
}

/* Where no slot is set aside, none stays free while some job could use it. */
static size_t watch_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    cr_assert_null(state);
    watch_counts();
    size_t job = watched.policy->choose(watched.state, kind, partition, most);
    for (size_t j = 0; job == SLOTS_NOBODY && j < watched.view->n_jobs; j++)
        cr_assert_not(watched.arrived[j] && slots_is_candidate(watched.view, kind, j));
    return job;
}

/* No slot of no fixed kind stays free while a map is pending, under omo: fresh keeps to phases. */
static size_t watch_choose_shared(void *state, enum slots_kind *kind)
{
    cr_assert_null(state);
    watch_counts();
    size_t job = watched.policy->choose_shared(watched.state, kind);
    for (size_t j = 0; job == SLOTS_NOBODY && j < watched.view->n_jobs; j++)
        cr_assert(!watched.arrived[j] || watched.view->counts[j].pending[SLOTS_MAP] == 0 ||
                  watched.policy == &slots_policy_fresh);
    return job;
}

Test(slots_engine, tasks_and_slots_are_accounted_for)
{
    static const size_t policies[] = {SLOTS_FIFO, SLOTS_FAIR,  SLOTS_FBQ,
                                      SLOTS_COMP, SLOTS_FRESH, SLOTS_OMO};
    const uint64_t purpose[] = {11};
    struct rng rng = variate_stream(7, purpose, 1);
    for (size_t c = 0; c < 1500; c++) {
        size_t policy = policies[c % 6];
        bool shared = slots_policies[policy]->choose_shared != NULL;
        struct slots_case drawn;
        struct drawn_terms terms;
        struct slots_job_times times[CASE_JOBS_MAX];
        struct slots_job_times same[CASE_JOBS_MAX];
        draw_case_for(&rng, c / 6 % 4, policy, &drawn);
        draw_terms(&rng, c / 6 % 4, policy, &terms);
        if (!needs_maps(policy))
            terms.terms.concurrency = 0;
        slots_case_run(&drawn, &terms.terms, times);
        memset(&watched, 0, sizeof watched);
        watched.policy = slots_policies[policy];
        const struct slots_policy watch = {
            .name = "watch",
            .begin = watch_begin,
            .arrived = watch_arrived,
            .maps_ended = watch_maps_ended,
            .job_ended = watch_job_ended,
            .crossed = policy == SLOTS_FBQ ? watch_crossed : NULL,
            .changed = watch_changed,
            .choose = shared ? NULL : watch_choose,
            .choose_shared = shared ? watch_choose_shared : NULL,
        };
        terms.terms.policy = &watch;
        slots_case_run(&drawn, &terms.terms, same);
        cr_assert_eq(memcmp(times, same, drawn.n * sizeof *times), 0);
        cr_assert_eq(watched.ended, drawn.n);
        for (size_t j = 0; j < drawn.n; j++)
            watched.mapped -= drawn.jobs[j].task_lists[SLOTS_MAP].n > 0;
        cr_assert_eq(watched.mapped, 0);
    }
}

/* Nothing but crossings knows how long a second is. */
Test(slots_engine, times_scale)
{
    static const size_t policies[] = {SLOTS_FIFO,         SLOTS_FAIR,  SLOTS_CAPACITY, SLOTS_COMP,
                                      SLOTS_FRESH_STATIC, SLOTS_FRESH, SLOTS_OMO};
    const uint64_t purpose[] = {12};
    struct rng rng = variate_stream(7, purpose, 1);
    for (size_t c = 0; c < 1000; c++) {
        struct slots_case drawn;
        struct drawn_terms terms;
        struct slots_job_times times[CASE_JOBS_MAX];
        struct slots_job_times scaled[CASE_JOBS_MAX];
        draw_case_for(&rng, c / 7 % 4, policies[c % 7], &drawn);
        draw_terms(&rng, c / 7 % 4, policies[c % 7], &terms);
        slots_case_run(&drawn, &terms.terms, times);
        terms.terms.window_s *= 8;
        for (size_t j = 0; j < drawn.n; j++) {
            struct case_job *job = &drawn.given[j];
            job->arrival_s *= 8;
            job->shuffle_s *= 8;
            job->predicted_size_s *= 8;
            for (size_t t = 0; t < CASE_TASKS_MAX; t++) {
                job->maps[t] *= 8;
                job->reduces[t] *= 8;
            }
        }
        slots_case_run(&drawn, &terms.terms, scaled);
        for (size_t j = 0; j < drawn.n; j++) {
            cr_assert_eq(scaled[j].start_s, 8 * times[j].start_s);
            cr_assert_eq(scaled[j].map_end_s, 8 * times[j].map_end_s);
            cr_assert_eq(scaled[j].finish_s, 8 * times[j].finish_s);
        }
    }
}

/* Jain's index is between 1/n and 1, no job is served sooner than its size allows, and all slots
 * together do no more than they can. */
Test(slots_engine, outcomes_are_possible_under_every_policy)
{
    const uint64_t purpose[] = {13};
    struct rng rng = variate_stream(7, purpose, 1);
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < 100 * SLOTS_POLICIES; c++) {
        size_t policy = c % SLOTS_POLICIES;
        struct slots_case drawn;
        struct drawn_terms terms;
        struct slots_job_times times[CASE_JOBS_MAX];
        double runtime_s[CASE_JOBS_MAX];
        double slowdown[CASE_JOBS_MAX];
        struct slots_outcome outcome;
        draw_case_for(&rng, 3, policy, &drawn);
        draw_terms(&rng, 3, policy, &terms);
        slots_case_run(&drawn, &terms.terms, times);
        cr_assert_eq(slots_runtimes_alone(&drawn.cluster, drawn.jobs, drawn.n, NULL, &scratch,
                                          runtime_s, NULL),
                     PV_OK);
        cr_assert_eq(slots_summarize(&drawn.cluster, drawn.jobs, drawn.n, times, runtime_s,
                                     &scratch, slowdown, &outcome, NULL),
                     PV_OK);
        cr_assert_geq(outcome.fairness, 1 / (double)drawn.n - 1e-12);
        cr_assert_leq(outcome.fairness, 1 + 1e-12);
        cr_assert_leq(outcome.utilization, 1 + 1e-12);
        for (size_t j = 0; j < drawn.n; j++) {
            double slots =
                (double)(drawn.cluster.slots[SLOTS_MAP] + drawn.cluster.slots[SLOTS_REDUCE]);
            cr_assert_geq((times[j].finish_s - drawn.jobs[j].arrival_s) * slots,
                          slots_job_size(&drawn.jobs[j]) * (1 - 1e-12));
        }
    }
    arena_fini(&scratch);
}

/* --- partitions --- */

/* A policy with two partitions of map slots. The first job may use both, the second only the
 * latter, and the third none. */
static const struct slots_view *divided_view;
static size_t divided_arrived;

static enum pv_code divided_begin(const struct slots_view *view,
                                  const struct slots_terms *terms,
                                  struct slots_partitions *partitions,
                                  struct arena *arena,
                                  void **state,
                                  struct pv_error *err)
{
    static size_t map_slots[] = {1, 1};
    static size_t reduce_slots[] = {0, 0};
    cr_assert_not_null(terms);
    cr_assert_not_null(arena);
    cr_assert_null(err);
    map_slots[0] = map_slots[1] = 1;
    *partitions = (struct slots_partitions){{map_slots, reduce_slots}, 2};
    *state = NULL;
    divided_view = view;
    divided_arrived = 0;
    return PV_OK;
}

static void divided_take(void *state, size_t job)
{
    cr_assert_null(state);
    cr_assert_eq(job, divided_arrived);
    divided_arrived++;
}

static void divided_changed(void *state, enum slots_kind kind, size_t job)
{
    cr_assert_null(state);
    cr_assert_lt(job, divided_arrived);
    cr_assert_eq(kind, SLOTS_MAP);
}

static size_t divided_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    cr_assert_null(state);
    cr_assert_eq(*most, SIZE_MAX);
    for (size_t job = 0; job < divided_arrived && job <= partition; job++)
        if (slots_is_candidate(divided_view, kind, job))
            return job;
    return SLOTS_NOBODY;
}

static const struct slots_policy divided = {.name = "divided",
                                            .begin = divided_begin,
                                            .arrived = divided_take,
                                            .changed = divided_changed,
                                            .choose = divided_choose};

Test(slots_engine, slots_go_back_to_their_partitions)
{
    static const struct slots_terms terms = {.policy = &divided};
    struct slots_case three = {.cluster = {.slots = {2, 0}, .slow_start = 0},
                               .given = {{.maps = {1, 1}}, {.arrival_s = 0.5, .maps = {1, 1}}}};
    struct slots_job_times times[CASE_JOBS_MAX];
    struct arena scratch;
    slots_case_run(&three, &terms, times);
    cr_expect_eq(times[0].finish_s, 1);
    cr_expect_eq(times[1].start_s, 1);
    cr_expect_eq(times[1].finish_s, 3);
    three.given[2] = (struct case_job){.arrival_s = 0.5, .maps = {1}};
    slots_case_prepare(&three, true);
    arena_init(&scratch, 0);
    cr_expect_eq(slots_simulate(&three.cluster, three.jobs, 3, &terms, NULL, &scratch, times, NULL),
                 PV_E_INTERNAL);
    arena_fini(&scratch);
}

/* --- what can go wrong --- */

/* A workload that needs more than the first block of memory, and more than a thousand instants. */
static struct slots_tasks many_tasks[] = {{1, 3000}};
static struct slots_job many_jobs[300];

static void make_many(void)
{
    for (size_t j = 0; j < 300; j++)
        many_jobs[j] = (struct slots_job){.arrival_s = (double)j / 7,
                                          .task_lists = {{many_tasks, 1}, {many_tasks, 1}},
                                          .predicted_size_s = (double)NAN};
}

static const struct slots_cluster many_slots = {.slots = {100, 50}, .slow_start = 0.05};

static bool stop(void *context, size_t tasks)
{
    *(size_t *)context = tasks;
    return false;
}

static bool go_on(void *context, size_t tasks)
{
    cr_assert_geq(tasks, *(size_t *)context);
    *(size_t *)context = tasks;
    return true;
}

struct count {
    size_t reports;
    size_t most; /* after these it is to stop */
    size_t tasks;
};

static bool count_report(void *context, size_t tasks)
{
    struct count *count = context;
    count->tasks = tasks;
    return ++count->reports < count->most;
}

/* All jobs arrive at once and are given slots at one instant; what they are looked through for is
 * reported within it. */
Test(slots_engine, a_long_instant_can_be_cancelled)
{
    enum { MANY = 3000 };
    static const struct slots_tasks one_map = {5, 1};
    static struct slots_job jobs[MANY];
    static struct slots_job_times times[MANY];
    const struct slots_cluster cluster = {.slots = {MANY, MANY}};
    const struct slots_terms fresh = {
        .policy = &slots_policy_fresh, .concurrency = MANY, .tau1 = FRESH_TAU1, .tau2 = FRESH_TAU2};
    struct count count = {.most = SIZE_MAX};
    struct slots_progress progress = {count_report, &count};
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < MANY; i++)
        jobs[i] = (struct slots_job){.task_lists = {{&one_map, 1}, {NULL, 0}},
                                     .predicted_size_s = (double)NAN};
    cr_assert_eq(slots_simulate(&cluster, jobs, MANY, &fresh, &progress, &scratch, times, NULL),
                 PV_OK);
    /* Each slot makes the jobs be looked through again, which counts for more than a report. */
    cr_expect_geq(count.reports, MANY);
    cr_expect_geq(count.tasks, MANY / 2 - 1, "slots that were given count");
    count = (struct count){.most = 2};
    cr_expect_eq(slots_simulate(&cluster, jobs, MANY, &fresh, &progress, &scratch, times, NULL),
                 PV_E_CANCELLED);
    cr_expect_eq(count.reports, 2);
    cr_expect_lt(count.tasks, 10);
    arena_fini(&scratch);
}

Test(slots_engine, a_simulation_can_be_cancelled)
{
    static const struct slots_terms fair = {.policy = &slots_policy_fair};
    struct slots_job_times times[300];
    struct arena scratch;
    size_t reported = 0;
    struct slots_progress progress = {stop, &reported};
    make_many();
    arena_init(&scratch, 0);
    cr_expect_eq(
        slots_simulate(&many_slots, many_jobs, 300, &fair, &progress, &scratch, times, NULL),
        PV_E_CANCELLED);
    cr_expect_gt(reported, 0);
    cr_expect_lt(reported, 300 * 6000);
    progress.report = go_on;
    cr_expect_eq(
        slots_simulate(&many_slots, many_jobs, 300, &fair, &progress, &scratch, times, NULL),
        PV_OK);
    arena_fini(&scratch);
}

Test(slots_engine, no_memory_is_an_error_wherever_it_ends)
{
    static const double limits[] = {100, 1000};
    static const double parts[] = {0.5, 0.25, 0.25};
    static const struct slots_tenant tenant = {1, 1};
    struct slots_job_times times[300];
    make_many();
    for (size_t p = 0; p < SLOTS_POLICIES; p++) {
        const struct slots_terms terms = {.policy = slots_policies[p],
                                          .concurrency = 5,
                                          .queues = 3,
                                          .limits_s = limits,
                                          .n_limits = 2,
                                          .partitions = parts,
                                          .tenants = &tenant,
                                          .n_tenants = 1,
                                          .tau1 = 0.8,
                                          .tau2 = 0.6,
                                          .ema_weight = 0.5,
                                          .window_s = 10,
                                          .lazy_start = true,
                                          .batch_finish = true};
        enum pv_code code = PV_E_MEMORY;
        size_t limit = 1024;
        for (; code == PV_E_MEMORY && limit < 1 << 26; limit += limit / 4) {
            struct arena scratch;
            arena_init(&scratch, limit);
            code = slots_simulate(&many_slots, many_jobs, 300, &terms, NULL, &scratch, times, NULL);
            arena_fini(&scratch);
        }
        cr_expect_eq(code, PV_OK);
        cr_expect_gt(limit, 100000);
    }
}

Test(slots_engine, reduces_need_a_slot_for_them)
{
    static const struct slots_terms fifo = {.policy = &slots_policy_fifo};
    struct slots_case one = {.cluster = {.slots = {2, 0}, .slow_start = 0.05},
                             .given = {{.arrival_s = 0, .maps = {6}, .reduces = {1}}}};
    struct slots_job_times times[CASE_JOBS_MAX];
    struct pv_error err = {0};
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(&one, true);
    cr_expect_eq(slots_simulate(&one.cluster, one.jobs, one.n, &fifo, NULL, &scratch, times, &err),
                 PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/cluster/reduce_slots");
    arena_fini(&scratch);
}

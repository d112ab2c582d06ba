#include "core/scheduling/slots/fresh.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/variates.h"

static const struct fresh_terms USUAL = {.concurrency = 2, .tau1 = 0.8, .tau2 = 0.6};

static struct fresh_slots slots_of(size_t map_slots, size_t total_slots)
{
    return (struct fresh_slots){
        .map_slots = map_slots, .total_slots = total_slots, .reduce_interval_s = (double)NAN};
}

/* At 100 s. */
static struct fresh_action decide(const struct fresh_terms *terms,
                                  const struct fresh_slots *slots,
                                  const struct fresh_job jobs[],
                                  size_t n,
                                  struct fresh_figures *figures)
{
    struct fresh_tally tally = fresh_tally_begin(100);
    for (size_t i = 0; i < n; i++)
        fresh_tally_add(&tally, i, &jobs[i]);
    return fresh_decide(terms, slots, &tally, figures);
}

static const struct fresh_job MAPPING = {.phase = FRESH_MAP,
                                         .maps = 100,
                                         .maps_finished = 40,
                                         .maps_running = 10,
                                         .map_task_s = 5,
                                         .reduces = 10,
                                         .reduce_task_s = 20,
                                         .task_time_s = 300};
static const struct fresh_job REDUCING = {.phase = FRESH_REDUCE,
                                          .maps = 10,
                                          .maps_finished = 10,
                                          .map_task_s = 5,
                                          .reduces = 20,
                                          .reduces_finished = 5,
                                          .reduces_running = 5,
                                          .reduce_task_s = 20,
                                          .task_time_s = 200};

/* --- which kind --- */

/* 60 maps of 5 s and 15 reduces of 20 s are left: equal work, half of the slots each. */
Test(fresh, slots_stand_as_the_work_that_is_left)
{
    const struct fresh_job jobs[] = {MAPPING, REDUCING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(9, 20);
    struct fresh_action action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(figures.current_ratio, 0.5);
    cr_expect_eq(figures.expected_map_slots, 10);
    cr_expect_eq(figures.progress, 0.4);
    cr_expect_not(figures.sudden_change);
    cr_expect(isnan(figures.expected_ratio));
    cr_expect_eq(action.rule, FRESH_EXPECTED_SLOTS);
    cr_expect_eq(action.kind, SLOTS_MAP);
    cr_expect_eq(action.job, 0);
    slots.map_slots = 10; /* as many as expected: not fewer */
    action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(action.kind, SLOTS_REDUCE);
    cr_expect_eq(action.job, 1);
}

/* A job that waits for its turn to reduce counts as work, and is no candidate. */
Test(fresh, jobs_that_wait_to_reduce_are_work_to_come)
{
    struct fresh_job jobs[] = {MAPPING, REDUCING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(10, 20);
    jobs[1].phase = FRESH_PENDING;
    jobs[1].reduces_finished = jobs[1].reduces_running = 0;
    struct fresh_action action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_float_eq(figures.expected_map_slots, 20 * 300.0 / 700, 1e-12);
    cr_expect_eq(action.rule, FRESH_OTHER_KIND);
    cr_expect_eq(action.kind, SLOTS_MAP);
}

Test(fresh, the_other_kind_gets_the_slot_where_nothing_of_the_kind_is_pending)
{
    struct fresh_job jobs[] = {MAPPING, REDUCING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(5, 20);
    jobs[0].maps_running = 60;
    struct fresh_action action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(figures.expected_map_slots, 10);
    cr_expect_eq(action.rule, FRESH_OTHER_KIND);
    cr_expect_eq(action.kind, SLOTS_REDUCE);
    jobs[1].reduces_running = 15;
    action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(action.rule, FRESH_IDLE);
    cr_expect_eq(action.job, SLOTS_NOBODY);
}

Test(fresh, without_work_nothing_is_computed)
{
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(5, 20);
    struct fresh_action action = decide(&USUAL, &slots, NULL, 0, &figures);
    cr_expect_eq(action.rule, FRESH_IDLE);
    cr_expect(isnan(figures.current_ratio));
    cr_expect(isnan(figures.expected_map_slots));
    cr_expect_eq(figures.first_to_end, SLOTS_NOBODY);
    cr_expect_not(figures.sudden_change);
}

/* --- looking ahead --- */

/* x maps of work w end after x = w/(x c/(2 r k) + n) (the proof of theorem 3.3.1), while x/r reduces
 * end: eta satisfies that equation. */
Test(fresh, released_slots_are_those_of_the_theorem)
{
    const uint64_t purpose[] = {41};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 1000; c++) {
        struct fresh_job jobs[] = {MAPPING, REDUCING};
        struct fresh_figures figures;
        struct fresh_slots slots = slots_of(5, 20);
        const struct fresh_terms terms = {1 + variate_index(&rng, 3), 0, 0.5};
        jobs[0].maps_finished = variate_index(&rng, 90);
        jobs[0].maps_running = variate_index(&rng, 10);
        slots.reduce_interval_s = variate_uniform(&rng, 0.1, 10);
        (void)decide(&terms, &slots, jobs, 2, &figures);
        double work_s = fresh_map_work_s(&jobs[0]);
        double x = figures.reduce_slots_released * slots.reduce_interval_s;
        double gained = x * figures.current_ratio / (2 * slots.reduce_interval_s);
        cr_assert_float_eq(x * (gained + (double)jobs[0].maps_running), work_s, 1e-9 * work_s);
        cr_assert_float_eq(figures.predicted_map_slots,
                           5 + figures.current_ratio * figures.reduce_slots_released, 1e-12);
    }
}

/* 4 maps of 100 are left, and behind them 1000 s of reduces; nothing enters the map phase. */
Test(fresh, slots_go_by_the_work_to_come_when_it_changes_suddenly)
{
    struct fresh_job jobs[] = {MAPPING, REDUCING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(4, 20);
    jobs[0].maps_finished = 92;
    jobs[0].maps_running = 4;
    jobs[0].reduces = 50;
    jobs[1].reduces_finished = 20; /* no more work than the last maps are */
    jobs[1].reduces = 22;
    jobs[1].reduces_running = 1;
    struct fresh_action action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(figures.current_ratio, 0.5);
    cr_expect_eq(figures.next_map_work_s, 0);
    cr_expect_eq(figures.next_reduce_work_s, 1040);
    cr_expect_eq(figures.expected_ratio, 0);
    cr_expect(isnan(figures.deviation));
    cr_expect(figures.sudden_change);
    cr_expect_eq(figures.expected_map_slots, 0);
    cr_expect_eq(action.kind, SLOTS_REDUCE);
    slots.next_map_work_s = 1040; /* as much comes in as goes on: half, and that is what there is */
    action = decide(&USUAL, &slots, jobs, 2, &figures);
    cr_expect_eq(figures.expected_ratio, 0.5);
    cr_expect_not(figures.sudden_change);
    cr_expect_eq(figures.expected_map_slots, 10);
    cr_expect_eq(action.kind, SLOTS_MAP);
    const struct fresh_terms strict = {2, 0.8, 0};
    (void)decide(&strict, &slots, jobs, 2, &figures);
    cr_expect(figures.sudden_change);
    const struct fresh_terms late = {2, 0.93, 0};
    (void)decide(&late, &slots, jobs, 2, &figures);
    cr_expect(isnan(figures.expected_ratio));
}

/* Of three equal jobs only as many go on together as are in the map phase: three, not four. */
Test(fresh, fewer_jobs_than_may_run_take_no_more_work_than_there_is)
{
    struct fresh_job jobs[] = {MAPPING, MAPPING, MAPPING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(4, 20);
    const struct fresh_terms terms = {4, 0, 0.5};
    jobs[1].maps_finished = 20;
    (void)decide(&terms, &slots, jobs, 3, &figures);
    cr_expect_eq(figures.first_to_end, 0);
    cr_expect_eq(figures.next_map_work_s, 100);
}

/* --- whose task --- */

Test(fresh, the_job_that_consumed_least_is_next_and_of_equal_ones_the_first)
{
    struct fresh_job jobs[] = {MAPPING, MAPPING, MAPPING};
    struct fresh_figures figures;
    struct fresh_slots slots = slots_of(4, 20);
    jobs[1].task_time_s = 299;
    jobs[2].task_time_s = 299 + 1e-8;
    cr_expect_eq(decide(&USUAL, &slots, jobs, 3, &figures).job, 1);
    jobs[1].started_s = 90; /* less time, but in less time */
    cr_expect_eq(decide(&USUAL, &slots, jobs, 3, &figures).job, 2);
    jobs[0].started_s = 100; /* its first instant */
    cr_expect_eq(fresh_consumption(&jobs[0], 100), 0);
    cr_expect_eq(decide(&USUAL, &slots, jobs, 3, &figures).job, 0);
}

/* --- laws --- */

static size_t draw_jobs(struct rng *rng, struct fresh_job jobs[])
{
    size_t n = 1 + variate_index(rng, 6);
    for (size_t i = 0; i < n; i++) {
        jobs[i] = variate_index(rng, 2) == 0 ? MAPPING : REDUCING;
        jobs[i].map_task_s = variate_uniform(rng, 1, 9);
        jobs[i].reduce_task_s = variate_uniform(rng, 1, 9);
        jobs[i].started_s = variate_uniform(rng, 0, 90);
        jobs[i].task_time_s = variate_uniform(rng, 0, 900);
        if (jobs[i].phase == FRESH_MAP)
            jobs[i].maps_finished = variate_index(rng, 91);
    }
    return n;
}

/* Whatever the figures, a pending task gets the slot, and of a job's kind only in its phase. */
Test(fresh, a_slot_stays_free_only_if_nothing_is_pending)
{
    const uint64_t purpose[] = {42};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 3000; c++) {
        struct fresh_job jobs[6];
        struct fresh_figures figures;
        size_t pending = 0;
        const struct fresh_terms terms = {1 + variate_index(&rng, 4), variate_uniform(&rng, 0, 1),
                                          variate_uniform(&rng, 0, 1)};
        struct fresh_slots slots = slots_of(variate_index(&rng, 20), 20);
        size_t n = draw_jobs(&rng, jobs);
        for (size_t i = 0; i < n; i++) {
            if (variate_index(&rng, 2) == 0) {
                jobs[i].maps_running = jobs[i].maps - jobs[i].maps_finished;
                jobs[i].reduces_running = jobs[i].phase == FRESH_MAP ? 0 : 15;
            }
            pending += jobs[i].phase == FRESH_MAP
                           ? jobs[i].maps - jobs[i].maps_finished - jobs[i].maps_running
                           : jobs[i].reduces - jobs[i].reduces_finished - jobs[i].reduces_running;
        }
        struct fresh_action action = decide(&terms, &slots, jobs, n, &figures);
        cr_assert_eq(action.rule == FRESH_IDLE, pending == 0);
        cr_assert_eq(action.job == SLOTS_NOBODY, pending == 0);
        cr_assert(pending == 0 ||
                  (action.kind == SLOTS_MAP) == (jobs[action.job].phase == FRESH_MAP));
        cr_assert_geq(figures.expected_map_slots, 0);
        cr_assert_leq(figures.expected_map_slots, 20);
    }
}

/* Nothing in it knows how long a second is. */
Test(fresh, decisions_do_not_depend_on_the_unit_of_time)
{
    const uint64_t purpose[] = {43};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 1000; c++) {
        struct fresh_job jobs[6];
        struct fresh_figures figures;
        struct fresh_figures scaled;
        struct fresh_slots slots = slots_of(variate_index(&rng, 20), 20);
        struct fresh_tally tally = fresh_tally_begin(800);
        size_t n = draw_jobs(&rng, jobs);
        slots.next_map_work_s = variate_uniform(&rng, 0, 500);
        struct fresh_action action = decide(&USUAL, &slots, jobs, n, &figures);
        for (size_t i = 0; i < n; i++) {
            jobs[i].map_task_s *= 8;
            jobs[i].reduce_task_s *= 8;
            jobs[i].started_s *= 8;
            jobs[i].task_time_s *= 8;
            fresh_tally_add(&tally, i, &jobs[i]);
        }
        slots.next_map_work_s *= 8;
        struct fresh_action same = fresh_decide(&USUAL, &slots, &tally, &scaled);
        cr_assert_eq(same.job, action.job);
        cr_assert_eq(same.rule, action.rule);
        cr_assert_float_eq(scaled.expected_map_slots, figures.expected_map_slots, 1e-9);
    }
}

#include "core/scheduling/slots/omo.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/omo_candidates.h"
#include "core/sim/variates.h"

enum { JOBS_MAX = 8 };

/* --- rates --- */

Test(omo, rates_are_moving_averages_and_the_first_window_is_taken_as_it_is)
{
    struct omo_rates rates = {(double)NAN, (double)NAN};
    omo_rates_update(&rates, 0.25, 10, 20, 12);
    cr_expect_eq(rates.release_frequency_per_s, 2);
    cr_expect_eq(rates.available_slots, 12);
    omo_rates_update(&rates, 0.25, 10, 40, 16);
    cr_expect_eq(rates.release_frequency_per_s, 2.5);
    cr_expect_eq(rates.available_slots, 13);
}

Test(omo, a_shuffle_takes_what_each_reduce_has_to_fetch)
{
    cr_expect_eq(omo_shuffle_s(64e6, 80, 4, 25e6), 51.2);
}

/* --- when reduces start --- */

static const struct omo_job UNBEGUN = {.maps = 80,
                                       .maps_finished = 30,
                                       .maps_running = 10,
                                       .map_task_s = 20,
                                       .reduces = 4,
                                       .shuffle_s = 95};

/* The largest x whose gap no smaller x undercuts in amount, by trying all. */
static double latest_start(const struct omo_rates *rates, double k, const struct omo_job *job)
{
    double a = rates->available_slots;
    double step_s = a * k / (rates->release_frequency_per_s * (a - (double)job->reduces));
    double largest = 0;
    for (double x = 1; x <= 300; x++) {
        double gap_s = fabs(job->shuffle_s - (x * step_s + job->map_task_s));
        bool undercut = false;
        for (double y = 0; y < x; y++)
            undercut = undercut || fabs(job->shuffle_s - (y * step_s + job->map_task_s)) < gap_s;
        if (!undercut)
            largest = x;
    }
    return largest;
}

Test(omo, reduces_start_when_no_later_start_has_a_smaller_gap)
{
    const uint64_t purpose[] = {51};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 500; c++) {
        struct omo_job job = UNBEGUN;
        const struct omo_rates rates = {variate_uniform(&rng, 0.2, 3),
                                        variate_uniform(&rng, 5, 50)};
        size_t k = 1 + variate_index(&rng, 5);
        job.map_task_s = variate_uniform(&rng, 1, 60);
        job.shuffle_s = variate_uniform(&rng, 0, 120);
        struct omo_figures figures = omo_assess(&rates, k, &job);
        cr_assert_eq(figures.starts_at_pending_maps, latest_start(&rates, (double)k, &job));
        cr_assert_eq(figures.may_start, 40 <= figures.starts_at_pending_maps);
        cr_assert_eq(figures.pending_maps, 40);
        cr_assert_eq(figures.occupied_slots, 10);
        cr_assert(isnan(figures.fair_s) && isnan(figures.batch_s));
    }
}

Test(omo, without_enough_slots_reduces_wait_for_the_last_map)
{
    struct omo_job job = UNBEGUN;
    const struct omo_rates few = {1, 4}; /* as many as the reduces: none is left for maps */
    const struct omo_rates none = {0, 30};
    struct omo_figures figures = omo_assess(&few, 2, &job);
    cr_expect_eq(figures.starts_at_pending_maps, 0);
    cr_expect(isnan(figures.gap_s));
    cr_expect_not(figures.may_start);
    job.maps_running = 50;
    figures = omo_assess(&few, 2, &job);
    cr_expect_eq(figures.gap_s, 75);
    cr_expect(figures.may_start);
    cr_expect(omo_assess(&none, 2, &job).may_start);
}

/* --- hurrying maps --- */

/* 20 pending maps, one slot every second: in turn with 3 others they take 80 s and a map; meanwhile
 * others get 0.75 slots a second, which takes 0.75 x 30/34 of the time with 4 slots more. */
Test(omo, maps_in_a_batch_set_the_slots_of_reduces_free)
{
    const struct omo_rates rates = {1, 30};
    struct omo_job job = UNBEGUN;
    job.maps_finished = 50;
    job.reduces_running = 2;
    job.reduces_finished = 0;
    struct omo_figures figures = omo_assess(&rates, 4, &job);
    cr_expect_eq(figures.fair_s, 100);
    cr_expect_float_eq(figures.batch_s, 75 * 30.0 / 34, 1e-12);
    cr_expect(isnan(figures.gap_s) && isnan(figures.starts_at_pending_maps));
    cr_expect_not(figures.may_start);
    job.maps_running = 30;
    cr_expect(isnan(omo_assess(&rates, 4, &job).fair_s));
    job.reduces = job.reduces_running = 0;
    cr_expect(isnan(omo_assess(&rates, 4, &job).gap_s));
}

/* --- whom a slot goes to --- */

struct state {
    struct omo_terms terms;
    struct omo_rates rates;
    struct omo_job jobs[JOBS_MAX];
    size_t n;
};

static struct omo_action choose(const struct state *state)
{
    struct omo_candidates candidates;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(omo_candidates_init(&candidates, &state->terms, state->n, &arena));
    omo_candidates_set_rates(&candidates, &state->rates, state->n);
    for (size_t i = 0; i < state->n; i++)
        (void)omo_candidates_put(&candidates, i, &state->jobs[i]);
    struct omo_action action = omo_candidates_choose(&candidates);
    arena_fini(&arena);
    return action;
}

#define EXPECT_ACTION(state, wanted_rule, wanted_kind, wanted_job)                                 \
    do {                                                                                           \
        struct omo_action action = choose(state);                                                  \
        cr_expect_eq(action.rule, wanted_rule, "rule %d", (int)action.rule);                       \
        cr_expect_eq(action.kind, wanted_kind);                                                    \
        cr_expect_eq(action.job, wanted_job, "job %zu", action.job);                               \
    } while (0)

/* A's reduces have begun, B's may begin, C's may not; D has none. */
static struct state four_jobs(void)
{
    struct state state = {.terms = {true, true, 0.05}, .rates = {1, 30}, .n = 4};
    for (size_t i = 0; i < 4; i++)
        state.jobs[i] = UNBEGUN;
    state.jobs[0].reduces_running = 2;
    state.jobs[1].maps_running = 48;
    state.jobs[3].reduces = 0;
    state.jobs[3].maps_running = 9;
    return state;
}

Test(omo, rules_go_one_after_the_other)
{
    struct state state = four_jobs();
    EXPECT_ACTION(&state, OMO_CONSECUTIVE_REDUCES, SLOTS_REDUCE, 0);
    state.jobs[0].reduces_running = 4;
    EXPECT_ACTION(&state, OMO_LAZY_START, SLOTS_REDUCE, 1);
    state.jobs[1].reduces = 0;
    EXPECT_ACTION(&state, OMO_BATCH_FINISH, SLOTS_MAP, 0);
    state.jobs[0].maps_running = 50;
    EXPECT_ACTION(&state, OMO_FAIR, SLOTS_MAP, 3);
    state.jobs[3].maps_running = 50;
    EXPECT_ACTION(&state, OMO_FAIR, SLOTS_MAP, 2);
    state.jobs[1].maps_running = state.jobs[2].maps_running = 50;
    state.jobs[2].reduces = 0;
    EXPECT_ACTION(&state, OMO_IDLE, SLOTS_MAP, SLOTS_NOBODY);
}

Test(omo, techniques_can_be_switched_off)
{
    struct state state = four_jobs();
    state.terms.lazy_start = false;
    EXPECT_ACTION(&state, OMO_BATCH_FINISH, SLOTS_MAP, 0);
    state.terms.batch_finish = false;
    EXPECT_ACTION(&state, OMO_FAIR, SLOTS_MAP, 3);
    state.jobs[3].maps_running = 50; /* C, with fewest slots, has passed slow start: a reduce */
    EXPECT_ACTION(&state, OMO_FAIR, SLOTS_REDUCE, 2);
    state.terms.slow_start = 0.5;
    EXPECT_ACTION(&state, OMO_FAIR, SLOTS_MAP, 2);
}

/* 10, 20 and 30 pending maps: the more there are, the more a batch saves. */
Test(omo, the_maps_that_save_most_are_hurried_and_of_equal_ones_the_first)
{
    struct state state = {.terms = {true, true, 0.05}, .rates = {1, 30}, .n = 3};
    for (size_t i = 0; i < 3; i++) {
        state.jobs[i] = UNBEGUN;
        state.jobs[i].reduces_running = 4;
        state.jobs[i].maps_finished = 60 - 10 * i;
    }
    EXPECT_ACTION(&state, OMO_BATCH_FINISH, SLOTS_MAP, 2);
    state.jobs[1].maps_finished = 40;
    EXPECT_ACTION(&state, OMO_BATCH_FINISH, SLOTS_MAP, 1);
}

/* --- candidates that change --- */

static void draw_job(struct rng *rng, struct omo_job *job)
{
    *job = (struct omo_job){.maps = variate_index(rng, 9),
                            .reduces = variate_index(rng, 4),
                            .map_task_s = variate_uniform(rng, 1, 9),
                            .shuffle_s = variate_uniform(rng, 0, 40)};
    job->maps_finished = variate_index(rng, job->maps + 1);
    job->maps_running = variate_index(rng, job->maps - job->maps_finished + 1);
    if (variate_index(rng, 2) == 0)
        job->reduces_running = variate_index(rng, job->reduces + 1);
    if (job->maps_finished == job->maps)
        job->reduces_finished = variate_index(rng, job->reduces - job->reduces_running + 1);
}

/* What was put before leaves no trace. */
Test(omo, jobs_can_be_put_again)
{
    const uint64_t purpose[] = {52};
    struct rng rng = variate_stream(21, purpose, 1);
    size_t rules[OMO_IDLE + 1] = {0};
    for (size_t c = 0; c < 300; c++) {
        struct state state = {
            .terms = {variate_index(&rng, 2) == 0, variate_index(&rng, 2) == 0, 0.5},
            .rates = {variate_uniform(&rng, 0, 2), variate_uniform(&rng, 1, 9)},
            .n = JOBS_MAX};
        struct omo_candidates candidates;
        struct arena arena;
        arena_init(&arena, 0);
        cr_assert(omo_candidates_init(&candidates, &state.terms, state.n, &arena));
        omo_candidates_set_rates(&candidates, &state.rates, state.n);
        for (size_t i = 0; i < state.n; i++) {
            draw_job(&rng, &state.jobs[i]);
            (void)omo_candidates_put(&candidates, i, &state.jobs[i]);
        }
        for (size_t step = 0; step < 50; step++) {
            size_t job = variate_index(&rng, state.n);
            draw_job(&rng, &state.jobs[job]);
            (void)omo_candidates_put(&candidates, job, &state.jobs[job]);
            struct omo_action action = omo_candidates_choose(&candidates);
            struct omo_action anew = choose(&state);
            cr_assert_eq(action.rule, anew.rule);
            cr_assert_eq(action.job, anew.job);
            cr_assert_eq(action.kind, anew.kind);
            rules[action.rule]++;
        }
        arena_fini(&arena);
    }
    for (size_t rule = 0; rule < OMO_IDLE; rule++)
        cr_expect_gt(rules[rule], 0);
}

/* A pending map always gets the slot, and a pending reduce once all maps have been given. */
Test(omo, a_slot_stays_free_only_if_no_map_is_pending)
{
    const uint64_t purpose[] = {53};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 3000; c++) {
        struct state state = {
            .terms = {variate_index(&rng, 2) == 0, variate_index(&rng, 2) == 0, 0.5},
            .rates = {variate_uniform(&rng, 0, 2), variate_uniform(&rng, 1, 9)},
            .n = 1 + variate_index(&rng, 2)};
        bool waits = false;
        for (size_t i = 0; i < state.n; i++) {
            struct omo_job *job = &state.jobs[i];
            draw_job(&rng, job);
            waits = waits || job->maps_finished + job->maps_running < job->maps ||
                    (job->maps_finished == job->maps && omo_begun_reduces(job) < job->reduces);
        }
        cr_assert(!waits || choose(&state).rule != OMO_IDLE);
    }
}

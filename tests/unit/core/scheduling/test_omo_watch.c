#include "core/scheduling/slots/omo_watch.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

enum { JOBS = 200, ROUNDS = 300 };

static const struct omo_terms both = {true, true, 0.05};

/* Reduces of half of them have begun. */
static struct omo_job draw(struct rng *rng)
{
    struct omo_job job = {.maps = 1 + rng_next(rng) % 20,
                          .map_task_s = (double)(1 + rng_next(rng) % 30),
                          .reduces = rng_next(rng) % 6,
                          .shuffle_s = (double)(rng_next(rng) % 60)};
    job.maps_finished = rng_next(rng) % (job.maps + 1);
    job.reduces_running = job.reduces > 0 && rng_next(rng) % 8 == 0 ? 1 : 0;
    return job;
}

static bool is_awake(const struct omo_watch *watch, size_t job)
{
    return watch->place_of[job] != SIZE_MAX;
}

/* Whoever sleeps may not start, or may at any rate, and is not to be hurried at any. */
static void expect_same_at_any_rate(const struct omo_rates *rates, const struct omo_job *job)
{
    const struct omo_rates none = {0, 0};
    struct omo_figures now = omo_assess(rates, JOBS, job);
    struct omo_figures then = omo_assess(&none, JOBS, job);
    cr_expect_eq(now.may_start, then.may_start);
    cr_expect(isnan(now.fair_s));
}

/* Rates change, jobs change, and those awake are put again, as by the policy. */
Test(omo_watch, who_sleeps_is_not_missed)
{
    struct rng rng = rng_make(1, 0);
    struct omo_job jobs[JOBS];
    struct omo_watch watch;
    struct arena arena;
    size_t asleep = 0;
    size_t awake = 0;
    arena_init(&arena, 0);
    cr_assert(omo_watch_init(&watch, &both, JOBS, &arena));
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = draw(&rng);
        omo_watch_put(&watch, i, &jobs[i]);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct omo_rates rates = {(double)(rng_next(&rng) % 100),
                                        (double)(rng_next(&rng) % 100)};
        omo_watch_set_rates(&watch, &rates, JOBS);
        for (size_t i = watch.n_awake; i > 0; i--)
            omo_watch_put(&watch, watch.awake[i - 1], &jobs[watch.awake[i - 1]]);
        size_t changed = rng_next(&rng) % JOBS;
        jobs[changed] = draw(&rng);
        omo_watch_put(&watch, changed, &jobs[changed]);
        awake += watch.n_awake;
        for (size_t i = 0; i < JOBS; i++)
            if (!is_awake(&watch, i)) {
                expect_same_at_any_rate(&rates, &jobs[i]);
                asleep++;
            }
    }
    cr_expect_gt(asleep, awake);
    cr_expect_gt(awake, (size_t)10 * ROUNDS);
    arena_fini(&arena);
}

/* However many wait for their maps: what is looked at when rates change does not grow with them. */
Test(omo_watch, jobs_that_wait_are_not_looked_at)
{
    struct omo_rates rates = {40, 100};
    struct omo_watch watch;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(omo_watch_init(&watch, &both, JOBS, &arena));
    for (size_t i = 0; i < JOBS; i++) {
        const struct omo_job job = {.maps = 2 + i, .map_task_s = 1, .reduces = 1, .shuffle_s = 11};
        omo_watch_put(&watch, i, &job);
    }
    cr_expect_eq(watch.n_awake, 0);
    /* F/K is 0.2: (maps - 1/2)/10 is less for the first one only. */
    omo_watch_set_rates(&watch, &rates, 200);
    cr_expect_eq(watch.n_awake, 1);
    cr_expect(is_awake(&watch, 0));
    omo_watch_wake(&watch, 7);
    omo_watch_wake(&watch, 7);
    cr_expect_eq(watch.n_awake, 2);
    arena_fini(&arena);
}

/* Without batch_finish and lazy_start no rate matters. */
Test(omo_watch, rules_that_do_not_apply_wake_nobody)
{
    const struct omo_terms neither = {false, false, 0.05};
    const struct omo_rates rates = {1000, 100};
    struct rng rng = rng_make(2, 0);
    struct omo_watch watch;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(omo_watch_init(&watch, &neither, JOBS, &arena));
    omo_watch_set_rates(&watch, &rates, 1);
    for (size_t i = 0; i < JOBS; i++) {
        const struct omo_job job = draw(&rng);
        omo_watch_put(&watch, i, &job);
    }
    cr_expect_eq(watch.n_awake, 0);
    arena_fini(&arena);
}

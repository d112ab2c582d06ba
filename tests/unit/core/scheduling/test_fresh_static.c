#include "core/scheduling/slots/fresh_static.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/variates.h"

enum { JOBS_MAX = 7, SLOTS_MAX = 12, CASES = 2000 };

/* --- the model, written as it is defined --- */

struct plain_list {
    size_t jobs[JOBS_MAX];
    double left_s[JOBS_MAX];
    size_t n;
};

static void append(struct plain_list *list, size_t job, double work_s)
{
    list->jobs[list->n] = job;
    list->left_s[list->n++] = work_s;
}

static size_t take(struct plain_list *list, size_t place)
{
    size_t job = list->jobs[place];
    list->n--;
    for (size_t i = place; i < list->n; i++) {
        list->jobs[i] = list->jobs[i + 1];
        list->left_s[i] = list->left_s[i + 1];
    }
    return job;
}

static double least_need(const struct plain_list *list, double slots)
{
    double least_s = HUGE_VAL;
    for (size_t i = 0; i < list->n; i++)
        least_s = fmin(least_s, list->left_s[i] / (slots / (double)list->n));
    return least_s;
}

/* Who is done; the others' work falls. */
static size_t
work(struct plain_list *list, double slots, double dt_s, double enough_s, size_t done[])
{
    size_t n_done = 0;
    double speed = slots / (double)list->n;
    for (size_t i = 0; i < list->n;) {
        if (list->left_s[i] / speed <= enough_s) {
            done[n_done++] = take(list, i);
        } else {
            list->left_s[i++] -= dt_s * speed;
        }
    }
    return n_done;
}

static double
plain_makespan(const struct fresh_batch *batch, double map_slots, struct fresh_job_times times[])
{
    struct plain_list m = {.n = 0};
    struct plain_list p = {.n = 0};
    struct plain_list r = {.n = 0};
    double reduce_slots = (double)batch->slots - map_slots;
    double t = 0;
    size_t next = 0;
    size_t done[JOBS_MAX];
    for (;;) {
        for (; m.n < batch->concurrency && next < batch->n; next++) {
            append(&m, next, batch->jobs[next].map_s);
            times[next].start_s = t;
            times[next].reduce_start_s = (double)NAN;
        }
        if (m.n + r.n == 0)
            return t;
        double dt_s = fmin(least_need(&m, map_slots), least_need(&r, reduce_slots));
        t += dt_s;
        double enough_s = dt_s + 1e-9 * fmax(1, t);
        size_t n_done = work(&r, reduce_slots, dt_s, enough_s, done);
        for (size_t i = 0; i < n_done; i++)
            times[done[i]].finish_s = t;
        n_done = work(&m, map_slots, dt_s, enough_s, done);
        for (size_t i = 0; i < n_done; i++) {
            times[done[i]].map_end_s = times[done[i]].finish_s = t;
            if (batch->jobs[done[i]].reduce_s > 0)
                append(&p, done[i], batch->jobs[done[i]].reduce_s);
        }
        while (r.n < batch->concurrency && p.n > 0) {
            size_t job = take(&p, 0);
            append(&r, job, batch->jobs[job].reduce_s);
            times[job].reduce_start_s = t;
        }
    }
}

/* --- random batches --- */

static void draw_batch(struct rng *rng, struct fresh_work jobs[], struct fresh_batch *batch)
{
    bool whole = variate_index(rng, 2) == 0; /* then much ends together */
    bool reduces = variate_index(rng, 8) > 0;
    size_t n = 1 + variate_index(rng, JOBS_MAX);
    for (size_t i = 0; i < n; i++) {
        double map_s =
            whole ? 6 * (double)(1 + variate_index(rng, 3)) : variate_uniform(rng, 1, 90);
        double reduce_s = variate_index(rng, 5) == 0 ? 0 : variate_uniform(rng, 1, 90);
        if (whole && reduce_s > 0)
            reduce_s = 6 * (double)(1 + variate_index(rng, 3));
        jobs[i] = (struct fresh_work){map_s, reduces ? reduce_s : 0, 0, 0};
    }
    *batch = (struct fresh_batch){jobs, n, 2 + variate_index(rng, SLOTS_MAX - 1),
                                  1 + variate_index(rng, 4)};
}

static bool near(double a, double b)
{
    return isnan(b) ? isnan(a) : fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void compare_times(const struct fresh_batch *batch,
                          size_t map_slots,
                          const struct fresh_job_times want[],
                          struct arena *scratch)
{
    struct fresh_job_times got[JOBS_MAX];
    cr_assert_eq(fresh_static_times(batch, map_slots, scratch, got, NULL), PV_OK);
    for (size_t i = 0; i < batch->n; i++) {
        cr_assert(near(got[i].start_s, want[i].start_s));
        cr_assert(near(got[i].map_end_s, want[i].map_end_s));
        cr_assert(near(got[i].reduce_start_s, want[i].reduce_start_s));
        cr_assert(near(got[i].finish_s, want[i].finish_s));
    }
}

/* Every split is tried, and the shortest is chosen. */
Test(fresh_static, agrees_with_brute_force_over_all_splits)
{
    const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(21, purpose, 1);
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < CASES; c++) {
        struct fresh_work jobs[JOBS_MAX];
        struct fresh_batch batch;
        struct fresh_job_times times[JOBS_MAX] = {{0}};
        double makespan_s[SLOTS_MAX];
        double shortest_s = HUGE_VAL;
        size_t shortest = 0;
        size_t best = 0;
        draw_batch(&rng, jobs, &batch);
        size_t splits = fresh_static_splits(&batch);
        cr_assert_eq(fresh_static_makespans(&batch, &scratch, makespan_s, NULL), PV_OK);
        for (size_t map_slots = 1; map_slots <= splits; map_slots++) {
            double want_s = plain_makespan(&batch, (double)map_slots, times);
            cr_assert(near(makespan_s[map_slots - 1], want_s), "case %zu: %.17g, not %.17g", c,
                      makespan_s[map_slots - 1], want_s);
            compare_times(&batch, map_slots, times, &scratch);
            if (want_s < shortest_s * (1 - 1e-9)) {
                shortest_s = want_s;
                shortest = map_slots;
            }
        }
        cr_assert_eq(fresh_static_least(makespan_s, splits, 1), shortest);
        cr_assert_eq(fresh_static_best(&batch, &scratch, &best, NULL), PV_OK);
        cr_assert_eq(best, shortest, "case %zu: %zu map slots, not %zu", c, best, shortest);
    }
    arena_fini(&scratch);
}

/* --- laws --- */

/* The map phase never idles until it has done all maps; the reduce phase does its work in no less
 * time than it takes; and no job gets more than all slots of a phase. */
Test(fresh_static, work_is_conserved)
{
    const uint64_t purpose[] = {2};
    struct rng rng = variate_stream(21, purpose, 1);
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < CASES; c++) {
        struct fresh_work jobs[JOBS_MAX];
        struct fresh_batch batch;
        struct fresh_job_times times[JOBS_MAX];
        double map_s = 0;
        double reduce_s = 0;
        double last_map_s = 0;
        double last_s = 0;
        draw_batch(&rng, jobs, &batch);
        size_t map_slots = 1 + variate_index(&rng, batch.slots - 1);
        double slots[] = {(double)map_slots, (double)(batch.slots - map_slots)};
        cr_assert_eq(fresh_static_times(&batch, map_slots, &scratch, times, NULL), PV_OK);
        for (size_t i = 0; i < batch.n; i++) {
            map_s += jobs[i].map_s;
            reduce_s += jobs[i].reduce_s;
            last_map_s = fmax(last_map_s, times[i].map_end_s);
            last_s = fmax(last_s, times[i].finish_s);
            cr_assert_leq(jobs[i].map_s, (times[i].map_end_s - times[i].start_s) * slots[0] + 1e-7);
            if (jobs[i].reduce_s > 0)
                cr_assert_leq(jobs[i].reduce_s,
                              (times[i].finish_s - times[i].reduce_start_s) * slots[1] + 1e-7);
        }
        cr_assert_float_eq(last_map_s * slots[0], map_s, 1e-7);
        cr_assert_geq(last_s * slots[1], reduce_s - 1e-7);
    }
    arena_fini(&scratch);
}

/* 0.7 + 0.1 comes out below 0.8: the last two jobs end their maps at one instant nevertheless, and the
 * one that entered first reduces first, in the one place that is free. */
Test(fresh_static, rounding_errors_do_not_change_the_order)
{
    static const struct fresh_work jobs[] = {{0.7, 10, 0, 0}, {0.8, 2, 0, 0}, {0.1, 3, 0, 0}};
    const struct fresh_batch batch = {jobs, 3, 4, 2};
    struct fresh_job_times times[3];
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(fresh_static_times(&batch, 2, &scratch, times, NULL), PV_OK);
    cr_expect_float_eq(times[1].map_end_s, 0.8, 1e-12);
    cr_expect_eq(times[2].map_end_s, times[1].map_end_s);
    cr_expect_eq(times[1].reduce_start_s, times[1].map_end_s);
    cr_expect_eq(times[2].reduce_start_s, times[1].finish_s);
    arena_fini(&scratch);
}

/* One job on so many slots that they can be divided as they please: as the square roots of the
 * work. */
Test(fresh_static, slots_of_one_job_stand_as_the_square_roots_of_its_work)
{
    static const struct fresh_work job = {900, 400, 0, 0};
    const struct fresh_batch batch = {&job, 1, 1000, 1};
    struct arena scratch;
    size_t map_slots;
    arena_init(&scratch, 0);
    cr_assert_eq(fresh_static_best(&batch, &scratch, &map_slots, NULL), PV_OK);
    cr_expect_eq(map_slots, 600);
    arena_fini(&scratch);
}

Test(fresh_static, the_search_that_passes_splits_over_finds_what_the_full_one_finds)
{
    const uint64_t purpose[] = {3};
    struct rng rng = variate_stream(21, purpose, 1);
    struct fresh_work jobs[60];
    double makespan_s[150];
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t c = 0; c < 60; c++) {
        size_t best = 0;
        const struct fresh_batch batch = {jobs, 1 + variate_index(&rng, 60), 150,
                                          1 + variate_index(&rng, 20)};
        for (size_t i = 0; i < batch.n; i++)
            jobs[i] = (struct fresh_work){variate_bounded_pareto(&rng, 10, 1e5, 0.8),
                                          variate_bounded_pareto(&rng, 10, 1e5, 0.8), 0, 0};
        cr_assert_eq(fresh_static_makespans(&batch, &scratch, makespan_s, NULL), PV_OK);
        cr_assert_eq(fresh_static_best(&batch, &scratch, &best, NULL), PV_OK);
        cr_expect_eq(best, fresh_static_least(makespan_s, fresh_static_splits(&batch), 1));
    }
    arena_fini(&scratch);
}

/* --- the choice --- */

Test(fresh_static, of_equal_splits_the_first_is_best)
{
    static const double makespan_s[] = {10, 9, 9 * (1 - 1e-10), 9, 8.5, 9};
    cr_expect_eq(fresh_static_least(makespan_s, 6, 1), 5);
    cr_expect_eq(fresh_static_least(makespan_s, 4, 1), 2);
    cr_expect_eq(fresh_static_least(makespan_s, 6, 3), 3);
    cr_expect_eq(fresh_static_least(makespan_s, 6, 4), 4);
    cr_expect_eq(fresh_static_least(makespan_s, 6, 7), 0);
}

Test(fresh_static, no_memory_is_an_error)
{
    static const struct fresh_work job = {1, 1, 0, 0};
    const struct fresh_batch batch = {&job, 1, 4, 1};
    struct fresh_job_times times[1];
    double makespan_s[4];
    size_t map_slots;
    struct arena scratch;
    arena_init(&scratch, 16);
    cr_expect_eq(fresh_static_makespans(&batch, &scratch, makespan_s, NULL), PV_E_MEMORY);
    cr_expect_eq(fresh_static_times(&batch, 1, &scratch, times, NULL), PV_E_MEMORY);
    cr_expect_eq(fresh_static_best(&batch, &scratch, &map_slots, NULL), PV_E_MEMORY);
    arena_fini(&scratch);
}

/* Those that end at one instant are put in the order of the batch in n log n steps, also where they are
 * found in the opposite order. */
Test(fresh_static, very_many_jobs_that_end_at_one_instant, .timeout = 10)
{
    enum { JOBS = 100000 };
    static struct fresh_work jobs[JOBS];
    static struct fresh_job_times times[JOBS];
    const struct fresh_batch batch = {.jobs = jobs, .n = JOBS, .slots = 2, .concurrency = JOBS};
    struct arena scratch;
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (struct fresh_work){1e9 - 1e-6 * (double)i, 1e9 - 1e-6 * (double)i, 0, 0};
    arena_init(&scratch, 0);
    for (size_t k = 0; k < 10; k++)
        cr_assert_eq(fresh_static_times(&batch, 1, &scratch, times, NULL), PV_OK);
    cr_expect_eq(times[0].finish_s, times[JOBS - 1].finish_s);
    arena_fini(&scratch);
}

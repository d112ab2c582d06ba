#include "core/scheduling/tasks/tasks_reservations.h"

#include <criterion/criterion.h>

#include "base/rng.h"
#include "base/rounding.h"

enum { WORKERS = 3, JOBS = 40, PLACES = 4000 };

struct fixture {
    struct arena arena;
    struct line_pool pool;
    struct reservations all;
};

/* Every job has work to begin with. */
static void set_up(struct fixture *one, double places)
{
    arena_init(&one->arena, 0);
    cr_assert(line_pool_init(&one->pool, places, &one->arena));
    cr_assert(reservations_init(&one->all, WORKERS, JOBS, &one->pool, &one->arena));
    for (uint32_t j = 0; j < JOBS; j++)
        reservations_set_remaining(&one->all, j, 100);
}

static void add(struct fixture *one, uint32_t worker, uint32_t job)
{
    uint32_t place = line_pool_take(&one->pool, job, 7);
    cr_assert(place != LINE_END);
    reservations_add(&one->all, worker, place);
}

/* --- by a plain scan --- */

struct plain_line {
    uint32_t jobs[PLACES];
    uint32_t passed[PLACES];
    size_t n;
};

static size_t plain_next(const struct plain_line *line, const double remaining_s[])
{
    size_t best = 0;
    for (size_t i = 1; i < line->n && line->passed[0] < RESERVATIONS_PASSED_MAX; i++) {
        double work_s = remaining_s[line->jobs[i]];
        double least_s = remaining_s[line->jobs[best]];
        if (work_s < least_s && !rounding_equal(work_s, least_s))
            best = i;
    }
    return best;
}

static uint32_t plain_take(struct plain_line *line, const double remaining_s[])
{
    size_t best = plain_next(line, remaining_s);
    uint32_t job = line->jobs[best];
    for (size_t i = 0; i < best && remaining_s[job] > 0; i++)
        line->passed[i]++;
    line->n--;
    for (size_t i = best; i < line->n; i++) {
        line->jobs[i] = line->jobs[i + 1];
        line->passed[i] = line->passed[i + 1];
    }
    return job;
}

static void plain_add(struct plain_line *line, uint32_t job)
{
    line->jobs[line->n] = job;
    line->passed[line->n++] = 0;
}

/* Jobs of a few tasks each, of 0.1, 0.2, 0.3 s: 3 x 0.1 and 1 x 0.3 are equal within rounding. */
struct tasks_left {
    uint32_t tasks[JOBS];
    double mean_s[JOBS];
};

static void set_remaining(struct fixture *one, const struct tasks_left *left, uint32_t job)
{
    reservations_set_remaining(&one->all, job, left->tasks[job] * left->mean_s[job]);
}

static void draw_tasks(struct fixture *one, struct tasks_left *left, struct rng *rng)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        left->tasks[j] = 1 + (uint32_t)(rng_next(rng) % 12);
        left->mean_s[j] = 0.1 * (double)(1 + rng_next(rng) % 3);
        set_remaining(one, left, j);
    }
}

/* Returns whether the job that is next still has tasks. */
static bool expect_same(struct fixture *one, struct plain_line *line, uint32_t worker)
{
    uint32_t expected = plain_take(line, one->all.remaining_s);
    uint32_t job = reservations_take(&one->all, worker);
    bool has_tasks = one->all.remaining_s[expected] > 0;
    if (has_tasks)
        cr_assert_eq(job, expected);
    else
        cr_assert(job == RESERVATIONS_NO_JOB || one->all.remaining_s[job] == 0);
    return has_tasks;
}

/* Reservations come and are taken, and now and then a task of some job is given out elsewhere. */
static unsigned scan_against(uint64_t seed)
{
    static struct plain_line lines[WORKERS];
    struct rng rng = rng_make(seed, 0);
    struct tasks_left left;
    struct fixture one;
    unsigned with_tasks = 0;
    /* Lines that grow, that stay, that are short. */
    uint64_t taken_of_8 = 3 + seed % 3;
    set_up(&one, PLACES);
    draw_tasks(&one, &left, &rng);
    for (size_t w = 0; w < WORKERS; w++)
        lines[w].n = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t w = (uint32_t)(rng_next(&rng) % WORKERS);
        /* Jobs come one after the other, each while the last few are there. */
        uint32_t job = (uint32_t)((i * JOBS / PLACES + rng_next(&rng) % 8) % JOBS);
        if (rng_next(&rng) % 8 >= taken_of_8) {
            add(&one, w, job);
            plain_add(&lines[w], job);
        } else if (lines[w].n > 0) {
            with_tasks += expect_same(&one, &lines[w], w);
        }
        if (rng_next(&rng) % 16 == 0 && left.tasks[job] > 0) {
            left.tasks[job]--;
            set_remaining(&one, &left, job);
        }
        cr_assert_eq(reservations_wait(&one.all, w), lines[w].n > 0);
    }
    arena_fini(&one.arena);
    return with_tasks;
}

Test(tasks_reservations, are_taken_as_by_a_plain_scan)
{
    unsigned with_tasks = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        with_tasks += scan_against(seed);
    cr_expect_gt(with_tasks, 10000);
}

/* --- many at a worker --- */

/* Work is so many tasks of a second, but for what is within rounding of it, or nearly: that of jobs
 * that have not begun, and what is left of others. */
struct works {
    const char *name;
    double apart[3];
    double begun_apart;
};

static const struct works works[] = {
    {"equal", {0, 0, 0}, 0},
    {"equal within rounding", {0, 3e-10, 3e-10}, 1e-10},
    {"what is left is equal to a part of them", {0, 3e-10, 3e-10}, -8e-10},
    {"what is left is equal to each of two that are not equal", {0, 0, 1.2e-9}, 6e-10},
    {"linked by rounding", {0, 6e-10, 1.2e-9}, 1.2e-9},
};

enum { CROWD_JOBS = 400, CROWDS = 4, CROWD_STEPS = 1500 };

struct crowd {
    struct fixture fixture;
    struct plain_line line;
    uint32_t tasks[CROWD_JOBS];
    struct rng rng;
    const struct works *works;
};

static void set_up_crowd(struct crowd *one, uint64_t seed, const struct works *kind)
{
    struct fixture *fixture = &one->fixture;
    one->rng = rng_make(seed, 1);
    one->works = kind;
    one->line.n = 0;
    arena_init(&fixture->arena, 0);
    cr_assert(line_pool_init(&fixture->pool, PLACES, &fixture->arena));
    cr_assert(
        reservations_init(&fixture->all, WORKERS, CROWD_JOBS, &fixture->pool, &fixture->arena));
    for (uint32_t j = 0; j < CROWD_JOBS; j++) {
        one->tasks[j] = 1 + (uint32_t)(rng_next(&one->rng) % 4);
        double apart = kind->apart[rng_next(&one->rng) % 3];
        reservations_set_remaining(&fixture->all, j, one->tasks[j] * (1 + apart));
    }
}

static void give_task(struct crowd *one, uint32_t job)
{
    if (one->tasks[job] == 0)
        return;
    double apart = (double)(rng_next(&one->rng) % 3) * one->works->begun_apart;
    reservations_set_remaining(&one->fixture.all, job, --one->tasks[job] * (1 + apart));
}

/* Returns whether one of a job with tasks was taken. */
static bool take_from_crowd(struct crowd *one)
{
    if (one->line.n == 0)
        return false;
    uint32_t job = one->line.jobs[plain_next(&one->line, one->fixture.all.remaining_s)];
    bool has_tasks = expect_same(&one->fixture, &one->line, 1);
    give_task(one, job);
    return has_tasks;
}

/* Reservations of a hundred jobs come, until none is left. Returns how many were taken of jobs with
 * tasks. */
static unsigned crowd_comes(struct crowd *one, uint32_t first_job)
{
    unsigned with_tasks = 0;
    for (uint32_t i = 0; i < CROWD_STEPS || one->line.n > 0; i++) {
        uint32_t job = first_job + (uint32_t)(rng_next(&one->rng) % (CROWD_JOBS / CROWDS));
        if (i < CROWD_STEPS && rng_next(&one->rng) % 8 > 0) {
            add(&one->fixture, 1, job);
            plain_add(&one->line, job);
        } else {
            with_tasks += take_from_crowd(one);
        }
        if (rng_next(&one->rng) % 16 == 0)
            give_task(one, job);
        cr_assert_eq(reservations_wait(&one->fixture.all, 1), one->line.n > 0);
    }
    return with_tasks;
}

Test(tasks_reservations, many_are_taken_as_by_a_plain_scan)
{
    static struct crowd one;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        unsigned with_tasks = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            set_up_crowd(&one, seed, &works[i]);
            for (uint32_t n = 0; n < CROWDS; n++)
                with_tasks += crowd_comes(&one, n * (CROWD_JOBS / CROWDS));
            arena_fini(&one.fixture.arena);
        }
        cr_expect_gt(with_tasks, 5000, "%s: %u", works[i].name, with_tasks);
    }
}

/* Ten reservations of each of many equal jobs wait at a worker, which stays with the job it takes. */
Test(tasks_reservations, that_many_wait_does_not_make_the_next_one_harder_to_find)
{
    enum { CROWD = 5000, EACH = 10 };
    unsigned taken = 0;
    struct fixture one;
    arena_init(&one.arena, 0);
    cr_assert(line_pool_init(&one.pool, CROWD * EACH, &one.arena));
    cr_assert(reservations_init(&one.all, 1, CROWD, &one.pool, &one.arena));
    for (uint32_t j = 0; j < CROWD; j++)
        reservations_set_remaining(&one.all, j, 100 + j % 7);
    for (uint32_t i = 0; i < CROWD * EACH; i++)
        add(&one, 0, i / EACH);
    for (; reservations_wait(&one.all, 0); taken++) {
        uint32_t job = reservations_take(&one.all, 0);
        if (job == RESERVATIONS_NO_JOB || one.all.remaining_s[job] == 0)
            continue;
        reservations_set_remaining(&one.all, job, 50);
        reservations_set_remaining(&one.all, job, 0);
    }
    cr_expect_eq(taken, CROWD * EACH);
    cr_expect_leq(one.all.index.looked_at, 10 * (uint64_t)taken);
    arena_fini(&one.arena);
}

/* --- one by one --- */

/* Job 0 has most left. It is passed over five times; then it is its turn, and after it the least
 * again. */
Test(tasks_reservations, the_first_is_passed_over_five_times)
{
    struct fixture one;
    set_up(&one, 100);
    add(&one, 0, 0);
    for (uint32_t j = 1; j <= 7; j++) {
        add(&one, 0, j);
        reservations_set_remaining(&one.all, j, 100 - 10 * j);
    }
    for (uint32_t j = 7; j > 2; j--)
        cr_expect_eq(reservations_take(&one.all, 0), j);
    cr_expect_eq(reservations_take(&one.all, 0), 0);
    /* Job 1 was passed over as often. */
    cr_expect_eq(reservations_take(&one.all, 0), 1);
    cr_expect_eq(reservations_take(&one.all, 0), 2);
    cr_expect_not(reservations_wait(&one.all, 0));
    arena_fini(&one.arena);
}

Test(tasks_reservations, jobs_without_tasks_pass_over_nobody)
{
    struct fixture one;
    set_up(&one, 100);
    add(&one, 0, 0);
    for (uint32_t i = 0; i < 10; i++)
        add(&one, 0, 1);
    add(&one, 0, 2);
    reservations_set_remaining(&one.all, 1, 0);
    reservations_set_remaining(&one.all, 2, 99);
    for (uint32_t i = 0; i < 10; i++)
        cr_expect_eq(reservations_take(&one.all, 0), RESERVATIONS_NO_JOB);
    cr_expect_eq(reservations_take(&one.all, 0), 2);
    /* A probe that comes late. */
    add(&one, 0, 1);
    cr_expect_eq(reservations_take(&one.all, 0), RESERVATIONS_NO_JOB);
    cr_expect_eq(reservations_take(&one.all, 0), 0);
    arena_fini(&one.arena);
}

/* However they leave: taken while their job has tasks, at the front without any, or from the
 * middle. */
Test(tasks_reservations, places_serve_again)
{
    struct fixture one;
    set_up(&one, 4);
    for (uint32_t j = 0; j + 1 < JOBS; j += 2) {
        reservations_set_remaining(&one.all, j, 200);
        add(&one, 0, j);
        add(&one, 0, j + 1);
        add(&one, 0, j + 1);
        add(&one, 0, j + 1);
        cr_expect_eq(reservations_take(&one.all, 0), j + 1);
        reservations_set_remaining(&one.all, j + 1, 0);
        cr_expect_eq(reservations_take(&one.all, 0), RESERVATIONS_NO_JOB);
        cr_expect_eq(reservations_take(&one.all, 0), RESERVATIONS_NO_JOB);
        cr_expect_eq(reservations_take(&one.all, 0), j);
        reservations_set_remaining(&one.all, j, 0);
        cr_expect_not(reservations_wait(&one.all, 0));
    }
    arena_fini(&one.arena);
}

#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "../history/sample_runs.h"
#include "base/rng.h"
#include "core/advice/replay_curve.h"
#include "rounds.h"

/*
 * Properties of replayed curves over random histories: random stage graphs, laws of the number of
 * tasks, sizes, executors and noise. All seeds are fixed (sample/simulate.h).
 */

static struct arena arena;
static struct arena scratch;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(random_histories, .init = set_up, .fini = tear_down, .timeout = 600);

enum { STAGES_MAX = 6, RUNS_MAX = 5 };

struct random_job {
    struct sample_application application;
    struct sample_stage stages[STAGES_MAX];
};

static int64_t between(struct rng *rng, int64_t least, int64_t most)
{
    return least + (int64_t)(rng_next(rng) % (uint64_t)(most - least + 1));
}

/* A stage that reads the input, random stages, and a last one of `follows` and `count`, which has
 * `last_s` seconds of work a unit of the size. noise: 0 makes all tasks of a stage equal. */
static void draw_job(struct rng *rng,
                     enum sample_tasks follows,
                     int64_t count,
                     double last_s,
                     double noise,
                     struct random_job *job)
{
    *job = (struct random_job){.application = {.name = "random", .cores_per_executor = 4}};
    job->application.stages = job->stages;
    job->application.n_stages = (int)between(rng, 2, STAGES_MAX);
    job->application.initialization_s = (double)between(rng, 0, 20);
    job->application.between_jobs_s = (double)between(rng, 0, 3);
    for (int s = 0; s < job->application.n_stages; s++) {
        struct sample_stage *stage = &job->stages[s];
        *stage = (struct sample_stage){.name = "stage",
                                       .source = "random",
                                       .parents = {s > 0 ? (int)between(rng, -1, s - 1) : -1, -1},
                                       .tasks = (enum sample_tasks)between(rng, 0, 3),
                                       .seconds_per_size = (double)between(rng, 5, 40) / 10.0,
                                       .seconds_fixed = (double)between(rng, 0, 10) / 20.0,
                                       .sigma = noise * (double)between(rng, 2, 30) / 100.0,
                                       .straggler_share = 0.02 * noise,
                                       .straggler_factor = 2.0,
                                       .skew = noise * (double)between(rng, 0, 20) / 10.0};
        stage->count = stage->tasks == SAMPLE_COUNT ? between(rng, 1, 60) : between(rng, 1, 10);
    }
    job->stages[0].tasks = SAMPLE_PER_SIZE;
    job->stages[0].count = 1;
    struct sample_stage *last = &job->stages[job->application.n_stages - 1];
    last->tasks = follows;
    last->count = count;
    last->seconds_per_size = last_s;
    last->skew = 0.0;
}

static struct curve
predict(const struct run runs[], size_t n, double size, const int64_t m[], size_t n_m)
{
    struct curve_question question = {.problem_size = size,
                                      .cores_per_executor = 4,
                                      .executors = m,
                                      .n_executors = n_m,
                                      .task_budget = 50000000};
    struct curve curve;
    struct pv_error err = {0};
    enum pv_code code = replay_curve_make(runs, n, &question, &arena, &scratch, &curve, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    return curve;
}

/* Adds the run unless the simulator placed its tasks so that the replay is slower by too much: list
 * scheduling in another order, 1 run in 200. */
static void add_run(const struct random_job *job,
                    int64_t size,
                    int64_t executors,
                    uint64_t seed,
                    struct run runs[],
                    size_t *n)
{
    struct replay replay;
    struct pv_error err = {0};
    runs[*n] = sample_as_run(&job->application, size, executors, seed, &arena);
    *n += replay_prepare(&runs[*n], &arena, &scratch, &replay, &err) == PV_OK;
}

static size_t draw_history(struct rng *rng, uint64_t seed, double noise, struct run runs[])
{
    struct random_job *job = arena_alloc(&arena, sizeof *job);
    cr_assert_not_null(job);
    draw_job(rng, (enum sample_tasks)between(rng, 0, 3), between(rng, 1, 40),
             (double)between(rng, 1, 40), noise, job);
    size_t n = 0, drawn = (size_t)between(rng, 1, RUNS_MAX);
    for (size_t i = 0; i < drawn || n == 0; i++) {
        int64_t size = between(rng, 8, 60), executors = between(rng, 2, 10);
        add_run(job, size, executors, seed * 10 + i, runs, &n);
    }
    return n;
}

static void forget(void)
{
    tear_down();
    set_up();
}

/* k times the data on at most k times the executors is never faster than a recorded run. */
Test(random_histories, weak_scaling_holds)
{
    static const double times[] = {1.5, 2.0, 3.0, 4.0, 7.5};
    for (uint64_t seed = 1; seed <= rounds(250); seed++) {
        struct rng rng = rng_make(seed, 40);
        struct run runs[RUNS_MAX];
        size_t n = draw_history(&rng, seed, 1.0, runs);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < sizeof times / sizeof *times; j++) {
                int64_t ran = runs[i].executors;
                int64_t m[] = {ran, between(&rng, ran, (int64_t)(times[j] * (double)ran))};
                struct curve curve = predict(runs, n, times[j] * runs[i].problem_size, m, 2);
                for (size_t k = 0; k < 2; k++)
                    cr_expect_geq(curve.points[k].duration_s, runs[i].duration_s * (1.0 - 1e-9),
                                  "seed %d: %g times the data on %d executors takes %g s, "
                                  "%g s were recorded on %d",
                                  (int)seed, times[j], (int)m[k], curve.points[k].duration_s,
                                  runs[i].duration_s, (int)ran);
            }
        }
        forget();
    }
}

/* Recorded runs of more data on no more executors that took less: noise, which no law explains. */
static bool contradict_each_other(const struct run runs[], size_t n)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double grown = runs[b].problem_size / runs[a].problem_size;
            if (grown > 1.0 && runs[b].duration_s < runs[a].duration_s &&
                (double)runs[b].executors <= grown * (double)runs[a].executors)
                return true;
        }
    return false;
}

struct falls {
    size_t steps;
    size_t n;
    double worst; /* share of the longest duration at a smaller size */
};

static struct falls count_falls(double noise, double step)
{
    static const int64_t m[] = {1, 2, 3, 5, 8, 12, 20};
    enum { COUNTS = sizeof m / sizeof *m };
    struct falls falls = {0};
    for (uint64_t seed = 1; seed <= rounds(250); seed++) {
        struct rng rng = rng_make(seed, 42);
        struct run runs[RUNS_MAX];
        double longest_s[COUNTS] = {0};
        size_t n = draw_history(&rng, seed, noise, runs);
        for (double size = 6; size < 150 && !contradict_each_other(runs, n); size *= step) {
            struct curve curve = predict(runs, n, size, m, COUNTS);
            for (size_t j = 0; j < COUNTS; j++) {
                double share = 1.0 - curve.points[j].duration_s / longest_s[j];
                falls.steps++;
                falls.n += longest_s[j] > 0.0 && share > 1e-9;
                falls.worst = fmax(falls.worst, longest_s[j] > 0.0 ? share : 0.0);
                longest_s[j] = fmax(longest_s[j], curve.points[j].duration_s);
            }
        }
        forget();
    }
    cr_log_info("noise %g, step %g: %zu of %zu fall, at worst by %.3g", noise, step, falls.n,
                falls.steps, falls.worst);
    return falls;
}

Test(random_histories, more_data_takes_no_less)
{
    /* List scheduling may place a long task earlier among more tasks (R. L. Graham, "Bounds on
     * multiprocessing timing anomalies", 1969): rarely, and by less than such a task. */
    const struct falls falls[] = {count_falls(0.0, 1.5), count_falls(1.0, 1.5)};
    for (size_t i = 0; i < 2; i++) {
        cr_expect_gt(falls[i].steps, rounds(10000));
        cr_expect_lt(falls[i].n, falls[i].steps / 500);
        cr_expect_lt(falls[i].worst, 0.12);
    }
}

struct promises {
    size_t asked, promised, kept;
    size_t cases, inside; /* the 95 % interval */
};

/*
 * Runs on one number of executors whose largest stage has as many tasks as the cores, or twice as
 * many. The stage follows them, has a fixed number, or follows the input. Questions are about other
 * executors, at deadlines of 0.3 to 1.2 times the recorded duration and a confidence of 0.95.
 */
static void judge_promises(enum sample_tasks truth, uint64_t seed, struct promises *sums)
{
    static const double factors[] = {0.5, 1.5, 2.0, 4.0};
    struct rng rng = rng_make(seed, 41);
    struct random_job job;
    struct run runs[RUNS_MAX];
    int64_t executors = between(&rng, 2, 8), multiple = between(&rng, 1, 2);
    int64_t size = 4 * executors * between(&rng, 1, 2);
    const int64_t counts[] = {[SAMPLE_PER_SIZE] = 1,
                              [SAMPLE_PER_CORE] = multiple,
                              [SAMPLE_PER_EXECUTOR] = multiple,
                              [SAMPLE_COUNT] = 4 * executors * multiple};
    draw_job(&rng, truth, counts[truth], 40.0, 1.0, &job);
    size_t n = 0, drawn = (size_t)between(&rng, 1, RUNS_MAX);
    for (size_t i = 0; i < drawn || n == 0; i++)
        add_run(&job, size, executors, seed * 10 + i, runs, &n);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        int64_t m[] = {(int64_t)(factors[f] * (double)executors)};
        struct curve curve = predict(runs, n, (double)size, m, 1);
        double took_s =
            sample_as_run(&job.application, size, m[0], seed * 10 + 7, &arena).duration_s;
        sums->cases++;
        sums->inside += curve_quantile(&curve, curve.points, 0.025) <= took_s &&
                        took_s <= curve_quantile(&curve, curve.points, 0.975);
        for (int tenths = 3; tenths <= 12; tenths++) {
            double deadline_s = (double)tenths / 10.0 * runs[0].duration_s;
            bool promised = curve_probability(&curve, curve.points, deadline_s) >= 0.95;
            sums->asked++;
            sums->promised += promised;
            sums->kept += promised && took_s <= deadline_s;
        }
    }
}

Test(random_histories, promises_about_other_executors_hold_whatever_stages_follow)
{
    static const char *const names[] = {"size", "cores", "executors", "fixed"};
    size_t promised = 0, kept = 0;
    for (int truth = SAMPLE_PER_SIZE; truth <= SAMPLE_COUNT; truth++) {
        struct promises sums = {0};
        for (uint64_t seed = 1; seed <= 300; seed++) {
            judge_promises((enum sample_tasks)truth, seed, &sums);
            forget();
        }
        cr_log_info("%s: of %zu questions %zu promised, %zu kept; %zu of %zu inside 95 %%",
                    names[truth], sums.asked, sums.promised, sums.kept, sums.inside, sums.cases);
        cr_expect_gt(sums.promised, sums.asked / 50, "%s: promises nothing", names[truth]);
        cr_expect_geq((double)sums.kept, 0.90 * (double)sums.promised, "%s", names[truth]);
        cr_expect_geq((double)sums.inside, 0.91 * (double)sums.cases, "%s", names[truth]);
        promised += sums.promised;
        kept += sums.kept;
    }
    /* Missed by at most 1.3 times the share that the confidence leaves. */
    cr_expect_geq((double)kept, (1.0 - 1.3 * 0.05) * (double)promised);
}

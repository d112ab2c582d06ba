#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/advice/replay_curve.h"

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

TestSuite(curve, .init = set_up, .fini = tear_down, .timeout = 120);

static struct curve predict_at(
    const struct run runs[], size_t n, int64_t size, int64_t cores, const int64_t *m, size_t n_m)
{
    struct curve_question question = {.problem_size = (double)size,
                                      .cores_per_executor = cores,
                                      .executors = m,
                                      .n_executors = n_m,
                                      .task_budget = 50000000};
    struct curve curve;
    struct pv_error err = {0};
    enum pv_code code = replay_curve_make(runs, n, &question, &arena, &scratch, &curve, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    return curve;
}

/* All runs of the grid but those that `hide` says. */
static size_t runs_of(const struct sample_application *application,
                      uint64_t seed,
                      bool (*hide)(const struct sample_application *, int64_t, int64_t),
                      struct run runs[])
{
    size_t n = 0;
    for (int i = 0; application->sizes[i] > 0; i++) {
        for (int j = 0; application->executors[j] > 0; j++) {
            if (!hide(application, application->sizes[i], application->executors[j])) {
                runs[n++] = sample_as_run(application, application->sizes[i],
                                          application->executors[j], seed, &arena);
            }
        }
    }
    return n;
}

struct counter_map {
    double errors;
    size_t predictions;
    size_t inside; /* the 90 percent interval */
};

static void judge(const struct sample_application *application,
                  uint64_t seed,
                  bool (*hide)(const struct sample_application *, int64_t, int64_t),
                  struct counter_map *tally)
{
    struct run runs[64];
    size_t n = runs_of(application, seed, hide, runs);
    for (int i = 0; application->sizes[i] > 0; i++) {
        for (int j = 0; application->executors[j] > 0; j++) {
            int64_t size = application->sizes[i], m = application->executors[j];
            if (!hide(application, size, m))
                continue;
            struct curve curve = predict_at(runs, n, size, application->cores_per_executor, &m, 1);
            struct run truth = sample_as_run(application, size, m, seed, &arena);
            tally->errors += fabs(curve.points[0].duration_s / truth.duration_s - 1.0);
            tally->predictions++;
            tally->inside += curve_quantile(&curve, &curve.points[0], 0.05) <= truth.duration_s &&
                             truth.duration_s <= curve_quantile(&curve, &curve.points[0], 0.95);
        }
    }
}

static bool hide_executors(const struct sample_application *a, int64_t size, int64_t executors)
{
    (void)size;
    return executors == a->executors[1] || executors == a->executors[3];
}

static bool hide_middle_size(const struct sample_application *a, int64_t size, int64_t executors)
{
    (void)executors;
    return size == a->sizes[1];
}

static bool hide_largest_size(const struct sample_application *a, int64_t size, int64_t executors)
{
    (void)executors;
    return size == a->sizes[2];
}

static struct counter_map
judge_seeds(bool (*hide)(const struct sample_application *, int64_t, int64_t),
            uint64_t first_seed,
            const char *what)
{
    struct counter_map tally = {0};
    for (size_t a = 0; a < sample_catalogue_n; a++)
        for (uint64_t seed = first_seed; seed < first_seed + 4; seed++)
            judge(&sample_catalogue[a], seed * 100 + a, hide, &tally);
    cr_log_info("%s: mape %.2f %%, %zu of %zu inside 90 %%", what,
                100.0 * tally.errors / (double)tally.predictions, tally.inside, tally.predictions);
    return tally;
}

static struct counter_map
judge_all(bool (*hide)(const struct sample_application *, int64_t, int64_t), const char *what)
{
    return judge_seeds(hide, 1, what);
}

/* Executor counts nobody ran, between and beyond those that were: error and coverage. */
Test(curve, predicts_hidden_executor_counts)
{
    struct counter_map tally = judge_all(hide_executors, "hidden executors");
    cr_assert_lt(tally.errors / (double)tally.predictions, 0.08);
    cr_assert_geq((double)tally.inside, 0.85 * (double)tally.predictions);
}

/* A problem size between those that were run. */
Test(curve, predicts_a_hidden_problem_size)
{
    struct counter_map tally = judge_all(hide_middle_size, "hidden middle size");
    cr_assert_lt(tally.errors / (double)tally.predictions, 0.08);
    cr_assert_geq((double)tally.inside, 0.85 * (double)tally.predictions);
}

/* Twice the largest size that was run. */
Test(curve, extrapolates_to_a_larger_problem_size)
{
    struct counter_map tally = judge_all(hide_largest_size, "hidden largest size");
    cr_assert_lt(tally.errors / (double)tally.predictions, 0.08);
    cr_assert_geq((double)tally.inside, 0.85 * (double)tally.predictions);
}

/* The same three on seeds that the method was never tuned on: the same bounds hold. */
Test(curve, predicts_as_well_on_seeds_never_seen)
{
    struct counter_map tallies[] = {
        judge_seeds(hide_executors, 101, "fresh, hidden executors"),
        judge_seeds(hide_middle_size, 101, "fresh, hidden middle size"),
        judge_seeds(hide_largest_size, 101, "fresh, hidden largest size")};
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++) {
        cr_assert_lt(tallies[i].errors / (double)tallies[i].predictions, 0.08);
        cr_assert_geq((double)tallies[i].inside, 0.85 * (double)tallies[i].predictions);
    }
}

/* Runs on one number of cores only leave open which stages follow it; a second number tells. */
Test(curve, counts_the_stages_assumed_to_follow_the_cores)
{
    static double tasks_s[30];
    for (size_t i = 0; i < 30; i++)
        tasks_s[i] = 4.0;
    struct run_stage one = stage_of_tasks(0, tasks_s, 30), other = stage_of_tasks(0, tasks_s, 20);
    struct run_stage fixed = stage_of_tasks(0, tasks_s, 30);
    /* 15 executors of 2 cores, 30 tasks; then 10 of 2: cut to 20 tasks, or still 30. */
    struct run runs[] = {run_of_stages(&one, 1, 64, 15, 2, 6.0, 2.0),
                         run_of_stages(&other, 1, 64, 10, 2, 6.0, 2.0),
                         run_of_stages(&fixed, 1, 64, 10, 2, 10.0, 2.0)};
    int64_t m[] = {5, 15};
    struct curve curve = predict_at(runs, 1, 64, 2, m, 2);
    cr_assert_eq(curve.stages_assumed, 1);
    cr_assert(curve.points[0].longest_is_cut_anew && !curve.points[1].longest_is_cut_anew);
    cr_assert(curve.points[1].longest_follows_cores);
    cr_assert_float_eq(curve.points[0].recorded_work_s, 120.0, 1e-9);
    curve = predict_at(runs, 2, 64, 2, m, 2);
    cr_assert_eq(curve.stages_assumed, 0);
    cr_assert(curve.points[0].longest_is_cut_anew);
    runs[1] = runs[2];
    curve = predict_at(runs, 2, 64, 2, m, 2);
    cr_assert_eq(curve.stages_assumed, 0);
    cr_assert(!curve.points[0].longest_is_cut_anew && !curve.points[0].longest_follows_cores);
}

static bool hide_none(const struct sample_application *a, int64_t size, int64_t executors)
{
    (void)a, (void)size, (void)executors;
    return false;
}

/* More runs narrow the interval; a single one has only the prior and no leave-one-out error. */
Test(curve, a_single_run_is_wide_and_says_so)
{
    const struct sample_application *application = &sample_catalogue[0];
    struct run runs[64];
    size_t n = runs_of(application, 5, hide_none, runs);
    int64_t m[] = {2, 4};
    struct curve one = predict_at(runs, 1, 32, 4, m, 2);
    struct curve all = predict_at(runs, n, 32, 4, m, 2);
    cr_assert(isnan(one.loo_mape_percent));
    cr_assert_eq(one.runs, 1);
    cr_assert_float_eq(one.freedom, 3.0, 0.0);
    cr_assert(all.loo_mape_percent > 0.0 && all.loo_mape_percent < 20.0);
    double wide = curve_quantile(&one, &one.points[0], 0.975) / one.points[0].duration_s;
    double narrow = curve_quantile(&all, &all.points[0], 0.975) / all.points[0].duration_s;
    cr_assert_gt(wide, 1.3);
    cr_assert_lt(narrow, wide);
    /* Further from the run, wider. */
    cr_assert_gt(one.points[1].spread, one.points[0].spread);
    cr_assert(!one.points[0].extrapolated && one.points[1].extrapolated);
}

/* The order in which runs are given does not matter (beyond ties, which are repeats). */
Test(curve, does_not_depend_on_the_order_of_runs)
{
    const struct sample_application *application = &sample_catalogue[1];
    struct run runs[64], backwards[64];
    size_t n = runs_of(application, 9, hide_none, runs);
    for (size_t i = 0; i < n; i++)
        backwards[i] = runs[n - 1 - i];
    int64_t m[] = {1, 3, 7};
    struct curve a = predict_at(runs, n, 30, 2, m, 3);
    struct curve b = predict_at(backwards, n, 30, 2, m, 3);
    for (size_t i = 0; i < 3; i++)
        cr_assert_float_eq(a.points[i].duration_s, b.points[i].duration_s, 1e-9);
}

/* Probability and quantile are each other's inverse; the median has probability one half. */
Test(curve, probability_and_quantile_agree)
{
    const struct sample_application *application = &sample_catalogue[2];
    struct run runs[64];
    size_t n = runs_of(application, 2, hide_none, runs);
    int64_t m = 5;
    struct curve curve = predict_at(runs, n, 32, 4, &m, 1);
    const struct curve_point *point = &curve.points[0];
    cr_assert_float_eq(curve_probability(&curve, point, point->duration_s), 0.5, 1e-12);
    for (double p = 0.05; p < 1.0; p += 0.15) {
        double t = curve_quantile(&curve, point, p);
        cr_assert_float_eq(curve_probability(&curve, point, t), p, 1e-6);
    }
}

/* A budget of simulated tasks leaves out the far runs, and is an error when it fits none. */
Test(curve, keeps_to_its_budget)
{
    const struct sample_application *application = &sample_catalogue[0];
    struct run runs[64];
    size_t n = runs_of(application, 5, hide_none, runs);
    int64_t m[] = {2, 4};
    struct curve_question question = {64, 4, m, 2, 10000, 1, 0};
    struct curve curve;
    cr_assert_eq(replay_curve_make(runs, n, &question, &arena, &scratch, &curve, NULL), PV_OK);
    cr_assert(curve.runs >= 1 && curve.runs < n);
    cr_assert_eq(curve.runs + curve.runs_left_out, n);
    question.least_runs = n;
    cr_assert_eq(replay_curve_make(runs, n, &question, &arena, &scratch, &curve, NULL), PV_E_LIMIT);
    question.least_runs = 1;
    question.task_budget = 10;
    cr_assert_eq(replay_curve_make(runs, n, &question, &arena, &scratch, &curve, NULL), PV_E_LIMIT);
}

/* Alone, each run foresees as many tasks as it had; together they show that tasks grow with the
 * problem, and foresee far too many of them. */
Test(curve, laws_of_all_runs_together_keep_to_the_budget)
{
    double tasks_s[117];
    for (size_t i = 0; i < 117; i++)
        tasks_s[i] = 10;
    struct run_stage few = stage_of_tasks(0, tasks_s, 13);
    struct run_stage many = stage_of_tasks(0, tasks_s, 117);
    struct run runs[] = {run_of_stages(&few, 1, 100, 4, 2, 22, 2),
                         run_of_stages(&many, 1, 900, 4, 2, 152, 2)};
    int64_t m[] = {2, 4};
    struct curve_question question = {900, 2, m, 2, 2000000, 2, 0};
    struct curve curve;
    struct pv_error err = {0};
    cr_assert_eq(replay_curve_make(runs, 2, &question, &arena, &scratch, &curve, &err), PV_OK);
    question.problem_size = INT64_C(1000000000000);
    cr_assert_eq(replay_curve_make(runs, 2, &question, &arena, &scratch, &curve, &err), PV_E_LIMIT);
    cr_assert(err.detail[0] != '\0');
}

/* Of the run nearest in size, not of the others. */
Test(curve, reports_attempts_that_are_not_simulated)
{
    const struct sample_application *application = &sample_catalogue[0];
    struct run runs[] = {sample_as_run(application, 64, 1, 5, &arena),
                         sample_as_run(application, 8, 1, 6, &arena)};
    int64_t m[] = {2};
    for (size_t i = 0; i < 2; i++) {
        runs[i].task_time_s = 90;
        runs[i].failed_task_time_s = i == 0 ? 50 : 10;
        runs[i].executors_excluded = i == 0 ? 7 : 3;
    }
    struct curve curve = predict_at(runs, 2, 8, 4, m, 1);
    cr_expect_float_eq(curve.attempts_s, 10, 0);
    cr_expect_float_eq(curve.attempts_share, 0.1, 1e-12);
    cr_expect_eq(curve.executors_excluded, 3);
}

/* A run on a million executors asks of the law of another, whose tasks follow the cores, for
 * millions of tasks: leaving it out is not judged, and the prediction takes no longer for it. */
Test(curve, leaving_out_keeps_to_the_budget)
{
    const struct sample_application *application = &sample_catalogue[0];
    struct run runs[] = {sample_as_run(application, 8, 1, 5, &arena),
                         sample_as_run(application, 8, 1, 6, &arena)};
    int64_t m[] = {1, 2};
    struct curve_question question = {8, 4, m, 2, 2000000, 2, 0};
    struct curve near, far;
    cr_assert_eq(replay_curve_make(runs, 2, &question, &arena, &scratch, &near, NULL), PV_OK);
    runs[1].executors = 1000000;
    arena_fini(&scratch);
    arena_init(&scratch, 16 * 1024 * 1024);
    cr_assert_eq(replay_curve_make(runs, 2, &question, &arena, &scratch, &far, NULL), PV_OK);
    cr_assert_eq(far.runs, 2);
    cr_assert_eq(near.freedom, 5);
    cr_assert(far.freedom < near.freedom);
    cr_assert(isfinite(far.points[0].duration_s) && isfinite(far.residual_spread));
}

/* 8 tasks of 100 s on 8 executors, which are there after 5 s or come after 8 s more. */
static struct run run_with_executors(struct run_stage *stage, double late_s)
{
    static double durations_s[8];
    struct executor_lifetime *executors = arena_array(&arena, 8, sizeof *executors);
    for (size_t i = 0; i < 8; i++) {
        durations_s[i] = 100.0;
        executors[i] = (struct executor_lifetime){
            .added_s = late_s > 0.0 ? 5.0 + late_s : 0.0, .removed_s = (double)NAN, .cores = 1};
    }
    *stage = stage_of_tasks(0, durations_s, 8);
    stage->started_s = 5.0;
    stage->duration_s = 100.0 + late_s;
    struct run run = run_of_stages(stage, 1, 8, 8, 1, 106.0 + late_s, 5.0);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 8;
    return run;
}

/* The error is that of the replays that answer: each run is predicted from the other as the answer
 * is, on the executors that the other had when it had them. */
Test(curve, the_error_is_that_of_the_replays_that_answer)
{
    static struct run_label dynamic[] = {
        {.key = {"spark.dynamicAllocation.enabled", 31}, .value = {"true", 4}}};
    struct run_stage stages[2];
    struct run runs[] = {run_with_executors(&stages[0], 8.0), run_with_executors(&stages[1], 0.0)};
    int64_t m[] = {8};
    for (size_t n_properties = 0; n_properties < 2; n_properties++) {
        for (size_t i = 0; i < 2; i++) {
            runs[i].spark_properties = dynamic;
            runs[i].n_spark_properties = n_properties;
        }
        struct curve curve = predict_at(runs, 2, 8, 1, m, 1);
        cr_assert_float_eq(curve.points[0].duration_s, sqrt(114.0 * 106.0), 1e-9);
        cr_assert_float_eq(curve.loo_mape_percent, 50.0 * (8.0 / 114.0 + 8.0 / 106.0), 1e-9);
        cr_assert_float_eq(curve.points[0].waiting_s, 8.0, 1e-9);
    }
}

/* A run that cannot be replayed is left out, with the reason. */
Test(curve, a_run_that_cannot_be_replayed_is_left_out)
{
    struct run_stage stages[2];
    struct run runs[] = {run_with_executors(&stages[0], 0.0), run_with_executors(&stages[1], 0.0)};
    int64_t m[] = {8};
    runs[1].duration_s = 60.0;
    stages[1].duration_s = 54.0;
    struct curve curve = predict_at(runs, 2, 8, 1, m, 1);
    cr_assert_eq(curve.runs, 1);
    cr_assert_eq(curve.runs_unusable, 1);
    cr_assert(strstr(curve.unusable_why, "its tasks take at least 1 min 40 s") != NULL, "%s",
              curve.unusable_why);
    cr_assert_float_eq(curve.points[0].duration_s, 106.0, 1e-9);
}

/* Every count up to the dense part, ascending, both ends and the extras there. */
Test(curve, grid)
{
    int64_t grid[CURVE_POINTS_MAX];
    int64_t extra[] = {777, 0, 5};
    size_t n = curve_grid(CURVE_POINTS_MAX, 100000, extra, 3, grid);
    cr_assert_leq(n, (size_t)CURVE_POINTS_MAX);
    for (size_t i = 0; i < 100; i++)
        cr_assert_eq(grid[i], (int64_t)i + 1);
    bool seen = false;
    for (size_t i = 1; i < n; i++) {
        cr_assert_lt(grid[i - 1], grid[i]);
        seen = seen || grid[i] == 777;
    }
    cr_assert(seen);
    cr_assert_eq(grid[n - 1], 100000);
    cr_assert_eq(curve_grid(100, 3, extra, 0, grid), 3);
}

static struct run run_of_equal_tasks(size_t tasks, double each_s, int64_t size, int64_t executors)
{
    double *tasks_s = arena_array(&arena, tasks, sizeof *tasks_s);
    struct run_stage *stage = arena_alloc(&arena, sizeof *stage);
    cr_assert(tasks_s != NULL && stage != NULL);
    for (size_t i = 0; i < tasks; i++)
        tasks_s[i] = each_s;
    *stage = stage_of_tasks(0, tasks_s, tasks);
    double cores = 4.0 * (double)executors;
    return run_of_stages(stage, 1, size, executors, 4, 5.0 + each_s * ceil((double)tasks / cores),
                         5.0);
}

/* 16 tasks of 120 s on 4 x 4 cores, three times. On 8 x 4 the job takes 125 s if the number of
 * tasks is fixed, 65 s if it follows the cores. */
Test(curve, a_coincidence_of_tasks_and_cores_is_a_mixture)
{
    struct run runs[] = {run_of_equal_tasks(16, 120.0, 64, 4), run_of_equal_tasks(16, 120.0, 64, 4),
                         run_of_equal_tasks(16, 120.0, 64, 4),
                         run_of_equal_tasks(16, 120.0, 64, 8)};
    int64_t m[] = {4, 8};
    struct curve curve = predict_at(runs, 3, 64, 4, m, 2);
    cr_assert_eq(curve.stages_assumed, 1);
    cr_assert_eq(curve.points[0].n_centres, 0);
    cr_assert_float_eq(curve.points[0].duration_s, 125.0, 1e-6);
    const struct curve_point *point = &curve.points[1];
    cr_assert_eq(point->n_centres, 2);
    cr_assert_float_eq(point->centres[0].predicted_s, 65.0, 1e-6);
    cr_assert_float_eq(point->centres[1].predicted_s, 125.0, 1e-6);
    cr_assert_float_eq(point->centres[0].probability, 0.5, 0.0);
    cr_assert_float_eq(curve_probability(&curve, point, 95.0), 0.5, 0.02);
    cr_assert_float_eq(curve_probability(&curve, point, point->duration_s), 0.5, 1e-9);
    cr_assert(curve_quantile(&curve, point, 0.025) < 65.0);
    cr_assert(curve_quantile(&curve, point, 0.975) > 125.0);
    /* One run on 8 x 4 decides. */
    curve = predict_at(runs, 4, 64, 4, m, 2);
    cr_assert_eq(curve.stages_assumed, 0);
    cr_assert_eq(curve.points[1].n_centres, 0);
    cr_assert_float_eq(curve.points[1].duration_s, 125.0, 1e-6);
    cr_assert_lt(curve_probability(&curve, &curve.points[1], 100.0), 0.02);
}

/* Twice the data on twice the executors takes no less than a recorded run, although two other runs
 * predict less; larger sizes take no less than smaller ones. */
Test(curve, weak_scaling_bounds_the_prediction)
{
    struct run runs[] = {run_of_equal_tasks(30, 10.0, 30, 4), run_of_equal_tasks(60, 4.0, 60, 8),
                         run_of_equal_tasks(61, 4.0, 61, 8)};
    int64_t m[] = {8};
    cr_assert_float_eq(runs[0].duration_s, 25.0, 1e-9);
    cr_assert_float_eq(runs[1].duration_s, 13.0, 1e-9);
    struct curve curve = predict_at(runs, 3, 60, 4, m, 1);
    cr_assert_float_eq(curve.points[0].duration_s, 25.0, 1e-9);
    /* Sizes closer than 5 % bound nothing: their runs are averaged. */
    struct run near[] = {run_of_equal_tasks(30, 10.0, 100, 4), run_of_equal_tasks(30, 4.0, 110, 4)};
    int64_t four[] = {4};
    curve = predict_at(near, 2, 104, 4, four, 1);
    cr_assert(curve.points[0].duration_s > 15.0 && curve.points[0].duration_s < 22.0);
    curve = predict_at(near, 2, 106, 4, four, 1);
    cr_assert_float_eq(curve.points[0].duration_s, 25.0, 1e-9);
    /* A run that counts for little bounds nothing. */
    runs[0].weight = 0.1;
    curve = predict_at(runs, 3, 60, 4, m, 1);
    cr_assert_lt(curve.points[0].duration_s, 15.0);
}

/* Dynamic allocation that gave a run its executors late shows no bound: as many that exist all the time may
 * be faster. */
Test(curve, a_run_that_waited_for_executors_bounds_nothing)
{
    struct run runs[] = {run_of_equal_tasks(30, 10.0, 30, 4), run_of_equal_tasks(60, 4.0, 60, 8),
                         run_of_equal_tasks(61, 4.0, 61, 8)};
    struct run_label enabled[] = {
        {strview_of("spark.dynamicAllocation.enabled"), strview_of("true")}};
    struct executor_lifetime late[4];
    int64_t m[] = {8};
    for (size_t i = 0; i < 4; i++)
        late[i] = (struct executor_lifetime){.added_s = i == 0 ? 0.0 : 9.0,
                                             .removed_s = (double)NAN,
                                             .cores = 4,
                                             .resource_profile_id = RUN_UNKNOWN};
    runs[0].stages[0].started_s = 5.0;
    runs[0].stages[0].duration_s = 35.0;
    runs[0].duration_s = 40.0;
    runs[0].executor_lifetimes = late;
    runs[0].n_executor_lifetimes = 4;
    struct curve curve = predict_at(runs, 3, 60, 4, m, 1);
    cr_assert_geq(curve.points[0].duration_s, 40.0, "executors that were not asked for by Spark");
    runs[0].spark_properties = enabled;
    runs[0].n_spark_properties = 1;
    curve = predict_at(runs, 3, 60, 4, m, 1);
    cr_assert_eq(curve.runs, 3);
    cr_assert_lt(curve.points[0].duration_s, 30.0);
}

/* Outside the sizes that ran the exponent of growth is in doubt: with one size by a deviation of
 * 0.16, with two sizes far apart by much less. */
Test(curve, one_size_leaves_growth_in_doubt)
{
    struct run runs[] = {run_of_equal_tasks(64, 10.0, 64, 4), run_of_equal_tasks(64, 10.0, 64, 4),
                         run_of_equal_tasks(256, 10.0, 256, 4)};
    int64_t m[] = {4};
    struct curve one = predict_at(runs, 2, 256, 4, m, 1), two = predict_at(runs, 3, 1024, 4, m, 1);
    cr_assert_float_eq(one.growth_deviation, 0.16, 1e-9);
    cr_assert_lt(two.growth_deviation, 0.09);
    cr_assert_float_eq(one.points[0].spread, hypot(one.residual_spread, 0.16 * log(4.0)), 1e-9);
    /* Within the range nothing is added. */
    two = predict_at(runs, 3, 128, 4, m, 1);
    cr_assert_float_eq(two.points[0].spread, two.residual_spread * (1.0 + log(2.0)), 1e-9);
}

/* The runs nearest in size are replayed, in whatever order they come. */
Test(curve, a_small_budget_keeps_the_nearest_sizes)
{
    struct run runs[] = {run_of_equal_tasks(37, 10.0, 1, 4), run_of_equal_tasks(37, 10.0, 1000, 4),
                         run_of_equal_tasks(37, 10.0, 10, 4)};
    int64_t m[] = {4};
    /* Each of 37 tasks costs them once for the point and 8 + 2 n times for leaving it out. */
    struct curve_question question = {900, 4, m, 1, 37 * (1 + 8) + 37 * (1 + 10) + 10, 1, 0};
    struct curve curve;
    cr_assert_eq(replay_curve_make(runs, 3, &question, &arena, &scratch, &curve, NULL), PV_OK);
    cr_assert_eq(curve.runs, 2);
    cr_assert_float_eq(curve.least_size, 10.0, 0.0);
    cr_assert_float_eq(curve.most_size, 1000.0, 0.0);
}

#include "core/control/search.h"

#include <criterion/criterion.h>
#include <math.h>

#include "control_cases.h"

static struct arena arena;
static struct arena scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
    arena_fini(&arena);
}

TestSuite(control_search, .init = set_up, .fini = tear_down, .timeout = 120);

enum { POINTS = 2 * CONTENTION_STRATEGIES, ALL_AXES = (1u << CONTROL_AXES) - 1 };

struct searched {
    struct control_case made;
    struct control_stake stakes[CONTROL_JOBS];
    struct control_problem problem;
    struct control_point points[POINTS];
    struct control_score scores[POINTS];
    struct control_effort effort;
    struct control_found found;
};

static void prepare(struct searched *of,
                    uint64_t number,
                    enum control_penalty penalty,
                    double noise,
                    size_t repetitions)
{
    control_case_make(&of->made, number, 0.5);
    for (size_t j = 0; j < CONTROL_JOBS; j++)
        of->stakes[j] = (struct control_stake){penalty, 1};
    of->problem = (struct control_problem){.jobs = of->made.jobs,
                                           .terms = of->made.terms,
                                           .stakes = of->stakes,
                                           .n = of->made.n,
                                           .cluster = of->made.cluster,
                                           .options = control_options_default(),
                                           .repetitions = repetitions};
    of->problem.options.duration_noise = noise;
    of->effort = (struct control_effort){.steps_max = 1e9};
    for (size_t i = 0; i < POINTS; i++) {
        of->points[i] = (struct control_point){&contention_strategies[i / 2], (double)(i % 2),
                                               (double)NAN, 50, 12};
        cr_assert(control_score_init(&of->scores[i], &of->problem, &arena));
    }
    cr_assert_eq(control_score_points(&of->problem, of->points, POINTS, 0, &of->effort, &scratch,
                                      of->scores, NULL, NULL),
                 PV_OK);
}

static void search(struct searched *of, unsigned over, size_t simulations)
{
    const struct control_search terms = {over, simulations};
    size_t before = of->effort.simulations;
    cr_assert_eq(control_search_run(&of->problem, &terms, of->points, of->scores, POINTS,
                                    &of->effort, &arena, &scratch, &of->found, NULL),
                 PV_OK);
    cr_expect_leq(of->found.simulations, simulations);
    cr_expect_eq(of->effort.simulations - before, of->found.simulations);
}

static double best_total(const struct searched *of)
{
    double best = INFINITY;
    for (size_t i = 0; i < POINTS; i++)
        best = fmin(best, of->scores[i].total);
    return best;
}

/* What is found is as good as it says, and better than what it began with in most sets whose
 * deadlines are missed or not met precisely. */
Test(control_search, it_finds_better_terms)
{
    size_t better = 0;
    for (uint64_t i = 0; i < 12; i++) {
        struct searched of;
        struct control_score again;
        prepare(&of, i, CONTROL_ABSOLUTE_ERROR, 0, 1);
        search(&of, ALL_AXES, 100);
        cr_expect_leq(of.found.score.total, best_total(&of));
        better += of.found.score.total < 0.9 * best_total(&of);
        cr_assert(control_score_init(&again, &of.problem, &arena));
        cr_assert_eq(control_score_points(&of.problem, &of.found.point, 1, 0, &of.effort, &scratch,
                                          &again, NULL, NULL),
                     PV_OK);
        cr_expect_eq(again.total, of.found.score.total);
        arena_clear(&arena);
    }
    cr_expect_geq(better, 8, "%zu of 12", better);
}

Test(control_search, the_same_again)
{
    struct searched first;
    struct searched again;
    prepare(&first, 3, CONTROL_PROPORTIONAL, 0.2, 2);
    prepare(&again, 3, CONTROL_PROPORTIONAL, 0.2, 2);
    search(&first, ALL_AXES, 60);
    search(&again, ALL_AXES, 60);
    cr_expect_eq(first.found.score.total, again.found.score.total);
    cr_expect_eq(first.found.tried, again.found.tried);
    cr_expect_eq(first.found.point.gain, again.found.point.gain);
    cr_expect_eq(2 * first.found.tried, first.found.simulations, "each configuration twice");
}

Test(control_search, only_what_may_be_varied_is)
{
    struct searched of;
    prepare(&of, 5, CONTROL_ABSOLUTE_ERROR, 0, 1);
    search(&of, 1u << CONTROL_GAIN, 1000);
    cr_expect_eq(of.found.point.integral_time_s, 12);
    cr_expect(of.found.point.gamma == 0 || of.found.point.gamma == 1);
    cr_expect_eq(of.found.point.alpha, 0.95, "all jobs have this one");
    cr_expect_not(of.found.exhausted);
}

/* Jobs keep their own alphas unless the search varies them. */
Test(control_search, own_alphas)
{
    struct searched of;
    prepare(&of, 5, CONTROL_ABSOLUTE_ERROR, 0, 1);
    cr_assert_gt(of.made.n, 1);
    of.made.terms[0].alpha = 0.5;
    search(&of, 1u << CONTROL_GAMMA, 1000);
    cr_expect(isnan(of.found.point.alpha));
}

Test(control_search, few_simulations_cut_it_short)
{
    struct searched of;
    prepare(&of, 2, CONTROL_ABSOLUTE_ERROR, 0.1, 3);
    search(&of, ALL_AXES, 2);
    cr_expect_eq(of.found.tried, 0, "one configuration takes three");
    cr_expect(of.found.exhausted);
    cr_expect_eq(of.found.score.total, best_total(&of));
    search(&of, ALL_AXES, 31);
    cr_expect_eq(of.found.simulations, 30);
    cr_expect(of.found.exhausted);
}

static bool stop(void *context, size_t tasks)
{
    (void)tasks;
    return --*(int *)context > 0;
}

Test(control_search, it_can_be_cancelled)
{
    struct searched of;
    int reports = 3;
    prepare(&of, 1, CONTROL_ABSOLUTE_ERROR, 0, 1);
    of.effort.progress = (struct control_progress){stop, &reports};
    const struct control_search terms = {ALL_AXES, 100000};
    cr_expect_eq(control_search_run(&of.problem, &terms, of.points, of.scores, POINTS, &of.effort,
                                    &arena, &scratch, &of.found, NULL),
                 PV_E_CANCELLED);
}

/* Thousands of stages of one task that may run side by side have an executor each. */
Test(control_search, steps_of_many_small_stages_are_expected)
{
    enum { STAGES = 2000 };
    static struct edf_stage stages[STAGES];
    for (size_t s = 0; s < STAGES; s++)
        stages[s] = (struct edf_stage){.id = (int64_t)s, .tasks = 1, .task_duration_s = 1};
    const struct edf_job job = {.deadline_s = 100, .stages = stages, .n_stages = STAGES};
    const struct control_job terms = {0.95, 1e6};
    const struct control_cluster cluster = {1, 4};
    const struct control_options options = control_options_default();
    struct control_model model;
    cr_assert_eq(control_model_make(&job, &terms, 1, &cluster, &options, &arena, &model, NULL),
                 PV_OK);
    struct control_result result = control_case_run(&model, "proportional", 1, NULL, &arena);
    double expected = control_model_steps(&model);
    cr_expect(expected > result.steps / 2 && expected < 4 * result.steps, "%g, %g were taken",
              expected, result.steps);
}

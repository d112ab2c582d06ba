/* How slow a node is: figures by hand, and how often intervals hold. */
#include "core/stragglers/node_speed.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/numerics/student.h"

static struct arena arena, scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(node_speed, .init = set_up, .fini = tear_down, .timeout = 60);

static void expect(double got, double want)
{
    cr_assert(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "%.17g, not %.17g", got, want);
}

static const size_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static size_t
study(const double durations[], const int64_t nodes[], int64_t n, struct node_study studies[])
{
    const struct run_stage stage = {
        .n_tasks = n, .task_durations_s = durations, .task_nodes = nodes};
    struct stage_times times;
    size_t made;
    cr_assert_eq(stage_times_make(&stage, &arena, &scratch, &times, NULL), PV_OK);
    cr_assert_eq(node_speed_study(&stage, &times, numbers, &scratch, studies, &made, NULL), PV_OK);
    return made;
}

/* Two tasks a node, 1 and e^0.2 times the node's pace: s^2 is 0.02 on each, of three nodes. */
Test(node_speed, a_stage_by_hand)
{
    struct node_study studies[3];
    const double durations[] = {1, 1, 2, exp(0.2), exp(0.2), 2 * exp(0.2), 1};
    const int64_t nodes[] = {0, 1, 2, 0, 1, 2, -1};
    cr_assert_eq(study(durations, nodes, 7, studies), 3);
    expect(studies[2].shift, log(2));
    expect(studies[0].shift, -log(2) / 2);
    expect(studies[2].variance, 1.5707963267948966 * 0.02 * (1.0 / 2 + 1.0 / 4));
    expect(studies[2].freedom, 3);
    cr_assert_eq(studies[2].tasks, 2);
}

/* The spread of the others says how a single task may vary. */
Test(node_speed, single_tasks_are_compared_with_each_other)
{
    struct node_study studies[4];
    const double durations[] = {1, exp(0.1), exp(0.2), 5};
    cr_assert_eq(study(durations, (const int64_t[]){0, 1, 2, 3}, 4, studies), 4);
    expect(studies[3].freedom, 2);
    expect(studies[3].variance, 1.5707963267948966 * 0.01 * (1 + 1.0 / 3));
    expect(studies[3].shift, log(5) - 0.1);
}

Test(node_speed, one_node_or_two_tasks_are_no_study)
{
    struct node_study studies[2];
    cr_assert_eq(study((const double[]){1, 2}, (const int64_t[]){0, 0}, 2, studies), 0);
    cr_assert_eq(study((const double[]){1, 9}, (const int64_t[]){0, 1}, 2, studies), 0);
}

/* A node with most of the tasks is no yardstick for the others. */
Test(node_speed, a_slow_node_with_many_tasks_leaves_the_others_ordinary)
{
    struct node_study studies[3];
    double durations[14];
    int64_t nodes[14];
    for (size_t i = 0; i < 14; i++) {
        nodes[i] = i < 10 ? 0 : 1 + (int64_t)i % 2;
        durations[i] = i < 10 ? 3 : 1;
    }
    cr_assert_eq(study(durations, nodes, 14, studies), 3);
    expect(studies[0].shift, log(3));
    expect(studies[1].shift, -log(3) / 2);
}

Test(node_speed, a_node_that_is_left_out_is_one_of_the_others_still)
{
    struct node_study studies[2];
    const double durations[] = {1, 1.1, 2, 2.2};
    const int64_t nodes[] = {0, 0, 1, 1};
    const struct run_stage stage = {
        .n_tasks = 4, .task_durations_s = durations, .task_nodes = nodes};
    const size_t left_out[] = {SIZE_MAX, 7};
    struct stage_times times;
    size_t n;
    cr_assert_eq(stage_times_make(&stage, &arena, &scratch, &times, NULL), PV_OK);
    cr_assert_eq(node_speed_study(&stage, &times, left_out, &scratch, studies, &n, NULL), PV_OK);
    cr_assert_eq(n, 1);
    cr_assert_eq(studies->node, 7);
    expect(studies->shift, log(2));
}

/* --- together --- */

static struct node_speed combine(const struct node_study studies[], size_t n, double level)
{
    const struct node_study *list[16] = {NULL};
    for (size_t i = 0; i < n; i++)
        list[i] = &studies[i];
    return node_speed_combine(list, n, &(struct stage_spread){.variance = 0}, level);
}

Test(node_speed, no_study_is_no_figure)
{
    struct node_speed speed = combine(NULL, 0, 0.95);
    cr_assert(isnan(speed.factor) && speed.low == 0 && isinf(speed.high) && speed.studies == 0);
}

Test(node_speed, one_study_has_the_interval_of_student)
{
    const struct node_study one = {.tasks = 5, .shift = 0.5, .variance = 0.04, .freedom = 8};
    struct node_speed speed = combine(&one, 1, 0.95);
    expect(speed.factor, exp(0.5));
    expect(speed.high, exp(0.5 + 0.2 * student_quantile(0.95, 8)));
    expect(speed.low, exp(0.5 - 0.2 * student_quantile(0.95, 8)));
}

/* Q = 0.5 < 1, so tau is 0: weights 1/v. Degrees of freedom: (1/W)^2 / sum (w/W)^4 v^2 / f. */
Test(node_speed, studies_that_agree_are_pooled)
{
    const struct node_study two[] = {{.tasks = 2, .shift = 0.1, .variance = 0.01, .freedom = 4},
                                     {.tasks = 3, .shift = 0.2, .variance = 0.01, .freedom = 4}};
    struct node_speed speed = combine(two, 2, 0.9);
    expect(speed.factor, exp(0.15));
    expect(speed.high, exp(0.15 + sqrt(0.005) * student_quantile(0.9, 8)));
    cr_assert_eq(speed.tasks, 5);
}

/* Q of the nodes is 8, 2 and 200, each with one degree of freedom and scale 100: the median is 8. Node 2
 * stands out: 200 is above (1 + 100 tau^2) (1 + 3 sqrt(2)). */
Test(node_speed, what_nodes_have_in_common)
{
    const struct node_study all[] = {{.node = 0, .shift = 0, .variance = 0.01, .freedom = 9},
                                     {.node = 0, .shift = 0.4, .variance = 0.01, .freedom = 9},
                                     {.node = 1, .shift = 0, .variance = 0.01, .freedom = 9},
                                     {.node = 1, .shift = 0.2, .variance = 0.01, .freedom = 9},
                                     {.node = 2, .shift = 0, .variance = 0.01, .freedom = 9},
                                     {.node = 2, .shift = 2, .variance = 0.01, .freedom = 9}};
    const struct node_study *list[6];
    double freedom;
    for (size_t i = 0; i < 6; i++)
        list[i] = &all[i];
    double room[6];
    struct stage_spread spread = node_speed_spread(list, 6, room);
    double median = (1 - 2.0 / 9) * (1 - 2.0 / 9) * (1 - 2.0 / 9);
    expect(spread.freedom, 1.5);
    expect(spread.variance, (8 / median - 1) / 100);
    struct node_speed out = node_speed_combine(list + 4, 2, &spread, 0.95);
    freedom = 1 / (2 * 0.0025 * 0.0025 / 9 + 0.995 * 0.995);
    expect(out.high, exp(1 + student_quantile(0.95, freedom)));
    /* One study alone varies as the stages of others do. */
    struct node_speed speed = node_speed_combine(list, 1, &spread, 0.95);
    double both = 0.01 + spread.variance;
    freedom = both * both / (0.01 * 0.01 / 9 + spread.variance * spread.variance / 1.5);
    expect(speed.high, exp(sqrt(both) * student_quantile(0.95, freedom)));
}

/* Q = 50, scale = 200 - 20000/200 = 100: tau^2 = 0.49; 1/W = 0.25. */
Test(node_speed, studies_that_disagree_widen_the_interval)
{
    const struct node_study two[] = {{.tasks = 2, .shift = 0, .variance = 0.01, .freedom = 100},
                                     {.tasks = 2, .shift = 1, .variance = 0.01, .freedom = 100}};
    struct node_speed speed = combine(two, 2, 0.95);
    double freedom = 0.25 * 0.25 / (2 * 0.0025 * 0.0025 / 100 + 0.245 * 0.245);
    expect(speed.factor, exp(0.5));
    expect(speed.high, exp(0.5 + 0.5 * student_quantile(0.95, freedom)));
}

enum { DRAWN_NODES = 8, STAGES_MAX = 10, EACH_MAX = 8 };

static void draw_stage(struct rng *rng,
                       double pace,
                       double sigma,
                       double between,
                       size_t each,
                       struct node_study studies[DRAWN_NODES])
{
    double durations[DRAWN_NODES * EACH_MAX];
    int64_t nodes[DRAWN_NODES * EACH_MAX];
    double stage_pace[DRAWN_NODES];
    for (size_t k = 0; k < DRAWN_NODES; k++)
        stage_pace[k] = exp(between * rng_normal(rng)) * (k == 0 ? pace : 1);
    for (size_t i = 0; i < DRAWN_NODES * each; i++) {
        nodes[i] = (int64_t)(i % DRAWN_NODES);
        durations[i] = 10 * exp(sigma * rng_normal(rng)) * stage_pace[i % DRAWN_NODES];
    }
    cr_assert_eq(study(durations, nodes, (int64_t)(DRAWN_NODES * each), studies), DRAWN_NODES);
}

/* Runs of some stages, drawn: tasks vary by `sigma`, nodes from stage to stage by `between`. How often
 * does the interval of node 0 hold its pace? */
static double coverage(double pace, double sigma, double between, size_t stages, size_t each)
{
    enum { REPETITIONS = 400 };
    struct rng rng = rng_make(7, stages + 100 * each);
    size_t held = 0;
    for (size_t r = 0; r < REPETITIONS; r++) {
        struct node_study drawn[STAGES_MAX][DRAWN_NODES];
        const struct node_study *sorted[STAGES_MAX * DRAWN_NODES];
        for (size_t s = 0; s < stages; s++)
            draw_stage(&rng, pace, sigma, between, each, drawn[s]);
        for (size_t k = 0; k < DRAWN_NODES; k++)
            for (size_t s = 0; s < stages; s++)
                sorted[k * stages + s] = &drawn[s][k];
        double room[STAGES_MAX * DRAWN_NODES];
        struct stage_spread spread = node_speed_spread(sorted, stages * DRAWN_NODES, room);
        struct node_speed speed = node_speed_combine(sorted, stages, &spread, 0.95);
        held += speed.low <= pace && pace <= speed.high;
        arena_clear(&arena);
    }
    return (double)held / REPETITIONS;
}

/* 400 draws at 95 percent hold 92 percent or more but for one time in two hundred. */
Test(node_speed, intervals_hold_as_often_as_they_promise)
{
    cr_expect_geq(coverage(1, 0.2, 0, 1, 4), 0.92);
    cr_expect_geq(coverage(1, 0.5, 0, 5, 2), 0.92);
    cr_expect_geq(coverage(1.5, 0.2, 0, 3, 6), 0.92);
    cr_expect_geq(coverage(1.5, 0.2, 0.3, 10, 4), 0.92);
    cr_expect_geq(coverage(1, 0.2, 0.2, 2, 6), 0.92);
    cr_expect_geq(coverage(1, 0.2, 0.1, 5, 4), 0.92);
    cr_expect_geq(coverage(1, 0.3, 0, 6, 1), 0.92);
}

/* Each node has one task: what is compared with the others takes a step for each, not one for all
 * others. */
Test(node_speed, very_many_nodes_with_one_task_each, .timeout = 10)
{
    enum { NODES = 200000 };
    struct rng rng = rng_make(7, 0);
    double *durations = arena_array(&arena, NODES, sizeof *durations);
    int64_t *nodes = arena_array(&arena, NODES, sizeof *nodes);
    size_t *places = arena_array(&arena, NODES, sizeof *places);
    struct node_study *studies = arena_array(&arena, NODES, sizeof *studies);
    struct stage_times times;
    size_t made;
    for (size_t i = 0; i < NODES; i++) {
        durations[i] = 1 + rng_uniform(&rng);
        nodes[i] = (int64_t)i;
        places[i] = i;
    }
    const struct run_stage stage = {
        .n_tasks = NODES, .task_durations_s = durations, .task_nodes = nodes};
    cr_assert_eq(stage_times_make(&stage, &arena, &scratch, &times, NULL), PV_OK);
    cr_assert_eq(node_speed_study(&stage, &times, places, &scratch, studies, &made, NULL), PV_OK);
    cr_assert_eq(made, NODES);
    expect(studies[0].freedom, NODES - 2);
}

#include "core/history/run_profile.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/history/graph.h"
#include "core/history/stage_weight.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(run_profile, .init = setup, .fini = teardown);

/* The published profile of xSpark's aggregate-by-key: weights as its authors' tool wrote them. */
Test(run_profile, weights_equal_the_published_ones_of_aggregate_by_key)
{
    const double durations[] = {27972126, 6660735, 2692013};
    const bool skipped[] = {false, false, false};
    const double expected[] = {2.167179784618445, 1.702080776370776, 1.0};
    double weights[3];
    stage_weights(durations, skipped, 3, 0.5, weights);
    for (size_t i = 0; i < 3; i++)
        cr_expect(fabs(weights[i] - expected[i]) < 1e-12, "%zu: %.17g", i, weights[i]);
}

Test(run_profile, skipped_stages_neither_weigh_nor_count)
{
    const double durations[] = {10, NAN, 5};
    const bool skipped[] = {false, true, false};
    double weights[3];
    stage_weights(durations, skipped, 3, 0.33, weights);
    cr_expect(fabs(weights[0] - (0.33 * 2 + 0.67 * 1.5)) < 1e-12);
    cr_expect(weights[1] == 0 && weights[2] == 1);
}

Test(run_profile, an_unknown_duration_makes_every_weight_unknown_that_needs_it)
{
    const double durations[] = {10, NAN, 5, 0};
    const bool skipped[] = {false, false, false, false};
    double weights[4];
    stage_weights(durations, skipped, 4, 0.33, weights);
    cr_expect(isnan(weights[0]) && isnan(weights[1]) && !isnan(weights[2]) && isnan(weights[3]));
}

/* A chain a -> b of two stages with the given times. */
static struct run chain(struct run_stage stages[2], int64_t first_id, double scale)
{
    static const int64_t parents[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    stages[0] = (struct run_stage){.id = first_id,
                                   .n_tasks = 2,
                                   .task_duration_s = NAN,
                                   .task_time_s = 8 * scale,
                                   .duration_s = 4 * scale,
                                   .input_records = 100,
                                   .nominal_rate_per_s = 100 / (8 * scale)};
    stages[1] = (struct run_stage){.id = first_id + 1,
                                   .parents = &parents[first_id],
                                   .n_parents = 1,
                                   .n_tasks = 1,
                                   .task_duration_s = 2 * scale,
                                   .task_time_s = 2 * scale,
                                   .duration_s = 2 * scale,
                                   .input_records = NAN,
                                   .nominal_rate_per_s = NAN};
    return (struct run){.stages = stages, .n_stages = 2, .has_stages = true};
}

Test(run_profile, graphs_match_by_position_whatever_the_ids)
{
    struct run_stage a[2], b[2], c[2];
    struct run x = chain(a, 0, 1), y = chain(b, 5, 3), z = chain(c, 0, 1);
    bool equal = false;
    cr_assert_eq(run_graph_compare(&x, &y, &arena, &equal, NULL), PV_OK);
    cr_expect(equal);
    c[1].n_parents = 0;
    cr_assert_eq(run_graph_compare(&x, &z, &arena, &equal, NULL), PV_OK);
    cr_expect_not(equal, "the edge is gone");
    c[1].n_parents = 1;
    c[0].skipped = true;
    cr_assert_eq(run_graph_compare(&x, &z, &arena, &equal, NULL), PV_OK);
    cr_expect_not(equal, "one is skipped");
}

Test(run_profile, means_are_over_the_runs_that_share_the_latest_graph)
{
    struct run_stage a[2], b[2], c[2];
    struct run runs[] = {chain(a, 0, 1), chain(b, 5, 3), chain(c, 0, 100)};
    c[1].n_parents = 0;
    struct run_profile profile;
    cr_assert_eq(run_profile_build(runs, 3, &arena, &profile, NULL), PV_OK);
    cr_expect(profile.graph_changed);
    cr_expect(profile.n_runs == 2 && profile.runs[0] == 0 && profile.runs[1] == 1);
    cr_expect(profile.stages[0].duration_s == 8 && profile.stages[1].duration_s == 4);
    cr_expect(profile.stages[0].task_duration_s == 8, "means 4 and 12 of 8/2 and 24/2");
    double rate = (100.0 / 8 + 100.0 / 24) / 2;
    cr_expect(fabs(profile.stages[0].nominal_rate_per_s - rate) < 1e-12);
    cr_expect(fabs(profile.stages[0].weight - (0.33 * 2 + 0.67 * 20 / 16)) < 1e-12,
              "by summed task time: 16 and 4");
    cr_expect(isnan(profile.stages[1].nominal_rate_per_s));
    cr_expect(fabs(profile.average_nominal_rate_per_s - rate) < 1e-12,
              "only the stage whose rate is known");
}

Test(run_profile, without_rates_the_average_is_unknown)
{
    struct run_stage a[2];
    struct run run = chain(a, 0, 1);
    a[0].nominal_rate_per_s = NAN;
    struct run_profile profile;
    cr_assert_eq(run_profile_build(&run, 1, &arena, &profile, NULL), PV_OK);
    cr_expect(isnan(profile.average_nominal_rate_per_s));
    cr_expect_not(profile.graph_changed);
}

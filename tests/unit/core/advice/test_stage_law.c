#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>

#include "core/advice/stage_law.h"

/* N, m, c, tasks of up to three sightings; what follows; tasks at N = 100, m = 10, c = 4. */
static const struct {
    const char *what;
    struct stage_sighting seen[3];
    size_t n;
    enum law_follows follows;
    double tasks;
} rows[] = {
    {"one task stays one", {{50, 2, 4, 1, 1.0}}, 1, LAW_ONE, 1},
    {"a count equal to N follows N", {{50, 2, 4, 50, 1.0}}, 1, LAW_SIZE, 100},
    {"N is preferred where it equals the cores", {{8, 2, 4, 8, 1.0}}, 1, LAW_SIZE, 100},
    {"cores", {{50, 2, 4, 8, 1.0}}, 1, LAW_CORES, 40},
    {"twice the cores", {{50, 2, 4, 16, 1.0}}, 1, LAW_CORES, 80},
    {"one less than the cores", {{50, 4, 4, 15, 1.0}}, 1, LAW_CORES, 39},
    {"executors", {{50, 7, 4, 7, 1.0}}, 1, LAW_EXECUTORS, 10},
    {"one less than the executors", {{50, 7, 4, 6, 1.0}}, 1, LAW_EXECUTORS, 9},
    {"shuffle partitions are fixed", {{50, 7, 4, 200, 1.0}}, 1, LAW_FIXED, 200},
    {"the same although N and m moved",
     {{50, 2, 4, 16, 1.0}, {100, 8, 4, 16, 1.0}},
     2,
     LAW_FIXED,
     16},
    {"moves with the executors in three runs",
     {{50, 2, 4, 2, 1.0}, {50, 4, 4, 4, 1.0}, {100, 8, 4, 8, 1.0}},
     3,
     LAW_EXECUTORS,
     10},
    {"three times N", {{50, 2, 4, 150, 1.0}, {100, 2, 4, 300, 1.0}}, 2, LAW_SIZE, 300},
};

ParameterizedTestParameters(stage_law, follows)
{
    static size_t index[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        index[i] = i;
    return cr_make_param_array(size_t, index, sizeof index / sizeof *index);
}

ParameterizedTest(size_t *i, stage_law, follows)
{
    struct stage_law law = stage_law_learn(rows[*i].seen, rows[*i].n);
    cr_assert_eq(law.follows, rows[*i].follows, "%s: follows %d", rows[*i].what, law.follows);
    double tasks = stage_law_tasks(&law, &rows[*i].seen[rows[*i].n - 1], 100, 10, 4);
    cr_assert_eq(tasks, rows[*i].tasks, "%s: %g tasks", rows[*i].what, tasks);
}

/* Work grown fourfold where the size doubled: exponent 2 (its upper bound); unknown with one size.
 */
Test(stage_law, work_exponent)
{
    struct stage_sighting seen[] = {{50, 2, 4, 20, 10.0}, {100, 2, 4, 20, 20.0}};
    cr_assert_float_eq(stage_law_learn(seen, 2).work_exponent, 1.0, 1e-12);
    seen[1].work_s = 10.0 * 1.5;
    cr_assert_float_eq(stage_law_learn(seen, 2).work_exponent, 0.5849625007211562, 1e-12);
    cr_assert_float_eq(stage_law_learn(seen, 1).work_exponent, 1.0, 1e-12);
    seen[1].work_s = 10.0 * 8.0;
    cr_assert_float_eq(stage_law_learn(seen, 2).work_exponent, 2.0, 1e-12);
}

/* Tasks that follow the executors and last as long each: the work grows with m, and N is kept out.
 */
Test(stage_law, work_of_stages_that_follow_the_machines)
{
    struct stage_sighting seen[] = {
        {50, 2, 4, 2, 2.0}, {50, 4, 4, 4, 4.0}, {100, 8, 4, 8, 16.0}, {100, 4, 4, 4, 8.0}};
    struct stage_law law = stage_law_learn(seen, 4);
    cr_assert_eq(law.follows, LAW_EXECUTORS);
    cr_assert_float_eq(law.work_exponent, 1.0, 1e-9);
    cr_assert_float_eq(law.machine_exponent, 1.0, 1e-9);
    cr_assert_float_eq(stage_law_work(&law, &seen[0], 200, 10, 4, 10.0), 40.0, 1e-9);
    /* With a single run the work is conserved. */
    law = stage_law_learn(seen, 1);
    cr_assert_float_eq(stage_law_work(&law, &seen[0], 50, 10, 4, 10.0), 2.0, 1e-9);
}

/* Work that grows with the square roots of the size and of the executors, which differ together though
 * not in step: (ln N, ln m) are (0, 0), (1, 1), (1, 2), (2, 1) times ln 2. */
Test(stage_law, growth_with_size_and_executors_is_told_apart)
{
    const struct stage_sighting seen[] = {{50, 2, 4, 2, 10.0},
                                          {100, 4, 4, 4, 20.0},
                                          {100, 8, 4, 8, 20.0 * sqrt(2)},
                                          {200, 4, 4, 4, 20.0 * sqrt(2)}};
    struct stage_law law = stage_law_learn(seen, 4);
    cr_assert_eq(law.follows, LAW_EXECUTORS);
    cr_assert_float_eq(law.work_exponent, 0.5, 1e-9);
    cr_assert_float_eq(law.machine_exponent, 0.5, 1e-9);
    cr_assert_float_eq(stage_law_work(&law, &seen[0], 800, 8, 4, 8.0), 80.0, 1e-9);
}

/* Slopes are kept within their bounds; x closer than 5 % leave what was assumed. */
Test(stage_law, slope)
{
    const double x[] = {1, 4};
    cr_assert_float_eq(stage_law_slope(x, (double[]){10, 20}, 2, 0, 1, 0), 0.5, 1e-12);
    cr_assert_float_eq(stage_law_slope(x, (double[]){10, 100}, 2, 0, 1, 0), 1.0, 0.0);
    cr_assert_float_eq(stage_law_slope(x, (double[]){20, 10}, 2, 0, 1, 0), 0.0, 0.0);
    const double close[][2] = {{1, 1.005}, {1, 1.049}};
    for (size_t i = 0; i < 2; i++) {
        cr_assert_float_eq(stage_law_slope(close[i], (double[]){10, 20}, 2, 0, 1, 0.3), 0.3, 0.0);
        cr_assert_float_eq(stage_law_slope(close[i], (double[]){10, 1}, 2, -9, 9, 0.3), 0.3, 0.0);
    }
    /* A ratio of 1.1 counts for 0.1408 of its slope; of 1.25, in full. */
    const double tenth[] = {1, 1.1}, quarter[] = {1, 1.25};
    double share = (log(1.1) * log(1.1) / 2 - 0.00119) / (0.0249 - 0.00119);
    cr_assert_float_eq(share, 0.1414, 0.001);
    cr_assert_float_eq(stage_law_slope(tenth, (double[]){1, 1.21}, 2, 0, 2, 1), 1 + share, 1e-9);
    cr_assert_float_eq(stage_law_slope(quarter, (double[]){1, 1.5625}, 2, 0, 2, 1), 2.0, 1e-3);
}

/* Two close sizes and a little noise are no law: the work stays nearly proportional to the size. */
Test(stage_law, close_sizes_do_not_make_an_exponent)
{
    struct stage_sighting seen[] = {{100, 2, 4, 37, 100.0}, {104, 2, 4, 37, 130.0}};
    cr_assert_float_eq(stage_law_learn(seen, 2).work_exponent, 1.0, 0.0);
    seen[1] = (struct stage_sighting){110, 2, 4, 37, 90.0};
    double exponent = stage_law_learn(seen, 2).work_exponent;
    cr_assert(exponent > 0.8 && exponent < 0.9, "%g", exponent);
}

/* Tasks that grow with the input, though not in proportion. */
Test(stage_law, tasks_that_rise_with_the_size_follow_it)
{
    const struct stage_sighting seen[] = {
        {1, 2, 4, 10, 1.0}, {2, 2, 4, 19, 2.0}, {4, 2, 4, 43, 4.0}};
    cr_assert_eq(stage_law_learn(seen, 3).follows, LAW_SIZE);
    /* The same number at sizes that differ by 3 % shows no growth. */
    const struct stage_sighting same[] = {{100, 2, 4, 37, 1.0}, {103, 2, 4, 37, 1.0}};
    cr_assert_eq(stage_law_learn(same, 2).follows, LAW_FIXED);
    /* Nor do 51 tasks rather than 50. */
    const struct stage_sighting near[] = {{100, 2, 4, 50, 1.0}, {103, 2, 4, 51, 1.0}};
    cr_assert_eq(stage_law_learn(near, 2).follows, LAW_FIXED);
}

/* Of more than 64 sightings the first 64 show how the number of tasks grows: here fewer of them, or
 * more, show a slope below a half. */
Test(stage_law, of_many_sightings_the_first_64_count)
{
    struct stage_sighting seen[70];
    for (size_t i = 0; i < 70; i++) {
        double size = i < 64 ? 2.0 + (double)i : 1e9;
        size_t tasks = i < 20 ? 5 : i < 64 ? 3 * (i + 2) : 7;
        seen[i] = (struct stage_sighting){size, 2, 4, tasks, size};
    }
    cr_assert_eq(stage_law_learn(seen, 70).follows, LAW_SIZE);
}

/* Work that follows the number of tasks, which follow the size. */
Test(stage_law, work_of_stages_that_follow_the_size)
{
    const struct stage_sighting seen[] = {{1, 2, 4, 100, 100.0}, {2, 2, 4, 200, 400.0}};
    struct stage_law law = stage_law_learn(seen, 2);
    cr_assert_eq(law.follows, LAW_SIZE);
    cr_assert_float_eq(stage_law_work(&law, &seen[0], 4, 2, 4, 400.0), 400.0, 1e-9);
}

/* Sizes and executors that grow together cannot be told apart: growth with the size comes first. */
Test(stage_law, sizes_and_executors_that_grow_together)
{
    const struct stage_sighting seen[] = {
        {50, 2, 1, 2, 2.0}, {100, 4, 1, 4, 8.0}, {200, 8, 1, 8, 32.0}};
    struct stage_laws laws = stage_laws_learn(seen, 3, COUNT_UNKNOWN);
    cr_assert_float_eq(laws.law.work_exponent, 1.0, 1e-12);
    cr_assert_float_eq(laws.law.machine_exponent, 1.0, 1e-12);
    /* Nor does it show whether the number of tasks follows the cores or the size. */
    cr_assert(stage_law_follows_machines(&laws.law));
    cr_assert_eq(laws.otherwise.follows, LAW_SIZE);
    cr_assert_float_eq(laws.probability, 0.5, 0.0);
}

/* Runs of 4 x 4 cores: what each source of the count makes of it, and how sure that is. */
static const struct {
    size_t tasks;
    enum count_source source;
    enum law_follows follows, otherwise;
    double probability;
} kinds[] = {
    {16, COUNT_UNKNOWN, LAW_CORES, LAW_FIXED, 0.5},
    {16, COUNT_COALESCED, LAW_CORES, LAW_FIXED, 0.5},
    {16, COUNT_PARALLELISM, LAW_CORES, LAW_FIXED, 0.7},
    {16, COUNT_SMALL_SPLITS, LAW_CORES, LAW_SIZE, 0.7},
    {16, COUNT_SET, LAW_FIXED, LAW_FIXED, 1.0},
    {16, COUNT_SPLITS, LAW_SIZE, LAW_SIZE, 1.0},
    {48, COUNT_UNKNOWN, LAW_CORES, LAW_FIXED, 0.3},
    {15, COUNT_UNKNOWN, LAW_CORES, LAW_FIXED, 0.2},
    {4, COUNT_UNKNOWN, LAW_EXECUTORS, LAW_FIXED, 0.3},
    {3, COUNT_UNKNOWN, LAW_EXECUTORS, LAW_FIXED, 0.2},
    {80, COUNT_UNKNOWN, LAW_FIXED, LAW_FIXED, 1.0},
    {37, COUNT_SMALL_SPLITS, LAW_SIZE, LAW_SIZE, 1.0},
    {200, COUNT_SET, LAW_FIXED, LAW_FIXED, 1.0},
};

Test(stage_law, a_coincidence_is_not_a_law)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        /* One run and three alike show as much. */
        struct stage_sighting seen[3];
        for (size_t k = 0; k < 3; k++)
            seen[k] = (struct stage_sighting){64, 4, 4, kinds[i].tasks, 10.0};
        for (size_t n = 1; n <= 3; n += 2) {
            struct stage_laws laws = stage_laws_learn(seen, n, kinds[i].source);
            cr_expect_eq(laws.law.follows, kinds[i].follows, "%zu: %d", i, laws.law.follows);
            cr_expect_eq(laws.otherwise.follows, kinds[i].otherwise, "%zu", i);
            cr_expect_float_eq(laws.probability, kinds[i].probability, 0.0, "%zu: %g", i,
                               laws.probability);
        }
    }
    /* A number of tasks that is the size and the number of cores. */
    const struct stage_sighting both = {16, 4, 4, 16, 10.0};
    struct stage_laws laws = stage_laws_learn(&both, 1, COUNT_UNKNOWN);
    cr_expect(laws.law.follows == LAW_SIZE && laws.otherwise.follows == LAW_CORES);
    cr_expect_float_eq(laws.probability, 0.5, 0.0);
}

/* A run on another number of cores decides, whatever the multiple. */
Test(stage_law, another_number_of_cores_decides)
{
    static const struct {
        size_t tasks[2]; /* on 4 x 4 and on 2 x 4 cores */
        enum law_follows follows;
        double tasks_of_ten; /* on 10 x 4 */
    } pairs[] = {{{16, 16}, LAW_FIXED, 16},
                 {{16, 8}, LAW_CORES, 40},
                 {{15, 7}, LAW_CORES, 39},
                 {{96, 48}, LAW_CORES, 240},
                 {{12, 6}, LAW_EXECUTORS, 30}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct stage_sighting seen[] = {{64, 4, 4, pairs[i].tasks[0], 10.0},
                                              {64, 2, 4, pairs[i].tasks[1], 10.0}};
        struct stage_laws laws = stage_laws_learn(seen, 2, COUNT_UNKNOWN);
        cr_expect_eq(laws.law.follows, pairs[i].follows, "%zu: %d", i, laws.law.follows);
        cr_expect_float_eq(laws.probability, 1.0, 0.0);
        cr_expect_float_eq(stage_law_tasks(&laws.law, &seen[0], 64, 10, 4), pairs[i].tasks_of_ten,
                           0.0, "%zu", i);
    }
}

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

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

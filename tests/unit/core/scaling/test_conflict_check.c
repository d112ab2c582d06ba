/* Observations of one size and one count that contradict each other. */
#include "core/scaling/model/conflict_check.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static struct arena arena;
static struct model_fit fit;
static struct observation rows[6];

/* Two runs on 4, two on 8, two on 16. */
static void set_up(void)
{
    static const double durations_s[] = {10, 12, 8, 9, 5, 6};
    arena_init(&arena, 0);
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(100, (double)(4 << i / 2), durations_s[i], (double)NAN);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(conflict_check, .init = set_up, .fini = tear_down);

static const struct finding *check(size_t n, enum model_form form)
{
    const struct model_data data = {.rows = rows, .n = n, .form = form};
    fit = (struct model_fit){.warnings = {.arena = &arena}};
    conflict_check(&data, &fit);
    return finding_find(&fit.warnings, "contradicting_observations");
}

/* The worst pair is named, all that are concerned are counted. */
Test(conflict_check, times_that_differ_by_a_factor)
{
    cr_expect_null(check(6, MODEL_OF_DURATIONS));
    rows[1].duration_s = 10 * CONFLICT_FACTOR;
    cr_expect_null(check(6, MODEL_OF_DURATIONS));
    rows[1].duration_s *= 1.1;
    rows[5].duration_s = 5 * CONFLICT_FACTOR * 1.2;
    const struct finding *found = check(6, MODEL_OF_DURATIONS);
    cr_assert_not_null(found);
    char want[200];
    (void)snprintf(
        want, sizeof want,
        "4 observations contradict others of the same problem_size and executors: at 100 "
        "on 16, 5 was seen as well as %.4g",
        rows[5].duration_s);
    cr_expect_str_eq(found->message, want);
    cr_expect_not_null(check(5, MODEL_OF_DURATIONS));
    cr_expect_null(check(1, MODEL_OF_DURATIONS));
}

/* Of different contexts, sizes or counts nothing contradicts. */
Test(conflict_check, only_the_same_place_and_context_count)
{
    rows[1].duration_s = 100;
    rows[0].context = 1;
    rows[1].context = 2;
    cr_expect_null(check(6, MODEL_OF_DURATIONS));
    rows[1].context = 1;
    cr_expect_not_null(check(6, MODEL_OF_DURATIONS));
    rows[1].problem_size = 101;
    cr_expect_null(check(6, MODEL_OF_DURATIONS));
}

/* By speedups, or by the stages' times, if these are fitted. */
Test(conflict_check, what_is_fitted_is_compared)
{
    for (size_t i = 0; i < 6; i++) {
        rows[i].speedup = 2;
        rows[i].serial_s = 1;
        rows[i].max_task_s = 2;
        rows[i].induced_s = 3;
    }
    rows[1].duration_s = 100;
    cr_expect_null(check(6, MODEL_OF_SPEEDUPS));
    cr_expect_null(check(6, MODEL_OF_STAGES));
    rows[3].speedup = 20;
    cr_expect_not_null(check(6, MODEL_OF_SPEEDUPS));
    rows[3].induced_s = 300;
    const struct finding *found = check(6, MODEL_OF_STAGES);
    cr_assert_not_null(found);
    cr_expect_str_eq(found->message,
                     "2 observations contradict others of the same problem_size and executors: at "
                     "100 on 8, 6 was seen as well as 303");
}

/* Why no run can be replayed, in one sentence. */
#include <criterion/criterion.h>

#include "core/history/missing_counts.h"

static void expect(struct missing_counts counts, int64_t runs, const char *text)
{
    struct pv_error err = {0};
    cr_expect_eq(missing_counts_refuse(&counts, runs, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, text);
}

Test(missing_counts, only_what_is_missing_is_named)
{
    expect((struct missing_counts){.runs = 0}, 0, "the application has no runs yet");
    expect((struct missing_counts){.runs = 1, .stages = 1}, 1,
           "the application has 1 run, but none that succeeded with executors, "
           "cores_per_executor, problem_size and stages known: without stages 1");
    expect((struct missing_counts){.runs = 3, .executors = 2, .stages = 1, .failed = 1}, 3,
           "the application has 3 runs, but none that succeeded with executors, "
           "cores_per_executor, problem_size and stages known: without executors 2, stages 1; "
           "failed 1");
    expect((struct missing_counts){.runs = 3, .failed = 1, .streaming = 2}, 3,
           "the application has 3 runs, but none that succeeded with executors, "
           "cores_per_executor, problem_size and stages known: failed 1; streaming 2");
    expect((struct missing_counts){.runs = 1000, .failed = 1000}, 4000,
           "the application has 4000 runs, but none that succeeded with executors, "
           "cores_per_executor, problem_size and stages known; of the 1000 latest: failed 1000");
}

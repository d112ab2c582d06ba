#include <criterion/criterion.h>

#include "base/arena.h"
#include "core/advice/reason_order.h"

TestSuite(reason_order, .timeout = 10);

static void expect_order(const char *const added[], const char *const wanted[], size_t n)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct findings reasons = {.arena = &arena};
    for (size_t i = 0; i < n; i++)
        (void)finding_add(&reasons, added[i], "%zu", i);
    reasons_order(&reasons);
    cr_assert_eq(reasons.n, n);
    for (size_t i = 0; i < n; i++)
        cr_expect_str_eq(reasons.items[i].code, wanted[i], "%zu", i);
    arena_fini(&arena);
}

Test(reason_order, what_decides_comes_first)
{
    static const char *const added[] = {"deadline_met",  "objective", "late_runs",
                                        "replayed_runs", "bound",     "compared_with_last_run",
                                        "bottleneck",    "memory"};
    static const char *const wanted[] = {"deadline_met", "late_runs", "compared_with_last_run",
                                         "bound",        "objective", "replayed_runs",
                                         "bottleneck",   "memory"};
    expect_order(added, wanted, sizeof added / sizeof *added);
}

Test(reason_order, the_objective_decides_without_a_deadline)
{
    static const char *const added[] = {"replayed_runs", "compared_with_last_run", "objective"};
    static const char *const wanted[] = {"objective", "compared_with_last_run", "replayed_runs"};
    expect_order(added, wanted, sizeof added / sizeof *added);
}

Test(reason_order, reasons_of_one_rank_keep_their_order)
{
    static const char *const added[] = {"bottleneck",      "missed_beside_running",
                                        "deadline_missed", "memory",
                                        "late_runs",       "late_runs"};
    static const char *const wanted[] = {"missed_beside_running",
                                         "deadline_missed",
                                         "late_runs",
                                         "late_runs",
                                         "bottleneck",
                                         "memory"};
    expect_order(added, wanted, sizeof added / sizeof *added);
}

Test(reason_order, no_reason_is_no_reason)
{
    struct findings reasons = {.n = 0};
    reasons_order(&reasons);
    cr_assert_eq(reasons.n, 0);
}

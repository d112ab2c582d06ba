/* How well advice held: means, medians, coverage and kept promises, worked out by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/history/accuracy.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(track_record, .init = setup, .fini = teardown, .timeout = 30);

static struct accuracy_entry entry(const char *application, const char *model, double error_percent)
{
    return (struct accuracy_entry){.application = strview_of(application),
                                   .model = strview_of(model),
                                   .compared = true,
                                   .error_percent = error_percent,
                                   .confidence = (double)NAN,
                                   .promised = (double)NAN};
}

static struct accuracy sum_up(const struct accuracy_entry entries[], size_t n)
{
    struct accuracy record;
    struct pv_error err = {0};
    cr_assert_eq(accuracy_of(entries, n, &arena, &record, &err), PV_OK);
    return record;
}

Test(track_record, of_nothing_nothing_is_known)
{
    struct accuracy record = sum_up(NULL, 0);
    cr_expect_eq(record.count, 0);
    cr_expect(isnan(record.mape_percent) && isnan(record.median_ape_percent));
    cr_expect(isnan(record.mean_error_percent) && isnan(record.inside_interval));
    cr_expect(isnan(record.deadlines.met) && isnan(record.bins[3].promised));
}

/* Errors 10, -20, 40 and one that does not count. */
Test(track_record, errors_have_a_mean_a_median_and_a_bias)
{
    struct accuracy_entry entries[] = {entry("a", "usba", 10), entry("a", "usba", -20),
                                       entry("a", "usba", 40), entry("a", "usba", 900)};
    entries[3].compared = false;
    struct accuracy record = sum_up(entries, 4);
    cr_expect_eq(record.count, 4);
    cr_expect_eq(record.compared, 3);
    cr_expect_float_eq(record.mape_percent, 70.0 / 3, 1e-12);
    cr_expect_float_eq(record.median_ape_percent, 20, 1e-12);
    cr_expect_float_eq(record.mean_error_percent, 10, 1e-12);
    record = sum_up(entries, 2);
    cr_expect_float_eq(record.median_ape_percent, 15, 1e-12);
}

/* Two of three intervals held, asked at 0.9, 0.9 and 0.6: 0.67 against 0.8. */
Test(track_record, coverage_stands_beside_what_was_asked)
{
    struct accuracy_entry entries[] = {entry("a", "usba", 1), entry("a", "usba", 1),
                                       entry("a", "usba", 1), entry("a", "usba", 1)};
    for (size_t i = 0; i < 3; i++) {
        entries[i].inside_known = true;
        entries[i].inside = i > 0;
        entries[i].confidence = i < 2 ? 0.9 : 0.6;
    }
    struct accuracy record = sum_up(entries, 4);
    cr_expect_eq(record.intervals, 3);
    cr_expect_float_eq(record.inside_interval, 2.0 / 3, 1e-12);
    cr_expect_float_eq(record.nominal, 0.8, 1e-12);
}

/* Promises by tenths: 0.3 belongs to the fourth, 1 to the last, none to none. */
Test(track_record, promises_are_held_against_deadlines_by_tenths)
{
    const double promised[] = {0.3, 0.95, 1, 0.99, 0.05};
    const bool met[] = {true, true, false, true, false};
    struct accuracy_entry entries[6];
    for (size_t i = 0; i < 5; i++) {
        entries[i] = entry("a", "usba", 0);
        entries[i].promised = promised[i];
        entries[i].met = met[i];
    }
    entries[5] = entry("a", "usba", 0);
    struct accuracy record = sum_up(entries, 6);
    cr_expect_eq(record.deadlines.runs, 5);
    cr_expect_float_eq(record.deadlines.promised, 3.29 / 5, 1e-12);
    cr_expect_float_eq(record.deadlines.met, 0.6, 1e-12);
    cr_expect_eq(record.bins[0].runs, 1);
    cr_expect_eq(record.bins[2].runs, 0);
    cr_expect_eq(record.bins[3].runs, 1);
    cr_expect_float_eq(record.bins[3].met, 1, 0);
    cr_expect_eq(record.bins[9].runs, 3);
    cr_expect_float_eq(record.bins[9].promised, 2.94 / 3, 1e-12);
    cr_expect_float_eq(record.bins[9].met, 2.0 / 3, 1e-12);
}

Test(track_record, groups_stand_by_name)
{
    const struct accuracy_entry entries[] = {entry("b", "usba", 10), entry("a", "replay", -30),
                                             entry("b", "replay", 20), entry("ab", "usba", 5)};
    struct accuracy_groups groups;
    struct pv_error err = {0};
    cr_assert_eq(accuracy_by_application(entries, 4, &arena, &groups, &err), PV_OK);
    cr_assert_eq(groups.n, 3);
    cr_expect(strview_is(groups.items[0].name, "a"));
    cr_expect(strview_is(groups.items[1].name, "ab"));
    cr_expect(strview_is(groups.items[2].name, "b"));
    cr_expect_float_eq(groups.items[2].record.mape_percent, 15, 1e-12);
    cr_assert_eq(accuracy_by_model(entries, 4, &arena, &groups, &err), PV_OK);
    cr_assert_eq(groups.n, 2);
    cr_expect_float_eq(groups.items[0].record.mean_error_percent, -5, 1e-12);
    cr_expect_eq(groups.items[1].record.count, 2);
}

/* --- one run against what was advised --- */

static struct run run_on(int64_t executors, double duration_s)
{
    return (struct run){.executors = executors,
                        .cores_per_executor = RUN_UNKNOWN,
                        .duration_s = duration_s,
                        .succeeded = true};
}

Test(track_record, a_run_lies_in_the_interval_or_outside)
{
    const struct accuracy_advised advised = {
        .executors = 8, .cores_per_executor = 4, .interval_s = {90, 110}, .deadline_s = 100};
    struct accuracy_advised open = advised, none = advised;
    open.interval_s[1] = (double)NAN;
    none.interval_s[0] = none.interval_s[1] = (double)NAN;
    struct run run = run_on(8, 100);
    cr_expect_str_eq(accuracy_interval(&run, &advised), "inside");
    cr_expect_str_eq(accuracy_interval(&run, &none), "other");
    run.duration_s = 89;
    cr_expect_str_eq(accuracy_interval(&run, &advised), "faster");
    run.duration_s = 111;
    cr_expect_str_eq(accuracy_interval(&run, &advised), "slower");
    cr_expect_str_eq(accuracy_interval(&run, &open), "inside", "an open end is no bound");
    run.cores_per_executor = 2;
    cr_expect_str_eq(accuracy_interval(&run, &advised), "other", "on other executors");
    run = run_on(RUN_UNKNOWN, 100);
    cr_expect_str_eq(accuracy_interval(&run, &advised), "inside", "on what is not known");
    run.succeeded = false;
    cr_expect_str_eq(accuracy_interval(&run, &advised), "other");
}

Test(track_record, a_run_meets_its_deadline_or_misses_it)
{
    struct accuracy_advised advised = {.executors = 8, .deadline_s = 100};
    struct run run = run_on(8, 100);
    cr_expect_str_eq(accuracy_deadline(&run, &advised), "met");
    run.duration_s = 100.5;
    cr_expect_str_eq(accuracy_deadline(&run, &advised), "missed");
    run.duration_s = (double)NAN;
    cr_expect_null(accuracy_deadline(&run, &advised), "nobody knows when it ended");
    run.succeeded = false;
    cr_expect_str_eq(accuracy_deadline(&run, &advised), "missed");
    advised.deadline_s = (double)NAN;
    cr_expect_null(accuracy_deadline(&run, &advised));
}

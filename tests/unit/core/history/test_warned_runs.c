#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/history/warned_runs.h"

/* Runs with warnings, counted, and what is said of them. */

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 1 << 20);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(warned_runs, .init = setup, .fini = teardown);

/* A run with warnings of these codes, which end with NULL. */
static struct run run_with(int number, const char *const codes[])
{
    struct run run = {.warnings = {.arena = &arena}};
    (void)snprintf(run.id, sizeof run.id, "run-%d", number);
    for (size_t i = 0; codes[i] != NULL; i++)
        cr_assert_not_null(finding_add(&run.warnings, codes[i], "words"));
    return run;
}

static void add(struct warned_runs *counts, int number, const char *a, const char *b)
{
    const char *const codes[] = {a, b, NULL};
    const struct run run = run_with(number, codes);
    warned_runs_add_run(counts, &run);
}

static struct finding said(const struct warned_runs *counts, bool are_newest)
{
    struct findings findings = {.arena = &arena};
    warned_runs_explain(counts, are_newest, &findings);
    cr_assert_eq(findings.n, 1);
    cr_assert_str_eq(findings.items[0].code, "runs_with_warnings");
    return findings.items[0];
}

Test(warned_runs, whole_runs_are_not_mentioned)
{
    struct warned_runs counts = {.runs = 0};
    struct findings findings = {.arena = &arena};
    warned_runs_explain(&counts, false, &findings);
    add(&counts, 1, NULL, NULL);
    add(&counts, 2, "set_by_the_job", "unknown_advice");
    warned_runs_explain(&counts, false, &findings);
    cr_assert_eq(counts.runs, 2);
    cr_assert_eq(counts.warned, 0);
    cr_assert_eq(findings.n, 0);
}

Test(warned_runs, codes_have_their_number_of_runs)
{
    struct warned_runs counts = {.runs = 0};
    add(&counts, 1, NULL, NULL);
    add(&counts, 2, "compacted_log", NULL);
    add(&counts, 3, "lost_events", "set_by_the_job");
    add(&counts, 4, "lost_events", "compacted_log");
    const struct finding finding = said(&counts, false);
    cr_assert_str_eq(finding.message,
                     "3 of the 4 runs behind this are from logs that are not whole (lost_events in "
                     "2, compacted_log in 2; one is run run-2).");
    cr_assert_eq(finding_value(&finding, "runs"), 4);
    cr_assert_eq(finding_value(&finding, "runs_warned"), 3);
    cr_assert_eq(finding_value(&finding, "lost_events"), 2);
    cr_assert_eq(finding_value(&finding, "compacted_log"), 2);
    cr_assert_str_eq(finding.evidence[2].text, "run-2");
}

Test(warned_runs, one_run_and_all_runs)
{
    struct warned_runs counts = {.runs = 0};
    add(&counts, 1, "doubled_events", NULL);
    cr_assert_str_eq(
        said(&counts, false).message,
        "The run behind this is from a log that is not whole (doubled_events; run run-1).");
    cr_assert_str_eq(said(&counts, true).message,
                     "The newest run is from a log that is not whole (doubled_events; run run-1).");
    add(&counts, 2, "doubled_events", NULL);
    cr_assert_str_eq(said(&counts, true).message,
                     "All 2 newest runs are from logs that are not whole (doubled_events; one is "
                     "run run-1).");
}

Test(warned_runs, what_is_no_damage_has_other_words)
{
    struct warned_runs counts = {.runs = 0};
    add(&counts, 1, "executors_lost", "lost_events");
    add(&counts, 2, NULL, NULL);
    cr_assert_str_eq(said(&counts, false).message,
                     "1 of the 2 runs behind this is from a log with warnings that bear on a "
                     "prediction (lost_events, executors_lost; run run-1).");
}

Test(warned_runs, every_code_has_a_bit_of_its_own_and_fits_the_evidence_as_far_as_there_is_room)
{
    uint32_t all = 0;
    for (size_t i = 0; run_warning_kinds[i].code != NULL; i++) {
        const uint32_t bit = run_warning_bit(strview_of(run_warning_kinds[i].code));
        cr_assert_neq(bit, 0);
        cr_assert_eq(all & bit, 0, "%s", run_warning_kinds[i].code);
        all |= bit;
    }
    cr_assert_eq(run_warning_bit(strview_of("no_such_warning")), 0);
    struct warned_runs counts = {.runs = 0};
    warned_runs_add(&counts, all, "");
    const struct finding finding = said(&counts, false);
    cr_assert_eq(finding.n_evidence, FINDING_EVIDENCE_MAX);
    cr_assert_not_null(strstr(finding.message, "master_restarted"));
}

Test(warned_runs, merged_counts_are_those_of_all_runs)
{
    struct warned_runs all = {.runs = 0}, part = {.runs = 0};
    add(&all, 1, NULL, NULL);
    add(&part, 2, "truncated", NULL);
    add(&part, 3, NULL, NULL);
    warned_runs_merge(&all, &part);
    warned_runs_merge(&all, &part);
    cr_assert_eq(all.runs, 5);
    cr_assert_eq(all.warned, 2);
    const struct finding finding = said(&all, false);
    cr_assert_eq(finding_value(&finding, "truncated"), 2);
    cr_assert_str_eq(all.run_id, "run-2");
}

/* Which runs a fit sees, with which weight, which model answers, and what is said where none does.
 */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/history/history_models.h"

enum { ROWS = 60 };

static struct arena arena;
static struct observation rows[ROWS];
static struct run_label pairs[ROWS][2];
static struct run_label_list labels[ROWS];
static struct run_evidence evidence[ROWS];
static struct run_evidence failures[ROWS];
static struct run_observations seen;

static void end(void)
{
    arena_fini(&arena);
}

/*
 * Newest first: `n` runs, every third on the slow machine, the newest on a fast one. `team`
 * explains nothing: it goes with neither size nor machine.
 */
static void make(size_t n, double slow)
{
    struct rng rng = rng_make(5, 0);
    for (size_t i = 0; i < n; i++) {
        bool is_slow = i % 3 == 1;
        double m = (double)(2u << (i / 3 % 4));
        double law = 20 + 400 / m;
        double noise = 1 + 0.01 * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(64, m, law * (is_slow ? slow : 1) * noise, (double)NAN);
        pairs[i][0] =
            (struct run_label){strview_of("machine"), strview_of(is_slow ? "slow" : "fast")};
        pairs[i][1] =
            (struct run_label){strview_of("team"), strview_of(i / 7 % 2 == 0 ? "a" : "b")};
        labels[i] = (struct run_label_list){pairs[i], 2};
        evidence[i] = (struct run_evidence){.instant_us = (int64_t)(1000 - i) * 1000000,
                                            .replayable = true,
                                            .cores_per_executor = 4,
                                            .executors_asked = (double)NAN,
                                            .executors_share = (double)NAN,
                                            .failed_share = (double)NAN};
        (void)snprintf(evidence[i].run_id, sizeof evidence[i].run_id, "run-%zu", i);
    }
    seen = (struct run_observations){.history_version = 7,
                                     .runs = (int64_t)n,
                                     .looked_at = n,
                                     .rows = rows,
                                     .labels = labels,
                                     .evidence = evidence,
                                     .n = n,
                                     .failures = failures};
}

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    make(ROWS, 2);
}

TestSuite(scaling_history, .init = start, .fini = end);

static struct run_label label(const char *key, const char *value)
{
    return (struct run_label){strview_of(key), strview_of(value)};
}

/* --- label groups --- */

Test(scaling_history, the_group_is_that_of_the_latest_run)
{
    struct label_group group;
    cr_assert_eq(label_group_find(&seen, NULL, 0, &arena, &group, NULL), PV_OK);
    cr_assert_eq(group.n_keys, 1);
    cr_expect(strview_is(group.keys[0], "machine"));
    cr_expect(!group.asked && !group.ignored);
    cr_expect_eq(group.groups, 2);
    cr_expect_eq(group.runs, 40);
    for (size_t i = 0; i < ROWS; i++)
        cr_expect_eq(rows[i].context == 1, i % 3 != 1);
}

Test(scaling_history, or_that_of_the_labels_asked_for)
{
    struct label_group group;
    struct pv_error err = {0};
    const struct run_label slow = label("machine", "slow"), none = label("machine", "x");
    cr_assert_eq(label_group_find(&seen, &slow, 1, &arena, &group, &err), PV_OK);
    cr_expect(group.asked);
    cr_expect_eq(group.runs, 20);
    cr_expect_eq(rows[1].context, 1u);
    cr_expect(rows[0].context > 1);
    cr_assert_eq(label_group_find(&seen, &none, 1, &arena, &group, &err), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].code, "not_found");
    cr_expect_str_eq(err.faults[0].at, "label");
}

Test(scaling_history, labels_that_make_no_difference_make_no_group)
{
    struct label_group group;
    make(ROWS, 1);
    cr_assert_eq(label_group_find(&seen, NULL, 0, &arena, &group, NULL), PV_OK);
    cr_expect_eq(group.n_keys, 0);
    for (size_t i = 0; i < ROWS; i++)
        cr_expect_eq(rows[i].context, 0u);
}

/* A label asked for that explains nothing is passed over; one whose value no run has is said. */
Test(scaling_history, of_the_labels_asked_for_only_those_that_explain_choose)
{
    struct label_group group;
    const struct run_label asked[] = {label("machine", "slow"), label("team", "nobody")};
    cr_assert_eq(label_group_of_explaining(&seen, asked, 2, &arena, &group, NULL), PV_OK);
    cr_expect(group.asked && !group.ignored);
    cr_expect_eq(group.runs, 20);
    cr_expect(label_group_has_key(&group, asked[0].key));
    cr_expect(!label_group_has_key(&group, asked[1].key));

    cr_assert_eq(label_group_of_explaining(&seen, &asked[1], 1, &arena, &group, NULL), PV_OK);
    cr_expect(!group.asked, "of the latest run, for nothing that explains was asked for");
    cr_expect_eq(group.runs, 40);

    make(ROWS, 2);
    const struct run_label none = label("machine", "x");
    cr_assert_eq(label_group_of_explaining(&seen, &none, 1, &arena, &group, NULL), PV_OK);
    cr_expect(group.asked && group.ignored);
    cr_expect_eq(group.runs, 0);
    cr_expect(strview_is(run_label_value(group.labels, strview_of("machine")), "x"));
    cr_expect_eq(rows[0].context, 0u);
}

Test(scaling_history, nearest_runs_of_the_group_are_those_that_can_be_replayed)
{
    struct label_group group;
    size_t *near = NULL, n = 0;
    for (size_t i = 0; i < ROWS; i++)
        rows[i].problem_size = i < 30 ? 64 : 32;
    cr_assert_eq(label_group_find(&seen, NULL, 0, &arena, &group, NULL), PV_OK);
    evidence[0].replayable = false;
    cr_assert_eq(label_group_nearest(&group, &seen, 32, 3, &arena, &near, &n, NULL), PV_OK);
    cr_assert_eq(n, 3);
    cr_expect(near[0] == 30 && near[1] == 32 && near[2] == 33, "latest first among equals");
    cr_assert_eq(label_group_nearest(&group, &seen, (double)NAN, 2, &arena, &near, &n, NULL),
                 PV_OK);
    cr_expect(n == 2 && near[0] == 2 && near[1] == 3, "without a size the latest");
    label_group_ignore(&group, &seen);
    cr_assert_eq(label_group_nearest(&group, &seen, 32, 3, &arena, &near, &n, NULL), PV_OK);
    cr_expect_eq(n, 0);
}

Test(scaling_history, a_copy_outlives_the_runs)
{
    struct label_group group, copy;
    struct arena own;
    arena_init(&own, 0);
    cr_assert_eq(label_group_find(&seen, NULL, 0, &arena, &group, NULL), PV_OK);
    cr_assert_eq(label_group_copy(&group, &own, &copy, NULL), PV_OK);
    memset(pairs, 0, sizeof pairs);
    arena_fini(&arena);
    cr_expect(strview_is(copy.keys[0], "machine"));
    cr_expect(strview_is(run_label_value(copy.labels, strview_of("machine")), "fast"));
    cr_expect_eq(copy.labels->n, 1, "only what explains");
    cr_expect_eq(copy.runs, 40);
    arena_fini(&own);
}

/* --- drift --- */

/* Faults and what a fit would see: rows newest first, the watch goes with time. */
Test(scaling_history, a_drift_names_its_runs_and_weighs_the_rest)
{
    struct history_drift found;
    make(ROWS, 1);
    for (size_t i = 0; i < 20; i++)
        rows[i].duration_s *= 1.6;
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_assert_eq(found.drift.drifts, 1);
    cr_expect(found.drift.slower);
    cr_expect_str_eq(found.since->run_id, "run-19");
    cr_expect(found.detected->instant_us > found.since->instant_us);
    cr_expect_eq(found.faded, 40);
    cr_expect(rows[59].weight < 0.01 && rows[0].weight > 0.99);
}

Test(scaling_history, runs_that_count_less_are_listed_with_failures_by_time)
{
    struct history_drift found;
    make(30, 1);
    for (size_t i = 0; i < 30; i++)
        evidence[i].executors_share = 1;
    evidence[4].executors_share = 0.4;
    evidence[9].failed_share = 0.5;
    failures[0] = (struct run_evidence){.run_id = "failed-1", .instant_us = 997 * 1000000LL};
    failures[1] = (struct run_evidence){.run_id = "failed-2", .instant_us = 900 * 1000000LL};
    seen.failed = 2;
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_assert_eq(found.n_down_weighted, 4);
    static const char *const want[][2] = {
        {"failed-1", "failed"}, {"run-4", NULL}, {"run-9", NULL}, {"failed-2", "failed"}};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(found.down_weighted[i].run->run_id, want[i][0]);
        if (want[i][1] != NULL)
            cr_expect_str_eq(found.down_weighted[i].reason, want[i][1]);
    }
    cr_expect_float_eq(found.down_weighted[1].executors_share, 0.4, 1e-12);
    cr_expect_float_eq(found.down_weighted[2].failed_share, 0.5, 1e-12);
    cr_expect_float_eq(rows[4].weight, DRIFT_TROUBLED_WEIGHT, 1e-12);
    cr_expect_float_eq(found.down_weighted[0].weight, 0, 0);
}

/* Fifty are listed, all are counted. */
Test(scaling_history, the_list_ends_and_the_count_does_not)
{
    struct history_drift found;
    make(ROWS, 1);
    for (size_t i = 0; i < ROWS; i++)
        failures[i] = evidence[i];
    seen.failed = ROWS;
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_expect_eq(found.n_down_weighted, HISTORY_DRIFT_LISTED);
    cr_expect_eq(found.down_weighted_in_all, ROWS);
}

/* Executors of other sizes are compared by themselves: half as many cores is no drift. */
Test(scaling_history, other_cores_are_no_drift)
{
    struct history_drift found;
    make(ROWS, 1);
    for (size_t i = 0; i < 20; i++) {
        rows[i].duration_s *= 1.6;
        evidence[i].cores_per_executor = 2;
    }
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_expect_eq(found.drift.drifts, 0);
    cr_expect_null(found.since);
}

/* No two runs of a group on one size and executor count: only a law can be compared with. */
static void make_without_repeats(int64_t cores)
{
    make(ROWS, 1);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] =
            model_seen(64 + (double)i, rows[i].executors,
                       rows[i].duration_s + 6.25 * (double)i / rows[i].executors, (double)NAN);
        evidence[i].cores_per_executor = cores;
    }
}

Test(scaling_history, a_law_is_fitted_to_executors_of_several_cores)
{
    struct history_drift found;
    make_without_repeats(4);
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_expect_eq(found.drift.state, DRIFT_STABLE);
    cr_expect_gt(found.drift.judged, 40);
    rows[20].duration_s *= 4;
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_expect_eq(found.drift.drifts, 0);
    cr_assert_eq(found.n_down_weighted, 1);
    cr_expect_str_eq(found.down_weighted[0].reason, "outlier");
    cr_expect_str_eq(found.down_weighted[0].run->run_id, "run-20");
    rows[20].duration_s /= 4;
    for (size_t i = 0; i < 15; i++)
        rows[i].duration_s *= 2;
    cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
    cr_expect_eq(found.drift.drifts, 1);
    cr_expect_float_eq(found.drift.change_percent, 100, 25);
}

/* The slow machine takes five times as long, which is no error of the law of the fast one. */
Test(scaling_history, each_group_of_labels_has_a_law_of_its_own)
{
    const int64_t cores[2] = {RUN_UNKNOWN, 4};
    struct history_drift found;
    for (size_t c = 0; c < 2; c++) {
        make_without_repeats(cores[c]);
        for (size_t i = 0; i < ROWS; i++) {
            rows[i].context = i % 3 == 1 ? 2 : 1;
            rows[i].duration_s *= i % 3 == 1 ? 5 : 1;
        }
        cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
        cr_expect_eq(found.drift.state, DRIFT_STABLE);
        cr_expect_gt(found.drift.judged, 30);
        cr_expect_eq(found.n_down_weighted, 0, "%zu with %lld cores", found.n_down_weighted,
                     (long long)cores[c]);
        for (size_t i = 0; i < 15; i++)
            rows[i].duration_s *= 2;
        cr_assert_eq(history_drift_find(&seen, &arena, &found, NULL), PV_OK);
        cr_expect_eq(found.drift.drifts, 1);
        cr_expect_eq(rows[1].context, 2u, "fits still see the labels");
    }
}

Test(scaling_history, a_drift_of_a_first_fit_is_reported_only_while_it_lasts)
{
    struct history_drift found = {.drift = {.drifts = 1, .state = DRIFT_SETTLED}};
    cr_expect(!history_drift_is_reported(&found, false));
    cr_expect(history_drift_is_reported(&found, true));
    found.drift.state = DRIFT_PRESENT;
    cr_expect(history_drift_is_reported(&found, false));
    found.drift.drifts = 0;
    cr_expect(!history_drift_is_reported(&found, true));
}

/* --- the models --- */

static struct history_models fit(const struct run_label asked[], size_t n)
{
    struct history_models models;
    struct pv_error err = {0};
    cr_assert_eq(history_models_fit(&seen, asked, n, &arena, &models, &err), PV_OK, "%s",
                 err.detail);
    return models;
}

Test(scaling_history, models_are_fitted_to_the_group)
{
    const struct run_label slow = label("machine", "slow");
    struct history_models fast = fit(NULL, 0);
    cr_assert_not_null(fast.selection.selected);
    cr_expect_null(fast.refusal);
    cr_expect_eq(fast.own.n, 40);
    cr_expect_eq(fast.seen.n, ROWS);
    cr_expect_eq(fast.axes.n_sizes, 1);
    cr_expect_eq(fast.axes.problem_sizes[0], 64);
    cr_assert_eq(fast.axes.n_executors, 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(fast.axes.executors[i], (double)(2u << i));
    cr_expect_float_eq(fast.smallest.executors, 2, 0);
    cr_expect(fast.fitted > 0 && fast.fitted <= fast.selection.n);
    double duration_s = fast.own.rows[0].duration_s;
    struct history_models other = fit(&slow, 1);
    cr_expect_eq(other.own.n, 20);
    cr_expect(other.own.rows[0].duration_s > 1.5 * duration_s);
    cr_expect_str_eq(other.own.evidence[0].run_id, "run-1");
}

/* Where the group's runs are too few for any model, all runs are taken, and that is said. */
Test(scaling_history, a_group_too_small_for_a_model_falls_back_to_all_runs)
{
    for (size_t i = 5; i < ROWS; i++)
        if (i % 3 == 1)
            pairs[i][0] = label("machine", "fast"), rows[i].duration_s /= 2;
    const struct run_label slow = label("machine", "slow");
    struct history_models models = fit(&slow, 1);
    cr_assert_eq(models.group.n_keys, 1);
    cr_expect_eq(models.group.runs, 2);
    cr_expect(models.group.asked && models.group.ignored);
    cr_assert_not_null(models.selection.selected);
    cr_expect_eq(models.own.n, ROWS);
}

Test(scaling_history, a_refusal_counts_what_the_runs_lack)
{
    make(1, 1);
    seen.runs = 9;
    seen.looked_at = 4;
    seen.failed = 2;
    seen.without_executors = 1;
    failures[0] = failures[1] = evidence[0];
    struct history_models models = fit(NULL, 0);
    cr_assert_null(models.selection.selected);
    cr_expect_eq(models.refusal_code, PV_E_TOO_FEW);
    cr_expect_str_eq(models.refusal,
                     "a model needs runs on two executor counts; the only run was on 2 (1 of the "
                     "application's 9 runs can be used, failed 2, without executors 1)");
}

/* --- a machine that does no work --- */

/* Three runs of a law without one, which by themselves show little. */
static void make_few(void)
{
    static const double counts[] = {4, 8, 12};
    make(3, 1);
    for (size_t i = 0; i < 3; i++) {
        rows[i] = model_seen(64, counts[i], 30 + 900 / (counts[i] - 0.5), (double)NAN);
        pairs[i][0] = label("machine", "fast");
    }
}

static double weight_of_idle(const struct history_models *models)
{
    for (size_t k = 0; k < models->selection.n; k++) {
        const struct model_candidate *candidate = &models->selection.candidates[k];
        if (strcmp(candidate->kind->name, "combined") == 0 &&
            candidate->standing != MODEL_NOT_FITTED)
            return candidate->fit.model.tables.components[0].weight;
    }
    return (double)NAN;
}

Test(scaling_history, other_applications_move_the_odds_of_a_history_with_few_runs)
{
    double ratios[30];
    make_few();
    struct history_models alone = fit(NULL, 0);
    cr_expect_float_eq(alone.idle.prior_odds, 2, 1e-12);
    cr_expect_eq(alone.idle.applications, 0);
    for (size_t i = 0; i < 3; i++)
        cr_expect_float_eq(rows[i].idle_learnt, 0, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < 30; i++)
            ratios[i] = 12 * sign;
        make_few();
        seen.idle[false] = (struct idle_ratios){ratios, 30};
        struct history_models other = fit(NULL, 0);
        cr_expect_eq(other.idle.applications, 30);
        double off = log(other.idle.odds / alone.idle.odds);
        cr_expect_float_eq(log(other.idle.prior_odds / 2), off, 1e-9);
        cr_expect_gt(sign * off, 1.5);
        cr_expect_gt(sign * (weight_of_idle(&other) - weight_of_idle(&alone)), 0.1);
        cr_expect_float_eq(other.idle.evidence, alone.idle.evidence, 0,
                           "what is kept for others holds nothing of theirs");
    }
}

Test(scaling_history, applications_that_count_otherwise_are_no_evidence)
{
    double ratios[30];
    for (size_t i = 0; i < 30; i++)
        ratios[i] = 12;
    make_few();
    seen.idle[false] = (struct idle_ratios){ratios, 30};
    for (size_t i = 0; i < 3; i++)
        rows[i].executors_counted = true;
    struct history_models models = fit(NULL, 0);
    cr_expect(models.idle.counted);
    cr_expect_eq(models.idle.applications, 0);
    cr_expect_float_eq(models.idle.prior_odds, 1.0 / 9, 1e-12);
}

/* What is kept is what a fit learns, of all label groups; of runs whose labels were ignored it is
 * nothing. */
Test(scaling_history, evidence_is_that_of_the_runs_of_each_label_group)
{
    make(ROWS, 2);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].duration_s = (i % 3 == 1 ? 2 : 1) * (20 + 400 / (rows[i].executors - 1));
    struct history_models models = fit(NULL, 0);
    cr_assert_eq(models.group.n_keys, 1);
    cr_expect(models.idle.shown);
    cr_expect_gt(models.idle.evidence, 5);
    cr_expect_gt(models.idle.odds, 100);
    for (size_t i = 5; i < ROWS; i++)
        if (i % 3 == 1)
            pairs[i][0] = label("machine", "fast"), rows[i].duration_s /= 2;
    const struct run_label slow = label("machine", "slow");
    models = fit(&slow, 1);
    cr_assert(models.group.ignored);
    cr_expect_not(models.idle.shown);
}

Test(scaling_history, no_run_at_all_is_an_answer)
{
    make(0, 1);
    struct history_models models = fit(NULL, 0);
    cr_expect_null(models.selection.selected);
    cr_expect_eq(models.own.n, 0);
    cr_expect_eq(models.axes.n_sizes, 0);
    cr_expect_eq(models.smallest.problem_size, 0, "of no run");
    cr_expect_eq(models.smallest.executors, 0, "of no run");
    cr_expect_str_eq(
        models.refusal,
        "a model needs runs that succeeded with problem_size, executors and duration_s "
        "(0 of the application's 0 runs can be used)");
}

/* What experiments are drawn from is what a fit sees: the same runs, the same weights. */
Test(scaling_history, the_runs_alone_are_those_of_the_fit)
{
    struct run_observations own;
    rows[6].duration_s *= 3;
    struct history_models models = fit(NULL, 0);
    make(ROWS, 2);
    rows[6].duration_s *= 3;
    cr_assert_eq(history_models_runs(&seen, NULL, 0, &arena, &own, NULL), PV_OK);
    cr_assert_eq(own.n, models.own.n);
    bool lighter = false;
    for (size_t i = 0; i < own.n; i++) {
        cr_expect_float_eq(own.rows[i].weight, models.own.rows[i].weight, 0);
        lighter = lighter || own.rows[i].weight < 0.5;
    }
    cr_expect(lighter, "the outlier counts less");
}

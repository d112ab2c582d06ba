#include "core/scheduling/comparison/policy_explain.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rounding.h"

/* What is found of a few policies with figures by hand: short and long jobs and fairness. */
enum { FIGURES = 3, POLICIES_MAX = 3 };

static const struct policy_figure figures[FIGURES] = {
    {"completion times", "of short jobs", "short_percent", false},
    {"completion times", "of long jobs", "long_percent", false},
    {NULL, "fairness", "fairness_percent", true}};

static const char *const names[POLICIES_MAX] = {"pigeon", "sparrow", "fifo"};

struct found {
    struct arena arena;
    struct strview names[POLICIES_MAX];
    struct policy_choice choice;
    struct policy_results results;
    struct findings reasons;
    struct findings warnings;
};

/* Three policies, the first the best with 2 beside 2.5 and 4. */
static const double values_at[POLICIES_MAX][1] = {{2}, {2.5}, {4}};
static const double slowest[POLICIES_MAX] = {3, 4, 9};
/* The best one is better than the third throughout; beside the second, short jobs are 20 % better,
 * long ones 10 % worse, and fairness is as good as the same. */
static const double at[POLICIES_MAX * FIGURES] = {8, 110, 0.9, 10, 100, 0.905, 20, 125, 0.6};
static struct policy_values values[POLICIES_MAX];

static void begin(struct found *found, size_t n)
{
    arena_init(&found->arena, 0);
    for (size_t p = 0; p < POLICIES_MAX; p++) {
        found->names[p] = strview_of(names[p]);
        values[p] = (struct policy_values){values_at[p], 1};
    }
    found->reasons = (struct findings){.arena = &found->arena};
    found->warnings = (struct findings){.arena = &found->arena};
    found->choice = policy_choose(values, n);
    found->results = (struct policy_results){.names = found->names,
                                             .n = n,
                                             .objective = POLICY_SLOWDOWN_P95,
                                             .of_jobs = "short jobs",
                                             .values = values,
                                             .choice = &found->choice,
                                             .figures = figures,
                                             .n_figures = FIGURES,
                                             .at = at,
                                             .slowest = slowest,
                                             .baseline = SIZE_MAX,
                                             .load = (double)NAN};
}

static void explain(struct found *found)
{
    policy_explain(&found->results, &found->reasons, &found->warnings);
    cr_assert(!found->reasons.failed && !found->warnings.failed);
}

static const struct finding *reason(const struct found *found, const char *code)
{
    const struct finding *finding = finding_find(&found->reasons, code);
    cr_assert_not_null(finding, "%s is missing", code);
    return finding;
}

static const struct finding *warning(const struct found *found, const char *code)
{
    const struct finding *finding = finding_find(&found->warnings, code);
    cr_assert_not_null(finding, "%s is missing", code);
    return finding;
}

static void expect_value(const struct finding *finding, const char *name, double value)
{
    cr_expect(rounding_equal(finding_value(finding, name), value), "%s is %g, not %g", name,
              finding_value(finding, name), value);
}

Test(policy_explain, the_best_beside_the_next_and_what_it_costs)
{
    struct found found;
    begin(&found, 3);
    explain(&found);
    const struct finding *best = reason(&found, "objective");
    cr_expect_str_eq(best->message, "Under pigeon the slowdown of 95 % of the short jobs is at "
                                    "most 2, under sparrow, the next best, 2.5.");
    expect_value(best, "value", 2);
    expect_value(best, "next_value", 2.5);
    expect_value(best, "margin_percent", 20);
    cr_expect(isnan(finding_value(best, "standard_error")), "nothing was repeated");
    const struct finding *worse = reason(&found, "trade_off");
    cr_expect_str_eq(worse->message,
                     "Compared with sparrow, the next best, this is worse: completion times (of "
                     "long jobs +10 %).");
    expect_value(worse, "long_percent", 10);
    cr_expect(isnan(finding_value(worse, "short_percent")));
    cr_expect_eq(found.reasons.n, 2);
    cr_expect_eq(found.warnings.n, 0);
    arena_fini(&found.arena);
}

Test(policy_explain, nothing_is_worse_than_under_the_next_one)
{
    static const double even[POLICIES_MAX * FIGURES] = {8, 100.9, 0.9, 10, 100, 0.905};
    struct found found;
    begin(&found, 2);
    found.results.at = even;
    explain(&found);
    cr_expect_str_eq(reason(&found, "nothing_worse")->message,
                     "Compared with sparrow, the next best, nothing is worse by more than 1 %.");
    arena_fini(&found.arena);
}

Test(policy_explain, less_fairness_is_worse)
{
    static const double unfair[POLICIES_MAX * FIGURES] = {8, 90, 0.45, 10, 100, 0.9};
    struct found found;
    begin(&found, 2);
    found.results.at = unfair;
    explain(&found);
    expect_value(reason(&found, "trade_off"), "fairness_percent", -50);
    arena_fini(&found.arena);
}

Test(policy_explain, the_baseline_is_compared_with)
{
    struct found found;
    begin(&found, 3);
    found.results.baseline = 2;
    explain(&found);
    const struct finding *better = reason(&found, "baseline_improved");
    cr_expect_str_eq(better->message,
                     "Compared with fifo, the baseline: completion times (of short jobs -60 %, of "
                     "long jobs -12 %), fairness (+50 %); nothing is worse by more than 1 %.");
    expect_value(better, "short_percent", -60);
    expect_value(better, "long_percent", -12);
    expect_value(better, "fairness_percent", 50);
    arena_fini(&found.arena);

    begin(&found, 3);
    found.results.baseline = 1;
    explain(&found);
    const struct finding *mixed = reason(&found, "baseline_trade_off");
    cr_expect_str_eq(mixed->message,
                     "Compared with sparrow, the baseline: completion times (of short jobs -20 %, "
                     "of long jobs +10 %); 1 of them is worse by more than 1 %.");
    expect_value(mixed, "worse", 1);
    expect_value(mixed, "fairness_percent", 100 * (0.9 / 0.905 - 1));
    arena_fini(&found.arena);

    begin(&found, 3);
    found.results.baseline = 0;
    explain(&found);
    cr_expect_str_eq(reason(&found, "is_baseline")->message,
                     "It is the baseline: no other policy is better.");
    arena_fini(&found.arena);
}

/* What is better by no more than would count as worse is not named as better. */
Test(policy_explain, improvements_are_as_large_as_what_is_worse)
{
    static const double close[POLICIES_MAX * FIGURES] = {10, 100, 0.9, 10.00003, 100.9, 0.892};
    struct found found;
    begin(&found, 2);
    found.results.at = close;
    found.results.baseline = 1;
    explain(&found);
    const struct finding *similar = reason(&found, "baseline_similar");
    cr_expect_str_eq(similar->message, "Compared with sparrow, the baseline: no figure differs by "
                                       "more than 1 %.");
    expect_value(similar, "short_percent", 100 * (10 / 10.00003 - 1));
    expect_value(similar, "worse", 0);
    cr_expect_null(finding_find(&found.reasons, "baseline_improved"));
    arena_fini(&found.arena);
}

Test(policy_explain, one_alone_and_equal_ones)
{
    static const double same[] = {2};
    struct found found;
    begin(&found, 1);
    found.results.objective = POLICY_MAKESPAN;
    explain(&found);
    cr_expect_str_eq(reason(&found, "only_policy")->message,
                     "Only pigeon was simulated; under it the makespan is 2 s.");
    cr_expect_eq(found.reasons.n, 1);
    arena_fini(&found.arena);

    begin(&found, 2);
    values[1] = (struct policy_values){same, 1};
    found.choice = policy_choose(values, 2);
    explain(&found);
    expect_value(reason(&found, "equal"), "margin_percent", 0);
    arena_fini(&found.arena);
}

Test(policy_explain, the_masters_of_the_best)
{
    struct found found;
    begin(&found, 2);
    found.results.masters = (struct policy_masters){.n = 4,
                                                    .messages_per_s = 1234.5,
                                                    .peak_messages_per_s = 5000,
                                                    .reserved = 8,
                                                    .reserved_utilization = 0.0125};
    explain(&found);
    const struct finding *load = reason(&found, "masters_load");
    expect_value(load, "masters", 4);
    expect_value(load, "messages_per_s", 1234.5);
    expect_value(load, "peak_messages_per_s", 5000);
    const struct finding *idle = warning(&found, "reserved_idle");
    cr_expect_str_eq(idle->message, "8 workers are reserved for short jobs and work 1.2 % of the "
                                    "time: a smaller `reserved_share` leaves long jobs more.");
    expect_value(idle, "reserved_workers", 8);
    arena_fini(&found.arena);

    begin(&found, 2);
    found.results.masters =
        (struct policy_masters){.n = 4, .reserved = 4, .reserved_utilization = 0.0125};
    explain(&found);
    cr_expect_str_eq(
        warning(&found, "reserved_idle")->message,
        "4 workers are reserved for short jobs and work 1.2 % of the time: each group has one at "
        "least, so that fewer `groups`, not a smaller `reserved_share`, leave long jobs more.");
    arena_fini(&found.arena);

    begin(&found, 2);
    found.results.masters =
        (struct policy_masters){.n = 1, .reserved = 1, .reserved_utilization = 0};
    explain(&found);
    cr_expect_str_eq(warning(&found, "reserved_idle")->message,
                     "1 worker is reserved for short jobs and works 0 % of the time: it is one at "
                     "least, so that only a `reserved_share` of 0 leaves long jobs more.");
    arena_fini(&found.arena);

    begin(&found, 2);
    found.results.masters =
        (struct policy_masters){.n = 1, .reserved = 1, .reserved_utilization = 0.05};
    explain(&found);
    cr_expect_null(finding_find(&found.warnings, "reserved_idle"), "they work enough");
    arena_fini(&found.arena);
}

/* Differences 4, -2, 3, -1: mean 1, variance 26/3, standard error sqrt(26/12). More than twice the
 * error takes n > 4 x 26/3, 34.67. */
Test(policy_explain, how_many_repetitions_settle_a_difference)
{
    static const double one[] = {10, 20, 30, 40};
    static const double other[] = {14, 18, 33, 39};
    struct found found;
    begin(&found, 2);
    values[0] = (struct policy_values){one, 4};
    values[1] = (struct policy_values){other, 4};
    found.choice = policy_choose(values, 2);
    explain(&found);
    const struct finding *noise = warning(&found, "within_noise");
    expect_value(noise, "difference", 1);
    expect_value(noise, "standard_error", sqrt(26.0 / 12));
    expect_value(noise, "repetitions", 4);
    expect_value(noise, "repetitions_needed", 35);
    expect_value(reason(&found, "objective"), "standard_error", sqrt(26.0 / 12));
    arena_fini(&found.arena);
}

Test(policy_explain, a_difference_that_cannot_be_settled)
{
    static const double one[] = {10, 20};
    static const double other[] = {11, 19.0001};
    struct found found;
    begin(&found, 2);
    values[0] = (struct policy_values){one, 2};
    values[1] = (struct policy_values){other, 2};
    found.choice = policy_choose(values, 2);
    explain(&found);
    cr_expect(isnan(finding_value(warning(&found, "within_noise"), "repetitions_needed")));
    arena_fini(&found.arena);
}

Test(policy_explain, loads_that_say_little)
{
    static const double alone[POLICIES_MAX] = {1, 1.01, 1};
    static const double waits[POLICIES_MAX] = {1, 1.02, 1};
    struct found found;
    begin(&found, 3);
    found.results.load = 1;
    found.results.slowest = alone;
    explain(&found);
    expect_value(warning(&found, "overload"), "load", 1);
    expect_value(warning(&found, "nothing_waits"), "slowdown_p99", 1.01);
    arena_fini(&found.arena);

    begin(&found, 3);
    found.results.load = 0.999;
    found.results.slowest = waits;
    explain(&found);
    cr_expect_eq(found.warnings.n, 0);
    arena_fini(&found.arena);
}

Test(policy_explain, one_repetition_and_usual_terms)
{
    struct found found;
    begin(&found, 2);
    found.results.drawn_once = true;
    strcpy(found.results.defaults, "weight is 20");
    explain(&found);
    cr_expect_not_null(warning(&found, "one_repetition"));
    cr_expect_str_eq(warning(&found, "default_terms")->message,
                     "Of pigeon, weight is 20 as by default. What suits best differs from trace to "
                     "trace: other values may do better here.");
    arena_fini(&found.arena);
}

Test(policy_explain, the_objective_beside_a_baseline_that_is_not_next)
{
    struct found found;
    begin(&found, 3);
    found.results.baseline = 2;
    explain(&found);
    const struct finding *gain = reason(&found, "baseline_objective");
    cr_expect_eq(gain, &found.reasons.items[1], "the objective itself is first");
    cr_expect_str_eq(gain->message,
                     "Under pigeon the slowdown of 95 % of the short jobs is at most "
                     "2, under fifo, the baseline, 4 (-50 %).");
    expect_value(gain, "value", 2);
    expect_value(gain, "baseline_value", 4);
    expect_value(gain, "change_percent", -50);
    arena_fini(&found.arena);

    for (size_t baseline = 0; baseline < 2; baseline++) {
        begin(&found, 3);
        found.results.baseline = baseline;
        explain(&found);
        cr_expect_null(finding_find(&found.reasons, "baseline_objective"),
                       "it is best, or the sentence of the objective says it");
        arena_fini(&found.arena);
    }
}

enum { COSTS = 2 };

static const struct policy_cost costs[COSTS] = {
    {"the mean completion time of long jobs", " s", "long_mean_percent"},
    {"the makespan", " s", "makespan_percent"}};

Test(policy_explain, what_others_pay)
{
    static const double paid[POLICIES_MAX * COSTS] = {695, 1000, 500, 800, 277, 990};
    struct found found;
    begin(&found, 3);
    found.results.costs = costs;
    found.results.n_costs = COSTS;
    found.results.costs_at = paid;
    found.results.baseline = 2;
    explain(&found);
    const struct finding *worse = warning(&found, "worse_for_others");
    cr_expect_str_eq(worse->message,
                     "It costs other jobs more than 25 %: the mean completion time of long jobs is "
                     "695 s, under fifo 277 s (+151 %). If they matter as well, another policy, "
                     "other terms or another `objective` may suit better.");
    expect_value(worse, "long_mean_percent", 100 * (695.0 / 277 - 1));
    cr_expect(isnan(finding_value(worse, "makespan_percent")), "1 % more is no price");
    arena_fini(&found.arena);
}

/* The makespan is 25 % above the least: not more than that. */
Test(policy_explain, without_a_baseline_the_cheapest_is_compared_with)
{
    static const double paid[POLICIES_MAX * COSTS] = {600, 1000, 300, 800, (double)NAN, 990};
    struct found found;
    begin(&found, 3);
    found.results.costs = costs;
    found.results.n_costs = COSTS;
    found.results.costs_at = paid;
    explain(&found);
    const struct finding *worse = warning(&found, "worse_for_others");
    expect_value(worse, "long_mean_percent", 100);
    cr_expect(isnan(finding_value(worse, "makespan_percent")));
    cr_expect_not_null(strstr(worse->message, "under sparrow 300 s"));
    arena_fini(&found.arena);

    begin(&found, 3);
    found.results.costs = costs;
    found.results.n_costs = COSTS;
    found.results.costs_at = paid;
    found.results.baseline = 0;
    explain(&found);
    cr_expect_null(finding_find(&found.warnings, "worse_for_others"), "nothing changes");
    arena_fini(&found.arena);
}

static const struct policy_search_found sure = {.error_chance = 0.01, .loss = 0.02};
static const struct policy_search_found unsure = {
    .error_chance = 0.3, .loss = 0.02, .cut_short = true};
static const struct policy_search_found unknown = {
    .error_chance = (double)NAN, .loss = (double)NAN, .cut_short = true};

Test(policy_explain, what_was_found_is_described)
{
    struct policy_searched searched = policy_searched_begin("pigeon", &sure, 0.05);
    policy_searched_add(&searched, &(struct policy_searched_term){"groups", 2, 1, 4, 1, 8, false});
    policy_searched_add(&searched, &(struct policy_searched_term){"weight", HUGE_VAL, 10, HUGE_VAL,
                                                                  1, HUGE_VAL, false});
    cr_expect_str_eq(searched.terms, "pigeon, groups 2, weight infinite");
    struct found found;
    begin(&found, 2);
    found.results.searched = &searched;
    explain(&found);
    cr_expect_str_eq(reason(&found, "objective")->message,
                     "Under pigeon the slowdown of 95 % of the short jobs is at most 2, under "
                     "sparrow (pigeon, groups 2, weight infinite), the next best, 2.5.");
    cr_expect_eq(found.warnings.n, 0);
    arena_fini(&found.arena);
}

Test(policy_explain, values_at_an_edge_of_what_was_tried)
{
    static const struct policy_searched_term terms[] = {
        {"groups", 8, 1, 8, 1, 8, false}, /* as many as there can be */
        {"reserved_share", 0.3, 0.01, 0.3, 0, 0.5, false},
        {"weight", 10, 10, HUGE_VAL, 1, HUGE_VAL, false},
        {"probes_per_task", 2, 2, 2, 1, HUGE_VAL, false}}; /* the only one */
    struct policy_searched searched = policy_searched_begin("pigeon", &sure, 0.05);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        policy_searched_add(&searched, &terms[i]);
    struct found found;
    begin(&found, 2);
    found.results.searched = &searched;
    explain(&found);
    cr_assert_eq(found.warnings.n, 2);
    cr_expect_str_eq(found.warnings.items[0].code, "at_edge_of_values");
    cr_expect_str_eq(found.warnings.items[0].message,
                     "`reserved_share` 0.3 of sparrow is the largest value that was tried: larger "
                     "ones may do better. List them as `reserved_share` of the policy in "
                     "`search.policies`.");
    cr_expect_str_eq(
        found.warnings.items[1].message,
        "`weight` 10 of sparrow is the smallest value that was tried: smaller ones may "
        "do better. List them as `weight` of the policy in `search.policies`.");
    arena_fini(&found.arena);
}

Test(policy_explain, a_search_that_was_cut_short)
{
    struct policy_searched searched = policy_searched_begin("pigeon", &unsure, 0.05);
    struct found found;
    begin(&found, 2);
    found.results.searched = &searched;
    explain(&found);
    const struct finding *cut = warning(&found, "search_cut_short");
    cr_expect_str_eq(
        cut->message,
        "The search ended before it was as sure as asked for: the chance that another "
        "candidate is better is at most 0.3, and by no more than 2 %, with a chance of "
        "error of 0.05. A larger `search.task_runs` makes it surer.");
    expect_value(cut, "error_chance", 0.3);
    expect_value(cut, "loss_percent_max", 2);
    arena_fini(&found.arena);

    searched = policy_searched_begin("pigeon", &unknown, 0.05);
    begin(&found, 2);
    found.results.searched = &searched;
    explain(&found);
    cut = warning(&found, "search_cut_short");
    cr_expect_str_eq(
        cut->message,
        "The search ended before it was as sure as asked for: nothing bounds the chance "
        "that another candidate is better. A larger `search.task_runs` makes it surer.");
    cr_expect_eq(cut->n_evidence, 0);
    arena_fini(&found.arena);
}

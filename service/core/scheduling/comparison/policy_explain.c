#include "core/scheduling/comparison/policy_explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scheduling/comparison/policy_explain_internal.h"

enum { NAME_SHOWN = 100 };

/* Changes of no more percent are not worth a word. */
#define NOTICEABLE_PERCENT 1.0

void policy_text_add(struct policy_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->at + text->n, sizeof text->at - text->n, format, args);
    va_end(args);
    if (n > 0)
        text->n = text->n + (size_t)n < sizeof text->at ? text->n + (size_t)n : sizeof text->at - 1;
}

const char *
policy_name_of(const struct policy_results *of, size_t policy, struct findings *findings)
{
    struct strview name = strview_clip(of->names[policy], NAME_SHOWN);
    const char *copy = arena_printf(findings->arena, "%.*s", (int)name.n, name.at);
    findings->failed = findings->failed || copy == NULL;
    return copy != NULL ? copy : "";
}

/* --- the choice --- */

void policy_add_objective(const struct policy_results *of, struct policy_text *text)
{
    static const char *const percents[] = {[POLICY_SLOWDOWN_P50] = "50",
                                           [POLICY_SLOWDOWN_P90] = "90",
                                           [POLICY_SLOWDOWN_P95] = "95",
                                           [POLICY_SLOWDOWN_P99] = "99"};
    if (of->objective == POLICY_MAKESPAN)
        policy_text_add(text, "the makespan is");
    else if (of->objective == POLICY_VARIABILITY)
        policy_text_add(text, "the 95th percentile of the slowdowns of %s over their median is",
                        of->of_jobs);
    else
        policy_text_add(text, "the slowdown of %s %% of the %s is at most", percents[of->objective],
                        of->of_jobs);
}

static const char *unit_of(const struct policy_results *of)
{
    return of->objective == POLICY_MAKESPAN ? " s" : "";
}

/* Its name, and of the one that a search has found, what it is. */
static void
describe_policy(const struct policy_results *of, size_t policy, struct policy_text *text)
{
    struct strview name = strview_clip(of->names[policy], NAME_SHOWN);
    policy_text_add(text, "%.*s", (int)name.n, name.at);
    if (of->searched != NULL && policy + 1 == of->n)
        policy_text_add(text, " (%s)", of->searched->terms);
}

const char *policy_describe_choice(const struct policy_results *of, struct arena *arena)
{
    const struct policy_choice *choice = of->choice;
    const char *unit = unit_of(of);
    struct policy_text best = {.n = 0};
    struct policy_text next = {.n = 0};
    struct policy_text what = {.n = 0};
    describe_policy(of, choice->best, &best);
    policy_add_objective(of, &what);
    if (choice->next == SIZE_MAX)
        return arena_printf(arena, "Only %s was simulated; under it %s %s%s.", best.at, what.at,
                            quantity_number(choice->value).text, unit);
    describe_policy(of, choice->next, &next);
    if (choice->equal)
        return arena_printf(arena, "Under %s and %s alike, %s %s%s; the first one is named.",
                            best.at, next.at, what.at, quantity_number(choice->value).text, unit);
    return arena_printf(arena, "Under %s %s %s%s, under %s, the next best, %s%s%s.", best.at,
                        what.at, quantity_number(choice->value).text, unit, next.at,
                        quantity_number(choice->other).text, unit,
                        choice->clear ? ""
                                      : "; the paired difference is less than twice its standard "
                                        "error, so more repetitions may select another policy");
}

static double mean_of(const struct policy_values *values)
{
    struct running_moments moments = {0};
    for (size_t r = 0; r < values->n; r++)
        running_moments_add(&moments, values->at[r]);
    return moments.mean;
}

/* Where the sentence about the next policy does not say it. */
static void explain_gain(const struct policy_results *of, struct findings *reasons)
{
    const struct policy_choice *choice = of->choice;
    size_t baseline = of->baseline;
    if (baseline == SIZE_MAX || baseline == choice->best || baseline == choice->next)
        return;
    struct policy_text best = {.n = 0};
    struct policy_text what = {.n = 0};
    describe_policy(of, choice->best, &best);
    policy_add_objective(of, &what);
    const char *name = policy_name_of(of, baseline, reasons);
    double value = mean_of(&of->values[baseline]);
    double change = 100 * (choice->value / value - 1);
    struct finding *finding = finding_add(
        reasons, "baseline_objective", "Under %s %s %s%s, under %s, the baseline, %s%s (%s).",
        best.at, what.at, quantity_number(choice->value).text, unit_of(of), name,
        quantity_number(value).text, unit_of(of), quantity_change(change).text);
    finding_text(finding, "policy", name);
    finding_number(finding, "value", choice->value);
    finding_number(finding, "baseline_value", value);
    finding_number(finding, "change_percent", change);
}

static void explain_objective(const struct policy_results *of, struct findings *reasons)
{
    const struct policy_choice *choice = of->choice;
    bool alone = choice->next == SIZE_MAX;
    const char *text = policy_describe_choice(of, reasons->arena);
    reasons->failed = reasons->failed || text == NULL;
    if (text == NULL)
        return;
    struct finding *finding = finding_add(
        reasons, alone ? "only_policy" : (choice->equal ? "equal" : "objective"), "%s", text);
    finding_number(finding, "value", choice->value);
    if (alone)
        return;
    struct running_moments difference =
        policy_difference(&of->values[choice->best], &of->values[choice->next]);
    finding_text(finding, "next", policy_name_of(of, choice->next, reasons));
    finding_number(finding, "next_value", choice->other);
    finding_number(finding, "margin_percent", 100 * choice->margin);
    finding_number(finding, "standard_error", running_moments_standard_error(&difference));
}

/* --- what gets better and worse --- */

/* In percent of what it is under the other policy; NAN where it is not known. */
static double change_of(const struct policy_results *of, size_t figure, size_t other)
{
    double here = of->at[of->choice->best * of->n_figures + figure];
    double there = of->at[other * of->n_figures + figure];
    return there > 0 ? 100 * (here / there - 1) : (double)NAN;
}

static bool is_worse(const struct policy_figure *figure, double change_percent)
{
    return (figure->more_is_better ? -change_percent : change_percent) > NOTICEABLE_PERCENT;
}

/* A figure more; *group is what those before it were of, whose list is still open. */
static void add_change(const struct policy_figure *figure,
                       double change,
                       const char **group,
                       struct policy_text *text)
{
    bool goes_on = *group != NULL && figure->of != NULL && strcmp(*group, figure->of) == 0;
    const char *between = text->n == 0 ? "" : (*group != NULL && !goes_on ? "), " : ", ");
    *group = figure->of;
    if (figure->of == NULL)
        policy_text_add(text, "%s%s (%s)", between, figure->label, quantity_change(change).text);
    else if (goes_on)
        policy_text_add(text, "%s%s %s", between, figure->label, quantity_change(change).text);
    else
        policy_text_add(text, "%s%s (%s %s", between, figure->of, figure->label,
                        quantity_change(change).text);
}

/* The figures that change noticeably, the worse ones alone or all, and how many are worse. */
static size_t list_changes(const struct policy_results *of,
                           size_t other,
                           bool worse_alone,
                           struct policy_text *text)
{
    size_t worse = 0;
    const char *group = NULL;
    for (size_t i = 0; i < of->n_figures; i++) {
        double change = change_of(of, i, other);
        bool is = is_worse(&of->figures[i], change);
        worse += is;
        if (is || (!worse_alone && fabs(change) > NOTICEABLE_PERCENT))
            add_change(&of->figures[i], change, &group, text);
    }
    if (group != NULL)
        policy_text_add(text, ")");
    return worse;
}

static void add_changes(const struct policy_results *of,
                        size_t other,
                        bool worse_alone,
                        struct finding *finding)
{
    for (size_t i = 0; i < of->n_figures; i++) {
        double change = change_of(of, i, other);
        if (!worse_alone || is_worse(&of->figures[i], change))
            finding_number(finding, of->figures[i].evidence, change);
    }
}

static void explain_trade_off(const struct policy_results *of, struct findings *reasons)
{
    size_t next = of->choice->next;
    struct policy_text text = {.n = 0};
    if (next == SIZE_MAX)
        return;
    const char *name = policy_name_of(of, next, reasons);
    size_t worse = list_changes(of, next, true, &text);
    struct finding *finding =
        worse > 0
            ? finding_add(reasons, "trade_off", "Compared with %s, the next best, %s worse: %s.",
                          name, PLURAL_VERB(worse, "this is", "these are"), text.at)
            : finding_add(reasons, "nothing_worse",
                          "Compared with %s, the next best, nothing is worse by more than "
                          "%s.",
                          name, quantity_percent(NOTICEABLE_PERCENT).text);
    finding_text(finding, "policy", name);
    add_changes(of, next, true, finding);
}

static void explain_baseline(const struct policy_results *of, struct findings *reasons)
{
    struct policy_text text = {.n = 0};
    if (of->baseline == SIZE_MAX)
        return;
    const char *name = policy_name_of(of, of->baseline, reasons);
    if (of->baseline == of->choice->best) {
        finding_text(
            finding_add(reasons, "is_baseline", "It is the baseline: no other policy is better."),
            "policy", name);
        return;
    }
    size_t worse = list_changes(of, of->baseline, false, &text);
    bool similar = text.n == 0;
    if (similar)
        policy_text_add(&text, "no figure differs by more than %s",
                        quantity_percent(NOTICEABLE_PERCENT).text);
    else if (worse == 0)
        policy_text_add(&text, "; nothing is worse by more than %s",
                        quantity_percent(NOTICEABLE_PERCENT).text);
    else
        policy_text_add(&text, "; %zu of them %s worse by more than %s", worse,
                        PLURAL_VERB(worse, "is", "are"), quantity_percent(NOTICEABLE_PERCENT).text);
    struct finding *finding = finding_add(reasons,
                                          similar     ? "baseline_similar"
                                          : worse > 0 ? "baseline_trade_off"
                                                      : "baseline_improved",
                                          "Compared with %s, the baseline: %s.", name, text.at);
    finding_text(finding, "policy", name);
    finding_number(finding, "worse", (double)worse);
    add_changes(of, of->baseline, false, finding);
}

/* --- masters --- */

static void explain_masters(const struct policy_results *of, struct findings *reasons)
{
    const struct policy_masters *masters = &of->masters;
    if (masters->n == 0)
        return;
    struct finding *finding =
        finding_add(reasons, "masters_load",
                    "Messages of the busiest of its %zu master%s: %s a "
                    "second on average, at most %s in one "
                    "second; with more groups each master has fewer.",
                    masters->n, PLURAL(masters->n), quantity_number(masters->messages_per_s).text,
                    quantity_number(masters->peak_messages_per_s).text);
    finding_number(finding, "masters", (double)masters->n);
    finding_number(finding, "messages_per_s", masters->messages_per_s);
    finding_number(finding, "peak_messages_per_s", masters->peak_messages_per_s);
}

void policy_explain(const struct policy_results *of,
                    struct findings *reasons,
                    struct findings *warnings)
{
    explain_objective(of, reasons);
    explain_gain(of, reasons);
    explain_trade_off(of, reasons);
    explain_baseline(of, reasons);
    explain_masters(of, reasons);
    policy_warn(of, warnings);
}

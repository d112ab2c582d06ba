#include "core/scheduling/comparison/policy_explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

enum { NAME_SHOWN = 100, TEXT_MAX = 1536 };

/* Changes of no more percent are not worth a word. */
#define NOTICEABLE_PERCENT 1.0
/* Slowdowns of jobs that are as good as alone. */
#define ALONE 1.01
/* Workers that work a smaller share of the time are idle. */
#define IDLE 0.05
/* More repetitions than anybody would ask for. */
#define REPETITIONS_MAX 1e6

/* A sentence that is put together piece by piece; what is beyond the room is cut off. */
struct text {
    char at[TEXT_MAX];
    size_t n;
};

static void PV_PRINTF(2, 3) text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->at + text->n, sizeof text->at - text->n, format, args);
    va_end(args);
    if (n > 0)
        text->n = text->n + (size_t)n < sizeof text->at ? text->n + (size_t)n : sizeof text->at - 1;
}

static const char *
name_of(const struct policy_results *of, size_t policy, struct findings *findings)
{
    struct strview name = strview_clip(of->names[policy], NAME_SHOWN);
    const char *copy = arena_printf(findings->arena, "%.*s", (int)name.n, name.at);
    findings->failed = findings->failed || copy == NULL;
    return copy != NULL ? copy : "";
}

/* --- the choice --- */

/* "the slowdown of 95 % of the short jobs is at most 2.4" without the figure. */
static void describe_objective(const struct policy_results *of, struct text *text)
{
    static const char *const percents[] = {[POLICY_SLOWDOWN_P50] = "50",
                                           [POLICY_SLOWDOWN_P90] = "90",
                                           [POLICY_SLOWDOWN_P95] = "95",
                                           [POLICY_SLOWDOWN_P99] = "99"};
    if (of->objective == POLICY_MAKESPAN)
        text_add(text, "the makespan is");
    else if (of->objective == POLICY_VARIABILITY)
        text_add(text, "the 95th percentile of the slowdowns of %s over their median is",
                 of->of_jobs);
    else
        text_add(text, "the slowdown of %s %% of the %s is at most", percents[of->objective],
                 of->of_jobs);
}

const char *policy_describe_choice(const struct policy_results *of, struct arena *arena)
{
    const struct policy_choice *choice = of->choice;
    const char *unit = of->objective == POLICY_MAKESPAN ? " s" : "";
    struct strview best = strview_clip(of->names[choice->best], NAME_SHOWN);
    struct text what = {.n = 0};
    describe_objective(of, &what);
    if (choice->next == SIZE_MAX)
        return arena_printf(arena, "Only %.*s was simulated; under it %s %.6g%s.", (int)best.n,
                            best.at, what.at, choice->value, unit);
    struct strview next = strview_clip(of->names[choice->next], NAME_SHOWN);
    if (choice->equal)
        return arena_printf(arena, "Under %.*s and %.*s alike, %s %.6g%s; the first one is named.",
                            (int)best.n, best.at, (int)next.n, next.at, what.at, choice->value,
                            unit);
    return arena_printf(arena, "Under %.*s %s %.6g%s, under %.*s, the next best, %.6g%s%s.",
                        (int)best.n, best.at, what.at, choice->value, unit, (int)next.n, next.at,
                        choice->other, unit,
                        choice->clear ? ""
                                      : "; the paired difference is less than twice its standard "
                                        "error, so more repetitions may select another policy");
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
    finding_text(finding, "next", name_of(of, choice->next, reasons));
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
static void
add_change(const struct policy_figure *figure, double change, const char **group, struct text *text)
{
    bool goes_on = *group != NULL && figure->of != NULL && strcmp(*group, figure->of) == 0;
    const char *between = text->n == 0 ? "" : (*group != NULL && !goes_on ? "), " : ", ");
    *group = figure->of;
    if (figure->of == NULL)
        text_add(text, "%s%s (%+.3g %%)", between, figure->label, change);
    else if (goes_on)
        text_add(text, "%s%s %+.3g %%", between, figure->label, change);
    else
        text_add(text, "%s%s (%s %+.3g %%", between, figure->of, figure->label, change);
}

/* The figures that change noticeably, the worse ones alone or all, and how many are worse. */
static size_t
list_changes(const struct policy_results *of, size_t other, bool worse_alone, struct text *text)
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
        text_add(text, ")");
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
    struct text text = {.n = 0};
    if (next == SIZE_MAX)
        return;
    const char *name = name_of(of, next, reasons);
    size_t worse = list_changes(of, next, true, &text);
    struct finding *finding =
        worse > 0
            ? finding_add(reasons, "trade_off", "Compared with %s, the next best, %s worse: %s.",
                          name, PLURAL_VERB(worse, "this is", "these are"), text.at)
            : finding_add(reasons, "nothing_worse",
                          "Compared with %s, the next best, nothing is worse by more than "
                          "%.3g %%.",
                          name, NOTICEABLE_PERCENT);
    finding_text(finding, "policy", name);
    add_changes(of, next, true, finding);
}

static void explain_baseline(const struct policy_results *of, struct findings *reasons)
{
    struct text text = {.n = 0};
    if (of->baseline == SIZE_MAX)
        return;
    const char *name = name_of(of, of->baseline, reasons);
    if (of->baseline == of->choice->best) {
        finding_text(finding_add(reasons, "is_baseline",
                                 "It is the baseline: none of the others is better."),
                     "policy", name);
        return;
    }
    size_t worse = list_changes(of, of->baseline, false, &text);
    bool similar = text.n == 0;
    if (similar)
        text_add(&text, "no figure differs by more than %.3g %%", NOTICEABLE_PERCENT);
    else if (worse == 0)
        text_add(&text, "; nothing is worse by more than %.3g %%", NOTICEABLE_PERCENT);
    else
        text_add(&text, "; %zu of them %s worse by more than %.3g %%", worse,
                 PLURAL_VERB(worse, "is", "are"), NOTICEABLE_PERCENT);
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
    struct finding *finding = finding_add(reasons, "masters_load",
                                          "Messages of the busiest of its %zu master%s: %.3g a "
                                          "second on average, at most %.6g in one "
                                          "second; with more groups each master has fewer.",
                                          masters->n, PLURAL(masters->n), masters->messages_per_s,
                                          masters->peak_messages_per_s);
    finding_number(finding, "masters", (double)masters->n);
    finding_number(finding, "messages_per_s", masters->messages_per_s);
    finding_number(finding, "peak_messages_per_s", masters->peak_messages_per_s);
}

/* --- what to be careful about --- */

static void warn_overload(const struct policy_results *of, struct findings *warnings)
{
    if (!(of->load >= 1))
        return;
    finding_number(finding_add(warnings, "overload",
                               "At load %.6g waiting times grow until the last job has arrived: "
                               "with more jobs another policy may be best.",
                               of->load),
                   "load", of->load);
}

static void warn_nothing_waits(const struct policy_results *of, struct findings *warnings)
{
    double slowest = 0;
    for (size_t p = 0; p < of->n; p++)
        slowest = fmax(slowest, of->slowest[p]);
    if (of->n < 2 || !(slowest <= ALONE))
        return;
    struct finding *finding =
        finding_add(warnings, "nothing_waits",
                    "Hardly any job waits: under every policy the slowdown of 99 %% of the jobs is "
                    "at most %.6g. The choice matters at higher loads.",
                    slowest);
    finding_number(finding, "slowdown_p99", slowest);
}

/* Clear is a mean of more than twice the standard error, which falls with the root of n. */
static double repetitions_needed(const struct running_moments *difference)
{
    double ratio = 2 * running_moments_standard_error(difference) / difference->mean;
    return floor(difference->n * ratio * ratio) + 1;
}

static void warn_noise(const struct policy_results *of, struct findings *warnings)
{
    const struct policy_choice *choice = of->choice;
    if (choice->next == SIZE_MAX || choice->clear)
        return;
    struct running_moments difference =
        policy_difference(&of->values[choice->best], &of->values[choice->next]);
    double needed = repetitions_needed(&difference);
    const char *next = name_of(of, choice->next, warnings);
    struct finding *finding =
        needed <= REPETITIONS_MAX
            ? finding_add(warnings, "within_noise",
                          "The difference to %s may be chance. If it and its scatter stay as they "
                          "are, `repetitions` of %.0f settle it.",
                          next, needed)
            : finding_add(warnings, "within_noise",
                          "The difference to %s may be chance, and is so small that no number of "
                          "repetitions that can be afforded settles it.",
                          next);
    finding_text(finding, "next", next);
    finding_number(finding, "difference", difference.mean);
    finding_number(finding, "standard_error", running_moments_standard_error(&difference));
    finding_number(finding, "repetitions", difference.n);
    finding_number(finding, "repetitions_needed", needed <= REPETITIONS_MAX ? needed : (double)NAN);
}

static void warn_one_repetition(const struct policy_results *of, struct findings *warnings)
{
    if (of->drawn_once && of->choice->next != SIZE_MAX && !of->choice->equal)
        finding_number(
            finding_add(warnings, "one_repetition",
                        "A single repetition does not show how far figures depend on what was "
                        "drawn: with `repetitions` of %d or more the difference has an error.",
                        5),
            "repetitions", 1);
}

static void warn_reserved(const struct policy_results *of, struct findings *warnings)
{
    const struct policy_masters *masters = &of->masters;
    if (masters->reserved == 0 || !(masters->reserved_utilization < IDLE))
        return;
    struct finding *finding = finding_add(
        warnings, "reserved_idle",
        "%zu worker%s %s reserved for short jobs and %s %.3g %% of the time: a smaller "
        "`reserved_share` leaves long jobs more.",
        masters->reserved, PLURAL(masters->reserved), PLURAL_VERB(masters->reserved, "is", "are"),
        PLURAL_VERB(masters->reserved, "works", "work"), 100 * masters->reserved_utilization);
    finding_number(finding, "reserved_workers", (double)masters->reserved);
    finding_number(finding, "reserved_utilization", masters->reserved_utilization);
}

static void warn_defaults(const struct policy_results *of, struct findings *warnings)
{
    if (of->defaults[0] == '\0')
        return;
    const char *name = name_of(of, of->choice->best, warnings);
    struct finding *finding =
        finding_add(warnings, "default_terms",
                    "Of %s, %s as by default. What suits best differs from trace to trace: other "
                    "values may do better here.",
                    name, of->defaults);
    finding_text(finding, "policy", name);
    finding_text(finding, "terms", of->defaults);
}

void policy_explain(const struct policy_results *of,
                    struct findings *reasons,
                    struct findings *warnings)
{
    explain_objective(of, reasons);
    explain_trade_off(of, reasons);
    explain_baseline(of, reasons);
    explain_masters(of, reasons);
    warn_overload(of, warnings);
    warn_nothing_waits(of, warnings);
    warn_noise(of, warnings);
    warn_one_repetition(of, warnings);
    warn_reserved(of, warnings);
    warn_defaults(of, warnings);
}

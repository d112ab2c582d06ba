/* What to be careful about when a policy is recommended. */
#include <math.h>
#include <stdint.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scheduling/comparison/policy_explain_internal.h"

/* Slowdowns of jobs that are as good as alone. */
#define ALONE 1.01
/* Workers that work a smaller share of the time are idle. */
#define IDLE 0.05
/* What others pay beyond this is worth a warning. */
#define COSTLY_PERCENT 25.0
/* More repetitions than anybody would ask for. */
#define REPETITIONS_MAX 1e6

static void warn_overload(const struct policy_results *of, struct findings *warnings)
{
    if (!(of->load >= 1))
        return;
    finding_number(finding_add(warnings, "overload",
                               "At load %s waiting times grow until the last job has arrived: "
                               "with more jobs another policy may be best.",
                               quantity_digits(of->load, 4).text),
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
                    "at most %s. The choice matters at higher loads.",
                    quantity_number(slowest).text);
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
    const char *next = policy_name_of(of, choice->next, warnings);
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

/* The least of a cost under another policy, or that of the baseline; SIZE_MAX: there is none. */
static size_t find_cheapest(const struct policy_results *of, size_t cost)
{
    size_t found = SIZE_MAX;
    if (of->baseline != SIZE_MAX)
        return of->baseline != of->choice->best ? of->baseline : SIZE_MAX;
    for (size_t p = 0; p < of->n; p++) {
        double at = of->costs_at[p * of->n_costs + cost];
        if (p != of->choice->best && at > 0 &&
            (found == SIZE_MAX || at < of->costs_at[found * of->n_costs + cost]))
            found = p;
    }
    return found;
}

static void warn_costs(const struct policy_results *of, struct findings *warnings)
{
    double changes[POLICY_FIGURES_MAX] = {0};
    struct policy_text text = {.n = 0};
    for (size_t i = 0; i < of->n_costs; i++) {
        const struct policy_cost *cost = &of->costs[i];
        size_t other = find_cheapest(of, i);
        if (other == SIZE_MAX)
            continue;
        double here = of->costs_at[of->choice->best * of->n_costs + i];
        double there = of->costs_at[other * of->n_costs + i];
        double change = there > 0 ? 100 * (here / there - 1) : 0;
        if (!(change > COSTLY_PERCENT))
            continue;
        changes[i] = change;
        policy_text_add(&text, "%s%s is %s%s, under %s %s%s (%s)", text.n > 0 ? "; " : "",
                        cost->what, quantity_number(here).text, cost->unit,
                        policy_name_of(of, other, warnings), quantity_number(there).text,
                        cost->unit, quantity_change(change).text);
    }
    if (text.n == 0)
        return;
    struct finding *finding =
        finding_add(warnings, "worse_for_others",
                    "It costs other jobs more than %s: %s. If they matter as well, another "
                    "policy, other terms or another `objective` may suit better.",
                    quantity_percent(COSTLY_PERCENT).text, text.at);
    for (size_t i = 0; i < of->n_costs; i++)
        if (changes[i] > 0)
            finding_number(finding, of->costs[i].evidence, changes[i]);
}

static void warn_cut_short(const struct policy_results *of, struct findings *warnings)
{
    const struct policy_searched *searched = of->searched;
    if (searched == NULL || !searched->cut_short)
        return;
    struct policy_text text = {.n = 0};
    if (!(searched->error_chance < 1))
        policy_text_add(&text, "nothing bounds the chance that another candidate is better");
    else
        policy_text_add(&text, "the chance that another candidate is better is at most %s",
                        quantity_number(searched->error_chance).text);
    if (isfinite(searched->loss))
        policy_text_add(&text, ", and by no more than %s, with a chance of error of %s",
                        quantity_share(searched->loss).text,
                        quantity_number(searched->asked_chance).text);
    struct finding *finding =
        finding_add(warnings, "search_cut_short",
                    "The search ended before it was as sure as asked for: %s. A larger "
                    "`search.task_runs` makes it surer.",
                    text.at);
    finding_number(finding, "error_chance", searched->error_chance);
    finding_number(finding, "loss_percent_max", 100 * searched->loss);
}

static void warn_edges(const struct policy_results *of, struct findings *warnings)
{
    for (size_t i = 0; of->searched != NULL && i < of->searched->n_edges; i++) {
        const struct policy_edge *edge = &of->searched->edges[i];
        const char *name = policy_name_of(of, of->n - 1, warnings);
        struct finding *finding =
            finding_add(warnings, "at_edge_of_values",
                        "`%s` %s of %s is the %s value that was tried: %s ones may do better. List "
                        "them as `%s` of the policy in `search.policies`.",
                        edge->term, edge->value, name, edge->largest ? "largest" : "smallest",
                        edge->largest ? "larger" : "smaller", edge->term);
        finding_text(finding, "policy", name);
        finding_text(finding, "term", edge->term);
        finding_text(finding, "value", edge->value);
        finding_text(finding, "edge", edge->largest ? "largest" : "smallest");
    }
}

/* What leaves long jobs more: shares are rounded up to a worker in each group. */
static const char *reserve_less(const struct policy_masters *masters)
{
    if (masters->reserved > masters->n)
        return "a smaller `reserved_share` leaves long jobs more";
    return masters->n > 1 ? "each group has one at least, so that fewer `groups`, not a smaller "
                            "`reserved_share`, leave long jobs more"
                          : "it is one at least, so that only a `reserved_share` of 0 leaves long "
                            "jobs more";
}

static void warn_reserved(const struct policy_results *of, struct findings *warnings)
{
    const struct policy_masters *masters = &of->masters;
    if (masters->reserved == 0 || !(masters->reserved_utilization < IDLE))
        return;
    struct finding *finding = finding_add(
        warnings, "reserved_idle",
        "%zu worker%s %s reserved for short jobs and %s %s of the time: %s.", masters->reserved,
        PLURAL(masters->reserved), PLURAL_VERB(masters->reserved, "is", "are"),
        PLURAL_VERB(masters->reserved, "works", "work"),
        quantity_share(masters->reserved_utilization).text, reserve_less(masters));
    finding_number(finding, "reserved_workers", (double)masters->reserved);
    finding_number(finding, "reserved_utilization", masters->reserved_utilization);
}

static void warn_defaults(const struct policy_results *of, struct findings *warnings)
{
    if (of->defaults[0] == '\0')
        return;
    const char *name = policy_name_of(of, of->choice->best, warnings);
    struct finding *finding =
        finding_add(warnings, "default_terms",
                    "Of %s, %s as by default. What suits best differs from trace to trace: other "
                    "values may do better here.",
                    name, of->defaults);
    finding_text(finding, "policy", name);
    finding_text(finding, "terms", of->defaults);
}

void policy_warn(const struct policy_results *of, struct findings *warnings)
{
    warn_overload(of, warnings);
    warn_nothing_waits(of, warnings);
    warn_noise(of, warnings);
    warn_one_repetition(of, warnings);
    warn_costs(of, warnings);
    warn_cut_short(of, warnings);
    warn_edges(of, warnings);
    warn_reserved(of, warnings);
    warn_defaults(of, warnings);
}

#include "core/control/recommend.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

/* Differences of less than so many standard errors may be chance. */
static const double ERRORS_CLEAR = 2;
/* More core seconds by less than this factor are not worth a word. */
static const double FACTOR_CLEAR = 1.05;

struct control_choice control_choose(const struct control_score scores[], size_t n)
{
    struct control_choice choice = {0, CONTROL_NO_SECOND};
    for (size_t i = 1; i < n; i++)
        if (control_score_is_better(&scores[i], &scores[choice.best])) {
            choice.second = (long)choice.best;
            choice.best = i;
        } else if (choice.second == CONTROL_NO_SECOND ||
                   control_score_is_better(&scores[i], &scores[choice.second])) {
            choice.second = (long)i;
        }
    return choice;
}

static size_t as_good(const struct control_comparison *of, double total)
{
    size_t n = 0;
    for (size_t i = 0; i < of->n; i++)
        n += !control_totals_differ(of->scores[i].total, total);
    return n;
}

static void explain_total(const struct control_comparison *of,
                          const struct control_choice *choice,
                          struct findings *why)
{
    const struct control_point *point = &of->points[choice->best];
    const struct control_score *score = &of->scores[choice->best];
    const char *name = point->strategy->name;
    size_t equal = as_good(of, score->total);
    struct finding *finding;
    if (equal > 1)
        finding = finding_add(why, "fewest_core_seconds",
                              "%zu of %zu outcome%s have the least total penalty, %s. Of these, "
                              "%s with gamma %s is granted the fewest core seconds, %.0f.",
                              equal, of->n, PLURAL(of->n), quantity_number(score->total).text, name,
                              quantity_number(point->gamma).text, score->core_s);
    else if (choice->second == CONTROL_NO_SECOND)
        finding = finding_add(why, "only_outcome",
                              "With %s and gamma %s, the only configuration requested, the total "
                              "penalty is %s.",
                              name, quantity_number(point->gamma).text,
                              quantity_number(score->total).text);
    else
        finding = finding_add(why, "least_penalty",
                              "With %s and gamma %s the total penalty is %s, the least of %zu "
                              "outcome%s. The next is %s, with %s and gamma %s.",
                              name, quantity_number(point->gamma).text,
                              quantity_number(score->total).text, of->n, PLURAL(of->n),
                              quantity_number(of->scores[choice->second].total).text,
                              of->points[choice->second].strategy->name,
                              quantity_number(of->points[choice->second].gamma).text);
    finding_number(finding, "penalty", score->total);
    finding_number(finding, "granted_core_s", score->core_s);
    finding_number(finding, "outcomes", (double)of->n);
    if (choice->second != CONTROL_NO_SECOND)
        finding_number(finding, "runner_up_penalty", of->scores[choice->second].total);
}

/* The job that costs most, where any does. */
static void explain_job(const struct control_comparison *of, size_t best, struct findings *why)
{
    const struct control_score *score = &of->scores[best];
    const struct control_stake *stakes = of->problem->stakes;
    size_t most = 0;
    for (size_t j = 1; j < of->problem->n; j++)
        if (stakes[j].weight * score->penalties[j] > stakes[most].weight * score->penalties[most])
            most = j;
    double part = stakes[most].weight * score->penalties[most];
    if (!(part > 0))
        return;
    const char *name = arena_printf(why->arena, "%.*s", (int)of->names[most].n, of->names[most].at);
    if (name == NULL) {
        why->failed = true;
        return;
    }
    struct finding *finding = finding_add(
        why, "largest_penalty", "%s of the total penalty is that of %s: %s (%s, weight %s).",
        quantity_share(part / score->total).text, name, quantity_number(part).text,
        control_penalty_words[stakes[most].penalty], quantity_number(stakes[most].weight).text);
    finding_text(finding, "job", name);
    finding_number(finding, "penalty", part);
    finding_number(finding, "weight", stakes[most].weight);
}

static void explain_cores(const struct control_comparison *of, size_t best, struct findings *why)
{
    const struct control_score *score = &of->scores[best];
    size_t most = best;
    for (size_t i = 0; i < of->n; i++)
        if (of->scores[i].core_s > of->scores[most].core_s)
            most = i;
    if (!(score->core_s > 0))
        return;
    double factor = of->scores[most].core_s / score->core_s;
    struct finding *finding;
    if (factor >= FACTOR_CLEAR)
        finding =
            finding_add(why, "core_seconds",
                        "Core seconds granted: %.0f, of which tasks use %s. With %s and "
                        "gamma %s they are %s times as many.",
                        score->core_s, quantity_share(score->used_s / score->core_s).text,
                        of->points[most].strategy->name,
                        quantity_number(of->points[most].gamma).text, quantity_number(factor).text);
    else
        finding =
            finding_add(why, "core_seconds", "Core seconds granted: %.0f, of which tasks use %s.",
                        score->core_s, quantity_share(score->used_s / score->core_s).text);
    finding_number(finding, "granted_core_s", score->core_s);
    finding_number(finding, "used_core_s", score->used_s);
    finding_number(finding, "most_granted_core_s", of->scores[most].core_s);
}

static void
explain_baselines(const struct control_comparison *of, size_t best, struct findings *why)
{
    for (size_t b = 0; b < CONTROL_BASELINES; b++) {
        const struct control_score *score = &of->baselines[b];
        if (!(score->total < of->scores[best].total) ||
            !control_totals_differ(score->total, of->scores[best].total))
            continue;
        struct finding *finding = finding_add(
            why, "baseline_costs_less",
            "Without the control loop, %s has a smaller total penalty, %s. Core "
            "seconds held: %.0f.",
            control_baselines[b].name, quantity_number(score->total).text, score->core_s);
        finding_text(finding, "baseline", control_baselines[b].name);
        finding_number(finding, "penalty", score->total);
        finding_number(finding, "core_s", score->core_s);
    }
}

/* Whether one total is less than another by more than chance explains. */
static void explain_chance(const struct control_score *best,
                           const struct control_score *next,
                           const char *what,
                           struct findings *why)
{
    double error = control_score_error(best, next);
    double difference = next->total - best->total;
    if (!(difference > 0 && difference < ERRORS_CLEAR * error))
        return;
    struct finding *finding =
        finding_add(why, "difference_may_be_chance",
                    "%s is %s, less than %s times its standard error, "
                    "%s, over %zu repetition%s: it may be chance.",
                    what, quantity_number(difference).text, quantity_number(ERRORS_CLEAR).text,
                    quantity_number(error).text, best->repetitions, PLURAL(best->repetitions));
    finding_number(finding, "difference", difference);
    finding_number(finding, "standard_error", error);
    finding_number(finding, "repetitions", (double)best->repetitions);
}

void control_explain_choice(const struct control_comparison *of,
                            const struct control_choice *choice,
                            struct findings *why)
{
    explain_total(of, choice, why);
    explain_job(of, choice->best, why);
    explain_cores(of, choice->best, why);
    explain_baselines(of, choice->best, why);
    if (choice->second != CONTROL_NO_SECOND)
        explain_chance(&of->scores[choice->best], &of->scores[choice->second],
                       "The difference from the runner-up", why);
}

void control_explain_found(const struct control_comparison *of,
                           const struct control_choice *choice,
                           const struct control_found *found,
                           struct findings *why)
{
    const struct control_score *own = &of->scores[choice->best];
    struct finding *finding;
    if (control_score_is_better(&found->score, own))
        finding = finding_add(
            why, "better_terms",
            "%zu other configuration%s %s tried. With the best the total penalty is %s and "
            "the core seconds granted are %.0f; with the request's own terms they are %s and "
            "%.0f.",
            found->tried, PLURAL(found->tried), PLURAL_VERB(found->tried, "was", "were"),
            quantity_number(found->score.total).text, found->score.core_s,
            quantity_number(own->total).text, own->core_s);
    else
        finding = finding_add(why, "no_better_terms",
                              "%zu other configuration%s %s tried, and none is better than the "
                              "request's own terms.",
                              found->tried, PLURAL(found->tried),
                              PLURAL_VERB(found->tried, "was", "were"));
    finding_number(finding, "tried", (double)found->tried);
    finding_number(finding, "penalty", found->score.total);
    finding_number(finding, "requested_penalty", own->total);
    explain_chance(&found->score, own, "The difference from the request's own terms", why);
    if (!found->exhausted)
        return;
    finding = finding_add(why, "search_cut_short",
                          "The search ended because its %zu simulation%s were used up: with more, "
                          "it might find better terms.",
                          found->simulations, PLURAL(found->simulations));
    finding_number(finding, "simulations", (double)found->simulations);
}

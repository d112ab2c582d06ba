#ifndef CORE_SCHEDULING_COMPARISON_POLICY_EXPLAIN_H
#define CORE_SCHEDULING_COMPARISON_POLICY_EXPLAIN_H

#include "base/finding.h"
#include "base/strview.h"
#include "core/scheduling/comparison/policy_comparison.h"
#include "core/scheduling/comparison/policy_searched.h"

/* Why a policy is recommended at a load, in sentences with their evidence (docs/design.md,
 * "Recommended policies"). */

/* A figure of policies that a choice may make better or worse. */
struct policy_figure {
    const char *of;    /* "completion times of short jobs", followed by others of the same; NULL: it
                             stands alone */
    const char *label; /* "median" of that; "makespan" */
    const char *evidence; /* how it changes, in evidence: "makespan_change_percent" */
    bool more_is_better;
};

enum { POLICY_FIGURES_MAX = 10 };

/* The masters of the recommended policy. */
struct policy_masters {
    size_t n;                   /* 0: it has none */
    double messages_per_s;      /* of the busiest one */
    double peak_messages_per_s; /* of the same one */
    size_t reserved;            /* workers */
    double reserved_utilization;
};

/* What jobs that the objective is not about may pay, in figures of which less is better. */
struct policy_cost {
    const char *what;     /* "the mean completion time of long jobs" */
    const char *unit;     /* " s"; "": none */
    const char *evidence; /* as of a figure */
};

/* All that is known at a load. Borrowed. */
struct policy_results {
    const struct strview *names; /* of n policies */
    size_t n;
    enum policy_objective objective;
    const char *of_jobs; /* whom slowdowns of the objective are of: "jobs", "short jobs" */
    const struct policy_values *values;
    const struct policy_choice *choice;
    const struct policy_figure *figures;
    size_t n_figures;
    const double *at;      /* of each policy n_figures; NAN: it has none */
    const double *slowest; /* of each policy the 99th percentile of the slowdowns of all jobs */
    const struct policy_cost *costs;
    size_t n_costs;
    const double *costs_at;                 /* of each policy n_costs; NAN: it has none */
    const struct policy_searched *searched; /* how the last policy was found; NULL: no search */
    size_t baseline;                        /* SIZE_MAX: none */
    double load;                            /* NAN: arrivals as given */
    bool drawn_once;    /* it would be other figures in another repetition, and there is but one */
    char defaults[160]; /* terms of the best that are as by default: "weight is 20"; "": none */
    struct policy_masters masters;
};

/*
 * The choice in one sentence: the best policy with its figure and that of the next one. Returns the
 * text, in the arena; NULL: out of memory.
 */
const char *policy_describe_choice(const struct policy_results *of, struct arena *arena);

/*
 * Reasons, of which there is always the first: `objective` (or `only_policy`, `equal`);
 * `baseline_objective` where the baseline is neither the best policy nor the next one;
 * `trade_off` or `nothing_worse` against the next policy; `baseline_trade_off`, `baseline_improved`,
 * `baseline_similar` or `is_baseline` where there is a baseline; `masters_load`. Changes of 1 % and
 * less are evidence, but not worth a word. Warnings: `overload`, `nothing_waits`, `within_noise`,
 * `one_repetition`, `worse_for_others`, `search_cut_short`, `at_edge_of_values`, `reserved_idle`,
 * `default_terms`. O(policies x figures).
 */
void policy_explain(const struct policy_results *of,
                    struct findings *reasons,
                    struct findings *warnings);

#endif

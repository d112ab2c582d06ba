#include <stdio.h>

#include "base/plural.h"
#include "codec/scheduling/policy_comparison.h"

enum { NAME_SHOWN = 100 };

void codec_percentiles_encode(struct writer *w,
                              const char *key,
                              const struct percentiles *percentiles)
{
    writer_member_object(w, key);
    writer_member_number(w, "mean", percentiles->mean);
    writer_member_number(w, "p50", percentiles->p50);
    writer_member_number(w, "p90", percentiles->p90);
    writer_member_number(w, "p95", percentiles->p95);
    writer_member_number(w, "p99", percentiles->p99);
    writer_end_object(w);
}

void codec_percentiles_encode_reduction(struct writer *w,
                                        const char *key,
                                        const struct percentiles *figures,
                                        const struct percentiles *baseline)
{
    const struct percentiles reduction = {
        .mean = policy_reduction_percent(figures->mean, baseline->mean),
        .p50 = policy_reduction_percent(figures->p50, baseline->p50),
        .p90 = policy_reduction_percent(figures->p90, baseline->p90),
        .p95 = policy_reduction_percent(figures->p95, baseline->p95),
        .p99 = policy_reduction_percent(figures->p99, baseline->p99)};
    codec_percentiles_encode(w, key, &reduction);
}

void codec_comparison_encode_head(struct writer *w,
                                  const char *kind,
                                  const struct codec_comparison *common)
{
    writer_member_string(w, "kind", kind);
    writer_member_integer(w, "seed", common->seed);
    writer_member_integer(w, "repetitions", (int64_t)common->repetitions);
    writer_member_text(w, "baseline",
                       common->baseline != SIZE_MAX ? common->names[common->baseline]
                                                    : (struct strview){NULL, 0});
}

/* --- the best one --- */

/* "95 % of short jobs have a slowdown of at most 2.4" without the figure. */
static void describe_objective(const struct codec_comparison *common,
                               const char *of_jobs,
                               char *text,
                               size_t room)
{
    static const char *const percents[] = {[POLICY_SLOWDOWN_P50] = "50",
                                           [POLICY_SLOWDOWN_P90] = "90",
                                           [POLICY_SLOWDOWN_P95] = "95",
                                           [POLICY_SLOWDOWN_P99] = "99"};
    if (common->objective == POLICY_MAKESPAN)
        (void)snprintf(text, room, "the makespan is");
    else if (common->objective == POLICY_VARIABILITY)
        (void)snprintf(text, room,
                       "the 95th percentile of the slowdowns of %s over their median is", of_jobs);
    else
        (void)snprintf(text, room, "the slowdown of %s %% of the %s is at most",
                       percents[common->objective], of_jobs);
}

static const char *code_of(const struct codec_comparison *common,
                           const struct policy_choice *choice)
{
    if (choice->next == SIZE_MAX)
        return "only_one";
    if (choice->equal)
        return "equal";
    if (!choice->clear)
        return "too_close";
    return common->objective == POLICY_MAKESPAN      ? "least_makespan"
           : common->objective == POLICY_VARIABILITY ? "least_variability"
                                                     : "least_slowdown";
}

static void describe_choice(const struct codec_comparison *common,
                            const struct policy_choice *choice,
                            const char *of_jobs,
                            char *text,
                            size_t room)
{
    const char *unit = common->objective == POLICY_MAKESPAN ? " s" : "";
    struct strview best = strview_clip(common->names[choice->best], NAME_SHOWN);
    char what[128];
    describe_objective(common, of_jobs, what, sizeof what);
    if (choice->next == SIZE_MAX) {
        (void)snprintf(text, room, "%.*s is the only policy; under it %s %.6g%s", (int)best.n,
                       best.at, what, choice->value, unit);
        return;
    }
    struct strview next = strview_clip(common->names[choice->next], NAME_SHOWN);
    if (choice->equal)
        (void)snprintf(text, room, "under %.*s and %.*s alike, %s %.6g%s; the first one is named",
                       (int)best.n, best.at, (int)next.n, next.at, what, choice->value, unit);
    else
        (void)snprintf(text, room, "under %.*s %s %.6g%s, under %.*s, the next best, %.6g%s%s",
                       (int)best.n, best.at, what, choice->value, unit, (int)next.n, next.at,
                       choice->other, unit,
                       choice->clear ? ""
                                     : "; the paired difference is less than twice its standard "
                                       "error, so more repetitions may select another policy");
}

void codec_comparison_encode_best(struct writer *w,
                                  const struct codec_comparison *common,
                                  size_t load,
                                  const struct policy_choice *choice,
                                  const char *of_jobs)
{
    char text[768];
    describe_choice(common, choice, of_jobs, text, sizeof text);
    if (common->n_loads > 0)
        writer_member_number(w, "load", common->loads[load]);
    else
        writer_member_null(w, "load");
    writer_member_object(w, "best");
    writer_member_text(w, "name", common->names[choice->best]);
    writer_member_string(w, "code", code_of(common, choice));
    writer_member_string(w, "message", text);
    writer_member_number(w, "margin_percent", 100 * choice->margin);
    writer_end_object(w);
}

void codec_comparison_warn_overload(const struct codec_comparison *common,
                                    struct findings *warnings)
{
    for (size_t i = 0; i < common->n_loads; i++)
        if (common->loads[i] >= 1)
            finding_number(
                finding_add(warnings, "overload",
                            "at load %.6g, work arrives as fast as it can be done or faster: jobs "
                            "wait ever longer until the last one has arrived, so the figures "
                            "depend on how many jobs there are",
                            common->loads[i]),
                "load", common->loads[i]);
}

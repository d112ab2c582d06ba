#include "codec/scheduling/policy_comparison.h"

#include "base/quantity_text.h"

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

void codec_comparison_warn_overload(const struct codec_comparison *common,
                                    struct findings *warnings)
{
    for (size_t i = 0; i < common->n_loads; i++)
        if (common->loads[i] >= 1)
            finding_number(
                finding_add(warnings, "overload",
                            "at load %s, work arrives as fast as it can be done or faster: jobs "
                            "wait ever longer until the last one has arrived, so the figures "
                            "depend on how many jobs there are",
                            quantity_digits(common->loads[i], 4).text),
                "load", common->loads[i]);
}

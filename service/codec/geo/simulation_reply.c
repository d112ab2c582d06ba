#include "codec/geo/simulation.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/json/finding.h"

static const char *const quantile_keys[COMPARISON_QUANTILES] = {"p5",  "p10", "p25", "p50",
                                                                "p75", "p90", "p95", "p99"};

/* factor: 1 for seconds, 100 for shares reported in percent. */
static void encode_spread(struct writer *w, const struct comparison_spread *spread, double factor)
{
    writer_begin_object(w);
    writer_member_integer(w, "workflows", (int64_t)spread->n);
    writer_member_number(w, "mean", factor * spread->mean);
    for (size_t i = 0; i < COMPARISON_QUANTILES; i++)
        writer_member_number(w, quantile_keys[i], factor * spread->quantiles[i]);
    writer_member_array(w, "cdf");
    for (size_t i = 0; i < COMPARISON_CURVE && spread->n > 0; i++) {
        writer_begin_array(w);
        writer_number(w, factor * spread->curve[i]);
        writer_number(w, comparison_share(i));
        writer_end_array(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

static void encode_counts(struct writer *w, const struct geosim_counts *counts, double repetitions)
{
    const struct {
        const char *key;
        size_t count;
    } rows[] = {{"copies_started", counts->copies},
                {"extra_copies", counts->extra},
                {"copies_lost_to_outage", counts->lost},
                {"copies_cancelled", counts->losers},
                {"copies_preempted", counts->stopped},
                {"copies_refused", counts->refused},
                {"tasks_rerun", counts->reruns},
                {"outages_begun", counts->outages},
                {"plans_made", counts->plans}};
    writer_member_object(w, "counts");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        writer_member_number(w, rows[i].key, (double)rows[i].count / repetitions);
    writer_end_object(w);
}

static void encode_outcome(struct writer *w,
                           const struct codec_simulation_result *result,
                           size_t policy,
                           const struct codec_simulation_outcome *outcome,
                           double baseline_mean_s)
{
    const struct codec_simulation *asked = result->asked;
    writer_begin_object(w);
    writer_member_text(w, "name", asked->policies[policy].name);
    writer_member_integer(w, "workflows_unfinished", (int64_t)outcome->flow_s.absent);
    writer_key(w, "flow_time_s");
    encode_spread(w, &outcome->flow_s, 1);
    writer_key(w, "reduction_percent");
    if (policy == asked->baseline)
        writer_null(w);
    else
        encode_spread(w, &outcome->reduction, 100);
    writer_member_number(w, "mean_reduction_percent",
                         policy == asked->baseline
                             ? (double)NAN
                             : 100 * (1 - outcome->flow_s.mean / baseline_mean_s));
    encode_counts(w, &outcome->counts, (double)asked->repetitions);
    writer_member_number(w, "utilization", outcome->utilization);
    writer_member_number(w, "useful_share", outcome->useful);
    writer_end_object(w);
}

static void encode_best(struct writer *w,
                        const struct codec_simulation *asked,
                        const struct codec_simulation_outcome outcomes[],
                        const struct comparison_best *best)
{
    char text[512];
    struct strview name = asked->policies[best->policy].name;
    const struct comparison_spread *flow = &outcomes[best->policy].flow_s;
    const char *code = "only_one";
    int n = (int)strview_clip(name, 100).n;
    (void)snprintf(text, sizeof text, "%.*s is the only policy", n, name.at);
    if (best->next != SIZE_MAX) {
        struct strview next = asked->policies[best->next].name;
        const struct comparison_spread *other = &outcomes[best->next].flow_s;
        int m = (int)strview_clip(next, 100).n;
        if (isnan(best->margin)) {
            code = "more_finished";
            (void)snprintf(text, sizeof text,
                           "%.*s left %zu workflow%s unfinished, %.*s, the next best, %zu", n,
                           name.at, flow->absent, PLURAL(flow->absent), m, next.at, other->absent);
        } else {
            code = best->clear ? "least_mean_flow" : "too_close";
            (void)snprintf(text, sizeof text,
                           "its workflows take %s on average, those of %.*s, the next best, "
                           "%s%s",
                           quantity_duration(flow->mean).text, m, next.at,
                           quantity_duration(other->mean).text,
                           best->clear ? ""
                                       : "; the paired difference is less than twice its standard "
                                         "error, so more workflows or repetitions may select "
                                         "another policy");
        }
    }
    writer_member_object(w, "best");
    writer_member_text(w, "name", name);
    writer_member_string(w, "code", code);
    writer_member_string(w, "message", text);
    writer_member_number(w, "margin_percent", 100 * best->margin);
    writer_end_object(w);
}

static void encode_rate(struct writer *w, const struct codec_simulation_result *result, size_t rate)
{
    const struct codec_simulation *asked = result->asked;
    const struct codec_simulation_outcome *outcomes = &result->outcomes[rate * asked->n_policies];
    writer_begin_object(w);
    writer_member_number(w, "arrival_rate_per_s", asked->arrival_rates_per_s[rate]);
    writer_member_array(w, "policies");
    for (size_t i = 0; i < asked->n_policies; i++)
        encode_outcome(w, result, i, &outcomes[i], outcomes[asked->baseline].flow_s.mean);
    writer_end_array(w);
    encode_best(w, asked, outcomes, &result->best[rate]);
    writer_end_object(w);
}

static void encode_world(struct writer *w, const struct geosim_world *world)
{
    writer_member_object(w, "topology");
    for (int scale = 0; scale < GEOSIM_SCALES; scale++) {
        int64_t slots = 0;
        int64_t n = 0;
        for (size_t i = 0; i < world->n_clusters; i++)
            if (world->clusters[i].scale == (enum geosim_scale)scale) {
                n++;
                slots += world->clusters[i].slots;
            }
        writer_member_object(w, geosim_scale_name((enum geosim_scale)scale));
        writer_member_integer(w, "count", n);
        writer_member_integer(w, "slots", slots);
        writer_end_object(w);
    }
    writer_end_object(w);
}

static void simulation_reply_encode_warnings(struct writer *w,
                                             const struct codec_simulation_result *result)
{
    const struct codec_simulation *asked = result->asked;
    struct findings warnings = {.arena = w->arena};
    size_t unfinished = 0;
    for (size_t i = 0; i < asked->n_rates * asked->n_policies; i++)
        unfinished += result->outcomes[i].flow_s.absent;
    if (unfinished > 0)
        finding_count(
            finding_add(&warnings, "workflows_unfinished",
                        "%zu workflow%s were unfinished %s after the last arrival "
                        "(drain_timeout_s); means, percentiles and CDFs cover the others only",
                        unfinished, PLURAL(unfinished),
                        quantity_duration(asked->drain_timeout_s).text),
            unfinished);
    codec_findings_encode(w, "warnings", &warnings);
}

void codec_simulation_result_encode(struct writer *w, const struct codec_simulation_result *result)
{
    const struct codec_simulation *asked = result->asked;
    writer_begin_object(w);
    writer_member_string(w, "kind", "geo");
    writer_member_integer(w, "seed", asked->seed);
    writer_member_integer(w, "repetitions", (int64_t)asked->repetitions);
    writer_member_text(w, "baseline", asked->policies[asked->baseline].name);
    encode_world(w, result->world);
    writer_member_object(w, "workload");
    writer_member_integer(w, "workflows", (int64_t)asked->workload.n_workflows);
    writer_member_integer(w, "task_count", result->tasks);
    writer_member_number(w, "work_s", result->work_s);
    writer_member_number(w, "input_bytes", result->bytes);
    writer_end_object(w);
    writer_member_array(w, "loads");
    for (size_t i = 0; i < asked->n_rates; i++)
        encode_rate(w, result, i);
    writer_end_array(w);
    simulation_reply_encode_warnings(w, result);
    writer_end_object(w);
}

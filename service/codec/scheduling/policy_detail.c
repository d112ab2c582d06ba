#include "codec/scheduling/policy_detail.h"

#include <math.h>

/* --- the recommendation --- */

static const char *code_of(const struct policy_results *results)
{
    const struct policy_choice *choice = results->choice;
    if (choice->next == SIZE_MAX)
        return "only_one";
    if (choice->equal)
        return "equal";
    if (!choice->clear)
        return "too_close";
    return results->objective == POLICY_MAKESPAN      ? "least_makespan"
           : results->objective == POLICY_VARIABILITY ? "least_variability"
                                                      : "least_slowdown";
}

void codec_recommendation_encode(struct writer *w, const struct policy_results *results)
{
    struct findings reasons = {.arena = w->arena};
    struct findings warnings = {.arena = w->arena};
    const char *text = results != NULL ? policy_describe_choice(results, w->arena) : NULL;
    if (text == NULL) {
        w->failed = true;
        return;
    }
    policy_explain(results, &reasons, &warnings);
    struct strview best = results->names[results->choice->best];
    writer_member_number(w, "load", results->load);
    writer_member_object(w, "best");
    writer_member_text(w, "name", best);
    writer_member_string(w, "code", code_of(results));
    writer_member_string(w, "message", text);
    writer_member_number(w, "margin_percent", 100 * results->choice->margin);
    writer_end_object(w);
    writer_member_object(w, "recommendation");
    writer_member_text(w, "policy", best);
    codec_findings_encode(w, "reasons", &reasons);
    codec_findings_encode(w, "warnings", &warnings);
    writer_end_object(w);
}

/* --- queues and distributions --- */

static void encode_lengths(struct writer *w,
                           const char *key,
                           const double lengths[QUEUE_KINDS][QUEUE_BINS_MAX],
                           uint32_t n,
                           const char *const kinds[QUEUE_KINDS])
{
    writer_member_object(w, key);
    for (size_t k = 0; k < QUEUE_KINDS; k++) {
        writer_member_array(w, kinds[k]);
        /* Sums of changes that cancel each other out are not quite 0. */
        for (uint32_t bin = 0; bin < n; bin++)
            writer_number(w, lengths[k][bin] > 1e-9 ? lengths[k][bin] : 0);
        writer_end_array(w);
    }
    writer_end_object(w);
}

void codec_queues_encode(struct writer *w,
                         const struct queue_lengths *queues,
                         const char *const kinds[QUEUE_KINDS])
{
    writer_member_number(w, "start_s", queues->start_s);
    writer_member_number(w, "bin_s", queues->bin_s);
    encode_lengths(w, "waiting_tasks", queues->waiting, queues->n, kinds);
    encode_lengths(w, "running_tasks", queues->running, queues->n, kinds);
}

void codec_distribution_encode(struct writer *w,
                               struct strview of_jobs,
                               const struct job_distribution *distribution)
{
    static const struct {
        const char *key;
        size_t percent;
    } shown[] = {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}};
    writer_begin_object(w);
    writer_member_text(w, "class", of_jobs);
    writer_member_integer(w, "count", (int64_t)distribution->jobs);
    writer_member_array(w, "percents");
    for (size_t i = 0; i < DISTRIBUTION_POINTS; i++)
        writer_number(w, job_distribution_percent(i));
    writer_end_array(w);
    writer_member_numbers(w, "completion_quantiles_s", distribution->completion_s,
                          DISTRIBUTION_POINTS);
    writer_member_numbers(w, "slowdown_quantiles", distribution->slowdown, DISTRIBUTION_POINTS);
    writer_member_object(w, "slowdown_variability");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        writer_member_number(w, shown[i].key,
                             job_distribution_variability(distribution, shown[i].percent));
    writer_end_object(w);
    writer_end_object(w);
}

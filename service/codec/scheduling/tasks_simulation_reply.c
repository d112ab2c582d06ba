#include "codec/scheduling/tasks_simulation.h"

static void encode_class(struct writer *w, const struct tasks_class *class)
{
    writer_begin_object(w);
    writer_member_string(w, "name", class->name);
    writer_member_integer(w, "count", class->count);
    codec_percentiles_encode(w, "completion_s", &class->completion_s);
    codec_percentiles_encode(w, "slowdown", &class->slowdown);
    writer_member_object(w, "completion_over_longest_task");
    writer_member_number(w, "p50", class->completion_over_longest_p50);
    writer_member_number(w, "p90", class->completion_over_longest_p90);
    writer_member_number(w, "p99", class->completion_over_longest_p99);
    writer_end_object(w);
    writer_end_object(w);
}

/* baseline NULL: there is none, or this is it. */
static void encode_reduction(struct writer *w,
                             const struct tasks_outcome *outcome,
                             const struct tasks_outcome *baseline)
{
    if (!writer_member_object_or_null(w, "reduction_percent", baseline != NULL))
        return;
    writer_member_number(w, "makespan",
                         policy_reduction_percent(outcome->makespan_s, baseline->makespan_s));
    writer_member_array(w, "classes");
    for (size_t c = 0; c < TASKS_CLASSES; c++) {
        const struct tasks_class *class = &outcome->classes[c];
        if (class->count == 0)
            continue;
        writer_begin_object(w);
        writer_member_string(w, "name", class->name);
        codec_percentiles_encode_reduction(w, "completion", &class->completion_s,
                                           &baseline->classes[c].completion_s);
        codec_percentiles_encode_reduction(w, "slowdown", &class->slowdown,
                                           &baseline->classes[c].slowdown);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

static void encode_jobs(struct writer *w,
                        const struct codec_tasks_simulation *asked,
                        const struct tasks_cell *cell)
{
    if (!writer_member_array_or_null(w, "jobs", cell->finish_s != NULL))
        return;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", asked->sent[i].name);
        writer_member_number(w, "start_s", cell->start_s[i]);
        writer_member_number(w, "finish_s", cell->finish_s[i]);
        writer_member_number(w, "slowdown", cell->slowdown[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_policy(struct writer *w,
                          const struct codec_tasks_simulation *asked,
                          const struct tasks_load *load,
                          size_t policy)
{
    const struct codec_comparison *common = &asked->common;
    const struct tasks_outcome *outcome = &load->outcomes[policy];
    bool compared = common->baseline != SIZE_MAX && common->baseline != policy;
    writer_begin_object(w);
    writer_member_text(w, "name", common->names[policy]);
    writer_member_string(w, "policy",
                         tasks_policy_name((enum tasks_policy_id)common->words[policy]));
    writer_member_number(w, "makespan_s", outcome->makespan_s);
    writer_member_number(w, "utilization", outcome->utilization);
    writer_member_array(w, "classes");
    for (size_t c = 0; c < TASKS_CLASSES; c++)
        if (outcome->classes[c].count > 0)
            encode_class(w, &outcome->classes[c]);
    writer_end_array(w);
    encode_reduction(w, outcome, compared ? &load->outcomes[common->baseline] : NULL);
    encode_jobs(w, asked, load->first[policy]);
    writer_end_object(w);
}

void codec_tasks_result_encode(struct writer *w, const struct codec_tasks_result *result)
{
    const struct codec_tasks_simulation *asked = result->asked;
    const struct codec_comparison *common = &asked->common;
    struct findings warnings = {.arena = w->arena};
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    writer_begin_object(w);
    codec_comparison_encode_head(w, "tasks", common);
    writer_member_array(w, "loads");
    for (size_t l = 0; l < loads; l++) {
        const struct tasks_load *load = &result->loads[l];
        bool of_short = tasks_objective_class(&load->outcomes[0]) == TASKS_SHORT;
        writer_begin_object(w);
        codec_comparison_encode_best(w, common, l, &load->choice, of_short ? "short jobs" : "jobs");
        writer_member_array(w, "policies");
        for (size_t p = 0; p < common->n_policies; p++)
            encode_policy(w, asked, load, p);
        writer_end_array(w);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_comparison_warn_overload(common, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
    writer_end_object(w);
}

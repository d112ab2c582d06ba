#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codec/scheduling/policy_detail.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/tasks_simulation_internal.h"
#include "core/scheduling/tasks/tasks_explain.h"
#include "core/scheduling/tasks/tasks_policy.h"

enum { JOBS_ROOM = NAME_SHOWN + 32 };

/* Of a class of an outcome; those that the request declares are named there. */
static struct strview class_name(const struct codec_tasks_simulation *asked,
                                 const struct tasks_outcome *outcome,
                                 size_t c)
{
    const char *name = outcome->classes[c].name;
    return name != NULL ? strview_of(name) : asked->classes[c - 1];
}

static void encode_class(struct writer *w, struct strview name, const struct tasks_class *class)
{
    writer_begin_object(w);
    writer_member_text(w, "name", name);
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
                             const struct codec_tasks_simulation *asked,
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
        writer_member_text(w, "name", class_name(asked, outcome, c));
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
        writer_member_text(w, "name",
                           asked->sent != NULL ? asked->sent[i].name
                                               : codec_comparison_job_name(asked->names[i]));
        writer_member_number(w, "start_s", cell->start_s[i]);
        writer_member_number(w, "finish_s", cell->finish_s[i]);
        writer_member_number(w, "slowdown", cell->slowdown[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_masters(struct writer *w, const struct tasks_masters_load *masters)
{
    if (!writer_member_object_or_null(w, "masters", masters->n > 0))
        return;
    writer_member_integer(w, "count", masters->n);
    writer_member_number(w, "mean_messages_per_s", masters->mean_messages_per_s);
    writer_member_array(w, "busiest");
    for (uint32_t i = 0; i < masters->n && i < MASTERS_SHOWN_MAX; i++) {
        const struct tasks_master_load *shown = &masters->shown[i];
        writer_begin_object(w);
        writer_member_integer(w, "master", shown->master);
        writer_member_number(w, "messages_per_s", shown->messages_per_s);
        writer_member_number(w, "peak_messages_per_s", shown->peak_messages_per_s);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* detail NULL: nothing is included. */
static void encode_detail(struct writer *w,
                          const struct codec_tasks_simulation *asked,
                          const struct tasks_outcome *outcome,
                          const struct tasks_detail *detail)
{
    static const char *const kinds[QUEUE_KINDS] = {"short", "long"};
    if (writer_member_object_or_null(w, "queue_lengths",
                                     detail != NULL && detail->queues != NULL)) {
        codec_queues_encode(w, detail->queues, kinds);
        encode_masters(w, &detail->masters);
        writer_end_object(w);
    }
    if (!writer_member_array_or_null(w, "distributions",
                                     detail != NULL && detail->distributions != NULL))
        return;
    for (size_t c = 0; c < TASKS_CLASSES; c++)
        if (detail->distributions[c].jobs > 0)
            codec_distribution_encode(w, class_name(asked, outcome, c), &detail->distributions[c]);
    writer_end_array(w);
}

static void
encode_policy(struct writer *w, const struct codec_tasks_result *result, size_t l, size_t policy)
{
    const struct codec_tasks_simulation *asked = result->asked;
    const struct codec_comparison *common = &asked->common;
    const struct policy_load *load = &result->loads[l];
    const struct tasks_terms *terms = tasks_comparison_terms(result->comparison, l, policy);
    const struct tasks_outcome *outcome = tasks_load_mean(load, policy);
    bool compared = common->baseline != SIZE_MAX && common->baseline != policy;
    writer_begin_object(w);
    writer_member_text(w, "name", common->names[policy]);
    writer_member_string(w, "policy", terms->policy->name);
    writer_member_number(w, "makespan_s", outcome->makespan_s);
    writer_member_number(w, "utilization", outcome->utilization);
    writer_member_array(w, "classes");
    for (size_t c = 0; c < TASKS_CLASSES; c++)
        if (outcome->classes[c].count > 0)
            encode_class(w, class_name(asked, outcome, c), &outcome->classes[c]);
    writer_end_array(w);
    encode_reduction(w, asked, outcome, compared ? tasks_load_mean(load, common->baseline) : NULL);
    encode_jobs(w, asked, tasks_load_first(load, policy));
    encode_detail(w, asked, outcome, tasks_load_first(load, policy)->detail);
    writer_end_object(w);
}

/* A candidate of the search, with its policy's place in the table. */
static const void *terms_of(const void *context, size_t candidate, size_t *word)
{
    const struct codec_tasks_simulation *asked = context;
    const struct tasks_terms *terms = &asked->tried.terms[candidate];
    while (strcmp(tasks_policy_name((enum tasks_policy_id) * word), terms->policy->name) != 0)
        (*word)++;
    return terms;
}

/* "short jobs": those that the objective is about. */
static void describe_jobs(const struct codec_tasks_simulation *asked,
                          const struct tasks_outcome *outcome,
                          char text[JOBS_ROOM])
{
    enum tasks_class_id c = tasks_objective_class(outcome);
    struct strview name = strview_clip(class_name(asked, outcome, c), NAME_SHOWN);
    if (c == TASKS_ALL)
        (void)snprintf(text, JOBS_ROOM, "jobs");
    else if (asked->n_classes == 0)
        (void)snprintf(text, JOBS_ROOM, "short jobs");
    else
        (void)snprintf(text, JOBS_ROOM, "jobs of class %.*s", (int)name.n, name.at);
}

/* Without long jobs, or short ones, what policies do for either makes no difference. */
static void warn_classes(const struct codec_tasks_result *result, struct findings *warnings)
{
    const struct codec_tasks_simulation *asked = result->asked;
    const struct tasks_outcome *outcome = tasks_load_mean(&result->loads[0], 0);
    if (asked->n_classes > 0)
        return;
    if (outcome->classes[TASKS_LONG].count == 0)
        finding_add(warnings, "no_long_jobs",
                    "all jobs are short, as none has the class `long` and %s: what policies do for "
                    "short jobs at the cost of long ones makes no difference",
                    isnan(asked->short_cutoff_s)
                        ? "there is no `short_cutoff_s`"
                        : "the tasks of none last longer than `short_cutoff_s` on average");
    else if (outcome->classes[TASKS_SHORT].count == 0)
        finding_add(warnings, "no_short_jobs",
                    "all jobs are long, as none has the class `short` and the tasks of all last "
                    "longer than `short_cutoff_s` on average: the objective is about all of them");
}

void codec_tasks_result_encode(struct writer *w, const struct codec_tasks_result *result)
{
    const struct codec_tasks_simulation *asked = result->asked;
    const struct codec_comparison *common = &asked->common;
    const struct codec_search_report report = {&codec_tasks_policies, terms_of, asked};
    struct findings warnings = {.arena = w->arena};
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    writer_begin_object(w);
    codec_comparison_encode_head(w, "tasks", common);
    writer_member_array(w, "loads");
    for (size_t l = 0; l < loads; l++) {
        const struct policy_load *load = &result->loads[l];
        struct policy_searched searched;
        char of_jobs[JOBS_ROOM];
        if (result->found != NULL)
            searched = tasks_searched(&asked->model, &asked->tried, &result->found[l],
                                      common->search.error_chance);
        describe_jobs(asked, tasks_load_mean(load, 0), of_jobs);
        writer_begin_object(w);
        codec_recommendation_encode(
            w, tasks_results(result->comparison, load, l, common->objective, of_jobs, common->names,
                             result->found != NULL ? &searched : NULL, common->baseline, w->arena));
        writer_member_array(w, "policies");
        for (size_t p = 0; p < codec_comparison_entries(common); p++)
            encode_policy(w, result, l, p);
        writer_end_array(w);
        codec_search_encode_found(w, common, &report,
                                  result->found == NULL ? NULL : &result->found[l]);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_comparison_warn_overload(common, &warnings);
    warn_classes(result, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
    writer_end_object(w);
}

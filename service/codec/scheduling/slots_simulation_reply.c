#include <math.h>

#include "base/quantity_text.h"
#include "codec/scheduling/policy_detail.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "codec/scheduling/slowdown.h"
#include "core/scheduling/slots/slots_explain.h"

/* Of a name in a message. */
enum { NAME_SHOWN = 100 };

static void encode_jobs(struct writer *w,
                        const struct codec_slots_result *result,
                        const struct slots_cell *cell)
{
    const struct codec_slots_simulation *asked = result->asked;
    if (!writer_member_array_or_null(w, "jobs", cell->times != NULL))
        return;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        const struct slots_job_times *times = &cell->times[i];
        writer_begin_object(w);
        writer_member_text(w, "name",
                           asked->sent != NULL ? asked->sent[i].name
                                               : codec_comparison_job_name(asked->names[i]));
        writer_member_number(w, "start_s", times->start_s);
        writer_member_number(w, "map_end_s", times->map_end_s);
        writer_member_number(w, "finish_s", times->finish_s);
        writer_member_number(w, "runtime_s", result->comparison->runtime_s[i]);
        writer_member_number(w, "slowdown", cell->slowdown[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* baseline NULL: there is none, or this is it. */
static void encode_reduction(struct writer *w,
                             const struct slots_outcome *outcome,
                             const struct slots_outcome *baseline)
{
    if (!writer_member_object_or_null(w, "reduction_percent", baseline != NULL))
        return;
    writer_member_number(w, "makespan",
                         policy_reduction_percent(outcome->makespan_s, baseline->makespan_s));
    codec_percentiles_encode_reduction(w, "completion", &outcome->completion_s,
                                       &baseline->completion_s);
    codec_percentiles_encode_reduction(w, "slowdown", &outcome->slowdown, &baseline->slowdown);
    writer_member_number(w, "slowdown_variability_95",
                         policy_reduction_percent(outcome->slowdown_variability_95,
                                                  baseline->slowdown_variability_95));
    writer_end_object(w);
}

static void encode_classes(struct writer *w,
                           const struct codec_slots_result *result,
                           const struct policy_load *load,
                           size_t policy)
{
    size_t n;
    const struct slowdown_class *classes =
        slots_classes(result->comparison, load, policy, &n, w->arena);
    if (classes == NULL)
        w->failed = true;
    else
        codec_slowdown_classes_encode(w, classes, n);
}

/* Means over jobs with reduces, if there are any. */
static void encode_phases(struct writer *w, const struct slots_breakdown *breakdown)
{
    if (!writer_member_object_or_null(w, "phases", !isnan(breakdown->map_only_s)))
        return;
    writer_member_number(w, "map_only_s", breakdown->map_only_s);
    writer_member_number(w, "overlap_s", breakdown->overlap_s);
    writer_member_number(w, "shuffle_only_s", breakdown->shuffle_only_s);
    writer_end_object(w);
}

static void encode_speculation(struct writer *w,
                               const struct slots_terms *terms,
                               const struct slots_mean_speculation *of)
{
    if (!writer_member_object_or_null(w, "speculation",
                                      terms->speculation.kind != SLOTS_NO_SPECULATION))
        return;
    writer_member_number(w, "copies", of->copies);
    writer_member_number(w, "useful", of->useful);
    writer_member_number(w, "killed_on_straggler", of->killed_on_straggler);
    writer_member_number(w, "killed_on_slower", of->killed_on_slower);
    writer_member_number(w, "wasted_s", of->wasted_s);
    writer_end_object(w);
}

/* Where jobs have bytes to shuffle. */
static void encode_network(struct writer *w, const struct slots_mean_network *of)
{
    if (!writer_member_object_or_null(w, "network", !isnan(of->link_bytes)))
        return;
    writer_member_number(w, "link_bytes", of->link_bytes);
    writer_member_number(w, "local_bytes", of->local_bytes);
    writer_member_number(w, "link_utilization", of->link_utilization);
    writer_member_number(w, "busiest_link_utilization", of->busiest_link_utilization);
    writer_end_object(w);
}

/* NULL: nothing is included. */
static void encode_detail(struct writer *w, const struct slots_detail *detail)
{
    static const char *const kinds[QUEUE_KINDS] = {[SLOTS_MAP] = "map", [SLOTS_REDUCE] = "reduce"};
    if (writer_member_object_or_null(w, "queue_lengths",
                                     detail != NULL && detail->queues != NULL)) {
        codec_queues_encode(w, detail->queues, kinds);
        writer_end_object(w);
    }
    if (writer_member_array_or_null(w, "distributions",
                                    detail != NULL && detail->distribution != NULL)) {
        codec_distribution_encode(w, strview_of("all"), detail->distribution);
        writer_end_array(w);
    }
}

/* NULL: it is not included. */
static void encode_fairness(struct writer *w, const struct fairness_points *points)
{
    if (!writer_member_object_or_null(w, "fairness_over_time", points != NULL))
        return;
    writer_member_number(w, "start_s", points->start_s);
    writer_member_number(w, "step_s", points->step_s);
    writer_member_numbers(w, "values", points->values, points->n);
    writer_end_object(w);
}

/* Null where there are slots. */
static void encode_allocated(struct writer *w,
                             const struct codec_slots_result *result,
                             const struct slots_outcome *outcome)
{
    if (!writer_member_object_or_null(w, "allocated", codec_slots_has_room(result->asked)))
        return;
    writer_member_number(w, "vcores", outcome->vcores_allocated);
    writer_member_number(w, "memory_bytes", outcome->memory_allocated);
    writer_end_object(w);
}

static void
encode_policy(struct writer *w, const struct codec_slots_result *result, size_t l, size_t policy)
{
    const struct codec_comparison *common = &result->asked->common;
    const struct policy_load *load = &result->loads[l];
    const struct slots_outcome *outcome = slots_load_mean(load, policy);
    const struct slots_terms *terms = slots_comparison_terms(result->comparison, l, policy);
    bool compared = common->baseline != SIZE_MAX && common->baseline != policy;
    writer_begin_object(w);
    writer_member_text(w, "name", common->names[policy]);
    writer_member_string(w, "policy", terms->policy->name);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        writer_member_count(w, kind == SLOTS_MAP ? "map_slots" : "reduce_slots",
                            terms->split[SLOTS_MAP] > 0 ? (int64_t)terms->split[kind] : -1);
    writer_member_number(w, "makespan_s", outcome->makespan_s);
    writer_member_number(w, "utilization", outcome->utilization);
    encode_allocated(w, result, outcome);
    writer_member_number(w, "fairness", outcome->fairness);
    codec_percentiles_encode(w, "completion_s", &outcome->completion_s);
    codec_percentiles_encode(w, "slowdown", &outcome->slowdown);
    writer_member_number(w, "slowdown_variability_95", outcome->slowdown_variability_95);
    encode_phases(w, &outcome->breakdown);
    encode_speculation(w, terms, &outcome->speculation);
    encode_network(w, &outcome->network);
    encode_reduction(w, outcome, compared ? slots_load_mean(load, common->baseline) : NULL);
    encode_classes(w, result, load, policy);
    encode_jobs(w, result, slots_load_first(load, policy));
    const struct slots_detail *detail = slots_load_first(load, policy)->detail;
    encode_detail(w, detail);
    encode_fairness(w, detail != NULL ? detail->fairness : NULL);
    codec_slots_occupancy_encode(w, result, terms, detail != NULL ? detail->spans : NULL);
    writer_end_object(w);
}

/* Together the slots may be fewer than loaded while those of one kind are more. */
static void warn_kinds(const struct codec_slots_result *result, struct findings *warnings)
{
    static const char *const kinds[SLOTS_KINDS] = {[SLOTS_MAP] = "map", [SLOTS_REDUCE] = "reduce"};
    const struct codec_comparison *common = &result->asked->common;
    for (size_t i = 0; i < common->n_loads; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            double load = common->loads[i];
            double asked =
                slots_comparison_kind_load(result->comparison, (enum slots_kind)kind, load);
            if (load >= 1 || !(asked >= 1))
                continue;
            struct finding *finding = finding_add(
                warnings, "kind_overload",
                "at load %s, the work for %s slots alone is %s times what they can do: jobs "
                "wait ever longer until the last one has arrived",
                quantity_digits(load, 4).text, kinds[kind], quantity_number(asked).text);
            finding_number(finding, "load", load);
            finding_number(finding, "kind_load", asked);
        }
}

/* Several queues, and jobs in the first one only. */
static void warn_queues(const struct codec_slots_simulation *asked, struct findings *warnings)
{
    const struct codec_comparison *common = &asked->common;
    for (size_t i = 0; i < asked->n_jobs; i++)
        if (asked->jobs[i].queue > 0)
            return;
    for (size_t p = 0; p < common->n_policies; p++) {
        const struct slots_terms *terms = &asked->policies[p];
        struct strview name = strview_clip(common->names[p], NAME_SHOWN);
        if (terms->policy != &slots_policy_capacity || terms->n_tenants < 2)
            continue;
        struct finding *finding = finding_add(
            warnings, "one_queue_only",
            "policy \"%.*s\" has several queues, and only the first one has jobs: jobs "
            "say by `queue` which is theirs, from 1 on, and without it are in the first",
            (int)name.n, name.at);
        finding_number(finding, "queues", (double)terms->n_tenants);
    }
}

/* A candidate of the search, with its policy's place in the table. */
static const void *terms_of(const void *context, size_t candidate, size_t *word)
{
    const struct codec_slots_simulation *asked = context;
    const struct slots_terms *terms = &asked->tried.terms[candidate];
    while (slots_policies[*word] != terms->policy)
        (*word)++;
    return terms;
}

void codec_slots_result_encode(struct writer *w, const struct codec_slots_result *result)
{
    const struct codec_comparison *common = &result->asked->common;
    struct findings warnings = {.arena = w->arena};
    const struct codec_search_report report = {&codec_slots_policies, terms_of, result->asked};
    size_t loads = policy_comparison_loads(&result->comparison->plan);
    writer_begin_object(w);
    codec_comparison_encode_head(w, "slots", common);
    writer_member_array(w, "loads");
    for (size_t l = 0; l < loads; l++) {
        struct policy_searched searched;
        if (result->found != NULL)
            searched = slots_searched(&result->asked->tried, result->asked->families,
                                      common->search.n_families, &result->found[l],
                                      common->search.error_chance);
        writer_begin_object(w);
        codec_recommendation_encode(w, slots_results(result->comparison, &result->loads[l], l,
                                                     common->objective, common->names,
                                                     result->found != NULL ? &searched : NULL,
                                                     common->baseline, w->arena));
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
    warn_kinds(result, &warnings);
    warn_queues(result->asked, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
    writer_end_object(w);
}

#include "core/control/explain.h"

#include "base/plural.h"
#include "base/quantity_text.h"

static bool is_better(const struct edf_metrics *a, const struct edf_metrics *b)
{
    if (a->advance != b->advance)
        return a->advance > b->advance;
    if (a->epsilon_delayed != b->epsilon_delayed)
        return a->epsilon_delayed < b->epsilon_delayed;
    return a->epsilon < b->epsilon;
}

size_t control_explain_best(const struct control_run runs[],
                            const struct control_result results[],
                            size_t n,
                            struct findings *why)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (is_better(&results[i].metrics, &results[best].metrics))
            best = i;
    const struct edf_metrics *metrics = &results[best].metrics;
    size_t jobs = metrics->advance + metrics->delayed;
    struct finding *finding;
    if (metrics->delayed == 0)
        finding =
            finding_add(why, "all_deadlines_met",
                        "With %s and gamma %s every job meets its deadline. Of the outcomes in "
                        "which all do, it has the least mean deadline error, %s.",
                        runs[best].strategy->name, quantity_number(runs[best].gamma).text,
                        quantity_percent(metrics->epsilon).text);
    else
        finding = finding_add(
            why, "most_deadlines_met",
            "With %s and gamma %s, of %zu job%s %zu %s in time. Of the outcomes with as many, it "
            "has the least sum of the late jobs' deadline errors, %s.",
            runs[best].strategy->name, quantity_number(runs[best].gamma).text, jobs, PLURAL(jobs),
            metrics->advance, PLURAL_VERB(metrics->advance, "is", "are"),
            quantity_percent(metrics->epsilon_delayed).text);
    finding_number(finding, "advance", (double)metrics->advance);
    finding_number(finding, "jobs", (double)jobs);
    finding_number(finding, "epsilon", metrics->epsilon);
    finding_number(finding, "epsilon_delayed", metrics->epsilon_delayed);
    return best;
}

void control_explain_warnings(const struct strview names[],
                              const struct control_model *model,
                              struct findings *warnings)
{
    size_t impossible = 0;
    size_t first = 0;
    for (size_t j = model->plan.n_jobs; j-- > 0;)
        if (model->shortest_s[j] > model->planned[j].deadline_s) {
            impossible++;
            first = j;
        }
    if (impossible == 0)
        return;
    const char *name = arena_printf(warnings->arena, "%.*s", (int)names[first].n, names[first].at);
    if (name == NULL) {
        warnings->failed = true;
        return;
    }
    struct finding *finding = finding_add(
        warnings, "critical_path_exceeds_deadline",
        "%zu job%s cannot be in time on any number of cores: the stages of %s take "
        "%s one after "
        "another, its deadline is %s.",
        impossible, PLURAL(impossible), name, quantity_duration(model->shortest_s[first]).text,
        quantity_duration(model->planned[first].deadline_s).text);
    finding_count(finding, impossible);
    finding_text(finding, "job", name);
    finding_number(finding, "critical_path_s", model->shortest_s[first]);
    finding_number(finding, "deadline_s", model->planned[first].deadline_s);
}

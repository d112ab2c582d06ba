#include "core/geo/plan_explain.h"

#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/quantity_text.h"

static void explain_shares(const struct geo_problem *problem,
                           const struct geo_plan *plan,
                           struct findings *findings)
{
    double slots = 0;
    double shares = 0;
    for (size_t i = 0; i < problem->n_clusters; i++)
        slots += (double)problem->clusters[i].slots;
    for (size_t i = 0; i < plan->n_shares; i++)
        shares += (double)plan->shares[i].slots;
    if (shares <= slots)
        return;
    struct finding *finding =
        finding_add(findings, "shares_exceed_slots",
                    "The shares add up to %.0f slot%s, and the clusters have %.0f: they bound what "
                    "a job may hold, and promise none.",
                    shares, PLURAL(shares), slots);
    finding_number(finding, "shares", shares);
    finding_number(finding, "slots", slots);
}

static int compare_task(const void *key, const void *entry)
{
    const struct geo_plan_copy *copy = key;
    const struct geo_plan_task *task = entry;
    if (copy->job != task->job)
        return copy->job < task->job ? -1 : 1;
    return copy->task < task->task ? -1 : copy->task > task->task;
}

static bool lies_in_one_cluster(const struct geo_plan_task *task)
{
    for (size_t i = 1; i < task->n_clusters; i++)
        if (task->clusters[i] != task->clusters[0])
            return false;
    return true;
}

static void explain_insurance(const struct geo_plan *plan, struct findings *findings)
{
    size_t copies = 0;
    double most = 0;
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct geo_plan_copy *copy = &plan->copies[i];
        if (isnan(copy->saved_s))
            continue; /* the first of its task */
        const struct geo_plan_task *task =
            bsearch(copy, plan->tasks, plan->n_tasks, sizeof *plan->tasks, compare_task);
        if (task == NULL || !lies_in_one_cluster(task))
            continue;
        copies++;
        most = fmax(most, copy->saved_s / (task->duration_s + copy->saved_s));
    }
    if (copies == 0)
        return;
    struct finding *finding = finding_add(
        findings, "copies_share_a_cluster",
        "%zu further %s to tasks that have all their copies in one cluster, whose loss none of "
        "them survives; %s a task at most %s of its time.",
        copies, PLURAL_VERB(copies, "copy goes", "copies go"),
        PLURAL_VERB(copies, "it saves", "one saves"), quantity_share(most).text);
    finding_count(finding, copies);
    finding_number(finding, "saved_percent_most", 100 * most);
}

void geo_plan_explain(const struct geo_problem *problem,
                      const struct geo_plan *plan,
                      struct findings *findings)
{
    explain_shares(problem, plan, findings);
    explain_insurance(plan, findings);
}

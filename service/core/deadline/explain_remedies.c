#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/deadline/explain.h"

/* --- what to change --- */

/* Of changes that are each enough, the one that is least later; NULL: there is none. */
static const struct edf_change *least_change(const struct edf_change_list *list)
{
    const struct edf_change *least = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (least == NULL || list->items[i].later_s < least->later_s)
            least = &list->items[i];
    return least;
}

static void add_evidence(struct finding *finding, struct strview name, struct arena *arena)
{
    finding_text(finding, "job", arena_printf(arena, "%.*s", (int)name.n, name.at));
}

static void explain_one_deadline(const struct strview names[],
                                 const struct edf_job jobs[],
                                 const struct edf_change_list *list,
                                 struct findings *to)
{
    const struct edf_change *least = least_change(list);
    if (least == NULL)
        return;
    struct strview name = names[least->job];
    struct finding *finding = finding_add(
        to, "one_later_deadline", "If %.*s alone may take %s instead of %s, every deadline is met.",
        (int)name.n, name.at, quantity_duration_at_least(least->deadline_s).text,
        quantity_duration(jobs[least->job].deadline_s).text);
    add_evidence(finding, name, to->arena);
    finding_number(finding, "deadline_s", least->deadline_s);
    finding_number(finding, "later_s", least->later_s);
    finding_count(finding, list->n);
}

static void explain_deadlines(const struct edf_change_list *list, struct findings *to)
{
    if (list->n < 2)
        return;
    struct finding *finding =
        finding_add(to, "later_deadlines",
                    "With later deadlines of %zu job%s, %s in all, every deadline is met%s.",
                    list->n, PLURAL(list->n), quantity_duration_at_least(list->total_s).text,
                    list->exact ? "; no less in all is enough" : "");
    finding_count(finding, list->n);
    finding_number(finding, "total_later_s", list->total_s);
}

static void explain_releases(const struct strview names[],
                             const struct edf_changes *changes,
                             struct findings *to)
{
    const struct edf_change *least = least_change(&changes->one_later_release);
    const struct edf_change_list *several = &changes->later_releases;
    if (least != NULL) {
        struct strview name = names[least->job];
        struct finding *finding =
            finding_add(to, "one_later_release",
                        "If %.*s alone is released %s later, every job still ends by when it "
                        "must, this one included.",
                        (int)name.n, name.at, quantity_duration_at_least(least->later_s).text);
        add_evidence(finding, name, to->arena);
        finding_number(finding, "release_s", least->release_s);
        finding_number(finding, "later_s", least->later_s);
        finding_count(finding, changes->one_later_release.n);
    } else if (several->n > 0) {
        struct finding *finding =
            finding_add(to, "later_releases",
                        "If %zu job%s %s released later, every job still ends by when it must.",
                        several->n, PLURAL(several->n), PLURAL_VERB(several->n, "is", "are"));
        finding_count(finding, several->n);
        finding_number(finding, "total_later_s", several->total_s);
    }
}

static void explain_left_out(const struct strview names[],
                             const struct edf_left_out *left_out,
                             struct findings *to)
{
    if (left_out->n == 0)
        return;
    struct strview name = names[left_out->jobs[0]];
    struct finding *finding;
    if (left_out->n == 1)
        finding =
            finding_add(to, "jobs_left_out", "Without %.*s every other job meets its deadline.",
                        (int)name.n, name.at);
    else
        finding = finding_add(to, "jobs_left_out",
                              "Without %zu job%s, such as %.*s, every other job meets its "
                              "deadline%s.",
                              left_out->n, PLURAL(left_out->n), (int)name.n, name.at,
                              left_out->exact ? "; fewer are not enough" : "");
    add_evidence(finding, name, to->arena);
    finding_count(finding, left_out->n);
}

void edf_changes_explain(const struct strview names[],
                         const struct edf_job jobs[],
                         const struct edf_changes *changes,
                         struct findings *reasons)
{
    explain_one_deadline(names, jobs, &changes->one_later_deadline, reasons);
    explain_deadlines(&changes->later_deadlines, reasons);
    explain_releases(names, changes, reasons);
    explain_left_out(names, &changes->left_out, reasons);
}

/* --- what delays them --- */

/* So many late jobs get a sentence. */
enum { SENTENCES_MAX = 5 };

static double lateness_of(const struct edf_job *job, const struct edf_outcome *outcome)
{
    return outcome->execution_s - job->deadline_s;
}

/* Late by most of those that are less late than `than`, or as late and behind it. */
static size_t
next_late(const struct edf_job jobs[], size_t n, const struct edf_outcome outcomes[], size_t than)
{
    size_t next = n;
    for (size_t j = 0; j < n; j++) {
        double late = lateness_of(&jobs[j], &outcomes[j]);
        double before = than < n ? lateness_of(&jobs[than], &outcomes[than]) : (double)INFINITY;
        bool behind = late < before || (late == before && j > than);
        if (!outcomes[j].met && behind &&
            (next == n || late > lateness_of(&jobs[next], &outcomes[next])))
            next = j;
    }
    return next;
}

static void explain_delay(const struct strview names[],
                          const struct edf_job *job,
                          size_t j,
                          const struct edf_job_delays *delays,
                          struct findings *to)
{
    struct strview name = names[j];
    double own = 0;
    if (delays->critical_path_s > job->deadline_s) {
        struct finding *alone =
            finding_add(to, "critical_path_too_long",
                        "%.*s takes at least %s on any number of cores, and may take %s.",
                        (int)name.n, name.at, quantity_duration(delays->critical_path_s).text,
                        quantity_duration(job->deadline_s).text);
        add_evidence(alone, name, to->arena);
        finding_number(alone, "critical_path_s", delays->critical_path_s);
        finding_number(alone, "deadline_s", job->deadline_s);
        return;
    }
    if (delays->n == 0)
        return;
    for (size_t i = 0; i < delays->n; i++)
        own += delays->items[i].job == j ? delays->items[i].share : 0;
    const struct edf_delay *most = &delays->items[0];
    struct strview by = names[most->job];
    struct finding *finding;
    if (most->job == j)
        finding = finding_add(to, "delayed",
                              "%.*s has tasks waiting for %s; meanwhile %s of the core "
                              "time is its own.",
                              (int)name.n, name.at, quantity_duration(delays->waiting_s).text,
                              quantity_share(own).text);
    else if (delays->n == 1)
        finding = finding_add(to, "delayed",
                              "%.*s has tasks waiting for %s; meanwhile all the core time is "
                              "that of %.*s.",
                              (int)name.n, name.at, quantity_duration(delays->waiting_s).text,
                              (int)by.n, by.at);
    else
        finding =
            finding_add(to, "delayed",
                        "%.*s has tasks waiting for %s; meanwhile %.*s has %s of the "
                        "core time, more than any other job, and %s is its own.",
                        (int)name.n, name.at, quantity_duration(delays->waiting_s).text, (int)by.n,
                        by.at, quantity_share(most->share).text, quantity_share(own).text);
    add_evidence(finding, name, to->arena);
    finding_number(finding, "waiting_s", delays->waiting_s);
    finding_text(finding, "by", arena_printf(to->arena, "%.*s", (int)by.n, by.at));
    finding_number(finding, "core_s", most->core_s);
    finding_number(finding, "share", most->share);
    finding_number(finding, "own_share", own);
}

void edf_delays_explain(const struct strview names[],
                        const struct edf_job jobs[],
                        size_t n_jobs,
                        const struct edf_outcome outcomes[],
                        const struct edf_job_delays delays[],
                        struct findings *reasons)
{
    size_t j = n_jobs;
    for (size_t i = 0; i < SENTENCES_MAX; i++) {
        j = next_late(jobs, n_jobs, outcomes, j);
        if (j == n_jobs)
            return;
        explain_delay(names, &jobs[j], j, &delays[j], reasons);
    }
}

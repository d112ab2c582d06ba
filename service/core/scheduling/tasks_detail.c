#include "core/scheduling/tasks_detail.h"

#include <math.h>
#include <stdlib.h>

#include "core/scheduling/pigeon_layout.h"
#include "core/scheduling/tasks_policy.h"

uint32_t tasks_terms_masters(const struct tasks_terms *terms)
{
    if (terms->policy == &centralised_policy)
        return 1;
    if (terms->policy != &pigeon_policy)
        return 0;
    return terms->layout != NULL ? pigeon_layout_groups(terms) : terms->groups;
}

bool tasks_observation_begin(struct tasks_observation *observation,
                             const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             const struct tasks_detail *detail,
                             struct arena *scratch)
{
    struct tasks_observer *observer = &observation->observer;
    *observation = (struct tasks_observation){.observer = {.classes = QUEUE_KINDS},
                                              .masters = tasks_terms_masters(terms)};
    if (detail->queues != NULL) {
        double start_s = model->jobs[model->order[0]].arrival_s;
        observer->occupancy = &observation->occupancy;
        if (!queue_lengths_begin(&observation->occupancy, start_s, scratch))
            return false;
    }
    if (observation->masters == 0)
        return true;
    observer->masters = arena_calloc(scratch, observation->masters, sizeof *observer->masters);
    return observer->masters != NULL;
}

/* --- masters --- */

/* The most messages first, then by number. */
static int order_by_messages(const void *a, const void *b)
{
    const struct tasks_master_load *one = a;
    const struct tasks_master_load *other = b;
    if (one->messages_per_s != other->messages_per_s)
        return one->messages_per_s < other->messages_per_s ? 1 : -1;
    return one->master < other->master ? -1 : 1;
}

static bool take_masters(const struct tasks_observation *observation,
                         double makespan_s,
                         struct arena *scratch,
                         struct tasks_masters_load *found)
{
    const struct tasks_master *masters = observation->observer.masters;
    uint32_t n = observation->masters;
    double reserved_s = 0;
    *found = (struct tasks_masters_load){.n = n};
    if (n == 0)
        return true;
    struct tasks_master_load *loads = arena_array(scratch, n, sizeof *loads);
    if (loads == NULL)
        return false;
    for (uint32_t m = 0; m < n; m++) {
        loads[m] = (struct tasks_master_load){m, (double)masters[m].messages / makespan_s,
                                              (double)masters[m].peak};
        found->mean_messages_per_s += loads[m].messages_per_s / n;
        found->reserved += masters[m].reserved;
        reserved_s += masters[m].reserved_s;
    }
    qsort(loads, n, sizeof *loads, order_by_messages);
    for (uint32_t m = 0; m < n && m < MASTERS_SHOWN_MAX; m++)
        found->shown[m] = loads[m];
    found->reserved_utilization =
        found->reserved > 0 ? reserved_s / (found->reserved * makespan_s) : (double)NAN;
    return true;
}

/* --- jobs --- */

static bool take_distribution(const struct tasks_model *model,
                              const struct tasks_result *result,
                              uint32_t class,
                              struct arena *scratch,
                              struct job_distribution *distribution)
{
    struct arena_mark mark = arena_mark(scratch);
    uint32_t classes = class == TASKS_ALL ? 1 : tasks_model_classes(model);
    uint32_t selected = class == TASKS_ALL ? 0 : class - 1;
    double *completion_s = arena_array(scratch, model->n_jobs, 2 * sizeof *completion_s);
    size_t n = 0;
    if (completion_s == NULL)
        return false;
    double *slowdown = completion_s + model->n_jobs;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        if (tasks_class_of(&model->jobs[j], classes) != selected)
            continue;
        completion_s[n] = tasks_completion_s(model, result, j);
        slowdown[n++] = tasks_slowdown(model, result, j);
    }
    bool made = job_distribution_of(completion_s, slowdown, n, scratch, distribution);
    arena_rewind(scratch, mark);
    return made;
}

static bool take(const struct tasks_observation *observation,
                 const struct tasks_model *model,
                 const struct tasks_result *result,
                 struct arena *scratch,
                 struct tasks_detail *detail)
{
    double last_s = 0;
    for (uint32_t j = 0; j < model->n_jobs; j++)
        last_s = fmax(last_s, result->finish_s[j]);
    if (detail->queues != NULL)
        queue_lengths_take(&observation->occupancy, last_s, detail->queues);
    for (uint32_t c = 0; detail->distributions != NULL && c <= tasks_model_classes(model); c++)
        if (!take_distribution(model, result, c, scratch, &detail->distributions[c]))
            return false;
    double makespan_s = last_s - model->jobs[model->order[0]].arrival_s;
    return take_masters(observation, makespan_s, scratch, &detail->masters);
}

enum pv_code tasks_detail_take(const struct tasks_observation *observation,
                               const struct tasks_model *model,
                               const struct tasks_result *result,
                               struct arena *scratch,
                               struct tasks_detail *detail,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    bool taken = take(observation, model, result, scratch, detail);
    arena_rewind(scratch, mark);
    return taken ? PV_OK : pv_no_memory(err);
}

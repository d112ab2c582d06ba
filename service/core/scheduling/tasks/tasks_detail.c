#include "core/scheduling/tasks/tasks_detail.h"

#include <math.h>

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_policy.h"

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

/* Among those shown so far, n of them, the most messages first, of equal ones the first by number;
 * one that comes after all of them in a full list is not. Returns how many there are then. */
static uint32_t
show(struct tasks_masters_load *found, uint32_t n, const struct tasks_master_load *load)
{
    uint32_t place = n < MASTERS_SHOWN_MAX ? n : MASTERS_SHOWN_MAX - 1;
    if (n == MASTERS_SHOWN_MAX && found->shown[place].messages_per_s >= load->messages_per_s)
        return n;
    for (; place > 0 && found->shown[place - 1].messages_per_s < load->messages_per_s; place--)
        found->shown[place] = found->shown[place - 1];
    found->shown[place] = *load;
    return n < MASTERS_SHOWN_MAX ? n + 1 : n;
}

static void take_masters(const struct tasks_observation *observation,
                         double makespan_s,
                         struct tasks_masters_load *found)
{
    const struct tasks_master *masters = observation->observer.masters;
    uint32_t n = observation->masters;
    double reserved_s = 0;
    uint32_t shown = 0;
    *found = (struct tasks_masters_load){.n = n};
    for (uint32_t m = 0; m < n; m++) {
        const struct tasks_master_load load = {m, (double)masters[m].messages / makespan_s,
                                               (double)masters[m].peak};
        shown = show(found, shown, &load);
        found->mean_messages_per_s += load.messages_per_s / n;
        found->reserved += masters[m].reserved;
        reserved_s += masters[m].reserved_s;
    }
    found->reserved_utilization =
        found->reserved > 0 ? reserved_s / (found->reserved * makespan_s) : (double)NAN;
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

static enum pv_code take(const struct tasks_observation *observation,
                         const struct tasks_model *model,
                         const struct tasks_result *result,
                         const struct tasks_progress *progress,
                         struct arena *scratch,
                         struct tasks_detail *detail,
                         struct pv_error *err)
{
    double last_s = 0;
    for (uint32_t j = 0; j < model->n_jobs; j++)
        last_s = fmax(last_s, result->finish_s[j]);
    if (detail->queues != NULL)
        queue_lengths_take(&observation->occupancy, last_s, detail->queues);
    for (uint32_t c = 0; detail->distributions != NULL && c <= tasks_model_classes(model); c++) {
        if (!tasks_progress_goes_on(progress, model->tasks))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
        if (!take_distribution(model, result, c, scratch, &detail->distributions[c]))
            return pv_no_memory(err);
    }
    double makespan_s = last_s - model->jobs[model->order[0]].arrival_s;
    take_masters(observation, makespan_s, &detail->masters);
    return PV_OK;
}

enum pv_code tasks_detail_take(const struct tasks_observation *observation,
                               const struct tasks_model *model,
                               const struct tasks_result *result,
                               const struct tasks_progress *progress,
                               struct arena *scratch,
                               struct tasks_detail *detail,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = take(observation, model, result, progress, scratch, detail, err);
    arena_rewind(scratch, mark);
    return code;
}

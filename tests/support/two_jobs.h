#ifndef SUPPORT_TWO_JOBS_H
#define SUPPORT_TWO_JOBS_H

#include <math.h>

#include "codec/scheduling/slots_simulation.h"
#include "codec/scheduling/tasks_simulation.h"

/* The jobs of every workload that a request of a simulation names: one of one map, and one of two. */

static const struct workload_summary two_jobs = {
    .jobs = 2, .tasks = {3, 0}, .runs = {2, 0}, .name_bytes = 3, .chunks = 1, .sorted = true};

static inline enum pv_code
two_jobs_load_slots(struct codec_slots_simulation *asked, struct arena *arena, struct pv_error *err)
{
    static const struct slots_tasks tasks[] = {{1.5, 1}, {4, 2}};
    static const char *names[] = {"", "b"};
    static struct slots_job jobs[2];
    const struct workload_jobs loaded = {.n = 2, .slots = jobs, .names = names};
    for (size_t i = 0; i < 2; i++)
        jobs[i] = (struct slots_job){.arrival_s = (double)i,
                                     .task_lists = {[SLOTS_MAP] = {&tasks[i], 1}},
                                     .predicted_size_s = (double)NAN};
    return asked->common.workload[0] == '\0'
               ? PV_OK
               : codec_slots_simulation_load(asked, &loaded, arena, err);
}

static inline enum pv_code
two_jobs_load_tasks(struct codec_tasks_simulation *asked, struct arena *arena, struct pv_error *err)
{
    static const double durations_s[] = {1.5, 4, 4};
    static const char *names[] = {"", "b"};
    static struct tasks_job jobs[2];
    const struct workload_jobs loaded = {.n = 2, .tasks = jobs, .names = names};
    jobs[0] = (struct tasks_job){.durations_s = durations_s, .tasks = 1};
    jobs[1] = (struct tasks_job){
        .arrival_s = 1, .durations_s = durations_s + 1, .tasks = 2, .is_long = true};
    return asked->common.workload[0] == '\0'
               ? PV_OK
               : codec_tasks_simulation_load(asked, &loaded, arena, err);
}

#endif

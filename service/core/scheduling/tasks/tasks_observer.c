#include "core/scheduling/tasks/tasks_observer.h"

void tasks_observe_arrival(const struct tasks_observer *observer, const struct tasks_job *job)
{
    if (observer->occupancy != NULL)
        occupancy_change(observer->occupancy, tasks_class_of(job, observer->classes),
                         job->arrival_s, job->tasks);
}

void tasks_observe_start(const struct tasks_observer *observer,
                         const struct tasks_job *job,
                         const struct tasks_start *start)
{
    if (observer->started != NULL)
        observer->started(observer->context, start);
    if (observer->occupancy == NULL)
        return;
    uint32_t class = tasks_class_of(job, observer->classes);
    occupancy_change(observer->occupancy, class, start->start_s, -1);
    occupancy_span(observer->occupancy, observer->classes + class, start->start_s, start->end_s);
}

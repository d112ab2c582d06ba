#ifndef CORE_SCHEDULING_TASKS_TASKS_PROGRESS_H
#define CORE_SCHEDULING_TASKS_TASKS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called now and then with the tasks that were given to workers. false: stop. */
struct tasks_progress {
    bool (*report)(void *context, uint64_t tasks);
    void *context;
};

/* Between parts of the work that give no tasks. progress may be NULL. */
static inline bool tasks_progress_goes_on(const struct tasks_progress *progress, uint64_t tasks)
{
    return progress == NULL || progress->report(progress->context, tasks);
}

#endif

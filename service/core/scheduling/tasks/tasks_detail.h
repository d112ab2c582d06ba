#ifndef CORE_SCHEDULING_TASKS_TASKS_DETAIL_H
#define CORE_SCHEDULING_TASKS_TASKS_DETAIL_H

#include "core/scheduling/comparison/job_distribution.h"
#include "core/scheduling/comparison/queue_lengths.h"
#include "core/scheduling/tasks/tasks_observer.h"
#include "core/scheduling/tasks/tasks_outcome.h"

/* What may be wanted of a simulation of bags of tasks beside its outcome. */

enum { MASTERS_SHOWN_MAX = 100 };

struct tasks_master_load {
    uint32_t master;       /* the group, from 0 */
    double messages_per_s; /* over the makespan */
    double peak_messages_per_s;
};

/* The masters of pigeon and of centralised. */
struct tasks_masters_load {
    uint32_t n;                                        /* 0: there are none */
    struct tasks_master_load shown[MASTERS_SHOWN_MAX]; /* min(n, MASTERS_SHOWN_MAX): those with most
                                                          messages, the most first */
    double mean_messages_per_s;                        /* over all */
    uint32_t reserved;                                 /* workers that long tasks never get */
    double
        reserved_utilization; /* the share of the makespan that these work; NAN: there are none */
};

struct tasks_detail {
    struct tasks_masters_load masters;
    struct queue_lengths *
        queues; /* of short and long jobs' tasks; of declared classes the lowest is long; NULL: not wanted */
    struct job_distribution *distributions; /* of TASKS_CLASSES, zeroed; NULL: not wanted */
};

/* How many masters a policy has. */
uint32_t tasks_terms_masters(const struct tasks_terms *terms);

/* What observes for it. */
struct tasks_observation {
    struct tasks_observer observer;
    struct occupancy occupancy;
    uint32_t masters;
};

/* In scratch. false: out of memory. */
bool tasks_observation_begin(struct tasks_observation *observation,
                             const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             const struct tasks_detail *detail,
                             struct arena *scratch);

/* Of an observed simulation. scratch is back at its mark. progress may be NULL; all tasks are reported.
 * PV_E_MEMORY, PV_E_CANCELLED. O(jobs log(jobs) + masters). */
enum pv_code tasks_detail_take(const struct tasks_observation *observation,
                               const struct tasks_model *model,
                               const struct tasks_result *result,
                               const struct tasks_progress *progress,
                               struct arena *scratch,
                               struct tasks_detail *detail,
                               struct pv_error *err) PV_MUSTCHECK;

#endif

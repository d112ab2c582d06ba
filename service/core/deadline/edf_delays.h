#ifndef CORE_DEADLINE_EDF_DELAYS_H
#define CORE_DEADLINE_EDF_DELAYS_H

#include "core/deadline/clairvoyant_edf.h"

/* Why jobs are late: whose tasks the cores ran while a late job had tasks waiting for a core
 * (docs/design.md, "What delays a job"). */
struct edf_delay {
    size_t job; /* the late one itself may be among them */
    double core_s;
    double share; /* of what all jobs ran meanwhile */
};

struct edf_job_delays {
    struct edf_delay *items; /* most core time first; without those that ran nothing meanwhile */
    size_t n;                /* 0 for a job in time */
    double waiting_s;        /* how long some task was waiting; 0 for a job in time */
    double critical_path_s;  /* its execution, were there a core for every task */
};

/*
 * outcomes  those of edf_schedule for the same jobs and cores
 * delays    n_jobs entries, the caller's; their items live in `arena`
 *
 * One replay. Memory: two doubles for each pair of a late job and a job, in scratch, which is back at
 * its mark.
 * PV_E_MEMORY, PV_E_DOMAIN as edf_schedule.
 */
enum pv_code edf_find_delays(const struct edf_job jobs[],
                             size_t n_jobs,
                             size_t cores,
                             const struct edf_outcome outcomes[],
                             struct arena *arena,
                             struct arena *scratch,
                             struct edf_job_delays delays[],
                             struct pv_error *err) PV_MUSTCHECK;

#endif

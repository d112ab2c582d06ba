#ifndef CORE_DEADLINE_EDF_CHANGES_H
#define CORE_DEADLINE_EDF_CHANGES_H

#include "core/deadline/clairvoyant_edf.h"
#include "core/deadline/edf_change.h"

/*
 * What to change in an infeasible set of jobs, so that on the cores there are every job meets its
 * deadline (docs/design.md, "Remedies"). Beside struct edf_remedies, which has the cores and the
 * deadlines that a single way of raising them leads to.
 */

struct edf_changes {
    struct edf_change_list one_later_deadline; /* each of them alone is enough */
    struct edf_change_list later_deadlines;    /* all of them together */
    struct edf_change_list one_later_release;  /* each alone */
    struct edf_change_list later_releases;     /* together; n is 0 where none were found */
    struct edf_left_out left_out;
};

/*
 * Look for them. Jobs that are not all met before is what it is for; where all are, the lists are
 * empty.
 *
 * raised_deadlines_s  those of edf_find_remedies for the same jobs and cores
 * task_budget         simulated tasks of each of the five searches, counted as edf_find_remedies
 *                     counts them; a comparison of n jobs' orders without a replay counts as
 *                     n^2/64 + 1. What a search that is cut has found until then holds.
 * arena               holds the lists; another one than scratch, which is back at its mark.
 *
 * PV_E_MEMORY, PV_E_DOMAIN as edf_schedule.
 */
enum pv_code edf_find_changes(const struct edf_job jobs[],
                              size_t n_jobs,
                              size_t cores,
                              const double raised_deadlines_s[],
                              uint64_t task_budget,
                              struct arena *arena,
                              struct arena *scratch,
                              struct edf_changes *changes,
                              struct pv_error *err) PV_MUSTCHECK;

#endif

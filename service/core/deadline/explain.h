#ifndef CORE_DEADLINE_EXPLAIN_H
#define CORE_DEADLINE_EXPLAIN_H

#include "base/finding.h"
#include "base/strview.h"
#include "core/deadline/clairvoyant_edf.h"
#include "core/deadline/contention.h"
#include "core/deadline/edf_changes.h"
#include "core/deadline/edf_delays.h"
#include "core/deadline/stage_plan.h"
#include "core/deadline/worker_memory.h"

/*
 * Why the answers of this room are what they are, as findings. The first one answers the question;
 * those after it say what the answer is based on and what would change it. Texts live in the
 * findings' arena.
 */

/*
 * names[i] belongs to jobs[i]. remedies: NULL where all deadlines are met.
 *
 * `all_deadlines_met` or `deadlines_missed`, each with the job that decides it (least slack, or
 * most late), then `cores_in_use`, and for a missed deadline `more_cores`, `no_cores_suffice` or
 * `search_cut`.
 */
void feasibility_explain(const struct strview names[],
                         const struct edf_job jobs[],
                         size_t n_jobs,
                         size_t cores,
                         const struct edf_outcome outcomes[],
                         const struct edf_metrics *metrics,
                         const struct edf_remedies *remedies,
                         struct findings *reasons);

/*
 * What to change, one finding for each kind of change that was found: `one_later_deadline` and
 * `one_later_release`, each with the job that has to be least late; `later_deadlines` where several
 * are; `later_releases`, `jobs_left_out`. names[i] belongs to jobs[i].
 */
void edf_changes_explain(const struct strview names[],
                         const struct edf_job jobs[],
                         const struct edf_changes *changes,
                         struct findings *reasons);

/*
 * Why jobs are late, of those that are late by most: `critical_path_too_long` where no cores would
 * help, else `delayed`, with the job that had most core time meanwhile.
 */
void edf_delays_explain(const struct strview names[],
                        const struct edf_job jobs[],
                        size_t n_jobs,
                        const struct edf_outcome outcomes[],
                        const struct edf_job_delays delays[],
                        struct findings *reasons);

/*
 * `stages_fit`, or `too_few_cores` and `deadline_exceeded`, whichever holds; each with the stage
 * that needs most cores.
 */
void stage_plan_explain(const struct stage_plan_terms *terms,
                        const struct stage_plan *plan,
                        struct findings *reasons);

/* `contention`, `no_contention` or `nothing_requested`, and `saturating` where gamma adds to what
 * is requested. */
void contention_explain(const struct contention_strategy *strategy,
                        const struct contention_terms *terms,
                        const struct contention_outcome *outcome,
                        struct findings *reasons);

/*
 * What to be careful about in a memory plan of one worker: `heap_exceeds_memory`, applications
 * whose heap does not fit even alone, so that they never start; `no_off_heap_memory`, applications
 * that use off-heap memory and get none. names[i] belongs to applications[i].
 */
void worker_memory_warn(const struct strview names[],
                        const struct worker_memory_application applications[],
                        size_t n,
                        int64_t system_bytes,
                        const struct worker_memory *plan,
                        struct findings *warnings);

#endif

#ifndef CORE_DEADLINE_MAKESPAN_H
#define CORE_DEADLINE_MAKESPAN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/deadline/clairvoyant_edf.h"

/*
 * How long one job takes alone on K identical cores: the instant, to the last bit, at which
 * edf_schedule has it end (clairvoyant_edf.h), and nothing else of the schedule. A prediction asks
 * it for hundreds of numbers of cores, so what the cores do not change is prepared once, and tasks
 * are followed one by one only while others wait for their cores.
 */

/* Of a job's stages: in which order they are served, and which waits for which. */
struct edf_plan;

/* *plan lives in `arena`. PV_E_MEMORY, PV_E_DOMAIN (a cycle), PV_E_LIMIT as edf_plan_make. */
enum pv_code makespan_plan(const struct edf_job *job,
                           struct arena *arena,
                           const struct edf_plan **plan,
                           struct pv_error *err) PV_MUSTCHECK;

/* The longest task of a stage without overhead, seconds; 0 without tasks. */
double makespan_longest_s(const struct edf_stage *stage);

/*
 * When the last task ends of a job that is released at instant 0, seconds.
 *
 * plan       of this job, or of one with the same stages and parents: tasks are the job's
 * longest_s  by stage, makespan_longest_s
 * cores      >= 1
 * scratch    back at its mark
 * PV_E_MEMORY. O(T log K + S log S) for T tasks and S stages, O(S log S) where cores are enough.
 */
enum pv_code makespan_find(const struct edf_plan *plan,
                           const struct edf_job *job,
                           const double longest_s[],
                           size_t cores,
                           struct arena *scratch,
                           double *seconds,
                           struct pv_error *err) PV_MUSTCHECK;

#endif

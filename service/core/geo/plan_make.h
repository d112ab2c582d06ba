#ifndef CORE_GEO_PLAN_MAKE_H
#define CORE_GEO_PLAN_MAKE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/geo/plan.h"
#include "core/geo/planner.h"
#include "core/geo/problem.h"
#include "core/geo/rates.h"

/*
 * Plan: which copies of which ready tasks to start in which clusters. Whatever the planner, the
 * plan obeys the idle slots and what the gates have left, and reports the same figures.
 *
 * Copies that already run count for the rate and the exemption of their tasks, and take their
 * bandwidth from the gates before all others; their slots are among the busy ones. A copy that runs
 * where, by what is known of the cluster, the task could not run counts for its job's share only.
 *
 * parameters  no value of them automatic (geo_parameters_resolve).
 * rates       NULL, or made of the same clusters and links and reused from plan to plan: they cache
 *             rates, and the plan is the same with and without.
 * interrupt   NULL: the plan is made however long it takes.
 * arena       holds what the plan points at, and working memory.
 *
 * PV_E_INVALID: a task has no cluster in which it could run (the operation or a link is missing
 * everywhere), with a fault at its /jobs/J/tasks/T/inputs. PV_E_CANCELLED: interrupted.
 * PV_E_MEMORY. *plan is written only on PV_OK.
 */
enum pv_code geo_plan_make(const struct geo_problem *problem,
                           const struct geo_parameters *parameters,
                           struct geo_rates *rates,
                           const struct geo_interrupt *interrupt,
                           struct arena *arena,
                           struct geo_plan *plan,
                           struct pv_error *err) PV_MUSTCHECK;

#endif

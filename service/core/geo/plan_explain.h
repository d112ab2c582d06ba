#ifndef CORE_GEO_PLAN_EXPLAIN_H
#define CORE_GEO_PLAN_EXPLAIN_H

#include "base/finding.h"
#include "core/geo/plan.h"
#include "core/geo/problem.h"

/*
 * What a plan may be misread for, as findings:
 *   shares_exceed_slots          the shares of its jobs add up to more slots than all clusters have,
 *                                busy ones included: they bound the jobs, they promise no slots;
 *   copies_share_a_cluster       granted copies of tasks that have all their copies in one cluster:
 *                                the loss of that cluster is the loss of the task, and only speeds
 *                                that vary make them worth their slots; with the most that they
 *                                save, as a share of a task's expected duration.
 *
 * The tasks of the plan are in the order of the problem's. Lack of memory is reported by the findings (findings_check).
 */
void geo_plan_explain(const struct geo_problem *problem,
                      const struct geo_plan *plan,
                      struct findings *findings);

#endif

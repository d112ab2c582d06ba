#ifndef CORE_GEO_PLANNER_H
#define CORE_GEO_PLANNER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/geo/dolly.h"
#include "core/geo/insurance.h"
#include "core/geo/mantri.h"
#include "core/geo/plan.h"
#include "core/geo/problem.h"
#include "core/geo/rates.h"
#include "core/geo/spark.h"

/*
 * Which copies of which ready tasks to start in which clusters. Every algorithm obeys the idle
 * slots and what the gates have left, and answers the same plan.
 *
 * Copies that run already count for a task's rate and exemption and take their room in the gates
 * before all others; their slots are among the busy ones. One that runs where, by what is known of
 * the cluster, the task could not run, counts for its job's share and nothing else.
 */
enum geo_algorithm {
    GEO_PINGAN,
    GEO_FLUTTER,
    GEO_IRIDIUM,
    GEO_MANTRI,
    GEO_DOLLY,
    GEO_SPARK,
    GEO_ALGORITHMS
};

/* Each algorithm looks at its own; flutter and iridium have none. */
struct geo_terms {
    enum geo_algorithm algorithm;
    struct insurance_terms insurance; /* pingan's */
    struct mantri_terms mantri;
    struct dolly_terms dolly;
    struct spark_terms spark;
    const struct geo_patience *patience; /* NULL: endless */
};

/* Name on the wire. */
const char *geo_algorithm_name(enum geo_algorithm algorithm);

/* Does it look at the clock, so that it may change its mind though nothing has happened? */
bool geo_algorithm_watches(enum geo_algorithm algorithm);

/* The terms that a request gets which sets none: the published ones, and an epsilon for pingan that
 * was good at every load where clusters differ (docs/copy-plans/measurements.md). */
struct geo_terms geo_terms_usual(enum geo_algorithm algorithm);

/*
 * Plan. What the plan points at lives in `arena`, as does working memory.
 *
 * rates  NULL, or made of the same clusters and links and kept between plans: they remember what
 *        they were asked for, and the plan is the same with and without.
 *
 * PV_E_INVALID: a task has no cluster in which it could run (the operation or a link is missing
 * everywhere), with a fault at its /jobs/J/tasks/T/inputs. PV_E_CANCELLED: patience was over.
 * PV_E_MEMORY. *plan is written only on PV_OK.
 */
enum pv_code geo_plan_make(const struct geo_problem *problem,
                           const struct geo_terms *terms,
                           struct geo_rates *rates,
                           struct arena *arena,
                           struct geo_plan *plan,
                           struct pv_error *err) PV_MUSTCHECK;

#endif

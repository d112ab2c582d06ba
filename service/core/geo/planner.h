#ifndef CORE_GEO_PLANNER_H
#define CORE_GEO_PLANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/code.h"
#include "core/geo/problem.h"

struct allocation;

/*
 * The planners of copies, each a row: what it is called, what it observes, which parameters it has
 * and what it runs. Request decoding, replies and the simulator (core/geosim) know planners from
 * their rows alone.
 *
 * To add one: a file of core/geo/planners that defines its row `geo_planner_NAME`, a line of
 * GEO_PLANNERS, its name and parameters in openapi/schemas/geo.yaml, and its paragraph in
 * docs/copy-plans/algorithms.md. Tests over all planners (tests/unit, test_planner) then hold it to
 * the limits that every plan obeys, and tests/api compares its row with the contract.
 */
enum { GEO_PARAMETERS_MAX = 6 };

/* A parameter as requests give it. A number or, with `integral`, a whole number, from low to high
 * (low itself excluded with `above_low`); with `words`, one of these, its value the index. */
struct geo_parameter {
    const char *name;
    double low;
    double high;
    double standard; /* the value where a request gives none */
    bool integral;
    bool above_low;
    const char *const *words; /* NULL-terminated */
    /* The value for "auto", which NAN stands for; NULL: there is no "auto". */
    double (*automatic)(const struct geo_problem *problem);
};

struct geo_planner {
    const char *name; /* on the wire */
    /* Decide on copies in an open allocation; PV_E_MEMORY or PV_OK. */
    enum pv_code (*run)(struct allocation *allocation);
    const struct geo_parameter *parameters;
    size_t n_parameters;
    /* On the wire parameters are members of the object that names the planner; otherwise of an
     * object of the planner's name. */
    bool parameters_inline;
    /* Running copies make a difference to what it decides. Otherwise a request may leave them out,
     * less the slots and the bandwidth that they take. */
    bool observes_running_copies;
    /* So does how long copies have run or tasks have waited: another plan may differ although
     * nothing has happened. */
    bool observes_time;
    /* It adds copies to running tasks for their own sake, so that a plan made right after its last
     * one may add more. A simulation may forbid that (`clone_running`). */
    bool clones_running_tasks;
};

#define GEO_PLANNERS(ROW)                                                                          \
    ROW(pingan)                                                                                    \
    ROW(flutter)                                                                                   \
    ROW(iridium)                                                                                   \
    ROW(mantri)                                                                                    \
    ROW(dolly)                                                                                     \
    ROW(spark)

#define GEO_PLANNER_DECLARE(name) extern const struct geo_planner geo_planner_##name;
GEO_PLANNERS(GEO_PLANNER_DECLARE)

/* All rows, the default first. */
extern const struct geo_planner *const geo_planners[];
extern const size_t geo_planners_n;

/* A planner and the values of its parameters, in the order of its row. */
struct geo_parameters {
    const struct geo_planner *planner;
    double value[GEO_PARAMETERS_MAX];
};

/* What a request gets that gives no parameters. */
struct geo_parameters geo_parameters_default(const struct geo_planner *planner);

/* By name. get: NAN where the planner has no such parameter, or its value is automatic; set: false
 * where it has none. */
double geo_parameters_get(const struct geo_parameters *parameters, const char *name);
bool geo_parameters_set(struct geo_parameters *parameters, const char *name, double value);

/* Is the value of some parameter automatic? */
bool geo_parameters_are_automatic(const struct geo_parameters *parameters);

/* Replace what is automatic by what suits the problem. */
void geo_parameters_resolve(struct geo_parameters *parameters, const struct geo_problem *problem);

#endif

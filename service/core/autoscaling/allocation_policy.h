#ifndef CORE_AUTOSCALING_ALLOCATION_POLICY_H
#define CORE_AUTOSCALING_ALLOCATION_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/history/run.h"

/*
 * How many executors Spark holds for an application while it runs, and when it asks for more or
 * lets one go: the properties spark.dynamicAllocation.* with the meaning and the defaults of Spark's
 * documentation ("Configuration", section "Dynamic Allocation"). A fixed number of executors is the
 * policy whose three counts are equal.
 */
struct allocation_policy {
    int64_t min_executors;
    int64_t initial_executors; /* min <= initial <= max */
    int64_t max_executors;     /* >= 1 */
    double allocation_ratio;   /* of the cores that would run all tasks at once, those asked for */
    double idle_timeout_s;     /* after which an executor without tasks is let go */
    double backlog_timeout_s;  /* tasks wait so long before the first executors are asked for */
    double sustained_backlog_timeout_s; /* and so long before each further request */
    bool shuffle_tracking; /* executors hold the shuffle output of their tasks: there is no service
                                 that does */
    double shuffle_timeout_s; /* after which one is let go whose shuffle output nobody reads;
                                 INFINITY: never */
};

/* Where no log says how long an executor takes to start. */
#define ALLOCATION_STARTUP_S 20.0

/* A fixed number of executors. */
struct allocation_policy allocation_fixed(int64_t executors);

/* Properties by key; of several lists the first that has a key decides. */
struct property_list {
    const struct run_label *items; /* sorted by key */
    size_t n;
};

/* Does the list enable dynamic allocation? */
bool allocation_is_enabled(const struct property_list *list);

/*
 * What the properties make of it, whether or not they enable dynamic allocation. Values that Spark
 * would refuse count as not set.
 *
 * version  of Spark; at == NULL: a present one. Decides whether shuffle tracking can be.
 * most     bounds max_executors, whose default is no bound; >= 1
 */
struct allocation_policy allocation_of_properties(const struct property_list lists[],
                                                  size_t n_lists,
                                                  struct strview version,
                                                  int64_t most);

/* Would it hold the same executors at every instant? */
bool allocation_is_equal(const struct allocation_policy *a, const struct allocation_policy *b);

#endif

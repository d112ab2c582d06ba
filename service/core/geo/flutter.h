#ifndef CORE_GEO_FLUTTER_H
#define CORE_GEO_FLUTTER_H

#include "core/geo/placement.h"

/*
 * Flutter: each stage placed so that it ends soonest (Z. Hu, B. Li, J. Luo, "Flutter: scheduling
 * tasks closer to data across geo-distributed datacenters", INFOCOM 2016).
 *
 * Sees the sizes of inputs, mean speeds of the links, idle slots and, of execution, one time for
 * all clusters: that of the mean speed over those that know the operation. It knows neither that
 * clusters differ, nor that speeds vary, nor that clusters are lost (PingAn, section 6.2: "without
 * the awareness of cluster heterogeneity").
 *
 * Decides job by job in the order of the request. A task's time in a cluster is the longest of the
 * transfers of its inputs, each of which holds an equal part of the task, and the execution after
 * it. The tasks are placed by lexicographic min-max of these times, which Flutter solves by a
 * linear program and we by core/geo/assignment.h. One copy a task.
 */
enum pv_code flutter_run(struct desk *desk) PV_MUSTCHECK;

/* What others build on: costs are seconds. false: memory. */
bool flutter_make(struct placement *placement, struct desk *desk);

#endif

#ifndef CORE_SCHEDULING_SLOTS_SLOTS_SPLIT_H
#define CORE_SCHEDULING_SLOTS_SLOTS_SPLIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/slots/slots_workload.h"

/* What policies of FRESH need: every job has a map. PV_E_INVALID where one has none. */
enum pv_code
slots_need_maps(const struct slots_job jobs[], size_t n, struct pv_error *err) PV_MUSTCHECK;

/*
 * How the policy "fresh_static" divides all slots of a cluster into map slots and reduce slots: the
 * best split for the jobs as a batch in order of arrival (fresh_static.h), by how much work their
 * maps and reduces are. When the jobs arrive does not matter, only in which order.
 *
 * scratch is back at its mark. PV_E_INVALID where a job has no maps, PV_E_MEMORY.
 */
enum pv_code slots_split(const struct slots_cluster *cluster,
                         const struct slots_job jobs[],
                         size_t n,
                         size_t concurrency,
                         struct arena *scratch,
                         size_t split[SLOTS_KINDS],
                         struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef API_DEADLINES_ENOUGH_CORES_H
#define API_DEADLINES_ENOUGH_CORES_H

#include "api/deadlines/job_set_load.h"
#include "core/deadline/clairvoyant_edf.h"

/*
 * Correct the number of cores in *remedies for jobs from history. Their durations are predicted for the
 * cores of the cluster, and are others with other cores: so the jobs are made again for every number
 * that is tried, and the least is taken with which jobs made for it meet every deadline on it.
 *
 * remedies: of set->jobs on set->cores, where some deadline is missed; its deadlines stay as they are.
 * budget: of simulated tasks, for each try. scratch is back at its mark. PV_E_MEMORY.
 */
enum pv_code enough_cores_find(const struct config *config,
                               const struct codec_job_set *set,
                               uint64_t budget,
                               struct arena *scratch,
                               struct edf_remedies *remedies,
                               struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef API_SIMULATIONS_WORKLOAD_JOBS_H
#define API_SIMULATIONS_WORKLOAD_JOBS_H

#include "codec/json/reader.h"
#include "core/workload/workload_load.h"
#include "core/workload/workload_record.h"
#include "operation/operation.h"

/* The workload that a simulation of slots or tasks names: looked up when it is asked for, and its
 * jobs loaded by the operation, beside the memory of the operation itself. */

/* What it comes to, in the arena. A fault at /workload: there is none, or it is another team's. */
enum pv_code workload_jobs_look_up(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *id,
                                   struct workload_summary *summary,
                                   struct pv_error *err) PV_MUSTCHECK;

/* All zeros: of a request that has its jobs. */
struct workload_jobs_source {
    struct operation_run *run; /* NULL: no workload is named */
    struct workload_record record;
    struct workload_summary summary;
    struct arena arena; /* of the jobs */
};

/* In the name of whoever asked. PV_E_NOT_FOUND: it has been deleted meanwhile. */
enum pv_code workload_jobs_find(struct workload_jobs_source *source,
                                struct operation_run *run,
                                const struct codec_node *top,
                                struct pv_error *err) PV_MUSTCHECK;

/* What it comes to; NULL: none is named. */
const struct workload_summary *workload_jobs_summary(const struct workload_jobs_source *source);

/*
 * All its jobs, in source->arena, which holds at most simulation_memory_bytes_max. Chunks are read
 * some at a time, each time in a transaction of its own, so that no connection is held while it is
 * the turn of other operations. PV_E_NOT_FOUND as above, PV_E_CANCELLED, PV_E_MEMORY.
 */
enum pv_code workload_jobs_load(struct workload_jobs_source *source,
                                const struct workload_load_terms *terms,
                                struct workload_jobs *jobs,
                                struct pv_error *err) PV_MUSTCHECK;

void workload_jobs_close(struct workload_jobs_source *source);

#endif

#ifndef API_SIMULATIONS_SIMULATION_RUN_H
#define API_SIMULATIONS_SIMULATION_RUN_H

#include "api/api.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/workload/workload.h"
#include "operation/operation.h"

/*
 * The operation `simulation`. Its request says of what kind it is; each kind is a row of the table
 * in simulation_run.c: how a request is read, and what does the work.
 */
struct simulation_kind {
    const char *name;
    bool has_workloads; /* it may name a stored one */
    /* Read and check the body, and write it with all defaults filled in. workload: what the one
     * that the request names comes to; NULL: it names none, or its rules are checked later. */
    enum pv_code (*read)(const struct codec_node *top,
                         const struct config *config,
                         const struct workload_summary *workload,
                         struct writer *w,
                         struct pv_error *err);
    enum pv_code (*run)(struct operation_run *run,
                        const struct codec_node *top,
                        struct strview *result,
                        struct pv_error *err);
};

/* The kind that the body names; NULL and a fault at /kind where there is none. */
const struct simulation_kind *simulation_kind_decode(const struct codec_node *top);

/* A request that was accepted, or checked in part, is read again. */
enum pv_code simulation_open(struct strview text,
                             struct arena *arena,
                             struct codec_document *document,
                             struct pv_error *err) PV_MUSTCHECK;

enum pv_code simulation_run(void *context,
                            struct operation_run *run,
                            struct strview *result,
                            struct pv_error *err);

#endif

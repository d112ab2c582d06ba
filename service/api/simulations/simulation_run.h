#ifndef API_SIMULATIONS_SIMULATION_RUN_H
#define API_SIMULATIONS_SIMULATION_RUN_H

#include "api/api.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "operation/operation.h"

/*
 * The operation `simulation`. Its request says of what kind it is; each kind is a row of the table
 * in simulation_run.c: how a request is read, and what does the work.
 */
struct simulation_kind {
    const char *name;
    /* Read and check the body, and write it with all defaults filled in. limits: those of the
     * settings, or, for a request that was accepted before, none. */
    enum pv_code (*read)(const struct codec_node *top,
                         const struct config *limits,
                         struct writer *w,
                         struct pv_error *err);
    enum pv_code (*run)(struct operation_run *run,
                        const struct codec_node *top,
                        struct strview *result,
                        struct pv_error *err);
};

/* The kind that the body names; NULL and a fault at /kind where there is none. */
const struct simulation_kind *simulation_kind_decode(const struct codec_node *top);

enum pv_code simulation_run(void *context,
                            struct operation_run *run,
                            struct strview *result,
                            struct pv_error *err);

#endif

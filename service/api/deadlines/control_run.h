#ifndef API_DEADLINES_CONTROL_RUN_H
#define API_DEADLINES_CONTROL_RUN_H

#include "api/api.h"
#include "codec/deadlines/control.h"
#include "operation/operation.h"

/* The work of POST /v1/control-simulations: in the request where it is little, else as the
 * operation `control_simulation`. */

struct control_answer {
    const struct codec_control *asked; /* complete: cluster and jobs are there */
    double steps_max;                  /* over all strategies and gammas */
    bool (*report)(void *context, int64_t done, int64_t total); /* of tasks; NULL: nobody asks */
    void *context;
    struct arena *arena; /* what is worked with lies beside it */
};

/* Give jobs from history, once they are loaded, the nominal rates of their runs where the request has
 * none, if a strategy or their penalty needs them. Faults stand at the nominal rate of a job whose run has none. */
enum pv_code control_take_rates(const struct codec_control *asked,
                                struct pv_error *err) PV_MUSTCHECK;

/* Too many executors for the settings, or too many numbers in the traces. */
enum pv_code control_check_size(const struct config *config,
                                const struct codec_control *asked,
                                struct pv_error *err) PV_MUSTCHECK;

/* About how many steps all strategies and gammas take, which needs no simulation. PV_E_MEMORY. */
enum pv_code control_estimate(const struct config *config,
                              const struct control_answer *answer,
                              double *steps,
                              struct pv_error *err) PV_MUSTCHECK;

/* Simulate and write the reply. PV_E_LIMIT: it took more than steps_max; PV_E_CANCELLED: report
 * said so; PV_E_MEMORY. */
enum pv_code control_answer_write(const struct config *config,
                                  const struct control_answer *answer,
                                  struct writer *w,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The operation (operation/operation.h). */
enum pv_code control_simulation_run(void *context,
                                    struct operation_run *run,
                                    struct strview *result,
                                    struct pv_error *err);

#endif

#ifndef CORE_ADVICE_DRIVER_ORDER_H
#define CORE_ADVICE_DRIVER_ORDER_H

#include "base/arena.h"
#include "base/error.h"
#include "core/deadline/clairvoyant_edf.h"
#include "core/history/run.h"

/* When each stage of a job was submitted and completed, seconds after the run's start. */
struct stage_instants {
    double *start_s;
    double *end_s;
    size_t n; /* 0: an instant is unknown */
};

/* Reads the instants of the stages of `job`, which edf_job_from_run made of `run`. The lists live in
 * `arena`. PV_E_MEMORY. */
enum pv_code stage_instants_read(const struct run *run,
                                 const struct edf_job *job,
                                 struct arena *arena,
                                 struct stage_instants *instants,
                                 struct pv_error *err) PV_MUSTCHECK;

/*
 * The order that the driver imposed. A driver submits its jobs one after another, and the graph of
 * stages does not say so: the stages of a later job often have no parents at all. Spark submits a
 * stage as soon as its parents are done, however busy the cores are; so a stage that was submitted
 * later than that waited for the driver, and hence for the stages that had completed just before.
 *
 * Adds those as parents to the stages of `job`, which edf_job_from_run made of `run`. Of the stages
 * that completed before, those suffice that were still running when the last of them was submitted;
 * of these the 64 that completed last, so that thousands of stages at once do not make millions of
 * edges.
 * Does nothing where the recorded instants are unknown. Only stages with a lower id are waited for,
 * so that no cycle arises. New arrays live in `arena`. PV_E_MEMORY. O(S^2) for S stages.
 */
enum pv_code driver_order_add(const struct run *run,
                              struct arena *arena,
                              struct edf_job *job,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * When no stage was active: how long after the run's start the first one was submitted, and for
 * every other stage that ended such a time how long that was. Where the recorded instants are
 * unknown, the run's initialization is all that is known.
 *
 * between_s  their sum, without the first
 * delays_s   job->n_stages long, zeros when called
 * PV_E_MEMORY. O(S log S).
 */
enum pv_code driver_gaps_find(const struct run *run,
                              const struct edf_job *job,
                              struct arena *scratch,
                              double *initialization_s,
                              double *between_s,
                              double delays_s[],
                              struct pv_error *err) PV_MUSTCHECK;

#endif

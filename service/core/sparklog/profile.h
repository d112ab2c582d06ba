#ifndef CORE_SPARKLOG_PROFILE_H
#define CORE_SPARKLOG_PROFILE_H

#include "core/sparklog/sparklog_internal.h"

/*
 * The run of what a reader has gathered, by the definitions of the history. Everything `run` points
 * at lives in `arena`. PV_E_INVALID with fault code "no_application_start"; PV_E_LIMIT,
 * PV_E_MEMORY. `run` is written only on PV_OK.
 */
enum pv_code profile_build(struct sparklog *log,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

/* The stages of the run (profile_stages.c): run->stages, n_stages, problem_size. */
enum pv_code profile_build_stages(struct sparklog *log,
                                  struct arena *arena,
                                  struct run *run,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

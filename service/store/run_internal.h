#ifndef STORE_RUN_INTERNAL_H
#define STORE_RUN_INTERNAL_H

#include "store/run.h"
#include "store/store_internal.h"

/* Shared by run_write.c and run_read.c: the columns of a run in the order both use. */

#define RUN_COLUMNS                                                                                \
    "advice_id, problem_size, executors, cores_per_executor, duration_s, initialization_s,"        \
    " started_at, succeeded, label_keys, label_values, has_stages, from_log,"                      \
    " spark_application_id, spark_attempt_id, spark_version, ended, jobs, stages_completed,"       \
    " stages_failed, tasks_succeeded, tasks_failed, task_time_s, failed_task_time_s,"              \
    " executors_added, property_keys, property_values, warning_codes, warning_counts,"             \
    " warning_details"

/* The run of that id and application, without stages. PV_E_NOT_FOUND. */
enum pv_code run_load(struct store_tx *tx,
                      struct arena *arena,
                      const char *application_id,
                      const char *run_id,
                      struct run *run,
                      struct pv_error *err) PV_MUSTCHECK;

#endif

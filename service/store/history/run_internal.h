#ifndef STORE_HISTORY_RUN_INTERNAL_H
#define STORE_HISTORY_RUN_INTERNAL_H

#include "core/history/run_measures.h"
#include "core/history/run_metrics.h"
#include "store/history/run.h"
#include "store/store_internal.h"

/* Shared by the files run_*.c: the columns of a run in the order all use. */

#define RUN_METRIC_COLUMN(name) ", " #name
#define RUN_METRIC_COLUMNS RUN_METRICS(RUN_METRIC_COLUMN, RUN_METRIC_COLUMN)

/* What only logs tell (run_figures.c). */
#define RUN_FIGURE_COLUMNS                                                                         \
    "exit_code, tasks_killed, tasks_resubmitted, tasks_speculative, executors_removed,"            \
    " executors_excluded, nodes_excluded, core_s, job_time_s, stage_time_s,"                       \
    " peak_driver_heap_bytes" RUN_METRIC_COLUMNS ", resource_ids, resource_executors,"             \
    " resource_cores, resource_memory_bytes, resource_task_cores"
#define STAGE_FIGURE_COLUMNS "attempts, tasks_failed, resource_profile_id" RUN_METRIC_COLUMNS

/* What is drawn from the stages of a run when it is written (run_measured.c). */
#define RUN_MEASURE_COLUMNS "measured, parallel_s, max_task_s, induced_s, serial_s"

#define RUN_COLUMNS                                                                                \
    "advice_id, problem_size, executors, cores_per_executor, duration_s, initialization_s,"        \
    " started_at, succeeded, label_keys, label_values, has_stages, from_log,"                      \
    " spark_application_id, spark_attempt_id, spark_version, ended, jobs, stages_completed,"       \
    " stages_failed, tasks_succeeded, tasks_failed, task_time_s, failed_task_time_s,"              \
    " executors_added, property_keys, property_values, warning_codes, warning_counts,"             \
    " warning_details, " RUN_FIGURE_COLUMNS

/* What run_read_list reads; r is the run. */
#define RUN_SELECTED                                                                               \
    "r.id, r.application_id, r.instant, r.recorded_at, r.stages_thinned > 0, " RUN_COLUMNS

#define RUN_ID_LEAST "00000000-0000-0000-0000-000000000000"
#define RUN_ID_GREATEST "ffffffff-ffff-ffff-ffff-ffffffffffff"

/* Five parameters of a page, newest first: application, least instant, the instant and id that all
 * are before, limit and one more. */
void run_add_window(struct sql *sql, const char *application_id, const struct run_filter *filter);

/* The rows of a result, at most limit of them; `more` when there was another. */
enum pv_code run_read_list(const PGresult *result,
                           struct arena *arena,
                           size_t limit,
                           struct run_list *list,
                           struct pv_error *err) PV_MUSTCHECK;

/* The stages of the runs, all of one application, as far as `with` asks for them. */
enum pv_code run_load_stages(struct store_tx *tx,
                             struct arena *arena,
                             const char *application_id,
                             struct run runs[],
                             size_t n,
                             unsigned with,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * Put the sketches of those stages that have one in place of their task times, and remember that
 * the run was thinned. Deferred. *written counts the stages.
 */
enum pv_code run_write_sketches(struct store_tx *tx,
                                const char *application_id,
                                const char *run_id,
                                const struct run_stage stages[],
                                size_t n,
                                size_t *written,
                                struct pv_error *err) PV_MUSTCHECK;

/* Ids of the runs that a filter with labels finds, newest first, one more than its limit. */
enum pv_code run_ids_by_label(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_id,
                              const struct run_filter *filter,
                              struct run_id **ids,
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

/* The run of that id and application, without stages. PV_E_NOT_FOUND. */
enum pv_code run_load(struct store_tx *tx,
                      struct arena *arena,
                      const char *application_id,
                      const char *run_id,
                      struct run *run,
                      struct pv_error *err) PV_MUSTCHECK;

/* The columns of RUN_MEASURE_COLUMNS. */
void run_measures_add(struct sql *sql, const struct run_measures *measures);

/* The figure columns of a run, and of n stages (as arrays), as parameters and back from a row. */
void run_figures_add(struct sql *sql, const struct run *run);
void run_figures_read(struct row *row, struct run *run);
void stage_figures_add(struct sql *sql, const struct run_stage stages[], size_t n);
void stage_figures_read(struct row *row, struct run_stage *stage);

/* The runs whose ids stand in runs[], filled in in that order, with stages or tasks as for
 * store_run_find. All must be there: PV_E_RETRY when one has just gone. */
enum pv_code run_load_many(struct store_tx *tx,
                           struct arena *arena,
                           const char *application_id,
                           struct run runs[],
                           size_t n,
                           unsigned with,
                           struct pv_error *err) PV_MUSTCHECK;

/* Queued, for the next round trip (run_write.c): all rows of a new run; the removal of one; a
 * history that has changed by so many runs. */
enum pv_code run_queue_rows(struct store_tx *tx,
                            const char *application_id,
                            const struct run *run,
                            const unsigned char *digest,
                            struct pv_error *err) PV_MUSTCHECK;
enum pv_code run_queue_removal(struct store_tx *tx,
                               const char *application_id,
                               const char *run_id,
                               struct pv_error *err) PV_MUSTCHECK;
enum pv_code run_queue_history(struct store_tx *tx,
                               const char *application_id,
                               int64_t runs_more,
                               struct pv_error *err) PV_MUSTCHECK;

#endif

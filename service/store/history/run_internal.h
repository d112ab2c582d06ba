#ifndef STORE_HISTORY_RUN_INTERNAL_H
#define STORE_HISTORY_RUN_INTERNAL_H

#include "core/history/log_origin.h"
#include "core/history/run_measures.h"
#include "core/history/run_metrics.h"
#include "store/history/run.h"
#include "store/sql/columns.h"

/* Shared by the files run_*.c: the columns of a run in the order all use. */

/* The run; what is drawn from its stages when it is written; a stage without its tasks, which is
 * read as s. In run_columns.c. */
extern const struct columns run_columns;
extern const struct columns run_measure_columns;
extern const struct columns run_stage_columns;

/* The nodes and executors of a run: read with its stages only. */
extern const struct columns run_node_columns;

/* The warnings of a run as its columns have them: each an array. */
struct run_warning_row {
    struct strview code;
    int64_t count; /* RUN_UNKNOWN: not a matter of counting */
    struct strview message;
};
struct run_warnings {
    struct run_warning_row *rows;
    size_t n;
};
extern const struct columns run_warning_columns;

/* What run_read_list reads, and the tables it is of; r is the run. */
#define RUN_SELECTED "r.application_id, r.instant, {run}, {warnings}"
#define RUN_SELECTED_OF                                                                            \
    {                                                                                              \
        &run_columns, &run_warning_columns                                                         \
    }

/* The name of the run's application, as a.application_name. */
#define RUN_JOIN_NAME                                                                              \
    " JOIN (SELECT team_id AS its_team, id AS its_id, name AS application_name"                    \
    " FROM provisor.application) a ON a.its_team = r.team_id AND a.its_id = r.application_id"

#define RUN_ID_LEAST "00000000-0000-0000-0000-000000000000"
#define RUN_ID_GREATEST "ffffffff-ffff-ffff-ffff-ffffffffffff"

/* Six parameters of a page, newest first: application (left out if NULL), least instant, the instant and id that all
 * are before, limit and one more, whether it succeeded. */
void run_add_window(struct sql *sql, const char *application_id, const struct run_filter *filter);

/* The rows of a result, at most limit of them; `more` when there was another. */
enum pv_code run_read_list(const PGresult *result,
                           struct arena *arena,
                           size_t limit,
                           struct run_list *list,
                           struct pv_error *err) PV_MUSTCHECK;

/* The digests and beginnings of the logs of the runs, all of one application, if `with` asks for
 * them. */
enum pv_code run_load_digests(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_id,
                              struct run runs[],
                              size_t n,
                              unsigned with,
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

/* The runs whose ids stand in runs[], filled in in that order, with stages or tasks as for
 * store_run_find. All must be there: PV_E_RETRY when one has just gone. */
enum pv_code run_load_many(struct store_tx *tx,
                           struct arena *arena,
                           const char *application_id,
                           struct run runs[],
                           size_t n,
                           unsigned with,
                           struct pv_error *err) PV_MUSTCHECK;

/* --- which logs are stored: run_log.c --- */

/* The logs that may be of a run. */
struct run_logs {
    struct stored_log *items;
    size_t n;
    bool same; /* the only one is the very log: it has its digest */
};

struct stored_log {
    char run_id[37];
    struct strview digest; /* at == NULL: unknown */
    struct strview origin; /* at == NULL: written before origins were stored */
};

/* One result: the logs of the run's application id and attempt. */
enum pv_code run_send_logs(struct store_tx *tx,
                           const char *application_id,
                           const struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

/* Read three columns, run_id, digest and origin, and add the log if it may be of the run. `logs` has
 * room for it. */
enum pv_code run_read_log(struct row *row,
                          const struct run *run,
                          struct run_logs *logs,
                          struct pv_error *err) PV_MUSTCHECK;

/* All rows of the result of run_send_logs. */
enum pv_code run_read_logs(const PGresult *result,
                           struct arena *arena,
                           const struct run *run,
                           struct run_logs *logs,
                           struct pv_error *err) PV_MUSTCHECK;

/* Set the digest and the beginning of the log in a run that was loaded without them. */
void run_set_log(struct run *run, const struct stored_log *log);

/* Queue the row of the run's log, if it was read from one. */
enum pv_code run_queue_log(struct store_tx *tx,
                           const char *application_id,
                           const struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

/* Queued, for the next round trip: all rows of a new run; the removal of a run that another log
 * replaces, with its figures in the audit (run_log.c); the removal of one; a history that has changed
 * by so many runs. */
enum pv_code run_queue_rows(struct store_tx *tx,
                            const char *application_id,
                            const struct run *run,
                            struct pv_error *err) PV_MUSTCHECK;
enum pv_code run_queue_replaced(struct store_tx *tx,
                                const char *application_id,
                                const char *run_id,
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

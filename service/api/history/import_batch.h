#ifndef API_HISTORY_IMPORT_BATCH_H
#define API_HISTORY_IMPORT_BATCH_H

#include <stdbool.h>

#include "api/history/import_line.h"
#include "store/history/run_import.h"

/*
 * The second half of an import: runs gathered into batches, each looked up, compared and written
 * within the transaction of the whole. Gathering computes, saving waits for the database: the batch
 * goes from one kind of worker to the other. What cannot be taken is collected as faults,
 * PV_FAULTS_MAX of them.
 */
struct import_batch;

/* Borrows config, and first's account. NULL: out of memory. */
struct import_batch *
import_batch_create(const struct config *config, const struct arena *first, int64_t now_us);
void import_batch_destroy(struct import_batch *batch); /* accepts NULL */

/* The next line, on a compute worker, while the batch is not full; the text is not needed after the
 * call. As import_line_decode and import_line_name. */
enum pv_code import_batch_add(struct import_batch *batch,
                              const struct import_line *line,
                              struct pv_error *err) PV_MUSTCHECK;

/* It is to be saved before more is added: large enough, or the last run is in it already and will
 * be found in the database. */
bool import_batch_is_full(const struct import_batch *batch);

/* On an io worker: the batch is written and empty, but for a run that waited for that. As
 * store_run_import_find and _write; PV_E_CONFLICT once there are too many conflicts to list. */
enum pv_code import_batch_save(struct import_batch *batch,
                               struct store_tx *tx,
                               const struct application *application,
                               struct pv_error *err) PV_MUSTCHECK;

struct import_outcome {
    struct run_import_counts counts;
    int64_t unknown_advice; /* runs whose advice is not here */
};

/* On an io worker: the rest, and the end of the import in the store. PV_E_CONFLICT with the faults.
 */
enum pv_code import_batch_finish(struct import_batch *batch,
                                 struct store_tx *tx,
                                 const struct application *application,
                                 struct import_outcome *outcome,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef API_OPERATIONS_OPERATION_DOCUMENT_H
#define API_OPERATIONS_OPERATION_DOCUMENT_H

#include "base/json_writer.h"
#include "store/operations/operation.h"

/* An operation as it is shown. detailed: with request and result, which lists do not load. */
void operation_document_write(struct writer *w,
                              const struct operation_row *operation,
                              bool detailed);

/* When a running one will have done its total if it goes on as it did in this attempt;
 * RUN_NO_INSTANT while nothing can show it. As of updated_at, so that one version of
 * an operation has one estimate. */
int64_t operation_estimate_end(const struct operation_row *operation);

/* {"done", "total", "unit"} */
void operation_progress_write(struct writer *w, int64_t done, int64_t total, struct strview unit);

/* An error of the work as problem details, for struct operation_runner_options. */
const char *operation_describe_error(struct arena *arena, const struct pv_error *err, size_t *n);

#endif

#ifndef IMPORT_IMPORT_OPERATION_H
#define IMPORT_IMPORT_OPERATION_H

#include "import/summary.h"
#include "operation/local_operation.h"

/*
 * An import as others see it: an operation of its team, kind `import`, which this process holds by
 * itself. Its progress is in bytes of logs, its result the summary, and whoever cancels it stops
 * the import. Nothing hangs on it: where the database cannot be asked the import goes on.
 */
struct import_operation {
    struct local_operation local;
    struct summary summary;
    struct arena arena; /* of the request's text */
    uint64_t begun_ns;
    bool cancelled; /* by somebody else */
};

/* paths: as the command was given them. options are those of the import, borrowed. */
enum pv_code import_operation_begin(struct import_operation *import,
                                    const struct bulk_options *options,
                                    const char *const paths[],
                                    size_t n_paths,
                                    const struct find *find,
                                    struct pv_error *err) PV_MUSTCHECK;

/* How far it is; false: somebody cancelled it. Call it often. */
bool import_operation_report(struct import_operation *import, const struct log_progress *progress);

/* The end, and everything is freed. stopped: logs were left over; lost: since the database was
 * away, for that reason. What cannot be recorded is an error, which takes nothing back. */
enum pv_code import_operation_end(struct import_operation *import,
                                  bool stopped,
                                  const struct pv_error *lost,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif

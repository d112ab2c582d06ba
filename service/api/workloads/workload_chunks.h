#ifndef API_WORKLOADS_WORKLOAD_CHUNKS_H
#define API_WORKLOADS_WORKLOAD_CHUNKS_H

#include "api/api.h"
#include "base/vector.h"
#include "core/workload/workload_import.h"
#include "ingest/spool.h"

/*
 * The chunks of a workload on their way from the reader of a trace to the database: on the disk until
 * the trace is whole, since a fault may come with its last line, and since a transaction that waits
 * for a slow client would hold a connection. The file has no name, so that a process that dies
 * leaves nothing.
 */
struct workload_chunks {
    struct ledger_account disk; /* of the team */
    struct spool_place place;
    struct spool *spool;
    VECTOR(size_t) lengths;
};

/* Of an empty struct, which may not move afterwards. As resources_open and spool_open. */
enum pv_code workload_chunks_open(struct workload_chunks *chunks,
                                  struct api *api,
                                  const char *team_id,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Also of one never opened. */
void workload_chunks_close(struct workload_chunks *chunks, struct api *api);

/* Where a reader puts them. As spool_write. */
struct workload_sink workload_chunks_sink(struct workload_chunks *chunks);

/* All of them as those of the workload of that id (store_workload_append), on an io worker. */
enum pv_code workload_chunks_store(const struct workload_chunks *chunks,
                                   struct store_tx *tx,
                                   const char id[37],
                                   struct pv_error *err) PV_MUSTCHECK;

#endif

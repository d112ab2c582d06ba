#ifndef STORE_WORKLOADS_WORKLOAD_H
#define STORE_WORKLOADS_WORKLOAD_H

#include "core/workload/workload_record.h"
#include "store/store.h"

/*
 * The workloads of a team: what a trace comes to, and its jobs in chunks of the column format
 * (core/workload/workload_chunk.h). A workload is written once, chunk by chunk and the row last, in one transaction;
 * afterwards it is read or deleted. All texts of results live in `arena`.
 */
struct workload_page {
    struct workload_record *items;
    size_t n;
    bool more;
};

/* What a team may store. */
struct workload_room {
    int64_t workloads;
    int64_t bytes; /* of all chunks */
};

/* PV_E_LIMIT: the team stores as many workloads as it may, or their bytes and `more` are too many. */
enum pv_code store_workload_check_room(struct store_tx *tx,
                                       const struct workload_room *room,
                                       int64_t more,
                                       struct pv_error *err) PV_MUSTCHECK;

/* The next chunk of a workload that is to come in the same transaction, under the id it will have;
 * positions count up from 0. */
enum pv_code store_workload_append(struct store_tx *tx,
                                   const char id[37],
                                   int64_t position,
                                   struct strview content,
                                   struct pv_error *err) PV_MUSTCHECK;

/* The row, behind its last chunk, with its audit row. *workload becomes what is stored. PV_E_LIMIT as
 * above; PV_E_STORAGE: the team stores as many bytes of any kind as it may. */
enum pv_code store_workload_finish(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct workload_room *room,
                                   struct workload_record *workload,
                                   struct pv_error *err) PV_MUSTCHECK;

/* PV_E_NOT_FOUND, as of another team's. */
enum pv_code store_workload_find(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *id,
                                 struct workload_record *workload,
                                 struct pv_error *err) PV_MUSTCHECK;

/* By id, which is the order in which they were made, behind after_id ("": from the first one). */
enum pv_code store_workload_list(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *after_id,
                                 size_t limit,
                                 struct workload_page *page,
                                 struct pv_error *err) PV_MUSTCHECK;

/*
 * One chunk, by its position, in `arena`; PV_E_NOT_FOUND: the workload has been deleted. Whoever reads
 * all of a workload in one transaction has all or none of it: chunks go with their row.
 */
enum pv_code store_workload_chunk(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  int64_t position,
                                  struct strview *content,
                                  struct pv_error *err) PV_MUSTCHECK;

/* With its chunks. PV_E_NOT_FOUND. */
enum pv_code
store_workload_delete(struct store_tx *tx, const char *id, struct pv_error *err) PV_MUSTCHECK;

#endif

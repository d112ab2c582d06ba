#ifndef STORE_ADVICE_ADVISED_JOBS_H
#define STORE_ADVICE_ADVISED_JOBS_H

#include "store/store.h"

/* A job that was advised for a cluster and has not reported back: as its admission has it, where one
 * that follows the advice is held, else as advised. */
struct advised_job_row {
    char advice_id[37];
    char admission_id[37]; /* "": none is held */
    struct strview application;
    double problem_size; /* NAN: unknown */
    int64_t executors;
    double cores; /* advised, or granted */
    double predicted_duration_s;
    int64_t memory_bytes; /* of the admission; RUN_UNKNOWN: it names none, or there is none */
    int64_t starts_us;
    int64_t due_us;
};

struct advised_job_list {
    struct advised_job_row *items; /* newest advice first */
    size_t n;
    bool more;
};

/*
 * Those of the cluster that are not due yet at now_us, newest first, at most `limit`. A job is left out
 * once a run names its advice, or an admission that follows it was given back; with without_held also
 * where one is held. All texts live in `arena`.
 */
enum pv_code store_advised_jobs(struct store_tx *tx,
                                struct arena *arena,
                                struct strview cluster,
                                bool without_held,
                                int64_t now_us,
                                size_t limit,
                                struct advised_job_list *list,
                                struct pv_error *err) PV_MUSTCHECK;

#endif

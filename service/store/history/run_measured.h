#ifndef STORE_HISTORY_RUN_MEASURED_H
#define STORE_HISTORY_RUN_MEASURED_H

#include "core/diagnosis/diagnosis.h"
#include "core/history/run.h"
#include "store/store.h"

/* The history as a diagnosis reads it: columns of the runs, and of each stage its number of tasks,
 * their time and, if they leave cores idle, the longest. */

struct run_measured_list {
    int64_t history_version;
    int64_t runs;     /* of the application */
    size_t looked_at; /* the newest of them, that have the labels asked for */
    struct diagnosis_run *items;
    size_t n;
    size_t
        unmeasured; /* of those looked at: have stages, but were stored before they were measured */
    /* Those left out; one may lack several things. */
    size_t failed;
    size_t without_problem_size;
    size_t without_executors;
    size_t without_duration;
};

/* Of the newest runs, at most `most`, those that have all these labels (borrowed). One statement.
 * PV_E_NOT_FOUND: no such application. */
enum pv_code store_run_measured(struct store_tx *tx,
                                struct arena *arena,
                                const char *application_id,
                                size_t most,
                                const struct run_label labels[],
                                size_t n_labels,
                                struct run_measured_list *list,
                                struct pv_error *err) PV_MUSTCHECK;

/* Measure, of the newest `most` runs, up to `some` that are not measured yet, and keep it.
 * *measured tells how many. */
enum pv_code store_run_measure_older(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *application_id,
                                     size_t most,
                                     size_t some,
                                     size_t *measured,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif

#ifndef CORE_DIAGNOSIS_DIAGNOSIS_INTERNAL_H
#define CORE_DIAGNOSIS_DIAGNOSIS_INTERNAL_H

#include "core/diagnosis/diagnosis.h"

/* The runs of a series: `runs` of them, ascending by executors. */
struct series {
    enum ipso_workload workload;
    double problem_size;
    double load;
    const struct diagnosis_run *rows;
    size_t n;
    size_t counts; /* distinct executors */
};

/* All series of the runs, which are sorted in place. */
enum pv_code diagnosis_find_series(struct diagnosis_run runs[],
                                   size_t n,
                                   struct arena *arena,
                                   struct series **series,
                                   size_t *n_series,
                                   struct pv_error *err) PV_MUSTCHECK;

enum pv_code diagnosis_judge_slice(const struct series *series,
                                   struct arena *arena,
                                   struct diagnosis_slice *slice,
                                   struct pv_error *err) PV_MUSTCHECK;

enum pv_code diagnosis_find_best_load(const struct diagnosis_run runs[],
                                      size_t n,
                                      struct arena *arena,
                                      struct diagnosis_best_load *best,
                                      struct pv_error *err) PV_MUSTCHECK;

/* Loads that differ by less than that are one. */
static const double diagnosis_same_load = 1.05;

bool diagnosis_has_stages(const struct diagnosis_run *run);

#endif

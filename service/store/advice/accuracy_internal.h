#ifndef STORE_ADVICE_ACCURACY_INTERNAL_H
#define STORE_ADVICE_ACCURACY_INTERNAL_H

#include "store/history/run.h"

/*
 * How a run `r` is held against the advice `a` that it names, as SQL. A run on other executors or
 * cores than advised says nothing about the prediction, one that does not know its own is taken at
 * its word that it followed.
 */
#define ACCURACY_COMPARED                                                                          \
    "coalesce(r.succeeded AND " RUN_IS_BATCH                                                       \
    " AND r.duration_s > 0 AND a.predicted_duration_s > 0"                                         \
    " AND coalesce(r.executors = a.executors, true)"                                               \
    " AND coalesce(r.cores_per_executor = a.cores_per_executor, true), false)"
#define ACCURACY_ERROR_PERCENT                                                                     \
    "CASE WHEN r.succeeded AND " RUN_WORKED_S " > 0"                                               \
    " THEN 100 * (a.predicted_duration_s - " RUN_WORKED_S ") / " RUN_WORKED_S " END"
/* An open end bounds nothing; an interval of two says nothing. */
#define ACCURACY_INSIDE                                                                            \
    "CASE WHEN r.succeeded AND coalesce(a.lower_s, a.upper_s) IS NOT NULL"                         \
    " THEN " RUN_WORKED_S " >= coalesce(a.lower_s, 0)"                                             \
    " AND " RUN_WORKED_S " <= coalesce(a.upper_s, 'Infinity') END"

#endif

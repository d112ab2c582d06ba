#ifndef CORE_ADVICE_UNRELATED_RUNS_H
#define CORE_ADVICE_UNRELATED_RUNS_H

#include "core/advice/advise.h"

/*
 * Runs that do not belong together: recorded as one application, such as everything typed into a
 * shell, they are of several jobs, and no prediction for one of them can be had from the others.
 * They show it by errors on runs left out that no single job has, and by their stage graphs.
 *
 * The proposal how to tell them apart is the label or the Spark property whose values go with the
 * graphs: all runs of one value have the same graph, and of the fewest values.
 */

/* Percent, on runs left out. Public histories of single jobs stay below 30; from UNRELATED_ERROR on
 * different graphs are believed, and from twice that on no graph is asked for. */
#define UNRELATED_ERROR 40.0

enum unrelated_split { SPLIT_UNKNOWN, SPLIT_BY_LABEL, SPLIT_BY_PROPERTY };

struct unrelated_runs {
    bool found;
    double error_percent; /* on runs left out */
    size_t looked_at;     /* runs with stages; 0: none has */
    size_t graphs;        /* that they have */
    enum unrelated_split split;
    const char *key;     /* of the label or property; NULL: none goes with the graphs */
    size_t split_groups; /* values of it */
};

/*
 * runs     n of one application, with labels, Spark properties and stages, borrowed
 * error_percent  of the predictor that is used, on runs left out; NAN: unknown, and nothing found
 * arena    holds the key; scratch is back at its mark. PV_E_MEMORY. O(n graphs) comparisons.
 */
enum pv_code unrelated_runs_find(const struct run runs[],
                                 size_t n,
                                 double error_percent,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct unrelated_runs *found,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The warning runs_unrelated, where they are. PV_E_MEMORY. */
enum pv_code unrelated_runs_explain(const struct unrelated_runs *found,
                                    struct advice *advice,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif

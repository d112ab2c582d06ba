#ifndef CORE_HISTORY_WARNED_RUNS_H
#define CORE_HISTORY_WARNED_RUNS_H

#include "core/history/run.h"

/*
 * Runs whose warnings bear on predictions: their logs lost events or hold wrong ones, or time was
 * spent in a way that another run may not repeat. Replies that predict from runs count them.
 */
enum { RUN_WARNINGS_MAX = 32 };

struct run_warning_kind {
    const char *code;
    bool is_damage; /* the log is not whole */
};

/* The warnings that bear on predictions. Ends with a code that is NULL. */
extern const struct run_warning_kind run_warning_kinds[];

/* A set of warnings, in which bit i is run_warning_kinds[i]: of one code (0 if it is not in the table),
 * and of a run. */
uint32_t run_warning_bit(struct strview code);
uint32_t run_warning_set(const struct run *run);

/* Begins with zeros. */
struct warned_runs {
    size_t runs;                     /* counted */
    size_t warned;                   /* runs with a warning of the table */
    uint32_t with[RUN_WARNINGS_MAX]; /* runs with each warning */
    char run_id[37];                 /* the first run with a warning; "" if it is not stored */
};

void warned_runs_add(struct warned_runs *counts, uint32_t warnings, const char *run_id);
void warned_runs_add_run(struct warned_runs *counts, const struct run *run);

/* Adds all runs of `more`. */
void warned_runs_merge(struct warned_runs *counts, const struct warned_runs *more);

/*
 * Adds the finding `runs_with_warnings` with the codes, their counts and the id of a run. Adds nothing
 * if no run has a warning.
 *
 * are_newest  the runs are the newest of the application, from which nothing is predicted; otherwise
 *             the prediction is from these runs
 */
void warned_runs_explain(const struct warned_runs *counts,
                         bool are_newest,
                         struct findings *findings);

#endif

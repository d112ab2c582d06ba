#ifndef GOLDEN_PUBLIC_RUNS_H
#define GOLDEN_PUBLIC_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "core/history/run.h"

/*
 * Runs of the public C3O tables (data/README.md of the shared data, "c3o"): a tab-separated file an
 * application, a line a run. Columns that are not common to all applications are the application's
 * own inputs.
 */
enum { PUBLIC_INPUTS_MAX = 6 };

struct public_run {
    double problem_size;                            /* data_size_MB in blocks of 128 MB */
    double executors;                               /* instance_count */
    double duration_s;                              /* gross_runtime */
    struct run_label labels[1 + PUBLIC_INPUTS_MAX]; /* machine_type and own inputs, by key */
    /* Runs equal in machine, data size and own inputs; runs equal in all of these but the data size
     * and the input that sets it. From 0, in the order of their first runs. */
    size_t group;
    size_t family;
};

struct public_table {
    char name[64];
    size_t n_labels;
    struct public_run *runs;
    size_t n;
    size_t groups;
    size_t families;
};

/* false, with a word on standard error, when the file cannot be read as such a table. */
bool public_table_read(const char *path, struct arena *arena, struct public_table *table);

#endif

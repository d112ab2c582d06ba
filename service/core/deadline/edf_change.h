#ifndef CORE_DEADLINE_EDF_CHANGE_H
#define CORE_DEADLINE_EDF_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* Changes of a set of jobs with deadlines, as core/deadline/edf_changes.h looks for them. */

/* A job whose deadline, or whose release, is later. */
struct edf_change {
    size_t job;
    double release_s;
    double deadline_s; /* relative to release_s */
    double later_s;    /* than it was: the deadline, or the release */
};

struct edf_change_list {
    struct edf_change *items; /* in the order of the jobs */
    size_t n;
    double total_s;   /* of later_s */
    bool exact;       /* nothing less would do; of single changes: all were looked for */
    bool irreducible; /* less of any one would not do */
};

struct edf_left_out {
    size_t *jobs;     /* ascending */
    size_t n;         /* 0: the budget was spent before any were found */
    bool exact;       /* fewer would not do */
    bool irreducible; /* with any one of them back, some job is late */
};

#endif

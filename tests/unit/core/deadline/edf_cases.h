#ifndef TESTS_UNIT_CORE_EDF_CASES_H
#define TESTS_UNIT_CORE_EDF_CASES_H

#include "core/deadline/clairvoyant_edf.h"

/*
 * Random small sets of jobs for the tests of Clairvoyance EDF, and a second scheduler that follows
 * the words of the definition with nothing but loops over everything.
 */
enum { CASE_JOBS = 4, CASE_STAGES = 4, CASE_TASKS = 6 };

struct edf_case {
    struct edf_job jobs[CASE_JOBS];
    struct edf_stage stages[CASE_JOBS][CASE_STAGES];
    size_t parents[CASE_JOBS][CASE_STAGES][CASE_STAGES];
    double durations[CASE_JOBS][CASE_STAGES][CASE_TASKS];
    size_t n;
    size_t tasks;
};

/* A stream of numbers from a seed (splitmix64). */
struct numbers {
    uint64_t state;
};
uint64_t numbers_below(struct numbers *numbers, uint64_t n);

/* fine: durations with many digits; else small whole numbers, which make many equal instants. */
void edf_case_make(struct edf_case *made, struct numbers *numbers, bool fine);

/* Gives about half of the stages a delay. */
void edf_case_delay(struct edf_case *made, struct numbers *numbers, bool fine);

/* All placements of a schedule, in the order they were made. */
struct placements {
    struct edf_placement items[CASE_JOBS * CASE_STAGES * CASE_TASKS];
    size_t n;
};
bool placements_add(void *context, const struct edf_placement *placement);

/* The plain scheduler: completions by job, placements in order. */
void reference_schedule(const struct edf_job jobs[],
                        size_t n,
                        size_t cores,
                        double completions_s[],
                        struct placements *placements);

#endif

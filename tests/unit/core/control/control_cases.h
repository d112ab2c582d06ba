#ifndef TESTS_UNIT_CORE_CONTROL_CASES_H
#define TESTS_UNIT_CORE_CONTROL_CASES_H

#include "core/control/baseline.h"
#include "core/control/simulation.h"

/* Random sets of jobs for the tests of control simulations, and one call for a whole simulation. */
enum { CONTROL_JOBS = 4, CONTROL_STAGES = 5 };

struct control_case {
    struct edf_job jobs[CONTROL_JOBS];
    struct control_job terms[CONTROL_JOBS];
    struct edf_stage stages[CONTROL_JOBS][CONTROL_STAGES];
    size_t parents[CONTROL_JOBS][CONTROL_STAGES];
    size_t n;
    struct control_cluster cluster;
};

/* Chains of stages of up to 200 tasks of 0.5 to 3 s; a deadline is 1.5 to 8 times as long as a job
 * alone takes on all cores, times slack, and 10 s times slack. */
void control_case_make(struct control_case *made, uint64_t number, double slack);

struct control_result control_case_run(const struct control_model *model,
                                       const char *strategy,
                                       double gamma,
                                       struct control_trace *trace,
                                       struct arena *arena);

struct control_model control_case_model(const struct control_case *of,
                                        const struct control_options *options,
                                        struct arena *arena);

#endif

#ifndef TESTS_SLOTS_CASES_H
#define TESTS_SLOTS_CASES_H

#include "core/scheduling/slots/slots_outcome.h"

/* Small workloads for tests of simulations on slots. */
enum { CASE_JOBS_MAX = 8, CASE_TASKS_MAX = 16 };

/* A job with the durations of its maps and of its reduces, each list ended by 0. */
struct case_job {
    double arrival_s;
    double maps[CASE_TASKS_MAX];
    double reduces[CASE_TASKS_MAX];
    double shuffle_s;
    double predicted_size_s; /* 0: not predicted */
    size_t queue;
    double shuffle_bytes;
};

struct slots_case {
    struct slots_cluster cluster;
    struct case_job given[CASE_JOBS_MAX];
    size_t n; /* jobs */
    struct slots_job jobs[CASE_JOBS_MAX];
    struct slots_tasks tasks[CASE_JOBS_MAX][SLOTS_KINDS][CASE_TASKS_MAX];
};

/* Make the jobs of those that are given, as many as have tasks; equal tasks are packed, or not. */
void slots_case_prepare(struct slots_case *slots_case, bool packed);

/* What becomes of them; fails the test where it does not succeed. */
void slots_case_run(struct slots_case *slots_case,
                    const struct slots_terms *terms,
                    struct slots_job_times times[]);

/* Of every policy, terms that go with any jobs of two queues, where slots suffice for three partitions. */
struct slots_terms slots_case_terms(const struct slots_policy *policy);

#endif

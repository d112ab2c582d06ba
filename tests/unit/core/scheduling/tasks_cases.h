#ifndef TESTS_TASKS_CASES_H
#define TESTS_TASKS_CASES_H

#include "core/scheduling/tasks/tasks_outcome.h"
#include "core/scheduling/tasks/tasks_simulation.h"

/* Bags of tasks for tests, and what becomes of them. */
enum { CASE_JOBS_MAX = 64 };

struct tasks_case {
    struct arena arena;
    struct arena scratch;
    struct tasks_job jobs[CASE_JOBS_MAX];
    struct tasks_model model;
    struct tasks_result result;
    struct tasks_outcome outcome;
};

void tasks_case_init(struct tasks_case *one, uint32_t workers, double communication_s);
void tasks_case_fini(struct tasks_case *one);

/* A job of so many equal tasks. */
void tasks_case_short(struct tasks_case *one, double arrival_s, uint32_t tasks, double duration_s);
void tasks_case_long(struct tasks_case *one, double arrival_s, uint32_t tasks, double duration_s);

/* A job of n tasks, at most 16. */
struct tasks_job *
tasks_case_job(struct tasks_case *one, double arrival_s, const double durations_s[], uint32_t n);

/* With seed 1, repetition 0. Asserts that it succeeds within its memory. */
void tasks_case_run(struct tasks_case *one, const struct tasks_terms *terms);

/* Of that job: as just run. */
double tasks_case_start(const struct tasks_case *one, uint32_t job);
double tasks_case_finish(const struct tasks_case *one, uint32_t job);

/* A large workload in the arena: jobs with 1 to tasks_max tasks that arrive at random and keep the
 * workers busy to the share `load`; one of ten is long. */
struct tasks_model tasks_case_random(struct arena *arena,
                                     uint64_t seed,
                                     uint32_t workers,
                                     uint32_t jobs,
                                     uint32_t tasks_max,
                                     double load,
                                     double communication_s);

/* Whether the first n jobs have begun and ended at the very same instants. */
bool tasks_case_same(const struct tasks_result *a, const struct tasks_result *b, uint32_t n);

/* "" or what is wrong with what became of the jobs: first starts before messages could be there,
 * results before the longest task could end. */
const char *tasks_case_fault(const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             const struct tasks_result *result);

#endif

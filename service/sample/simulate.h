#ifndef SAMPLE_SIMULATE_H
#define SAMPLE_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * Invented Spark applications and what a run of them looks like: task times with spread, stragglers
 * and skew, scheduled on executors' cores with the overheads a real driver has. It feeds
 * `provisord sample` and the tests of the advice; nothing in the service learns from it otherwise.
 */

/* What the number of tasks of a stage follows. */
enum sample_tasks { SAMPLE_PER_SIZE, SAMPLE_PER_CORE, SAMPLE_PER_EXECUTOR, SAMPLE_COUNT };

enum { SAMPLE_PARENTS_MAX = 3, SAMPLE_STAGES_MAX = 32, SAMPLE_GRID_MAX = 8 };
enum { SAMPLE_RECORD_BYTES = 128 }; /* of the input */

struct sample_stage {
    const char *name;
    const char *source; /* call site as Spark shows it */
    int job;            /* stages of one job run as their parents allow, jobs one after another */
    int parents[SAMPLE_PARENTS_MAX]; /* earlier stages; -1 ends the list */
    enum sample_tasks tasks;
    int64_t count; /* tasks, or tasks a unit of what it follows */
    /* Mean task seconds: per unit of work; work is N times this for all kinds but SAMPLE_COUNT 1.
     */
    double seconds_per_size; /* summed task time a unit of N, dealt out among the tasks */
    double seconds_fixed;    /* a task, besides */
    double sigma;            /* spread of ln(task time) */
    double straggler_share;
    double straggler_factor;
    double skew;              /* largest partition holds about (1 + skew) times the mean */
    int64_t records_per_size; /* 0: it reads and writes nothing */
};

struct sample_application {
    const char *name;
    const char *user;
    int64_t cores_per_executor;
    int64_t sizes[SAMPLE_GRID_MAX];     /* 0 ends */
    int64_t executors[SAMPLE_GRID_MAX]; /* 0 ends */
    double initialization_s;            /* driver and first executors */
    double initialization_per_executor_s;
    double between_jobs_s; /* driver alone */
    const struct sample_stage *stages;
    int n_stages;
};

extern const struct sample_application sample_catalogue[];
extern const size_t sample_catalogue_n;

struct sample_task {
    int64_t launch_ms; /* after the application's start, like all instants here */
    int64_t finish_ms;
    int64_t run_ms; /* of it: the task's own work */
    int32_t executor;
    int64_t records;
};

struct sample_stage_run {
    const struct sample_stage *stage;
    int64_t submitted_ms;
    int64_t completed_ms;
    struct sample_task *tasks;
    size_t n_tasks;
};

struct sample_job_run {
    int64_t submitted_ms;
    int64_t completed_ms;
    int first_stage;
    int last_stage;
};

struct sample_run {
    const struct sample_application *application;
    int64_t problem_size;
    int64_t executors;
    int64_t registered_ms; /* all executors are there */
    int64_t ended_ms;
    struct sample_stage_run stages[SAMPLE_STAGES_MAX];
    struct sample_job_run jobs[SAMPLE_STAGES_MAX];
    int n_jobs;
};

/*
 * One run of the application; same arguments, same run. Tasks live in `arena`. PV_E_MEMORY.
 * O(tasks x (cores + stages)).
 */
enum pv_code sample_simulate(const struct sample_application *application,
                             int64_t problem_size,
                             int64_t executors,
                             uint64_t seed,
                             struct arena *arena,
                             struct sample_run *run,
                             struct pv_error *err) PV_MUSTCHECK;

#endif

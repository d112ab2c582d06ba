#ifndef CORE_HISTORY_RUN_H
#define CORE_HISTORY_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/*
 * One execution of an application, as every part of provisor passes it on: the log reader makes it,
 * the codec reads and writes it, the store keeps it, the planners learn from it. Plain data; every
 * pointer is borrowed from an arena that the maker of the run was given.
 *
 * What is unknown is never 0: an unknown double is NAN, an unknown count is RUN_UNKNOWN, an unknown
 * text has at == NULL. Durations are seconds; instants are microseconds since 1970-01-01 UTC.
 */
#define RUN_UNKNOWN INT64_C(-1)
#define RUN_NO_INSTANT INT64_MIN
#define RUN_DIGEST_BYTES 32u

struct run_label {
    struct strview key;
    struct strview value;
};

/* Something the reader noticed that did not stop it. `code` is a stable word ("damaged_lines"). */
struct run_warning {
    struct strview code;
    int64_t count; /* RUN_UNKNOWN: not a matter of counting */
    struct strview detail;
};

/*
 * A stage of the graph. Task durations are known one by one (task_durations_s != NULL, n_tasks
 * long), by their mean only (task_durations_s == NULL, task_duration_s known), or not at all.
 */
struct run_stage {
    int64_t id;
    struct strview name;
    const int64_t *parents; /* stage ids, each once; may name stages that were skipped */
    size_t n_parents;
    int64_t n_tasks;                /* successful tasks; RUN_UNKNOWN */
    const double *task_durations_s; /* in task order; NULL when not known one by one */
    double task_duration_s;         /* mean */
    double task_time_s;             /* sum over successful tasks */
    double duration_s;              /* wall clock: completion - submission */
    double started_s; /* submission, seconds after the run's start; NAN when unknown */
    double input_records;
    double nominal_rate_per_s; /* input_records / task_time_s */
    bool skipped;
};

struct run {
    char id[37];        /* UUIDv7 text, "" before it is stored */
    char advice_id[37]; /* the advice it followed, "" for none */
    int64_t problem_size;
    int64_t executors;
    int64_t cores_per_executor;
    double duration_s;
    double initialization_s;
    int64_t started_us;  /* RUN_NO_INSTANT when unknown */
    int64_t recorded_us; /* when the store took it; RUN_NO_INSTANT before */
    bool succeeded;
    struct run_label *labels; /* sorted by key, keys unique */
    size_t n_labels;
    struct run_stage *stages; /* ascending by id, ids unique */
    size_t n_stages;
    bool has_stages; /* false: stages were never given (or not loaded) */

    /* From event logs only. */
    bool from_log;
    struct strview
        log_digest; /* RUN_DIGEST_BYTES of the plain log's content; at == NULL: not loaded */
    struct strview spark_application_id;
    struct strview spark_attempt_id; /* at == NULL when the log has none */
    struct strview spark_version;
    bool ended; /* the log holds an application end */
    int64_t jobs;
    int64_t stages_completed;
    int64_t stages_failed;
    int64_t tasks_succeeded;
    int64_t tasks_failed;
    double task_time_s;
    double failed_task_time_s;
    int64_t executors_added;
    struct run_label *spark_properties; /* allow-listed only, sorted by key */
    size_t n_spark_properties;
    struct run_warning *warnings;
    size_t n_warnings;
};

#endif

#ifndef CORE_HISTORY_RUN_H
#define CORE_HISTORY_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"
#include "base/instant.h"
#include "base/strview.h"
#include "core/history/task_sketch.h"

/*
 * One execution of an application, as every part of provisor passes it on: the log reader makes it,
 * the codec reads and writes it, the store keeps it, the planners learn from it. Plain data; every
 * pointer is borrowed from an arena that the maker of the run was given.
 *
 * What is unknown is never 0: an unknown double is NAN, an unknown count is RUN_UNKNOWN, an unknown
 * text has at == NULL. Durations are seconds; instants are microseconds since 1970-01-01 UTC.
 */
#define RUN_UNKNOWN INT64_C(-1)
#define RUN_NO_INSTANT INSTANT_UNKNOWN
#define RUN_DIGEST_BYTES 32u
#define RUN_NO_EXIT_CODE INT64_MIN

struct run_label {
    struct strview key;
    struct strview value;
};

/* By key, for qsort. */
int run_label_compare(const void *a, const void *b);

/*
 * What logs measure, by name: COUNT(name) for whole numbers, SECONDS(name) for times, CODE(name)
 * for whole numbers of either sign (unknown: RUN_NO_EXIT_CODE). A row here is a member of its
 * struct, of the JSON of runs (codec/history), a column (store/history; a migration adds it) and a
 * word of tests/support/run_text.c, all in this order. A measured quantity is added here, where a
 * log reader sets it, and in the contract.
 */
#define RUN_DECLARE_COUNT(name) int64_t name;
#define RUN_DECLARE_SECONDS(name) double name;

/* What successful tasks moved and used; of a stage, or of a run over all its stages. The peaks are
 * the largest of any task or executor, whatever became of it. */
#define RUN_METRICS(COUNT, SECONDS)                                                                \
    COUNT(input_bytes) /* from storage */                                                          \
    COUNT(output_bytes)                                                                            \
    COUNT(output_records)                                                                          \
    COUNT(shuffle_read_bytes) /* remote and local */                                               \
    COUNT(shuffle_read_records)                                                                    \
    COUNT(shuffle_write_bytes)                                                                     \
    COUNT(shuffle_write_records)                                                                   \
    COUNT(memory_spilled_bytes) /* as it lay in memory */                                          \
    COUNT(disk_spilled_bytes)   /* the same on disk */                                             \
    SECONDS(executor_run_time_s)                                                                   \
    SECONDS(executor_cpu_time_s)                                                                   \
    SECONDS(gc_time_s)                                                                             \
    COUNT(peak_execution_memory_bytes) /* of one task: aggregations, joins, sorts */               \
    COUNT(peak_jvm_heap_bytes)         /* of one executor, as all that follow but the last */      \
    COUNT(peak_unified_memory_bytes)   /* execution and storage, on the heap */                    \
    COUNT(peak_storage_memory_bytes)   /* cached blocks, on the heap */                            \
    COUNT(peak_off_heap_memory_bytes)  /* execution and storage, off the heap */                   \
    COUNT(peak_jvm_non_heap_bytes)     /* metaspace, code and direct buffers */                    \
    COUNT(peak_process_memory_bytes)   /* resident, of all its processes */                        \
    COUNT(peak_python_memory_bytes)    /* resident, of its Python workers */                       \
    COUNT(longest_task_bytes)          /* that the longest task read */

/* Totals of a run, which the log of any engine has. */
#define RUN_TOTALS(COUNT, SECONDS)                                                                 \
    COUNT(jobs)                                                                                    \
    COUNT(stages_completed)                                                                        \
    COUNT(stages_failed)                                                                           \
    COUNT(tasks_succeeded)                                                                         \
    COUNT(tasks_failed)                                                                            \
    SECONDS(task_time_s)                                                                           \
    SECONDS(failed_task_time_s)                                                                    \
    COUNT(executors_added)

/* Figures of a run, which only some engines log. */
#define RUN_FIGURES(COUNT, SECONDS, CODE)                                                          \
    CODE(exit_code)                                                                                \
    COUNT(tasks_killed)      /* of tasks_failed: above all copies that lost the race */            \
    COUNT(tasks_resubmitted) /* of tasks_failed: succeeded, but their output was lost */           \
    COUNT(tasks_speculative) /* attempts that were second copies, whatever became of them */       \
    COUNT(executors_removed)                                                                       \
    COUNT(executors_excluded) /* distinct ones, from a stage or from the application */            \
    COUNT(nodes_excluded)                                                                          \
    SECONDS(core_s)       /* cores of each executor x time it was there */                         \
    SECONDS(job_time_s)   /* time in which some job ran: the rest is the driver's alone */         \
    SECONDS(stage_time_s) /* time in which some stage ran */                                       \
    COUNT(peak_driver_heap_bytes)                                                                  \
    COUNT(out_of_memory_errors)  /* executors that ended by one, tasks that failed by one */       \
    COUNT(memory_limit_kills)    /* executors killed as their container exceeded its memory */     \
    COUNT(cached_blocks_dropped) /* of RDDs and tables still wanted; where updates are logged */   \
    SECONDS(executor_startup_s)  /* median from request to registration of an executor */          \
    COUNT(storage_memory_bytes)  /* heap that one executor can use for cached blocks, at most */   \
    COUNT(executors_lost)        /* to the platform: preempted, decommissioned, with their node */ \
    COUNT(streaming_queries)     /* more than 0: a streaming application, not a batch job */       \
    SECONDS(idle_s)              /* a session (shell, notebook) ran nothing */                     \
    SECONDS(away_s)              /* part of idle_s: the session was left alone */

struct run_metrics {
    RUN_METRICS(RUN_DECLARE_COUNT, RUN_DECLARE_SECONDS)
};

/* A resource profile of Spark 3.1 and later: executors of a run need not be alike. */
struct run_resources {
    int64_t id;
    int64_t executors; /* most alive at once */
    int64_t cores_per_executor;
    int64_t executor_memory_bytes; /* heap asked for */
    int64_t cores_per_task;
    /* The GPU or other custom resource that bounds the number of tasks most; at == NULL: none. */
    struct strview resource;
    int64_t resource_per_executor;
    double resource_per_task; /* a share below 1: so many tasks share one */
};

/* Requests of a task on the executors that a question is about; 0: as in the run. */
struct run_asked {
    int64_t task_cores;
    int64_t gpus_per_executor;
    double gpus_per_task;
};

/* When an executor of a run existed. An executor that came back has a second entry. */
struct executor_lifetime {
    double added_s;   /* seconds after the run's start */
    double removed_s; /* the same; NAN if the executor stayed to the end */
    int64_t cores;    /* RUN_UNKNOWN, as what follows */
    int64_t resource_profile_id;
    bool lost; /* the platform took the executor away */
};

/* A run with more executors keeps no lifetimes. */
enum { RUN_EXECUTOR_LIFETIMES_MAX = 5000 };

/* A gap of a session is idle time if it is this long; the driver works in shorter ones, too. In a gap
 * of the second length the session is left alone; in a shorter one the driver may compute. */
#define RUN_IDLE_LEAST_S 10.0
#define RUN_AWAY_LEAST_S 600.0

/* Share of the time of all attempts of tasks from which the attempts that were lost are warned of. */
#define RUN_FAILED_SHARE_WARNED 0.01

/* A node that tasks ran on. */
struct run_node {
    struct strview name; /* at == NULL: not kept, so that it is not known again in another run */
    int64_t cores;       /* that executors had there, most at once; RUN_UNKNOWN */
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
    /* In the same order, NULL where none is known, RUN_UNKNOWN for a task of which it is not; never
     * of a thinned stage. */
    const int64_t *task_nodes;      /* that each ran on: places in the run's nodes */
    const int64_t *task_read_bytes; /* that each read, from storage and shuffles */
    /* Of a thinned stage: how its tasks' durations are spread. task_durations_s, where it is there
     * all the same, is spread from it. */
    const struct task_group *task_sketch;
    size_t n_task_sketch;
    double task_duration_s; /* mean */
    double task_time_s;     /* sum over successful tasks */
    double duration_s;      /* wall clock: completion - submission */
    double started_s;       /* submission, seconds after the run's start; NAN when unknown */
    double input_records;
    double nominal_rate_per_s; /* input_records / task_time_s */
    bool skipped;
    int64_t attempts;            /* of the stage; RUN_UNKNOWN as all that follows */
    int64_t tasks_failed;        /* attempts of tasks that did not succeed */
    int64_t tasks_lost;          /* tasks whose ends the log lost; never stored */
    int64_t resource_profile_id; /* one of the run's resources */
    bool barrier;                /* all of its tasks start together */
    int64_t cache_source_id;     /* stage that computed the cached data which this stage reads */
    struct run_metrics metrics;
};

struct run {
    char id[37];             /* UUIDv7 text, "" before it is stored */
    char advice_id[37];      /* the advice it followed, "" for none */
    double problem_size;     /* > 0 */
    bool problem_size_given; /* by whoever sent the run, rather than measured from its log */
    /* By what it was measured, one of size_measure_words; at == NULL: it was given, or unknown. */
    struct strview problem_size_measure;
    int64_t executors;
    int64_t cores_per_executor;
    double duration_s;
    double initialization_s;
    /* Its weight relative to others, (0, 1]; 0: in full. Never stored. */
    double weight;
    struct run_asked asked; /* never stored */
    int64_t started_us;     /* RUN_NO_INSTANT when unknown */
    int64_t recorded_us;    /* when the store took it; RUN_NO_INSTANT before */
    bool succeeded;
    struct run_label *labels; /* sorted by key, keys unique */
    size_t n_labels;
    struct run_stage *stages; /* ascending by id, ids unique */
    size_t n_stages;
    struct run_node *nodes;                       /* names are unique */
    size_t n_nodes;                               /* 0: unknown */
    struct executor_lifetime *executor_lifetimes; /* by when they came */
    size_t n_executor_lifetimes;                  /* 0: unknown */
    bool tasks_thinned;                           /* a stage of it is */
    bool jobs_missing; /* ids of jobs are not there that come before others; never stored */
    bool compacted;    /* jobs before the first one of its log are missing; never stored */
    bool has_stages;   /* false: stages were never given (or not loaded) */

    /* From event logs only. */
    bool from_log;
    struct strview
        log_digest; /* RUN_DIGEST_BYTES of the plain log's content; at == NULL: not loaded */
    struct strview
        log_beginning;       /* core/history/log_origin.h; at == NULL: unknown, or not loaded */
    struct strview log_name; /* what the log calls the application, unscreened; never stored as it
                                is. At == NULL: not said, or not loaded */
    struct strview log_properties; /* its Spark properties as JSON, unscreened; never stored */
    struct strview spark_application_id;
    struct strview spark_attempt_id; /* at == NULL when the log has none */
    struct strview spark_version;
    bool ended; /* the log holds an application end */
    RUN_TOTALS(RUN_DECLARE_COUNT, RUN_DECLARE_SECONDS)
    RUN_FIGURES(RUN_DECLARE_COUNT, RUN_DECLARE_SECONDS, RUN_DECLARE_COUNT)
    struct run_metrics metrics;
    struct run_resources *resources; /* ascending by id; empty before Spark 3.1 */
    size_t n_resources;
    struct run_label *spark_properties; /* allow-listed only, sorted by key */
    size_t n_spark_properties;
    /* The submitted values of properties that the job set itself, sorted by key; "" if none was
     * submitted. Their effective values are among the properties above. */
    struct run_label *submitted_properties;
    size_t n_submitted_properties;
    struct findings warnings; /* what the reader noticed that did not stop it ("damaged_lines") */
};

#endif

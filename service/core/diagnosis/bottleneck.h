#ifndef CORE_DIAGNOSIS_BOTTLENECK_H
#define CORE_DIAGNOSIS_BOTTLENECK_H

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"
#include "core/diagnosis/idle_cores.h"

/*
 * Where the time of a single run went that need not have gone there, stage by stage, with the cure
 * that helps.
 *
 * A stage is charged with the wall clock while it ran alone, and with its part of it while others
 * ran beside it, so what stages lose adds up to no more than the run. Of that a bottleneck loses
 *
 *   too_few_tasks     what idle task slots could have done: there are fewer tasks than slots
 *   skew, straggler, uneven_tasks
 *                     what the longest task takes beyond the median, as far as cores idle: it is
 *                     twice the median or more, and no cached block is missing. Skew where that task read half as much again as the
 *                     mean or more, straggler where it did not, uneven_tasks where that is unknown
 *   small_partitions  what starting tasks takes: more than four tasks a core of 0.2 s or less, which
 *                     do not spill
 *   large_partitions  what idle cores could have done: tasks read 512 MiB or more
 *   idle_cores        the waves of tasks that cores would save which no task can take: a GPU's share or
 *                     the cores of a task leave them idle
 *   spill             the part of its data that went to disk and back, or from a GPU to the memory of
 *                     its machine, from 5 % on
 *   garbage_collection   the part of its time, from 10 percent on
 *   storage_bound     the time in which tasks that read from storage did not compute, from half on
 *   small_files       the same, of tasks that read less than 4 MiB each, four a core or more, which do
 *                     not spill
 *   cached_blocks     what its tasks take longer that did not find their cached blocks, because the
 *                     executors had no room for all cached data (core/history/cached_data.h)
 *
 * and the run as a whole, from 10 percent on: driver (time in which no stage ran), startup (before
 * the first stage) and cached_blocks (dropped, and made again: the loss is unknown), if no stage shows
 * what they cost; and executors_lost (the platform took executors away), from 2 % on.
 */
enum bottleneck_kind {
    BOTTLENECK_TOO_FEW_TASKS,
    BOTTLENECK_SKEW,
    BOTTLENECK_STRAGGLER,
    BOTTLENECK_UNEVEN_TASKS,
    BOTTLENECK_SMALL_PARTITIONS,
    BOTTLENECK_LARGE_PARTITIONS,
    BOTTLENECK_SPILL,
    BOTTLENECK_GARBAGE_COLLECTION,
    BOTTLENECK_STORAGE_BOUND,
    BOTTLENECK_SMALL_FILES,
    BOTTLENECK_IDLE_CORES,
    BOTTLENECK_DRIVER,
    BOTTLENECK_STARTUP,
    BOTTLENECK_CACHED_BLOCKS,
    BOTTLENECK_EXECUTORS_LOST,
    BOTTLENECK_KINDS
};

/* Its name on the wire. */
const char *bottleneck_kind_name(enum bottleneck_kind kind);

struct bottleneck {
    enum bottleneck_kind kind;
    int64_t stage_id;          /* RUN_UNKNOWN: of the run as a whole */
    struct strview stage_name; /* at == NULL: none */
    double lost_s;             /* at most; NAN: unknown */
    double lost_share;         /* of the duration of the run */
    bool from_storage;         /* the stage reads more from storage than from shuffles */
    double other_input_bytes;  /* the most that another stage reads from storage */
    bool more_executors_help;
    const char *cure;       /* a sentence */
    struct idle_cores idle; /* if it is of that kind */
    struct finding finding; /* code, message and the numbers it goes by */
};

/* Where the data of a stage's tasks are from, which decides what its number of tasks obeys. */
enum bottleneck_source {
    BOTTLENECK_FROM_SHUFFLE, /* other stages: shuffle partitions */
    BOTTLENECK_FROM_FILES,   /* storage, more than from shuffles: splits of files */
    BOTTLENECK_FROM_DRIVER,  /* a stage without parents that reads nothing: slices */
    BOTTLENECK_FROM_INPUT, /* a stage without parents; what it reads is unknown: splits or slices */
    BOTTLENECK_SOURCES
};

/* What a bottleneck was seen by; NAN where it is unknown or of another kind. */
struct bottleneck_evidence {
    double tasks;
    double cores; /* that take a task each: task slots */
    double median_s;
    double longest_s;
    double longest_bytes; /* that the longest task read */
    double task_bytes;    /* that a task read on average */
    enum bottleneck_source source;
    struct strview node;  /* that ran the longest task; at == NULL: unknown */
    bool nodes_hidden;    /* names of nodes are hashes, or were dropped */
    double spilled_bytes; /* to disk, or to the memory of the machine */
    bool to_memory;       /* of a spill: from a GPU to the memory of its machine */
    bool is_skewed;       /* of a spill: the longest task read much more than the mean */
    const char *plugin;   /* of a spill: that computes off the heap; NULL: none */
    double needed_bytes;  /* of a spill: that a task collects in memory, on average */
    double memory_bytes;  /* of a spill: memory of an executor for each task slot */
    double share;         /* of the time of tasks: collecting garbage, or waiting for storage */
    double startup_s;     /* of an executor */
    double blocks;
    int64_t cached_by;    /* of cached blocks that a stage misses, as what follows: the stage */
    double cached_bytes;  /* that the run wanted to cache */
    double storage_bytes; /* that an executor can hold */
    double missed_share;  /* of the tasks of the stage */
    double extra_s;       /* that a task takes longer which misses */
    int64_t executors;
    double executors_lost;
    struct task_slots slots; /* of idle cores, as the two below */
    double executor_cores;
    double executor_slots;
};

/* Set finding, cure, from_storage and more_executors_help of *bottleneck by the rest of it. Texts
 * are in `arena`. PV_E_MEMORY. */
enum pv_code bottleneck_describe(const struct bottleneck_evidence *evidence,
                                 struct arena *arena,
                                 struct bottleneck *bottleneck,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The Spark property that cures a bottleneck, or helps, on so many cores, with a value in `arena`
 * (NULL: no memory). False: there is none. */
bool bottleneck_property(const struct bottleneck *bottleneck,
                         int64_t cores,
                         struct arena *arena,
                         const char **key,
                         const char **value);

#endif

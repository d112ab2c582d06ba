#include "core/diagnosis/bottleneck.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/history/cached_data.h"

static const double MIB = 1048576.0;
static const double LEAST_SPLIT_MIB = 16.0;
static const double MOST_SPLITS_A_CORE = 4.0;

const char *bottleneck_kind_name(enum bottleneck_kind kind)
{
    static const char *const names[BOTTLENECK_KINDS] = {
        [BOTTLENECK_TOO_FEW_TASKS] = "too_few_tasks",
        [BOTTLENECK_SKEW] = "skew",
        [BOTTLENECK_STRAGGLER] = "straggler",
        [BOTTLENECK_UNEVEN_TASKS] = "uneven_tasks",
        [BOTTLENECK_SMALL_PARTITIONS] = "small_partitions",
        [BOTTLENECK_LARGE_PARTITIONS] = "large_partitions",
        [BOTTLENECK_SPILL] = "spill",
        [BOTTLENECK_GARBAGE_COLLECTION] = "garbage_collection",
        [BOTTLENECK_STORAGE_BOUND] = "storage_bound",
        [BOTTLENECK_SMALL_FILES] = "small_files",
        [BOTTLENECK_IDLE_CORES] = "idle_cores",
        [BOTTLENECK_DRIVER] = "driver",
        [BOTTLENECK_STARTUP] = "startup",
        [BOTTLENECK_CACHED_BLOCKS] = "cached_blocks",
        [BOTTLENECK_EXECUTORS_LOST] = "executors_lost",
    };
    return names[kind];
}

/* Begins each message: "Stage 3 (count at Main.scala:12)". */
static const char *
place_of(const struct bottleneck *bottleneck, struct arena *arena, struct findings *made)
{
    char name[96];
    if (bottleneck->stage_id == RUN_UNKNOWN)
        return "";
    const char *place;
    if (bottleneck->stage_name.at == NULL) {
        place = arena_printf(arena, "Stage %" PRId64, bottleneck->stage_id);
    } else {
        strview_shorten(bottleneck->stage_name, name, sizeof name);
        place = arena_printf(arena, "Stage %" PRId64 " (%s)", bottleneck->stage_id, name);
    }
    made->failed = made->failed || place == NULL;
    return place == NULL ? "" : place;
}

static struct finding *add_cut(const struct bottleneck *b,
                               const struct bottleneck_evidence *e,
                               const char *place,
                               struct findings *made)
{
    const char *code = bottleneck_kind_name(b->kind);
    switch (b->kind) {
    case BOTTLENECK_TOO_FEW_TASKS:
        return finding_add(made, code,
                           "%s has %.0f task%s for %.0f task slot%s: idle slots cost up to %s.",
                           place, e->tasks, PLURAL(e->tasks), e->cores, PLURAL(e->cores),
                           quantity_duration(b->lost_s).text);
    case BOTTLENECK_SKEW:
        return finding_add(made, code,
                           "%s waits up to %s for its longest task, which takes %s and "
                           "reads %s, where the median is %s and the mean %s.",
                           place, quantity_duration(b->lost_s).text,
                           quantity_duration(e->longest_s).text,
                           quantity_bytes(e->longest_bytes).text,
                           quantity_duration(e->median_s).text, quantity_bytes(e->task_bytes).text);
    case BOTTLENECK_STRAGGLER:
        return finding_add(made, code,
                           "%s waits up to %s for its longest task, which takes %s where "
                           "the median is %s, though it reads no more than others.",
                           place, quantity_duration(b->lost_s).text,
                           quantity_duration(e->longest_s).text,
                           quantity_duration(e->median_s).text);
    case BOTTLENECK_UNEVEN_TASKS:
        return finding_add(made, code,
                           "%s waits up to %s for its longest task, which takes %s where "
                           "the median is %s.",
                           place, quantity_duration(b->lost_s).text,
                           quantity_duration(e->longest_s).text,
                           quantity_duration(e->median_s).text);
    case BOTTLENECK_SMALL_PARTITIONS:
        return finding_add(made, code, "%s has %.0f tasks of %s: starting them costs up to %s.",
                           place, e->tasks, quantity_duration(e->median_s).text,
                           quantity_duration(b->lost_s).text);
    default:
        return finding_add(made, code,
                           "%s reads %s in each task: cores that idle while the last of them "
                           "run cost up to %s.",
                           place, quantity_bytes(e->task_bytes).text,
                           quantity_duration(b->lost_s).text);
    }
}

/* Else most of the time before the first stage is the driver's own. */
static bool waits_for_executors(const struct bottleneck *b, const struct bottleneck_evidence *e)
{
    return !(e->startup_s < 0.5 * b->lost_s);
}

/* The cause of idle cores: "3 CPUs", "0.25 of the executor's 1 gpu". */
static const char *
describe_slots(const struct bottleneck *b, const struct task_slots *slots, char text[], size_t room)
{
    if (isnan(b->idle.share))
        (void)snprintf(text, room, "%" PRId64 " CPUs", slots->task_cores);
    else
        (void)snprintf(text, room, "%s of the executor's %" PRId64 " %.*s",
                       quantity_number(slots->resource_per_task).text, slots->per_executor,
                       (int)slots->resource.n, slots->resource.at);
    return text;
}

static struct finding *add_spill(const struct bottleneck *b,
                                 const struct bottleneck_evidence *e,
                                 const char *place,
                                 struct findings *made)
{
    const char *code = bottleneck_kind_name(b->kind);
    const struct quantity_text spilled = quantity_bytes(e->spilled_bytes);
    if (e->to_memory)
        return finding_add(made, code,
                           "%s spills %s from the memory of %s to other memory of its machine, "
                           "%s of what it moves, which costs up to %s.",
                           place, spilled.text, e->plugin == NULL ? "a device" : e->plugin,
                           quantity_share(e->share).text, quantity_duration(b->lost_s).text);
    if (isnan(e->needed_bytes))
        return finding_add(made, code,
                           "%s spills %s to disk, %s of what it moves, which costs up to "
                           "%s.",
                           place, spilled.text, quantity_share(e->share).text,
                           quantity_duration(b->lost_s).text);
    return finding_add(
        made, code,
        "%s spills %s to disk, %s of what it moves, which costs up to %s. A task collects "
        "about %s, but has %s of memory: an executor has %s for %.0f task slot%s.",
        place, spilled.text, quantity_share(e->share).text, quantity_duration(b->lost_s).text,
        quantity_bytes(e->needed_bytes).text, quantity_bytes(e->memory_bytes).text,
        quantity_bytes(e->memory_bytes * e->executor_slots).text, e->executor_slots,
        PLURAL(e->executor_slots));
}

/* The blocks that a stage misses, or that the run dropped. */
static struct finding *add_cached(const struct bottleneck *b,
                                  const struct bottleneck_evidence *e,
                                  const char *place,
                                  struct findings *made)
{
    const char *code = bottleneck_kind_name(b->kind);
    char amount[200] = "";
    if (b->stage_id == RUN_UNKNOWN)
        return finding_add(made, code,
                           "%.0f cached block%s %s dropped from memory: tasks that use them read "
                           "or compute them again.",
                           e->blocks, PLURAL(e->blocks), PLURAL_VERB(e->blocks, "was", "were"));
    if (!isnan(e->cached_bytes))
        (void)snprintf(amount, sizeof amount,
                       " The data take about %s, and %" PRId64 " executor%s hold%s at most %s.",
                       quantity_bytes(e->cached_bytes).text, e->executors, PLURAL(e->executors),
                       PLURAL_VERB(e->executors, "s", ""),
                       quantity_bytes((double)e->executors * e->storage_bytes).text);
    return finding_add(made, code,
                       "%s reads data that stage %" PRId64
                       " cached. %s of its %.0f task%s did not find their block in memory and "
                       "took %s longer each, which costs up to %s.%s",
                       place, e->cached_by, quantity_share(e->missed_share).text, e->tasks,
                       PLURAL(e->tasks), quantity_duration(e->extra_s).text,
                       quantity_duration(b->lost_s).text, amount);
}

static struct finding *add_work(const struct bottleneck *b,
                                const struct bottleneck_evidence *e,
                                const char *place,
                                struct findings *made)
{
    const char *code = bottleneck_kind_name(b->kind);
    char text[96];
    switch (b->kind) {
    case BOTTLENECK_SPILL:
        return add_spill(b, e, place, made);
    case BOTTLENECK_GARBAGE_COLLECTION:
        return finding_add(made, code, "%s spends %s of its time on collecting garbage, up to %s.",
                           place, quantity_share(e->share).text, quantity_duration(b->lost_s).text);
    case BOTTLENECK_STORAGE_BOUND:
        return finding_add(made, code, "Tasks of %s wait for storage %s of their time, up to %s.",
                           place, quantity_share(e->share).text, quantity_duration(b->lost_s).text);
    case BOTTLENECK_SMALL_FILES:
        return finding_add(made, code,
                           "%s reads its input in %.0f task%s of %s and waits for storage "
                           "%s of the time, up to %s.",
                           place, e->tasks, PLURAL(e->tasks), quantity_bytes(e->task_bytes).text,
                           quantity_share(e->share).text, quantity_duration(b->lost_s).text);
    case BOTTLENECK_IDLE_CORES:
        return finding_add(made, code,
                           "%s runs %.0f task%s at once on an executor of %.0f cores: each task "
                           "takes %s. %.0f idle core%s of each executor cost up to %s.",
                           place, e->executor_slots, PLURAL(e->executor_slots), e->executor_cores,
                           describe_slots(b, &e->slots, text, sizeof text), (double)b->idle.cores,
                           PLURAL(b->idle.cores), quantity_duration(b->lost_s).text);
    case BOTTLENECK_DRIVER:
        return finding_add(made, code,
                           "For %s, %s of the run, no stage ran after the first: only "
                           "the driver worked.",
                           quantity_duration(b->lost_s).text, quantity_share(b->lost_share).text);
    case BOTTLENECK_STARTUP:
        if (!waits_for_executors(b, e))
            return finding_add(made, code,
                               "The first stage began after %s, %s of the run, though "
                               "executors take %s to start.",
                               quantity_duration(b->lost_s).text,
                               quantity_share(b->lost_share).text,
                               quantity_duration(e->startup_s).text);
        return finding_add(made, code, "The first stage began after %s, %s of the run.",
                           quantity_duration(b->lost_s).text, quantity_share(b->lost_share).text);
    case BOTTLENECK_EXECUTORS_LOST:
        return finding_add(made, code,
                           "The platform took %.0f of %" PRId64
                           " executor%s away (spot interruption, "
                           "decommission or lost node): cores were missing and tasks ran again, "
                           "which cost up to %s, %s of the run.",
                           e->executors_lost, e->executors, PLURAL(e->executors),
                           quantity_duration(b->lost_s).text, quantity_share(b->lost_share).text);
    default:
        return add_cached(b, e, place, made);
    }
}

/* Executors that hold all cached data; NAN: unknown. */
static double executors_needed(const struct bottleneck_evidence *e)
{
    double hit = (double)e->executors * e->storage_bytes / e->cached_bytes;
    return hit > 0.0 ? cached_data_executors(hit, e->executors) : (double)NAN;
}

/* Tasks of a stage that spills among which its data would fit their memory; NAN: unknown. */
static double tasks_needed(const struct bottleneck_evidence *e)
{
    return ceil(e->tasks * e->needed_bytes / e->memory_bytes);
}

static void add_evidence(const struct bottleneck_evidence *e, struct finding *note)
{
    finding_number(note, "tasks", e->tasks);
    finding_number(note, "cores", e->cores);
    finding_number(note, "median_task_s", e->median_s);
    finding_number(note, "longest_task_s", e->longest_s);
    finding_number(note, "longest_task_bytes", e->longest_bytes);
    finding_number(note, "bytes_per_task", e->task_bytes);
    finding_number(note, e->to_memory ? "memory_spilled_bytes" : "disk_spilled_bytes",
                   e->spilled_bytes);
    finding_number(note, "needed_bytes_per_task", e->needed_bytes);
    finding_number(note, "memory_bytes_per_task", e->memory_bytes);
    finding_number(note, "tasks_needed", tasks_needed(e));
    finding_number(note, "time_share", e->share);
    finding_number(note, "executor_startup_s", e->startup_s);
    finding_number(note, "blocks", e->blocks);
    finding_number(note, "executors_lost", e->executors_lost);
    finding_number(note, "missed_share", e->missed_share);
    finding_number(note, "extra_task_s", e->extra_s);
    finding_number(note, "cached_bytes", e->cached_bytes);
    finding_number(note, "storage_memory_bytes", e->storage_bytes);
    finding_number(note, "executors_needed", executors_needed(e));
    finding_number(note, "cores_per_executor", e->executor_cores);
    finding_number(note, "task_slots_per_executor", e->executor_slots);
}

/* --- cures --- */

/* The cure of each kind, by the source of the data of its tasks; NULL: the cure for shuffles. */
static const char *const cures[BOTTLENECK_KINDS][BOTTLENECK_SOURCES] = {
    [BOTTLENECK_TOO_FEW_TASKS] =
        {[BOTTLENECK_FROM_SHUFFLE] =
             "More executors do not cure this. More partitions do: raise "
             "spark.sql.shuffle.partitions (of RDDs: spark.default.parallelism), or repartition "
             "before the stage.",
         [BOTTLENECK_FROM_FILES] =
             "More executors do not cure this. Smaller input splits do: lower "
             "spark.sql.files.maxPartitionBytes, or repartition after reading; files that cannot "
             "be split have to be written as more files.",
         [BOTTLENECK_FROM_DRIVER] =
             "More executors do not cure this. More slices do: raise spark.default.parallelism, "
             "or the number of slices where the data are made (numSlices), or repartition.",
         [BOTTLENECK_FROM_INPUT] =
             "More executors do not cure this. More input partitions do: lower "
             "spark.sql.files.maxPartitionBytes if it reads files, else raise "
             "spark.default.parallelism or the number of slices."},
    [BOTTLENECK_SKEW] =
        {[BOTTLENECK_FROM_SHUFFLE] =
             "More executors do not cure this. A salted key, a broadcast join, or adaptive "
             "execution with spark.sql.adaptive.skewJoin.enabled for joins, do.",
         [BOTTLENECK_FROM_FILES] =
             "More executors do not cure this. Files of even size, or repartitioning after "
             "reading, do."},
    [BOTTLENECK_STRAGGLER] = {"More executors do not cure this. Speculative copies do where a "
                              "machine is slow: look at the machine that ran it. Tasks that write "
                              "output need an idempotent committer for it."},
    [BOTTLENECK_UNEVEN_TASKS] = {"More executors do not cure this. Find out whether the task has "
                                 "more data, for which a salted key or repartitioning helps, or a "
                                 "slow machine, for which speculation does."},
    [BOTTLENECK_SMALL_PARTITIONS] =
        {[BOTTLENECK_FROM_SHUFFLE] =
             "More executors do not cure this. Fewer partitions do: adaptive execution coalesces "
             "those of shuffles; else lower spark.sql.shuffle.partitions or coalesce.",
         [BOTTLENECK_FROM_FILES] = "More executors do not cure this. Fewer partitions do: raise "
                                   "spark.sql.files.maxPartitionBytes, or coalesce after reading.",
         [BOTTLENECK_FROM_DRIVER] =
             "More executors do not cure this. Fewer slices do: lower spark.default.parallelism, "
             "or the number of slices where the data are made (numSlices).",
         [BOTTLENECK_FROM_INPUT] =
             "More executors do not cure this. Fewer input partitions do: coalesce after reading."},
    [BOTTLENECK_LARGE_PARTITIONS] = {"More and smaller partitions even out the end of the stage "
                                     "and spill less."},
    [BOTTLENECK_SPILL] = {"More partitions or more memory a core cure this; more executors alone "
                          "do not."},
    [BOTTLENECK_GARBAGE_COLLECTION] = {"More heap or fewer cores an executor cure this, and "
                                       "caching in serialized form; more executors alone do not."},
    [BOTTLENECK_STORAGE_BOUND] = {"More executors help only as far as the storage is not at its "
                                  "limit. A columnar format, filters on partitions, compression "
                                  "or faster storage cure this."},
    [BOTTLENECK_SMALL_FILES] = {"More executors do not cure this. Compacting the input into files "
                                "of 128 MiB or more does."},
    [BOTTLENECK_DRIVER] = {"More executors do not cure this. Collect less on the driver, list "
                           "fewer files, run independent jobs side by side from several threads."},
    [BOTTLENECK_STARTUP] = {"More executors do not cure this. Executors that are kept warm, "
                            "smaller images and fewer jars make it start sooner."},
    [BOTTLENECK_CACHED_BLOCKS] = {"More memory for executors or more of them keep the blocks; so "
                                  "do caching less and serialized caching."},
    [BOTTLENECK_EXECUTORS_LOST] = {"More executors do not prevent this. Nodes on demand, or of "
                                   "several kinds and zones, are taken away less often; "
                                   "decommissioning that moves shuffle data "
                                   "(spark.storage.decommission.enabled) loses less work."},
};

/* The settings that raise the number of tasks of a stage, by the source of their data. */
static const char *const divides[BOTTLENECK_SOURCES] = {
    [BOTTLENECK_FROM_SHUFFLE] =
        "raise spark.sql.shuffle.partitions (of RDDs: spark.default.parallelism), or lower "
        "spark.sql.adaptive.advisoryPartitionSizeInBytes if adaptive execution merges partitions",
    [BOTTLENECK_FROM_FILES] =
        "lower spark.sql.files.maxPartitionBytes, or repartition after reading",
    [BOTTLENECK_FROM_DRIVER] =
        "raise spark.default.parallelism or the number of slices (numSlices)",
    [BOTTLENECK_FROM_INPUT] =
        "lower spark.sql.files.maxPartitionBytes if it reads files, else raise "
        "spark.default.parallelism or the number of slices",
};
static const char spill_of_one_task[] =
    "A stage of one task is one by design, so no setting divides it. More memory a core cures "
    "this; more executors alone do not.";
static const char spill_of_skewed_tasks[] =
    "Its longest task reads much more than the mean. Even out the tasks first: more partitions do "
    "not divide a large key. More memory a core cures this, too; more executors alone do not.";
static const char spill_to_memory[] =
    "Fewer tasks at once or smaller batches cure this (of RAPIDS: lower "
    "spark.rapids.sql.concurrentGpuTasks or spark.rapids.sql.batchSizeBytes), and so do smaller "
    "partitions; more executors alone do not.";

/* A stage of one task that reads no files is a final count, a collect or a limit, or one partition
 * or slice that the code asks for: nothing that a setting decides. */
static const char one_task_by_design[] =
    "More executors do not cure this, nor do settings: a stage of one task is one by design, such "
    "as the end of a count, a limit or a global sort into one file. Only other code changes that, "
    "such as aggregating before it or not asking for one partition.";
static const char driver_at_work[] =
    "More executors do not cure this. Look at what the driver does before its first job: it lists "
    "files, opens connections, waits for input.";

static bool is_one_by_design(const struct bottleneck_evidence *e)
{
    return e->tasks == 1.0 &&
           (e->source == BOTTLENECK_FROM_SHUFFLE || e->source == BOTTLENECK_FROM_DRIVER);
}

/* In `arena`, or constant; NULL: no memory. */
static const char *cure_of_spill(const struct bottleneck_evidence *e, struct arena *arena)
{
    if (e->to_memory)
        return spill_to_memory;
    if (is_one_by_design(e))
        return spill_of_one_task;
    if (e->is_skewed)
        return spill_of_skewed_tasks;
    if (isnan(e->needed_bytes))
        return cures[BOTTLENECK_SPILL][0];
    return arena_printf(arena,
                        "More partitions cure this: in %.0f tasks instead of %.0f, the data of a "
                        "task fit its memory. To divide them, %s. %s times as much memory a core "
                        "cures this, too; more executors alone do not.",
                        tasks_needed(e), e->tasks, divides[e->source],
                        quantity_number(e->needed_bytes / e->memory_bytes).text);
}

/* The same. */
static const char *cure_of_misses(const struct bottleneck_evidence *e, struct arena *arena)
{
    double executors = executors_needed(e);
    if (isnan(executors))
        return cures[BOTTLENECK_CACHED_BLOCKS][0];
    return arena_printf(
        arena,
        "%.0f executor%s hold%s all of the data, and so %s %" PRId64
        " executor%s with %s of storage memory each. Caching less, or in serialized form, needs "
        "less memory.",
        executors, PLURAL(executors), PLURAL_VERB(executors, "s", ""),
        PLURAL_VERB(e->executors, "does", "do"), e->executors, PLURAL(e->executors),
        quantity_bytes(e->cached_bytes / (double)e->executors).text);
}

/* In `arena`, or constant; NULL: no memory. */
static const char *cure_of(const struct bottleneck *bottleneck,
                           const struct bottleneck_evidence *evidence,
                           struct arena *arena)
{
    const char *const *row = cures[bottleneck->kind];
    const char *cure = row[evidence->source] != NULL ? row[evidence->source] : row[0];
    bool on_machine =
        bottleneck->kind == BOTTLENECK_STRAGGLER || bottleneck->kind == BOTTLENECK_UNEVEN_TASKS;
    if (bottleneck->kind == BOTTLENECK_TOO_FEW_TASKS && is_one_by_design(evidence))
        return one_task_by_design;
    if (bottleneck->kind == BOTTLENECK_SPILL)
        return cure_of_spill(evidence, arena);
    if (bottleneck->kind == BOTTLENECK_CACHED_BLOCKS)
        return cure_of_misses(evidence, arena);
    if (bottleneck->kind == BOTTLENECK_IDLE_CORES)
        return bottleneck->idle.cure;
    if (bottleneck->kind == BOTTLENECK_STARTUP && !waits_for_executors(bottleneck, evidence))
        return driver_at_work;
    if (on_machine && evidence->nodes_hidden)
        return arena_printf(arena,
                            "%s Names of machines are hidden: logs that are sent while "
                            "eventlog_host_names=keep show them.",
                            cure);
    if (on_machine && evidence->node.at != NULL)
        return arena_printf(arena, "%s Its machine was %.*s.", cure, (int)evidence->node.n,
                            evidence->node.at);
    return cure;
}

bool bottleneck_property(const struct bottleneck *b,
                         int64_t cores,
                         struct arena *arena,
                         const char **key,
                         const char **value)
{
    double tasks = finding_value(&b->finding, "tasks");
    double bytes = finding_value(&b->finding, "bytes_per_task");
    double each = floor(tasks * bytes / (double)cores / MIB);
    if (b->kind == BOTTLENECK_IDLE_CORES) {
        *key = b->idle.key;
        *value = b->idle.value;
        return *key != NULL;
    }
    if (b->kind == BOTTLENECK_STRAGGLER) {
        *key = "spark.speculation";
        *value = "true";
        return true;
    }
    /* Splits so that each core gets one, where they are worth a task. They are of one size for all
     * that the job reads: other stages must not be cut into crumbs. */
    if (b->kind != BOTTLENECK_TOO_FEW_TASKS || !b->from_storage || cores < 1 ||
        !(tasks < (double)cores) || !(each >= LEAST_SPLIT_MIB) || !(each < 0.9 * bytes / MIB) ||
        b->other_input_bytes / MIB / each > MOST_SPLITS_A_CORE * (double)cores)
        return false;
    *key = "spark.sql.files.maxPartitionBytes";
    *value = arena_printf(arena, "%.0fm", each);
    return true;
}

enum pv_code bottleneck_describe(const struct bottleneck_evidence *evidence,
                                 struct arena *arena,
                                 struct bottleneck *bottleneck,
                                 struct pv_error *err)
{
    struct findings made = {.arena = arena};
    const char *place = place_of(bottleneck, arena, &made);
    if (bottleneck->kind == BOTTLENECK_IDLE_CORES)
        PV_TRY(idle_cores_find(&evidence->slots, (int64_t)evidence->executor_cores,
                               (int64_t)evidence->executor_slots, arena, &bottleneck->idle, err));
    struct finding *note = bottleneck->kind <= BOTTLENECK_LARGE_PARTITIONS
                               ? add_cut(bottleneck, evidence, place, &made)
                               : add_work(bottleneck, evidence, place, &made);
    add_evidence(evidence, note);
    bottleneck->cure = cure_of(bottleneck, evidence, arena);
    bottleneck->from_storage = evidence->source == BOTTLENECK_FROM_FILES;
    bottleneck->more_executors_help = bottleneck->kind == BOTTLENECK_CACHED_BLOCKS ||
                                      bottleneck->kind == BOTTLENECK_LARGE_PARTITIONS;
    if (made.failed || note == NULL || bottleneck->cure == NULL)
        return pv_no_memory(err);
    bottleneck->finding = *note;
    return PV_OK;
}

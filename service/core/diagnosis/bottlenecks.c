#include "core/diagnosis/bottlenecks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/diagnosis/stage_time.h"
#include "core/history/cached_data.h"
#include "core/numerics/quantile.h"
#include "core/spark/native_engine.h"
#include "core/spark/property_value.h"

static const double LONG_TASK = 2.0;    /* times the median */
static const double SKEWED_BYTES = 1.5; /* times the mean */
static const double SMALL_TASK_S = 0.2;
static const double SMALL_TASKS_A_CORE = 4.0;
static const double LARGE_BYTES = 536870912.0;
static const double SMALL_FILE_BYTES = 4194304.0;
static const double SPILL_SHARE = 0.05;
static const double GC_SHARE = 0.1;
static const double STORAGE_SHARE = 0.5;
static const double RUN_SHARE = 0.1;
static const double LEAST_SHARE = 0.02;
static const double LEAST_S = 1.0;

/* A bottleneck while it is looked for, with what it was seen by. */
struct candidate {
    struct bottleneck bottleneck;
    struct bottleneck_evidence evidence;
};

/* Kinds of one stage: one of those about how it is cut, idle cores, spill, garbage, one about
 * storage, cached blocks. */
enum { KINDS_A_STAGE = 6, KINDS_A_RUN = 4 };

struct finder {
    const struct run *run;
    struct candidate *candidates;
    size_t n;
    const struct run_stage *most_reading; /* from storage; NULL: none does */
    double most_bytes;                    /* that it reads */
    double next_bytes;                    /* the most that another one does */
    bool nodes_hidden;
    const char *plugin;        /* that computes off the heap; NULL: none */
    struct cached_data cached; /* one stage for each of the run */
    bool explains_cached;      /* a stage has tasks that did not find their cached blocks */
};

static const struct bottleneck_evidence no_evidence = {.tasks = (double)NAN,
                                                       .cores = (double)NAN,
                                                       .median_s = (double)NAN,
                                                       .longest_s = (double)NAN,
                                                       .longest_bytes = (double)NAN,
                                                       .task_bytes = (double)NAN,
                                                       .spilled_bytes = (double)NAN,
                                                       .needed_bytes = (double)NAN,
                                                       .memory_bytes = (double)NAN,
                                                       .share = (double)NAN,
                                                       .executor_cores = (double)NAN,
                                                       .executor_slots = (double)NAN,
                                                       .startup_s = (double)NAN,
                                                       .blocks = (double)NAN,
                                                       .cached_bytes = (double)NAN,
                                                       .storage_bytes = (double)NAN,
                                                       .missed_share = (double)NAN,
                                                       .extra_s = (double)NAN,
                                                       .executors_lost = (double)NAN,
                                                       .executors = RUN_UNKNOWN};

/* NAN stays. */
static double at_most_1(double share)
{
    return share > 1.0 ? 1.0 : share;
}

static void add(struct finder *f,
                enum bottleneck_kind kind,
                const struct run_stage *stage,
                double lost_s,
                const struct bottleneck_evidence *evidence)
{
    double share = at_most_1(lost_s / f->run->duration_s);
    bool matters = lost_s >= LEAST_S && share >= LEAST_SHARE;
    if (!matters && !(kind == BOTTLENECK_CACHED_BLOCKS && stage == NULL))
        return;
    f->candidates[f->n++] = (struct candidate){
        .bottleneck = {.kind = kind,
                       .stage_id = stage == NULL ? RUN_UNKNOWN : stage->id,
                       .stage_name = stage == NULL ? (struct strview){NULL, 0} : stage->name,
                       .lost_s = lost_s,
                       .lost_share = share,
                       .other_input_bytes =
                           stage == f->most_reading ? f->next_bytes : f->most_bytes},
        .evidence = *evidence};
}

/* --- a stage --- */

/* A stage and what is drawn from it. NAN: unknown. */
struct seen_stage {
    const struct run_stage *stage;
    double charged_s;
    double tasks;
    double slots; /* tasks that ran at once at most */
    double idle;  /* share of the slots' time in which no task ran */
    double median_s;
    double longest_s;
    struct strview longest_on; /* node that the longest task ran on; at == NULL: unknown */
    double input_bytes;
    double shuffle_bytes;
    double task_bytes;
    bool is_skewed;                    /* its longest task read much more than the mean */
    bool spills;                       /* to disk, or from a GPU */
    const struct cached_stage *cached; /* with tasks that missed; NULL: no task did */
};

static double known(int64_t count)
{
    return count < 0 ? (double)NAN : (double)count;
}

/* 0 for what is unknown. */
static double at_least_0(double value)
{
    return value > 0 ? value : 0.0;
}

static enum pv_code see_tasks(const struct run *run,
                              const struct run_stage *stage,
                              struct arena *scratch,
                              struct seen_stage *seen,
                              struct pv_error *err)
{
    if (stage->task_durations_s == NULL || stage->n_tasks < 1)
        return PV_OK;
    struct arena_mark mark = arena_mark(scratch);
    size_t n = (size_t)stage->n_tasks;
    double *durations = arena_array(scratch, n, sizeof *durations);
    if (durations == NULL)
        return pv_no_memory(err);
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        durations[i] = stage->task_durations_s[i];
        longest = durations[i] > durations[longest] ? i : longest;
    }
    if (stage->task_nodes != NULL && stage->task_nodes[longest] >= 0 &&
        (size_t)stage->task_nodes[longest] < run->n_nodes)
        seen->longest_on = run->nodes[stage->task_nodes[longest]].name;
    seen->median_s = quantile_median(durations, n);
    seen->longest_s = durations[n - 1];
    arena_rewind(scratch, mark);
    return PV_OK;
}

static enum pv_code see_stage(const struct finder *f,
                              const struct run_stage *stage,
                              double charged_s,
                              struct arena *scratch,
                              struct seen_stage *seen,
                              struct pv_error *err)
{
    const struct run_metrics *metrics = &stage->metrics;
    *seen = (struct seen_stage){.stage = stage,
                                .charged_s = charged_s,
                                .tasks = known(stage->n_tasks),
                                .slots = task_slots_of_run(f->run, stage),
                                .idle = (double)NAN,
                                .median_s = (double)NAN,
                                .longest_s = (double)NAN,
                                .input_bytes = known(metrics->input_bytes),
                                .shuffle_bytes = known(metrics->shuffle_read_bytes)};
    double bytes = at_least_0(seen->input_bytes) + at_least_0(seen->shuffle_bytes);
    seen->task_bytes = bytes > 0 ? bytes / seen->tasks : (double)NAN;
    seen->is_skewed = (double)metrics->longest_task_bytes >= SKEWED_BYTES * seen->task_bytes;
    seen->spills = metrics->disk_spilled_bytes > 0 || metrics->memory_spilled_bytes > 0;
    if (f->cached.stages != NULL && f->cached.stages[stage - f->run->stages].measured)
        seen->cached = &f->cached.stages[stage - f->run->stages];
    if (!isnan(stage->task_time_s) && stage->duration_s > 0)
        seen->idle = fmax(0.0, 1.0 - stage->task_time_s / (seen->slots * stage->duration_s));
    return see_tasks(f->run, stage, scratch, seen, err);
}

static enum bottleneck_source source_of(const struct seen_stage *seen)
{
    if (at_least_0(seen->input_bytes) > at_least_0(seen->shuffle_bytes))
        return BOTTLENECK_FROM_FILES;
    if (seen->stage->n_parents > 0 || seen->shuffle_bytes > 0)
        return BOTTLENECK_FROM_SHUFFLE;
    return seen->input_bytes >= 0 ? BOTTLENECK_FROM_DRIVER : BOTTLENECK_FROM_INPUT;
}

/* Names that no one knows a machine by. */
static bool hides_nodes(const struct run *run)
{
    static const char hash[] = "host:";
    bool hidden = false;
    for (size_t i = 0; i < run->n_nodes; i++) {
        struct strview name = run->nodes[i].name;
        hidden = hidden || name.at == NULL ||
                 (name.n >= sizeof hash && memcmp(name.at, hash, sizeof hash - 1) == 0);
    }
    return hidden;
}

static struct bottleneck_evidence evidence_of(const struct finder *f, const struct seen_stage *seen)
{
    struct bottleneck_evidence evidence = no_evidence;
    evidence.tasks = seen->tasks;
    evidence.cores = seen->slots;
    evidence.task_bytes = seen->task_bytes;
    evidence.source = source_of(seen);
    evidence.node = seen->longest_on;
    evidence.nodes_hidden = f->nodes_hidden;
    return evidence;
}

static enum bottleneck_kind kind_of_long_task(const struct seen_stage *seen)
{
    if (seen->stage->metrics.longest_task_bytes < 0 || isnan(seen->task_bytes))
        return BOTTLENECK_UNEVEN_TASKS;
    return seen->is_skewed ? BOTTLENECK_SKEW : BOTTLENECK_STRAGGLER;
}

/* How the stage is cut into tasks. */
static void find_uneven(struct finder *f, const struct seen_stage *seen)
{
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    double idle_s = seen->charged_s * seen->idle;
    evidence.median_s = seen->median_s;
    evidence.longest_s = seen->longest_s;
    if (seen->tasks < 1.0)
        return; /* all attempts of its tasks failed */
    if (seen->tasks < seen->slots) {
        add(f, BOTTLENECK_TOO_FEW_TASKS, seen->stage, idle_s, &evidence);
    } else if (seen->cached != NULL) {
        return; /* its long tasks are those that missed */
    } else if (seen->longest_s >= LONG_TASK * seen->median_s) {
        double longer_s = (seen->longest_s - seen->median_s) / seen->stage->duration_s;
        evidence.longest_bytes = known(seen->stage->metrics.longest_task_bytes);
        add(f, kind_of_long_task(seen), seen->stage,
            fmin(idle_s, seen->charged_s * fmin(longer_s, 1.0)), &evidence);
    } else if (seen->median_s <= SMALL_TASK_S && seen->tasks > SMALL_TASKS_A_CORE * seen->slots &&
               !seen->spills) {
        add(f, BOTTLENECK_SMALL_PARTITIONS, seen->stage, idle_s, &evidence);
    } else if (seen->task_bytes >= LARGE_BYTES) {
        add(f, BOTTLENECK_LARGE_PARTITIONS, seen->stage, idle_s, &evidence);
    }
}

/* Cores that no task can take: GPUs or other resources allow fewer tasks, or the cores of a task do
 * not divide those of an executor. */
static void find_idle_cores(struct finder *f, const struct seen_stage *seen)
{
    const struct run *run = f->run;
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    const struct task_slots of = task_slots_of(run, seen->stage->resource_profile_id, false);
    int64_t cores = task_slots_cores(&of, run, run->cores_per_executor);
    int64_t each = task_slots_per_executor(&of, run, run->cores_per_executor);
    int64_t idle = cores - each * of.task_cores;
    if (isnan(seen->slots) || each < 1 || idle < 1)
        return;
    double could = floor(seen->slots * (double)cores / (double)(each * of.task_cores));
    double waves = ceil(seen->tasks / seen->slots);
    evidence.slots = of;
    evidence.executor_cores = (double)cores;
    evidence.executor_slots = (double)each;
    add(f, BOTTLENECK_IDLE_CORES, seen->stage,
        seen->charged_s * (1.0 - ceil(seen->tasks / could) / waves), &evidence);
}

/* Memory of an executor in which tasks sort, aggregate and join; NAN: unknown. Spark uses the memory
 * off the heap for that if there is any. */
static double execution_memory(const struct finder *f)
{
    const struct run *run = f->run;
    const struct run_label *properties = run->spark_properties;
    const size_t n = run->n_spark_properties;
    if (property_boolean(property_find(properties, n, "spark.memory.offHeap.enabled"), false))
        return known(property_size(property_find(properties, n, "spark.memory.offHeap.size"), 1));
    return f->plugin == NULL && run->storage_memory_bytes > 0 ? (double)run->storage_memory_bytes
                                                              : (double)NAN;
}

/* A task collects at most the data that it spilled and the data that filled its memory at the end. */
static void find_memory_of_tasks(const struct finder *f,
                                 const struct seen_stage *seen,
                                 struct bottleneck_evidence *evidence)
{
    const struct run *run = f->run;
    const struct task_slots of = task_slots_of(run, seen->stage->resource_profile_id, false);
    int64_t each =
        task_slots_per_executor(&of, run, task_slots_cores(&of, run, run->cores_per_executor));
    double bytes = execution_memory(f) / (double)each;
    double spilled = known(seen->stage->metrics.memory_spilled_bytes) / seen->tasks;
    if (run->cores_per_executor < 1 || each < 1 || !(spilled > 0) || !(bytes > 0))
        return;
    evidence->executor_slots = (double)each;
    evidence->memory_bytes = bytes;
    evidence->needed_bytes = bytes + spilled;
}

/* A GPU spills to the memory of its machine: nothing goes to disk then. */
static void find_spill(struct finder *f, const struct seen_stage *seen)
{
    const struct run_metrics *metrics = &seen->stage->metrics;
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    evidence.to_memory = metrics->disk_spilled_bytes == 0;
    double spilled = at_least_0(
        (double)(evidence.to_memory ? metrics->memory_spilled_bytes : metrics->disk_spilled_bytes));
    double moved = spilled + at_least_0(seen->input_bytes) + at_least_0(seen->shuffle_bytes) +
                   at_least_0((double)metrics->shuffle_write_bytes) +
                   at_least_0((double)metrics->output_bytes);
    if (!(spilled > 0) || spilled < SPILL_SHARE * moved)
        return;
    evidence.spilled_bytes = spilled;
    evidence.share = spilled / moved;
    evidence.is_skewed = seen->is_skewed;
    evidence.plugin = f->plugin;
    if (!evidence.to_memory)
        find_memory_of_tasks(f, seen, &evidence);
    add(f, BOTTLENECK_SPILL, seen->stage, seen->charged_s * evidence.share, &evidence);
}

static void find_garbage(struct finder *f, const struct seen_stage *seen)
{
    const struct run_metrics *metrics = &seen->stage->metrics;
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    evidence.share = at_most_1(metrics->gc_time_s / metrics->executor_run_time_s);
    if (metrics->executor_run_time_s > 0 && evidence.share >= GC_SHARE)
        add(f, BOTTLENECK_GARBAGE_COLLECTION, seen->stage, seen->charged_s * evidence.share,
            &evidence);
}

/* Tasks that read from storage and hardly compute. */
static void find_storage(struct finder *f, const struct seen_stage *seen)
{
    const struct run_metrics *metrics = &seen->stage->metrics;
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    double collecting = at_least_0(metrics->gc_time_s / metrics->executor_run_time_s);
    evidence.share = 1.0 - metrics->executor_cpu_time_s / metrics->executor_run_time_s - collecting;
    if (evidence.source != BOTTLENECK_FROM_FILES || !(metrics->executor_run_time_s > 0) ||
        !(evidence.share > 0))
        return;
    double lost_s = seen->charged_s * evidence.share;
    if (seen->task_bytes < SMALL_FILE_BYTES && seen->tasks >= SMALL_TASKS_A_CORE * seen->slots &&
        !seen->spills)
        add(f, BOTTLENECK_SMALL_FILES, seen->stage, lost_s, &evidence);
    else if (evidence.share > STORAGE_SHARE)
        add(f, BOTTLENECK_STORAGE_BOUND, seen->stage, lost_s, &evidence);
}

/* --- cached data --- */

static bool reads_cached_data(const struct run *run)
{
    for (size_t i = 0; i < run->n_stages; i++)
        if (run->stages[i].cache_source_id >= 0)
            return true;
    return false;
}

/* Reads what the run shows of its cached data. Only full executors explain that tasks miss. */
static enum pv_code see_cached(struct finder *f, struct arena *scratch, struct pv_error *err)
{
    const struct run *run = f->run;
    if (!reads_cached_data(run))
        return PV_OK;
    struct cached_tasks *tasks = arena_calloc(scratch, run->n_stages, sizeof *tasks);
    if (tasks == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        tasks[i].stage = stage;
        if (stage->task_durations_s == NULL || stage->n_tasks < 1)
            continue;
        size_t n = (size_t)stage->n_tasks;
        double *ascending_s = arena_array(scratch, n, sizeof *ascending_s);
        if (ascending_s == NULL)
            return pv_no_memory(err);
        memcpy(ascending_s, stage->task_durations_s, n * sizeof *ascending_s);
        qsort(ascending_s, n, sizeof *ascending_s, order_by_double);
        tasks[i] = (struct cached_tasks){stage, ascending_s, n};
    }
    PV_TRY(cached_data_take(run, tasks, run->n_stages, scratch, &f->cached, err));
    if (!f->cached.is_full && !(run->cached_blocks_dropped > 0))
        f->cached.stages = NULL;
    return PV_OK;
}

/* Tasks that did not find their block, because the executors had no room for all cached data. */
static void find_misses(struct finder *f, const struct seen_stage *seen)
{
    const struct cached_stage *cached = seen->cached;
    struct bottleneck_evidence evidence = evidence_of(f, seen);
    if (cached == NULL)
        return;
    double misses = seen->tasks - (double)cached->hits;
    evidence.cached_by = seen->stage->cache_source_id;
    evidence.cached_bytes = f->cached.wanted_bytes;
    evidence.storage_bytes = f->cached.held_bytes;
    evidence.executors = f->run->executors;
    evidence.missed_share = misses / seen->tasks;
    evidence.extra_s = cached->extra_s;
    f->explains_cached = true;
    add(f, BOTTLENECK_CACHED_BLOCKS, seen->stage,
        seen->charged_s * misses * cached->extra_s / seen->stage->task_time_s, &evidence);
}

static void find_most_reading(struct finder *f)
{
    for (size_t i = 0; i < f->run->n_stages; i++) {
        const struct run_stage *stage = &f->run->stages[i];
        double bytes = at_least_0((double)stage->metrics.input_bytes);
        if (bytes > f->most_bytes) {
            f->next_bytes = f->most_bytes;
            f->most_bytes = bytes;
            f->most_reading = stage;
        } else {
            f->next_bytes = fmax(f->next_bytes, bytes);
        }
    }
}

static enum pv_code find_in_stages(struct finder *f, struct arena *scratch, struct pv_error *err)
{
    const struct run *run = f->run;
    double *charged_s = arena_array(scratch, run->n_stages, sizeof *charged_s);
    if (charged_s == NULL)
        return pv_no_memory(err);
    find_most_reading(f);
    PV_TRY(see_cached(f, scratch, err));
    PV_TRY(stage_time_charge(run, scratch, charged_s, err));
    for (size_t i = 0; i < run->n_stages; i++) {
        struct seen_stage seen;
        if (!(charged_s[i] > 0))
            continue;
        PV_TRY(see_stage(f, &run->stages[i], charged_s[i], scratch, &seen, err));
        find_uneven(f, &seen);
        find_idle_cores(f, &seen);
        find_spill(f, &seen);
        find_garbage(f, &seen);
        find_storage(f, &seen);
        find_misses(f, &seen);
    }
    return PV_OK;
}

/* --- the run as a whole --- */

static int by_removal(const void *left, const void *right)
{
    const struct executor_lifetime *a = left;
    const struct executor_lifetime *b = right;
    return compare_double(a->removed_s, b->removed_s);
}

/* When the last stage ended, at most when the run did. */
static double end_of_work(const struct run *run)
{
    double end_s = 0.0;
    for (size_t i = 0; i < run->n_stages; i++)
        end_s = fmax(end_s, run->stages[i].started_s + run->stages[i].duration_s); /* not of NAN */
    return end_s > 0.0 ? fmin(end_s, run->duration_s) : run->duration_s;
}

/* Core seconds that executors which were lost were missing: until the next executor came, which counts
 * as the replacement of one, or until the work ended. */
static enum pv_code
find_missing(const struct run *run, struct arena *scratch, double *missing_s, struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct executor_lifetime *all = run->executor_lifetimes;
    const size_t n = run->n_executor_lifetimes;
    struct executor_lifetime *lost = arena_array(scratch, n, sizeof *lost);
    size_t n_lost = 0, next = 0;
    double end_s = end_of_work(run);
    *missing_s = 0.0;
    if (lost == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (all[i].lost && isfinite(all[i].removed_s))
            lost[n_lost++] = all[i];
    if (n_lost > 0)
        qsort(lost, n_lost, sizeof *lost, by_removal);
    for (size_t i = 0; i < n_lost; i++) {
        while (next < n && all[next].added_s < lost[i].removed_s)
            next++;
        double back_s = next < n ? fmin(all[next++].added_s, end_s) : end_s;
        *missing_s += at_least_0((double)lost[i].cores) * fmax(0.0, back_s - lost[i].removed_s);
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}

/* Finds the loss by executors that the platform took away: their cores were missing, and attempts of
 * tasks were lost. */
static enum pv_code find_losses(struct finder *f, struct arena *scratch, struct pv_error *err)
{
    const struct run *run = f->run;
    struct bottleneck_evidence evidence = no_evidence;
    double missing_s = 0.0;
    double cores = (double)run->executors * (double)run->cores_per_executor;
    if (!(run->executors_lost > 0) || run->executors < 1 || run->cores_per_executor < 1)
        return PV_OK;
    PV_TRY(find_missing(run, scratch, &missing_s, err));
    double again_s = at_least_0(run->failed_task_time_s);
    evidence.executors_lost = (double)run->executors_lost;
    evidence.executors = run->executors;
    add(f, BOTTLENECK_EXECUTORS_LOST, NULL, fmin((missing_s + again_s) / cores, run->duration_s),
        &evidence);
    return PV_OK;
}

static void find_in_run(struct finder *f)
{
    const struct run *run = f->run;
    struct bottleneck_evidence evidence = no_evidence;
    double initialization_s = at_least_0(run->initialization_s);
    double driver_s = run->duration_s - initialization_s - run->stage_time_s;
    bool waits = run->streaming_queries > 0; /* for its next trigger: the driver does not work */
    if (!waits && driver_s >= RUN_SHARE * run->duration_s)
        add(f, BOTTLENECK_DRIVER, NULL, driver_s, &evidence);
    evidence.startup_s = run->executor_startup_s;
    if (initialization_s >= RUN_SHARE * run->duration_s)
        add(f, BOTTLENECK_STARTUP, NULL, initialization_s, &evidence);
    evidence = no_evidence;
    evidence.blocks = known(run->cached_blocks_dropped);
    if (run->cached_blocks_dropped > 0 && !f->explains_cached)
        add(f, BOTTLENECK_CACHED_BLOCKS, NULL, (double)NAN, &evidence);
}

/* --- the whole --- */

static int by_loss(const void *left, const void *right)
{
    const struct bottleneck *a = &((const struct candidate *)left)->bottleneck;
    const struct bottleneck *b = &((const struct candidate *)right)->bottleneck;
    if (isnan(a->lost_s) || isnan(b->lost_s))
        return isnan(a->lost_s) - isnan(b->lost_s);
    int order = compare_double(b->lost_s, a->lost_s);
    if (order == 0)
        order = compare_int64(a->stage_id, b->stage_id);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/* What is too large is left out, but never what stands last for its loss is unknown. */
static size_t keep_most(struct candidate candidates[], size_t n)
{
    if (n <= BOTTLENECKS_MAX)
        return n;
    if (isnan(candidates[n - 1].bottleneck.lost_s))
        candidates[BOTTLENECKS_MAX - 1] = candidates[n - 1];
    return BOTTLENECKS_MAX;
}

/* A cure that names properties which the job sets itself says so. False: no memory. */
static bool qualify_cure(const struct run *run, struct arena *arena, struct bottleneck *item)
{
    for (size_t i = 0; i < run->n_submitted_properties; i++) {
        char key[64];
        strview_shorten(run->submitted_properties[i].key, key, sizeof key);
        if (strstr(item->cure, key) == NULL)
            continue;
        struct strview now = property_find(run->spark_properties, run->n_spark_properties, key);
        item->cure = arena_printf(arena,
                                  "%s The job itself sets %s to %.*s: setting it at submission has "
                                  "no effect, change it in the code of the job.",
                                  item->cure, key, (int)now.n, now.at == NULL ? "" : now.at);
        if (item->cure == NULL)
            return false;
    }
    return true;
}

static enum pv_code report(const struct run *run,
                           const struct candidate candidates[],
                           size_t n,
                           struct arena *arena,
                           struct bottlenecks *found,
                           struct pv_error *err)
{
    found->items = arena_array(arena, n, sizeof *found->items);
    if (found->items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct bottleneck *item = &found->items[i];
        *item = candidates[i].bottleneck;
        if (item->stage_name.at != NULL) {
            item->stage_name = arena_copy(arena, item->stage_name);
            if (item->stage_name.at == NULL)
                return pv_no_memory(err);
        }
        PV_TRY(bottleneck_describe(&candidates[i].evidence, arena, item, err));
        if (!qualify_cure(run, arena, item))
            return pv_no_memory(err);
    }
    found->n = n;
    return PV_OK;
}

enum pv_code bottlenecks_find(const struct run *run,
                              struct arena *arena,
                              struct arena *scratch,
                              struct bottlenecks *bottlenecks,
                              struct pv_error *err)
{
    *bottlenecks = (struct bottlenecks){.duration_s = run->duration_s};
    (void)snprintf(bottlenecks->run_id, sizeof bottlenecks->run_id, "%.36s", run->id);
    if (!(run->duration_s > 0) || run->n_stages == 0)
        return PV_OK;
    struct arena_mark mark = arena_mark(scratch);
    struct finder f = {
        .run = run, .nodes_hidden = hides_nodes(run), .plugin = native_engine_of_run(run)};
    size_t most = KINDS_A_STAGE * run->n_stages + KINDS_A_RUN;
    f.candidates = arena_array(scratch, most, sizeof *f.candidates);
    enum pv_code code = f.candidates == NULL ? pv_no_memory(err) : find_in_stages(&f, scratch, err);
    if (code == PV_OK) {
        find_in_run(&f);
        code = find_losses(&f, scratch, err);
    }
    if (code == PV_OK) {
        qsort(f.candidates, f.n, sizeof *f.candidates, by_loss);
        f.n = keep_most(f.candidates, f.n);
        code = report(run, f.candidates, f.n, arena, bottlenecks, err);
    }
    arena_rewind(scratch, mark);
    return code;
}

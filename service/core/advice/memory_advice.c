#include "core/advice/memory_advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "core/spark/property_value.h"

#define MIB (INT64_C(1) << 20)
static const double GIB = 1073741824.0;

/* --- the question --- */

/* The sizes among properties, where they are set; RUN_UNKNOWN. */
static struct memory_sizes sizes_set(struct strview heap,
                                     struct strview overhead,
                                     struct strview off_heap,
                                     struct strview pyspark)
{
    return (struct memory_sizes){.heap = property_size(heap, MIB),
                                 .overhead = property_size(overhead, MIB),
                                 .off_heap = property_size(off_heap, 1),
                                 .pyspark = property_size(pyspark, MIB)};
}

static struct memory_sizes fixed_sizes(const struct spark_before *before,
                                       const struct spark_constraints *spark_constraints)
{
    return sizes_set(spark_fixed_value(before, spark_constraints, "spark.executor.memory"),
                     spark_fixed_value(before, spark_constraints, "spark.executor.memoryOverhead"),
                     spark_fixed_value(before, spark_constraints, "spark.memory.offHeap.size"),
                     spark_fixed_value(before, spark_constraints, "spark.executor.pyspark.memory"));
}

/* Those that are known, in place of what it ran with. */
static void take_sizes(const struct memory_sizes *sizes, struct memory_history *history)
{
    struct memory_sizes *ran = &history->ran;
    if (sizes->heap != RUN_UNKNOWN) {
        ran->heap = sizes->heap;
        if (!history->overhead_explicit)
            ran->overhead = property_default_overhead(ran->heap, history->overhead_factor);
    }
    if (sizes->overhead != RUN_UNKNOWN) {
        ran->overhead = sizes->overhead;
        history->overhead_explicit = true;
    }
    if (sizes->off_heap != RUN_UNKNOWN)
        ran->off_heap = sizes->off_heap;
    if (sizes->pyspark != RUN_UNKNOWN)
        ran->pyspark = sizes->pyspark;
}

/* What the caller says the job runs with. */
static void take_current(const struct spark_constraints *spark_constraints,
                         struct memory_history *history)
{
#define CURRENT(key) property_find(spark_constraints->current, spark_constraints->n_current, key)
    const struct memory_sizes sizes =
        sizes_set(CURRENT("spark.executor.memory"), CURRENT("spark.executor.memoryOverhead"),
                  CURRENT("spark.memory.offHeap.size"), CURRENT("spark.executor.pyspark.memory"));
#undef CURRENT
    take_sizes(&sizes, history);
}

enum pv_code memory_container(const struct history_prediction *prediction,
                              const struct advice_question *asked,
                              int64_t executors,
                              int64_t cores_per_executor,
                              int64_t most_per_executor,
                              struct arena *arena,
                              int64_t *bytes,
                              struct pv_error *err)
{
    struct memory_history history = prediction->memory;
    const struct memory_question question = {
        .cores_per_executor = cores_per_executor,
        .executors = executors,
        .most_per_executor = most_per_executor,
        .fixed = fixed_sizes(&prediction->spark, &asked->spark_constraints)};
    struct memory_plan plan;
    take_current(&asked->spark_constraints, &history);
    PV_TRY(memory_plan_make(&history, &question, arena, &plan, err));
    if (!plan.known) {
        take_sizes(&question.fixed, &history);
        plan.sizes = history.ran;
    }
    *bytes = plan.sizes.heap > 0 ? memory_sizes_total(&plan.sizes) : RUN_UNKNOWN;
    return PV_OK;
}

enum pv_code memory_held(const struct history_prediction *prediction,
                         const struct advice_question *asked,
                         int64_t executors,
                         int64_t cores_per_executor,
                         int64_t most_per_executor,
                         struct arena *arena,
                         int64_t *bytes,
                         struct pv_error *err)
{
    PV_TRY(memory_container(prediction, asked, executors, cores_per_executor, most_per_executor,
                            arena, bytes, err));
    if (*bytes == RUN_UNKNOWN)
        *bytes = most_per_executor;
    return PV_OK;
}

/* --- why --- */

static void
explain_failure(const struct memory_mark *failed, struct arena *arena, struct finding *note)
{
    finding_number(note, "events", (double)failed->events);
    finding_number(note, "failed_bytes", (double)failed->bytes);
    if (failed->run_id[0] != '\0')
        finding_text(note, "run_id", arena_strdup(arena, failed->run_id));
}

static struct finding *describe(const struct memory_history *history,
                                const struct memory_plan *plan,
                                struct findings *reasons)
{
    double heap = (double)plan->sizes.heap / GIB, ran = (double)plan->ran.heap / GIB;
    const struct memory_mark *failed = &history->heap_failed;
    struct finding *note;
    switch (plan->basis) {
    case MEMORY_OUT_OF_MEMORY:
        note = finding_add(reasons, "memory",
                           "With %.3g GiB of heap %" PRId64
                           " executor%s or task%s ended by an OutOfMemoryError: %.3g GiB are "
                           "recommended.",
                           (double)failed->bytes / GIB, failed->events, PLURAL(failed->events),
                           PLURAL(failed->events), heap);
        explain_failure(failed, reasons->arena, note);
        return note;
    case MEMORY_CONTAINER_LIMIT:
        failed = &history->overhead_failed;
        note =
            finding_add(reasons, "memory",
                        "%" PRId64 " executor%s with %.3g GiB of overhead %s killed at the limit "
                        "of %s container: %.3g GiB of overhead are recommended.",
                        failed->events, PLURAL(failed->events), (double)failed->bytes / GIB,
                        failed->events == 1 ? "was" : "were", failed->events == 1 ? "its" : "their",
                        (double)plan->sizes.overhead / GIB);
        explain_failure(failed, reasons->arena, note);
        return note;
    case MEMORY_SPILL:
        note = finding_add(reasons, "memory",
                           "The last run spilled %.3g percent of what it read to disk: %.3g GiB of "
                           "heap are recommended instead of %.3g.",
                           100.0 * history->spilled_share, heap, ran);
        finding_number(note, "spilled_percent", 100.0 * history->spilled_share);
        return note;
    case MEMORY_GARBAGE_COLLECTION:
        note =
            finding_add(reasons, "memory",
                        "The tasks of the last run spent %.3g percent of their time on collecting "
                        "garbage: %.3g GiB of heap are recommended instead of %.3g.",
                        100.0 * history->gc_share, heap, ran);
        finding_number(note, "gc_percent", 100.0 * history->gc_share);
        return note;
    case MEMORY_PEAK_USE:
        note = finding_add(reasons, "memory",
                           "The executors of %zu run%s need at most %.3g GiB of heap by their "
                           "peaks: with a margin of %.3g percent %.3g GiB are recommended instead "
                           "of %.3g.",
                           history->runs_measured, PLURAL(history->runs_measured),
                           plan->needed_heap / GIB, 100.0 * (plan->margin - 1.0), heap, ran);
        finding_number(note, "margin_percent", 100.0 * (plan->margin - 1.0));
        return note;
    default:
        return finding_add(reasons, "memory", "Executors have %.3g GiB of heap, as %s.", heap,
                           plan->basis == MEMORY_ENFORCED ? "specified" : "they ran with");
    }
}

static void memory_explain(const struct memory_history *history,
                           const struct memory_question *question,
                           const struct memory_plan *plan,
                           struct advice *advice)
{
    struct finding *note = describe(history, plan, &advice->reasons);
    finding_number(note, "executor_memory_bytes", (double)plan->sizes.heap);
    finding_number(note, "executor_memory_bytes_ran_with", (double)plan->ran.heap);
    if (!isnan(plan->needed_heap))
        finding_number(note, "needed_bytes", plan->needed_heap);
    finding_number(note, "runs", (double)history->runs_measured);
    if (!plan->too_large && !plan->held_back)
        return;
    note = finding_add(
        &advice->warnings, "memory_exceeds_cluster",
        plan->too_large
            ? "Executors of %.3g GiB do not fit the %.3g GiB that the cluster has for each: fewer "
              "cores per executor leave each task more memory."
            : "Executors get %.3g GiB, though the history asks for more: the cluster has %.3g GiB "
              "for each. Fewer cores per executor leave each task more memory.",
        (double)memory_sizes_total(&plan->sizes) / GIB, (double)question->most_per_executor / GIB);
    finding_number(note, "container_bytes", (double)memory_sizes_total(&plan->sizes));
    finding_number(note, "memory_bytes_per_executor", (double)question->most_per_executor);
}

/* Asked for, and not answered though there are runs. */
static void warn_of_unknown(const struct memory_history *history, struct findings *warnings)
{
    struct finding *note = finding_add(
        warnings, "memory_unknown",
        history->has_evidence
            ? "No memory is recommended: the latest %zu run%s came without Spark properties, so "
              "that the heap they had is unknown; spark.executor.memory among "
              "constraints.current specifies it."
            : "No memory is recommended: nothing is recorded of what the latest %zu run%s used. "
              "Spark logs the peak of the heap with each task; with "
              "spark.eventLog.logStageExecutorMetrics=true it logs those of all memory.",
        history->runs, PLURAL(history->runs));
    finding_number(note, "runs", (double)history->runs);
}

enum pv_code memory_advise(const struct history_prediction *prediction,
                           const struct advice_question *asked,
                           int64_t executors,
                           int64_t cores_per_executor,
                           double duration_s,
                           int64_t most_per_executor,
                           struct arena *arena,
                           struct advice *advice,
                           struct memory_advice *memory,
                           struct pv_error *err)
{
    struct memory_history history = prediction->memory;
    const struct memory_question question = {
        .cores_per_executor = cores_per_executor,
        .executors = executors,
        .most_per_executor = most_per_executor,
        .fixed = fixed_sizes(&prediction->spark, &asked->spark_constraints)};
    *memory = (struct memory_advice){.cores_per_executor = cores_per_executor,
                                     .change_bytes = MEMORY_NO_CHANGE,
                                     .change_cost = (double)NAN};
    take_current(&asked->spark_constraints, &history);
    PV_TRY(memory_plan_make(&history, &question, arena, &memory->plan, err));
    if (!memory->plan.known) {
        if ((asked->include & ADVICE_MEMORY) != 0 && history.runs > 0)
            warn_of_unknown(&history, &advice->warnings);
        return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
    }
    if (executors >= 1) {
        int64_t each =
            memory_sizes_total(&memory->plan.sizes) - memory_sizes_total(&memory->plan.ran);
        memory->change_bytes = each * executors;
        memory->change_cost = (double)memory->change_bytes / GIB * duration_s / 3600.0 *
                              asked->memory_price_per_gib_hour;
    }
    memory_explain(&history, &question, &memory->plan, advice);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

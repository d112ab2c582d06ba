#include "core/advice/memory_advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/spark/native_engine.h"
#include "core/spark/property_value.h"

static const double GIB = 1073741824.0;

#define MIB (INT64_C(1) << 20)

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
    if (sizes.heap != RUN_UNKNOWN)
        history->base = history->n;
    for (size_t i = 0; i < NATIVE_ENGINE_KEYS && history->plugin == NULL; i++)
        history->plugin = native_engine_of_classes(CURRENT(native_engine_keys[i]));
#undef CURRENT
    take_sizes(&sizes, history);
}

static struct memory_question memory_question_of(const struct history_prediction *prediction,
                                                 const struct advice_question *asked,
                                                 int64_t executors,
                                                 int64_t cores_per_executor,
                                                 int64_t most_per_executor)
{
    return (struct memory_question){
        .cores_per_executor = cores_per_executor,
        .executors = executors,
        .most_per_executor = most_per_executor,
        .most_per_core = prediction->memory_per_core_bytes,
        .cut_runs = prediction->memory_cut_runs,
        .fixed = fixed_sizes(&prediction->spark, &asked->spark_constraints),
        .applied = (asked->spark_constraints.apply & PROPOSAL_MEMORY) != 0};
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
    const struct memory_question question =
        memory_question_of(prediction, asked, executors, cores_per_executor, most_per_executor);
    struct memory_plan plan;
    take_current(&asked->spark_constraints, &history);
    PV_TRY(memory_plan_make(&history, &question, arena, &plan, err));
    if (!plan.known) {
        take_sizes(&question.fixed, &history);
        plan.set = history.ran;
    }
    *bytes = plan.set.heap > 0 ? memory_sizes_total(&plan.set) : RUN_UNKNOWN;
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

/* The sentence of a heap that is not changed, or not for what the runs show. */
static struct finding *describe_heap(const struct memory_plan *plan, struct findings *reasons)
{
    double heap = (double)plan->sizes.heap;
    if (plan->kept_for == NULL)
        return finding_add(reasons, "memory", "Executors have %s of heap, as %s.",
                           quantity_bytes(heap).text,
                           plan->basis == MEMORY_ENFORCED ? "specified" : "they ran with");
    struct finding *note = finding_add(
        reasons, "memory",
        "Executors keep %s of heap, as they ran with, though they used at most %s: %s "
        "computes off the heap, and operators that fall back to the JVM need the heap.",
        quantity_bytes(heap).text, quantity_bytes(plan->evidence.peaks.heap).text, plan->kept_for);
    finding_text(note, "plugin", plan->kept_for);
    return note;
}

/* "6 GiB are recommended" */
static const char *says(const struct memory_plan *plan)
{
    return plan->applied ? "recommended" : "proposed";
}

/* A heap that changes by what runs used. */
static struct finding *describe_peaks(const struct memory_plan *plan, struct findings *reasons)
{
    struct quantity_text heap = quantity_bytes((double)plan->sizes.heap);
    struct quantity_text ran = quantity_bytes((double)plan->ran.heap);
    if (plan->sizes.heap >= plan->ran.heap)
        return finding_add(reasons, "memory",
                           "%s of heap are %s instead of %s: runs of this size had as much per "
                           "core.",
                           heap.text, says(plan), ran.text);
    struct finding *note =
        finding_add(reasons, "memory",
                    "The executors of %zu run%s of at least this size used at most %s of heap: %s "
                    "are %s instead of %s. A cut leaves a margin of at least %s and at least one "
                    "half.",
                    plan->evidence.runs_measured, PLURAL(plan->evidence.runs_measured),
                    quantity_bytes(plan->needed_heap).text, heap.text, says(plan), ran.text,
                    quantity_share(MEMORY_MARGIN - 1.0).text);
    finding_number(note, "margin_percent", 100.0 * (MEMORY_MARGIN - 1.0));
    return note;
}

static struct finding *describe(const struct memory_plan *plan, struct findings *reasons)
{
    double heap = (double)plan->sizes.heap, ran = (double)plan->ran.heap;
    const struct memory_evidence *evidence = &plan->evidence;
    const struct memory_mark *failed = &evidence->heap_failed;
    bool off_heap = plan->sizes.off_heap > plan->ran.off_heap;
    struct finding *note;
    switch (plan->basis) {
    case MEMORY_OUT_OF_MEMORY:
        note = finding_add(
            reasons, "memory",
            "With %s of heap %" PRId64 " executor%s or task%s ended by an OutOfMemoryError: %s are "
            "%s.",
            quantity_bytes((double)failed->bytes).text, failed->events, PLURAL(failed->events),
            PLURAL(failed->events), quantity_bytes(heap).text, says(plan));
        explain_failure(failed, reasons->arena, note);
        return note;
    case MEMORY_CONTAINER_LIMIT:
        failed = &evidence->overhead_failed;
        note = finding_add(
            reasons, "memory",
            "%" PRId64 " executor%s with %s of overhead %s killed at the limit "
            "of %s container: %s of overhead are %s.",
            failed->events, PLURAL(failed->events), quantity_bytes((double)failed->bytes).text,
            failed->events == 1 ? "was" : "were", failed->events == 1 ? "its" : "their",
            quantity_bytes((double)plan->sizes.overhead).text, says(plan));
        explain_failure(failed, reasons->arena, note);
        return note;
    case MEMORY_SPILL:
        note = finding_add(reasons, "memory",
                           "The last run spilled %s of what it read to disk: %s %s are %s instead "
                           "of %s.",
                           quantity_share(evidence->spilled_share).text,
                           quantity_bytes(off_heap ? (double)plan->sizes.off_heap : heap).text,
                           off_heap ? "off the heap" : "of heap", says(plan),
                           quantity_bytes(off_heap ? (double)plan->ran.off_heap : ran).text);
        finding_number(note, "spilled_percent", 100.0 * evidence->spilled_share);
        return note;
    case MEMORY_GARBAGE_COLLECTION:
        note = finding_add(reasons, "memory",
                           "The tasks of the last run spent %s of their time on collecting "
                           "garbage: %s of heap are %s instead of %s.",
                           quantity_share(evidence->gc_share).text, quantity_bytes(heap).text,
                           says(plan), quantity_bytes(ran).text);
        finding_number(note, "gc_percent", 100.0 * evidence->gc_share);
        return note;
    case MEMORY_PEAK_USE:
        return describe_peaks(plan, reasons);
    default:
        return describe_heap(plan, reasons);
    }
}

static void warn_of_limit(const struct memory_question *question,
                          const struct memory_plan *plan,
                          struct findings *warnings)
{
    double bytes = (double)memory_sizes_total(&plan->sizes);
    struct finding *note;
    struct quantity_text most = quantity_bytes((double)question->most_per_executor);
    if (plan->cut_to_fit && !plan->applied)
        note = finding_add(warnings, "memory_exceeds_cluster",
                           "Executors of %s do not fit the %s that the cluster has for each. %s "
                           "are proposed: apply memory.",
                           quantity_bytes((double)memory_sizes_total(&plan->set)).text, most.text,
                           quantity_bytes(bytes).text);
    else if (plan->too_large)
        note = finding_add(warnings, "memory_exceeds_cluster",
                           "Executors of %s do not fit the %s that the cluster has for each, so "
                           "their memory is not changed: fewer cores per executor leave each task "
                           "more memory.",
                           quantity_bytes(bytes).text, most.text);
    else if (plan->held_back)
        note = finding_add(warnings, "memory_exceeds_cluster",
                           "Executors of %s are %s, though the history asks for more: the cluster "
                           "has %s for each. Fewer cores per executor leave each task more memory.",
                           quantity_bytes(bytes).text, says(plan), most.text);
    else if (plan->held_back_by_cores) {
        note = finding_add(warnings, "memory_bounded_per_core",
                           "Executors of %s are %s, though the history asks for more: memory grows "
                           "to at most %s per core. Fewer cores per executor or more partitions "
                           "leave each task more memory.",
                           quantity_bytes(bytes).text, says(plan),
                           quantity_bytes((double)question->most_per_core).text);
        finding_number(note, "memory_per_core_bytes", (double)question->most_per_core);
    } else {
        return;
    }
    if (question->most_per_executor != RUN_UNKNOWN)
        finding_number(note, "memory_bytes_per_executor", (double)question->most_per_executor);
    finding_number(note, "container_bytes", (double)memory_sizes_total(&plan->sizes));
}

static void memory_explain(const struct memory_question *question,
                           const struct memory_plan *plan,
                           struct advice *advice)
{
    struct finding *note = describe(plan, &advice->reasons);
    finding_number(note, "executor_memory_bytes", (double)plan->sizes.heap);
    finding_number(note, "executor_memory_bytes_ran_with", (double)plan->ran.heap);
    if (!isnan(plan->needed_heap))
        finding_number(note, "needed_bytes", plan->needed_heap);
    finding_number(note, "runs", (double)plan->evidence.runs_measured);
    warn_of_limit(question, plan, &advice->warnings);
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
        history->n, PLURAL(history->n));
    finding_number(note, "runs", (double)history->n);
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
    const struct memory_question question =
        memory_question_of(prediction, asked, executors, cores_per_executor, most_per_executor);
    *memory = (struct memory_advice){.cores_per_executor = cores_per_executor,
                                     .change_bytes = MEMORY_NO_CHANGE,
                                     .change_cost = (double)NAN};
    take_current(&asked->spark_constraints, &history);
    PV_TRY(memory_plan_make(&history, &question, arena, &memory->plan, err));
    if (!memory->plan.known) {
        if ((asked->include & ADVICE_MEMORY) != 0 && history.n > 0)
            warn_of_unknown(&history, &advice->warnings);
        return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
    }
    if (executors >= 1) {
        int64_t each =
            memory_sizes_total(&memory->plan.sizes) - memory_sizes_total(&memory->plan.ran);
        if (__builtin_mul_overflow(each, executors, &memory->change_bytes))
            memory->change_bytes = MEMORY_NO_CHANGE;
        memory->change_cost = (double)each * (double)executors / GIB * duration_s / 3600.0 *
                              asked->memory_price_per_gib_hour;
    }
    memory_explain(&question, &memory->plan, advice);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

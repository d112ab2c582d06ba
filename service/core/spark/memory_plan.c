#include "core/spark/memory_plan.h"

#include <inttypes.h>
#include <math.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* Sizes are rounded up to this. */
static const int64_t HEAP_STEP = 256 * MIB;
static const int64_t OTHER_STEP = 64 * MIB;

/* Spark keeps 300 MiB of the heap for itself, and refuses heaps of less than half as much again. */
static const double RESERVED = 300.0 * 1048576.0;
static const int64_t LEAST_HEAP = 512 * MIB;

/* On top of peaks. A peak of used heap holds garbage, too, so the margin is for runs to come that
 * use more rather than for the collector. */
static const double MARGIN_OF_FEW = 1.5;
static const double MARGIN_OF_SEVERAL = 1.2;
/* Where much garbage is collected, for whatever reason: with three times what is used the collector
 * has little to do. */
static const double MARGIN_UNDER_GC = 3.0;
enum { SEVERAL_RUNS = 3 };

/* After running out of memory. */
static const double HEAP_GROWTH = 1.5;
static const double OVERHEAD_GROWTH = 2.0;

/* Under pressure, from these shares on. */
static const double SPILL_SHARE = 0.1, SPILL_GROWTH = 1.5;
static const double GC_SHARE = 0.1, GC_GROWTH = 1.25;
/* A heap that is never filled this far is collected for other reasons than its size. */
static const double FILLED = 0.6;
/* Beyond 8 GiB of heap a core more partitions or fewer cores help more than more heap. */
static const int64_t MOST_HEAP_A_CORE = 8 * GIB;

/* Less than a tenth is not worth a change. */
static const double WORTH_SHRINKING = 0.9;

const char *memory_basis_name(enum memory_basis basis)
{
    static const char *const names[MEMORY_BASES] = {
        "as_ran", "peak_use",           "out_of_memory", "container_limit",
        "spill",  "garbage_collection", "enforced"};
    return names[basis];
}

const char *memory_machine_class(int64_t bytes, int64_t cores)
{
    if (bytes < 0 || cores < 1 || bytes > cores * 8 * GIB)
        return NULL;
    return bytes <= cores * 2 * GIB   ? "compute_optimized"
           : bytes <= cores * 4 * GIB ? "general_purpose"
                                      : "memory_optimized";
}

static int64_t round_up(double bytes, int64_t step)
{
    double steps = ceil(bytes / (double)step);
    return steps > 1e12 ? INT64_C(1000000000000) * MIB : (int64_t)steps * step;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct planner {
    const struct memory_history *history;
    const struct memory_question *question;
    struct arena *arena;
    struct memory_plan *plan;
    double margin;
    bool failed;
};

/* More tasks at once need more; how much less fewer need is not known. */
static double more_cores(const struct planner *p, int64_t cores_then)
{
    int64_t cores = p->question->cores_per_executor;
    return cores_then >= 1 && cores > cores_then ? (double)cores / (double)cores_then : 1.0;
}

/* What a run that failed makes necessary, no more than suffices by another run; 0: nothing. */
static double after_failure(const struct planner *p,
                            const struct memory_mark *failed,
                            const struct memory_mark *sufficed,
                            double growth)
{
    if (failed->bytes == RUN_UNKNOWN)
        return 0.0;
    double grown = (double)failed->bytes * growth * more_cores(p, failed->cores_per_executor);
    if (sufficed->bytes == RUN_UNKNOWN)
        return grown;
    double enough = (double)sufficed->bytes * more_cores(p, sufficed->cores_per_executor);
    return fmin(grown, enough);
}

/* --- the heap --- */

/* By the peaks of runs that ended well, at the cores and executors recommended; NAN. */
static double heap_by_peaks(const struct planner *p)
{
    const struct memory_history *history = p->history;
    double times = more_cores(p, history->cores_per_executor);
    double heap = history->heap_use * times;
    if (!isnan(history->unified_use))
        heap = fmax(heap, history->unified_use * times / history->memory_fraction + RESERVED);
    /* Cached blocks are spread over the executors, however many there are. */
    if (!isnan(history->storage_use) && p->question->executors >= 1)
        heap = fmax(heap, history->storage_use / (double)p->question->executors /
                                  history->memory_fraction +
                              RESERVED);
    return heap;
}

/* A larger heap under pressure, if that is worth it a core. */
static bool grow_under_pressure(struct planner *p, double share, double least, double growth)
{
    int64_t cores = p->question->cores_per_executor;
    int64_t heap = round_up((double)p->history->ran.heap * growth, HEAP_STEP);
    if (!(share >= least) || (cores >= 1 && heap > cores * MOST_HEAP_A_CORE))
        return false;
    p->plan->sizes.heap = heap;
    return true;
}

static void shrink_heap(struct planner *p, double floor_bytes)
{
    const struct memory_history *history = p->history;
    struct memory_plan *plan = p->plan;
    bool presses = history->spilled_share > SPILL_SHARE / 10;
    if (isnan(plan->needed_heap))
        return;
    int64_t heap = larger(round_up(fmax(plan->needed_heap * plan->margin, floor_bytes), HEAP_STEP),
                          LEAST_HEAP);
    bool grows = heap > history->ran.heap && plan->needed_heap > (double)history->ran.heap;
    bool shrinks = !presses && (double)heap < WORTH_SHRINKING * (double)history->ran.heap;
    if (!grows && !shrinks)
        return;
    plan->sizes.heap = heap;
    plan->basis = MEMORY_PEAK_USE;
}

static void plan_heap(struct planner *p)
{
    const struct memory_history *history = p->history;
    struct memory_plan *plan = p->plan;
    double failure = after_failure(p, &history->heap_failed, &history->heap_sufficed, HEAP_GROWTH);
    plan->needed_heap = heap_by_peaks(p);
    if (p->question->fixed.heap != RUN_UNKNOWN) {
        plan->sizes.heap = p->question->fixed.heap;
        plan->basis = MEMORY_ENFORCED;
    } else if (failure > (double)history->ran.heap) {
        plan->sizes.heap = round_up(failure, HEAP_STEP);
        plan->basis = MEMORY_OUT_OF_MEMORY;
    } else if (grow_under_pressure(p, history->spilled_share, SPILL_SHARE, SPILL_GROWTH)) {
        plan->basis = MEMORY_SPILL;
    } else if (!(history->heap_use < FILLED * (double)history->ran.heap) &&
               grow_under_pressure(p, history->gc_share, GC_SHARE, GC_GROWTH)) {
        plan->basis = MEMORY_GARBAGE_COLLECTION;
    } else {
        shrink_heap(p, failure);
    }
}

/* --- the other parts --- */

/* What lies beside the heap, by what was measured; NAN. Stacks of threads and the like are not, so
 * there is a constant beside the margin. */
static double overhead_by_peaks(const struct planner *p)
{
    const struct memory_history *history = p->history;
    double python =
        history->ran.pyspark > 0 || isnan(history->python_use) ? 0.0 : history->python_use;
    double beside = history->non_heap_use + python;
    if (!isnan(history->process_use) && !isnan(history->heap_use))
        beside = fmax(isnan(beside) ? 0.0 : beside,
                      history->process_use - (double)history->ran.heap -
                          (double)history->ran.off_heap - (double)history->ran.pyspark);
    return beside * p->margin + 128.0 * (double)MIB;
}

static int64_t choose_overhead(const struct planner *p, double least)
{
    const struct memory_history *history = p->history;
    double ran = (double)history->ran.overhead;
    int64_t of_heap = property_default_overhead(p->plan->sizes.heap, history->overhead_factor);
    if (!history->overhead_explicit && least <= (double)of_heap)
        return of_heap;
    return least <= ran && least > WORTH_SHRINKING * ran ? history->ran.overhead
                                                         : round_up(least, OTHER_STEP);
}

static void plan_overhead(struct planner *p)
{
    const struct memory_history *history = p->history;
    struct memory_plan *plan = p->plan;
    double ran = (double)history->ran.overhead;
    double needed = overhead_by_peaks(p);
    double failure =
        after_failure(p, &history->overhead_failed, &history->overhead_sufficed, OVERHEAD_GROWTH);
    if (p->question->fixed.overhead != RUN_UNKNOWN) {
        plan->sizes.overhead = p->question->fixed.overhead;
        return;
    }
    /* Not measured: as much as sufficed, though the heap that it follows may shrink. */
    double least = isnan(needed) ? ran : history->overhead_explicit ? fmax(ran, needed) : needed;
    plan->sizes.overhead = choose_overhead(p, fmax(least, failure));
    if (failure > ran && plan->basis != MEMORY_OUT_OF_MEMORY)
        plan->basis = MEMORY_CONTAINER_LIMIT;
}

/* Of off-heap and Python memory, which are limits of their own. */
static int64_t plan_limit(const struct planner *p, int64_t ran, int64_t fixed, double use)
{
    if (fixed != RUN_UNKNOWN)
        return fixed;
    if (ran <= 0 || !(use > 0))
        return ran;
    int64_t bytes =
        round_up(use * more_cores(p, p->history->cores_per_executor) * p->margin, OTHER_STEP);
    bool changes = use > 0.9 * (double)ran || (double)bytes < WORTH_SHRINKING * (double)ran;
    return changes ? bytes : ran;
}

/* --- the whole --- */

/* Executors that fit the cluster's, where that is known: what is not needed by the peaks goes. */
static void fit_cluster(struct planner *p)
{
    struct memory_plan *plan = p->plan;
    int64_t most = p->question->most_per_executor;
    int64_t beyond = memory_sizes_total(&plan->sizes) - most;
    if (most == RUN_UNKNOWN || beyond <= 0)
        return;
    int64_t heap = (plan->sizes.heap - beyond) / OTHER_STEP * OTHER_STEP;
    bool grew = plan->sizes.heap > plan->ran.heap;
    double least = grew ? (double)plan->ran.heap : plan->needed_heap;
    bool fits = p->question->fixed.heap == RUN_UNKNOWN && heap >= LEAST_HEAP &&
                (double)heap >= least; /* false where the need is unknown */
    plan->held_back = grew;
    plan->too_large = !fits;
    if (fits)
        plan->sizes.heap = heap;
}

static const char *size_text(struct planner *p, int64_t bytes)
{
    int64_t mib = (bytes + MIB - 1) / MIB;
    const char *text = mib % 1024 == 0 ? arena_printf(p->arena, "%" PRId64 "g", mib / 1024)
                                       : arena_printf(p->arena, "%" PRId64 "m", mib);
    p->failed = p->failed || text == NULL;
    return text;
}

static void add_property(struct planner *p, const char *key, int64_t bytes, const char *reason)
{
    struct memory_plan *plan = p->plan;
    plan->properties[plan->n_properties++] =
        (struct spark_property_plan){key, size_text(p, bytes), reason};
}

static const char *heap_reason(const struct memory_plan *plan)
{
    switch (plan->basis) {
    case MEMORY_OUT_OF_MEMORY:
        return "a run with less ended by an OutOfMemoryError";
    case MEMORY_SPILL:
        return "much of the data was spilled to disk";
    case MEMORY_GARBAGE_COLLECTION:
        return "much of the time went to collecting garbage";
    default:
        return plan->sizes.heap < plan->ran.heap ? "the runs used less"
                                                 : "the peaks of the runs would not fit";
    }
}

static void set_properties(struct planner *p)
{
    struct memory_plan *plan = p->plan;
    const struct memory_history *history = p->history;
    int64_t of_heap = property_default_overhead(plan->sizes.heap, history->overhead_factor);
    if (plan->sizes.heap != plan->ran.heap)
        add_property(p, "spark.executor.memory", plan->sizes.heap, heap_reason(plan));
    if (history->overhead_explicit ? plan->sizes.overhead != plan->ran.overhead
                                   : plan->sizes.overhead != of_heap)
        add_property(p, "spark.executor.memoryOverhead", plan->sizes.overhead,
                     plan->sizes.overhead <= plan->ran.overhead
                         ? "it would shrink with the heap otherwise"
                     : history->overhead_failed.bytes != RUN_UNKNOWN
                         ? "executors with less were killed at the limit of their container"
                         : "the runs use more beside the heap");
    if (plan->sizes.off_heap != plan->ran.off_heap)
        add_property(p, "spark.memory.offHeap.size", plan->sizes.off_heap,
                     "by the most that the runs used");
    if (plan->sizes.pyspark != plan->ran.pyspark)
        add_property(p, "spark.executor.pyspark.memory", plan->sizes.pyspark,
                     "by the most that the Python workers used");
}

enum pv_code memory_plan_make(const struct memory_history *history,
                              const struct memory_question *question,
                              struct arena *arena,
                              struct memory_plan *plan,
                              struct pv_error *err)
{
    bool known = history->has_evidence && history->ran.heap != RUN_UNKNOWN;
    double margin = history->gc_share > GC_SHARE / 2         ? MARGIN_UNDER_GC
                    : history->runs_measured >= SEVERAL_RUNS ? MARGIN_OF_SEVERAL
                                                             : MARGIN_OF_FEW;
    *plan = (struct memory_plan){.known = known,
                                 .sizes = history->ran,
                                 .ran = history->ran,
                                 .needed_heap = (double)NAN,
                                 .margin = margin};
    struct planner p = {history, question, arena, plan, fmin(margin, MARGIN_OF_FEW), false};
    if (!known)
        return PV_OK;
    plan_heap(&p);
    plan_overhead(&p);
    plan->sizes.off_heap =
        plan_limit(&p, history->ran.off_heap, question->fixed.off_heap, history->off_heap_use);
    plan->sizes.pyspark =
        plan_limit(&p, history->ran.pyspark, question->fixed.pyspark, history->python_use);
    fit_cluster(&p);
    set_properties(&p);
    return p.failed ? pv_no_memory(err) : PV_OK;
}

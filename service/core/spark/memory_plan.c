#include "core/spark/memory_plan.h"

#include <inttypes.h>
#include <math.h>

#include "base/order.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* Sizes are rounded up to this. */
static const int64_t HEAP_STEP = 256 * MIB;
static const int64_t OTHER_STEP = 64 * MIB;

/* Spark keeps 300 MiB of the heap for itself, and refuses heaps of less than half as much again. */
static const double RESERVED = 300.0 * 1048576.0;
static const int64_t LEAST_HEAP = 512 * MIB;

/* After running out of memory. */
static const double HEAP_GROWTH = 1.5;
static const double OVERHEAD_GROWTH = 2.0;

/* Under pressure. */
static const double SPILL_GROWTH = 1.5;
static const double GC_GROWTH = 1.25;
/* A heap that is never filled this far is collected for other reasons than its size. */
static const double FILLED = 0.6;
/* Beyond 8 GiB of heap a core more partitions or fewer cores help more than more heap. */
static const int64_t MOST_HEAP_A_CORE = 8 * GIB;

/* Less than a tenth is not worth a change, and more than a half is not cut in one step. */
static const double WORTH_CUTTING = 0.9;
static const double MOST_CUT = 0.5;

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
    return bytes < 1e18 ? (int64_t)ceil(bytes / (double)step) * step : INT64_C(1000000000000) * MIB;
}

struct planner {
    const struct memory_history *history;
    const struct memory_question *question;
    struct arena *arena;
    struct memory_plan *plan;
    const struct memory_evidence *evidence; /* of the plan */
    bool may_cut;
    bool failed;
};

/* More tasks at once need more; how much less fewer need is not known. */
static double more_cores(const struct planner *p, int64_t cores_then)
{
    int64_t cores = p->question->cores_per_executor;
    return cores_then >= 1 && cores > cores_then ? (double)cores / (double)cores_then : 1.0;
}

/* Memory that a failed run makes necessary, no more than suffices by another run; 0: nothing. */
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

/* Returns what a cut leaves of a part; the runs used at most `use` of it. `ran` if it is not cut. */
static int64_t
cut(const struct planner *p, int64_t ran, double use, double floor_bytes, int64_t step)
{
    double left = fmax(fmax(use * MEMORY_MARGIN, floor_bytes), MOST_CUT * (double)ran);
    if (!p->may_cut || isnan(use) || !(left < WORTH_CUTTING * (double)ran))
        return ran;
    return smaller_int64(ran, round_up(left, step));
}

/* --- the heap --- */

/* By the peaks, at the cores and executors recommended, but no more than the heap that ran, because
 * the JVM fills what it has. NAN: unknown. */
static double heap_by_peaks(const struct planner *p)
{
    const struct memory_history *history = p->history;
    const struct memory_peaks *peaks = &p->evidence->peaks;
    double times = more_cores(p, p->evidence->cores_per_executor);
    /* Where one of two figures is unknown, fmax() takes the other. */
    double heap =
        fmax(peaks->heap * times, peaks->unified * times / history->memory_fraction + RESERVED);
    /* Cached blocks are spread over the executors, however many there are. */
    if (p->question->executors >= 1)
        heap =
            fmax(heap, peaks->storage / (double)p->question->executors / history->memory_fraction +
                           RESERVED);
    return fmin(heap, (double)history->ran.heap * times);
}

/* A larger heap under pressure, if that is worth it a core and no run shows that less suffices. */
static bool grow_heap(struct planner *p, double grown)
{
    const struct memory_mark *sufficed = &p->evidence->heap_sufficed;
    int64_t cores = p->question->cores_per_executor;
    if (sufficed->bytes != RUN_UNKNOWN)
        grown = fmin(grown, (double)sufficed->bytes * more_cores(p, sufficed->cores_per_executor));
    int64_t heap = round_up(grown, HEAP_STEP);
    if (heap <= p->plan->sizes.heap || (cores >= 1 && heap > cores * MOST_HEAP_A_CORE))
        return false;
    p->plan->sizes.heap = heap;
    return true;
}

/* Spilled data lay in memory before: as much more memory holds it. */
static double after_spill(const struct planner *p, int64_t ran, double fraction)
{
    double grown = (double)ran * SPILL_GROWTH;
    return isnan(p->evidence->spilled_bytes)
               ? grown
               : fmin(grown, (double)ran + p->evidence->spilled_bytes / fraction);
}

static bool is_off_heap(const struct planner *p)
{
    const struct memory_peaks *peaks = &p->evidence->peaks;
    return p->history->ran.off_heap > 0 &&
           (p->history->plugin != NULL || peaks->off_heap > peaks->heap);
}

static void cut_heap(struct planner *p, double floor_bytes)
{
    struct memory_plan *plan = p->plan;
    int64_t ran = plan->sizes.heap;
    int64_t heap = larger_int64(cut(p, ran, plan->needed_heap, floor_bytes, HEAP_STEP), LEAST_HEAP);
    if (heap >= ran)
        return;
    if (p->history->plugin != NULL || is_off_heap(p)) {
        plan->kept_for =
            p->history->plugin != NULL ? p->history->plugin : "spark.memory.offHeap.enabled";
        return;
    }
    plan->sizes.heap = heap;
    plan->basis = MEMORY_PEAK_USE;
}

/* Begins with the heap that ran. If that run had a smaller load, with the heap of runs of this load.
 * More cores per executor begin with as much heap per core. */
static void begin_heap(struct planner *p)
{
    const struct memory_history *history = p->history;
    struct memory_plan *plan = p->plan;
    const struct memory_run *base = &history->items[history->base];
    bool was_small = base->succeeded && base->problem_size < history->problem_size / 2.0;
    if (was_small && p->evidence->heap_of_load > plan->sizes.heap)
        plan->sizes.heap = p->evidence->heap_of_load;
    if (plan->needed_heap > (double)plan->sizes.heap)
        plan->sizes.heap = round_up(plan->needed_heap, HEAP_STEP);
    if (plan->sizes.heap > plan->ran.heap)
        plan->basis = MEMORY_PEAK_USE;
}

static void plan_heap(struct planner *p)
{
    const struct memory_history *history = p->history;
    const struct memory_evidence *evidence = p->evidence;
    struct memory_plan *plan = p->plan;
    double failure =
        after_failure(p, &evidence->heap_failed, &evidence->heap_sufficed, HEAP_GROWTH);
    plan->needed_heap = heap_by_peaks(p);
    begin_heap(p);
    if (p->question->fixed.heap != RUN_UNKNOWN) {
        plan->sizes.heap = p->question->fixed.heap;
        plan->basis = MEMORY_ENFORCED;
    } else if (failure > (double)plan->sizes.heap) {
        plan->sizes.heap = round_up(failure, HEAP_STEP);
        plan->basis = MEMORY_OUT_OF_MEMORY;
    } else if (evidence->spilled_share >= MEMORY_SPILL_SHARE && !is_off_heap(p) &&
               grow_heap(p, after_spill(p, history->ran.heap, history->memory_fraction))) {
        plan->basis = MEMORY_SPILL;
    } else if (evidence->gc_share >= MEMORY_GC_SHARE &&
               !(evidence->peaks.heap < FILLED * (double)history->ran.heap) &&
               grow_heap(p, (double)history->ran.heap * GC_GROWTH)) {
        plan->basis = MEMORY_GARBAGE_COLLECTION;
    } else {
        cut_heap(p, failure);
    }
}

/* --- the other parts --- */

/* Memory outside of the heap, as measured; NAN. Stacks of threads and the like are not, so
 * there is a constant beside the margin. */
static double overhead_by_peaks(const struct planner *p)
{
    const struct memory_sizes *ran = &p->history->ran;
    const struct memory_peaks *peaks = &p->evidence->peaks;
    double python = ran->pyspark > 0 || isnan(peaks->python) ? 0.0 : peaks->python;
    double beside = peaks->non_heap + python;
    if (!isnan(peaks->process) && !isnan(peaks->heap))
        beside =
            fmax(isnan(beside) ? 0.0 : beside,
                 peaks->process - (double)ran->heap - (double)ran->off_heap - (double)ran->pyspark);
    return beside * MEMORY_MARGIN + 128.0 * (double)MIB;
}

static void plan_overhead(struct planner *p)
{
    const struct memory_history *history = p->history;
    struct memory_plan *plan = p->plan;
    int64_t ran = history->ran.overhead;
    double needed = overhead_by_peaks(p);
    double failure = after_failure(p, &p->evidence->overhead_failed,
                                   &p->evidence->overhead_sufficed, OVERHEAD_GROWTH);
    int64_t of_heap = property_default_overhead(plan->sizes.heap, history->overhead_factor);
    if (p->question->fixed.overhead != RUN_UNKNOWN) {
        plan->sizes.overhead = p->question->fixed.overhead;
        return;
    }
    /* Not measured: as much as sufficed, though the heap that it follows may shrink. */
    double least = isnan(needed) ? (double)ran : fmin(needed, (double)ran);
    least = fmax(least, failure);
    if (!history->overhead_explicit && least <= (double)of_heap)
        plan->sizes.overhead = of_heap;
    else
        plan->sizes.overhead = least > (double)ran ? round_up(least, OTHER_STEP) : ran;
    if (failure > (double)ran && plan->basis != MEMORY_OUT_OF_MEMORY)
        plan->basis = MEMORY_CONTAINER_LIMIT;
}

/* Python workers have a limit of their own. */
static int64_t plan_pyspark(const struct planner *p)
{
    int64_t fixed = p->question->fixed.pyspark, ran = p->history->ran.pyspark;
    double times = more_cores(p, p->evidence->cores_per_executor);
    return fixed != RUN_UNKNOWN ? fixed
                                : cut(p, ran, p->evidence->peaks.python * times, 0.0, OTHER_STEP);
}

/* It grows where executors that compute off the heap spill, and is not cut where a plugin does. */
static int64_t plan_off_heap(struct planner *p)
{
    const struct memory_evidence *evidence = p->evidence;
    int64_t fixed = p->question->fixed.off_heap, ran = p->history->ran.off_heap;
    double times = more_cores(p, evidence->cores_per_executor);
    if (fixed != RUN_UNKNOWN)
        return fixed;
    if (is_off_heap(p) && evidence->spilled_share >= MEMORY_SPILL_SHARE &&
        evidence->heap_sufficed.bytes == RUN_UNKNOWN) {
        p->plan->basis = MEMORY_SPILL;
        return round_up(after_spill(p, ran, 1.0), OTHER_STEP);
    }
    return p->history->plugin != NULL
               ? ran
               : cut(p, ran, evidence->peaks.off_heap * times, 0.0, OTHER_STEP);
}

/* --- the whole --- */

enum { PARTS = 4 };
static void parts_of(struct memory_sizes *sizes, int64_t *parts[PARTS])
{
    parts[0] = &sizes->heap;
    parts[1] = &sizes->off_heap;
    parts[2] = &sizes->pyspark;
    parts[3] = &sizes->overhead;
}

static bool is_fixed(const struct planner *p, size_t part)
{
    const struct memory_sizes *fixed = &p->question->fixed;
    const int64_t values[PARTS] = {fixed->heap, fixed->off_heap, fixed->pyspark, fixed->overhead};
    return values[part] != RUN_UNKNOWN;
}

/* Takes back additions to the memory that ran, until the executor has at most `most`. Returns false
 * if it takes back nothing. */
static bool take_back(struct planner *p, int64_t most)
{
    int64_t *now[PARTS], *ran[PARTS];
    int64_t beyond = memory_sizes_total(&p->plan->sizes) - most;
    bool taken = false;
    parts_of(&p->plan->sizes, now);
    parts_of(&p->plan->ran, ran);
    for (size_t i = 0; i < PARTS && beyond > 0; i++) {
        int64_t added = is_fixed(p, i) ? 0 : *now[i] - *ran[i];
        if (added <= 0)
            continue;
        int64_t left = larger_int64(*ran[i], (*now[i] - beyond) / OTHER_STEP * OTHER_STEP);
        beyond -= *now[i] - left;
        *now[i] = left;
        taken = true;
    }
    return taken;
}

/* Executors do not grow above the limit per core. */
static void fit_cores(struct planner *p)
{
    int64_t cores = p->question->cores_per_executor;
    int64_t each =
        p->question->most_per_core > 0 ? p->question->most_per_core : MEMORY_PER_CORE_MAX;
    int64_t ran = memory_sizes_total(&p->plan->ran);
    if (cores < 1)
        cores = p->evidence->cores_per_executor >= 1 ? p->evidence->cores_per_executor : 1;
    int64_t most = cores > INT64_MAX / each ? INT64_MAX : cores * each;
    p->plan->held_back_by_cores = take_back(p, larger_int64(ran, most));
}

/* Has no run shown that the heap is short? */
static bool is_enough(const struct memory_evidence *evidence)
{
    return evidence->heap_failed.bytes == RUN_UNKNOWN &&
           !(evidence->spilled_share > MEMORY_SPILL_SHARE / 10) &&
           !(evidence->gc_share > MEMORY_GC_SHARE / 2);
}

/* Makes executors fit the cluster's, if those are known: memory above the peaks goes, up to a half.
 * Executors that do not fit then stay as they ran. */
static void fit_cluster(struct planner *p)
{
    struct memory_plan *plan = p->plan;
    int64_t most = p->question->most_per_executor;
    if (most == RUN_UNKNOWN || memory_sizes_total(&plan->sizes) <= most)
        return;
    plan->held_back = take_back(p, most);
    int64_t beyond = memory_sizes_total(&plan->sizes) - most;
    if (beyond <= 0)
        return;
    int64_t heap = (plan->sizes.heap - beyond) / OTHER_STEP * OTHER_STEP;
    double least = fmax(plan->needed_heap, MOST_CUT * (double)plan->ran.heap);
    bool fits = !is_fixed(p, 0) && heap >= LEAST_HEAP && p->evidence->is_as_large &&
                !isnan(plan->needed_heap) && p->history->plugin == NULL && (double)heap >= least &&
                is_enough(p->evidence);
    plan->too_large = !fits;
    plan->cut_to_fit = fits;
    if (fits) {
        plan->sizes.heap = heap;
        plan->basis = MEMORY_PEAK_USE;
        return;
    }
    int64_t *now[PARTS], *ran[PARTS];
    parts_of(&plan->sizes, now);
    parts_of(&plan->ran, ran);
    for (size_t i = 0; i < PARTS; i++)
        if (!is_fixed(p, i))
            *now[i] = *ran[i];
    plan->basis = is_fixed(p, 0) ? MEMORY_ENFORCED : MEMORY_AS_RAN;
}

/* An overhead that follows the heap, where a part of the heap was taken back. */
static void follow_heap(struct planner *p)
{
    struct memory_sizes *sizes = &p->plan->sizes;
    int64_t of_heap = property_default_overhead(sizes->heap, p->history->overhead_factor);
    if (!p->history->overhead_explicit && !is_fixed(p, 3) &&
        p->evidence->overhead_failed.bytes == RUN_UNKNOWN &&
        sizes->overhead > p->plan->ran.overhead)
        sizes->overhead = smaller_int64(sizes->overhead, of_heap);
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
        (struct spark_property_plan){key, size_text(p, bytes), reason, PROPOSAL_MEMORY};
}

/* Does the heap grow with the cores of an executor? */
static bool grows_with_cores(const struct planner *p)
{
    return p->plan->sizes.heap > p->plan->ran.heap &&
           more_cores(p, p->evidence->cores_per_executor) > 1.0;
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
                                                 : "runs of this size had as much per core";
    }
}

static void set_properties(struct planner *p)
{
    struct memory_plan *plan = p->plan;
    const struct memory_history *history = p->history;
    int64_t of_heap = property_default_overhead(plan->sizes.heap, history->overhead_factor);
    if (plan->sizes.heap != plan->ran.heap)
        add_property(p, "spark.executor.memory", plan->sizes.heap, heap_reason(plan));
    if (grows_with_cores(p))
        plan->properties[0].kind = PROPOSAL_NONE;
    if (history->overhead_explicit ? plan->sizes.overhead != plan->ran.overhead
                                   : plan->sizes.overhead != of_heap)
        add_property(p, "spark.executor.memoryOverhead", plan->sizes.overhead,
                     plan->sizes.overhead <= plan->ran.overhead
                         ? "it would shrink with the heap otherwise"
                         : "executors with less were killed at the limit of their container");
    if (plan->sizes.off_heap != plan->ran.off_heap)
        add_property(p, "spark.memory.offHeap.size", plan->sizes.off_heap,
                     plan->sizes.off_heap > plan->ran.off_heap
                         ? "much of the data was spilled to disk"
                         : "by the most that the runs used");
    if (plan->sizes.pyspark != plan->ran.pyspark)
        add_property(p, "spark.executor.pyspark.memory", plan->sizes.pyspark,
                     "by the most that the Python workers used");
}

/* Sizes without proposals. */
static struct memory_sizes without_proposals(const struct planner *p)
{
    const struct memory_history *history = p->history;
    const struct memory_plan *plan = p->plan;
    struct memory_sizes set = history->ran;
    int64_t *now[PARTS], *planned[PARTS];
    struct memory_sizes sizes = plan->sizes;
    parts_of(&set, now);
    parts_of(&sizes, planned);
    if (is_fixed(p, 0) || grows_with_cores(p))
        set.heap = sizes.heap;
    if (!history->overhead_explicit)
        set.overhead = property_default_overhead(set.heap, history->overhead_factor);
    for (size_t i = 1; i < PARTS; i++)
        if (is_fixed(p, i))
            *now[i] = *planned[i];
    return set;
}

/* Sizes that the properties set, and whether they leave out a part of the plan. */
static void settle_set(struct planner *p)
{
    struct memory_plan *plan = p->plan;
    bool proposed = false;
    for (size_t i = 0; i < plan->n_properties; i++)
        proposed = proposed || plan->properties[i].kind != PROPOSAL_NONE;
    plan->applied = p->question->applied || !proposed;
    plan->set = p->question->applied ? plan->sizes : without_proposals(p);
}

enum pv_code memory_plan_make(const struct memory_history *history,
                              const struct memory_question *question,
                              struct arena *arena,
                              struct memory_plan *plan,
                              struct pv_error *err)
{
    const struct memory_evidence evidence = memory_evidence_of(history, question->executors);
    size_t cut_runs = question->cut_runs > 0 ? question->cut_runs : MEMORY_CUT_RUNS;
    *plan = (struct memory_plan){.known = history->has_evidence && history->ran.heap != RUN_UNKNOWN,
                                 .sizes = history->ran,
                                 .ran = history->ran,
                                 .set = history->ran,
                                 .evidence = evidence,
                                 .needed_heap = (double)NAN};
    struct planner p = {.history = history,
                        .question = question,
                        .arena = arena,
                        .plan = plan,
                        .evidence = &plan->evidence,
                        .may_cut = evidence.runs_sufficed >= cut_runs &&
                                   !(evidence.spilled_share > MEMORY_SPILL_SHARE / 10) &&
                                   !(evidence.gc_share > MEMORY_GC_SHARE / 2)};
    if (!plan->known)
        return PV_OK;
    plan_heap(&p);
    plan_overhead(&p);
    plan->sizes.off_heap = plan_off_heap(&p);
    plan->sizes.pyspark = plan_pyspark(&p);
    fit_cores(&p);
    fit_cluster(&p);
    follow_heap(&p);
    set_properties(&p);
    settle_set(&p);
    return p.failed ? pv_no_memory(err) : PV_OK;
}

#include "core/spark/configuration.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/spark/property_value.h"
#include "core/spark/startup_rules.h"

#define DYNAMIC "spark.dynamicAllocation."

/* Carried over as the job ran: the prediction is for executors of that kind. */
static const char *const carried[] = {
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.executor.pyspark.memory",
    "spark.kubernetes.memoryOverheadFactor",
    "spark.memory.fraction",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.task.cpus",
};

enum {
    CARRIED = sizeof carried / sizeof *carried,
    DRAFT_MOST = CARRIED + 14 + SPARK_CURES_MAX + MEMORY_PROPERTIES
};

/* One property while the set is made. */
struct draft {
    const char *key;
    const char *value; /* NULL: to be removed */
    const char *reason;
    bool is_scale;
    enum spark_proposal kind;
};

struct maker {
    const struct spark_before *before;
    const struct spark_constraints *constraints;
    const struct memory_plan *memory; /* NULL: none */
    struct arena *arena;
    struct draft drafts[DRAFT_MOST];
    size_t n;
    bool failed;
};

/* --- what ran --- */

static struct strview ran(const struct maker *maker, const char *key)
{
    const struct spark_constraints *constraints = maker->constraints;
    struct strview value = property_find(constraints->current, constraints->n_current, key);
    return value.at != NULL ? value
                            : property_find(maker->before->properties, maker->before->n, key);
}

static bool has_key(const struct run_label labels[], size_t n, struct strview key)
{
    for (size_t i = 0; i < n; i++)
        if (strview_equal(labels[i].key, key))
            return true;
    return false;
}

static bool is_set_by_job(const struct spark_before *before, const char *key)
{
    return has_key(before->submitted, before->n_submitted, strview_of(key));
}

static bool names(const struct strview keys[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strview_is(keys[i], key))
            return true;
    return false;
}

/* The value that a key has to keep: the enforced one, or the one that is to be preserved. */
static struct strview fixed(const struct maker *maker, const char *key)
{
    const struct spark_constraints *constraints = maker->constraints;
    struct strview value = property_find(constraints->enforced, constraints->n_enforced, key);
    if (value.at == NULL && names(constraints->preserve, constraints->n_preserve, key))
        value = ran(maker, key);
    return value;
}

struct strview spark_fixed_value(const struct spark_before *before,
                                 const struct spark_constraints *constraints,
                                 const char *key)
{
    const struct maker maker = {.before = before, .constraints = constraints};
    return fixed(&maker, key);
}

static const char *keep_text(struct maker *maker, struct strview text)
{
    const char *copy = arena_printf(maker->arena, "%.*s", (int)text.n, text.at);
    maker->failed = maker->failed || copy == NULL;
    return copy;
}

/* --- drafting --- */

/* Why a key has the value that it has to keep. */
static const char *reason_of_fixed(const struct maker *maker, const char *key)
{
    const struct spark_constraints *constraints = maker->constraints;
    bool enforced = property_find(constraints->enforced, constraints->n_enforced, key).at != NULL;
    return enforced ? "it is enforced" : "it is preserved";
}

static void draft_text(struct maker *maker, const char *key, const char *value, const char *reason)
{
    struct strview kept = fixed(maker, key);
    if (kept.at != NULL) {
        value = keep_text(maker, kept);
        reason = reason_of_fixed(maker, key);
    }
    maker->drafts[maker->n++] = (struct draft){.key = key, .value = value, .reason = reason};
}

static void draft_count(struct maker *maker, const char *key, int64_t value, const char *reason)
{
    const char *text = arena_printf(maker->arena, "%" PRId64, value);
    maker->failed = maker->failed || text == NULL;
    draft_text(maker, key, text, reason);
}

static void draft_scale(struct maker *maker, const char *key, int64_t value, const char *reason)
{
    draft_count(maker, key, value, reason);
    maker->drafts[maker->n - 1].is_scale = true;
}

/* The last draft is of a kind that the caller has to ask for. What the caller fixes is asked for. */
static void mark(struct maker *maker, enum spark_proposal kind)
{
    struct draft *last = &maker->drafts[maker->n - 1];
    if (fixed(maker, last->key).at == NULL)
        last->kind = kind;
}

static bool is_proposal(const struct maker *maker, const struct draft *draft)
{
    return ((unsigned)draft->kind & ~maker->constraints->apply) != 0;
}

/* Is the property not proposed, so that it stays as it is? */
static bool stays(const struct maker *maker, const char *key)
{
    const struct spark_constraints *constraints = maker->constraints;
    return names(constraints->exclude, constraints->n_exclude, key) ||
           is_set_by_job(maker->before, key);
}

/* The value of a key that no recommendation changes: it is fixed, excluded, or set by the job itself.
 * at == NULL for other keys. */
static struct strview standing(const struct maker *maker, const char *key)
{
    struct strview value = fixed(maker, key);
    return value.at == NULL && stays(maker, key) ? ran(maker, key) : value;
}

static int64_t standing_count(const struct maker *maker, const char *key)
{
    return property_count(standing(maker, key));
}

/* To be removed where it was set, whoever wants to keep it: the set would contradict itself. */
static void draft_removal(struct maker *maker, const char *key, const char *reason)
{
    if (ran(maker, key).at != NULL)
        maker->drafts[maker->n++] = (struct draft){.key = key, .reason = reason};
}

static bool is_dynamic(const struct maker *maker)
{
    const struct spark_constraints *constraints = maker->constraints;
    struct strview kept = fixed(maker, DYNAMIC "enabled");
    /* An enforced value that is excluded, too, is not written: the property stays as it ran. */
    if (kept.at != NULL && !names(constraints->exclude, constraints->n_exclude, DYNAMIC "enabled"))
        return property_boolean(kept, false);
    bool may_change = !stays(maker, DYNAMIC "enabled");
    if (may_change &&
        property_find(constraints->enforced, constraints->n_enforced, "spark.executor.instances")
                .at != NULL)
        return false;
    if (may_change && constraints->allocation != SPARK_ALLOCATION_AS_RAN)
        return constraints->allocation == SPARK_ALLOCATION_DYNAMIC;
    /* Before Spark 2.0 the instances switched dynamic allocation off. */
    bool instances_win = !property_version_is(maker->before->version, 2, 0, true) &&
                         property_count(ran(maker, "spark.executor.instances")) > 0;
    return property_boolean(ran(maker, DYNAMIC "enabled"), false) && !instances_win;
}

static bool is_serverless(const struct maker *maker)
{
    return strview_is(ran(maker, "spark.master"), SERVERLESS_MASTER) ||
           ran(maker, SERVERLESS_DISK).at != NULL;
}

bool spark_is_dynamic(const struct spark_before *before,
                      const struct spark_constraints *constraints)
{
    const struct maker maker = {.before = before, .constraints = constraints};
    return is_dynamic(&maker);
}

/* --- dynamic allocation --- */

static void draft_shuffle(struct maker *maker)
{
    static const char service[] = "spark.shuffle.service.enabled";
    static const char tracking[] = DYNAMIC "shuffleTracking.enabled";
    bool has_service = property_boolean(ran(maker, service), false);
    struct strview fixed_service = fixed(maker, service);
    if (fixed_service.at != NULL)
        has_service = property_boolean(fixed_service, false);
    if (has_service) {
        draft_text(maker, service, "true", "it keeps shuffle output of executors that are gone");
        return;
    }
    if (property_version_is(maker->before->version, 3, 0, true))
        draft_text(
            maker, tracking, "true",
            "without the external shuffle service executors with shuffle output have to stay");
    else if (property_find(maker->constraints->current, maker->constraints->n_current, service)
                 .at == NULL)
        draft_text(maker, service, "true",
                   "dynamic allocation needs it before Spark 3.0: the nodes have to run it");
}

struct bounds {
    int64_t least;
    int64_t initial;
    int64_t most;
};

/* Spark starts only if least <= max(initial, instances) <= most. The author's least executors stay,
 * unless the caller allows fewer. If the values that stand contradict each other, `most` is kept. */
static struct bounds bound_executors(const struct maker *maker, int64_t executors)
{
    int64_t fixed_least = standing_count(maker, DYNAMIC "minExecutors");
    int64_t fixed_initial = standing_count(maker, DYNAMIC "initialExecutors");
    int64_t fixed_most = standing_count(maker, DYNAMIC "maxExecutors");
    int64_t instances = standing_count(maker, "spark.executor.instances");
    int64_t least = larger_int64(property_count(ran(maker, DYNAMIC "minExecutors")), 0);
    int64_t allowed = maker->constraints->max_executors;
    if (allowed >= 1)
        least = smaller_int64(least, larger_int64(allowed, executors));
    if (fixed_least != RUN_UNKNOWN)
        least = fixed_least;
    struct bounds bounds = {.initial = fixed_initial};
    if (fixed_initial == RUN_UNKNOWN)
        bounds.initial = larger_int64(larger_int64(executors, least), instances);
    bounds.most = fixed_most;
    if (fixed_most == RUN_UNKNOWN)
        bounds.most =
            larger_int64(larger_int64(executors, least), larger_int64(bounds.initial, instances));
    bounds.initial = smaller_int64(bounds.initial, bounds.most);
    bounds.least = smaller_int64(least, bounds.initial);
    return bounds;
}

static void draft_dynamic(struct maker *maker, int64_t executors)
{
    const struct bounds bounds = bound_executors(maker, executors);
    draft_text(maker, DYNAMIC "enabled", "true", "the job runs with dynamic allocation");
    draft_scale(maker, DYNAMIC "maxExecutors", bounds.most,
                bounds.most > executors
                    ? "no less than the initial and the least executors, which stay"
                    : "the recommended executors: more would cost without being needed");
    draft_scale(maker, DYNAMIC "initialExecutors", bounds.initial,
                bounds.initial > executors
                    ? "no less than the least executors, which stay"
                    : "the prediction is for all executors from the start on");
    draft_count(maker, DYNAMIC "minExecutors", bounds.least, "no more than the initial executors");
    draft_shuffle(maker);
    draft_removal(maker, "spark.executor.instances",
                  "with dynamic allocation it would override the initial executors");
}

static void draft_static(struct maker *maker, int64_t executors)
{
    draft_scale(maker, "spark.executor.instances", executors, "the recommended executors");
    if (!property_boolean(ran(maker, DYNAMIC "enabled"), false))
        return;
    draft_text(maker, DYNAMIC "enabled", "false", "the executors are to stay as many");
    draft_removal(maker, DYNAMIC "minExecutors", "there is no dynamic allocation");
    draft_removal(maker, DYNAMIC "initialExecutors", "there is no dynamic allocation");
    draft_removal(maker, DYNAMIC "maxExecutors", "there is no dynamic allocation");
}

/* --- cores that Kubernetes grants --- */

#define REQUEST_CORES "spark.kubernetes.executor.request.cores"
#define LIMIT_CORES "spark.kubernetes.executor.limit.cores"

/* What an executor of the recommended cores is granted, in steps of 0.05: as much for each of its
 * tasks as before. NAN: it was not set. */
static double scale_quota(const struct maker *maker, const char *key, int64_t cores_per_executor)
{
    static const double quantum = 0.05;
    double quota = property_cores(standing(maker, key));
    if (!isnan(quota))
        return quota;
    quota = property_cores(ran(maker, key));
    int64_t cores = property_count(ran(maker, "spark.executor.cores"));
    if (cores < 1)
        cores = maker->before->cores_per_executor;
    if (cores < 1 || cores == cores_per_executor)
        return quota;
    double steps = quota / quantum * (double)cores_per_executor / (double)cores;
    return rounding_ceil(steps) * quantum;
}

static void draft_quota(struct maker *maker, const char *key, double quota, const char *reason)
{
    bool is_whole = fabs(quota - round(quota)) < 1e-9;
    const char *text = is_whole ? arena_printf(maker->arena, "%.0f", quota)
                                : arena_printf(maker->arena, "%.0fm", round(1000.0 * quota));
    struct strview before = ran(maker, key);
    if (property_cores(before) == quota) /* in whatever words */
        text = keep_text(maker, before);
    maker->failed = maker->failed || text == NULL;
    draft_text(maker, key, text, reason);
}

/* Kubernetes starts no executor that requests more than its limit. */
static void draft_quotas(struct maker *maker, int64_t cores_per_executor)
{
    static const char in_proportion[] = "as much for each task as before";
    const char *why_request = in_proportion, *why_limit = in_proportion;
    double request = scale_quota(maker, REQUEST_CORES, cores_per_executor);
    double limit = scale_quota(maker, LIMIT_CORES, cores_per_executor);
    /* Without a request, Spark requests the cores. */
    double requested = isnan(request) ? (double)cores_per_executor : request;
    if (requested > limit && !isnan(request) && standing(maker, LIMIT_CORES).at == NULL) {
        limit = request;
        why_limit = "no less than the requested cores";
    } else if (requested > limit && standing(maker, REQUEST_CORES).at == NULL) {
        request = limit;
        why_request = "no more than the limit";
    }
    if (!isnan(request))
        draft_quota(maker, REQUEST_CORES, request, why_request);
    if (!isnan(limit))
        draft_quota(maker, LIMIT_CORES, limit, why_limit);
}

/* --- partitions --- */

/* Partitions of 128 MiB are what Spark's own readers and its adaptive execution come near to; with
 * twice as much tasks begin to spill, below one MiB starting them outweighs their work. */
static const double TARGET_BYTES = 134217728.0;
static const double MOST_BYTES = 268435456.0;
static const double LEAST_BYTES = 1048576.0;

/* Why that many partitions do not fit so many cores; NULL: they do. */
static const char *misfit_of(int64_t partitions, double bytes, int64_t slots)
{
    double each = bytes / (double)partitions;
    double waves = ceil((double)partitions / (double)slots);
    if (partitions < slots)
        return "fewer partitions than cores leave some idle in every shuffle";
    if (each > MOST_BYTES)
        return "the largest shuffle has partitions of more than 256 MiB, which tend to spill";
    if (each < LEAST_BYTES && waves > 4)
        return "the largest shuffle has partitions of less than 1 MiB: starting tasks outweighs "
               "their work";
    /* A quarter of the cores idle on the average: what a wave more or less makes of few waves. */
    if (waves <= 4 && waves * (double)slots > 1.25 * (double)partitions)
        return "the last wave of tasks of a shuffle would leave many cores idle";
    return NULL;
}

static void draft_partitions(struct maker *maker, int64_t executors, int64_t cores_per_executor)
{
    static const char key[] = "spark.sql.shuffle.partitions";
    double bytes = maker->before->shuffle_bytes;
    struct strview set = ran(maker, key);
    bool adaptive = property_boolean(ran(maker, "spark.sql.adaptive.enabled"),
                                     property_version_is(maker->before->version, 3, 2, true));
    bool coalesces =
        property_boolean(ran(maker, "spark.sql.adaptive.coalescePartitions.enabled"), true);
    int64_t partitions = set.at == NULL ? 200 : property_count(set);
    int64_t cpus = property_count(ran(maker, "spark.task.cpus"));
    int64_t slots = executors * larger_int64(cores_per_executor / larger_int64(cpus, 1), 1);
    if (!(bytes > 0) || (adaptive && coalesces) || partitions < 1)
        return;
    const char *misfit = misfit_of(partitions, bytes, slots);
    if (misfit == NULL)
        return;
    double waves = ceil(bytes / TARGET_BYTES / (double)slots);
    draft_count(maker, key, (int64_t)fmin(waves * (double)slots, 1e9), misfit);
    mark(maker, PROPOSAL_PARTITIONS);
}

/* --- the set --- */

static int by_key(const void *left, const void *right)
{
    return strcmp(((const struct draft *)left)->key, ((const struct draft *)right)->key);
}

/* As the memory plan has it; as it ran, if the plan does not change it or is only a proposal. */
static void draft_carried(struct maker *maker, const char *key)
{
    struct strview value = ran(maker, key);
    for (size_t i = 0; maker->memory != NULL && i < maker->memory->n_properties; i++) {
        const struct spark_property_plan *planned = &maker->memory->properties[i];
        if (strcmp(planned->key, key) == 0) {
            draft_text(maker, key, planned->value, planned->reason);
            mark(maker, planned->kind);
            if (!is_proposal(maker, &maker->drafts[maker->n - 1]))
                return;
        }
    }
    if (value.at != NULL || fixed(maker, key).at != NULL)
        draft_text(maker, key, value.at == NULL ? "" : keep_text(maker, value), "it is enforced");
}

static void draft_all(struct maker *maker, int64_t executors, int64_t cores_per_executor)
{
    draft_scale(maker, "spark.executor.cores", cores_per_executor,
                "the recommended executors have so many cores");
    if (is_dynamic(maker))
        draft_dynamic(maker, executors);
    else
        draft_static(maker, executors);
    draft_quotas(maker, cores_per_executor);
    draft_partitions(maker, executors, cores_per_executor);
    for (size_t i = 0; i < CARRIED; i++)
        draft_carried(maker, carried[i]);
}

static void
draft_cures(struct maker *maker, const struct spark_property_plan cures[], size_t n_cures)
{
    for (size_t i = 0; i < n_cures && i < SPARK_CURES_MAX; i++) {
        draft_text(maker, cures[i].key, cures[i].value, cures[i].reason);
        mark(maker, cures[i].kind);
    }
    qsort(maker->drafts, maker->n, sizeof *maker->drafts, by_key);
}

/* What a key had before; of the executors also where no property said it. */
static const char *old_value(struct maker *maker, const char *key)
{
    struct strview value = ran(maker, key);
    const struct spark_before *before = maker->before;
    int64_t count = RUN_UNKNOWN;
    if (value.at != NULL)
        return keep_text(maker, value);
    if (strcmp(key, "spark.executor.instances") == 0 &&
        !property_boolean(ran(maker, DYNAMIC "enabled"), false))
        count = before->executors;
    else if (strcmp(key, "spark.executor.cores") == 0)
        count = before->cores_per_executor;
    if (count == RUN_UNKNOWN)
        return NULL;
    const char *text = arena_printf(maker->arena, "%" PRId64, count);
    maker->failed = maker->failed || text == NULL;
    return text;
}

static bool is_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Properties that are enforced beside those that a recommendation is made of. */
static enum pv_code
add_enforced(struct maker *maker, struct spark_configuration *made, struct pv_error *err)
{
    const struct spark_constraints *constraints = maker->constraints;
    for (size_t i = 0; i < constraints->n_enforced; i++) {
        const struct run_label *enforced = &constraints->enforced[i];
        bool known = false;
        for (size_t k = 0; k < maker->n && !known; k++)
            known = strview_is(enforced->key, maker->drafts[k].key);
        if (known ||
            names(constraints->exclude, constraints->n_exclude, keep_text(maker, enforced->key)))
            continue;
        const char *key = keep_text(maker, enforced->key);
        const char *value = keep_text(maker, enforced->value);
        if (maker->failed)
            return pv_no_memory(err);
        made->properties[made->n++] = (struct spark_property){key, value};
        const char *old = old_value(maker, key);
        if (!is_equal(old, value))
            made->changes[made->n_changes++] = (struct spark_change){
                .key = key, .old_value = old, .new_value = value, .reason = "it is enforced"};
    }
    return PV_OK;
}

/* Is it no longer set elsewhere, once the properties are in effect? */
static bool is_overridden(const struct spark_configuration *made, struct strview key)
{
    for (size_t i = 0; i < made->n; i++)
        if (strview_is(key, made->properties[i].key))
            return true;
    for (size_t i = 0; i < made->n_changes; i++)
        if (made->changes[i].new_value == NULL && strview_is(key, made->changes[i].key))
            return true;
    return false;
}

static void add_ran(const struct spark_configuration *made,
                    const struct run_label from[],
                    size_t n_from,
                    struct run_label all[],
                    size_t *n)
{
    for (size_t i = 0; i < n_from; i++)
        if (!has_key(all, *n, from[i].key) && !is_overridden(made, from[i].key))
            all[(*n)++] = from[i];
}

/* With what the job would run: the properties, and what it ran with besides. */
static enum pv_code
check_start(const struct maker *maker, struct spark_configuration *made, struct pv_error *err)
{
    const struct spark_before *before = maker->before;
    const struct spark_constraints *constraints = maker->constraints;
    size_t most = made->n + constraints->n_current + before->n + 1;
    struct run_label *all = arena_array(maker->arena, most, sizeof *all);
    struct startup_settings settings = {.properties = all,
                                        .version = before->version,
                                        .complete = true,
                                        .barrier_tasks = before->barrier_tasks};
    if (all == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < made->n; i++)
        all[settings.n++] = (struct run_label){strview_of(made->properties[i].key),
                                               strview_of(made->properties[i].value)};
    add_ran(made, constraints->current, constraints->n_current, all, &settings.n);
    settings.n_set = settings.n;
    add_ran(made, before->properties, before->n, all, &settings.n);
    /* If the caller excludes this property, the others are still for dynamic allocation. */
    struct strview enabled = strview_of(DYNAMIC "enabled");
    if (made->dynamic_allocation && !has_key(all, settings.n, enabled))
        all[settings.n++] = (struct run_label){enabled, strview_of("true")};
    const struct startup_rule *broken = startup_broken(&settings);
    if (broken == NULL)
        return PV_OK;
    made->refused = startup_describe(broken, &settings, maker->arena);
    return made->refused == NULL ? pv_no_memory(err) : PV_OK;
}

static int property_by_key(const void *left, const void *right)
{
    return strcmp(((const struct spark_property *)left)->key,
                  ((const struct spark_property *)right)->key);
}

static int change_by_key(const void *left, const void *right)
{
    return strcmp(((const struct spark_change *)left)->key,
                  ((const struct spark_change *)right)->key);
}

static int proposal_by_kind(const void *left, const void *right)
{
    const struct spark_change *a = left, *b = right;
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind) : change_by_key(a, b);
}

/* Keys come in order. */
static void withhold(struct spark_configuration *made, const char *key)
{
    if (made->n_withheld == 0 || strcmp(made->withheld[made->n_withheld - 1], key) != 0)
        made->withheld[made->n_withheld++] = key;
}

static void
add_draft(struct maker *maker, const struct draft *draft, struct spark_configuration *made)
{
    const char *old = old_value(maker, draft->key);
    const struct spark_change change = {.key = draft->key,
                                        .old_value = old,
                                        .new_value = draft->value,
                                        .reason = draft->reason,
                                        .is_scale = draft->is_scale,
                                        .kind = draft->kind};
    bool proposed = is_proposal(maker, draft);
    if (draft->value != NULL && !proposed)
        made->properties[made->n++] = (struct spark_property){draft->key, draft->value};
    if (is_equal(old, draft->value))
        return;
    if (proposed)
        made->proposals[made->n_proposals++] = change;
    else
        made->changes[made->n_changes++] = change;
}

static void add_drafts(struct maker *maker, struct spark_configuration *made)
{
    const struct spark_constraints *constraints = maker->constraints;
    for (size_t i = 0; i < maker->n; i++) {
        const struct draft *draft = &maker->drafts[i];
        if (names(constraints->exclude, constraints->n_exclude, draft->key))
            continue;
        if (is_set_by_job(maker->before, draft->key) && fixed(maker, draft->key).at == NULL)
            withhold(made, draft->key);
        else
            add_draft(maker, draft, made);
    }
}

enum pv_code spark_configuration_make(const struct spark_before *before,
                                      const struct spark_constraints *constraints,
                                      int64_t executors,
                                      int64_t cores_per_executor,
                                      const struct memory_plan *memory,
                                      const struct spark_property_plan cures[],
                                      size_t n_cures,
                                      struct arena *arena,
                                      struct spark_configuration *made,
                                      struct pv_error *err)
{
    struct maker maker = {
        .before = before, .constraints = constraints, .memory = memory, .arena = arena};
    draft_all(&maker, executors, cores_per_executor);
    draft_cures(&maker, cures, n_cures);
    size_t most = maker.n + constraints->n_enforced;
    *made = (struct spark_configuration){
        .dynamic_allocation = is_dynamic(&maker),
        .platform = is_serverless(&maker) ? "emr_serverless" : NULL,
        .version = before->version,
        .properties = arena_array(arena, most, sizeof *made->properties),
        .changes = arena_array(arena, most, sizeof *made->changes),
        .proposals = arena_array(arena, most, sizeof *made->proposals),
        .withheld = arena_array(arena, maker.n, sizeof(const char *))};
    if (maker.failed || made->properties == NULL || made->changes == NULL ||
        made->proposals == NULL || made->withheld == NULL)
        return pv_no_memory(err);
    add_drafts(&maker, made);
    PV_TRY(add_enforced(&maker, made, err));
    qsort(made->properties, made->n, sizeof *made->properties, property_by_key);
    qsort(made->changes, made->n_changes, sizeof *made->changes, change_by_key);
    qsort(made->proposals, made->n_proposals, sizeof *made->proposals, proposal_by_kind);
    return maker.failed ? pv_no_memory(err) : check_start(&maker, made, err);
}

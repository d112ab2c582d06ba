#include "core/advice/spark_advice.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "core/advice/bottleneck_advice.h"
#include "core/spark/property_value.h"

#define DYNAMIC "spark.dynamicAllocation."

static const char *value_of(const struct spark_configuration *made, const char *key)
{
    for (size_t i = 0; i < made->n; i++)
        if (strcmp(made->properties[i].key, key) == 0)
            return made->properties[i].value;
    return NULL;
}

/* A count among the properties; `otherwise` where it is not there, or no count. */
static int64_t count_of(const struct spark_configuration *made, const char *key, int64_t otherwise)
{
    const char *text = value_of(made, key);
    int64_t count = text == NULL ? RUN_UNKNOWN : property_count(strview_of(text));
    return count == RUN_UNKNOWN ? otherwise : count;
}

/* With how many executors the properties start the job, if not with those recommended; else with
 * how many at most, or at least. */
static int64_t executors_started(const struct spark_configuration *made, int64_t recommended)
{
    int64_t initial = count_of(made, DYNAMIC "initialExecutors", recommended);
    int64_t most = count_of(made, DYNAMIC "maxExecutors", recommended);
    if (!made->dynamic_allocation)
        return count_of(made, "spark.executor.instances", recommended);
    return initial != recommended ? initial : most;
}

static void warn_of_difference(const struct spark_configuration *made,
                               int64_t cores_per_executor,
                               struct advice *advice)
{
    int64_t executors = advice->recommendation.executors;
    int64_t started = executors_started(made, executors);
    int64_t cores = count_of(made, "spark.executor.cores", cores_per_executor);
    if (started == executors && cores == cores_per_executor)
        return;
    int64_t least = made->dynamic_allocation ? count_of(made, DYNAMIC "minExecutors", 0) : 0;
    struct finding *note = finding_add(
        &advice->warnings, "properties_differ",
        "%s the job with %" PRId64 " executor%s of %" PRId64 " core%s instead of the recommended "
        "%" PRId64 " of %" PRId64 ": the prediction does not hold for these.",
        least == started && least > executors ? DYNAMIC "minExecutors, which is kept, starts"
                                              : "Properties that are enforced or preserved start",
        started, PLURAL(started), cores, PLURAL(cores), executors, cores_per_executor);
    finding_number(note, "executors", (double)started);
    finding_number(note, "cores_per_executor", (double)cores);
    finding_number(note, "recommended_executors", (double)executors);
    finding_number(note, "recommended_cores_per_executor", (double)cores_per_executor);
}

static const struct spark_change *proposal_of(const struct spark_configuration *made,
                                              const char *key)
{
    for (size_t i = 0; i < made->n_proposals; i++)
        if (strcmp(made->proposals[i].key, key) == 0)
            return &made->proposals[i];
    return NULL;
}

/* Executors of a recorded run ended for lack of memory, and the remedy is not applied. */
static void warn_of_failures(const struct memory_plan *memory,
                             const struct spark_configuration *made,
                             struct advice *advice)
{
    enum memory_basis basis = memory == NULL ? MEMORY_AS_RAN : memory->basis;
    const struct spark_change *proposal = NULL;
    if (basis == MEMORY_OUT_OF_MEMORY)
        proposal = proposal_of(made, "spark.executor.memory");
    else if (basis == MEMORY_CONTAINER_LIMIT)
        proposal = proposal_of(made, "spark.executor.memoryOverhead");
    if (proposal == NULL)
        return;
    const struct finding *reason = finding_find(&advice->reasons, "memory");
    struct finding *note = finding_add(
        &advice->warnings, "memory_not_applied",
        "%s The job keeps the memory that was too small: %s=%s is proposed and not applied. Apply "
        "memory to set it.",
        reason == NULL ? "A run ended for lack of memory." : reason->message, proposal->key,
        proposal->new_value);
    finding_text(note, "property", proposal->key);
    finding_text(note, "value", proposal->new_value);
    findings_lead(&advice->warnings);
}

/* Properties that are not recommended, because the job sets them itself. */
static void warn_of_withheld(const struct spark_before *before,
                             const struct spark_configuration *made,
                             struct advice *advice)
{
    for (size_t i = 0; i < made->n_withheld; i++) {
        const char *key = made->withheld[i];
        struct strview now = property_find(before->properties, before->n, key);
        struct finding *note = finding_add(
            &advice->warnings, "set_by_the_job",
            "The job itself sets %s to %.*s: setting it at submission has no effect, so no other "
            "value is recommended. Change it in the code of the job.",
            key, (int)now.n, now.at == NULL ? "" : now.at);
        finding_text(note, "property", key);
    }
}

/* The caller's own values, or values that stay, contradict each other or the recommendation. */
static void warn_of_refusal(const struct spark_configuration *made, struct advice *advice)
{
    if (made->refused != NULL)
        (void)finding_add(&advice->warnings, "would_not_start", "Spark would not start: %s.",
                          made->refused);
}

/* Where the deadline is missed, no number of executors is recommended: it is the closest. */
static enum pv_code
name_closest(struct spark_configuration *made, struct arena *arena, struct pv_error *err)
{
    static const char recommended[] = "the recommended";
    const size_t n = sizeof recommended - 1;
    for (size_t i = 0; i < made->n_changes; i++) {
        struct spark_change *change = &made->changes[i];
        if (strncmp(change->reason, recommended, n) == 0)
            change->reason = arena_printf(arena, "the closest allowed%s", change->reason + n);
        if (change->reason == NULL)
            return pv_no_memory(err);
    }
    return PV_OK;
}

enum pv_code spark_advise(const struct history_prediction *prediction,
                          const struct spark_constraints *constraints,
                          int64_t cores_per_executor,
                          const struct memory_plan *memory,
                          struct arena *arena,
                          struct advice *advice,
                          struct spark_configuration *made,
                          struct pv_error *err)
{
    struct spark_property_plan cures[BOTTLENECKS_ADVISED];
    size_t n = 0;
    int64_t executors = advice->recommendation.executors;
    int64_t slots = cores_per_executor;
    if (prediction->curve.n_slots > 0 && prediction->curve.slots[0].per_executor < slots)
        slots = prediction->curve.slots[0].per_executor;
    PV_TRY(bottleneck_cures(&prediction->bottlenecks, executors * slots, arena, cures, &n, err));
    PV_TRY(spark_configuration_make(&prediction->spark, constraints, executors, cores_per_executor,
                                    memory, cures, n, arena, made, err));
    if (advice->verdict == ADVISE_MISSED)
        PV_TRY(name_closest(made, arena, err));
    warn_of_difference(made, cores_per_executor, advice);
    warn_of_withheld(&prediction->spark, made, advice);
    warn_of_refusal(made, advice);
    warn_of_failures(memory, made, advice);
    return findings_check(&advice->warnings, err);
}

int64_t spark_kept_executors(const struct spark_before *before,
                             const struct spark_constraints *constraints)
{
    if (spark_is_dynamic(before, constraints))
        return RUN_UNKNOWN;
    int64_t kept =
        property_count(spark_fixed_value(before, constraints, "spark.executor.instances"));
    return kept >= 1 ? kept : RUN_UNKNOWN;
}

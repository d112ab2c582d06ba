#include "core/advice/bottleneck_advice.h"

#include <inttypes.h>
#include <math.h>

enum pv_code bottlenecks_explain(const struct bottlenecks *bottlenecks,
                                 struct arena *arena,
                                 struct advice *advice,
                                 struct pv_error *err)
{
    for (size_t i = 0; i < bottlenecks->n && i < BOTTLENECKS_ADVISED; i++) {
        const struct bottleneck *item = &bottlenecks->items[i];
        struct finding *note =
            finding_add(&advice->reasons, "bottleneck", "In the nearest run: %s %s",
                        item->finding.message, item->cure);
        finding_text(note, "kind", item->finding.code);
        if (item->stage_id != RUN_UNKNOWN)
            finding_number(note, "stage_id", (double)item->stage_id);
        finding_number(note, "lost_s", item->lost_s);
        if (bottlenecks->run_id[0] != '\0')
            finding_text(note, "run_id", arena_strdup(arena, bottlenecks->run_id));
    }
    return advice->reasons.failed ? pv_no_memory(err) : PV_OK;
}

static bool has_cure(const struct spark_property_plan cures[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (cures[i].key == key)
            return true;
    return false;
}

enum pv_code bottleneck_cures(const struct bottlenecks *bottlenecks,
                              int64_t cores,
                              struct arena *arena,
                              struct spark_property_plan cures[],
                              size_t *n,
                              struct pv_error *err)
{
    *n = 0;
    for (size_t i = 0; i < bottlenecks->n && *n < BOTTLENECKS_ADVISED; i++) {
        const struct bottleneck *item = &bottlenecks->items[i];
        const char *key = NULL, *value = NULL;
        bool straggles = item->kind == BOTTLENECK_STRAGGLER;
        enum spark_proposal kind = straggles ? PROPOSAL_SPECULATION : PROPOSAL_PARTITIONS;
        if (item->kind == BOTTLENECK_IDLE_CORES) /* the prediction is for the recorded slots */
            continue;
        if (!bottleneck_property(item, cores, arena, &key, &value) || has_cure(cures, *n, key))
            continue;
        const char *reason =
            arena_printf(arena, "stage %" PRId64 ": %s", item->stage_id,
                         straggles ? "a straggling task; output needs an idempotent committer"
                                   : "its input is read by fewer tasks than there are cores");
        if (value == NULL || reason == NULL)
            return pv_no_memory(err);
        cures[(*n)++] = (struct spark_property_plan){key, value, reason, kind};
    }
    return PV_OK;
}

#include "core/advice/lost_executors.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"

/* Writes the cost of the loss as a sentence. */
static void describe_cost(const struct curve_losses *losses, char *text, size_t room)
{
    if (losses->cost_s > 0)
        (void)snprintf(text, room,
                       "The loss cost %s of the %s that the run took: without the loss the "
                       "run takes %s.",
                       quantity_duration(losses->cost_s).text,
                       quantity_duration(losses->duration_s).text,
                       quantity_duration(losses->duration_s - losses->cost_s).text);
    else
        (void)snprintf(text, room, "The cost of the loss is unknown, or there was none.");
}

enum pv_code lost_executors_explain(const struct curve *replayed,
                                    struct arena *arena,
                                    struct advice *advice,
                                    struct pv_error *err)
{
    const struct curve_losses *losses = &replayed->losses;
    char cost[240];
    if (replayed->runs_with_losses == 0)
        return PV_OK;
    describe_cost(losses, cost, sizeof cost);
    struct finding *note = finding_add(
        &advice->reasons, "executors_lost",
        "The platform took %" PRId64 " executor%s away while a replayed run worked (spot "
        "interruption, decommission or lost node). %s The prediction assumes that this "
        "does not happen again.",
        losses->lost, PLURAL(losses->lost), cost);
    finding_number(note, "executors_lost", (double)losses->lost);
    finding_number(note, "executors", (double)losses->executors);
    finding_number(note, "duration_s", losses->duration_s);
    finding_number(note, "cost_s", losses->cost_s);
    finding_number(note, "runs", (double)replayed->runs_with_losses);
    if (losses->run_id[0] != '\0')
        finding_text(note, "run_id", arena_strdup(arena, losses->run_id));
    return advice->reasons.failed ? pv_no_memory(err) : PV_OK;
}

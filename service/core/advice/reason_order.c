#include "core/advice/reason_order.h"

#include <string.h>

enum rank { RANK_VERDICT, RANK_LIMIT, RANK_COMPARISON, RANK_BOUND, RANK_MARKET, RANK_OTHER };

static const struct {
    const char *code;
    enum rank rank;
} ranks[] = {
    {"deadline_met", RANK_VERDICT},
    {"deadline_at_risk", RANK_VERDICT},
    {"deadline_missed", RANK_VERDICT},
    {"missed_beside_running", RANK_VERDICT},
    {"history_insufficient", RANK_VERDICT},
    {"streaming_application", RANK_VERDICT},
    {"interactive_session", RANK_VERDICT},
    {"late_runs", RANK_LIMIT},
    {"slowdown_answered", RANK_LIMIT},
    {"slowdown_unsupported", RANK_LIMIT},
    {"met_beside_running", RANK_LIMIT},
    {"deadline_met_alone", RANK_LIMIT},
    {"deadline_at_risk_alone", RANK_LIMIT},
    {"beside_advised_jobs", RANK_LIMIT},
    {"barrier_stage", RANK_LIMIT},
    {"compared_with_last_run", RANK_COMPARISON},
    {"bound", RANK_BOUND},
    {"market_chosen", RANK_MARKET},
    {"price", RANK_MARKET},
};

/* Without a deadline the objective is the reason of the verdict. */
static enum rank rank_of(const struct findings *reasons, const struct finding *reason)
{
    if (strcmp(reason->code, "objective") == 0)
        return finding_find(reasons, "deadline_met") == NULL ? RANK_VERDICT : RANK_MARKET;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (strcmp(ranks[i].code, reason->code) == 0)
            return ranks[i].rank;
    return RANK_OTHER;
}

void reasons_order(struct findings *reasons)
{
    for (size_t i = 1; i < reasons->n; i++) {
        const struct finding moved = reasons->items[i];
        const enum rank rank = rank_of(reasons, &moved);
        size_t at = i;
        for (; at > 0 && rank_of(reasons, &reasons->items[at - 1]) > rank; at--)
            reasons->items[at] = reasons->items[at - 1];
        reasons->items[at] = moved;
    }
}

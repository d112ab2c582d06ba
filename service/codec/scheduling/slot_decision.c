#include "codec/scheduling/slot_decision.h"

#include <string.h>

const char *const codec_slot_decision_kinds[] = {
    [SLOT_DECISION_FRESH] = "fresh", [SLOT_DECISION_OMO] = "omo", NULL};

void codec_slot_decision_decode(const struct codec_node *node,
                                const struct codec_slot_decision_limits *limits,
                                struct codec_slot_decision *asked)
{
    size_t kind =
        codec_choice(node, "kind", CODEC_REQUIRED, codec_slot_decision_kinds, SLOT_DECISION_KINDS);
    asked->kind = (unsigned)kind;
    if (kind == SLOT_DECISION_FRESH)
        codec_fresh_state_decode(node, limits, &asked->fresh);
    else if (kind == SLOT_DECISION_OMO)
        codec_omo_state_decode(node, limits, &asked->omo);
}

void codec_slot_decision_check_tasks(const struct codec_node *job,
                                     const char *const members[2],
                                     size_t all,
                                     size_t finished,
                                     size_t running)
{
    if (all == SIZE_MAX || finished == SIZE_MAX || running == SIZE_MAX)
        return;
    if (finished > all)
        codec_fault_member(job, members[0], "out_of_range", "is more than all %zu", all);
    else if (running > all - finished)
        codec_fault_member(job, members[1], "out_of_range",
                           "is more than the %zu of %zu that have not finished", all - finished,
                           all);
}

/* --- what was done --- */

static const char *const taken_slots[] = {"map", "reduce", "none", NULL};

#define T struct codec_slot_taken
static const struct shape_member taken_members[] = {
    {"slot", SHAPE_WORD(T, slot, taken_slots), .flags = CODEC_REQUIRED},
    {"job", SHAPE_NAME(T, job), .flags = CODEC_NULLABLE},
};
const struct shape codec_slot_taken_shape = {.request = "SlotTaken", SHAPE_OF(taken_members, T)};

bool codec_slot_taken_is(const struct codec_slot_taken *taken,
                         const struct codec_slot_action *action)
{
    return strcmp(taken_slots[taken->slot], action->slot) == 0 &&
           (taken->job.at == NULL || strview_equal(taken->job, action->job));
}

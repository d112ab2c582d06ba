#include <math.h>

#include "codec/scheduling/slot_decision.h"

static const char *const slots[SLOTS_KINDS] = {[SLOTS_MAP] = "map", [SLOTS_REDUCE] = "reduce"};

void codec_slot_action_encode(struct writer *w, const struct codec_slot_action *action)
{
    writer_member_object(w, "action");
    writer_member_string(w, "slot", action->slot);
    writer_member_text(w, "job", action->job);
    writer_member_string(w, "rule", action->rule);
    writer_end_object(w);
}

/* --- kind "fresh" --- */

struct codec_slot_action codec_fresh_action(const struct codec_fresh_state *state,
                                            const struct fresh_action *action)
{
    static const char *const rules[] = {[FRESH_EXPECTED_SLOTS] = "expected_slots",
                                        [FRESH_OTHER_KIND] = "other_kind",
                                        [FRESH_IDLE] = "idle"};
    if (action->job == SLOTS_NOBODY)
        return (struct codec_slot_action){"none", {NULL, 0}, rules[action->rule]};
    return (struct codec_slot_action){slots[action->kind], state->jobs[action->job].name,
                                      rules[action->rule]};
}

static void encode_fresh_jobs(struct writer *w, const struct codec_fresh_state *state)
{
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < state->n; i++) {
        const struct fresh_job *job = &state->jobs[i].job;
        writer_begin_object(w);
        writer_member_text(w, "name", state->jobs[i].name);
        writer_member_number(w, "consumption", fresh_consumption(job, state->now_s));
        writer_member_number(w, "remaining_map_work_s",
                             job->phase == FRESH_MAP ? fresh_map_work_s(job) : 0);
        writer_member_number(w, "remaining_reduce_work_s", fresh_reduce_work_s(job));
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_figures(struct writer *w,
                           const struct codec_fresh_state *state,
                           const struct codec_fresh_decision *decision)
{
    const struct fresh_figures *figures = &decision->figures;
    struct strview nobody = {NULL, 0};
    writer_member_object(w, "figures");
    writer_member_integer(w, "total_slots", (int64_t)state->slots.total_slots);
    writer_member_number(w, "remaining_map_work_s", decision->tally.map_work_s);
    writer_member_number(w, "remaining_reduce_work_s", decision->tally.reduce_work_s);
    writer_member_number(w, "current_ratio", figures->current_ratio);
    writer_member_text(
        w, "first_to_end",
        figures->first_to_end != SLOTS_NOBODY ? state->jobs[figures->first_to_end].name : nobody);
    writer_member_number(w, "progress", figures->progress);
    writer_member_number(w, "next_map_work_s", figures->next_map_work_s);
    writer_member_number(w, "next_reduce_work_s", figures->next_reduce_work_s);
    writer_member_number(w, "expected_ratio", figures->expected_ratio);
    writer_member_number(w, "reduce_slots_released", figures->reduce_slots_released);
    writer_member_number(w, "predicted_map_slots", figures->predicted_map_slots);
    writer_member_number(w, "deviation", figures->deviation);
    writer_member_boolean(w, "sudden_change", figures->sudden_change);
    writer_member_number(w, "expected_map_slots", figures->expected_map_slots);
    writer_end_object(w);
}

void codec_fresh_decision_encode(struct writer *w,
                                 const struct codec_fresh_state *state,
                                 const struct codec_slot_action *action,
                                 const struct codec_fresh_decision *decision,
                                 const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", codec_slot_decision_kinds[SLOT_DECISION_FRESH]);
    codec_slot_action_encode(w, action);
    writer_member_number(w, "fairness", decision->fairness);
    encode_fresh_jobs(w, state);
    encode_figures(w, state, decision);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}

/* --- kind "omo" --- */

struct codec_slot_action codec_omo_action(const struct codec_omo_state *state,
                                          const struct omo_action *action)
{
    static const char *const rules[] = {[OMO_CONSECUTIVE_REDUCES] = "consecutive_reduces",
                                        [OMO_LAZY_START] = "lazy_start",
                                        [OMO_BATCH_FINISH] = "batch_finish",
                                        [OMO_FAIR] = "fair",
                                        [OMO_IDLE] = "idle"};
    if (action->job == SLOTS_NOBODY)
        return (struct codec_slot_action){"none", {NULL, 0}, rules[action->rule]};
    return (struct codec_slot_action){slots[action->kind], state->jobs[action->job].name,
                                      rules[action->rule]};
}

static void encode_omo_job(struct writer *w,
                           const struct codec_omo_job *sent,
                           const struct omo_figures *figures)
{
    writer_begin_object(w);
    writer_member_text(w, "name", sent->name);
    writer_member_integer(w, "pending_maps", (int64_t)figures->pending_maps);
    writer_member_integer(w, "occupied_slots", (int64_t)figures->occupied_slots);
    writer_member_number(w, "shuffle_s", sent->job.reduces > 0 ? sent->job.shuffle_s : (double)NAN);
    writer_member_number(w, "gap_s", figures->gap_s);
    writer_member_number(w, "starts_at_pending_maps", figures->starts_at_pending_maps);
    writer_member_boolean(w, "may_start", figures->may_start);
    writer_member_number(w, "fair_s", figures->fair_s);
    writer_member_number(w, "batch_s", figures->batch_s);
    writer_end_object(w);
}

void codec_omo_decision_encode(struct writer *w,
                               const struct codec_omo_state *state,
                               const struct codec_slot_action *action,
                               const struct codec_omo_decision *decision,
                               const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", codec_slot_decision_kinds[SLOT_DECISION_OMO]);
    codec_slot_action_encode(w, action);
    writer_member_number(w, "release_frequency_per_s", decision->rates.release_frequency_per_s);
    writer_member_number(w, "available_slots", decision->rates.available_slots);
    writer_member_integer(w, "active_jobs", (int64_t)state->n);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < state->n; i++)
        encode_omo_job(w, &state->jobs[i], &decision->jobs[i]);
    writer_end_array(w);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}

#include "api/scheduling/slot_decision_make.h"

#include "core/scheduling/slots/slot_census.h"

static void decide_fresh(const struct codec_fresh_state *state, struct slot_decision_made *made)
{
    struct codec_fresh_decision *decision = &made->fresh;
    struct fairness fairness = {.n = 0};
    struct fresh_census census = {.consumption = 0};
    decision->tally = fresh_tally_begin(state->now_s);
    for (size_t i = 0; i < state->n; i++) {
        const struct fresh_job *job = &state->jobs[i].job;
        fresh_tally_add(&decision->tally, i, job);
        fairness_add(&fairness, fresh_consumption(job, state->now_s));
        fresh_census_add(&census, job, state->now_s);
    }
    decision->fairness = fairness_index(&fairness);
    struct fresh_action chosen =
        fresh_decide(&state->terms, &state->slots, &decision->tally, &decision->figures);
    made->action = codec_fresh_action(state, &chosen);
    fresh_census_warn(&census, &state->terms, &state->slots, state->reduce_slots, &made->warnings);
}

static struct omo_rates rates_of(const struct codec_omo_state *state)
{
    struct omo_rates rates = state->previous;
    for (size_t i = 0; i < state->n_windows; i++)
        omo_rates_update(&rates, state->ema_weight, state->window_s,
                         (double)state->windows[i].released, state->windows[i].available_slots);
    return rates;
}

static enum pv_code decide_omo(const struct codec_omo_state *state,
                               struct arena *arena,
                               struct slot_decision_made *made,
                               struct pv_error *err)
{
    struct omo_candidates candidates;
    struct omo_census census = {.reduced_early = 0};
    struct omo_figures *jobs = arena_array(arena, state->n, sizeof *jobs);
    if (jobs == NULL || !omo_candidates_init(&candidates, &state->terms, state->n, arena))
        return pv_no_memory(err);
    made->omo = (struct codec_omo_decision){.rates = rates_of(state), .jobs = jobs};
    omo_candidates_set_rates(&candidates, &made->omo.rates, state->n);
    for (size_t i = 0; i < state->n; i++) {
        jobs[i] = omo_candidates_put(&candidates, i, &state->jobs[i].job);
        omo_census_add(&census, &state->jobs[i].job);
    }
    struct omo_action chosen = omo_candidates_choose(&candidates);
    made->action = codec_omo_action(state, &chosen);
    omo_census_warn(&census, &made->omo.rates, &made->warnings);
    return PV_OK;
}

enum pv_code slot_decision_make(const struct codec_slot_decision *asked,
                                struct arena *arena,
                                struct slot_decision_made *made,
                                struct pv_error *err)
{
    *made = (struct slot_decision_made){.warnings = {.arena = arena}};
    if (asked->kind == SLOT_DECISION_OMO)
        return decide_omo(&asked->omo, arena, made, err);
    decide_fresh(&asked->fresh, made);
    return PV_OK;
}

void slot_decision_encode(struct writer *w,
                          const struct codec_slot_decision *asked,
                          const struct slot_decision_made *made)
{
    if (asked->kind == SLOT_DECISION_OMO)
        codec_omo_decision_encode(w, &asked->omo, &made->action, &made->omo, &made->warnings);
    else
        codec_fresh_decision_encode(w, &asked->fresh, &made->action, &made->fresh, &made->warnings);
}

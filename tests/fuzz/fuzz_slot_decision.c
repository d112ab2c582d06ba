/*
 * Any bytes as the body of POST /v1/slot-decisions. Refused bodies say where they are wrong; whoever
 * gets the slot has such a task pending, nobody gets it only where no task is pending that may begin,
 * and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "api/scheduling/slot_decision_make.h"
#include "fuzz_body.h"

static const struct codec_slot_decision_limits limits = {.jobs = 100};

static size_t pending(size_t all, size_t finished, size_t running)
{
    FUZZ_REQUIRE(finished <= all && running <= all - finished);
    return all - finished - running;
}

static void require_fresh(const struct codec_fresh_state *state,
                          const struct codec_slot_action *action)
{
    size_t maps = 0;
    size_t reduces = 0;
    for (size_t i = 0; i < state->n; i++) {
        const struct fresh_job *job = &state->jobs[i].job;
        bool chosen = strview_equal(state->jobs[i].name, action->job);
        size_t of_map =
            job->phase == FRESH_MAP ? pending(job->maps, job->maps_finished, job->maps_running) : 0;
        size_t of_reduce = job->phase == FRESH_REDUCE
                               ? pending(job->reduces, job->reduces_finished, job->reduces_running)
                               : 0;
        maps += of_map > 0;
        reduces += of_reduce > 0;
        if (chosen && action->job.at != NULL)
            FUZZ_REQUIRE(action->slot[0] == 'm' ? of_map > 0 : of_reduce > 0);
    }
    FUZZ_REQUIRE((action->job.at == NULL) == (maps + reduces == 0));
}

static void require_omo(const struct codec_omo_state *state, const struct codec_slot_action *action)
{
    size_t maps = 0;
    for (size_t i = 0; i < state->n; i++) {
        const struct omo_job *job = &state->jobs[i].job;
        size_t of_map = pending(job->maps, job->maps_finished, job->maps_running);
        size_t of_reduce = pending(job->reduces, job->reduces_finished, job->reduces_running);
        maps += of_map > 0;
        if (action->job.at != NULL && strview_equal(state->jobs[i].name, action->job))
            FUZZ_REQUIRE(action->slot[0] == 'm' ? of_map > 0 : of_reduce > 0);
    }
    FUZZ_REQUIRE(action->job.at != NULL || maps == 0);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_slot_decision asked;
    struct slot_decision_made made;
    struct writer w;
    size_t n;
    codec_slot_decision_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    FUZZ_REQUIRE(slot_decision_make(&asked, arena, &made, NULL) == PV_OK);
    if (asked.kind == SLOT_DECISION_FRESH) {
        require_fresh(&asked.fresh, &made.action);
        FUZZ_REQUIRE(made.fresh.fairness >= 0 && made.fresh.fairness <= 1 + 1e-9);
    } else {
        require_omo(&asked.omo, &made.action);
    }
    writer_init(&w, arena);
    slot_decision_encode(&w, &asked, &made);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

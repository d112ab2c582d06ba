/*
 * Any bytes as the body of POST /v1/stage-plans. Refused bodies say where they are wrong; a plan
 * holds each stage that is not skipped once, in order, end to start; without pins it ends at alpha
 * times the deadline; no stage is promised more cores than there are, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "codec/deadlines/stage_plan.h"
#include "fuzz_body.h"

static const struct codec_stage_plan_limits limits = {.stages = 16, .tasks = 100, .cores = 100000};

static void require_steps(const struct codec_stage_plan *asked, const struct stage_plan *plan)
{
    double all = asked->terms.executors * asked->terms.cores_per_executor;
    double spent_s = 0;
    size_t n = 0;
    for (size_t i = 0; i < asked->n_stages; i++) {
        if (asked->stages[i].skipped)
            continue;
        FUZZ_REQUIRE(n < plan->n_steps);
        const struct stage_plan_step *step = &plan->steps[n++];
        FUZZ_REQUIRE(step->id == asked->stages[i].id);
        FUZZ_REQUIRE(step->weight >= 1);
        FUZZ_REQUIRE(step->start_s == spent_s && step->deadline_s >= 0);
        FUZZ_REQUIRE(step->max_allocable_cores > 0 && step->max_allocable_cores <= all);
        FUZZ_REQUIRE(step->initial_cores_per_executor > 0);
        FUZZ_REQUIRE(step->estimated_cores <= all || !plan->feasible);
        spent_s += step->deadline_s;
    }
    FUZZ_REQUIRE(n == plan->n_steps && n > 0);
    double end_s = asked->terms.alpha * asked->terms.deadline_s;
    FUZZ_REQUIRE(asked->n_pins > 0 || fabs(spent_s - end_s) <= 1e-9 * end_s);
}

static void require_reply(const struct stage_plan *plan, struct arena *arena)
{
    struct writer w;
    writer_init(&w, arena);
    writer_begin_object(&w);
    codec_stage_plan_encode(&w, plan);
    writer_end_object(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_stage_plan asked;
    struct stage_plan plan;
    codec_stage_plan_decode(top, &limits, &asked);
    bool taken = fuzz_body_is_taken(top);
    if (isnan(asked.terms.executors)) /* as the cluster that is named would tell */
        asked.terms.executors = 3;
    if (isnan(asked.terms.cores_per_executor))
        asked.terms.cores_per_executor = 2;
    if (taken && asked.stages != NULL) {
        FUZZ_REQUIRE(stage_plan_make(&asked.terms, asked.stages, asked.n_stages, arena, &plan,
                                     NULL) == PV_OK);
        require_steps(&asked, &plan);
        require_reply(&plan, arena);
    }
}

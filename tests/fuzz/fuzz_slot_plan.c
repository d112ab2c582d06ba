/*
 * Any bytes as the body of POST /v1/slot-plans. Refused bodies say where they are wrong; no division
 * of the slots is faster than its slots allow, the best one is the best, the phases of a job follow
 * one another, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "codec/scheduling/slot_plan.h"
#include "fuzz_body.h"

/* Few splits, so that each input takes milliseconds. */
static const struct codec_slot_plan_limits limits = {.jobs = 40, .splits = 4000};

static const struct run_source source = {.problem_size = 8, .executors = 2};
static const struct codec_slot_profile profile = {
    .tasks = {40, 2, 10, 3}, .runs = &source, .n_runs = 1, .graph_changed = true};

static void require_splits(const struct fresh_plan_terms *terms, const struct fresh_plan *plan)
{
    double map_s = 0;
    double reduce_s = 0;
    for (size_t i = 0; i < terms->n; i++) {
        map_s += terms->jobs[i].map_s;
        reduce_s += terms->jobs[i].reduce_s;
    }
    for (size_t i = 0; i < plan->n_splits; i++) {
        double least_s = map_s / (double)(i + 1);
        if (reduce_s > 0)
            least_s = fmax(least_s, reduce_s / (double)(terms->slots - i - 1));
        FUZZ_REQUIRE(plan->makespan_s[i] >= least_s * (1 - 1e-6) - 1e-6);
        FUZZ_REQUIRE(plan->best.makespan_s <= plan->makespan_s[i] * (1 + 1e-8));
    }
}

static void require_jobs(const struct fresh_plan *plan, size_t n)
{
    size_t places = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fresh_job_times *times = &plan->times[i];
        bool reduces = !isnan(times->reduce_start_s);
        FUZZ_REQUIRE(times->start_s <= times->map_end_s && times->map_end_s <= times->finish_s);
        FUZZ_REQUIRE(!reduces || (times->map_end_s <= times->reduce_start_s &&
                                  times->reduce_start_s <= times->finish_s));
        FUZZ_REQUIRE(times->finish_s <= plan->best.makespan_s);
        places += plan->order[i];
    }
    FUZZ_REQUIRE(places == n * (n - 1) / 2);
    FUZZ_REQUIRE(plan->fairness >= 1 / (double)n - 1e-9 && plan->fairness <= 1 + 1e-9);
}

static void require_reply(const struct codec_slot_plan *asked,
                          const struct fresh_plan *plan,
                          struct arena *arena)
{
    struct findings warnings = {.arena = arena};
    struct writer w;
    size_t n;
    codec_slot_plan_warn(asked, plan, &warnings);
    writer_init(&w, arena);
    codec_slot_plan_encode(&w, asked, plan, &warnings);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_slot_plan asked;
    struct fresh_plan_terms terms;
    struct fresh_plan plan;
    codec_slot_plan_decode(top, &limits, &asked);
    if (!fuzz_body_is_taken(top))
        return;
    for (size_t i = 0; i < asked.n_jobs; i++)
        if (asked.jobs[i].application.at != NULL)
            asked.jobs[i].profile = &profile;
    if (codec_slot_plan_take(&asked, arena, &terms, NULL) != PV_OK)
        return;
    FUZZ_REQUIRE(fresh_plan_make(&terms, arena, &plan, NULL) == PV_OK);
    require_splits(&terms, &plan);
    require_jobs(&plan, terms.n);
    require_reply(&asked, &plan, arena);
}

/*
 * Any bytes as the body of POST /v1/control-simulations. Refused bodies say where they are wrong; a
 * body that is taken reads back the same as it is stored for an operation, and each simulation that
 * is not too long keeps the rules: no job ends before its release or sooner than its critical path
 * allows, nobody waits longer than there is time, no more core seconds than there are; penalties
 * are no less than nothing, what a search finds is no worse than what it began with, and the reply
 * is JSON.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "codec/deadlines/control.h"
#include "core/control/explain.h"
#include "fuzz_body.h"

enum { JOBS_MAX = 4, CORES_MAX = 16, RUNS_MAX = CONTENTION_STRATEGIES * CODEC_CONTROL_GAMMAS };

static const double STEPS_MAX = 3000;
static const struct codec_control_limits limits = {
    .set = {.jobs = JOBS_MAX, .stages = 6, .tasks = 60, .cores = CORES_MAX},
    .repetitions = 3,
    .simulations = 12};

static char *stored(const struct codec_control *asked, struct arena *arena, size_t *n)
{
    struct writer w;
    writer_init(&w, arena);
    codec_control_encode(&w, asked);
    const char *text = writer_finish(&w, n);
    FUZZ_REQUIRE(text != NULL);
    return memcpy(arena_array(arena, *n, 1), text, *n);
}

static void require_same_again(const struct codec_control *asked, struct arena *arena)
{
    static struct codec_control again;
    const struct codec_bounds bounds = {.depth = 64, .values = 100000};
    struct codec_document document;
    struct pv_error err = {0};
    size_t n;
    size_t n_again;
    const char *text = stored(asked, arena, &n);
    FUZZ_REQUIRE(codec_open(&document, text, n, &bounds, arena, &err) == PV_OK);
    codec_control_decode(&document.top, &limits, &again);
    FUZZ_REQUIRE(codec_close(&document) == PV_OK);
    const char *text_again = stored(&again, arena, &n_again);
    FUZZ_REQUIRE(n == n_again && memcmp(text, text_again, n) == 0);
}

static void require_rules(const struct control_model *model, const struct control_result *result)
{
    double cores = (double)(model->cluster.workers * model->cluster.cores);
    double granted_s = 0;
    for (size_t j = 0; j < model->plan.n_jobs; j++) {
        const struct edf_outcome *outcome = &result->outcomes[j];
        FUZZ_REQUIRE(outcome->completion_s >= model->actual[j].release_s);
        FUZZ_REQUIRE(result->longest_wait_s[j] >= 0 &&
                     result->longest_wait_s[j] <= outcome->execution_s * (1 + 1e-9) + 1e-3);
        FUZZ_REQUIRE(result->share_deviation[j] >= 0 && result->share_deviation[j] <= 1);
        granted_s += result->core_s[j];
    }
    FUZZ_REQUIRE(granted_s <= cores * result->metrics.makespan_s * (1 + 1e-6) + 1e-3);
}

/* Whether all of them were short enough. */
static bool run_all(const struct codec_control *asked,
                    const struct control_model *model,
                    struct control_run runs[],
                    struct control_result results[],
                    struct arena *arena)
{
    size_t n = 0;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        for (size_t g = 0; g < asked->n_gammas && (asked->strategies & 1u << s) != 0; g++) {
            runs[n] = (struct control_run){&contention_strategies[s], asked->gammas[g], STEPS_MAX};
            enum pv_code code =
                control_simulate(model, &runs[n], NULL, NULL, arena, arena, &results[n], NULL);
            FUZZ_REQUIRE(code == PV_OK || code == PV_E_LIMIT);
            if (code != PV_OK)
                return false;
            require_rules(model, &results[n++]);
        }
    return true;
}

/* Everything that penalties lead to. false: a repetition was too long. */
static bool recommend(const struct codec_control *asked,
                      const struct control_model *model,
                      const struct control_run runs[],
                      const struct control_result baselines[],
                      struct arena *arena,
                      struct codec_control_recommendation *made)
{
    static struct control_point points[RUNS_MAX];
    static struct control_score scores[RUNS_MAX];
    static struct control_score of_baselines[CONTROL_BASELINES];
    static struct control_found found;
    struct control_effort effort = {.steps_max = 20 * STEPS_MAX};
    size_t n = codec_control_runs(asked);
    const struct control_problem problem = {
        asked->set.jobs,           asked->terms,   asked->stakes,
        asked->set.n_jobs,         model->cluster, asked->options,
        (size_t)asked->repetitions};
    for (size_t i = 0; i < n; i++) {
        points[i] = (struct control_point){runs[i].strategy, runs[i].gamma, (double)NAN,
                                           asked->options.controller.gain,
                                           asked->options.controller.integral_time_s};
        FUZZ_REQUIRE(control_score_init(&scores[i], &problem, arena));
    }
    for (size_t b = 0; b < CONTROL_BASELINES; b++) {
        FUZZ_REQUIRE(control_score_init(&of_baselines[b], &problem, arena));
        control_score_add(&of_baselines[b], &problem, model, &baselines[b]);
    }
    enum pv_code code =
        control_score_points(&problem, points, n, 0, &effort, arena, scores, NULL, NULL);
    FUZZ_REQUIRE(code == PV_OK || code == PV_E_LIMIT);
    if (code != PV_OK)
        return false;
    *made = (struct codec_control_recommendation){
        .scores = scores, .baselines = of_baselines, .choice = control_choose(scores, n)};
    for (size_t i = 0; i < n; i++)
        FUZZ_REQUIRE(scores[i].total >= scores[made->choice.best].total && scores[i].least >= 0);
    const struct control_search terms = {asked->search.over, (size_t)asked->search.simulations};
    if (!asked->with_search)
        return true;
    code = control_search_run(&problem, &terms, points, scores, n, &effort, arena, arena, &found,
                              NULL);
    FUZZ_REQUIRE(code == PV_OK || code == PV_E_LIMIT);
    made->found = code == PV_OK ? &found : NULL;
    /* Totals that are equal but for rounding are compared by core seconds, step by step. */
    FUZZ_REQUIRE(code != PV_OK ||
                 (found.score.total <= scores[made->choice.best].total * (1 + 1e-6) &&
                  found.simulations <= terms.simulations));
    return true;
}

static void require_reply(const struct codec_control_result *result, struct arena *arena)
{
    struct writer w;
    size_t n;
    writer_init(&w, arena);
    codec_control_result_encode(&w, result);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    json_decref(json);
}

static void require_lawful(const struct codec_control *asked, struct arena *arena)
{
    static struct control_run runs[RUNS_MAX];
    static struct control_result results[RUNS_MAX];
    static struct control_result baselines[CONTROL_BASELINES];
    struct codec_control_recommendation recommendation;
    struct control_model model;
    struct findings none = {.arena = arena};
    struct findings best = {.arena = arena};
    const struct control_cluster cluster = {(size_t)asked->set.size.executors,
                                            (size_t)asked->set.size.cores_per_executor};
    FUZZ_REQUIRE(control_model_make(asked->set.jobs, asked->terms, asked->set.n_jobs, &cluster,
                                    &asked->options, arena, &model, NULL) == PV_OK);
    if (!run_all(asked, &model, runs, results, arena))
        return;
    for (size_t b = 0; b < CONTROL_BASELINES; b++)
        FUZZ_REQUIRE(control_baseline_run(&control_baselines[b], &model, NULL, arena, arena,
                                          &baselines[b], NULL) == PV_OK);
    if (asked->stakes != NULL && !recommend(asked, &model, runs, baselines, arena, &recommendation))
        return;
    recommendation.reasons = recommendation.search_reasons = &none;
    const struct codec_control_result reply = {
        .asked = asked,
        .model = &model,
        .runs = runs,
        .n_runs = codec_control_runs(asked),
        .results = results,
        .baselines = baselines,
        .best = &best,
        .best_run = control_explain_best(runs, results, codec_control_runs(asked), &best),
        .warnings = &none,
        .recommendation = asked->stakes == NULL ? NULL : &recommendation};
    require_reply(&reply, arena);
}

void fuzz_body(const struct codec_node *top)
{
    static struct codec_control asked;
    struct arena *arena = top->reader->arena;
    codec_control_decode(top, &limits, &asked);
    bool inline_only = fuzz_body_is_taken(top);
    for (size_t i = 0; inline_only && i < asked.set.n_jobs; i++)
        inline_only = asked.set.sources[i].application.at == NULL;
    if (!inline_only)
        return;
    if (asked.set.cluster.at != NULL) /* as the one that is named would say */
        asked.set.size = (struct codec_cluster_size){.executors = 2, .cores_per_executor = 3};
    require_same_again(&asked, arena);
    require_lawful(&asked, arena);
}

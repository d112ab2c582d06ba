/* Plans for deadlines and for copies of tasks, and their simulations, when memory fails. */
#include <criterion/criterion.h>
#include <math.h>

#include "codec/deadlines/contention.h"
#include "codec/deadlines/control.h"
#include "codec/deadlines/feasibility.h"
#include "codec/deadlines/stage_plan.h"
#include "codec/geo/copy_plan.h"
#include "codec/geo/simulation.h"
#include "codec/geo/wfformat.h"
#include "codec_memory.h"
#include "core/control/explain.h"
#include "core/deadline/explain.h"
#include "core/geo/plan_make.h"

TestSuite(codec_memory_plans, .init = codec_memory_set_up, .timeout = 300);

/* --- deadlines --- */

static enum pv_code
feasibility_beside(const struct codec_node *top, struct arena *scratch, struct pv_error *err)
{
    static const struct codec_job_set_limits limits = {
        .jobs = 8, .stages = 8, .tasks = 300, .cores = 64};
    struct codec_feasibility asked;
    struct edf_outcome outcomes[8];
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays delays[8];
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_feasibility_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    for (size_t i = 0; i < asked.set.n_jobs; i++)
        if (asked.set.sources[i].application.at != NULL)
            return PV_OK;
    if (asked.set.cluster.at != NULL)
        asked.set.cores = 3;
    if (codec_feasibility_take_memory(&asked, NULL) != PV_OK)
        return PV_OK;
    PV_TRY(edf_schedule(asked.set.jobs, asked.set.n_jobs, asked.set.cores, scratch, outcomes,
                        &metrics, NULL, err));
    PV_TRY(edf_find_remedies(asked.set.jobs, asked.set.n_jobs, asked.set.cores, 20000, arena,
                             scratch, &remedies, err));
    PV_TRY(edf_find_changes(asked.set.jobs, asked.set.n_jobs, asked.set.cores, remedies.deadlines_s,
                            2000, arena, scratch, &changes, err));
    PV_TRY(edf_find_delays(asked.set.jobs, asked.set.n_jobs, asked.set.cores, outcomes, arena,
                           scratch, delays, err));
    writer_init(&w, arena);
    writer_begin_object(&w);
    const struct codec_feasibility_answer answer = {outcomes, &metrics, &remedies, &changes,
                                                    delays};
    codec_feasibility_encode(&w, &asked, &answer);
    writer_end_object(&w);
    return codec_memory_finish(&w, err);
}

static enum pv_code feasibility(const struct codec_node *top, struct pv_error *err)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    enum pv_code code = feasibility_beside(top, &scratch, err);
    arena_fini(&scratch);
    return code;
}

static enum pv_code stage_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_stage_plan_limits limits = {
        .stages = 16, .tasks = 100, .cores = 100000};
    struct codec_stage_plan asked;
    struct stage_plan plan;
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_stage_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (asked.stages == NULL)
        return PV_OK;
    if (isnan(asked.terms.executors))
        asked.terms.executors = 3;
    if (isnan(asked.terms.cores_per_executor))
        asked.terms.cores_per_executor = 2;
    PV_TRY(stage_plan_make(&asked.terms, asked.stages, asked.n_stages, arena, &plan, err));
    writer_init(&w, arena);
    writer_begin_object(&w);
    codec_stage_plan_encode(&w, &plan);
    writer_end_object(&w);
    return codec_memory_finish(&w, err);
}

static enum pv_code contention(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_contention_limits limits = {.applications = 32, .cores = 1e6};
    struct codec_contention asked;
    struct contention_share shares[32];
    struct contention_outcome outcome;
    struct arena *arena = top->reader->arena;
    struct findings reasons = {.arena = arena};
    struct writer w;
    codec_contention_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (isnan(asked.terms.max_cores))
        asked.terms.max_cores = 12;
    PV_TRY(contention_resolve(asked.strategy, &asked.terms, asked.applications, asked.n, arena,
                              shares, &outcome, err));
    contention_explain(asked.strategy, &asked.terms, &outcome, &reasons);
    if (reasons.failed)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_contention_encode(&w, &asked, shares, &outcome, &reasons);
    return codec_memory_finish(&w, err);
}

/* One run with its penalties, and a search from it. */
static enum pv_code recommend(const struct codec_control *asked,
                              const struct control_model *model,
                              const struct control_run *run,
                              struct codec_control_recommendation *made,
                              struct arena *arena,
                              struct pv_error *err)
{
    static struct control_score score;
    static struct control_score baselines[CONTROL_BASELINES];
    static struct control_found found;
    static struct findings reasons;
    const struct control_problem problem = {
        asked->set.jobs,           asked->terms,   asked->stakes,
        asked->set.n_jobs,         model->cluster, asked->options,
        (size_t)asked->repetitions};
    const struct control_point point = {run->strategy, run->gamma, (double)NAN, 50, 12};
    const struct control_comparison of = {&problem, &asked->sent[0].sent.name, &point, &score, 1,
                                          baselines};
    const struct control_search terms = {asked->search.over, (size_t)asked->search.simulations};
    struct control_effort effort = {.steps_max = 1e6};
    reasons = (struct findings){.arena = arena};
    bool room = control_score_init(&score, &problem, arena);
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        room = room && control_score_init(&baselines[i], &problem, arena);
    if (!room)
        return pv_no_memory(err);
    PV_TRY(control_score_points(&problem, &point, 1, 0, &effort, arena, &score, baselines, err));
    *made = (struct codec_control_recommendation){&score,   baselines, control_choose(&score, 1),
                                                  &reasons, &found,    &reasons};
    PV_TRY(control_search_run(&problem, &terms, &point, &score, 1, &effort, arena, arena, &found,
                              err));
    control_explain_choice(&of, &made->choice, &reasons);
    control_explain_found(&of, &made->choice, &found, &reasons);
    return findings_check(&reasons, err);
}

/* One simulation with its trace, and the baselines. */
static enum pv_code control(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_control_limits limits = {
        {.jobs = 4, .stages = 4, .tasks = 100, .cores = 64}, .repetitions = 2, .simulations = 4};
    struct arena *arena = top->reader->arena;
    struct codec_control *asked = arena_calloc(arena, 1, sizeof *asked);
    struct control_run run = {&contention_strategies[0], 1, 1e6};
    struct control_result result;
    struct control_result baselines[CONTROL_BASELINES];
    struct control_trace trace;
    struct control_model model;
    struct codec_control_recommendation recommendation;
    struct findings best = {.arena = arena};
    struct findings warnings = {.arena = arena};
    struct writer w;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_control_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    const struct control_cluster cluster = {(size_t)asked->set.size.executors,
                                            (size_t)asked->set.size.cores_per_executor};
    PV_TRY(control_model_make(asked->set.jobs, asked->terms, asked->set.n_jobs, &cluster,
                              &asked->options, arena, &model, err));
    if (!control_trace_init(&trace, model.plan.n_jobs, model.plan.n_stages, 8,
                            control_model_start_s(&model), 1, arena))
        return pv_no_memory(err);
    PV_TRY(control_simulate(&model, &run, NULL, &trace, arena, arena, &result, err));
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        PV_TRY(control_baseline_run(&control_baselines[i], &model, NULL, arena, arena,
                                    &baselines[i], err));
    size_t first = control_explain_best(&run, &result, 1, &best);
    control_explain_warnings(&asked->set.sources[0].name, &model, &warnings);
    PV_TRY(findings_check(&best, err));
    PV_TRY(findings_check(&warnings, err));
    if (asked->stakes != NULL)
        PV_TRY(recommend(asked, &model, &run, &recommendation, arena, err));
    const struct codec_control_result reply = {asked,
                                               &model,
                                               &run,
                                               1,
                                               &result,
                                               &trace,
                                               baselines,
                                               &best,
                                               first,
                                               &warnings,
                                               asked->stakes == NULL ? NULL : &recommendation};
    writer_init(&w, arena);
    codec_control_encode(&w, asked);
    codec_control_result_encode(&w, &reply);
    return codec_memory_finish(&w, err);
}

Test(codec_memory_plans, control_simulations)
{
    cr_expect_gt(
        codec_memory_one(
            "{\"cluster\":{\"executors\":2,\"cores_per_executor\":2},\"jobs\":[{\"name\":"
            "\"A\",\"deadline_s\":3,\"stages\":[{\"id\":0,\"tasks\":9,\"task_duration_s\":"
            "2},{\"id\":1,\"parents\":[0],\"task_durations_s\":[1,2]}]}],\"duration_noise\":"
            "0.1,\"actuation_delay_s\":0.5}",
            control),
        20);
    cr_expect_gt(codec_memory_one(
                     "{\"cluster\":{\"executors\":1,\"cores_per_executor\":2},\"jobs\":[{\"name\":"
                     "\"A\",\"deadline_s\":3,\"weight\":2,\"stages\":[{\"id\":0,\"tasks\":9,"
                     "\"task_duration_s\":2}]}],\"duration_noise\":0.1,\"penalty\":\"fair\","
                     "\"repetitions\":2,\"search\":{\"simulations\":4}}",
                     control),
                 20);
    cr_expect_gt(
        codec_memory_faulty("{\"cluster\":{\"executors\":2},\"jobs\":[],\"gammas\":[2]}", control),
        2);
}

Test(codec_memory_plans, deadlines)
{
    codec_memory_seeds("feasibility", feasibility);
    codec_memory_seeds("stage_plan", stage_plan);
    codec_memory_seeds("contention", contention);
}

/* --- geo --- */

static enum pv_code copy_plan(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_copy_plan_limits limits = {
        .clusters = 6, .jobs = 4, .tasks = 16, .points = 8};
    struct codec_copy_plan asked;
    struct geo_plan plan;
    struct arena *arena = top->reader->arena;
    struct writer w;
    codec_copy_plan_decode(top, &limits, &asked);
    PV_TRY(codec_result(top->reader));
    if (asked.n_registered > 0)
        return PV_OK;
    if (isnan(asked.problem.slot_s))
        asked.problem.slot_s = 1;
    asked.load = geo_system_load_measure(&asked.problem);
    asked.epsilon_is_auto = geo_parameters_are_automatic(&asked.parameters);
    geo_parameters_resolve(&asked.parameters, &asked.problem);
    PV_TRY(geo_plan_make(&asked.problem, &asked.parameters, NULL, NULL, arena, &plan, err));
    writer_init(&w, arena);
    codec_copy_plan_encode(&w, &asked, &plan);
    return codec_memory_finish(&w, err);
}

static enum pv_code wfformat(const struct codec_node *top, struct pv_error *err)
{
    static const size_t clusters[] = {2, 5};
    static const struct geosim_stores stores = {clusters, 2};
    static const struct geosim_scaling scaling = {.work = 0.5, .bytes = 10};
    struct strview names[16];
    struct codec_operations operations = {.names = names, .most = 16};
    struct geosim_recording recording;
    struct rng rng = rng_make(1, 1);
    codec_wfformat_decode(top, 64, &operations, &recording);
    PV_TRY(codec_result(top->reader));
    return geosim_recording_place(&recording, &scaling, &stores, &rng, top->reader->arena) == NULL
               ? pv_no_memory(err)
               : PV_OK;
}

static enum pv_code simulation(const struct codec_node *top, struct pv_error *err)
{
    static const struct codec_simulation_limits limits = {.workflows = 10,
                                                          .tasks = 10000,
                                                          .workflow_tasks = 1000,
                                                          .clusters = 10,
                                                          .runs = 100,
                                                          .task_runs = 1000000,
                                                          .templates = 2,
                                                          .operations = 8};
    struct codec_simulation *asked = arena_calloc(top->reader->arena, 1, sizeof *asked);
    struct writer w;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_simulation_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    writer_init(&w, top->reader->arena);
    codec_simulation_encode(&w, asked);
    return codec_memory_finish(&w, err);
}

Test(codec_memory_plans, geo)
{
    codec_memory_how.may_do_without = true; /* speeds that are computed again (core/geo/rates.c) */
    codec_memory_seeds("copy_plan", copy_plan);
    codec_memory_how.may_do_without = false;
    codec_memory_seeds("wfformat", wfformat);
    cr_expect_gt(codec_memory_one(
                     "{\"kind\":\"geo\",\"policies\":[{\"policy\":\"flutter\"}],\"arrival_rates_"
                     "per_s\":[0.05]}",
                     simulation),
                 2);
}

#include "api/deadlines/control_run.h"

#include <math.h>
#include <stdio.h>

#include "api/deadlines/job_set_load.h"
#include "base/plural.h"
#include "core/control/explain.h"
#include "core/control/recommend.h"

/* Whether a strategy that is asked for needs the rates of all jobs. */
static bool are_rated(const struct codec_control *asked)
{
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        if ((asked->strategies & 1u << s) != 0 &&
            (contention_strategies[s].needs & CONTENTION_NEEDS_RATE) != 0)
            return true;
    return false;
}

enum pv_code control_take_rates(const struct codec_control *asked, struct pv_error *err)
{
    bool all = are_rated(asked);
    for (size_t i = 0; asked->set.nominal_rates != NULL && i < asked->set.n_jobs; i++) {
        char pointer[64];
        bool slow_first = asked->stakes != NULL && asked->stakes[i].penalty == CONTROL_SLOW_FIRST;
        if (!isnan(asked->terms[i].nominal_rate) || (!all && !slow_first))
            continue;
        asked->terms[i].nominal_rate = asked->set.nominal_rates[i];
        if (!isnan(asked->terms[i].nominal_rate))
            continue;
        (void)snprintf(pointer, sizeof pointer, "/jobs/%zu/nominal_rate", i);
        return pv_fault(err, PV_PLACE_POINTER, pointer, "required",
                        "is required by the %s: the run of the application does not say how many "
                        "records its stages read",
                        all ? "strategy speed" : "penalty slow_first");
    }
    return PV_OK;
}

enum pv_code control_check_size(const struct config *config,
                                const struct codec_control *asked,
                                struct pv_error *err)
{
    const struct codec_job_set *set = &asked->set;
    double stages = 0;
    for (size_t i = 0; i < set->n_jobs; i++)
        stages += (double)set->jobs[i].n_stages;
    if (stages * (double)set->size.executors > (double)config->control_executors_max)
        return pv_fault(err, PV_PLACE_POINTER, "/jobs", "too_many_items",
                        "stages x executors may be %lld (control_executors_max), they are %.0f x "
                        "%lld",
                        (long long)config->control_executors_max, stages,
                        (long long)set->size.executors);
    double numbers =
        (double)codec_control_runs(asked) *
        (2 * (double)config->control_trace_intervals * (double)set->n_jobs + 4 * stages);
    if (asked->with_traces && numbers > (double)config->control_trace_numbers_max)
        return pv_fault(err, PV_PLACE_POINTER, "/include", "too_large",
                        "the traces would have up to %.0f numbers, more than %lld "
                        "(control_trace_numbers_max): ask for fewer strategies or gammas",
                        numbers, (long long)config->control_trace_numbers_max);
    return PV_OK;
}

/* All simulations of the request, baselines not counted: those of a search as many as it may make. */
static size_t count_simulations(const struct codec_control *asked)
{
    size_t n = codec_control_runs(asked);
    if (asked->stakes != NULL)
        n *= (size_t)asked->repetitions;
    return n + (asked->with_search ? (size_t)asked->search.simulations : 0);
}

/* --- the work --- */

/* What is at hand. Models and results live as long as the reply is made; each run's own memory is
 * given back before the next. */
struct control_work {
    const struct config *config;
    const struct control_answer *answer;
    struct arena kept;
    struct arena scratch;
    struct control_model model;
    struct control_run *runs;
    size_t n_runs;
    struct control_result *results;
    struct control_trace *traces;
    struct control_result baselines[CONTROL_BASELINES];
    struct control_effort effort;
    size_t simulations; /* at most, all in all */
    /* Where there are penalties: */
    struct strview *names;
    struct control_problem problem;
    struct control_point *points; /* the runs */
    struct control_score *scores;
    struct control_score baseline_scores[CONTROL_BASELINES];
    struct findings reasons;
    struct findings search_reasons;
    struct control_found found;
    struct codec_control_recommendation recommendation;
};

static enum pv_code make_model(struct control_work *work, struct pv_error *err)
{
    const struct codec_control *asked = work->answer->asked;
    const struct control_cluster cluster = {(size_t)asked->set.size.executors,
                                            (size_t)asked->set.size.cores_per_executor};
    return control_model_make(asked->set.jobs, asked->terms, asked->set.n_jobs, &cluster,
                              &asked->options, &work->kept, &work->model, err);
}

static bool report_tasks(void *context, size_t tasks)
{
    const struct control_work *work = context;
    size_t all = work->model.plan.tasks;
    return work->answer->report == NULL ||
           work->answer->report(work->answer->context,
                                (int64_t)(work->effort.simulations * all + tasks),
                                (int64_t)(work->simulations * all));
}

static enum pv_code go_on(struct control_work *work, struct pv_error *err)
{
    return report_tasks(work, 0) ? PV_OK
                                 : pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
}

static bool list_runs(struct control_work *work)
{
    const struct codec_control *asked = work->answer->asked;
    work->n_runs = codec_control_runs(asked);
    work->runs = arena_array(&work->kept, work->n_runs, sizeof *work->runs);
    work->results = arena_array(&work->kept, work->n_runs, sizeof *work->results);
    if (asked->with_traces)
        work->traces = arena_array(&work->kept, work->n_runs, sizeof *work->traces);
    if (work->runs == NULL || work->results == NULL || (asked->with_traces && work->traces == NULL))
        return false;
    size_t n = 0;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        for (size_t g = 0; g < asked->n_gammas && (asked->strategies & 1u << s) != 0; g++)
            work->runs[n++] = (struct control_run){.strategy = &contention_strategies[s],
                                                   .gamma = asked->gammas[g]};
    return true;
}

static enum pv_code run_one(struct control_work *work, size_t i, struct pv_error *err)
{
    struct control_trace *trace = work->traces == NULL ? NULL : &work->traces[i];
    work->runs[i].steps_max = work->effort.steps_max - work->effort.steps;
    if (trace != NULL &&
        !control_trace_init(trace, work->model.plan.n_jobs, work->model.plan.n_stages,
                            (size_t)work->config->control_trace_intervals,
                            control_model_start_s(&work->model),
                            work->model.options.controller.sample_s, &work->kept))
        return pv_no_memory(err);
    PV_TRY(control_simulate(&work->model, &work->runs[i], &work->effort.progress, trace,
                            &work->kept, &work->scratch, &work->results[i], err));
    work->effort.steps += work->results[i].steps;
    work->effort.simulations++;
    arena_clear(&work->scratch);
    return go_on(work, err);
}

static enum pv_code run_baseline(struct control_work *work, size_t i, struct pv_error *err)
{
    const struct control_progress progress = {report_tasks, work};
    bool asked = work->answer->report != NULL;
    PV_TRY(control_baseline_run(&control_baselines[i], &work->model, asked ? &progress : NULL,
                                &work->kept, &work->scratch, &work->baselines[i], err));
    work->effort.simulations++;
    return go_on(work, err);
}

static bool list_names(struct control_work *work)
{
    const struct codec_job_set *set = &work->answer->asked->set;
    work->names = arena_array(&work->kept, set->n_jobs, sizeof *work->names);
    for (size_t i = 0; work->names != NULL && i < set->n_jobs; i++)
        work->names[i] = set->sources[i].name;
    return work->names != NULL;
}

/* --- penalties --- */

static void make_problem(struct control_work *work)
{
    const struct codec_control *asked = work->answer->asked;
    work->problem = (struct control_problem){.jobs = asked->set.jobs,
                                             .terms = asked->terms,
                                             .stakes = asked->stakes,
                                             .n = asked->set.n_jobs,
                                             .cluster = work->model.cluster,
                                             .options = asked->options,
                                             .repetitions = (size_t)asked->repetitions};
}

/* The runs as points, with their scores of the first repetition. */
static bool score_first(struct control_work *work)
{
    const struct control_terms *terms = &work->model.options.controller;
    work->points = arena_array(&work->kept, work->n_runs, sizeof *work->points);
    work->scores = arena_array(&work->kept, work->n_runs, sizeof *work->scores);
    if (work->points == NULL || work->scores == NULL)
        return false;
    for (size_t i = 0; i < work->n_runs; i++) {
        work->points[i] = (struct control_point){work->runs[i].strategy, work->runs[i].gamma,
                                                 (double)NAN, terms->gain, terms->integral_time_s};
        if (!control_score_init(&work->scores[i], &work->problem, &work->kept))
            return false;
        control_score_add(&work->scores[i], &work->problem, &work->model, &work->results[i]);
    }
    for (size_t i = 0; i < CONTROL_BASELINES; i++) {
        if (!control_score_init(&work->baseline_scores[i], &work->problem, &work->kept))
            return false;
        control_score_add(&work->baseline_scores[i], &work->problem, &work->model,
                          &work->baselines[i]);
    }
    return true;
}

static enum pv_code
search(struct control_work *work, const struct control_comparison *of, struct pv_error *err)
{
    const struct codec_control *asked = work->answer->asked;
    const struct control_search terms = {asked->search.over, (size_t)asked->search.simulations};
    if (!asked->with_search)
        return PV_OK;
    PV_TRY(control_search_run(&work->problem, &terms, work->points, work->scores, work->n_runs,
                              &work->effort, &work->kept, &work->scratch, &work->found, err));
    work->recommendation.found = &work->found;
    control_explain_found(of, &work->recommendation.choice, &work->found, &work->search_reasons);
    return findings_check(&work->search_reasons, err);
}

static enum pv_code recommend(struct control_work *work, struct pv_error *err)
{
    make_problem(work);
    if (!score_first(work))
        return pv_no_memory(err);
    PV_TRY(control_score_points(&work->problem, work->points, work->n_runs, 1, &work->effort,
                                &work->scratch, work->scores, work->baseline_scores, err));
    const struct control_comparison of = {.problem = &work->problem,
                                          .names = work->names,
                                          .points = work->points,
                                          .scores = work->scores,
                                          .n = work->n_runs,
                                          .baselines = work->baseline_scores};
    work->reasons = (struct findings){.arena = &work->kept};
    work->search_reasons = (struct findings){.arena = &work->kept};
    work->recommendation =
        (struct codec_control_recommendation){.scores = work->scores,
                                              .baselines = work->baseline_scores,
                                              .choice = control_choose(work->scores, work->n_runs),
                                              .reasons = &work->reasons,
                                              .search_reasons = &work->search_reasons};
    control_explain_choice(&of, &work->recommendation.choice, &work->reasons);
    PV_TRY(findings_check(&work->reasons, err));
    return search(work, &of, err);
}

/* --- the reply --- */

static enum pv_code write_reply(struct control_work *work, struct writer *w, struct pv_error *err)
{
    const struct codec_control *asked = work->answer->asked;
    struct findings best = {.arena = &work->kept};
    struct findings warnings = {.arena = &work->kept};
    size_t first = control_explain_best(work->runs, work->results, work->n_runs, &best);
    control_explain_warnings(work->names, &work->model, &warnings);
    job_set_warn(&asked->set, &warnings);
    PV_TRY(findings_check(&best, err));
    PV_TRY(findings_check(&warnings, err));
    const struct codec_control_result result = {
        .asked = asked,
        .model = &work->model,
        .runs = work->runs,
        .n_runs = work->n_runs,
        .results = work->results,
        .traces = work->traces,
        .baselines = work->baselines,
        .best = &best,
        .best_run = first,
        .warnings = &warnings,
        .recommendation = asked->stakes == NULL ? NULL : &work->recommendation};
    codec_control_result_encode(w, &result);
    return PV_OK;
}

static enum pv_code work_through(struct control_work *work, struct writer *w, struct pv_error *err)
{
    PV_TRY(make_model(work, err));
    if (!list_runs(work) || !list_names(work))
        return pv_no_memory(err);
    for (size_t i = 0; i < work->n_runs; i++)
        PV_TRY(run_one(work, i, err));
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        PV_TRY(run_baseline(work, i, err));
    if (work->answer->asked->stakes != NULL)
        PV_TRY(recommend(work, err));
    work->simulations = work->effort.simulations; /* a search may need fewer than it may make */
    PV_TRY(go_on(work, err));
    return write_reply(work, w, err);
}

static void begin_work(struct control_work *work,
                       const struct config *config,
                       const struct control_answer *answer)
{
    size_t most = (size_t)config->request_memory_bytes_max;
    *work = (struct control_work){
        .config = config,
        .answer = answer,
        .effort = {.steps_max = answer->steps_max, .progress = {report_tasks, work}},
        .simulations = count_simulations(answer->asked) + CONTROL_BASELINES};
    arena_init_beside(&work->kept, answer->arena, most);
    arena_init_beside(&work->scratch, answer->arena, most);
}

static void end_work(struct control_work *work)
{
    arena_fini(&work->scratch);
    arena_fini(&work->kept);
}

enum pv_code control_estimate(const struct config *config,
                              const struct control_answer *answer,
                              double *steps,
                              struct pv_error *err)
{
    struct control_work work;
    begin_work(&work, config, answer);
    enum pv_code code = make_model(&work, err);
    if (code == PV_OK)
        *steps = control_model_steps(&work.model) * (double)count_simulations(answer->asked);
    end_work(&work);
    return code;
}

enum pv_code control_answer_write(const struct config *config,
                                  const struct control_answer *answer,
                                  struct writer *w,
                                  struct pv_error *err)
{
    struct control_work work;
    begin_work(&work, config, answer);
    enum pv_code code = work_through(&work, w, err);
    end_work(&work);
    return code;
}

/* --- the operation --- */

static bool report_progress(void *context, int64_t done, int64_t total)
{
    return operation_progress(context, done, total, "tasks");
}

/* Checked when it was submitted, by a process whose settings may differ from ours. */
static enum pv_code
read_again(struct operation_run *run, struct codec_control *asked, struct pv_error *err)
{
    const struct codec_control_limits any = {
        .set = {.jobs = INT32_MAX, .stages = INT32_MAX, .tasks = INT32_MAX, .cores = INT32_MAX},
        .repetitions = INT32_MAX,
        .simulations = INT32_MAX};
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = run->request.n};
    struct codec_document document;
    PV_TRY(codec_open(&document, run->request.at, run->request.n, &bounds, run->arena, err));
    codec_control_decode(&document.top, &any, asked);
    return codec_close(&document);
}

static enum pv_code
load_history(struct operation_run *run, struct codec_control *asked, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    if (!job_set_has_history(&asked->set))
        return PV_OK;
    PV_TRY(store_begin(run->store, &run->who, run->request_id, STORE_READ, &tx, err));
    return job_set_load_from(tx, run->arena, run->config, &asked->set, err);
}

enum pv_code control_simulation_run(void *context,
                                    struct operation_run *run,
                                    struct strview *result,
                                    struct pv_error *err)
{
    struct codec_control *asked = arena_calloc(run->arena, 1, sizeof *asked);
    struct writer w;
    (void)context;
    if (asked == NULL)
        return pv_no_memory(err);
    PV_TRY(read_again(run, asked, err));
    PV_TRY(load_history(run, asked, err));
    PV_TRY(job_set_make_jobs(run->config, run->arena, &asked->set, err));
    PV_TRY(control_take_rates(asked, err));
    const struct control_answer answer = {.asked = asked,
                                          .steps_max = (double)run->config->control_steps_max,
                                          .report = report_progress,
                                          .context = run,
                                          .arena = run->arena};
    writer_init(&w, run->arena);
    PV_TRY(control_answer_write(run->config, &answer, &w, err));
    result->at = writer_finish(&w, &result->n);
    return result->at == NULL ? pv_no_memory(err) : PV_OK;
}

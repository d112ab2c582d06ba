#include "api/deadlines/control_run.h"

#include <math.h>
#include <stdio.h>

#include "api/deadlines/job_set_load.h"
#include "base/plural.h"
#include "core/control/explain.h"

/* A strategy that is asked for and needs rates; NULL: none. */
static const struct contention_strategy *find_rated(const struct codec_control *asked)
{
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        if ((asked->strategies & 1u << s) != 0 &&
            (contention_strategies[s].needs & CONTENTION_NEEDS_RATE) != 0)
            return &contention_strategies[s];
    return NULL;
}

enum pv_code control_take_rates(const struct codec_control *asked, struct pv_error *err)
{
    const struct contention_strategy *strategy = find_rated(asked);
    if (strategy == NULL || asked->set.nominal_rates == NULL)
        return PV_OK;
    for (size_t i = 0; i < asked->set.n_jobs; i++) {
        char pointer[64];
        if (!isnan(asked->terms[i].nominal_rate))
            continue;
        asked->terms[i].nominal_rate = asked->set.nominal_rates[i];
        if (!isnan(asked->terms[i].nominal_rate))
            continue;
        (void)snprintf(pointer, sizeof pointer, "/jobs/%zu/nominal_rate", i);
        return pv_fault(err, PV_PLACE_POINTER, pointer, "required",
                        "is required by the strategy %s: the run of the application does not say "
                        "how many records its stages read",
                        strategy->name);
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
    size_t finished; /* runs and baselines */
    double steps;
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
           work->answer->report(work->answer->context, (int64_t)(work->finished * all + tasks),
                                (int64_t)((work->n_runs + CONTROL_BASELINES) * all));
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
    const struct control_progress progress = {report_tasks, work};
    struct control_trace *trace = work->traces == NULL ? NULL : &work->traces[i];
    work->runs[i].steps_max = work->answer->steps_max - work->steps;
    if (trace != NULL &&
        !control_trace_init(trace, work->model.plan.n_jobs, work->model.plan.n_stages,
                            (size_t)work->config->control_trace_intervals,
                            control_model_start_s(&work->model),
                            work->model.options.controller.sample_s, &work->kept))
        return pv_no_memory(err);
    PV_TRY(control_simulate(&work->model, &work->runs[i], &progress, trace, &work->kept,
                            &work->scratch, &work->results[i], err));
    work->steps += work->results[i].steps;
    work->finished++;
    arena_clear(&work->scratch);
    return go_on(work, err);
}

static enum pv_code run_baseline(struct control_work *work, size_t i, struct pv_error *err)
{
    const struct control_progress progress = {report_tasks, work};
    bool asked = work->answer->report != NULL;
    PV_TRY(control_baseline_run(&control_baselines[i], &work->model, asked ? &progress : NULL,
                                &work->kept, &work->scratch, &work->baselines[i], err));
    work->finished++;
    return go_on(work, err);
}

static enum pv_code write_reply(struct control_work *work, struct writer *w, struct pv_error *err)
{
    const struct codec_control *asked = work->answer->asked;
    struct findings best = {.arena = &work->kept};
    struct findings warnings = {.arena = &work->kept};
    struct strview *names = arena_array(&work->kept, asked->set.n_jobs, sizeof *names);
    if (names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->set.n_jobs; i++)
        names[i] = asked->set.sources[i].name;
    size_t first = control_explain_best(work->runs, work->results, work->n_runs, &best);
    control_explain_warnings(names, &work->model, &warnings);
    PV_TRY(findings_check(&best, err));
    PV_TRY(findings_check(&warnings, err));
    const struct codec_control_result result = {.asked = asked,
                                                .model = &work->model,
                                                .runs = work->runs,
                                                .n_runs = work->n_runs,
                                                .results = work->results,
                                                .traces = work->traces,
                                                .baselines = work->baselines,
                                                .best = &best,
                                                .best_run = first,
                                                .warnings = &warnings};
    codec_control_result_encode(w, &result);
    return PV_OK;
}

static enum pv_code work_through(struct control_work *work, struct writer *w, struct pv_error *err)
{
    PV_TRY(make_model(work, err));
    if (!list_runs(work))
        return pv_no_memory(err);
    for (size_t i = 0; i < work->n_runs; i++)
        PV_TRY(run_one(work, i, err));
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        PV_TRY(run_baseline(work, i, err));
    return write_reply(work, w, err);
}

static void begin_work(struct control_work *work,
                       const struct config *config,
                       const struct control_answer *answer)
{
    size_t most = (size_t)config->request_memory_bytes_max;
    *work = (struct control_work){.config = config, .answer = answer};
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
        *steps = control_model_steps(&work.model) * (double)codec_control_runs(answer->asked);
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
    const struct codec_job_set_limits any = {
        .jobs = INT32_MAX, .stages = INT32_MAX, .tasks = INT32_MAX, .cores = INT32_MAX};
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
    PV_TRY(job_set_load_from(tx, run->arena, run->config->tasks_max, &asked->set, err));
    return control_take_rates(asked, err);
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

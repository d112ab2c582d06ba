#include <math.h>

#include "codec/deadlines/control.h"
#include "codec/json/finding.h"

/* The reply of POST /v1/control-simulations. */

/* What the penalties add to a job's outcome. */
static void encode_job_penalty(struct writer *w,
                               const struct control_result *result,
                               const struct control_score *score,
                               size_t i)
{
    writer_member_number(w, "penalty_value", score->penalties[i]);
    writer_member_number(w, "longest_wait_s",
                         result->longest_wait_s == NULL ? (double)NAN : result->longest_wait_s[i]);
    writer_member_number(w, "share_deviation",
                         result->share_deviation == NULL ? (double)NAN
                                                         : result->share_deviation[i]);
}

/* score NULL: no penalties. */
static void encode_outcomes(struct writer *w,
                            const struct codec_job_set *set,
                            const struct control_result *result,
                            const struct control_score *score,
                            bool granted)
{
    writer_member_boolean(w, "feasible", result->metrics.delayed == 0);
    codec_edf_metrics_encode(w, &result->metrics);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < set->n_jobs; i++) {
        writer_begin_object(w);
        codec_job_outcome_encode(w, set, i, &result->outcomes[i]);
        if (granted)
            writer_member_number(w, "granted_core_s", result->core_s[i]);
        if (score != NULL)
            encode_job_penalty(w, result, score, i);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_trace_stages(struct writer *w,
                                const struct codec_control_result *result,
                                const struct control_trace *trace,
                                size_t job)
{
    const struct edf_plan_job *plan = &result->model->plan.jobs[job];
    writer_member_array(w, "stages");
    for (size_t s = 0; s < plan->n_stages; s++) {
        const struct control_trace_stage *stage = &trace->stages[plan->first_stage + s];
        if (isnan(stage->started_s))
            continue;
        writer_begin_object(w);
        writer_member_integer(w, "stage", result->model->actual[job].stages[s].id);
        writer_member_number(w, "start_s", stage->started_s);
        writer_member_number(w, "deadline_s", stage->deadline_s);
        writer_member_number(w, "end_s", stage->ended_s);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_traces(struct writer *w,
                          const struct codec_control_result *result,
                          const struct control_trace *trace)
{
    writer_member_object(w, "traces");
    writer_member_number(w, "start_s", trace->start_s);
    writer_member_number(w, "step_s", trace->interval_s);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < trace->n_jobs; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", result->asked->set.sources[i].name);
        unsigned before = writer_set_digits(w, WRITER_DIGITS_MEANT);
        writer_member_numbers(w, "requested", trace->jobs[i].requested, trace->intervals);
        writer_member_numbers(w, "granted", trace->jobs[i].granted, trace->intervals);
        (void)writer_set_digits(w, before);
        encode_trace_stages(w, result, trace, i);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* Members of the open object: what it costs, in penalties and in cores. */
static void encode_score(struct writer *w, const struct control_score *score)
{
    writer_member_object(w, "total_penalty");
    writer_member_number(w, "mean", score->total);
    writer_member_number(w, "standard_deviation", score->deviation);
    writer_member_number(w, "least", score->least);
    writer_member_number(w, "most", score->most);
    writer_end_object(w);
    writer_member_number(w, "granted_core_s", score->core_s);
    writer_member_number(w, "used_core_s", score->used_s);
}

static void encode_run(struct writer *w, const struct codec_control_result *result, size_t i)
{
    writer_begin_object(w);
    writer_member_string(w, "strategy", result->runs[i].strategy->name);
    writer_member_number(w, "gamma", result->runs[i].gamma);
    encode_outcomes(w, &result->asked->set, &result->results[i],
                    result->recommendation == NULL ? NULL : &result->recommendation->scores[i],
                    true);
    if (result->recommendation != NULL)
        encode_score(w, &result->recommendation->scores[i]);
    if (result->traces != NULL)
        encode_traces(w, result, &result->traces[i]);
    writer_end_object(w);
}

static void encode_baseline(struct writer *w, const struct codec_control_result *result, size_t i)
{
    writer_begin_object(w);
    writer_member_string(w, "baseline", control_baselines[i].name);
    encode_outcomes(w, &result->asked->set, &result->baselines[i],
                    result->recommendation == NULL ? NULL : &result->recommendation->baselines[i],
                    false);
    if (result->recommendation != NULL)
        encode_score(w, &result->recommendation->baselines[i]);
    writer_end_object(w);
}

/* The rate that a job from history got from its run, which the request does not say. */
static void encode_rate(struct writer *w, const struct codec_control *asked, size_t i)
{
    if (isnan(asked->sent[i].nominal_rate) && !isnan(asked->terms[i].nominal_rate))
        writer_member_number(w, "nominal_rate", asked->terms[i].nominal_rate);
}

static void encode_jobs(struct writer *w, const struct codec_control_result *result)
{
    const struct codec_job_set *set = &result->asked->set;
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < set->n_jobs; i++) {
        const struct edf_plan_job *job = &result->model->plan.jobs[i];
        double work_s = 0;
        size_t tasks = 0;
        for (size_t s = job->first_stage; s < job->first_stage + job->n_stages; s++) {
            work_s += result->model->plan.stages[s].work_s;
            tasks += result->model->plan.stages[s].tasks;
        }
        writer_begin_object(w);
        writer_member_text(w, "name", set->sources[i].name);
        writer_member_number(w, "release_s", set->jobs[i].release_s);
        writer_member_number(w, "deadline_s", set->jobs[i].deadline_s);
        writer_member_integer(w, "tasks", (int64_t)tasks);
        writer_member_number(w, "work_s", work_s);
        writer_member_number(w, "critical_path_s", result->model->shortest_s[i]);
        encode_rate(w, result->asked, i);
        codec_job_recorded_encode(w, set, i);
        if (result->asked->stakes != NULL) {
            const struct control_stake *stake = &result->asked->stakes[i];
            writer_member_string(w, "penalty", control_penalty_words[stake->penalty]);
            writer_member_number(w, "weight", stake->weight);
        }
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_best(struct writer *w, const struct codec_control_result *result)
{
    const struct control_run *run = &result->runs[result->best_run];
    writer_member_object(w, "best");
    writer_member_string(w, "strategy", run->strategy->name);
    writer_member_number(w, "gamma", run->gamma);
    codec_findings_encode(w, "reasons", result->best);
    writer_end_object(w);
}

static void encode_scored_run(struct writer *w, const struct codec_control_result *result, size_t i)
{
    writer_member_string(w, "strategy", result->runs[i].strategy->name);
    writer_member_number(w, "gamma", result->runs[i].gamma);
    encode_score(w, &result->recommendation->scores[i]);
}

static void encode_found(struct writer *w, const struct codec_control_result *result)
{
    const struct control_found *found = result->recommendation->found;
    if (found == NULL)
        return;
    writer_member_object(w, "search");
    writer_member_string(w, "strategy", found->point.strategy->name);
    writer_member_number(w, "gamma", found->point.gamma);
    writer_member_number(w, "alpha", found->point.alpha);
    writer_member_number(w, "gain", found->point.gain);
    writer_member_number(w, "integral_time_s", found->point.integral_time_s);
    encode_score(w, &found->score);
    writer_member_integer(w, "tried", (int64_t)found->tried);
    writer_member_integer(w, "simulations", (int64_t)found->simulations);
    writer_member_boolean(w, "cut_short", found->exhausted);
    codec_findings_encode(w, "reasons", result->recommendation->search_reasons);
    writer_end_object(w);
}

static void encode_recommendation(struct writer *w, const struct codec_control_result *result)
{
    const struct codec_control_recommendation *recommendation = result->recommendation;
    if (recommendation == NULL)
        return;
    writer_member_object(w, "recommendation");
    encode_scored_run(w, result, recommendation->choice.best);
    writer_member_integer(w, "repetitions", result->asked->repetitions);
    if (recommendation->choice.second == CONTROL_NO_SECOND) {
        writer_member_null(w, "runner_up");
    } else {
        writer_member_object(w, "runner_up");
        encode_scored_run(w, result, (size_t)recommendation->choice.second);
        writer_end_object(w);
    }
    codec_findings_encode(w, "reasons", recommendation->reasons);
    encode_found(w, result);
    writer_end_object(w);
}

void codec_control_result_encode(struct writer *w, const struct codec_control_result *result)
{
    writer_begin_object(w);
    writer_member_integer(w, "seed", result->asked->seed);
    writer_member_object(w, "cluster");
    writer_member_integer(w, "executors", (int64_t)result->model->cluster.workers);
    writer_member_integer(w, "cores_per_executor", (int64_t)result->model->cluster.cores);
    writer_end_object(w);
    encode_jobs(w, result);
    encode_best(w, result);
    encode_recommendation(w, result);
    writer_member_array(w, "outcomes");
    for (size_t i = 0; i < result->n_runs; i++)
        encode_run(w, result, i);
    writer_end_array(w);
    writer_member_array(w, "baselines");
    for (size_t i = 0; i < CONTROL_BASELINES; i++)
        encode_baseline(w, result, i);
    writer_end_array(w);
    codec_findings_encode(w, "warnings", result->warnings);
    writer_end_object(w);
}

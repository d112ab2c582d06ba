/*
 * Scores of configurations with common random numbers: repetition r has the seed plus r, whatever
 * is simulated, so differences between configurations are not those of their draws (e.g. A. M. Law,
 * Simulation Modeling and Analysis, section 11.2). Cost: that of the simulations, and one model a
 * repetition.
 */
#include "core/control/score.h"

#include <math.h>

bool control_score_init(struct control_score *score,
                        const struct control_problem *problem,
                        struct arena *arena)
{
    *score = (struct control_score){
        .totals = arena_calloc(arena, problem->repetitions, sizeof *score->totals),
        .penalties = arena_calloc(arena, problem->n, sizeof *score->penalties)};
    return score->totals != NULL && score->penalties != NULL;
}

/* Mean, deviation and extremes of the totals. */
static void summarize(struct control_score *score)
{
    double n = (double)score->repetitions;
    double squares = 0;
    score->total = 0;
    score->least = score->most = score->totals[0];
    for (size_t r = 0; r < score->repetitions; r++) {
        score->total += score->totals[r] / n;
        score->least = fmin(score->least, score->totals[r]);
        score->most = fmax(score->most, score->totals[r]);
    }
    for (size_t r = 0; r < score->repetitions; r++)
        squares += (score->totals[r] - score->total) * (score->totals[r] - score->total);
    score->deviation = score->repetitions > 1 ? sqrt(squares / (n - 1)) : (double)NAN;
}

void control_score_add(struct control_score *score,
                       const struct control_problem *problem,
                       const struct control_model *model,
                       const struct control_result *result)
{
    double before = (double)score->repetitions;
    double now = before + 1;
    double total = 0;
    double core_s = 0;
    for (size_t j = 0; j < problem->n; j++) {
        double penalty = control_penalty_of(problem->stakes[j].penalty, model, result, j);
        total += problem->stakes[j].weight * penalty;
        core_s += result->core_s[j];
        score->penalties[j] = (score->penalties[j] * before + penalty) / now;
    }
    score->core_s = (score->core_s * before + core_s) / now;
    score->used_s = (score->used_s * before + model->plan.work_s) / now;
    score->late = (score->late * before + (double)result->metrics.delayed) / now;
    score->totals[score->repetitions++] = total;
    summarize(score);
}

bool control_totals_differ(double a, double b)
{
    return fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b));
}

bool control_score_is_better(const struct control_score *a, const struct control_score *b)
{
    if (control_totals_differ(a->total, b->total))
        return a->total < b->total;
    return a->core_s < b->core_s && control_totals_differ(a->core_s, b->core_s);
}

double control_score_error(const struct control_score *a, const struct control_score *b)
{
    double n = (double)a->repetitions;
    double mean = a->total - b->total;
    double squares = 0;
    for (size_t r = 0; r < a->repetitions; r++) {
        double difference = a->totals[r] - b->totals[r] - mean;
        squares += difference * difference;
    }
    return n > 1 ? sqrt(squares / (n - 1) / n) : (double)NAN;
}

/* One simulation of the model under a configuration. The result lives in scratch. */
static enum pv_code run_point(const struct control_model *model,
                              const struct control_point *point,
                              struct control_effort *effort,
                              struct arena *scratch,
                              struct control_result *result,
                              struct pv_error *err)
{
    struct control_model varied = *model;
    size_t n = model->plan.n_jobs;
    const struct control_run run = {point->strategy, point->gamma,
                                    effort->steps_max - effort->steps};
    varied.options.controller.gain = point->gain;
    varied.options.controller.integral_time_s = point->integral_time_s;
    if (!isnan(point->alpha)) {
        struct control_job *jobs = arena_array(scratch, n, sizeof *jobs);
        if (jobs == NULL)
            return pv_no_memory(err);
        for (size_t j = 0; j < n; j++)
            jobs[j] = (struct control_job){point->alpha, model->jobs[j].nominal_rate};
        varied.jobs = jobs;
    }
    PV_TRY(control_simulate(&varied, &run,
                            effort->progress.report == NULL ? NULL : &effort->progress, NULL,
                            scratch, scratch, result, err));
    effort->steps += result->steps;
    effort->simulations++;
    return effort->progress.report == NULL || effort->progress.report(effort->progress.context, 0)
               ? PV_OK
               : pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
}

static enum pv_code score_points(const struct control_problem *problem,
                                 const struct control_model *model,
                                 const struct control_point points[],
                                 size_t n,
                                 struct control_effort *effort,
                                 struct arena *scratch,
                                 struct control_score scores[],
                                 struct pv_error *err)
{
    struct control_result result;
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(scratch);
        PV_TRY(run_point(model, &points[i], effort, scratch, &result, err));
        control_score_add(&scores[i], problem, model, &result);
        arena_rewind(scratch, mark);
    }
    return PV_OK;
}

static enum pv_code score_baselines(const struct control_problem *problem,
                                    const struct control_model *model,
                                    struct arena *scratch,
                                    struct control_score scores[],
                                    struct pv_error *err)
{
    struct control_result result;
    for (size_t i = 0; scores != NULL && i < CONTROL_BASELINES; i++) {
        struct arena_mark mark = arena_mark(scratch);
        PV_TRY(control_baseline_run(&control_baselines[i], model, NULL, scratch, scratch, &result,
                                    err));
        control_score_add(&scores[i], problem, model, &result);
        arena_rewind(scratch, mark);
    }
    return PV_OK;
}

enum pv_code control_score_points(const struct control_problem *problem,
                                  const struct control_point points[],
                                  size_t n,
                                  size_t first,
                                  struct control_effort *effort,
                                  struct arena *scratch,
                                  struct control_score scores[],
                                  struct control_score baselines[],
                                  struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = PV_OK;
    for (size_t r = first; code == PV_OK && r < problem->repetitions; r++) {
        struct control_options options = problem->options;
        struct control_model model;
        options.seed += r;
        code = control_model_make(problem->jobs, problem->terms, problem->n, &problem->cluster,
                                  &options, scratch, &model, err);
        if (code == PV_OK)
            code = score_points(problem, &model, points, n, effort, scratch, scores, err);
        if (code == PV_OK)
            code = score_baselines(problem, &model, scratch, baselines, err);
        arena_rewind(scratch, mark);
    }
    return code;
}

#include "core/control/model.h"

#include <math.h>

#include "core/history/stage_weight.h"
#include "core/sim/variates.h"

/* What random numbers are drawn for: the first key of their streams. */
enum control_purpose { CONTROL_NOISE = 1 };

struct control_options control_options_default(void)
{
    return (struct control_options){.controller = control_terms_default(),
                                    .beta = STAGE_WEIGHT_BETA,
                                    .overscale = 2,
                                    .average_nominal_rate = 1e6,
                                    .seed = 1};
}

/* The stage's tasks, each as long as planned times a factor of mean 1. */
static bool
disturb(const struct control_options *options, size_t job, struct arena *arena, struct edf_stage *s)
{
    const uint64_t keys[] = {CONTROL_NOISE, job, (uint64_t)s->id};
    struct rng rng = variate_stream(options->seed, keys, sizeof keys / sizeof *keys);
    double *durations_s = arena_array(arena, s->tasks, sizeof *durations_s);
    if (durations_s == NULL)
        return false;
    for (size_t t = 0; t < s->tasks; t++) {
        double planned_s =
            s->task_durations_s == NULL ? s->task_duration_s : s->task_durations_s[t];
        durations_s[t] = planned_s * rng_lognormal(&rng, 1, options->duration_noise);
    }
    s->task_durations_s = durations_s;
    return true;
}

static bool disturb_job(const struct control_options *options,
                        size_t j,
                        struct arena *arena,
                        struct edf_job *job)
{
    struct edf_stage *stages = arena_array(arena, job->n_stages, sizeof *stages);
    if (stages == NULL)
        return false;
    for (size_t s = 0; s < job->n_stages; s++) {
        stages[s] = job->stages[s];
        if (!disturb(options, j, arena, &stages[s]))
            return false;
    }
    job->stages = stages;
    return true;
}

static enum pv_code
plan_times(struct control_model *model, size_t n, struct arena *arena, struct pv_error *err)
{
    struct edf_plan planned = model->plan;
    double *starts_s = arena_array(arena, model->plan.n_stages, sizeof *starts_s);
    model->planned_s = arena_array(arena, model->plan.n_stages, sizeof *model->planned_s);
    model->shortest_s = arena_array(arena, n, sizeof *model->shortest_s);
    if (starts_s == NULL || model->planned_s == NULL || model->shortest_s == NULL)
        return pv_no_memory(err);
    if (model->options.duration_noise > 0)
        PV_TRY(edf_plan_make(model->planned, n, arena, &planned, err));
    for (size_t s = 0; s < planned.n_stages; s++)
        model->planned_s[s] = planned.stages[s].work_s;
    edf_plan_ideal(&planned, starts_s, model->shortest_s);
    for (size_t j = 0; j < n; j++)
        model->shortest_s[j] -= model->planned[j].release_s;
    return PV_OK;
}

enum pv_code control_model_make(const struct edf_job jobs[],
                                const struct control_job terms[],
                                size_t n,
                                const struct control_cluster *cluster,
                                const struct control_options *options,
                                struct arena *arena,
                                struct control_model *model,
                                struct pv_error *err)
{
    struct control_model made = {
        .cluster = *cluster, .options = *options, .planned = jobs, .jobs = terms};
    made.actual = arena_array(arena, n, sizeof *made.actual);
    if (made.actual == NULL)
        return pv_no_memory(err);
    for (size_t j = 0; j < n; j++) {
        made.actual[j] = jobs[j];
        if (options->duration_noise > 0 && !disturb_job(options, j, arena, &made.actual[j]))
            return pv_no_memory(err);
    }
    PV_TRY(edf_plan_make(made.actual, n, arena, &made.plan, err));
    PV_TRY(plan_times(&made, n, arena, err));
    *model = made;
    return PV_OK;
}

double control_model_start_s(const struct control_model *model)
{
    return model->actual[model->plan.by_release[0]].release_s;
}

/* Executors of the job that are alive at a time, were there any number of cores: those of all
 * stages, each for as long as its longest task, over the time that the job takes. */
static double executors_at_a_time(const struct control_model *model, size_t j)
{
    const struct edf_plan_job *job = &model->plan.jobs[j];
    double workers = (double)model->cluster.workers;
    double alive_s = 0;
    for (size_t s = job->first_stage; s < job->first_stage + job->n_stages; s++) {
        const struct edf_plan_stage *stage = &model->plan.stages[s];
        alive_s += fmin(workers, (double)stage->tasks) * stage->longest_s;
    }
    return model->shortest_s[j] > 0 ? fmax(workers, alive_s / model->shortest_s[j]) : workers;
}

double control_model_steps(const struct control_model *model)
{
    const struct edf_plan *plan = &model->plan;
    double workers = (double)model->cluster.workers;
    double all_s = plan->work_s / (workers * (double)model->cluster.cores);
    double steps = (double)plan->tasks;
    for (size_t j = 0; j < plan->n_jobs; j++) {
        double alive_s = fmax(model->actual[j].deadline_s, all_s + model->shortest_s[j]);
        steps += executors_at_a_time(model, j) * ceil(alive_s / model->options.controller.sample_s);
    }
    return steps;
}

#include "sample/simulate.h"

#include <math.h>

#include "base/rng.h"

static int64_t to_ms(double seconds)
{
    return (int64_t)llround(seconds * 1000.0);
}

/* --- task times --- */

static size_t simulate_count_tasks(const struct sample_stage *stage,
                                   const struct sample_application *application,
                                   int64_t problem_size,
                                   int64_t executors)
{
    switch (stage->tasks) {
    case SAMPLE_PER_SIZE:
        return (size_t)(stage->count * problem_size);
    case SAMPLE_PER_CORE:
        return (size_t)(stage->count * executors * application->cores_per_executor);
    case SAMPLE_PER_EXECUTOR:
        return (size_t)(stage->count * executors);
    case SAMPLE_COUNT:
        break;
    }
    return (size_t)stage->count;
}

/*
 * Shares of the stage's data: even, but a few partitions of a skewed stage hold more, the largest
 * about (1 + skew) times the mean. Normalised so that the sum is one a task.
 */
static void deal_shares(const struct sample_stage *stage, double shares[], size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        /* Where the heavy keys fall is a matter of hashing: spread them over the indices. */
        size_t rank = (i * 7 + 3) % n;
        shares[i] = 1.0 + stage->skew / (1.0 + 2.0 * (double)rank);
        sum += shares[i];
    }
    for (size_t i = 0; i < n; i++)
        shares[i] *= (double)n / sum;
}

/* Seconds of work of each task, before the executor's own speed. */
static void draw_work(const struct sample_run *run,
                      const struct sample_stage *stage,
                      struct rng *rng,
                      double seconds[],
                      size_t n)
{
    double mean_s = stage->seconds_per_size * (double)run->problem_size / (double)n;
    deal_shares(stage, seconds, n);
    for (size_t i = 0; i < n; i++) {
        double work_s =
            rng_lognormal(rng, seconds[i] * mean_s + stage->seconds_fixed, stage->sigma);
        bool straggles = rng_uniform(rng) < stage->straggler_share;
        seconds[i] = straggles ? work_s * stage->straggler_factor : work_s;
    }
}

/* --- the cluster --- */

struct cluster {
    int64_t *free_ms; /* one a core; executor = core / cores_per_executor */
    double *speed;    /* one an executor, around 1 */
    size_t cores;
    int64_t cores_per_executor;
};

static enum pv_code make_cluster(const struct sample_run *run,
                                 struct rng *rng,
                                 struct arena *arena,
                                 struct cluster *cluster,
                                 struct pv_error *err)
{
    size_t executors = (size_t)run->executors;
    cluster->cores_per_executor = run->application->cores_per_executor;
    cluster->cores = executors * (size_t)cluster->cores_per_executor;
    cluster->free_ms = arena_calloc(arena, cluster->cores, sizeof *cluster->free_ms);
    cluster->speed = arena_array(arena, executors, sizeof *cluster->speed);
    if (cluster->free_ms == NULL || cluster->speed == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < executors; i++)
        cluster->speed[i] = rng_lognormal(rng, 1.0, 0.03);
    return PV_OK;
}

static size_t first_free_core(const struct cluster *cluster)
{
    size_t first = 0;
    for (size_t i = 1; i < cluster->cores; i++)
        first = cluster->free_ms[i] < cluster->free_ms[first] ? i : first;
    return first;
}

/* --- scheduling --- */

static bool parents_done(const struct sample_stage *stage, const bool done[])
{
    for (int i = 0; i < SAMPLE_PARENTS_MAX && stage->parents[i] >= 0; i++)
        if (!done[stage->parents[i]])
            return false;
    return true;
}

static int64_t
latest_parent(const struct sample_run *run, const struct sample_stage *stage, int64_t at_ms)
{
    for (int i = 0; i < SAMPLE_PARENTS_MAX && stage->parents[i] >= 0; i++) {
        int64_t done_ms = run->stages[stage->parents[i]].completed_ms;
        at_ms = done_ms > at_ms ? done_ms : at_ms;
    }
    return at_ms;
}

/* Run the next task of a stage on the core that is free first. */
static void launch_task(struct sample_run *run,
                        struct cluster *cluster,
                        struct sample_stage_run *stage,
                        size_t index,
                        double work_s,
                        struct rng *rng)
{
    size_t core = first_free_core(cluster);
    size_t executor = core / (size_t)cluster->cores_per_executor;
    /* The driver needs a moment to launch a task, the executor one to unpack it. */
    double delay_s = 0.004 + 0.008 * rng_uniform(rng);
    double unpack_s = 0.010 + 0.030 * rng_uniform(rng);
    double run_s = work_s * cluster->speed[executor] * (1.0 + 0.001 * (double)run->executors);
    int64_t free_ms = cluster->free_ms[core];
    int64_t from_ms = free_ms > stage->submitted_ms ? free_ms : stage->submitted_ms;
    struct sample_task *task = &stage->tasks[index];
    task->launch_ms = from_ms + to_ms(delay_s);
    task->run_ms = to_ms(run_s) < 1 ? 1 : to_ms(run_s);
    task->finish_ms = task->launch_ms + to_ms(unpack_s) + task->run_ms;
    task->executor = (int32_t)executor;
    task->records = (int64_t)((double)stage->stage->records_per_size * (double)run->problem_size /
                              (double)stage->n_tasks);
    if (task->records < 1 && stage->stage->records_per_size > 0)
        task->records = 1;
    cluster->free_ms[core] = task->finish_ms;
    stage->completed_ms =
        task->finish_ms > stage->completed_ms ? task->finish_ms : stage->completed_ms;
}

static enum pv_code run_stage(struct sample_run *run,
                              struct cluster *cluster,
                              struct sample_stage_run *stage,
                              struct rng *rng,
                              struct arena *arena,
                              struct pv_error *err)
{
    double *work_s = arena_array(arena, stage->n_tasks, sizeof *work_s);
    stage->tasks = arena_calloc(arena, stage->n_tasks, sizeof *stage->tasks);
    if (work_s == NULL || stage->tasks == NULL)
        return pv_no_memory(err);
    draw_work(run, stage->stage, rng, work_s, stage->n_tasks);
    for (size_t i = 0; i < stage->n_tasks; i++)
        launch_task(run, cluster, stage, i, work_s[i], rng);
    stage->completed_ms += 2; /* the driver hears of the last task */
    return PV_OK;
}

/*
 * The stages of one job, first those with the lower number: as Spark's FIFO does, a later stage
 * whose parents are done takes the cores that an earlier one no longer needs.
 */
static enum pv_code run_job(struct sample_run *run,
                            struct cluster *cluster,
                            struct sample_job_run *job,
                            bool done[],
                            struct rng *rng,
                            struct arena *arena,
                            struct pv_error *err)
{
    job->completed_ms = job->submitted_ms;
    for (int s = job->first_stage; s <= job->last_stage; s++) {
        const struct sample_stage *stage = &run->application->stages[s];
        struct sample_stage_run *made = &run->stages[s];
        if (!parents_done(stage, done))
            return pv_fail(err, PV_E_INTERNAL, "a sample stage stands before its parents");
        made->stage = stage;
        made->n_tasks =
            simulate_count_tasks(stage, run->application, run->problem_size, run->executors);
        made->submitted_ms = latest_parent(run, stage, job->submitted_ms) + 6;
        PV_TRY(run_stage(run, cluster, made, rng, arena, err));
        done[s] = true;
        job->completed_ms =
            made->completed_ms > job->completed_ms ? made->completed_ms : job->completed_ms;
    }
    job->completed_ms += 3;
    return PV_OK;
}

static int last_stage_of(const struct sample_application *application, int first)
{
    int last = first;
    while (last + 1 < application->n_stages &&
           application->stages[last + 1].job == application->stages[first].job)
        last++;
    return last;
}

enum pv_code sample_simulate(const struct sample_application *application,
                             int64_t problem_size,
                             int64_t executors,
                             uint64_t seed,
                             struct arena *arena,
                             struct sample_run *run,
                             struct pv_error *err)
{
    struct rng rng = rng_make(seed, (uint64_t)problem_size << 20 ^ (uint64_t)executors);
    struct cluster cluster;
    bool done[SAMPLE_STAGES_MAX] = {false};
    *run = (struct sample_run){
        .application = application, .problem_size = problem_size, .executors = executors};
    double start_s = application->initialization_s * (0.9 + 0.2 * rng_uniform(&rng)) +
                     application->initialization_per_executor_s * (double)executors;
    run->registered_ms = to_ms(start_s * 0.8);
    int64_t now_ms = to_ms(start_s);
    PV_TRY(make_cluster(run, &rng, arena, &cluster, err));
    for (int s = 0; s < application->n_stages;) {
        struct sample_job_run *job = &run->jobs[run->n_jobs++];
        *job = (struct sample_job_run){
            .submitted_ms = now_ms, .first_stage = s, .last_stage = last_stage_of(application, s)};
        PV_TRY(run_job(run, &cluster, job, done, &rng, arena, err));
        now_ms = job->completed_ms +
                 to_ms(application->between_jobs_s * (0.8 + 0.4 * rng_uniform(&rng)));
        s = job->last_stage + 1;
    }
    run->ended_ms = now_ms;
    return PV_OK;
}

/*
 * Control simulations: milliseconds of the processor for 5 jobs of 12,000 tasks each on 4 workers
 * of 16 cores, under every strategy with gamma 0 and 1, and for the baselines.
 *
 *     bench_control [TASKS_PER_JOB]
 *
 * All strategies and gammas together should take under a second with 12,000 tasks a job; the status
 * is 1 when they do not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "core/control/baseline.h"
#include "core/control/simulation.h"

enum { JOBS = 5, STAGES = 12 };

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* A chain of stages of equal size, whose tasks last half a second on average. */
static bool make_job(struct arena *arena, size_t tasks, struct rng *rng, struct edf_job *job)
{
    struct edf_stage *stages = arena_calloc(arena, STAGES, sizeof *stages);
    size_t *parents = arena_array(arena, STAGES, sizeof *parents);
    for (size_t s = 0; stages != NULL && parents != NULL && s < STAGES; s++) {
        double *durations_s = arena_array(arena, tasks / STAGES, sizeof *durations_s);
        if (durations_s == NULL)
            return false;
        for (size_t t = 0; t < tasks / STAGES; t++)
            durations_s[t] = rng_lognormal(rng, 0.5, 0.4);
        parents[s] = s - 1;
        stages[s] = (struct edf_stage){.id = (int64_t)s,
                                       .parents = &parents[s],
                                       .n_parents = s > 0,
                                       .tasks = tasks / STAGES,
                                       .task_durations_s = durations_s};
    }
    job->stages = stages;
    job->n_stages = STAGES;
    return stages != NULL && parents != NULL;
}

static void print(const char *name, double gamma, double ms, const struct control_result *result)
{
    printf("%-18s %6.2f %10.1f %12.0f %8zu %8zu %10.2f %12.2f\n", name, gamma, ms, result->steps,
           result->metrics.advance, result->metrics.delayed, result->metrics.epsilon,
           result->metrics.utilization);
}

static bool run_all(const struct control_model *model,
                    double most_ms,
                    struct arena *arena,
                    struct arena *scratch)
{
    struct control_result result;
    double all_ms = 0;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        for (int gamma = 0; gamma <= 1; gamma++) {
            const struct control_run run = {&contention_strategies[s], gamma, 1e12};
            double began = cpu_ms();
            if (control_simulate(model, &run, NULL, NULL, arena, scratch, &result, NULL) != PV_OK)
                return false;
            all_ms += cpu_ms() - began;
            print(run.strategy->name, run.gamma, cpu_ms() - began, &result);
        }
    printf("%-18s %17.1f\n", "all of them", all_ms);
    for (size_t b = 0; b < CONTROL_BASELINES; b++) {
        double began = cpu_ms();
        if (control_baseline_run(&control_baselines[b], model, NULL, arena, scratch, &result,
                                 NULL) != PV_OK)
            return false;
        print(control_baselines[b].name, 0, cpu_ms() - began, &result);
    }
    return all_ms < most_ms;
}

int main(int argc, char **argv)
{
    size_t tasks = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 12000;
    const struct control_cluster cluster = {4, 16};
    struct control_options options = control_options_default();
    struct edf_job jobs[JOBS];
    struct control_job terms[JOBS];
    struct control_model model;
    struct arena arena;
    struct arena scratch;
    struct rng rng = rng_make(42, 0);
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    bool ok = true;
    for (size_t j = 0; j < JOBS; j++) {
        double alone_s = 0.5 * (double)tasks / 64;
        jobs[j] =
            (struct edf_job){.release_s = alone_s * 0.5 * (double)j, .deadline_s = alone_s * 6};
        terms[j] = (struct control_job){0.95, 1e5 * (double)(j + 1)};
        ok = ok && make_job(&arena, tasks, &rng, &jobs[j]);
    }
    printf("%-18s %6s %10s %12s %8s %8s %10s %12s\n", "", "gamma", "ms", "steps", "advance",
           "delayed", "epsilon", "utilization");
    double began = cpu_ms();
    ok = ok &&
         control_model_make(jobs, terms, JOBS, &cluster, &options, &arena, &model, NULL) == PV_OK;
    printf("%-18s %17.1f %12.0f\n", "model", cpu_ms() - began,
           ok ? control_model_steps(&model) : 0);
    ok = ok && run_all(&model, tasks <= 12000 ? 1000 : INFINITY, &arena, &scratch);
    arena_fini(&scratch);
    arena_fini(&arena);
    return ok ? 0 : 1;
}

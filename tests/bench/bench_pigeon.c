/*
 * Bags of tasks on workers: how fast schedulers are simulated, and what they do, on a trace of the
 * shared data (data/pigeon-traces).
 *
 *     bench_pigeon [TRACE [LOAD [TIMES]]]
 *
 * TRACE: NYH_trace90 unless given. The trace is taken TIMES times over, one after the other (10:
 * a million tasks of NYH), and its arrivals are those of a Poisson process that loads the workers
 * to LOAD (0.9). LOAD 0: arrivals as they stand in the trace, and the workers of
 * its nominal cluster.
 *
 * seconds are of the processor, for one simulation without its percentiles; outcome: seconds of
 * those. "Observed" is with queue lengths over time and the masters' messages, "in full" with a
 * layout in which nothing is different, so that every worker is kept by itself. Megabytes are of working memory, used and allowed for. Jobs are short when the mean
 * duration of their tasks is at most a second. Figures are seconds from arrival to last result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../golden/pigeon_trace.h"
#include "core/scheduling/pigeon_layout.h"
#include "core/scheduling/tasks_outcome.h"
#include "core/scheduling/tasks_simulation.h"

enum { SKIPPED = 77, BINS = 200 };

static double cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(bool done)
{
    if (done)
        return;
    (void)fprintf(stderr, "bench_pigeon: out of memory, or a fault\n");
    exit(1);
}

/* The trace again and again, each time with its own copy of the durations, as different jobs would
 * have. */
static void repeat(struct pigeon_trace *trace, long times, struct arena *arena)
{
    size_t n = trace->jobs.n;
    double span_s = n > 0 ? trace->jobs.items[n - 1].arrival_s : 0;
    for (long i = 1; i < times; i++)
        for (size_t j = 0; j < n; j++) {
            struct tasks_job *job = vector_add(arena, &trace->jobs);
            must(job != NULL);
            *job = trace->jobs.items[j];
            double *durations = arena_array(arena, job->tasks, sizeof *durations);
            must(durations != NULL);
            memcpy(durations, job->durations_s, job->tasks * sizeof *durations);
            job->durations_s = durations;
            job->arrival_s += span_s * (double)i;
        }
}

static void simulate(const struct tasks_model *model,
                     const struct tasks_terms *terms,
                     const struct tasks_observer *observer,
                     const char *name)
{
    const struct trial trial = {1, 0};
    struct tasks_result result;
    struct tasks_outcome outcome;
    struct arena arena;
    struct arena scratch;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    double began_s = cpu_s();
    must(tasks_simulate_observed(model, terms, &trial, 0, NULL, observer, &arena, &scratch, &result,
                                 NULL) == PV_OK);
    double simulated_s = cpu_s();
    must(tasks_outcome_of(model, &result, &scratch, &outcome, NULL) == PV_OK);
    double measured_s = cpu_s();
    const struct percentiles *s = &outcome.classes[TASKS_SHORT].completion_s;
    const struct percentiles *l = &outcome.classes[TASKS_LONG].completion_s;
    printf("%6u %-24s %7.3f %8.3f %6.2f %6.2f %6.1f %6.0f  %6.3g %6.3g %6.3g  %6.3g %6.3g %6.3g "
           "%7.4g %5.3f\n",
           model->workers, name, simulated_s - began_s, measured_s - simulated_s,
           1e-6 * (double)model->tasks / (simulated_s - began_s),
           1e-6 * (double)result.events / (simulated_s - began_s), 1e-6 * (double)result.memory,
           1e-6 * (double)tasks_simulation_memory(model, terms), s->p50, s->p90, s->p99, l->p50,
           l->p90, l->p99, outcome.classes[TASKS_ALL].completion_s.mean, outcome.utilization);
    arena_fini(&scratch);
    arena_fini(&arena);
}

static void simulate_observed(const struct tasks_model *model,
                              const struct tasks_terms *terms,
                              const char *name)
{
    struct arena arena;
    struct occupancy occupancy;
    arena_init(&arena, 0);
    double first_s = model->jobs[model->order[0]].arrival_s;
    struct tasks_master *masters = arena_calloc(&arena, terms->groups, sizeof *masters);
    must(masters != NULL &&
         occupancy_init(&occupancy, tasks_observer_series(2), BINS, first_s, &arena));
    const struct tasks_observer observer = {
        .occupancy = &occupancy, .classes = 2, .masters = masters};
    simulate(model, terms, &observer, name);
    arena_fini(&arena);
}

static void compare(const struct tasks_model *model, uint32_t group_size, double reserved_share)
{
    static const struct pigeon_layout nothing = {0};
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = model->workers / group_size;
    terms.reserved_share = reserved_share;
    terms.weight = TASKS_WEIGHT_INFINITE;
    simulate(model, &terms, NULL, "pigeon, strict priority");
    terms.weight = 20;
    simulate(model, &terms, NULL, "pigeon, weight 20");
    simulate_observed(model, &terms, "pigeon, observed");
    terms.layout = &nothing;
    simulate(model, &terms, NULL, "pigeon, in full");
    terms = tasks_terms_default(TASKS_CENTRALISED);
    terms.reserved_share = reserved_share;
    terms.weight = TASKS_WEIGHT_INFINITE;
    simulate(model, &terms, NULL, "centralised");
    terms = tasks_terms_default(TASKS_SPARROW);
    simulate(model, &terms, NULL, "sparrow");
    terms = tasks_terms_default(TASKS_EAGLE);
    simulate(model, &terms, NULL, "eagle");
}

static void at_load(const struct pigeon_trace *trace, uint32_t workers, double load)
{
    const struct trial trial = {1, 0};
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_job *jobs = arena_array(&arena, trace->jobs.n, sizeof *jobs);
    struct tasks_model model = {.workers = workers,
                                .communication_s = 0.0005,
                                .jobs = trace->jobs.items,
                                .n_jobs = (uint32_t)trace->jobs.n};
    must(jobs != NULL && tasks_model_complete(&model, &arena, NULL) == PV_OK);
    if (load > 0) {
        tasks_retime(&model, load, &trial, jobs);
        model.jobs = jobs;
    }
    compare(&model, load > 0 ? 100 : 30, load > 0 ? 0.05 : 0.1);
    arena_fini(&arena);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "NYH_trace90";
    double load = argc > 2 ? strtod(argv[2], NULL) : 0.9;
    long times = argc > 3 ? strtol(argv[3], NULL, 10) : 10;
    static const uint32_t workers[] = {3000, 10000, 20000};
    struct pigeon_trace trace = {0};
    struct arena arena;
    arena_init(&arena, 0);
    if (!pigeon_trace_read(&trace, getenv("PROVISOR_SHARED"), name, 1, &arena)) {
        printf("skipped: no trace %s (set PROVISOR_SHARED)\n", name);
        return SKIPPED;
    }
    repeat(&trace, times, &arena);
    printf("%s, %zu jobs, load %g\n", name, trace.jobs.n, load);
    printf("workers policy                   seconds outcome Mtask/s Mevt/s     MB at most  short "
           "p50    p90    p99  long p50    p90    p99    mean  util\n");
    if (load > 0)
        for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
            at_load(&trace, workers[i], load);
    else
        at_load(&trace, strncmp(name, "NGO", 3) == 0 ? 120 : 330, 0);
    arena_fini(&arena);
    return 0;
}

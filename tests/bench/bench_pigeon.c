/*
 * Bags of tasks on workers: how fast schedulers are simulated, and what they do, on traces of the
 * shared data (data/pigeon-traces).
 *
 *     bench_pigeon                       goals, growth
 *     bench_pigeon TRACE [LOAD [TIMES]]  what schedulers do
 *
 * goals: the traces at the workers of their nominal clusters and twice as many, arrivals as they
 * stand, beside what tasks a second should be: 2 million for Pigeon, and for Sparrow and Eagle 100
 * times what Eagle's simulator in Python makes of the same (data/peer-figures.md, section 2).
 *
 * growth: NYH_trace90 once, ten and a hundred times over (10 million tasks) on 20,000 workers at a
 * load of 0.9. Peak memory is the program's, traces included. The status is 1 when a goal is missed,
 * a task of the largest run takes more than twice the time of one of the smallest, or the peak is
 * 1 GB or more.
 *
 * Else the trace is taken TIMES times over (10), one after the other, and its arrivals are those of
 * a Poisson process that loads the workers to LOAD (0.9). LOAD 0: arrivals as they stand in the
 * trace, and the workers of its nominal cluster.
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
#include <sys/resource.h>
#include <time.h>

#include "../golden/pigeon_trace.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_outcome.h"
#include "core/scheduling/tasks/tasks_simulation.h"

enum { SKIPPED = 77, BINS = 200, RUNS = 5 };

static int missed;

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
    must(tasks_outcome_of(model, &result, NULL, &scratch, &outcome, NULL) == PV_OK);
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

static bool
read_trace(struct pigeon_trace *trace, const char *name, long times, struct arena *arena)
{
    if (!pigeon_trace_read(trace, getenv("PROVISOR_SHARED"), name, 1, arena)) {
        printf("skipped: no trace %s (set PROVISOR_SHARED)\n", name);
        return false;
    }
    repeat(trace, times, arena);
    return true;
}

/* --- what schedulers do --- */

static int show(const char *name, double load, long times)
{
    static const uint32_t workers[] = {3000, 10000, 20000};
    struct pigeon_trace trace = {0};
    struct arena arena;
    arena_init(&arena, 0);
    if (!read_trace(&trace, name, times, &arena))
        return SKIPPED;
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

/* --- goals --- */

/* Processor seconds of the fastest of some runs. */
static double
fastest_s(const struct tasks_model *model, const struct tasks_terms *terms, unsigned runs)
{
    double least_s = HUGE_VAL;
    for (unsigned i = 0; i < runs; i++) {
        const struct trial trial = {i + 1, 0};
        struct tasks_result result;
        struct arena arena;
        struct arena scratch;
        arena_init(&arena, 0);
        arena_init(&scratch, 0);
        double began_s = cpu_s();
        must(tasks_simulate(model, terms, &trial, 0, NULL, &arena, &scratch, &result, NULL) ==
             PV_OK);
        least_s = fmin(least_s, cpu_s() - began_s);
        arena_fini(&scratch);
        arena_fini(&arena);
    }
    return least_s;
}

/* Groups of so many workers, a tenth of them reserved, strict priority, as the traces were run. */
static struct tasks_terms
terms_of(enum tasks_policy_id policy, uint32_t workers, uint32_t group_size)
{
    struct tasks_terms terms = tasks_terms_default(policy);
    terms.groups = workers / group_size;
    terms.reserved_share = 0.1;
    terms.weight = TASKS_WEIGHT_INFINITE;
    return terms;
}

struct goal {
    const char *trace;
    uint32_t workers;
    enum tasks_policy_id policy;
    double tasks_per_s;
};

static const struct goal goals[] = {
    {"NYH_trace90", 330, TASKS_PIGEON, 2e6},
    {"NYH_trace90", 660, TASKS_PIGEON, 2e6},
    {"NYH_trace90", 330, TASKS_SPARROW, 100 * 25200},
    {"NYH_trace90", 660, TASKS_SPARROW, 100 * 24000},
    {"NGO_trace90", 120, TASKS_SPARROW, 100 * 13700},
    {"NYH_trace90", 330, TASKS_EAGLE, 100 * 2560},
    {"NYH_trace90", 660, TASKS_EAGLE, 100 * 16700},
    {"NGO_trace90", 120, TASKS_EAGLE, 100 * 2900},
};

static int compare_goal(const struct goal *goal)
{
    const struct tasks_terms terms = terms_of(goal->policy, goal->workers, 30);
    struct pigeon_trace trace = {0};
    struct arena arena;
    arena_init(&arena, 0);
    if (!read_trace(&trace, goal->trace, 1, &arena))
        return SKIPPED;
    struct tasks_model model = {.workers = goal->workers,
                                .communication_s = 0.0005,
                                .jobs = trace.jobs.items,
                                .n_jobs = (uint32_t)trace.jobs.n};
    must(tasks_model_complete(&model, &arena, NULL) == PV_OK);
    double rate = (double)model.tasks / fastest_s(&model, &terms, RUNS);
    printf("%-12s %7u %-8s %10.0f %10.0f %6.2f\n", goal->trace, goal->workers,
           tasks_policy_name(goal->policy), rate, goal->tasks_per_s, rate / goal->tasks_per_s);
    missed |= rate < goal->tasks_per_s;
    arena_fini(&arena);
    return 0;
}

static int compare_goals(void)
{
    printf("trace        workers policy      tasks/s       goal times\n");
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        if (compare_goal(&goals[i]) != 0)
            return SKIPPED;
    return 0;
}

/* --- growth --- */

static double peak_mb(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024e-6;
}

static const uint32_t GROWTH_WORKERS = 20000;
static const double GROWTH_LOAD = 0.9;
static const double GROWTH_MB = 1000;

/* Seconds a task of each policy. */
static int grow(long times, double task_s[TASKS_POLICIES])
{
    const struct trial trial = {1, 0};
    struct pigeon_trace trace = {0};
    struct arena arena;
    arena_init(&arena, 0);
    if (!read_trace(&trace, "NYH_trace90", times, &arena))
        return SKIPPED;
    struct tasks_model model = {.workers = GROWTH_WORKERS,
                                .communication_s = 0.0005,
                                .jobs = trace.jobs.items,
                                .n_jobs = (uint32_t)trace.jobs.n};
    must(tasks_model_complete(&model, &arena, NULL) == PV_OK);
    tasks_retime(&model, GROWTH_LOAD, &trial, trace.jobs.items);
    for (size_t p = 0; p < TASKS_POLICIES; p++) {
        struct tasks_terms terms = terms_of((enum tasks_policy_id)p, GROWTH_WORKERS, 100);
        task_s[p] = fastest_s(&model, &terms, times > 10 ? 1 : RUNS) / (double)model.tasks;
        printf("%9.0f %-12s %8.0f %8.2f %8.0f\n", (double)model.tasks,
               tasks_policy_name((enum tasks_policy_id)p), 1e9 * task_s[p], 1e-6 / task_s[p],
               peak_mb());
    }
    arena_fini(&arena);
    return 0;
}

static int compare_growth(void)
{
    double first_s[TASKS_POLICIES];
    double last_s[TASKS_POLICIES];
    printf("    tasks policy        ns/task  Mtask/s  peak MB\n");
    if (grow(1, first_s) != 0 || grow(10, last_s) != 0 || grow(100, last_s) != 0)
        return SKIPPED;
    for (size_t p = 0; p < TASKS_POLICIES; p++)
        missed |= last_s[p] > 2 * first_s[p];
    missed |= peak_mb() >= GROWTH_MB;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return show(argv[1], argc > 2 ? strtod(argv[2], NULL) : 0.9,
                    argc > 3 ? strtol(argv[3], NULL, 10) : 10);
    if (compare_goals() != 0 || compare_growth() != 0)
        return SKIPPED;
    return missed;
}

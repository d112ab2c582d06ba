/*
 * Two repetitions of a simulation on two cores, beside one after the other on one: how long they
 * take, for each policy.
 *
 *     bench_cores [ROUNDS]          rounds of all, of which each figure's least is shown (15)
 *
 * "Threads" are two of one process, as an operation has them (operation/parts.h), with progress that
 * is reported; they read the same jobs. "Processes" are two, which share nothing: what these lose to
 * one another is the machine's doing (caches, memory, two threads of one core), so that what threads
 * lose beyond it is the program's. Ratios are to one after the other. Faults are of pages, in the
 * second repetition of a thread. Bags of tasks are 60,000 that take 330 workers to nine tenths; jobs on
 * slots have 120,000 of distinct durations.
 *
 * Where it may, it goes before all other processes (SCHED_FIFO), for on a machine that others use as
 * well two threads wait for two cores where one waits for one, which says nothing of the program.
 *
 * The status is 1 when threads take more than 0.6 of the time, and more than processes by a twentieth.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "core/scheduling/slots/slots_engine.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "core/sim/variates.h"
#include "operation/parts.h"

enum { CORES = 2, ROUNDS = 15, BAGS = 3000, BAG = 20, SLOTS_JOBS = 2000, MAPS = 50, REDUCES = 10 };

static const double GOAL = 0.6;
static const double BEYOND = 1.05;

static struct arena given;
static struct tasks_model model = {.workers = 330, .communication_s = 0.0005};
static struct slots_job *slots_jobs;
static const struct slots_cluster cluster = {.slots = {600, 200}, .slow_start = 0.05};

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- what is simulated --- */

static const double *draw_durations(struct rng *rng, size_t n, double mean_s)
{
    double *drawn = need(arena_array(&given, n, sizeof *drawn));
    for (size_t i = 0; i < n; i++)
        drawn[i] = variate_uniform(rng, 0.5, 1.5) * mean_s;
    return drawn;
}

static void draw_bags(struct rng *rng)
{
    const struct trial trial = {1, 0};
    struct tasks_job *jobs = need(arena_array(&given, BAGS, sizeof *jobs));
    for (size_t j = 0; j < BAGS; j++) {
        bool is_long = j % 10 == 0;
        jobs[j] = (struct tasks_job){.durations_s = draw_durations(rng, BAG, is_long ? 20 : 0.5),
                                     .tasks = BAG,
                                     .is_long = is_long};
    }
    model.jobs = jobs;
    model.n_jobs = BAGS;
    if (tasks_model_complete(&model, &given, NULL) != PV_OK)
        abort();
    tasks_retime(&model, 0.9, &trial, jobs);
}

static void draw_slots_jobs(struct rng *rng)
{
    static const size_t tasks[SLOTS_KINDS] = {MAPS, REDUCES};
    slots_jobs = need(arena_array(&given, SLOTS_JOBS, sizeof *slots_jobs));
    for (size_t j = 0; j < SLOTS_JOBS; j++) {
        slots_jobs[j] = (struct slots_job){
            .arrival_s = 2 * (double)j, .predicted_size_s = (double)NAN, .shuffle_s = 5};
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            struct slots_tasks *list = need(arena_array(&given, tasks[kind], sizeof *list));
            const double *drawn = draw_durations(rng, tasks[kind], 20);
            for (size_t i = 0; i < tasks[kind]; i++)
                list[i] = (struct slots_tasks){drawn[i], 1};
            slots_jobs[j].task_lists[kind] = (struct slots_task_list){list, tasks[kind]};
        }
    }
}

struct row {
    const char *name;
    enum pv_code (*repeat)(size_t policy,
                           uint64_t repetition,
                           struct operation_part *part,
                           struct arena *scratch,
                           struct pv_error *err);
    size_t policy;
};

static bool report_tasks(void *part, uint64_t tasks)
{
    return operation_part_goes_on(part, (int64_t)tasks);
}

static enum pv_code repeat_tasks(size_t policy,
                                 uint64_t repetition,
                                 struct operation_part *part,
                                 struct arena *scratch,
                                 struct pv_error *err)
{
    const struct tasks_progress progress = {report_tasks, part};
    struct tasks_terms terms = tasks_terms_default((enum tasks_policy_id)policy);
    const struct trial trial = {1, repetition};
    struct tasks_result result;
    terms.groups = 11;
    return tasks_simulate(&model, &terms, &trial, 0, &progress, scratch, scratch, &result, err);
}

static bool report_slots(void *part, size_t tasks)
{
    return operation_part_goes_on(part, (int64_t)tasks);
}

static enum pv_code repeat_slots(size_t policy,
                                 uint64_t repetition,
                                 struct operation_part *part,
                                 struct arena *scratch,
                                 struct pv_error *err)
{
    static const double limits_s[] = {1000};
    const struct slots_progress progress = {report_slots, part};
    const struct slots_terms terms = {.policy = slots_policies[policy],
                                      .limits_s = limits_s,
                                      .n_limits = 1,
                                      .concurrency = 8,
                                      .tau1 = FRESH_TAU1,
                                      .tau2 = FRESH_TAU2,
                                      .ema_weight = OMO_EMA_WEIGHT,
                                      .window_s = OMO_WINDOW_S,
                                      .lazy_start = true,
                                      .batch_finish = true};
    struct slots_job_times *times = need(arena_array(scratch, SLOTS_JOBS, sizeof *times));
    (void)repetition;
    return slots_simulate(&cluster, slots_jobs, SLOTS_JOBS, &terms, &progress, scratch, times, err);
}

static const struct row rows[] = {
    {"pigeon", repeat_tasks, TASKS_PIGEON},   {"centralised", repeat_tasks, TASKS_CENTRALISED},
    {"sparrow", repeat_tasks, TASKS_SPARROW}, {"eagle", repeat_tasks, TASKS_EAGLE},
    {"fifo", repeat_slots, SLOTS_FIFO},       {"fair", repeat_slots, SLOTS_FAIR},
    {"fbq", repeat_slots, SLOTS_FBQ},         {"fresh", repeat_slots, SLOTS_FRESH},
    {"omo", repeat_slots, SLOTS_OMO},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* --- one after the other, and side by side --- */

struct work {
    const struct row *row;
    uint64_t first;
    long faults[CORES]; /* of each repetition, where there is one at a time */
};

static long faults_so_far(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static enum pv_code repeat(void *context,
                           size_t index,
                           struct operation_part *part,
                           struct arena *scratch,
                           int64_t *done,
                           struct pv_error *err)
{
    struct work *work = context;
    long before = faults_so_far();
    enum pv_code code =
        work->row->repeat(work->row->policy, work->first + index, part, scratch, err);
    *done = 1;
    work->faults[index] = faults_so_far() - before;
    return code;
}

/* So many repetitions on so many threads. */
static void carry_out(struct work *work, size_t n, size_t threads)
{
    struct arena arena;
    struct progress_flags flags;
    struct operation_run run = {.arena = &arena, .flags = &flags};
    const struct operation_parts parts = {
        .n = n, .threads = threads, .total = (int64_t)n, .work = repeat, .context = work};
    arena_init(&arena, 0);
    progress_flags_reset(&flags);
    if (operation_parts_run(&run, &parts, NULL) != PV_OK)
        abort();
    arena_fini(&arena);
}

static double one_after_the_other(const struct row *row, long *faults)
{
    struct work work = {.row = row};
    double began_s = now_s();
    carry_out(&work, CORES, 1);
    *faults = work.faults[CORES - 1];
    return now_s() - began_s;
}

static double by_threads(const struct row *row)
{
    struct work work = {.row = row};
    double began_s = now_s();
    carry_out(&work, CORES, CORES);
    return now_s() - began_s;
}

static double by_processes(const struct row *row)
{
    pid_t children[CORES];
    double began_s = now_s();
    for (uint64_t i = 0; i < CORES; i++) {
        children[i] = fork();
        if (children[i] < 0)
            abort();
        if (children[i] == 0) {
            struct work work = {.row = row, .first = i};
            carry_out(&work, 1, 1);
            _exit(0);
        }
    }
    for (size_t i = 0; i < CORES; i++)
        (void)waitpid(children[i], NULL, 0);
    return now_s() - began_s;
}

struct figures {
    double one_s, threads_s, processes_s;
    long faults;
};

static bool print(const struct row *row, const struct figures *least)
{
    double threads = least->threads_s / least->one_s;
    double processes = least->processes_s / least->one_s;
    printf("%-12s %10.1f %8.2f %10.2f %7ld\n", row->name, 1e3 * least->one_s, threads, processes,
           least->faults);
    return threads <= GOAL || threads <= BEYOND * processes;
}

int main(int argc, char **argv)
{
    static const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(1, purpose, 1);
    struct figures least[ROWS];
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    const struct sched_param first = {.sched_priority = 1};
    bool alone = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
    bool met = true;
    arena_init(&given, 0);
    draw_bags(&rng);
    draw_slots_jobs(&rng);
    for (size_t i = 0; i < ROWS; i++)
        least[i] = (struct figures){HUGE_VAL, HUGE_VAL, HUGE_VAL, 0};
    for (long round = 0; round < rounds; round++)
        for (size_t i = 0; i < ROWS; i++) {
            least[i].one_s = fmin(least[i].one_s, one_after_the_other(&rows[i], &least[i].faults));
            least[i].threads_s = fmin(least[i].threads_s, by_threads(&rows[i]));
            least[i].processes_s = fmin(least[i].processes_s, by_processes(&rows[i]));
        }
    printf("%s\n", alone ? "before all other processes" : "beside other processes");
    printf("policy       one after the other ms, on two cores: threads, processes; page faults\n");
    for (size_t i = 0; i < ROWS; i++)
        met = print(&rows[i], &least[i]) && met;
    arena_fini(&given);
    return met ? 0 : 1;
}

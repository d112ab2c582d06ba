/*
 * Thousands of jobs that arrive at one instant: tasks a second of the processor under each policy
 * that looks among those that wait, and how that changes with their number.
 *
 *     bench_bursts [LARGEST]        jobs at most (25600)
 *
 * "tasks": each job has 100 tasks of 1 s, or, every second job, of 2 s, which makes it long; 100
 * workers, 10 probes a task. "slots": each job has 20 maps and 4 reduces of its own durations, 100
 * slots of each kind; as many jobs are in a phase as there are. The status is 1 when a task of the
 * largest run takes more than three times as long as one of the smallest, by its weight in the limit
 * of simulated tasks (slots_terms_weight).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "core/scheduling/slots/slots_engine.h"
#include "core/scheduling/tasks/tasks_simulation.h"

enum {
    SMALLEST = 400,
    LARGEST = 25600,
    GROWTH = 4,
    TASKS = 100,
    WORKERS = 100,
    MAPS = 20,
    REDUCES = 4
};

static const double SLOWER_MAX = 3;

static double cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

/* Both return seconds a task; *weight: what it counts for. */

static double simulate_tasks(size_t policy, uint32_t n, double *weight)
{
    static double durations_s[2][TASKS];
    struct tasks_terms terms = tasks_terms_default((enum tasks_policy_id)policy);
    const struct trial trial = {1, 0};
    struct tasks_result result;
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_job *jobs = need(arena_array(&arena, n, sizeof *jobs));
    for (size_t i = 0; i < TASKS; i++) {
        durations_s[0][i] = 1;
        durations_s[1][i] = 2;
    }
    for (uint32_t j = 0; j < n; j++)
        jobs[j] = (struct tasks_job){
            .durations_s = durations_s[j % 2], .tasks = TASKS, .is_long = j % 2 == 1};
    struct tasks_model model = {
        .workers = WORKERS, .communication_s = 0.0005, .jobs = jobs, .n_jobs = n};
    terms.probes_per_task = 10;
    if (tasks_model_complete(&model, &arena, NULL) != PV_OK)
        abort();
    double began_s = cpu_s();
    if (tasks_simulate(&model, &terms, &trial, 0, NULL, &arena, &arena, &result, NULL) != PV_OK)
        abort();
    double took_s = cpu_s() - began_s;
    arena_fini(&arena);
    *weight = 1;
    return took_s / (TASKS * (double)n);
}

static double simulate_slots(size_t policy, uint32_t n, double *weight)
{
    static const size_t tasks[SLOTS_KINDS] = {MAPS, REDUCES};
    const struct slots_cluster cluster = {.slots = {100, 100}, .slow_start = 0.05};
    const struct slots_terms terms = {.policy = slots_policies[policy],
                                      .concurrency = n,
                                      .tau1 = FRESH_TAU1,
                                      .tau2 = FRESH_TAU2,
                                      .ema_weight = OMO_EMA_WEIGHT,
                                      .window_s = OMO_WINDOW_S,
                                      .lazy_start = true,
                                      .batch_finish = true};
    struct arena arena;
    arena_init(&arena, 0);
    struct slots_job *jobs = need(arena_array(&arena, n, sizeof *jobs));
    struct slots_job_times *times = need(arena_array(&arena, n, sizeof *times));
    for (uint32_t j = 0; j < n; j++) {
        jobs[j] = (struct slots_job){.predicted_size_s = (double)NAN, .shuffle_s = 1};
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            struct slots_tasks *list = need(arena_array(&arena, 1, sizeof *list));
            *list = (struct slots_tasks){1 + (double)((j * 7919 + 31 * kind) % 1009) / 100,
                                         tasks[kind]};
            jobs[j].task_lists[kind] = (struct slots_task_list){list, 1};
        }
    }
    double began_s = cpu_s();
    if (slots_simulate(&cluster, jobs, n, &terms, NULL, &arena, times, NULL) != PV_OK)
        abort();
    double took_s = cpu_s() - began_s;
    arena_fini(&arena);
    *weight = slots_terms_weight(&terms, &cluster, n);
    return took_s / ((MAPS + REDUCES) * (double)n);
}

struct row {
    const char *kind;
    double (*simulate)(size_t policy, uint32_t n, double *weight);
    size_t policy;
};

static const struct row rows[] = {
    {"tasks", simulate_tasks, TASKS_CENTRALISED}, {"tasks", simulate_tasks, TASKS_SPARROW},
    {"tasks", simulate_tasks, TASKS_EAGLE},       {"slots", simulate_slots, SLOTS_FAIR},
    {"slots", simulate_slots, SLOTS_FRESH},       {"slots", simulate_slots, SLOTS_OMO},
};

static const char *policy_name(const struct row *row)
{
    return row->simulate == simulate_tasks ? tasks_policy_name((enum tasks_policy_id)row->policy)
                                           : slots_policies[row->policy]->name;
}

int main(int argc, char **argv)
{
    uint32_t largest = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : LARGEST;
    bool missed = false;
    printf("kind  policy         jobs    ns/task      tasks/s   weight\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        double first_s = HUGE_VAL;
        double last_s = 0;
        for (uint32_t n = SMALLEST; n <= largest; n *= GROWTH) {
            double weight;
            double task_s = row->simulate(row->policy, n, &weight);
            last_s = task_s / weight;
            first_s = n == SMALLEST ? last_s : first_s;
            printf("%-5s %-11s %7u %10.0f %12.0f %8.3g\n", row->kind, policy_name(row), n,
                   1e9 * task_s, 1 / task_s, weight);
            (void)fflush(stdout);
        }
        missed |= last_s > SLOWER_MAX * first_s;
    }
    return missed;
}

/*
 * Clairvoyance EDF: time and memory of one schedule of 50 jobs of 20 stages on 1,024 cores, from
 * 10^4 to 10^7 tasks; every task's duration different, the same with placements observed, and all
 * tasks of a stage equal. One row a process of its own, so that memory is that row's.
 *
 * Then the remedies of 50 jobs with 10^5 tasks, all different, that miss some deadlines: seconds of
 * each search within the budget of `remedy_task_budget`, and what was found.
 *
 *     bench_edf [TASKS_MAX]
 *
 * seconds are of the processor. bytes/task: growth of the resident set over the whole row (the
 * durations that the caller holds, 8 bytes each, and working memory). scratch: bytes of working
 * memory alone, all of the schedule's own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/deadline/edf_changes.h"
#include "core/deadline/edf_delays.h"

enum { JOBS = 50, STAGES = 20, CORES = 1024 };

struct workload {
    struct edf_job jobs[JOBS];
    struct edf_stage stages[JOBS][STAGES];
    size_t parents[JOBS][STAGES][2];
    double *durations;
};

static double random_unit(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Stage k follows k - 1, or k - 2 where that leaves two branches. */
static void add_stage(struct workload *load, size_t j, size_t s, size_t tasks)
{
    struct edf_stage *stage = &load->stages[j][s];
    *stage = (struct edf_stage){.id = (int64_t)s, .tasks = tasks, .parents = load->parents[j][s]};
    if (s > 0)
        load->parents[j][s][stage->n_parents++] = s % 3 == 2 && s > 1 ? s - 2 : s - 1;
    if (s % 3 == 0 && s > 1)
        load->parents[j][s][stage->n_parents++] = s - 2;
}

static void make_workload(struct workload *load, size_t tasks, bool equal)
{
    uint64_t state = 42;
    size_t at = 0;
    for (size_t j = 0; j < JOBS; j++) {
        for (size_t s = 0; s < STAGES; s++) {
            size_t end = tasks * (j * STAGES + s + 1) / (JOBS * STAGES);
            add_stage(load, j, s, end - at);
            load->stages[j][s].task_duration_s = 1 + random_unit(&state);
            if (!equal)
                load->stages[j][s].task_durations_s = &load->durations[at];
            /* Long-tailed, as recorded tasks are. */
            for (; at < end; at++)
                if (!equal)
                    load->durations[at] = 0.5 + pow(1 - random_unit(&state), -0.5);
        }
        double all = 2.5 * (double)tasks / CORES;
        load->jobs[j] = (struct edf_job){.release_s = all / JOBS * (double)j * 0.5,
                                         .deadline_s = 1 + all * random_unit(&state),
                                         .overhead_per_task_s = 0.01,
                                         .stages = load->stages[j],
                                         .n_stages = STAGES};
    }
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

struct seen {
    const struct arena *scratch;
    size_t tasks;
    size_t scratch_bytes;
};

static bool count(void *context, const struct edf_placement *placement)
{
    struct seen *seen = context;
    seen->tasks += placement->core < CORES;
    seen->scratch_bytes = seen->scratch->total;
    return true;
}

static int run_row(size_t tasks, const char *kind, bool equal, bool observed)
{
    double before = peak_bytes();
    struct workload *load = calloc(1, sizeof *load);
    if (load == NULL || (load->durations = malloc((equal ? 1 : tasks) * sizeof(double))) == NULL)
        return 1;
    make_workload(load, tasks, equal);
    struct arena scratch;
    arena_init(&scratch, 0);
    struct edf_outcome outcomes[JOBS];
    struct edf_metrics metrics;
    struct seen seen = {&scratch, 0, 0};
    const struct edf_observer observer = {count, &seen};
    double began = cpu_s();
    enum pv_code code = edf_schedule(load->jobs, JOBS, CORES, &scratch, outcomes, &metrics,
                                     observed ? &observer : NULL, NULL);
    double took = cpu_s() - began;
    double bytes = peak_bytes() - before;
    printf("%10zu  %-20s %10.4f %9.1f %11.1f", tasks, kind, took, 1e9 * took / (double)tasks,
           bytes / (double)tasks);
    if (observed)
        printf(" %9zu", seen.scratch_bytes);
    else
        printf(" %9s", "");
    printf(" %8.3f %5zu\n", metrics.utilization, metrics.advance);
    arena_fini(&scratch);
    free(load->durations);
    free(load);
    return code == PV_OK && (!observed || seen.tasks == tasks) ? 0 : 1;
}

static int in_own_process(size_t tasks, const char *kind, bool equal, bool observed)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int failed = run_row(tasks, kind, equal, observed);
        fflush(stdout);
        _exit(failed);
    }
    int status;
    return child < 0 || waitpid(child, &status, 0) < 0 || status != 0;
}

/* --- remedies --- */

enum { REMEDY_TASKS = 100000, REMEDY_BUDGET = 5000000 };

/* Jobs released one after another, whose deadlines allow them their critical path and this many
 * times their fair share of the cores, some of them up to ten times as much. */
static void make_infeasible(struct workload *load, size_t cores, double room)
{
    uint64_t state = 7;
    size_t t = 0;
    make_workload(load, REMEDY_TASKS, false);
    for (size_t j = 0; j < JOBS; j++) {
        double work = 0;
        double path = 0;
        for (size_t s = 0; s < STAGES; s++) {
            double longest = 0;
            for (size_t end = t + load->stages[j][s].tasks; t < end; t++) {
                work += load->durations[t];
                longest = fmax(longest, load->durations[t]);
            }
            path += longest;
        }
        double fair = work / (double)cores * room;
        load->jobs[j].release_s = work / (double)cores * (double)j * 0.9;
        load->jobs[j].deadline_s = path + fair * (1 + 9 * random_unit(&state));
    }
}

static void print_list(const char *name, const struct edf_change_list *list)
{
    printf("  %-20s %3zu job%s%s%s", name, list->n, list->n == 1 ? "" : "s",
           list->exact ? ", exact" : "", list->irreducible ? ", irreducible" : "");
    if (list->total_s > 0)
        printf(", %.6g s together", list->total_s);
    printf("\n");
}

static int run_remedies(size_t cores, double room)
{
    struct workload *load = calloc(1, sizeof *load);
    if (load == NULL || (load->durations = malloc(REMEDY_TASKS * sizeof(double))) == NULL)
        return 1;
    make_infeasible(load, cores, room);
    struct arena arena;
    struct arena scratch;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    struct edf_outcome outcomes[JOBS];
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays delays[JOBS];
    double began = cpu_s();
    bool good =
        edf_schedule(load->jobs, JOBS, cores, &scratch, outcomes, &metrics, NULL, NULL) == PV_OK &&
        edf_find_remedies(load->jobs, JOBS, cores, REMEDY_BUDGET, &arena, &scratch, &remedies,
                          NULL) == PV_OK;
    double first = cpu_s();
    good = good && edf_find_changes(load->jobs, JOBS, cores, remedies.deadlines_s, REMEDY_BUDGET,
                                    &arena, &scratch, &changes, NULL) == PV_OK;
    double second = cpu_s();
    good = good && edf_find_delays(load->jobs, JOBS, cores, outcomes, &arena, &scratch, delays,
                                   NULL) == PV_OK;
    double third = cpu_s();
    if (good) {
        double raised = 0;
        for (size_t j = 0; j < JOBS; j++)
            if (remedies.deadlines_s[j] > 0)
                raised += remedies.deadlines_s[j] - load->jobs[j].deadline_s;
        printf("%zu cores, %zu of %d jobs late: cores and deadlines %.3f s, changes %.3f s, delays "
               "%.3f s, in all %.3f s\n",
               cores, metrics.delayed, JOBS, first - began, second - first, third - second,
               third - began);
        printf("  raise and replay     %.6g s together; cores %zu%s\n", raised,
               remedies.min_total_cores, remedies.exact ? "" : " (cut)");
        print_list("one later deadline", &changes.one_later_deadline);
        print_list("later deadlines", &changes.later_deadlines);
        print_list("one later release", &changes.one_later_release);
        print_list("later releases", &changes.later_releases);
        printf("  %-20s %3zu job%s%s%s\n", "left out", changes.left_out.n,
               changes.left_out.n == 1 ? "" : "s", changes.left_out.exact ? ", exact" : "",
               changes.left_out.irreducible ? ", irreducible" : "");
    }
    arena_fini(&arena);
    arena_fini(&scratch);
    free(load->durations);
    free(load);
    return !good;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 10000000;
    int failed = 0;
    printf("%d jobs of %d stages, %d cores\n", JOBS, STAGES, CORES);
    printf("%10s  %-20s %10s %9s %11s %9s %8s %5s\n", "tasks", "durations", "seconds", "ns/task",
           "bytes/task", "scratch", "busy", "met");
    for (size_t tasks = 10000; tasks <= most && tasks <= 10000000; tasks *= 10) {
        failed |= in_own_process(tasks, "all different", false, false);
        failed |= in_own_process(tasks, "different, observed", false, true);
        failed |= in_own_process(tasks, "equal in a stage", true, false);
    }
    const double rooms[] = {1, 0.8, 0.5};
    printf("\nremedies of %d jobs with %d tasks, all different\n", JOBS, REMEDY_TASKS);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        failed |= run_remedies(64, rooms[i]);
        failed |= run_remedies(CORES / 4, rooms[i]);
    }
    return failed;
}

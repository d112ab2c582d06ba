/*
 * Published traces as workloads, beside what data/README.md and data/peer-figures.md say of them:
 * counts, work, percentiles to the digits printed there; at most 6 bytes a task; and, loaded again,
 * every duration of Pigeon's traces as strtod reads it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pigeon_trace.h"
#include "stored_trace.h"

enum { SKIPPED = 77 };

static int faults;

struct expected {
    const char *path; /* under data */
    enum workload_format format;
    double jobs, maps, reduces;
    double last_arrival_s;
    double work_s, work_error;
    double offered_slots;           /* to a digit behind the point; NAN: not stated */
    double job_tasks[4];            /* p50, p90, p99, max; NAN as the first: not stated */
    double job_mean_s[4];           /* to three digits */
    double map_only, without_input; /* jobs of swim */
};

#define NGO {1, 1, 31, 98}, {0.354, 1.01, 26.1, 98.2}, 0, 0
#define NYH {14, 47, 86, 100}, {0.165, 1.00, 34.1, 57.2}, 0, 0
#define UNSTATED                                                                                   \
    {(double)NAN},                                                                                 \
    {                                                                                              \
        (double)NAN                                                                                \
    }

static const struct expected traces[] = {
    {"pigeon-traces/NGO_trace50", WORKLOAD_PIGEON, 5001, 10291, 0, 607.621, 36257, 0.5, 59.7, NGO},
    {"pigeon-traces/NGO_trace70", WORKLOAD_PIGEON, 5001, 10291, 0, 434.015, 36257, 0.5, 83.5, NGO},
    {"pigeon-traces/NGO_trace90", WORKLOAD_PIGEON, 5001, 10291, 0, 337.567, 36257, 0.5, 107.4, NGO},
    {"pigeon-traces/NYH_trace50", WORKLOAD_PIGEON, 5001, 100350, 0, 607.621, 100085, 0.5, 164.7,
     NYH},
    {"pigeon-traces/NYH_trace90", WORKLOAD_PIGEON, 5001, 100350, 0, 337.567, 100085, 0.5, 296.5,
     NYH},
    /* Tasks and work as bench_slots derives them. */
    {"swim/FB-2009_samples_24_times_1hr_0.tsv", WORKLOAD_SWIM, 5894, 425463, 87902, 86404,
     5484738.95, 0.01, (double)NAN, UNSTATED, 4448, 86},
};

static void check(const char *path, const char *what, double found, double expected, double error)
{
    if (fabs(found - expected) <= error)
        return;
    printf("# %s: %s is %.10g, not %.10g\n", path, what, found, expected);
    faults++;
}

static void check_digits(const char *path,
                         const char *what,
                         const struct workload_distribution *found,
                         const double expected[4])
{
    const double values[] = {found->p50, found->p90, found->p99, found->max};
    for (int i = 0; i < 4 && !isnan(expected[0]); i++)
        check(path, what, values[i], expected[i], 0.5 * pow(10, floor(log10(expected[i])) - 2));
}

/* false: there is no such trace. */
static bool
read_trace(const char *root, const struct expected *expected, struct stored_trace *trace)
{
    const struct workload_terms terms = {expected->format, workload_rates_default};
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/data/%s", root, expected->path);
    return stored_trace_read(trace, path, &terms);
}

static void check_summary(const struct expected *e, const struct workload_summary *s)
{
    double tasks = (double)(s->tasks[WORKLOAD_TASKS] + s->tasks[WORKLOAD_REDUCES]);
    check(e->path, "jobs", (double)s->jobs, e->jobs, 0);
    check(e->path, "tasks", (double)s->tasks[WORKLOAD_TASKS], e->maps, 0);
    check(e->path, "reduces", (double)s->tasks[WORKLOAD_REDUCES], e->reduces, 0);
    check(e->path, "last_arrival_s", s->last_arrival_s, e->last_arrival_s, 0);
    check(e->path, "work_s", s->work_s, e->work_s, e->work_error);
    if (!isnan(e->offered_slots))
        check(e->path, "offered_slots", s->offered_slots, e->offered_slots, 0.05);
    check_digits(e->path, "job_tasks", &s->job_tasks, e->job_tasks);
    check_digits(e->path, "job_mean_s", &s->job_mean_s, e->job_mean_s);
    check(e->path, "warnings", (double)s->warnings.n, 0, 0);
    check(e->path, "bytes a task", (double)s->encoded_bytes / tasks, 3, 3);
    printf("# %s: %.2f bytes a task, tail index %.2f of %d jobs, largest 1%% %.3f, 10%% %.3f\n",
           e->path, (double)s->encoded_bytes / tasks, s->tail_index, (int)s->tail_jobs,
           s->largest_1_share, s->largest_10_share);
}

/* As another reader has it, to the last bit. */
static void
check_pigeon(const char *root, const struct expected *e, const struct workload_jobs *jobs)
{
    struct pigeon_trace trace = {0};
    struct arena arena;
    double differing = 0;
    arena_init(&arena, 0);
    if (!pigeon_trace_read(&trace, root, strchr(e->path, '/') + 1, 1, &arena))
        abort();
    check(e->path, "jobs read", (double)trace.jobs.n, (double)jobs->n, 0);
    for (size_t j = 0; j < jobs->n && j < trace.jobs.n; j++) {
        const struct tasks_job *one = &trace.jobs.items[j];
        const struct tasks_job *other = &jobs->tasks[j];
        differing += one->arrival_s != other->arrival_s || one->tasks != other->tasks ||
                     memcmp(one->durations_s, other->durations_s,
                            one->tasks * sizeof *one->durations_s) != 0;
    }
    check(e->path, "jobs that differ", differing, 0, 0);
    arena_fini(&arena);
}

static void check_swim(const struct expected *e, const struct workload_jobs *jobs)
{
    double map_only = 0;
    double longest_map_s = 0;
    for (size_t j = 0; j < jobs->n; j++) {
        const struct slots_task_list *maps = &jobs->slots[j].task_lists[SLOTS_MAP];
        map_only += jobs->slots[j].task_lists[SLOTS_REDUCE].n == 0;
        for (size_t i = 0; i < maps->n; i++)
            longest_map_s = fmax(longest_map_s, maps->tasks[i].duration_s);
    }
    check(e->path, "jobs without reduces", map_only, e->map_only, 0);
    /* A block of 64 MB at 10 MB/s, and a second. */
    check(e->path, "longest map", longest_map_s, 7.4, 7.4 * 0x1p-24);
}

static void check_trace(const char *root, const struct expected *e, struct stored_trace *trace)
{
    const struct workload_summary *summary = &trace->summary;
    bool swim = e->format == WORKLOAD_SWIM;
    struct workload_jobs jobs =
        stored_trace_load(trace, swim ? WORKLOAD_FOR_SLOTS : WORKLOAD_FOR_TASKS);
    check_summary(e, summary);
    check(e->path, "rounding_error", summary->rounding_error, swim ? 0x1p-24 : 0, 0);
    if (swim) {
        check_swim(e, &jobs);
        check(e->path, "jobs with input", (double)summary->size_law.jobs,
              e->jobs - e->without_input, 0);
    } else {
        check_pigeon(root, e, &jobs);
    }
}

int main(void)
{
    const char *root = getenv("PROVISOR_SHARED");
    if (root == NULL)
        root = SHARED_DEFAULT;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct stored_trace trace;
        if (!read_trace(root, &traces[i], &trace)) {
            printf("skipped: no trace %s in %s (set PROVISOR_SHARED)\n", traces[i].path, root);
            return SKIPPED;
        }
        check_trace(root, &traces[i], &trace);
        stored_trace_end(&trace);
    }
    return faults == 0 ? 0 : 1;
}

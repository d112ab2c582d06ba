#include "slowdown_workloads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/scheduling/slots/slots_outcome.h"
#include "evidence.h"

const struct slots_cluster slowdown_cluster = {.slots = {600, 200}, .slow_start = 0.05};

const struct slowdown_bounds slowdown_workloads[SLOWDOWN_WORKLOADS] = {
    [SLOWDOWN_ALL_BUT_ONE] = {"all jobs but one", 0, 1e12},
    [SLOWDOWN_ALL] = {"all jobs", 0, HUGE_VAL},
    [SLOWDOWN_LIKE_THEIRS] = {"7 MB to 150 GB", 7e6, 150e9},
};

/* --- jobs --- */

bool slowdown_trace_read(struct stored_trace *trace, char path[], size_t path_bytes)
{
    static const struct workload_terms terms = {WORKLOAD_SWIM,
                                                {.map_bytes = 128e6,
                                                 .reduce_bytes = 1e9,
                                                 .map_bytes_per_s = 6e6,
                                                 .shuffle_bytes_per_s = 10e6,
                                                 .output_bytes_per_s = 20e6,
                                                 .task_overhead_s = 15}};
    const char *shared = getenv("PROVISOR_SHARED");
    (void)snprintf(path, path_bytes, "%s/data/swim/FB-2009_samples_24_times_1hr_0.tsv",
                   shared != NULL ? shared : SHARED_DEFAULT);
    return stored_trace_read(trace, path, &terms);
}

static struct slowdown_workload select_jobs(const struct workload_jobs *all,
                                            const double input_bytes[],
                                            const struct slowdown_bounds *bounds,
                                            struct arena *arena)
{
    struct slowdown_workload workload = {0};
    workload.jobs = evidence_need(arena_array(arena, all->n, sizeof *workload.jobs));
    for (size_t i = 0; i < all->n; i++) {
        if (input_bytes[i] < bounds->least_bytes || input_bytes[i] > bounds->most_bytes)
            continue;
        double size_s = slots_job_size(&all->slots[i]);
        workload.jobs[workload.n++] = all->slots[i];
        workload.work_s += size_s;
        running_moments_add(&workload.sizes_s, size_s);
    }
    workload.runtime_s = evidence_need(arena_array(arena, workload.n, sizeof *workload.runtime_s));
    if (slots_runtimes_alone(&slowdown_cluster, workload.jobs, workload.n, NULL, arena,
                             workload.runtime_s, NULL) != PV_OK)
        abort();
    return workload;
}

void slowdown_select(struct stored_trace *trace,
                     struct slowdown_workload selected[SLOWDOWN_WORKLOADS])
{
    struct workload_jobs all = stored_trace_load(trace, WORKLOAD_FOR_SLOTS);
    double *input_bytes = evidence_need(arena_array(&trace->arena, all.n, sizeof *input_bytes));
    stored_trace_input(trace, input_bytes);
    for (size_t w = 0; w < SLOWDOWN_WORKLOADS; w++)
        selected[w] = select_jobs(&all, input_bytes, &slowdown_workloads[w], &trace->arena);
}

/* --- how uneven they are --- */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The share of jobs, the largest ones, that have half of the work. */
static double share_with_half(const struct slowdown_workload *workload, struct arena *scratch)
{
    double *sizes_s = evidence_need(arena_array(scratch, workload->n, sizeof *sizes_s));
    double sum_s = 0;
    size_t jobs = 0;
    for (size_t i = 0; i < workload->n; i++)
        sizes_s[i] = slots_job_size(&workload->jobs[i]);
    qsort(sizes_s, workload->n, sizeof *sizes_s, falling);
    while (sum_s < workload->work_s / 2)
        sum_s += sizes_s[jobs++];
    return (double)jobs / (double)workload->n;
}

static double squared_variation(const struct running_moments *moments)
{
    return running_moments_variance(moments) / (moments->mean * moments->mean);
}

static void print_workload(const struct slowdown_bounds *bounds,
                           const struct slowdown_workload *workload,
                           struct arena *scratch)
{
    struct running_moments runtimes_s = {0};
    for (size_t i = 0; i < workload->n; i++)
        running_moments_add(&runtimes_s, workload->runtime_s[i]);
    printf("| %s | %zu | %.1f | %.1f | %.1f | %.1f %% | %.0f |\n", bounds->name, workload->n,
           workload->sizes_s.mean, squared_variation(&workload->sizes_s),
           squared_variation(&runtimes_s), 100 * share_with_half(workload, scratch),
           runtimes_s.mean * runtimes_s.n / 3600);
}

void slowdown_print_workloads(const struct slowdown_workload selected[SLOWDOWN_WORKLOADS],
                              struct arena *scratch)
{
    evidence_begin("slowdown workloads");
    printf("| jobs by input | jobs | mean size s | squared variation of sizes | of runtimes | jobs "
           "with half of the work | runtimes h |\n|---|---|---|---|---|---|---|\n");
    for (size_t w = 0; w < SLOWDOWN_WORKLOADS; w++)
        print_workload(&slowdown_workloads[w], &selected[w], scratch);
    evidence_end();
}

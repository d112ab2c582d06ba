#include "core/scheduling/slots/slots_outcome.h"

#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/comparison/fairness.h"
#include "core/scheduling/slots/slots_resources.h"
#include "core/sim/statistics.h"

/* Jobs between two reports. */
enum { REPORT_EVERY = 256 };

/* The progress of one job after others. */
struct progress_alone {
    const struct slots_progress *progress;
    size_t before; /* tasks */
};

static bool report_alone(void *context, size_t tasks)
{
    const struct progress_alone *alone = context;
    return alone->progress->report(alone->progress->context, alone->before + tasks);
}

/* What is enough for any task of a job. */
static struct slots_resources largest_request(const struct slots_job *job)
{
    struct slots_resources largest = {1, 1}; /* no request is for less */
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        const struct slots_resources *request = &job->requests[kind];
        if (job->task_lists[kind].n > 0 && request->vcores > largest.vcores)
            largest.vcores = request->vcores;
        if (job->task_lists[kind].n > 0 && request->memory_bytes > largest.memory_bytes)
            largest.memory_bytes = request->memory_bytes;
    }
    return largest;
}

/* How many of the first nodes have room for containers of all tasks of a job at one time: as each of
 * them holds as many of its largest ones, no task finds these nodes full. */
static size_t nodes_alone(const struct slots_cluster *cluster, const struct slots_job *job)
{
    const struct slots_resources largest = largest_request(job);
    uint64_t wanted = slots_tasks_count(&job->task_lists[SLOTS_MAP]) +
                      slots_tasks_count(&job->task_lists[SLOTS_REDUCE]);
    size_t n = 0;
    while (n < cluster->n_nodes && wanted > 0) {
        uint64_t held = slots_resources_count(&largest, &cluster->nodes[n++].room);
        wanted -= held < wanted ? held : wanted;
    }
    return n;
}

/* The first nodes that have slots for all tasks of a job at one time: it never has others. */
static struct slots_cluster cluster_alone(const struct slots_cluster *cluster,
                                          const struct slots_job *job)
{
    struct slots_cluster alone = *cluster;
    size_t wanted[SLOTS_KINDS];
    alone.incidents = NULL;
    alone.n_incidents = 0;
    alone.n_nodes = slots_cluster_has_room(cluster) ? nodes_alone(cluster, job) : 0;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        wanted[kind] = slots_tasks_count(&job->task_lists[kind]);
    while (!slots_cluster_has_room(cluster) && alone.n_nodes < cluster->n_nodes &&
           (alone.n_nodes == 0 || wanted[SLOTS_MAP] > 0 || wanted[SLOTS_REDUCE] > 0)) {
        const size_t *slots = cluster->nodes[alone.n_nodes++].slots;
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            wanted[kind] -= slots[kind] < wanted[kind] ? slots[kind] : wanted[kind];
    }
    for (size_t kind = 0; alone.n_nodes > 0 && kind < SLOTS_KINDS; kind++) {
        alone.slots[kind] = 0;
        for (size_t i = 0; i < alone.n_nodes; i++)
            alone.slots[kind] += alone.nodes[i].slots[kind];
    }
    return alone;
}

/* No other containers than the job's. */
static void
take_sizes(const struct slots_job *job, struct slots_resources sizes[], struct slots_cluster *alone)
{
    struct slots_resources wanted[SLOTS_KINDS];
    size_t n = 0;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        if (job->task_lists[kind].n > 0)
            wanted[n++] = job->requests[kind];
    alone->n_sizes = slots_resources_sizes(wanted, n, sizes);
    alone->sizes = sizes;
}

static enum pv_code run_alone(const struct slots_cluster *cluster,
                              const struct slots_job jobs[],
                              size_t n,
                              const struct slots_progress *progress,
                              struct arena *scratch,
                              double runtime_s[],
                              struct pv_error *err)
{
    const struct slots_terms fifo = {.policy = &slots_policy_fifo};
    struct progress_alone so_far = {progress, 0};
    const struct slots_progress inner = {report_alone, &so_far};
    struct slots_traffic traffic = {.steps = 0};
    const struct slots_observer observer = {.traffic = &traffic};
    size_t steps_left = cluster->network_steps_max;
    for (size_t i = 0; i < n; i++) {
        struct slots_job alone = jobs[i];
        struct slots_job_times times;
        struct slots_resources sizes[SLOTS_KINDS];
        struct slots_cluster part = cluster_alone(cluster, &alone);
        if (slots_cluster_has_room(cluster))
            take_sizes(&alone, sizes, &part);
        alone.arrival_s = 0;
        part.network_steps_max = steps_left;
        PV_TRY(slots_simulate_observed(&part, &alone, 1, &fifo, progress != NULL ? &inner : NULL,
                                       &observer, scratch, &times, err));
        if (steps_left > 1)
            steps_left = traffic.steps < steps_left ? steps_left - traffic.steps : 1;
        traffic.steps = 0;
        runtime_s[i] = times.finish_s;
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            so_far.before += slots_tasks_count(&alone.task_lists[kind]);
        if (progress != NULL && i % REPORT_EVERY == 0 && !report_alone(&so_far, 0))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    return PV_OK;
}

enum pv_code slots_runtimes_alone(const struct slots_cluster *cluster,
                                  const struct slots_job jobs[],
                                  size_t n,
                                  const struct slots_progress *progress,
                                  struct arena *scratch,
                                  double runtime_s[],
                                  struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = run_alone(cluster, jobs, n, progress, scratch, runtime_s, err);
    arena_rewind(scratch, mark);
    return code;
}

static struct slots_breakdown break_down(const struct slots_job_times times[], size_t n)
{
    struct compensated_sum map_only = {0, 0};
    struct compensated_sum overlap = {0, 0};
    struct compensated_sum shuffle_only = {0, 0};
    double jobs = 0;
    for (size_t i = 0; i < n; i++) {
        const struct slots_job_times *of = &times[i];
        if (isnan(of->reduce_start_s))
            continue;
        jobs++;
        compensated_sum_add(&map_only,
                            fmax(0, fmin(of->reduce_start_s, of->map_end_s) - of->start_s));
        compensated_sum_add(&overlap, fmax(0, of->map_end_s - of->reduce_start_s));
        compensated_sum_add(&shuffle_only,
                            fmax(0, of->shuffle_end_s - fmax(of->map_end_s, of->reduce_start_s)));
    }
    if (!(jobs > 0))
        return (struct slots_breakdown){(double)NAN, (double)NAN, (double)NAN};
    return (struct slots_breakdown){compensated_sum_value(&map_only) / jobs,
                                    compensated_sum_value(&overlap) / jobs,
                                    compensated_sum_value(&shuffle_only) / jobs};
}

struct slots_mean_network slots_network_once(const struct slots_traffic *traffic, double makespan_s)
{
    double none = (double)NAN;
    if (traffic->links == 0)
        return (struct slots_mean_network){none, none, none, none};
    return (struct slots_mean_network){traffic->link_bytes, traffic->local_bytes,
                                       traffic->busy_s / ((double)traffic->links * makespan_s),
                                       traffic->busiest_s / makespan_s};
}

static void take_figures(const struct slots_cluster *cluster,
                         const struct slots_job jobs[],
                         size_t n,
                         const struct slots_job_times times[],
                         struct slots_outcome *outcome)
{
    struct compensated_sum work = {0, 0};
    struct fairness fairness = {.n = 0};
    double first_s = HUGE_VAL;
    double last_s = 0;
    for (size_t i = 0; i < n; i++) {
        double size_s = slots_job_size(&jobs[i]);
        compensated_sum_add(&work, size_s);
        fairness_add(&fairness, size_s / (times[i].finish_s - jobs[i].arrival_s));
        first_s = fmin(first_s, jobs[i].arrival_s);
        last_s = fmax(last_s, times[i].finish_s);
    }
    double slots =
        slots_cluster_capacity(cluster, SLOTS_MAP) + slots_cluster_capacity(cluster, SLOTS_REDUCE);
    outcome->breakdown = break_down(times, n);
    outcome->makespan_s = last_s - first_s;
    outcome->utilization = compensated_sum_value(&work) / (slots * outcome->makespan_s);
    if (slots_cluster_has_room(cluster))
        outcome->utilization = slots_resources_busy_s(cluster, jobs, n, true) / outcome->makespan_s;
    outcome->fairness = fairness_index(&fairness);
}

enum pv_code slots_summarize(const struct slots_cluster *cluster,
                             const struct slots_job jobs[],
                             size_t n,
                             const struct slots_job_times times[],
                             const double runtime_s[],
                             struct arena *scratch,
                             double slowdown[],
                             struct slots_outcome *outcome,
                             struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct slots_outcome found = {0};
    double *sojourn_s = arena_array(scratch, n, sizeof *sojourn_s);
    for (size_t i = 0; sojourn_s != NULL && i < n; i++) {
        sojourn_s[i] = rounding_elapsed(jobs[i].arrival_s, times[i].finish_s, runtime_s[i]);
        slowdown[i] = sojourn_s[i] / runtime_s[i];
    }
    bool made = sojourn_s != NULL && percentiles_of(sojourn_s, n, scratch, &found.completion_s) &&
                percentiles_of(slowdown, n, scratch, &found.slowdown);
    arena_rewind(scratch, mark);
    if (!made)
        return pv_no_memory(err);
    take_figures(cluster, jobs, n, times, &found);
    found.slowdown_variability_95 = found.slowdown.p95 / found.slowdown.p50;
    *outcome = found;
    return PV_OK;
}

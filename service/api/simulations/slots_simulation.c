#include "api/simulations/slots_simulation.h"

#include <math.h>

#include "api/simulations/comparison_limits.h"
#include "api/simulations/comparison_progress.h"
#include "api/simulations/slots_simulation_search.h"
#include "api/simulations/workload_jobs.h"

/* Jobs that a thread simulates alone at a time. */
enum { JOBS_ALONE = 64 };

/* Of steps for the network; jobs take more than in proportion to their tasks. */
enum { SHARE_ALONE = 4 };

/* --- what is asked --- */

enum pv_code slots_simulation_read(const struct codec_node *top,
                                   const struct config *config,
                                   const struct workload_summary *workload,
                                   struct writer *w,
                                   struct pv_error *err)
{
    const struct codec_comparison_limits limits = comparison_limits(config, workload);
    struct codec_slots_simulation *asked = arena_calloc(top->reader->arena, 1, sizeof *asked);
    if (asked == NULL)
        return pv_no_memory(err);
    codec_slots_simulation_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    codec_slots_simulation_encode(w, asked);
    return PV_OK;
}

/* --- the work --- */

/* What one attempt has in hand. */
struct slots_work {
    struct operation_run *run;
    struct codec_slots_simulation *asked;
    struct workload_jobs_source source;
    struct slots_comparison comparison;
    double *runtime_s;         /* of each job, alone */
    struct policy_cell *cells; /* n */
    struct slots_cell *made;   /* by cell */
    size_t n;
    const struct policy_search_found *found; /* of each load; NULL: no search was asked for */
};

static bool slots_goes_on(void *context, size_t tasks)
{
    return comparison_goes_on(context, (double)tasks);
}

/* What a simulation counts for; of what a search has yet to find, the tasks. */
static double slots_work_of(const struct slots_work *work, size_t load, size_t policy)
{
    const struct slots_comparison *comparison = &work->comparison;
    bool known = policy < work->asked->common.n_policies || comparison->found != NULL;
    double weight = known ? slots_terms_weight(slots_comparison_terms(comparison, load, policy),
                                               &comparison->cluster, comparison->n_jobs)
                          : 1;
    double tasks = (double)comparison->tasks;
    return weight * tasks + slots_cluster_incident_tasks(&comparison->cluster, tasks) +
           comparison->network_tasks;
}

static int64_t slots_work_of_all(const struct slots_work *work)
{
    const struct policy_comparison *plan = &work->comparison.plan;
    int64_t sum = 0;
    for (size_t l = 0; l < policy_comparison_loads(plan); l++)
        for (size_t p = 0; p < plan->n_policies; p++)
            sum += (int64_t)policy_comparison_repetitions(plan, p) *
                   (int64_t)slots_work_of(work, l, p);
    return sum;
}

/* All jobs alone may take as much of the network as a simulation of them, each about by its tasks. */
static struct slots_cluster slots_cluster_alone(const struct slots_comparison *comparison,
                                                double tasks)
{
    struct slots_cluster cluster = comparison->cluster;
    double share = fmin(1, SHARE_ALONE * tasks / (double)comparison->tasks);
    cluster.network_steps_max = 1 + (size_t)((double)cluster.network_steps_max * share);
    return cluster;
}

static enum pv_code slots_run_alone(void *context,
                                    size_t index,
                                    struct operation_part *part,
                                    struct arena *scratch,
                                    int64_t *done,
                                    struct pv_error *err)
{
    struct slots_work *work = context;
    const struct slots_comparison *comparison = &work->comparison;
    struct comparison_progress so_far = comparison_progress(part, 1, 1);
    const struct slots_progress progress = {slots_goes_on, &so_far};
    size_t first = index * JOBS_ALONE;
    size_t left = comparison->n_jobs - first;
    size_t n = left < JOBS_ALONE ? left : JOBS_ALONE;
    for (size_t i = first; i < first + n; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            *done += (int64_t)slots_tasks_count(&comparison->jobs[i].task_lists[kind]);
    const struct slots_cluster cluster = slots_cluster_alone(comparison, (double)*done);
    return slots_runtimes_alone(&cluster, comparison->jobs + first, n, &progress, scratch,
                                work->runtime_s + first, err);
}

static enum pv_code slots_run_cell(void *context,
                                   size_t index,
                                   struct operation_part *part,
                                   struct arena *scratch,
                                   int64_t *done,
                                   struct pv_error *err)
{
    struct slots_work *work = context;
    const struct policy_cell *cell = &work->cells[index];
    double counted = slots_work_of(work, cell->load, cell->policy);
    struct comparison_progress so_far =
        comparison_progress(part, (double)work->comparison.tasks, counted);
    const struct slots_progress progress = {slots_goes_on, &so_far};
    *done = (int64_t)counted;
    return slots_comparison_run(&work->comparison, cell, &progress, scratch, &work->made[index],
                                err);
}

/* Each job alone, then the search, which goes by that, then what is found among the policies. */
static enum pv_code slots_run_all(struct slots_work *work, struct pv_error *err)
{
    const struct config *config = work->run->config;
    int64_t tasks = (int64_t)work->comparison.tasks;
    struct operation_parts parts = {.n = (work->comparison.n_jobs + JOBS_ALONE - 1) / JOBS_ALONE,
                                    .threads = (size_t)config->simulation_threads,
                                    .total = tasks + slots_work_of_all(work),
                                    .unit = "tasks",
                                    .scratch_bytes_max =
                                        (size_t)config->simulation_memory_bytes_max,
                                    .work = slots_run_alone,
                                    .context = work};
    PV_TRY(operation_parts_run(work->run, &parts, err));
    parts.before = tasks;
    PV_TRY(slots_simulation_search(work->run, work->asked, &work->comparison, &parts.before,
                                   slots_work_of_all(work), &work->found, err));
    parts.n = work->n;
    parts.total = parts.before + slots_work_of_all(work);
    parts.work = slots_run_cell;
    return operation_parts_run(work->run, &parts, err);
}

/* --- before and after --- */

/* Copies, and tasks that are lost with their nodes, have slots more often than once. */
static size_t slots_spans_room(size_t tasks)
{
    return tasks + tasks / 4 + 64;
}

/* Room for fairness over time and for who held the slots. false: no memory. */
static bool slots_add_over_time(struct slots_work *work, struct slots_detail *detail)
{
    struct arena *arena = work->run->arena;
    unsigned include = work->asked->common.include;
    bool fairness = (include & COMPARISON_INCLUDE_FAIRNESS) != 0;
    bool occupancy = (include & COMPARISON_INCLUDE_OCCUPANCY) != 0;
    detail->fairness = fairness ? arena_array(arena, 1, sizeof *detail->fairness) : NULL;
    detail->spans = occupancy ? arena_array(arena, 1, sizeof *detail->spans) : NULL;
    return (!fairness || detail->fairness != NULL) &&
           (!occupancy ||
            (detail->spans != NULL &&
             slots_spans_init(detail->spans, slots_spans_room(work->comparison.tasks), arena)));
}

/* Room for what the result has of the first repetition. false: no memory. */
static bool slots_add_first(struct slots_work *work, struct slots_cell *made)
{
    struct arena *arena = work->run->arena;
    size_t n = work->comparison.n_jobs;
    unsigned include = work->asked->common.include;
    bool jobs = (include & COMPARISON_INCLUDE_JOBS) != 0;
    bool queues = (include & COMPARISON_INCLUDE_QUEUES) != 0;
    bool distribution = (include & COMPARISON_INCLUDE_DISTRIBUTIONS) != 0;
    made->times = jobs ? arena_array(arena, n, sizeof *made->times) : NULL;
    made->slowdown = jobs ? arena_array(arena, n, sizeof *made->slowdown) : NULL;
    made->detail->queues = queues ? arena_array(arena, 1, sizeof *made->detail->queues) : NULL;
    made->detail->distribution =
        distribution ? arena_array(arena, 1, sizeof *made->detail->distribution) : NULL;
    return (!jobs || (made->times != NULL && made->slowdown != NULL)) &&
           (!queues || made->detail->queues != NULL) &&
           (!distribution || made->detail->distribution != NULL) &&
           slots_add_over_time(work, made->detail);
}

/* Room for what the result has beside figures. false: no memory. */
static bool slots_add_room(struct slots_work *work)
{
    struct slots_detail *details = arena_calloc(work->run->arena, work->n, sizeof *details);
    for (size_t i = 0; details != NULL && i < work->n; i++) {
        work->made[i].detail = &details[i];
        if (work->cells[i].repetition == 0 && !slots_add_first(work, &work->made[i]))
            return false;
    }
    return details != NULL;
}

/* The request, and the jobs of the workload that it names. */
static enum pv_code
slots_read_again(struct slots_work *work, const struct codec_node *top, struct pv_error *err)
{
    const struct config *config = work->run->config;
    struct workload_jobs jobs;
    PV_TRY(workload_jobs_find(&work->source, work->run, top, err));
    const struct codec_comparison_limits limits =
        comparison_limits_again(config, workload_jobs_summary(&work->source));
    codec_slots_simulation_decode(top, &limits, work->asked);
    PV_TRY(codec_result(top->reader));
    if (limits.workload == NULL)
        return PV_OK;
    const struct workload_load_terms terms = codec_slots_simulation_load_terms(work->asked);
    PV_TRY(workload_jobs_load(&work->source, &terms, &jobs, err));
    return codec_slots_simulation_load(work->asked, &jobs, &work->source.arena, err);
}

static enum pv_code slots_prepare(struct slots_work *work, struct pv_error *err)
{
    struct arena *arena = work->run->arena;
    struct slots_comparison *comparison = &work->comparison;
    PV_TRY(codec_slots_simulation_take(work->asked, arena, comparison, err));
    work->runtime_s = arena_array(arena, comparison->n_jobs, sizeof *work->runtime_s);
    comparison->runtime_s = work->runtime_s;
    work->cells = policy_cells(&comparison->plan, arena, &work->n);
    work->made = arena_calloc(arena, work->n, sizeof *work->made);
    if (work->runtime_s == NULL || work->cells == NULL || work->made == NULL ||
        !slots_add_room(work))
        return pv_no_memory(err);
    return PV_OK;
}

static enum pv_code
slots_write(const struct slots_work *work, struct strview *result, struct pv_error *err)
{
    struct arena *arena = work->run->arena;
    const struct policy_load *loads = slots_comparison_conclude(
        &work->comparison, work->made, work->asked->common.objective, arena);
    const struct codec_slots_result made = {work->asked, &work->comparison, loads, work->found};
    struct writer w;
    if (loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_slots_result_encode(&w, &made);
    result->at = writer_finish(&w, &result->n);
    return result->at == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code slots_simulation_run(struct operation_run *run,
                                  const struct codec_node *top,
                                  struct strview *result,
                                  struct pv_error *err)
{
    struct slots_work work = {.run = run};
    work.asked = arena_calloc(run->arena, 1, sizeof *work.asked);
    if (work.asked == NULL)
        return pv_no_memory(err);
    enum pv_code code = slots_read_again(&work, top, err);
    if (code == PV_OK)
        code = slots_prepare(&work, err);
    if (code == PV_OK)
        code = slots_run_all(&work, err);
    if (code == PV_OK)
        code = slots_write(&work, result, err);
    workload_jobs_close(&work.source);
    return code;
}

#include "api/simulations/tasks_simulation.h"

#include <math.h>

#include "api/simulations/comparison_limits.h"
#include "api/simulations/comparison_progress.h"
#include "api/simulations/tasks_simulation_search.h"
#include "api/simulations/workload_jobs.h"

/* --- what is asked --- */

enum pv_code tasks_simulation_read(const struct codec_node *top,
                                   const struct config *config,
                                   const struct workload_summary *workload,
                                   struct writer *w,
                                   struct pv_error *err)
{
    const struct codec_comparison_limits limits = comparison_limits(config, workload);
    struct codec_tasks_simulation *asked = arena_calloc(top->reader->arena, 1, sizeof *asked);
    if (asked == NULL)
        return pv_no_memory(err);
    codec_tasks_simulation_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    codec_tasks_simulation_encode(w, asked);
    return PV_OK;
}

/* --- the work --- */

/* What one attempt has in hand. */
struct tasks_work {
    struct operation_run *run;
    struct codec_tasks_simulation *asked;
    struct workload_jobs_source source;
    struct tasks_comparison comparison;
    struct policy_cell *cells; /* n */
    struct tasks_cell *made;   /* by cell */
    size_t n;
    const struct policy_search_found *found; /* of each load; NULL: no search was asked for */
};

static bool tasks_go_on(void *context, uint64_t tasks)
{
    return comparison_goes_on(context, (double)tasks);
}

/* What a simulation counts for; of what a search has yet to find, at most. */
static double tasks_work_of(const struct tasks_work *work, size_t load, size_t policy)
{
    const struct tasks_comparison *comparison = &work->comparison;
    const struct tasks_tried *tried = &work->asked->tried;
    double most = 0;
    if (policy < work->asked->common.n_policies || comparison->found != NULL)
        return tasks_comparison_work(comparison->model,
                                     tasks_comparison_terms(comparison, load, policy));
    for (size_t i = 0; i < tried->n; i++)
        most = fmax(most, tasks_comparison_work(comparison->model, &tried->terms[i]));
    return most;
}

static int64_t tasks_work_of_all(const struct tasks_work *work)
{
    const struct policy_comparison *plan = &work->comparison.plan;
    int64_t sum = 0;
    for (size_t l = 0; l < policy_comparison_loads(plan); l++)
        for (size_t p = 0; p < plan->n_policies; p++)
            sum += (int64_t)policy_comparison_repetitions(plan, p) *
                   (int64_t)tasks_work_of(work, l, p);
    return sum;
}

static enum pv_code tasks_run_cell(void *context,
                                   size_t index,
                                   struct operation_part *part,
                                   struct arena *scratch,
                                   int64_t *done,
                                   struct pv_error *err)
{
    struct tasks_work *work = context;
    const struct policy_cell *cell = &work->cells[index];
    double counted = tasks_work_of(work, cell->load, cell->policy);
    struct comparison_progress so_far =
        comparison_progress(part, (double)work->comparison.model->tasks, counted);
    const struct tasks_progress progress = {tasks_go_on, &so_far};
    *done = (int64_t)counted;
    return tasks_comparison_run(&work->comparison, cell, &progress, scratch, &work->made[index],
                                err);
}

/* --- before and after --- */

/* false: no memory, as below. */
static bool tasks_add_jobs(struct tasks_work *work, struct tasks_cell *made)
{
    size_t n = work->asked->n_jobs;
    made->start_s = arena_array(work->run->arena, n, 3 * sizeof *made->start_s);
    if (made->start_s == NULL)
        return false;
    made->finish_s = made->start_s + n;
    made->slowdown = made->finish_s + n;
    return true;
}

/* Room for what the result has beside figures, which is of the first repetition. */
static bool tasks_add_room(struct tasks_work *work)
{
    struct arena *arena = work->run->arena;
    unsigned include = work->asked->common.include;
    bool queues = (include & COMPARISON_INCLUDE_QUEUES) != 0;
    bool distributions = (include & COMPARISON_INCLUDE_DISTRIBUTIONS) != 0;
    for (size_t i = 0; i < work->n; i++) {
        struct tasks_cell *made = &work->made[i];
        if (work->cells[i].repetition > 0)
            continue;
        struct tasks_detail *detail = arena_calloc(arena, 1, sizeof *detail);
        if (detail == NULL)
            return false;
        made->detail = detail;
        detail->queues = queues ? arena_array(arena, 1, sizeof *detail->queues) : NULL;
        detail->distributions =
            distributions ? arena_calloc(arena, TASKS_CLASSES, sizeof *detail->distributions)
                          : NULL;
        if ((queues && detail->queues == NULL) ||
            (distributions && detail->distributions == NULL) ||
            ((include & COMPARISON_INCLUDE_JOBS) != 0 && !tasks_add_jobs(work, made)))
            return false;
    }
    return true;
}

/* The request, and the jobs of the workload that it names. */
static enum pv_code
tasks_read_again(struct tasks_work *work, const struct codec_node *top, struct pv_error *err)
{
    const struct config *config = work->run->config;
    struct workload_jobs jobs;
    PV_TRY(workload_jobs_find(&work->source, work->run, top, err));
    const struct codec_comparison_limits limits =
        comparison_limits_again(config, workload_jobs_summary(&work->source));
    codec_tasks_simulation_decode(top, &limits, work->asked);
    PV_TRY(codec_result(top->reader));
    if (limits.workload == NULL)
        return PV_OK;
    const struct workload_load_terms terms = codec_tasks_simulation_load_terms(work->asked);
    PV_TRY(workload_jobs_load(&work->source, &terms, &jobs, err));
    return codec_tasks_simulation_load(work->asked, &jobs, &work->source.arena, err);
}

/* The cells to simulate, and room for what comes of them. */
static enum pv_code tasks_lay_out(struct tasks_work *work, struct pv_error *err)
{
    struct arena *arena = work->run->arena;
    work->cells = policy_cells(&work->comparison.plan, arena, &work->n);
    work->made = arena_calloc(arena, work->n, sizeof *work->made);
    if (work->cells == NULL || work->made == NULL || !tasks_add_room(work))
        return pv_no_memory(err);
    return PV_OK;
}

/* The search comes first: what it finds is compared with the policies, and whether that draws
 * random numbers decides how often it is simulated. */
static enum pv_code tasks_run_all(struct tasks_work *work, struct pv_error *err)
{
    const struct config *config = work->run->config;
    int64_t done = 0;
    work->comparison = codec_tasks_simulation_take(work->asked);
    PV_TRY(tasks_simulation_search(work->run, work->asked, &work->comparison, &done,
                                   tasks_work_of_all(work), &work->found, err));
    PV_TRY(tasks_lay_out(work, err));
    const struct operation_parts parts = {.n = work->n,
                                          .threads = (size_t)config->simulation_threads,
                                          .before = done,
                                          .total = done + tasks_work_of_all(work),
                                          .unit = "tasks",
                                          .scratch_bytes_max =
                                              (size_t)config->simulation_memory_bytes_max,
                                          .work = tasks_run_cell,
                                          .context = work};
    return operation_parts_run(work->run, &parts, err);
}

static enum pv_code
tasks_write(const struct tasks_work *work, struct strview *result, struct pv_error *err)
{
    struct arena *arena = work->run->arena;
    const struct policy_load *loads = tasks_comparison_conclude(
        &work->comparison, work->made, work->asked->common.objective, arena);
    const struct codec_tasks_result made = {work->asked, &work->comparison, loads, work->found};
    struct writer w;
    if (loads == NULL)
        return pv_no_memory(err);
    writer_init(&w, arena);
    codec_tasks_result_encode(&w, &made);
    result->at = writer_finish(&w, &result->n);
    return result->at == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code tasks_simulation_run(struct operation_run *run,
                                  const struct codec_node *top,
                                  struct strview *result,
                                  struct pv_error *err)
{
    struct tasks_work work = {.run = run};
    work.asked = arena_calloc(run->arena, 1, sizeof *work.asked);
    if (work.asked == NULL)
        return pv_no_memory(err);
    enum pv_code code = tasks_read_again(&work, top, err);
    if (code == PV_OK)
        code = tasks_run_all(&work, err);
    if (code == PV_OK)
        code = tasks_write(&work, result, err);
    workload_jobs_close(&work.source);
    return code;
}

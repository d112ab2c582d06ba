#include "api/simulations/geo_simulation.h"

#include <math.h>
#include <stdio.h>

/* --- what is asked --- */

enum pv_code geo_simulation_read(const struct codec_node *top,
                                 const struct config *config,
                                 const struct workload_summary *workload,
                                 struct writer *w,
                                 struct pv_error *err)
{
    const struct codec_simulation_limits limits = {
        .workflows = (size_t)config->simulation_workflows_max,
        .tasks = (size_t)config->simulation_tasks_max,
        .workflow_tasks = (size_t)config->simulation_workflow_tasks_max,
        .clusters = (size_t)config->simulation_clusters_max,
        .runs = (size_t)config->simulation_runs_max,
        .task_runs = (size_t)config->simulation_task_runs_max,
        .templates = (size_t)config->simulation_templates_max,
        .operations = (size_t)config->simulation_operations_max};
    struct codec_simulation *asked = arena_calloc(top->reader->arena, 1, sizeof *asked);
    (void)workload;
    if (asked == NULL)
        return pv_no_memory(err);
    codec_simulation_decode(top, &limits, asked);
    PV_TRY(codec_result(top->reader));
    codec_simulation_encode(w, asked);
    return PV_OK;
}

/* --- the work --- */

/* What one attempt has in hand. One policy at one arrival rate is carried out at a time, in memory
 * of its own that is given back before the next. */
struct simulation {
    struct operation_run *run;
    struct codec_simulation *asked;
    struct geosim_world world;
    struct geosim_workload workload; /* at the arrival rate that is at hand */
    struct codec_simulation_outcome *outcomes;
    struct comparison_best *best;
    double **flow_s;   /* [policy][workflow] at that rate, means over the repetitions */
    double **repeated; /* [repetition][workflow] of the policy at hand */
    int64_t done;      /* workflows, over all */
    int64_t total;
    int64_t tasks;
    double work_s;
    double bytes;
};

static double **geo_simulation_make_table(struct arena *arena, size_t rows, size_t columns)
{
    double **table = arena_array(arena, rows, sizeof *table);
    for (size_t i = 0; table != NULL && i < rows; i++) {
        table[i] = arena_array(arena, columns, sizeof **table);
        if (table[i] == NULL)
            return NULL;
    }
    return table;
}

static bool report_progress(void *context, size_t finished, size_t all)
{
    struct simulation *simulation = context;
    (void)all;
    return operation_progress(simulation->run, simulation->done + (int64_t)finished,
                              simulation->total, "workflows");
}

/* Each repetition draws its own random numbers, the same for all policies and rates. */
static uint64_t seed_of(const struct simulation *simulation, size_t repetition)
{
    struct rng rng = rng_make((uint64_t)simulation->asked->seed, repetition);
    return rng_next(&rng);
}

static void add_counts(struct geosim_counts *sum, const struct geosim_counts *counts)
{
    sum->finished += counts->finished;
    sum->copies += counts->copies;
    sum->extra += counts->extra;
    sum->lost += counts->lost;
    sum->losers += counts->losers;
    sum->stopped += counts->stopped;
    sum->refused += counts->refused;
    sum->reruns += counts->reruns;
    sum->outages += counts->outages;
    sum->plans += counts->plans;
}

static enum pv_code run_once(struct simulation *simulation,
                             const struct geosim_parameters *terms,
                             size_t repetition,
                             struct codec_simulation_outcome *outcome,
                             struct pv_error *err)
{
    const struct codec_simulation *asked = simulation->asked;
    const struct geosim_progress progress = {report_progress, simulation};
    size_t n = asked->workload.n_workflows;
    double share = 1 / (double)asked->repetitions;
    struct arena scratch;
    struct geosim_result result;
    arena_init_beside(&scratch, simulation->run->arena,
                      (size_t)simulation->run->config->request_memory_bytes_max);
    enum pv_code code =
        geosim_run(&simulation->world, &simulation->workload, terms,
                   seed_of(simulation, repetition), &progress, &scratch, &result, err);
    if (code == PV_OK) {
        for (size_t w = 0; w < n; w++)
            simulation->repeated[repetition][w] = result.flow_s[w];
        add_counts(&outcome->counts, &result.counts);
        outcome->utilization += share * result.utilization;
        outcome->useful += share * result.useful;
        simulation->done += (int64_t)n;
    }
    arena_fini(&scratch);
    return code;
}

static enum pv_code
run_policy(struct simulation *simulation, size_t rate, size_t policy, struct pv_error *err)
{
    const struct codec_simulation *asked = simulation->asked;
    struct codec_simulation_outcome *outcome =
        &simulation->outcomes[rate * asked->n_policies + policy];
    struct geosim_parameters terms = asked->policies[policy].terms;
    size_t n = asked->workload.n_workflows;
    enum pv_code code = PV_OK;
    terms.horizon_s = simulation->workload.workflows[n - 1].arrives_s + asked->drain_timeout_s;
    for (size_t r = 0; r < asked->repetitions && code == PV_OK; r++)
        code = run_once(simulation, &terms, r, outcome, err);
    if (code != PV_OK)
        return code;
    double *flow_s = simulation->flow_s[policy];
    comparison_average((const double *const *)simulation->repeated, asked->repetitions, n, flow_s);
    return comparison_spread_of(flow_s, n, simulation->run->arena, &outcome->flow_s)
               ? PV_OK
               : pv_no_memory(err);
}

/* What each policy saves against the baseline, and which is best. */
static enum pv_code
geo_simulation_compare(struct simulation *simulation, size_t rate, struct pv_error *err)
{
    const struct codec_simulation *asked = simulation->asked;
    size_t n = asked->workload.n_workflows;
    double *reduction = simulation->repeated[0];
    for (size_t p = 0; p < asked->n_policies; p++) {
        comparison_reduction(simulation->flow_s[p], simulation->flow_s[asked->baseline], n,
                             reduction);
        if (!comparison_spread_of(reduction, n, simulation->run->arena,
                                  &simulation->outcomes[rate * asked->n_policies + p].reduction))
            return pv_no_memory(err);
    }
    comparison_choose((const double *const *)simulation->flow_s, asked->n_policies, n,
                      &simulation->best[rate]);
    return PV_OK;
}

static void summarize_results(struct simulation *simulation)
{
    const struct geosim_workload *workload = &simulation->workload;
    simulation->tasks = 0;
    simulation->work_s = 0;
    simulation->bytes = 0;
    for (size_t w = 0; w < workload->n_workflows; w++)
        for (size_t t = 0; t < workload->workflows[w].n_tasks; t++) {
            simulation->tasks++;
            simulation->work_s += workload->workflows[w].tasks[t].work_s;
            simulation->bytes += workload->workflows[w].tasks[t].input_bytes;
        }
}

static enum pv_code run_rate(struct simulation *simulation, size_t rate, struct pv_error *err)
{
    const struct codec_simulation *asked = simulation->asked;
    struct arena drawn;
    arena_init_beside(&drawn, simulation->run->arena,
                      (size_t)simulation->run->config->request_memory_bytes_max);
    enum pv_code code =
        geosim_workload_draw(&asked->workload, &simulation->world, asked->arrival_rates_per_s[rate],
                             (uint64_t)asked->seed, &drawn, &simulation->workload, err);
    if (code == PV_OK)
        summarize_results(simulation);
    for (size_t p = 0; p < asked->n_policies && code == PV_OK; p++)
        code = run_policy(simulation, rate, p, err);
    if (code == PV_OK)
        code = geo_simulation_compare(simulation, rate, err);
    arena_fini(&drawn);
    return code;
}

/* Checked when it was submitted, by a process whose settings may differ from ours. */
static enum pv_code read_again(struct simulation *simulation, const struct codec_node *top)
{
    const struct codec_simulation_limits any = {
        .workflows = INT32_MAX,
        .tasks = INT32_MAX,
        .workflow_tasks = INT32_MAX,
        .clusters = INT32_MAX,
        .runs = INT32_MAX,
        .task_runs = SIZE_MAX,
        .templates = INT32_MAX,
        .operations = (size_t)simulation->run->config->simulation_operations_max};
    codec_simulation_decode(top, &any, simulation->asked);
    return codec_result(top->reader);
}

static enum pv_code geo_simulation_prepare(struct simulation *simulation, struct pv_error *err)
{
    const struct codec_simulation *asked = simulation->asked;
    struct arena *arena = simulation->run->arena;
    size_t n = asked->workload.n_workflows;
    size_t cells = asked->n_rates * asked->n_policies;
    simulation->outcomes = arena_calloc(arena, cells, sizeof *simulation->outcomes);
    simulation->best = arena_calloc(arena, asked->n_rates, sizeof *simulation->best);
    simulation->flow_s = geo_simulation_make_table(arena, asked->n_policies, n);
    simulation->repeated = geo_simulation_make_table(arena, asked->repetitions, n);
    simulation->total = (int64_t)(cells * asked->repetitions * n);
    if (simulation->outcomes == NULL || simulation->best == NULL || simulation->flow_s == NULL ||
        simulation->repeated == NULL)
        return pv_no_memory(err);
    return geosim_world_draw(&asked->world, (uint64_t)asked->seed, arena, &simulation->world, err);
}

static enum pv_code
write_result(const struct simulation *simulation, struct strview *result, struct pv_error *err)
{
    const struct codec_simulation_result made = {
        simulation->asked, &simulation->world,   simulation->tasks, simulation->work_s,
        simulation->bytes, simulation->outcomes, simulation->best};
    struct writer w;
    writer_init(&w, simulation->run->arena);
    codec_simulation_result_encode(&w, &made);
    result->at = writer_finish(&w, &result->n);
    return result->at == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code geo_simulation_run(struct operation_run *run,
                                const struct codec_node *top,
                                struct strview *result,
                                struct pv_error *err)
{
    struct simulation simulation = {.run = run};
    simulation.asked = arena_calloc(run->arena, 1, sizeof *simulation.asked);
    if (simulation.asked == NULL)
        return pv_no_memory(err);
    PV_TRY(read_again(&simulation, top));
    PV_TRY(geo_simulation_prepare(&simulation, err));
    for (size_t rate = 0; rate < simulation.asked->n_rates; rate++)
        PV_TRY(run_rate(&simulation, rate, err));
    if (!report_progress(&simulation, 0, 0))
        return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    return write_result(&simulation, result, err);
}

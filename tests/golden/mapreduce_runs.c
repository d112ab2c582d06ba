#include "mapreduce_runs.h"

#include <math.h>
#include <stdlib.h>

#include "core/scheduling/comparison/fairness.h"
#include "core/sim/variates.h"
#include "evidence.h"

static const double GAP_S = 2;

/* --- jobs --- */

static struct slots_task_list
draw_tasks(size_t n, double mean_s, double spread, struct rng *rng, struct arena *arena)
{
    struct slots_tasks *tasks = evidence_need(arena_array(arena, n, sizeof *tasks));
    for (size_t i = 0; i < n; i++)
        tasks[i] = (struct slots_tasks){mean_s * variate_uniform(rng, 1 - spread, 1 + spread), 1};
    return (struct slots_task_list){tasks, n};
}

struct mapreduce_batch mapreduce_draw(
    const struct mapreduce_job jobs[], size_t n, double spread, uint64_t seed, struct arena *arena)
{
    struct slots_job *drawn = evidence_need(arena_array(arena, n, sizeof *drawn));
    for (size_t i = 0; i < n; i++) {
        const uint64_t keys[] = {2, i};
        struct rng rng = variate_stream(seed, keys, 2);
        drawn[i] = (struct slots_job){.arrival_s = GAP_S * (double)i,
                                      .shuffle_s = jobs[i].shuffle_s,
                                      .predicted_size_s = (double)NAN,
                                      .queue = i % 2};
        drawn[i].task_lists[SLOTS_MAP] =
            draw_tasks(jobs[i].maps, jobs[i].map_s, spread, &rng, arena);
        drawn[i].task_lists[SLOTS_REDUCE] =
            draw_tasks(jobs[i].reduces, jobs[i].reduce_s, spread, &rng, arena);
    }
    return (struct mapreduce_batch){drawn, n};
}

/* --- runs --- */

static struct mapreduce_outcome summarize(const struct mapreduce_batch *batch,
                                          const struct slots_job_times times[])
{
    struct mapreduce_outcome outcome = {.reduces_at_s = HUGE_VAL};
    struct fairness fairness = {.n = 0};
    double shuffled_s = 0;
    for (size_t i = 0; i < batch->n; i++) {
        outcome.makespan_s = fmax(outcome.makespan_s, times[i].finish_s);
        outcome.reduces_at_s = fmin(outcome.reduces_at_s, times[i].reduce_start_s);
        outcome.maps_s = fmax(outcome.maps_s, times[i].map_end_s);
        shuffled_s = fmax(shuffled_s, times[i].shuffle_end_s);
        fairness_add(&fairness,
                     slots_job_size(&batch->jobs[i]) / (times[i].finish_s - times[i].start_s));
    }
    outcome.shuffle_s = fmax(0, shuffled_s - outcome.maps_s);
    outcome.fairness = fairness_index(&fairness);
    return outcome;
}

struct mapreduce_outcome mapreduce_run(const struct slots_cluster *cluster,
                                       const struct mapreduce_batch *batch,
                                       const struct slots_terms *terms,
                                       struct arena *scratch)
{
    struct slots_job_times times[MAPREDUCE_JOBS_MAX];
    if (slots_simulate(cluster, batch->jobs, batch->n, terms, NULL, scratch, times, NULL) != PV_OK)
        abort();
    return summarize(batch, times);
}

double mapreduce_change(double a, double b)
{
    return 100 * (a / b - 1);
}

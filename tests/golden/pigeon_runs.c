#include "pigeon_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/tasks/tasks_outcome.h"
#include "pigeon_trace.h"

enum { SEEDS_MAX = 20 };

/* Of the traces that hold the arrivals, and where a job begins to be long. */
static const double PERCENT = 90;
static const double SHORT_S = 1;

bool pigeon_model(const char *shared,
                  const char *trace,
                  double percent,
                  uint32_t workers,
                  struct arena *arena,
                  struct tasks_model *model)
{
    struct pigeon_trace jobs = {0};
    char name[64];
    (void)snprintf(name, sizeof name, "%s_trace%.0f", trace, PERCENT);
    if (!pigeon_trace_read(&jobs, shared, name, SHORT_S, arena))
        return false;
    for (size_t j = 0; j < jobs.jobs.n; j++)
        jobs.jobs.items[j].arrival_s *= PERCENT / percent;
    *model = (struct tasks_model){.workers = workers,
                                  .communication_s = 0.0005,
                                  .jobs = jobs.jobs.items,
                                  .n_jobs = (uint32_t)jobs.jobs.n};
    if (tasks_model_complete(model, arena, NULL) != PV_OK)
        abort();
    return true;
}

static void simulate(const struct tasks_model *model,
                     const struct tasks_terms *terms,
                     uint64_t seed,
                     double figures[])
{
    const struct trial trial = {seed, 0};
    struct tasks_result result;
    struct tasks_outcome outcome;
    struct arena arena;
    struct arena scratch;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    if (tasks_simulate(model, terms, &trial, 0, NULL, &arena, &scratch, &result, NULL) != PV_OK ||
        tasks_outcome_of(model, &result, NULL, &scratch, &outcome, NULL) != PV_OK)
        abort();
    const struct percentiles *s = &outcome.classes[TASKS_SHORT].completion_s;
    const struct percentiles *l = &outcome.classes[TASKS_LONG].completion_s;
    const double found[PIGEON_FIGURES] = {s->p50,
                                          s->p90,
                                          s->p99,
                                          l->p50,
                                          l->p90,
                                          l->p99,
                                          outcome.classes[TASKS_ALL].completion_s.mean};
    for (int i = 0; i < PIGEON_FIGURES; i++)
        figures[i] = found[i];
    arena_fini(&scratch);
    arena_fini(&arena);
}

void pigeon_simulate(const struct tasks_model *model,
                     const struct tasks_terms *terms,
                     unsigned seeds,
                     struct pigeon_spread *spread)
{
    double figures[SEEDS_MAX][PIGEON_FIGURES];
    for (unsigned seed = 0; seed < seeds; seed++)
        simulate(model, terms, seed + 1, figures[seed]);
    for (int i = 0; i < PIGEON_FIGURES; i++) {
        double values[SEEDS_MAX];
        for (unsigned seed = 0; seed < seeds; seed++)
            values[seed] = figures[seed][i];
        qsort(values, seeds, sizeof *values, order_by_double);
        spread->least[i] = values[0];
        spread->median[i] = (values[(seeds - 1) / 2] + values[seeds / 2]) / 2;
        spread->most[i] = values[seeds - 1];
    }
}

#include "core/diagnosis/stage_time.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

/* A stage begins or ends. */
struct edge {
    double at_s;
    size_t stage;
    bool begins;
};

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;
    int order = compare_double(a->at_s, b->at_s);
    return order != 0 ? order : (int)a->begins - (int)b->begins;
}

/*
 * Sweep over the edges: `one` is what a stage that runs all the time has been charged with so far,
 * so a stage is charged with what that grows by while it runs.
 */
static void sweep(const struct edge edges[], size_t n, double charged_s[])
{
    double one = 0.0, since_s = 0.0;
    size_t running = 0;
    for (size_t i = 0; i < n; i++) {
        if (running > 0)
            one += (edges[i].at_s - since_s) / (double)running;
        since_s = edges[i].at_s;
        charged_s[edges[i].stage] += edges[i].begins ? -one : one;
        running += edges[i].begins ? 1 : (size_t)-1;
    }
}

enum pv_code stage_time_charge(const struct run *run,
                               struct arena *scratch,
                               double charged_s[],
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct edge *edges = arena_array(scratch, 2 * run->n_stages, sizeof *edges);
    size_t n = 0;
    if (edges == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        charged_s[i] = 0.0;
        if (stage->skipped || !(stage->duration_s > 0))
            continue;
        if (isnan(stage->started_s)) {
            charged_s[i] = stage->duration_s;
            continue;
        }
        edges[n++] = (struct edge){stage->started_s, i, true};
        edges[n++] = (struct edge){stage->started_s + stage->duration_s, i, false};
    }
    qsort(edges, n, sizeof *edges, by_time);
    sweep(edges, n, charged_s);
    arena_rewind(scratch, mark);
    return PV_OK;
}

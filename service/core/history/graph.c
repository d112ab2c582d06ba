#include "core/history/graph.h"

#include <stdlib.h>

static int compare_positions(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_stage(const void *key, const void *element)
{
    int64_t id = *(const int64_t *)key;
    const struct run_stage *stage = element;
    return id < stage->id ? -1 : id > stage->id;
}

/* Parents as ascending positions; one that the run does not list counts as n_stages. */
static void place_parents(const struct run *run, const struct run_stage *stage, size_t places[])
{
    for (size_t i = 0; i < stage->n_parents; i++) {
        const struct run_stage *found = bsearch(&stage->parents[i], run->stages, run->n_stages,
                                                sizeof *run->stages, compare_stage);
        places[i] = found == NULL ? run->n_stages : (size_t)(found - run->stages);
    }
    qsort(places, stage->n_parents, sizeof *places, compare_positions);
}

static size_t most_parents(const struct run *run)
{
    size_t most = 0;
    for (size_t i = 0; i < run->n_stages; i++)
        if (run->stages[i].n_parents > most)
            most = run->stages[i].n_parents;
    return most;
}

static bool stages_equal(
    const struct run *a, const struct run *b, size_t i, size_t places_a[], size_t places_b[])
{
    const struct run_stage *x = &a->stages[i];
    const struct run_stage *y = &b->stages[i];
    if (x->skipped != y->skipped || x->n_parents != y->n_parents)
        return false;
    place_parents(a, x, places_a);
    place_parents(b, y, places_b);
    for (size_t k = 0; k < x->n_parents; k++)
        if (places_a[k] != places_b[k])
            return false;
    return true;
}

enum pv_code run_graph_compare(const struct run *a,
                               const struct run *b,
                               struct arena *scratch,
                               bool *equal,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t *places_a = arena_array(scratch, most_parents(a), sizeof *places_a);
    size_t *places_b = arena_array(scratch, most_parents(b), sizeof *places_b);
    if (places_a == NULL || places_b == NULL) {
        arena_rewind(scratch, mark);
        return pv_no_memory(err);
    }
    bool same = a->n_stages == b->n_stages;
    for (size_t i = 0; same && i < a->n_stages; i++)
        same = stages_equal(a, b, i, places_a, places_b);
    arena_rewind(scratch, mark);
    *equal = same;
    return PV_OK;
}

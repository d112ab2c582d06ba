#include "core/diagnosis/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/diagnosis_internal.h"

/* Most executor counts first, then most runs; equal ones as they stood. */
static int by_worth(const void *a, const void *b)
{
    const struct series *x = *(const struct series *const *)a;
    const struct series *y = *(const struct series *const *)b;
    if (x->counts != y->counts)
        return x->counts < y->counts ? 1 : -1;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const struct series *x = *(const struct series *const *)a;
    const struct series *y = *(const struct series *const *)b;
    return (x > y) - (x < y);
}

static enum pv_code judge_all(const struct series series[],
                              size_t n,
                              struct arena *arena,
                              struct diagnosis *diagnosis,
                              struct pv_error *err)
{
    const struct series **chosen = arena_array(arena, n, sizeof *chosen);
    if (chosen == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        chosen[i] = &series[i];
    qsort(chosen, n, sizeof *chosen, by_worth);
    diagnosis->n = n < DIAGNOSIS_SLICES_MAX ? n : DIAGNOSIS_SLICES_MAX;
    diagnosis->left_out = n - diagnosis->n;
    qsort(chosen, diagnosis->n, sizeof *chosen, by_place);
    diagnosis->slices = arena_array(arena, diagnosis->n, sizeof *diagnosis->slices);
    if (diagnosis->slices == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < diagnosis->n; i++) {
        PV_TRY(diagnosis_judge_slice(chosen[i], arena, &diagnosis->slices[i], err));
    }
    return PV_OK;
}

enum pv_code diagnosis_make(const struct diagnosis_run runs[],
                            size_t n,
                            struct arena *arena,
                            struct diagnosis *diagnosis,
                            struct pv_error *err)
{
    struct diagnosis made = {.runs = n};
    struct series *series = NULL;
    size_t n_series = 0;
    struct diagnosis_run *own = arena_array(arena, n, sizeof *own);
    if (own == NULL)
        return pv_no_memory(err);
    if (n > 0)
        memcpy(own, runs, n * sizeof *own);
    for (size_t i = 0; i < n; i++)
        made.runs_with_stages += diagnosis_has_stages(&runs[i]);
    PV_TRY(diagnosis_find_series(own, n, arena, &series, &n_series, err));
    PV_TRY(judge_all(series, n_series, arena, &made, err));
    PV_TRY(diagnosis_find_best_load(runs, n, arena, &made.best_load, err));
    *diagnosis = made;
    return PV_OK;
}

#include "core/diagnosis/serial_stages.h"

#include <math.h>
#include <string.h>

/* The least-squares exponent of the number of tasks by executors; NAN with one executor count. */
static double exponent_of_tasks(const struct series *series, size_t stage)
{
    double x_mean = 0, y_mean = 0, xx = 0, xy = 0, n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < series->n; i++) {
            const struct diagnosis_run *run = &series->rows[i];
            if (!diagnosis_has_stages(run))
                continue;
            double x = log(run->executors);
            double y = log(run->stages[stage].tasks);
            if (pass == 0) {
                n++;
                x_mean += (x - x_mean) / n;
                y_mean += (y - y_mean) / n;
            } else {
                xx += (x - x_mean) * (x - x_mean);
                xy += (x - x_mean) * (y - y_mean);
            }
        }
    return xx > 0 ? xy / xx : (double)NAN;
}

static bool is_serial(const struct series *series, const struct diagnosis_run *widest, size_t stage)
{
    /* Between a number of tasks that stays (0) and one in proportion to the executors (1). */
    static const double grows = 0.5;
    return widest->stages[stage].tasks < widest->executors * widest->cores_per_executor &&
           exponent_of_tasks(series, stage) < grows;
}

/* The run with stages on the most executors; NULL if the stages of the runs cannot be matched. */
static const struct diagnosis_run *find_widest(const struct series *series)
{
    const struct diagnosis_run *widest = NULL;
    for (size_t i = 0; i < series->n; i++) {
        const struct diagnosis_run *run = &series->rows[i];
        if (!diagnosis_has_stages(run))
            continue;
        if (run->stages == NULL || (widest != NULL && run->n_stages != widest->n_stages))
            return NULL;
        for (size_t s = 0; s < run->n_stages; s++)
            if (!(run->stages[s].tasks >= 1) || !(run->stages[s].task_time_s >= 0))
                return NULL;
        widest = run; /* ascending by executors */
    }
    return widest;
}

static void move_stage(const struct diagnosis_stage *stage, struct diagnosis_run *run)
{
    double longest_s =
        isnan(stage->longest_s) ? stage->task_time_s / stage->tasks : stage->longest_s;
    run->serial_s += longest_s;
    run->max_task_s -= longest_s;
    run->parallel_s -= longest_s;
}

enum pv_code diagnosis_move_serial_stages(const struct series *series,
                                          struct arena *arena,
                                          const struct diagnosis_run **rows,
                                          size_t *n_serial,
                                          bool *all_serial,
                                          struct pv_error *err)
{
    /* Subtraction may leave this much instead of 0. */
    static const double rounding = 1e-9;
    const struct diagnosis_run *widest = find_widest(series);
    *rows = series->rows;
    *n_serial = 0;
    *all_serial = false;
    if (widest == NULL)
        return PV_OK;
    struct diagnosis_run *moved = arena_array(arena, series->n, sizeof *moved);
    if (moved == NULL)
        return pv_no_memory(err);
    memcpy(moved, series->rows, series->n * sizeof *moved);
    for (size_t s = 0; s < widest->n_stages; s++) {
        if (!is_serial(series, widest, s))
            continue;
        ++*n_serial;
        for (size_t i = 0; i < series->n; i++)
            if (diagnosis_has_stages(&series->rows[i]))
                move_stage(&series->rows[i].stages[s], &moved[i]);
    }
    for (size_t i = 0; i < series->n; i++)
        *all_serial = *all_serial || (diagnosis_has_stages(&series->rows[i]) &&
                                      !(moved[i].max_task_s > rounding * moved[i].serial_s &&
                                        moved[i].parallel_s > rounding * moved[i].serial_s));
    if (!*all_serial)
        *rows = moved;
    return PV_OK;
}

#include "core/geosim/montage_figures.h"

#include <math.h>

const char *geosim_montage_step_name(enum geosim_montage_step step)
{
    static const char *const names[MONTAGE_STEPS] = {"mProject", "mDiffFit",    "mConcatFit",
                                                     "mBgModel", "mBackground", "mImgtbl",
                                                     "mAdd",     "mViewer"};
    return names[step];
}

static bool gathers(enum geosim_montage_step step)
{
    return step != MONTAGE_PROJECT && step != MONTAGE_DIFF_FIT && step != MONTAGE_BACKGROUND;
}

/* What is seen of the tasks of a step; n of each. */
struct sight {
    double *input;
    double *raw;
    double *work;
    double *output;
    size_t n;
    double from_parents; /* read of them, over all tasks */
    double of_parents;   /* put out by them */
};

/* Sizes that differ by less do not determine a slope; the best guess then is proportionality. */
static const double VARY_FROM = 0.03;

static double mean_of(const double values[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Scatter around the law as a share of it. */
static double scatter(const struct geosim_law *law, const double x[], const double y[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double expected = law->base + law->per_byte * x[i];
        double off = expected > 0 ? y[i] / expected - 1 : 0;
        sum += off * off;
    }
    return sqrt(sum / (double)n);
}

static struct geosim_law measure_mean(const double y[], size_t n)
{
    struct geosim_law law = {mean_of(y, n), 0, 0};
    law.rsd = scatter(&law, y, y, n);
    return law;
}

static struct geosim_law measure_line(const double x[], const double y[], size_t n)
{
    double mean_x = mean_of(x, n);
    double mean_y = mean_of(y, n);
    double xx = 0;
    double xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    struct geosim_law law = {mean_y, 0, 0};
    bool vary = xx > VARY_FROM * VARY_FROM * mean_x * mean_x * (double)n;
    if (vary && xy > 0) {
        law.per_byte = xy / xx;
        law.base = mean_y - law.per_byte * mean_x;
    }
    if (law.base < 0 || (!vary && mean_x > 0)) {
        double squares = xx + (double)n * mean_x * mean_x;
        law.per_byte = (xy + (double)n * mean_x * mean_y) / squares;
        law.base = 0;
    }
    law.rsd = scatter(&law, x, y, n);
    return law;
}

static void measure_step(enum geosim_montage_step step,
                         const struct sight *seen,
                         struct geosim_step_figures *figures)
{
    const struct geosim_law raw = measure_mean(seen->raw, seen->n);
    figures->raw_bytes = raw.base;
    figures->raw_rsd = raw.rsd;
    figures->share = seen->of_parents > 0 ? seen->from_parents / seen->of_parents : 0;
    figures->work_s = gathers(step) ? measure_line(seen->input, seen->work, seen->n)
                                    : measure_mean(seen->work, seen->n);
    figures->output_bytes = gathers(step) ? measure_line(seen->input, seen->output, seen->n)
                                          : measure_mean(seen->output, seen->n);
}

static void
montage_figures_look(const struct geosim_recording *recording, size_t task, struct sight *seen)
{
    const struct geosim_recorded_task *recorded = &recording->tasks[task];
    size_t i = seen->n++;
    seen->input[i] = geosim_recording_input(recording, task);
    seen->raw[i] = geosim_recording_raw(recording, task);
    seen->work[i] = recorded->work_s;
    seen->output[i] = recorded->output_bytes;
    seen->from_parents += seen->input[i] - seen->raw[i];
    for (size_t k = 0; k < recorded->n_parents; k++)
        seen->of_parents += recording->tasks[recorded->parents[k]].output_bytes;
}

static bool has_name(struct strview operation, enum geosim_montage_step step)
{
    return strview_is(operation, geosim_montage_step_name(step));
}

static void look_for(const struct geosim_recording recordings[],
                     size_t n,
                     const struct strview operations[],
                     enum geosim_montage_step step,
                     struct sight *seen)
{
    seen->n = 0;
    seen->from_parents = 0;
    seen->of_parents = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t t = 0; t < recordings[r].n_tasks; t++)
            if (has_name(operations[recordings[r].tasks[t].operation], step))
                montage_figures_look(&recordings[r], t, seen);
}

enum pv_code geosim_montage_measure(const struct geosim_recording recordings[],
                                    size_t n,
                                    const struct strview operations[],
                                    struct arena *scratch,
                                    struct geosim_montage_figures *figures,
                                    struct pv_error *err)
{
    struct geosim_montage_figures measured;
    size_t tasks = 0;
    for (size_t r = 0; r < n; r++)
        tasks += recordings[r].n_tasks;
    struct sight seen = {.input = arena_array(scratch, tasks, sizeof(double)),
                         .raw = arena_array(scratch, tasks, sizeof(double)),
                         .work = arena_array(scratch, tasks, sizeof(double)),
                         .output = arena_array(scratch, tasks, sizeof(double))};
    if (seen.input == NULL || seen.raw == NULL || seen.work == NULL || seen.output == NULL)
        return pv_no_memory(err);
    for (int step = 0; step < MONTAGE_STEPS; step++) {
        enum geosim_montage_step now = (enum geosim_montage_step)step;
        look_for(recordings, n, operations, now, &seen);
        if (seen.n == 0)
            return pv_fail(err, PV_E_INVALID, "no recorded task runs %s",
                           geosim_montage_step_name(now));
        measure_step(now, &seen, &measured.steps[step]);
    }
    *figures = measured;
    return PV_OK;
}

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/diagnosis/diagnosis_internal.h"

#include "base/plural.h"

bool diagnosis_has_stages(const struct diagnosis_run *run)
{
    return run->parallel_s > 0 && run->max_task_s > 0 && run->induced_s >= 0 &&
           run->serial_s >= 0 && run->cores_per_executor >= 1;
}

static bool knows_initialization(const struct series *series)
{
    bool all = true;
    for (size_t i = 0; i < series->n; i++)
        all = all && series->rows[i].initialization_s < series->rows[i].duration_s;
    return all;
}

/* --- by stages --- */

/* An executor is the processing unit: with c cores it does c seconds of task time a second. */
static struct ipso_observation as_observation(const struct diagnosis_run *run)
{
    return (struct ipso_observation){.n = run->executors,
                                     .parallel_s = run->parallel_s / run->cores_per_executor,
                                     .serial_s = run->serial_s,
                                     .induced_s = run->induced_s,
                                     .max_task_s = run->max_task_s};
}

static enum pv_code judge_stages(const struct series *series,
                                 struct arena *arena,
                                 struct diagnosis_slice *slice,
                                 struct pv_error *err)
{
    struct pv_error why = {0};
    size_t n = 0;
    size_t counts = 0;
    struct ipso_observation *rows = arena_array(arena, series->n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < series->n; i++) {
        if (!diagnosis_has_stages(&series->rows[i]))
            continue;
        counts += n == 0 || series->rows[i].executors != rows[n - 1].n;
        rows[n++] = as_observation(&series->rows[i]);
    }
    slice->runs_with_stages = n;
    if (counts < DIAGNOSIS_COUNTS_LEAST) {
        (void)snprintf(slice->why_no_stages, sizeof slice->why_no_stages,
                       "%zu of its %zu run%s show where the time of their stages went, on %zu "
                       "executor count%s; %d counts are needed",
                       n, series->n, PLURAL(series->n), counts, PLURAL(counts),
                       DIAGNOSIS_COUNTS_LEAST);
        return PV_OK;
    }
    enum pv_code code = ipso_fit_workload(rows, n, series->workload, arena, &slice->ipso, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    slice->of_stages = code == PV_OK;
    if (code != PV_OK)
        (void)snprintf(slice->why_no_stages, sizeof slice->why_no_stages, "%.180s", why.detail);
    return PV_OK;
}

static enum diagnosis_trend trend_of(enum ipso_type type)
{
    switch (type) {
    case IPSO_UNDETERMINED:
        return DIAGNOSIS_UNCLEAR;
    case IPSO_I_T:
    case IPSO_I_S:
        return DIAGNOSIS_LINEAR;
    case IPSO_II_T:
    case IPSO_II_S:
        return DIAGNOSIS_RISES;
    case IPSO_III_T1:
    case IPSO_III_T2:
    case IPSO_III_S1:
    case IPSO_III_S2:
        return DIAGNOSIS_LEVELS_OFF;
    case IPSO_IV_T:
    case IPSO_IV_S:
        return DIAGNOSIS_PEAKS;
    }
    return DIAGNOSIS_UNCLEAR;
}

/* --- by durations --- */

/* Orders of the form that fits best: constant, power, line or bent line. */
static enum pv_code fit_cost(const struct series *series,
                             struct arena *arena,
                             struct diagnosis_slice *slice,
                             struct pv_error *err)
{
    struct growth bent;
    struct pv_error why = {0};
    bool started = knows_initialization(series);
    double *m = arena_array(arena, series->n, sizeof *m);
    double *cost = arena_array(arena, series->n, sizeof *cost);
    if (m == NULL || cost == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < series->n; i++) {
        const struct diagnosis_run *run = &series->rows[i];
        double time_s = run->duration_s - (started ? run->initialization_s : 0);
        m[i] = run->executors;
        cost[i] = run->executors * time_s / run->problem_size;
    }
    PV_TRY(growth_fit(m, cost, series->n, arena, &slice->cost, err));
    slice->has_cost = true;
    enum pv_code code = growth_fit_bent(m, cost, series->n, arena, &bent, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    /* A bent line of no fixed part is a power that costs one parameter more. */
    if (code == PV_OK && bent.offset > 0 && bent.coefficient > 0 &&
        slice->cost.form != GROWTH_CONSTANT && bent.bic < slice->cost.bic)
        slice->cost = bent;
    return PV_OK;
}

static enum ipso_order order_of_cost(const struct growth *cost)
{
    double reach = growth_reach(cost->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], cost->freedom);
    struct ipso_estimate exponent = {.value = cost->exponent,
                                     .freedom = cost->freedom,
                                     .interval = {cost->exponent - reach, cost->exponent + reach}};
    if (cost->form == GROWTH_CONSTANT)
        return IPSO_ZERO;
    return cost->form == GROWTH_LINE ? IPSO_ONE : ipso_order_of(&exponent);
}

/* Speedup is m / (a + b m^s) times a constant: highest at m^s = a / (b (s - 1)). */
static double peak_of_cost(const struct growth *cost)
{
    double peak =
        pow(cost->offset / (cost->coefficient * (cost->exponent - 1)), 1 / cost->exponent);
    return fmax(1, floor(peak + 0.5));
}

static void judge_cost(struct diagnosis_slice *slice)
{
    static const char *const names[][2] = {{"undetermined", "undetermined"},
                                           {"It", "Is"},
                                           {"IIt", "IIs"},
                                           {"IIIt", "IIIs"},
                                           {"IVt", "IVs"}};
    slice->cost_order = order_of_cost(&slice->cost);
    if (slice->of_stages)
        return;
    switch (slice->cost_order) {
    case IPSO_UNCLEAR:
        slice->trend = DIAGNOSIS_UNCLEAR;
        break;
    case IPSO_BELOW_ZERO: /* faster than linear: caches, memory that suffices at last */
    case IPSO_ZERO:
        slice->trend = DIAGNOSIS_LINEAR;
        break;
    case IPSO_BETWEEN:
        slice->trend = DIAGNOSIS_RISES;
        break;
    case IPSO_ONE:
        slice->trend = DIAGNOSIS_LEVELS_OFF;
        break;
    case IPSO_ABOVE_ONE:
        slice->trend = DIAGNOSIS_PEAKS;
        slice->peak = peak_of_cost(&slice->cost);
        break;
    }
    size_t fixed_size = slice->workload == IPSO_FIXED_SIZE ? 1 : 0;
    (void)snprintf(slice->type, sizeof slice->type, "%s", names[slice->trend][fixed_size]);
}

/* --- what was seen --- */

/* Sums over the runs of one executor count. */
struct count_sums {
    size_t n;
    size_t with_stages;
    double duration_s;
    double rate;   /* tasks a second */
    double work_s; /* of those with stages, from here on; per executor */
    double tasks;
    double busiest_s;
    double serial_s;
    double induced_s;
    double initialization_s;
};

static void add_run(const struct diagnosis_run *run, struct count_sums *t)
{
    t->n++;
    t->duration_s += run->duration_s;
    t->rate += run->problem_size / run->duration_s;
    if (!diagnosis_has_stages(run))
        return;
    t->with_stages++;
    t->work_s += run->parallel_s / (run->cores_per_executor * run->executors);
    t->tasks += run->problem_size / run->executors;
    t->busiest_s += run->max_task_s;
    t->serial_s += run->serial_s;
    t->induced_s += run->induced_s;
    t->initialization_s += run->initialization_s > 0 ? run->initialization_s : 0;
}

/* Shares of the parts' sum: what overlaps is not taken for gained. unit_s: work of a task at the
 * smallest count with stages. */
static void share_out(const struct count_sums *t, double unit_s, struct diagnosis_point *point)
{
    double all_s = t->busiest_s + t->serial_s + t->induced_s + t->initialization_s;
    point->useful = point->slowed = point->waiting = point->serial = point->overhead =
        point->initialize = (double)NAN;
    if (t->with_stages == 0 || !(all_s > 0))
        return;
    double work_s = fmin(t->work_s, t->busiest_s);
    double useful_s = fmin(work_s, unit_s * t->tasks);
    point->useful = useful_s / all_s;
    point->slowed = (work_s - useful_s) / all_s;
    point->waiting = (t->busiest_s - work_s) / all_s;
    point->serial = t->serial_s / all_s;
    point->overhead = t->induced_s / all_s;
    point->initialize = t->initialization_s / all_s;
}

static enum pv_code slice_gather(const struct series *series,
                                 struct arena *arena,
                                 struct diagnosis_slice *slice,
                                 struct pv_error *err)
{
    double unit_s = (double)NAN;
    double first_rate = (double)NAN;
    double best_rate = 0;
    size_t counts = 0;
    slice->points = arena_array(arena, series->counts, sizeof *slice->points);
    if (slice->points == NULL)
        return pv_no_memory(err);
    for (size_t from = 0, to; from < series->n; from = to) {
        struct count_sums t = {.n = 0};
        for (to = from;
             to < series->n && series->rows[to].executors == series->rows[from].executors; to++)
            add_run(&series->rows[to], &t);
        double rate = t.rate / (double)t.n;
        if (isnan(unit_s) && t.with_stages > 0)
            unit_s = t.work_s / t.tasks;
        if (isnan(first_rate))
            first_rate = rate;
        struct diagnosis_point *point = &slice->points[counts++];
        *point = (struct diagnosis_point){.executors = series->rows[from].executors,
                                          .runs = t.n,
                                          .duration_s = t.duration_s / (double)t.n,
                                          .relative_speedup = rate / first_rate};
        share_out(&t, unit_s, point);
        if (rate > best_rate) {
            best_rate = rate;
            slice->fastest = point->executors;
        }
    }
    slice->n_points = counts;
    return PV_OK;
}

/* Both ends stay. */
static void slice_thin(struct diagnosis_slice *slice)
{
    if (slice->n_points <= DIAGNOSIS_POINTS_MAX)
        return;
    for (size_t i = 0; i < DIAGNOSIS_POINTS_MAX; i++)
        slice->points[i] = slice->points[i * (slice->n_points - 1) / (DIAGNOSIS_POINTS_MAX - 1)];
    slice->n_points = DIAGNOSIS_POINTS_MAX;
}

enum pv_code diagnosis_judge_slice(const struct series *series,
                                   struct arena *arena,
                                   struct diagnosis_slice *slice,
                                   struct pv_error *err)
{
    *slice = (struct diagnosis_slice){.workload = series->workload,
                                      .problem_size = series->problem_size,
                                      .load = series->load,
                                      .runs = series->n,
                                      .peak = (double)NAN,
                                      .bound = (double)NAN};
    PV_TRY(slice_gather(series, arena, slice, err));
    PV_TRY(judge_stages(series, arena, slice, err));
    PV_TRY(fit_cost(series, arena, slice, err));
    if (slice->of_stages) {
        slice->trend = trend_of(slice->ipso.type);
        slice->bound = slice->ipso.bound;
        slice->peak = slice->ipso.peak.n > 0 ? slice->ipso.peak.n : (double)NAN;
        (void)snprintf(slice->type, sizeof slice->type, "%s", ipso_type_name(slice->ipso.type));
    }
    judge_cost(slice);
    slice_thin(slice);
    return PV_OK;
}

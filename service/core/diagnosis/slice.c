#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/diagnosis/diagnosis_internal.h"

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/diagnosis/serial_stages.h"

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
                                 bool all_serial,
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
    if (all_serial) {
        (void)snprintf(slice->why_no_stages, sizeof slice->why_no_stages,
                       "no stage has more tasks on more executors, and each has fewer tasks than "
                       "the cores of %s executor%s: all work is serial there",
                       quantity_number(series->rows[series->n - 1].executors).text,
                       PLURAL(series->rows[series->n - 1].executors));
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

/* Type and trend by durations alone. */
static void judge_cost(struct diagnosis_slice *slice)
{
    static const char *const names[][2] = {{"undetermined", "undetermined"},
                                           {"It", "Is"},
                                           {"IIt", "IIs"},
                                           {"IIIt", "IIIs"},
                                           {"IVt", "IVs"}};
    slice->trend = DIAGNOSIS_UNCLEAR;
    slice->peak = slice->bound = (double)NAN;
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

/* --- types against measured speedups --- */

/* Speedups of the runs of one executor count, without initialization if it is known. */
struct measured {
    double executors;
    double rate;       /* mean of N/T, against the smallest count */
    double speedup;    /* mean of (W_p + W_s)/T, of the runs with stages; NAN: there is none */
    double duration_s; /* mean */
};

static size_t measure_speedups(const struct series *series, struct measured counts[])
{
    bool started = knows_initialization(series);
    size_t n = 0;
    for (size_t from = 0, to; from < series->n; from = to) {
        struct measured m = {.executors = series->rows[from].executors};
        double with_stages = 0;
        for (to = from; to < series->n && series->rows[to].executors == m.executors; to++) {
            const struct diagnosis_run *run = &series->rows[to];
            double time_s = run->duration_s - (started ? run->initialization_s : 0);
            m.rate += run->problem_size / time_s;
            m.duration_s += time_s;
            if (!diagnosis_has_stages(run))
                continue;
            m.speedup += (run->parallel_s / run->cores_per_executor + run->serial_s) / time_s;
            with_stages++;
        }
        double runs = (double)(to - from);
        m.rate /= runs;
        m.duration_s /= runs;
        m.speedup = with_stages > 0 ? m.speedup / with_stages : (double)NAN;
        counts[n++] = m;
    }
    for (size_t i = n; i-- > 0;)
        counts[i].rate /= counts[0].rate;
    return n;
}

/* The last count of at most `executors`. */
static size_t last_until(const struct measured counts[], size_t n, double executors)
{
    size_t at = 0;
    while (at + 1 < n && counts[at + 1].executors <= executors)
        at++;
    return at;
}

/*
 * Returns true if the runs show another speedup than the type of their stages has. Runs of one
 * configuration scatter by about a tenth; a type of linear speedup may lose a fifth to tasks of
 * unequal length over the whole range.
 */
static bool
is_contradicted(const struct diagnosis_slice *slice, const struct measured counts[], size_t n)
{
    static const double scatter = 1.1, linear = 0.8, off = 1.25;
    const struct measured *last = &counts[n - 1];
    enum ipso_order order = slice->cost_order;
    double p[IPSO_PARAMETERS];
    struct ipso_prediction there;
    double fastest = 0, highest = 0;
    for (size_t i = 0; i < n; i++) {
        fastest = fmax(fastest, counts[i].rate);
        highest = fmax(highest, counts[i].speedup);
    }
    for (size_t j = 0; j < IPSO_PARAMETERS; j++)
        p[j] = slice->ipso.parameters[j].value;
    ipso_predict(p, last->executors, &there);
    bool grows = order == IPSO_BETWEEN || order == IPSO_ONE || order == IPSO_ABOVE_ONE;
    bool falls = order == IPSO_ABOVE_ONE && last->rate * scatter < fastest;
    switch (slice->trend) {
    case DIAGNOSIS_LINEAR:
        return grows && last->rate < linear * last->executors / counts[0].executors;
    case DIAGNOSIS_RISES:
        return falls ||
               (order >= IPSO_ONE &&
                last->rate < scatter * counts[last_until(counts, n, last->executors / 2)].rate);
    case DIAGNOSIS_LEVELS_OFF:
        return falls || highest > scatter * slice->bound ||
               (order == IPSO_ZERO && last->duration_s * off < there.duration_s);
    case DIAGNOSIS_PEAKS:
        /* Of counts that double, the nearest one to the peak is at most sqrt(2) times as far. */
        return slice->peak < last->executors &&
               last->rate > scatter * counts[last_until(counts, n, sqrt(2) * slice->peak)].rate;
    case DIAGNOSIS_UNCLEAR:
        break;
    }
    return false;
}

/* A type that the measured speedups contradict gives way to that of the durations. */
static enum pv_code check_type(const struct series *series,
                               struct arena *arena,
                               struct diagnosis_slice *slice,
                               struct pv_error *err)
{
    struct measured *counts = arena_array(arena, series->counts, sizeof *counts);
    if (counts == NULL)
        return pv_no_memory(err);
    size_t n = measure_speedups(series, counts);
    if (!is_contradicted(slice, counts, n))
        return PV_OK;
    (void)snprintf(slice->why_no_stages, sizeof slice->why_no_stages,
                   "the laws of its stages give type %s, which the runs contradict: on %s "
                   "executor%s the speedup is %s times that on %s",
                   slice->type, quantity_number(counts[n - 1].executors).text,
                   PLURAL(counts[n - 1].executors), quantity_number(counts[n - 1].rate).text,
                   quantity_number(counts[0].executors).text);
    slice->of_stages = false;
    slice->ipso.step.found = false;
    return PV_OK;
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

enum pv_code diagnosis_judge_slice(const struct series *given,
                                   struct arena *arena,
                                   struct diagnosis_slice *slice,
                                   struct pv_error *err)
{
    struct series moved = *given;
    const struct series *series = &moved;
    bool all_serial;
    *slice = (struct diagnosis_slice){.workload = series->workload,
                                      .problem_size = series->problem_size,
                                      .load = series->load,
                                      .runs = series->n,
                                      .peak = (double)NAN,
                                      .bound = (double)NAN};
    PV_TRY(diagnosis_move_serial_stages(given, arena, &moved.rows, &slice->serial_stages,
                                        &all_serial, err));
    PV_TRY(slice_gather(series, arena, slice, err));
    PV_TRY(judge_stages(series, all_serial, arena, slice, err));
    PV_TRY(fit_cost(series, arena, slice, err));
    slice->cost_order = order_of_cost(&slice->cost);
    if (slice->of_stages) {
        slice->trend = trend_of(slice->ipso.type);
        slice->bound = slice->ipso.bound;
        slice->peak = slice->ipso.peak.n > 0 ? slice->ipso.peak.n : (double)NAN;
        (void)snprintf(slice->type, sizeof slice->type, "%s", ipso_type_name(slice->ipso.type));
        PV_TRY(check_type(series, arena, slice, err));
    }
    if (!slice->of_stages)
        judge_cost(slice);
    slice_thin(slice);
    return PV_OK;
}

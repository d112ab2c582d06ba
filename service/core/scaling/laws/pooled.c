/*
 * What runs with other labels show of the runs asked about (docs/design.md, "Other kinds of
 * models").
 *
 * The runs of one context (observation.context: a set of labels) and problem size are a curve over
 * executors. The curves of an application are drawn from one normal distribution: a mean that may
 * rise with ln N, and a covariance that says how heights go together - how much a whole curve lies
 * higher, how sharply it falls at few executors, and what of it is seen in advance at others. Both
 * are estimated from the runs of all contexts. The prediction is the curve of the own context given
 * its runs; where it has few, it leans on the others.
 *
 * This is a linear mixed model (N. M. Laird and J. H. Ware, "Random-effects models for longitudinal
 * data", Biometrics 38, 1982) by EM (A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood
 * from incomplete data via the EM algorithm", J. R. Statist. Soc. B 39, 1977). No source of the
 * other laws has such a model.
 *
 * PV_E_TOO_FEW: fewer than POOLED_CURVES curves of other contexts. PV_E_SINGULAR: one executor
 * count. PV_E_MEMORY.
 *
 * Model. y = ln T. A curve u is the runs of one context (set of labels) and problem size N. It has
 * heights h_u at d fixed executor counts, the ticks, and is straight in ln m between them. A cell
 * is the runs of a curve on m executors; the mean of their y is
 *
 *     y_c = a_c'h_u + error,    V(error) = max(v / w_c, 0.01^2)
 *
 * a_c holds 1 - f at the tick below m and f at the one above, f = ln(m/below)/ln(above/below), and
 * w_c is the sum of the weights. v is the variance of runs about their cell's mean, pooled over all
 * cells: with runs repeated, sum w (y - mean)^2 / sum (runs - 1). The curves are drawn from
 *
 *     h_u ~ Normal(level + slope x_u, S),    x_u = ln N_u - mean ln N
 *
 * with S a full d x d covariance. Unknown: level, slope, S, and every h_u.
 *
 * E step: given level, slope and S, the distribution of h_u given its cells is normal. It is built
 * up cell by cell, which needs no matrix inverse: with k = S a_c and z = a_c'k + V(error),
 *
 *     h <- h + (k/z) (y_c - a_c'h)        S <- S - k k'/z
 *
 * exact for normal errors and the same in any order of cells. Call the result h_u, V_u. A curve
 * with many cells ends at its own data, one without any at the mean curve; in between, S says how
 * far what was seen at some ticks moves the others.
 *
 * M step: the values that maximise the expected likelihood of the completed curves. Since the x_u
 * add up to 0, level and slope separate at each tick:
 *
 *     level = mean of h_u        slope = sum x_u h_u / (sum x_u^2 (1 + 1/n))
 *     S     = (sum (V_u + r_u r_u') + d P) / (n + d),    r_u = h_u - level - slope x_u
 *
 * for n curves. 1 + 1/n shrinks the slope as one more curve of typical |x| and no rise would. P is
 * 0.02 times the mean variance of a height, times the identity: as if d more curves had been seen
 * that scatter little, and independently at each tick. With fewer curves than ticks S would
 * otherwise approach a singular matrix, by which some shapes of curves are impossible.
 *
 * Start: level the mean of all cells, slope 0, S their variance with correlation 0.9 between ticks,
 * as curves mostly lie higher or lower as a whole. 40 steps are always taken, without a test of
 * convergence, so that the time is predictable.
 *
 * Result: exp(h_u) of the own curves as knots (as core/scaling/laws/interpolation.h reads them), so
 * that predicting needs no other run. That is the median of T, not its mean. Own runs of one size
 * cannot show a rise with N; a second curve, at 2 N with slope ln 2 added, carries over what the
 * other contexts show of it.
 *
 * Left-out errors. Without a run its cell's mean is corrected, and the curve is built up again from
 * the remaining cells. If none remains, the nearest own size is used, moved by slope. level, slope,
 * S are kept: one run among many moves them little, and fitting again would cost 40 steps for
 * each run. The errors are slightly too small by that.
 *
 * Guards.
 *   - No cell is known better than 0.01 (1 % of T) however often it was repeated: repetitions do
 *     not average out what they have in common, such as the day. It also keeps z > 0.
 *   - Without any repeated cell v cannot be estimated; 0.03^2, a scatter of 3 %, is assumed.
 *   - All sizes equal: slope is 0, as 0/0 would be undefined.
 *   - A remainder below 1e-9 of a cell's weight is rounding, and the cell counts as left out whole.
 *   - At most 12 ticks and 64 own sizes, evenly spread, bound the time and the size of the model.
 *
 * Cost: O(n log n) to sort n runs, O((curves + cells) d^2) for each of 40 steps, and for each own
 * run left out O(d^2) times the cells of its curve.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/scaling/laws/interpolation.h"
#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit_types.h"
#include "core/scaling/model/speedup_surface.h"

enum { POOLED_CURVES = 3, POOLED_TICKS = 12 };
enum { ITERATIONS = 40, SIZES_MAX = 64 };

/* Of ln T, one standard deviation: of a run where none was repeated, and what a mean of however
 * many keeps. */
static const double usual_noise = 0.03;
static const double least_noise = 0.01;
/* Of the variance of curves about their mean: what pseudo-curves have. */
static const double prior_share = 0.02;

/* The runs of one context, size and executor count. */
struct cell {
    double executors;
    double weight;
    double mean; /* of ln T */
    size_t tick; /* the one at or below */
    double next; /* share of the tick above */
};

struct curve {
    unsigned context;
    double size;
    double x; /* ln size, less the mean over curves */
    size_t from;
    size_t to; /* cells */
    double heights[POOLED_TICKS];
};

struct pool {
    struct cell *cells;
    size_t n_cells;
    struct curve *curves;
    size_t n_curves;
    double ticks[POOLED_TICKS];
    size_t d;
    double noise;               /* variance of a run */
    double level[POOLED_TICKS]; /* the mean curve */
    double slope[POOLED_TICKS]; /* its rise with ln N */
    bool sizes_differ;
    double covariance[POOLED_TICKS][POOLED_TICKS];
};

/* --- cells and curves --- */

static unsigned context_of(const struct observation *row)
{
    return row->context == 0 ? 1 : row->context;
}

static int by_place(const void *a, const void *b)
{
    const struct observation *x = a;
    const struct observation *y = b;
    int order = compare_size(context_of(x), context_of(y));
    if (order == 0)
        order = compare_double(x->problem_size, y->problem_size);
    if (order == 0)
        order = compare_double(x->executors, y->executors);
    return order != 0 ? order : compare_double(x->duration_s, y->duration_s);
}

static bool shares_curve(const struct observation *a, const struct observation *b)
{
    return context_of(a) == context_of(b) && a->problem_size == b->problem_size;
}

/* Cells and curves of sorted rows, and the variance of runs about the mean of their cell. */
static void cut_into_curves(const struct observation rows[], size_t n, struct pool *pool)
{
    double squares = 0;
    double freedom = 0;
    for (size_t i = 0; i < n;) {
        const struct observation *first = &rows[i];
        struct cell cell = {.executors = first->executors};
        size_t from = i;
        for (; i < n && shares_curve(&rows[i], first) && rows[i].executors == first->executors;
             i++) {
            double off = log(rows[i].duration_s) - cell.mean;
            cell.weight += rows[i].weight;
            cell.mean += rows[i].weight / cell.weight * off;
            squares += rows[i].weight * off * (log(rows[i].duration_s) - cell.mean);
        }
        freedom += (double)(i - from - 1);
        if (from == 0 || !shares_curve(first, &rows[from - 1]))
            pool->curves[pool->n_curves++] = (struct curve){
                .context = context_of(first), .size = first->problem_size, .from = pool->n_cells};
        pool->cells[pool->n_cells++] = cell;
        pool->curves[pool->n_curves - 1].to = pool->n_cells;
    }
    pool->noise = freedom > 0 ? squares / freedom : usual_noise * usual_noise;
}

static enum pv_code set_ticks(struct pool *pool, struct arena *scratch, struct pv_error *err)
{
    double *values = arena_array(scratch, pool->n_cells, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    for (size_t c = 0; c < pool->n_cells; c++)
        values[c] = pool->cells[c].executors;
    pool->d = surface_ticks(values, pool->n_cells, POOLED_TICKS, pool->ticks);
    if (pool->d < 2)
        return pv_fail(err, PV_E_SINGULAR,
                       "pooled needs 2 different executor counts; all runs have %g",
                       pool->ticks[0]);
    for (size_t c = 0; c < pool->n_cells; c++) {
        struct cell *cell = &pool->cells[c];
        while (cell->tick + 2 < pool->d && pool->ticks[cell->tick + 1] <= cell->executors)
            cell->tick++;
        cell->next = log(cell->executors / pool->ticks[cell->tick]) /
                     log(pool->ticks[cell->tick + 1] / pool->ticks[cell->tick]);
    }
    return PV_OK;
}

static void centre_sizes(struct pool *pool)
{
    double mean = 0;
    for (size_t u = 0; u < pool->n_curves; u++)
        mean += log(pool->curves[u].size) / (double)pool->n_curves;
    for (size_t u = 0; u < pool->n_curves; u++) {
        pool->curves[u].x = log(pool->curves[u].size) - mean;
        pool->sizes_differ = pool->sizes_differ || pool->curves[u].size != pool->curves[0].size;
    }
}

static enum pv_code
make_pool(const struct model_data *data, struct pool **made, struct pv_error *err)
{
    struct arena *scratch = data->scratch;
    size_t n = data->n + data->n_others;
    struct observation *rows = arena_array(scratch, n, sizeof *rows);
    struct pool *pool = arena_calloc(scratch, 1, sizeof *pool);
    if (rows == NULL || pool == NULL)
        return pv_no_memory(err);
    pool->cells = arena_array(scratch, n, sizeof *pool->cells);
    pool->curves = arena_array(scratch, n, sizeof *pool->curves);
    if (pool->cells == NULL || pool->curves == NULL)
        return pv_no_memory(err);
    memcpy(rows, data->rows, data->n * sizeof *rows);
    if (data->n_others > 0)
        memcpy(rows + data->n, data->others, data->n_others * sizeof *rows);
    qsort(rows, n, sizeof *rows, by_place);
    cut_into_curves(rows, n, pool);
    size_t others = 0;
    for (size_t u = 0; u < pool->n_curves; u++)
        others += pool->curves[u].context != 1;
    if (others < POOLED_CURVES)
        return pv_fail(err, PV_E_TOO_FEW,
                       "pooled needs runs of at least %d other sets of labels or their problem "
                       "sizes; there are %zu",
                       POOLED_CURVES, others);
    centre_sizes(pool);
    *made = pool;
    return set_ticks(pool, scratch, err);
}

/* --- the curve of some cells, given mean and covariance --- */

struct belief {
    double heights[POOLED_TICKS];
    double covariance[POOLED_TICKS][POOLED_TICKS];
};

static void start_belief(const struct pool *pool, double x, struct belief *b)
{
    for (size_t t = 0; t < pool->d; t++)
        b->heights[t] = pool->level[t] + pool->slope[t] * x;
    memcpy(b->covariance, pool->covariance, sizeof b->covariance);
}

/* One cell more is known: condition on it. */
static void learn(const struct pool *pool, const struct cell *cell, struct belief *b)
{
    double gain[POOLED_TICKS];
    size_t t = cell->tick;
    double low = 1 - cell->next;
    double noise = fmax(pool->noise / cell->weight, least_noise * least_noise);
    for (size_t i = 0; i < pool->d; i++)
        gain[i] = low * b->covariance[i][t] + cell->next * b->covariance[i][t + 1];
    double variance = low * gain[t] + cell->next * gain[t + 1] + noise;
    double off = cell->mean - low * b->heights[t] - cell->next * b->heights[t + 1];
    for (size_t i = 0; i < pool->d; i++) {
        b->heights[i] += gain[i] / variance * off;
        for (size_t j = 0; j < pool->d; j++)
            b->covariance[i][j] -= gain[i] * gain[j] / variance;
    }
}

/* --- mean and covariance --- */

static void guess(struct pool *pool)
{
    double mean = 0;
    double squares = 0;
    for (size_t c = 0; c < pool->n_cells; c++)
        mean += pool->cells[c].mean / (double)pool->n_cells;
    for (size_t c = 0; c < pool->n_cells; c++)
        squares += (pool->cells[c].mean - mean) * (pool->cells[c].mean - mean);
    double variance = fmax(squares / (double)pool->n_cells, least_noise * least_noise);
    for (size_t i = 0; i < pool->d; i++) {
        pool->level[i] = mean;
        for (size_t j = 0; j < pool->d; j++)
            pool->covariance[i][j] = variance * (i == j ? 1 : 0.9);
    }
}

/* The mean curve through the heights, with its rise by sizes (shrunk as if by one more curve that
 * does not rise). */
static void fit_mean(struct pool *pool)
{
    double n = (double)pool->n_curves;
    double xx = 0;
    for (size_t u = 0; u < pool->n_curves; u++)
        xx += pool->curves[u].x * pool->curves[u].x;
    for (size_t t = 0; t < pool->d; t++) {
        double sum = 0;
        double xy = 0;
        for (size_t u = 0; u < pool->n_curves; u++) {
            sum += pool->curves[u].heights[t];
            xy += pool->curves[u].x * pool->curves[u].heights[t];
        }
        pool->level[t] = sum / n;
        pool->slope[t] = pool->sizes_differ ? xy / (xx * (1 + 1 / n)) : 0;
    }
}

static void pooled_step(struct pool *pool)
{
    double sums[POOLED_TICKS][POOLED_TICKS] = {{0}};
    double trace = 0;
    struct belief belief;
    for (size_t u = 0; u < pool->n_curves; u++) {
        struct curve *curve = &pool->curves[u];
        start_belief(pool, curve->x, &belief);
        for (size_t c = curve->from; c < curve->to; c++)
            learn(pool, &pool->cells[c], &belief);
        memcpy(curve->heights, belief.heights, sizeof curve->heights);
        for (size_t i = 0; i < pool->d; i++)
            for (size_t j = 0; j < pool->d; j++)
                sums[i][j] += belief.covariance[i][j];
    }
    fit_mean(pool);
    for (size_t u = 0; u < pool->n_curves; u++) {
        const struct curve *curve = &pool->curves[u];
        double off[POOLED_TICKS];
        for (size_t i = 0; i < pool->d; i++)
            off[i] = curve->heights[i] - pool->level[i] - pool->slope[i] * curve->x;
        for (size_t i = 0; i < pool->d; i++)
            for (size_t j = 0; j < pool->d; j++)
                sums[i][j] += off[i] * off[j];
    }
    double n = (double)pool->n_curves;
    double d = (double)pool->d;
    for (size_t i = 0; i < pool->d; i++)
        trace += sums[i][i];
    for (size_t i = 0; i < pool->d; i++)
        for (size_t j = 0; j < pool->d; j++)
            pool->covariance[i][j] =
                (sums[i][j] + (i == j ? d * prior_share * trace / (n * d) : 0)) / (n + d);
}

/* --- the model --- */

static enum pv_code
set_knots(const struct pool *pool, struct arena *scratch, struct model *model, struct pv_error *err)
{
    size_t own = 0;
    while (own < pool->n_curves && pool->curves[own].context == 1)
        own++;
    bool twice = own == 1 && pool->sizes_differ;
    size_t kept = own < SIZES_MAX ? own : SIZES_MAX;
    struct model_knot *knots = arena_array(scratch, (kept + 1) * pool->d, sizeof *knots);
    if (knots == NULL)
        return pv_no_memory(err);
    size_t n = 0;
    for (size_t k = 0; k < kept; k++) {
        const struct curve *curve = &pool->curves[kept == own ? k : k * (own - 1) / (kept - 1)];
        for (size_t t = 0; t < pool->d; t++)
            knots[n++] = (struct model_knot){curve->size, pool->ticks[t], exp(curve->heights[t])};
    }
    for (size_t t = 0; twice && t < pool->d; t++)
        knots[n++] = (struct model_knot){2 * pool->curves[0].size, pool->ticks[t],
                                         exp(pool->curves[0].heights[t] + pool->slope[t] * log(2))};
    model->tables.knots = knots;
    model->tables.n_knots = n;
    return PV_OK;
}

static double height_at(const struct pool *pool, const double heights[], double executors)
{
    size_t t = 0;
    while (t + 2 < pool->d && pool->ticks[t + 1] <= executors)
        t++;
    double next = log(executors / pool->ticks[t]) / log(pool->ticks[t + 1] / pool->ticks[t]);
    return (1 - next) * heights[t] + next * heights[t + 1];
}

/* The curve of a row's context and size without that row; of one that has no other, what the
 * nearest own size says. */
static double pooled_leave_out(const struct pool *pool, const struct observation *row)
{
    const struct curve *mine = pool->curves; /* every row is of one of them */
    const struct curve *near = NULL;
    struct belief belief;
    size_t left = 0;
    for (size_t u = 0; u < pool->n_curves && pool->curves[u].context == 1; u++) {
        const struct curve *curve = &pool->curves[u];
        if (curve->size == row->problem_size)
            mine = curve;
        else if (near == NULL || fabs(log(curve->size / row->problem_size)) <
                                     fabs(log(near->size / row->problem_size)))
            near = curve;
    }
    start_belief(pool, mine->x, &belief);
    for (size_t c = mine->from; c < mine->to; c++) {
        struct cell cell = pool->cells[c];
        if (cell.executors == row->executors) {
            double rest = cell.weight - row->weight;
            if (rest <= 1e-9 * cell.weight)
                continue;
            cell.mean = (cell.weight * cell.mean - row->weight * log(row->duration_s)) / rest;
            cell.weight = rest;
        }
        learn(pool, &cell, &belief);
        left++;
    }
    if (left > 0 || near == NULL)
        return exp(height_at(pool, belief.heights, row->executors));
    return exp(height_at(pool, near->heights, row->executors) +
               height_at(pool, pool->slope, row->executors) * (mine->x - near->x));
}

static enum pv_code
fit_pooled(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct pool *pool = NULL;
    PV_TRY(make_pool(data, &pool, err));
    guess(pool);
    for (size_t i = 0; i < ITERATIONS; i++)
        pooled_step(pool);
    PV_TRY(set_knots(pool, data->scratch, &fit->model, err));
    for (size_t i = 0; !data->whole && i < data->n; i++)
        fit->left_out[i] = pooled_leave_out(pool, &data->rows[i]);
    size_t own = 0;
    while (own < pool->n_curves && pool->curves[own].context == 1)
        own++;
    fit->freedom[0] = data->n > own ? (double)(data->n - own) : 0;
    fit->model.reference = MODEL_EXTRAPOLATED;
    return PV_OK;
}

static void pooled_describe(const struct model *model, struct findings *findings)
{
    struct finding *finding =
        finding_add(findings, "pooled_curves",
                    "The curve over executors that these labels' own runs and the curves of other "
                    "labels make likely, read off between %zu knots.",
                    model->tables.n_knots);
    finding_number(finding, "knots", (double)model->tables.n_knots);
}

const struct model_kind pooled_kind = {
    .name = "pooled",
    .forms = MODEL_OF_DURATIONS,
    .tables = MODEL_HAS_KNOTS,
    .pools = true,
    .fit = fit_pooled,
    .duration_s = interpolated_duration,
    .turning_points = interpolated_turning_points,
    .describe = pooled_describe,
};

#include "core/scaling/laws/worker_load.h"

#include <math.h>
#include <string.h>

#include "core/numerics/normal_equations.h"

enum { FIXED, SHARED, SPILL, OVERFLOWS, GROWS, COLUMNS };
enum { ROUNDS = 8 };

static const size_t places[COLUMNS] = {WORKER_FIXED, WORKER_SHARED, WORKER_SPILL, WORKER_OVERFLOW,
                                       WORKER_GROWS};

/* Work that divides clearly better or worse than evenly. What is steeper still is no property of
 * the division but a loss where executors are few, which other terms describe. */
static const double exponents[] = {1, 0.75, 1.25, 0.5, 1.5};

/* Of ln T, the scale of the errors' distribution: a cell that is off by more counts clearly less.
 */
static const double usual_error = 0.04;
/* Of a cell's weight: moves of less change no prediction that matters. */
static const double settled = 3e-3;
/* Of the loss: shapes whose losses differ by less fit alike, and the plainest is taken. */
static const double alike = 1e-9;

/* --- the law --- */

double worker_count(double idle, double m)
{
    return fmax(m - idle, m / 2);
}

/* Quarters, which most exponents are, need no logarithm. */
static double power_of(double w, double exponent)
{
    double root = sqrt(w);
    if (exponent == 1)
        return w;
    return exponent == 0.5    ? root
           : exponent == 1.5  ? w * root
           : exponent == 0.75 ? root * sqrt(root)
           : exponent == 1.25 ? w * sqrt(root)
                              : pow(w, exponent);
}

static double share_of(double exponent, double problem_size, double workers)
{
    return problem_size / power_of(workers, exponent);
}

double worker_load_duration(const double p[WORKER_PARAMETERS], double problem_size, double m)
{
    double workers = worker_count(p[WORKER_IDLE], m);
    double sum_s = p[WORKER_FIXED] + p[WORKER_GROWS] * problem_size +
                   p[WORKER_SHARED] * share_of(p[WORKER_EXPONENT], problem_size, workers) +
                   p[WORKER_SPILL] * problem_size / (m * m);
    if (p[WORKER_OVERFLOW] > 0)
        sum_s += p[WORKER_OVERFLOW] * fmax(0, problem_size / workers - p[WORKER_LIMIT]);
    return sum_s;
}

double worker_load_loss(double log_error)
{
    double off = log_error / usual_error;
    return log1p(off * off);
}

/* --- least squares --- */

/* The columns that a shape of the law has: those that are 0 everywhere would only cost time. */
struct columns {
    size_t of[COLUMNS];
    size_t n;
};

/* With one problem size N is a multiple of the constant column. */
static struct columns
choose_columns(const struct load_cells *cells, const struct worker_form *form, double limit)
{
    struct columns columns = {.of = {FIXED, SHARED}, .n = 2};
    if (form->has_spill)
        columns.of[columns.n++] = SPILL;
    if (isfinite(limit))
        columns.of[columns.n++] = OVERFLOWS;
    if (cells->sizes > 1)
        columns.of[columns.n++] = GROWS;
    return columns;
}

static void fill_columns(const struct columns *columns,
                         const struct worker_form *form,
                         double exponent,
                         double limit,
                         const struct load_cell *cell,
                         double x[])
{
    double m = cell->executors;
    double workers = worker_count(form->idle, m);
    for (size_t c = 0; c < columns->n; c++)
        switch (columns->of[c]) {
        case FIXED:
            x[c] = 1;
            break;
        case SHARED:
            x[c] = share_of(exponent, cell->problem_size, workers);
            break;
        case SPILL:
            x[c] = cell->problem_size / (m * m);
            break;
        case OVERFLOWS:
            x[c] = fmax(0, cell->problem_size / workers - limit);
            break;
        default:
            x[c] = cell->problem_size;
        }
}

/* One shape of the law while it is fitted. */
struct trial {
    const struct load_cells *cells;
    struct load_absence absence;
    bool robust;
    struct columns columns;
    double *x;       /* columns.n values a cell */
    double *weights; /* of the cells */
    double b[COLUMNS];
    double rest; /* the weighted sum of squares */
};

static double value_of(const struct trial *trial, const double x[])
{
    double sum = 0;
    for (size_t c = 0; c < trial->columns.n; c++)
        sum += x[c] * trial->b[c];
    return sum;
}

static void solve(struct trial *trial)
{
    const struct load_cells *cells = trial->cells;
    size_t k = trial->columns.n;
    struct gram gram;
    gram_init(&gram, k);
    for (size_t i = 0; i < cells->n; i++)
        if (!load_is_absent(&cells->at[i], trial->absence))
            gram_add(&gram, trial->x + i * k, cells->at[i].mean_s, trial->weights[i]);
    trial->rest = gram_solve(&gram, trial->b);
}

static double error_at(const struct trial *trial, size_t i)
{
    double predicted_s = value_of(trial, trial->x + i * trial->columns.n);
    return log(fmax(predicted_s, 1e-300) / trial->cells->at[i].mean_s);
}

/* Weights by the errors of the present solution. Returns by how much of itself any moved. */
static double weigh_again(struct trial *trial)
{
    const struct load_cells *cells = trial->cells;
    double moved = 0;
    for (size_t i = 0; i < cells->n; i++) {
        if (load_is_absent(&cells->at[i], trial->absence))
            continue;
        double off = error_at(trial, i) / usual_error;
        double weight = cells->at[i].weight / sqrt(1 + off * off);
        moved = fmax(moved, fabs(weight - trial->weights[i]) / cells->at[i].weight);
        trial->weights[i] = weight;
    }
    return moved;
}

static void fit_shape(struct trial *trial)
{
    solve(trial);
    for (size_t round = 0; trial->robust && round < ROUNDS; round++) {
        if (weigh_again(trial) < settled)
            return;
        solve(trial);
    }
}

/* What shapes are compared by: of robust fits Cauchy's loss, else the sum of squares. */
static double loss_of(const struct trial *trial)
{
    const struct load_cells *cells = trial->cells;
    double loss = 0;
    if (!trial->robust)
        return trial->rest;
    for (size_t i = 0; i < cells->n; i++) {
        double size = cells->at[i].weight * cells->at[i].mean_s;
        if (!load_is_absent(&cells->at[i], trial->absence))
            loss += size * size * worker_load_loss(error_at(trial, i));
    }
    return loss;
}

static void take_shape(const struct trial *trial, double exponent, double p[WORKER_PARAMETERS])
{
    for (size_t j = 0; j < COLUMNS; j++)
        p[places[j]] = 0;
    for (size_t c = 0; c < trial->columns.n; c++)
        p[places[trial->columns.of[c]]] = trial->b[c];
    p[WORKER_EXPONENT] = exponent;
}

enum pv_code worker_load_fit(const struct load_cells *cells,
                             const struct worker_form *form,
                             double limit,
                             struct load_absence absence,
                             double weights[],
                             double p[WORKER_PARAMETERS],
                             struct pv_error *err)
{
    struct arena *scratch = cells->data->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct trial trial = {.cells = cells, .absence = absence, .robust = form->robust};
    trial.columns = choose_columns(cells, form, limit);
    trial.x = arena_array(scratch, cells->n, COLUMNS * sizeof *trial.x);
    trial.weights = arena_array(scratch, cells->n, 2 * sizeof *trial.weights);
    if (trial.x == NULL || trial.weights == NULL)
        return pv_no_memory(err);
    double *first = trial.weights + cells->n;
    bool warm = weights != NULL && weights[0] > 0;
    for (size_t i = 0; i < cells->n; i++)
        first[i] = warm ? weights[i] : cells->at[i].weight;
    double least = (double)INFINITY;
    size_t shapes = form->has_exponent ? sizeof exponents / sizeof *exponents : 1;
    for (size_t s = 0; s < shapes; s++) {
        for (size_t i = 0; i < cells->n; i++) {
            fill_columns(&trial.columns, form, exponents[s], limit, &cells->at[i],
                         trial.x + i * trial.columns.n);
            trial.weights[i] = first[i];
        }
        fit_shape(&trial);
        double loss = shapes > 1 ? loss_of(&trial) : 0;
        if (s > 0 && loss >= least - alike * least)
            continue;
        least = loss;
        take_shape(&trial, exponents[s], p);
        for (size_t i = 0; weights != NULL && i < cells->n; i++)
            weights[i] = trial.weights[i];
    }
    arena_rewind(scratch, mark);
    p[WORKER_IDLE] = form->idle;
    p[WORKER_LIMIT] = isfinite(limit) ? limit : 0;
    return PV_OK;
}

/* The cells without that row of one of them. */
static enum pv_code leave_row(const struct load_cells *cells,
                              const struct load_cell *cell,
                              size_t row,
                              struct load_cells *rest,
                              struct pv_error *err)
{
    double square = cells->data->factors[row] * cells->data->factors[row];
    double left = 1 - square / (cell->weight * cell->weight);
    size_t at = (size_t)(cell - cells->at);
    *rest = *cells;
    rest->at = arena_array(cells->data->scratch, cells->n, sizeof *rest->at);
    if (rest->at == NULL)
        return pv_no_memory(err);
    memcpy(rest->at, cells->at, cells->n * sizeof *rest->at);
    if (cell->rows == 1 || !(left > 1e-9)) {
        rest->n--;
        memmove(rest->at + at, rest->at + at + 1, (rest->n - at) * sizeof *rest->at);
        return PV_OK;
    }
    struct load_cell *mine = &rest->at[at];
    mine->mean_s += (1 - left) / left * (mine->mean_s - cells->data->rows[row].duration_s);
    mine->weight *= sqrt(left);
    return PV_OK;
}

enum pv_code worker_load_without(const struct load_cells *cells,
                                 const struct worker_form *form,
                                 const double weights[],
                                 const double p[WORKER_PARAMETERS],
                                 const struct load_cell *cell,
                                 size_t row,
                                 double *predicted_s,
                                 struct pv_error *err)
{
    struct arena *scratch = cells->data->scratch;
    struct arena_mark mark = arena_mark(scratch);
    double limit = p[WORKER_LIMIT] > 0 ? p[WORKER_LIMIT] : (double)INFINITY;
    struct load_cells rest;
    double x[COLUMNS];
    PV_TRY(leave_row(cells, cell, row, &rest, err));
    /* One of several rows of a cell moves the others' weights little. */
    bool again = form->robust && cell->rows == 1 && cells->n <= WORKER_CELLS_FEW;
    struct trial trial = {.cells = &rest, .absence = LOAD_NOTHING_ABSENT, .robust = again};
    trial.columns = choose_columns(cells, form, limit);
    trial.x = arena_array(scratch, cells->n, COLUMNS * sizeof *trial.x);
    trial.weights = arena_array(scratch, cells->n, sizeof *trial.weights);
    if (trial.x == NULL || trial.weights == NULL)
        return pv_no_memory(err);
    for (size_t i = 0, of = 0; i < rest.n; i++, of++) {
        of += rest.n < cells->n && &cells->at[of] == cell;
        fill_columns(&trial.columns, form, p[WORKER_EXPONENT], limit, &rest.at[i],
                     trial.x + i * trial.columns.n);
        trial.weights[i] = weights[of] * rest.at[i].weight / cells->at[of].weight;
    }
    fit_shape(&trial);
    fill_columns(&trial.columns, form, p[WORKER_EXPONENT], limit, cell, x);
    *predicted_s = value_of(&trial, x);
    arena_rewind(scratch, mark);
    return PV_OK;
}

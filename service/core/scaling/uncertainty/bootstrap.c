#include "core/scaling/uncertainty/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/numerics/student.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/uncertainty/bca.h"

/* Of the cells, for the acceleration. */
enum { PARTS_MAX = 100 };

/* Replications of all figures: a row for each figure, so that a step's slots lie in columns. */
struct table {
    double *values;
    size_t columns;
};

struct bootstrap {
    struct bootstrap_order order;
    struct model_fit fit;
    struct resample from;
    double t;       /* widths of intervals, in standard errors */
    size_t figures; /* parameters of the kind, then points */
    struct table resampled;
    struct table next_run; /* a row for each point */
    struct table left_out;
    bool *failed;                       /* of each resample */
    const struct model_kind **selected; /* of each selection; NULL: none */
    size_t selections;
    size_t cells_out;
    size_t parts;
};

/* --- what is asked --- */

const struct model_kind *bootstrap_kind(const struct model_selection *selection)
{
    const struct model_candidate *selected = selection->selected;
    if (selected != NULL && selected->kind->pools)
        selected = selection->single;
    return selected == NULL ? NULL : selected->kind;
}

static int by_configuration(const void *a, const void *b)
{
    const struct bootstrap_point *x = a;
    const struct bootstrap_point *y = b;
    int order = compare_double(x->problem_size, y->problem_size);
    return order != 0 ? order : compare_double(x->executors, y->executors);
}

enum pv_code bootstrap_observed_points(const struct observation rows[],
                                       size_t n,
                                       size_t most,
                                       struct arena *arena,
                                       struct bootstrap_point **points,
                                       size_t *n_points,
                                       struct pv_error *err)
{
    struct bootstrap_point *found = arena_array(arena, n, sizeof *found);
    size_t distinct = 0;
    if (found == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        found[i] = (struct bootstrap_point){rows[i].problem_size, rows[i].executors};
    qsort(found, n, sizeof *found, by_configuration);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || by_configuration(&found[distinct - 1], &found[i]) != 0)
            found[distinct++] = found[i];
    size_t kept = distinct < most ? distinct : most;
    for (size_t i = 0; i < kept; i++)
        found[i] = found[kept < 2 ? 0 : i * (distinct - 1) / (kept - 1)];
    *points = found;
    *n_points = kept;
    return PV_OK;
}

/* --- before the first step --- */

/* Parameters that the rows were spent on: by the degrees of freedom that are left, where known. */
static size_t count_parameters(const struct model_fit *fit)
{
    double freedom = fit->model.uncertainty.freedom;
    if (freedom > 0 && freedom <= (double)fit->n)
        return fit->n - (size_t)floor(freedom);
    size_t n = 0;
    for (size_t j = 0; j < fit->model.kind->n_parameters; j++)
        n += !isnan(fit->model.parameters[j].estimate) && !fit->model.parameters[j].dropped;
    return n;
}

static enum pv_code bootstrap_make_table(
    size_t rows, size_t columns, struct arena *arena, struct table *table, struct pv_error *err)
{
    size_t cells;
    if (__builtin_mul_overflow(rows, columns, &cells))
        return pv_no_memory(err);
    table->columns = columns;
    table->values = arena_array(arena, cells, sizeof *table->values);
    if (table->values == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < cells; i++)
        table->values[i] = (double)NAN;
    return PV_OK;
}

static double *row_of(const struct table *table, size_t row)
{
    return table->values + row * table->columns;
}

static enum pv_code make_tables(struct bootstrap *b, struct arena *arena, struct pv_error *err)
{
    const struct bootstrap_order *order = &b->order;
    b->figures = order->kind->n_parameters + order->n_points;
    b->failed = arena_calloc(arena, order->resamples, sizeof *b->failed);
    b->selected = arena_calloc(arena, b->selections, sizeof *b->selected);
    if (b->failed == NULL || b->selected == NULL)
        return pv_no_memory(err);
    PV_TRY(bootstrap_make_table(b->figures, order->resamples, arena, &b->resampled, err));
    PV_TRY(bootstrap_make_table(order->n_points, order->resamples, arena, &b->next_run, err));
    return bootstrap_make_table(b->figures, b->parts, arena, &b->left_out, err);
}

static void plan_steps(struct bootstrap *b)
{
    size_t cells = b->from.cells;
    b->parts = cells < PARTS_MAX ? cells : PARTS_MAX;
    if (cells < 3)
        return;
    b->cells_out = (size_t)fmax(1, floor(sqrt((double)cells)));
    b->selections = b->order.selections;
}

/* Cases, too, spread less than estimates do, by the parameters that each draw fits anew. */
static double find_width(const struct resample *from, double confidence)
{
    double t = student_quantile(confidence, from->freedom);
    if (from->method == RESAMPLE_CASES)
        t *= sqrt((double)from->cells / from->freedom);
    return t;
}

enum pv_code bootstrap_begin(const struct bootstrap_order *order,
                             struct arena *arena,
                             struct bootstrap **made,
                             struct pv_error *err)
{
    struct bootstrap *b = arena_calloc(arena, 1, sizeof *b);
    struct observation *rows = NULL;
    if (b == NULL)
        return pv_no_memory(err);
    b->order = *order;
    PV_TRY(resample_sort(order->rows, order->n, arena, &rows, err));
    b->order.rows = rows;
    PV_TRY(model_fit(order->kind, rows, order->n, order->weights, arena, &b->fit, err));
    PV_TRY(resample_make(rows, &b->fit, count_parameters(&b->fit), arena, &b->from, err));
    b->t = find_width(&b->from, order->confidence);
    plan_steps(b);
    PV_TRY(make_tables(b, arena, err));
    *made = b;
    return PV_OK;
}

size_t bootstrap_steps(const struct bootstrap *b)
{
    return b->order.resamples + b->selections + b->parts;
}

/* --- steps --- */

static double bootstrap_predict(const struct model *fitted, const struct bootstrap_point *point)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    struct model bare = *fitted;
    bare.uncertainty.observations = 0;
    model_predict(&bare, &none, point->problem_size, point->executors, &there);
    double value = bare.form == MODEL_OF_SPEEDUPS ? there.speedup : there.duration_s;
    return value > 0 ? value : (double)NAN;
}

static double figure_of(const struct bootstrap *b, const struct model *fitted, size_t figure)
{
    size_t parameters = b->order.kind->n_parameters;
    if (figure < parameters)
        return fitted->parameters[figure].estimate;
    return bootstrap_predict(fitted, &b->order.points[figure - parameters]);
}

/* Fit to those rows and keep the figures in that column; *fitted: they could be. */
static enum pv_code fit_into(const struct bootstrap *b,
                             const struct observation rows[],
                             size_t n,
                             const struct table *table,
                             size_t column,
                             struct arena *scratch,
                             bool *fitted,
                             struct pv_error *err)
{
    struct model_fit fit;
    enum pv_code code = model_fit(b->order.kind, rows, n, b->order.weights, scratch, &fit, NULL);
    *fitted = code == PV_OK;
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    for (size_t f = 0; *fitted && f < b->figures; f++)
        row_of(table, f)[column] = figure_of(b, &fit.model, f);
    return PV_OK;
}

static enum pv_code resample_step(struct bootstrap *b,
                                  size_t i,
                                  struct rng *rng,
                                  struct observation rows[],
                                  struct arena *scratch,
                                  struct pv_error *err)
{
    bool fitted;
    size_t n = resample_draw(&b->from, rng, rows);
    PV_TRY(fit_into(b, rows, n, &b->resampled, i, scratch, &fitted, err));
    b->failed[i] = !fitted;
    for (size_t k = 0; fitted && k < b->order.n_points; k++) {
        double law = row_of(&b->resampled, b->order.kind->n_parameters + k)[i];
        if (!isnan(law))
            row_of(&b->next_run, k)[i] = resample_next_run(&b->from, rng, law);
    }
    return PV_OK;
}

static enum pv_code selection_step(struct bootstrap *b,
                                   size_t i,
                                   struct rng *rng,
                                   struct observation rows[],
                                   struct arena *scratch,
                                   struct pv_error *err)
{
    struct model_selection selection;
    size_t *order = arena_array(scratch, b->from.cells, sizeof *order);
    if (order == NULL)
        return pv_no_memory(err);
    size_t n = resample_leave_out(&b->from, b->cells_out, rng, order, rows);
    PV_TRY(model_select(rows, n, scratch, &selection, err));
    b->selected[i] = selection.selected == NULL ? NULL : selection.selected->kind;
    return PV_OK;
}

static enum pv_code part_step(struct bootstrap *b,
                              size_t i,
                              struct observation rows[],
                              struct arena *scratch,
                              struct pv_error *err)
{
    bool fitted;
    size_t n = resample_without(&b->from, i, b->parts, rows);
    return n == 0 ? PV_OK : fit_into(b, rows, n, &b->left_out, i, scratch, &fitted, err);
}

static enum pv_code do_step(struct bootstrap *b,
                            size_t i,
                            struct observation rows[],
                            struct arena *scratch,
                            struct pv_error *err)
{
    struct rng rng = rng_make(b->order.seed, i);
    if (i < b->order.resamples)
        return resample_step(b, i, &rng, rows, scratch, err);
    i -= b->order.resamples;
    if (i < b->selections)
        return selection_step(b, i, &rng, rows, scratch, err);
    return part_step(b, i - b->selections, rows, scratch, err);
}

enum pv_code
bootstrap_step(struct bootstrap *b, size_t i, struct arena *scratch, struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct observation *rows = arena_array(scratch, resample_rows_max(&b->from), sizeof *rows);
    enum pv_code code = rows == NULL ? pv_no_memory(err) : do_step(b, i, rows, scratch, err);
    arena_rewind(scratch, mark);
    return code;
}

/* --- after the last step --- */

static size_t count_failed(const struct bootstrap *b)
{
    size_t failed = 0;
    for (size_t i = 0; i < b->order.resamples; i++)
        failed += b->failed[i] ? 1 : 0;
    return failed;
}

static size_t count_known(const double values[], size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        known += isnan(values[i]) ? 0 : 1;
    return known;
}

/* Replications to be sorted; 0 where half of them are no number: the rest speaks for itself only.
 */
static size_t bootstrap_take(const struct bootstrap *b, const double replications[], double room[])
{
    size_t n = b->order.resamples;
    if (2 * count_known(replications, n) <= n)
        return 0;
    memcpy(room, replications, n * sizeof *room);
    return n;
}

static struct bootstrap_figure tell_figure(const struct bootstrap *b, size_t f, double room[])
{
    double estimate = figure_of(b, &b->fit.model, f);
    double acceleration = bca_acceleration(row_of(&b->left_out, f), b->parts);
    size_t n = isnan(estimate) ? 0 : bootstrap_take(b, row_of(&b->resampled, f), room);
    struct bca made = bca_interval(room, n, estimate, acceleration, b->t);
    return (struct bootstrap_figure){
        estimate, made.std_error, {made.interval[0], made.interval[1]}};
}

static void clip(double interval[2], double low, double high)
{
    for (size_t i = 0; i < 2; i++)
        if (!isnan(interval[i]))
            interval[i] = fmin(fmax(interval[i], low), high);
}

static void
bootstrap_set_parameters(const struct bootstrap *b, double room[], struct bootstrap_result *made)
{
    for (size_t j = 0; j < b->order.kind->n_parameters; j++) {
        const struct model_parameter_rule *rule = &b->order.kind->rules[j];
        made->parameters[j] = tell_figure(b, j, room);
        clip(made->parameters[j].interval, rule->low, rule->high);
    }
}

static void tell_predictions(const struct bootstrap *b,
                             double room[],
                             struct bootstrap_prediction predictions[])
{
    for (size_t k = 0; k < b->order.n_points; k++) {
        struct bootstrap_prediction *p = &predictions[k];
        p->point = b->order.points[k];
        p->expected = tell_figure(b, b->order.kind->n_parameters + k, room);
        struct bca next =
            bca_percentiles(room, bootstrap_take(b, row_of(&b->next_run, k), room), b->t);
        clip(p->expected.interval, 0, (double)INFINITY);
        clip(next.interval, 0, (double)INFINITY);
        p->next_run[0] = fmin(next.interval[0], p->expected.interval[0]);
        p->next_run[1] = fmax(next.interval[1], p->expected.interval[1]);
    }
}

static int by_times(const void *a, const void *b)
{
    const struct bootstrap_choice *x = a;
    const struct bootstrap_choice *y = b;
    if (x->times != y->times)
        return (x->times < y->times) - (x->times > y->times);
    return strcmp(x->kind->name, y->kind->name);
}

static void count_choices(const struct bootstrap *b, struct bootstrap_result *made)
{
    for (size_t i = 0; i < b->selections; i++) {
        size_t k = 0;
        if (b->selected[i] == NULL) {
            made->undecided++;
            continue;
        }
        while (k < made->n_choices && made->choices[k].kind != b->selected[i])
            k++;
        made->choices[k].kind = b->selected[i];
        made->choices[k].times++;
        made->n_choices += k == made->n_choices ? 1 : 0;
    }
    qsort(made->choices, made->n_choices, sizeof *made->choices, by_times);
}

enum pv_code bootstrap_finish(const struct bootstrap *b,
                              struct arena *arena,
                              struct bootstrap_result *result,
                              struct pv_error *err)
{
    struct bootstrap_result made = {.fit = &b->fit,
                                    .method = b->from.method,
                                    .cell_errors = b->from.cell_errors != NULL,
                                    .cells = b->from.cells,
                                    .freedom = b->from.freedom,
                                    .resamples = b->order.resamples,
                                    .failed = count_failed(b),
                                    .n_predictions = b->order.n_points,
                                    .selections = b->selections,
                                    .left_out = b->cells_out};
    double *room = arena_array(arena, b->order.resamples, sizeof *room);
    made.predictions = arena_array(arena, b->order.n_points, sizeof *made.predictions);
    made.choices = arena_calloc(arena, b->selections + 1, sizeof *made.choices);
    if (room == NULL || made.predictions == NULL || made.choices == NULL)
        return pv_no_memory(err);
    bootstrap_set_parameters(b, room, &made);
    tell_predictions(b, room, made.predictions);
    count_choices(b, &made);
    *result = made;
    return PV_OK;
}

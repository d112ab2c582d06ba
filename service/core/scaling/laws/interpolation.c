#include "core/scaling/laws/interpolation.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit_types.h"

/* Standard error of a median over that of a mean, for normal noise: sqrt(pi/2). */
static const double median_loss = 1.2533;
/* So many standard errors count as noise. */
static const double within = 2;
/* Prior exponents of N and of m, and their weight as a sum of squares of ln N or ln m. Two places a
 * factor of 1.15 apart have the same weight. */
static const double size_exponent = 0.7;
static const double count_exponent = -0.7;
static const double end_weight = 0.02;
/* exp of more would leave the range of doubles. */
static const double log_max = 690;

/* --- reading it off --- */

/* Knots of one problem size. */
struct span {
    size_t from;
    size_t to;
};

/* First knot whose size is not below N, or above it. */
static size_t first_knot(const struct model_tables *t, double size, bool above)
{
    size_t low = 0;
    size_t high = t->n_knots;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double here = t->knots[middle].problem_size;
        if (here < size || (above && here <= size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct span span_with(const struct model_tables *t, size_t i)
{
    double size = t->knots[i].problem_size;
    return (struct span){first_knot(t, size, false), first_knot(t, size, true)};
}

/* Through (xa, ya) and (xb, yb), at x. */
static double line_at(double x, double xa, double ya, double xb, double yb)
{
    return ya + (x - xa) * ((yb - ya) / (xb - xa));
}

/* Sums of squares and products of ln x and ln T about their means. */
struct log_sums {
    double n;
    double x;
    double y;
    double xx;
    double xy;
};

static void add_logs(struct log_sums *sums, double x, double y)
{
    double share = sums->n / (sums->n + 1);
    double off = x - sums->x;
    sums->xx += share * off * off;
    sums->xy += share * off * (y - sums->y);
    sums->n++;
    sums->x += off / sums->n;
    sums->y += (y - sums->y) / sums->n;
}

/* The exponent by which T is continued beyond its last two places: theirs, moved towards that of
 * all places, and that towards a usual one; the more so the closer the places are. */
static double
end_exponent(double usual, const struct log_sums *all, double x, double y, double x2, double y2)
{
    double regression = (all->xy + end_weight * usual) / (all->xx + end_weight);
    double apart = x2 - x;
    return (apart * (y2 - y) + end_weight * regression) / (apart * apart + end_weight);
}

/* ln T of one curve beyond its counts, from the knot at its end and the one next to that. */
static double
continue_curve(const struct model_tables *t, struct span span, size_t end, size_t next, double m)
{
    const struct model_knot *a = &t->knots[end];
    const struct model_knot *b = &t->knots[next];
    struct log_sums sums = {0, 0, 0, 0, 0};
    for (size_t i = span.from; i < span.to; i++)
        add_logs(&sums, log(t->knots[i].executors), log(t->knots[i].duration_s));
    double exponent = end_exponent(count_exponent, &sums, log(a->executors), log(a->duration_s),
                                   log(b->executors), log(b->duration_s));
    return log(a->duration_s) + exponent * log(m / a->executors);
}

/* ln T of one curve. */
static double curve_at(const struct model_tables *t, struct span span, double executors)
{
    size_t low = span.from;
    size_t high = span.to - 1;
    if (low == high)
        return log(t->knots[low].duration_s);
    if (executors < t->knots[low].executors)
        return continue_curve(t, span, low, low + 1, executors);
    if (executors > t->knots[high].executors)
        return continue_curve(t, span, high, high - 1, executors);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(t->knots[middle].executors <= executors ? &low : &high) = middle;
    }
    const struct model_knot *a = &t->knots[low];
    const struct model_knot *b = &t->knots[high];
    return line_at(log(executors), log(a->executors), log(a->duration_s), log(b->executors),
                   log(b->duration_s));
}

/* The two curves that a size lies between, or the two next to it; false: it has one of its own, or
 * there is no other. */
static bool find_spans(const struct model_tables *t, double size, struct span *a, struct span *b)
{
    size_t at = first_knot(t, size, false);
    *b = span_with(t, at < t->n_knots ? at : t->n_knots - 1);
    *a = *b;
    if (at < t->n_knots && t->knots[at].problem_size <= size)
        return false;
    if (b->from > 0) {
        *a = span_with(t, b->from - 1);
        return true;
    }
    if (a->to == t->n_knots)
        return false;
    *b = span_with(t, a->to);
    return true;
}

/* ln T beyond the sizes of all curves, from the curve at the end and the one next to that. */
static double continue_sizes(
    const struct model_tables *t, struct span end, struct span next, double size, double executors)
{
    struct log_sums sums = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < t->n_knots;) {
        struct span span = span_with(t, i);
        add_logs(&sums, log(t->knots[i].problem_size), curve_at(t, span, executors));
        i = span.to;
    }
    double last = log(t->knots[end.from].problem_size);
    double here = curve_at(t, end, executors);
    double exponent =
        end_exponent(size_exponent, &sums, last, here, log(t->knots[next.from].problem_size),
                     curve_at(t, next, executors));
    return here + exponent * (log(size) - last);
}

/* ln T of another size than that of the only curve: at the same N/m. A curve that rises somewhere
 * does not make more data faster: the highest time of the curve counts between m and there, and the
 * lowest for less data. */
static double
time_at_load(const struct model_tables *t, struct span span, double size, double executors)
{
    double ratio = t->knots[span.from].problem_size / size;
    double sign = ratio < 1 ? 1 : -1;
    double there = executors * ratio;
    double extreme = sign * curve_at(t, span, there);
    if (ratio == 1)
        return curve_at(t, span, executors);
    extreme = fmax(extreme, sign * curve_at(t, span, executors));
    for (size_t i = span.from; i < span.to; i++) {
        const struct model_knot *knot = &t->knots[i];
        if ((knot->executors - executors) * (knot->executors - there) < 0)
            extreme = fmax(extreme, sign * log(knot->duration_s));
    }
    return sign * extreme;
}

static double log_time_at(const struct model_tables *t, double size, double executors)
{
    struct span a;
    struct span b;
    if (!find_spans(t, size, &a, &b))
        return time_at_load(t, a, size, executors);
    if (size < t->knots[a.from].problem_size)
        return continue_sizes(t, a, b, size, executors);
    if (size > t->knots[b.from].problem_size)
        return continue_sizes(t, b, a, size, executors);
    return line_at(log(size), log(t->knots[a.from].problem_size), curve_at(t, a, executors),
                   log(t->knots[b.from].problem_size), curve_at(t, b, executors));
}

double interpolated_duration(const struct model_law *law, double problem_size, double executors)
{
    double log_s = log_time_at(&law->tables, problem_size, executors);
    return exp(fmin(log_max, fmax(-log_max, log_s)));
}

/* Executor counts of the curves around a size where the time is less than at the one before and no
 * more than at the one after: a broken line is least at one of its corners. */
size_t interpolated_turning_points(const struct model_law *law, double problem_size, double m[])
{
    struct span spans[2];
    const struct model_tables *t = &law->tables;
    bool two = find_spans(t, problem_size, &spans[0], &spans[1]);
    double scale = two ? 1 : problem_size / t->knots[spans[0].from].problem_size;
    size_t n = 0;
    for (size_t s = 0; s < (two ? 2u : 1u); s++) {
        for (size_t i = spans[s].from; i < spans[s].to && n < MODEL_TURNS_MAX; i++) {
            double at = t->knots[i].executors * scale;
            double here = log_time_at(t, problem_size, at);
            if (log_time_at(t, problem_size, at * 0.999) >= here &&
                log_time_at(t, problem_size, at * 1.001) >= here)
                m[n++] = at;
        }
    }
    return n;
}

/* --- cells --- */

struct cell {
    size_t first; /* row */
    size_t n;
    double weight;
    double mean; /* of ln T */
    double squares;
};

struct builder {
    const struct model_data *data;
    const double *logs; /* ln T of each row */
    struct cell *cells;
    size_t n_cells;
    double squares; /* within cells */
    double *room;   /* n_cells values */
    double *weights;
};

static bool same_size(const struct builder *b, size_t cell, size_t other)
{
    const struct observation *x = &b->data->rows[b->cells[cell].first];
    const struct observation *y = &b->data->rows[b->cells[other].first];
    return !(x->problem_size < y->problem_size) && !(x->problem_size > y->problem_size);
}

/* Rows are sorted by N, then m. */
static void find_cells(struct builder *b)
{
    const struct observation *rows = b->data->rows;
    b->n_cells = 0;
    b->squares = 0;
    for (size_t i = 0; i < b->data->n; i++) {
        bool next = i == 0 || rows[i].problem_size > rows[i - 1].problem_size ||
                    rows[i].executors > rows[i - 1].executors;
        if (next)
            b->cells[b->n_cells++] = (struct cell){.first = i};
        struct cell *cell = &b->cells[b->n_cells - 1];
        double off = b->logs[i] - cell->mean;
        cell->n++;
        cell->weight += rows[i].weight;
        cell->mean += off * rows[i].weight / cell->weight;
        cell->squares += rows[i].weight * off * (b->logs[i] - cell->mean);
    }
    for (size_t c = 0; c < b->n_cells; c++)
        b->squares += b->cells[c].squares;
}

/* Weighted median of ln T over a cell without row `skip`; *weight: of what is left. Rows of a cell
 * are sorted by time. */
static double middle_of(const struct builder *b, size_t c, size_t skip, double *weight)
{
    const struct cell *cell = &b->cells[c];
    const struct observation *rows = b->data->rows;
    double low = (double)NAN;
    double sum = 0;
    *weight = 0;
    for (size_t i = cell->first; i < cell->first + cell->n; i++)
        *weight += i == skip ? 0 : rows[i].weight;
    double half = *weight / 2;
    for (size_t i = cell->first; i < cell->first + cell->n; i++) {
        if (i == skip)
            continue;
        if (!isnan(low))
            return (low + b->logs[i]) / 2;
        sum += rows[i].weight;
        if (sum > half * (1 + 1e-12))
            return b->logs[i];
        if (sum >= half * (1 - 1e-12))
            low = b->logs[i];
    }
    return low;
}

/* Variance of ln T within cells without row `skip`; 0 where too few are repeated. */
static double noise_without(const struct builder *b, size_t skip, size_t skipped_cell)
{
    size_t rows = b->data->n;
    size_t cells = b->n_cells;
    double squares = b->squares;
    double weight = 0;
    for (size_t i = 0; i < b->n_cells; i++)
        weight += b->cells[i].weight;
    if (skip < b->data->n) {
        const struct cell *cell = &b->cells[skipped_cell];
        double w = b->data->rows[skip].weight;
        double off = b->logs[skip] - cell->mean;
        double rest = cell->weight - w;
        rows--;
        cells -= cell->n == 1;
        weight -= w;
        squares -= cell->n == 1 ? cell->squares : w * off * off * cell->weight / rest;
    }
    if (rows < cells + INTERPOLATION_REPEATS)
        return 0;
    /* Of a row that counts in full: weights that are all the same change nothing. */
    double each = weight / (double)rows;
    return fmax(0, squares / each / (double)(rows - cells));
}

/* --- curves --- */

/* The falling values nearest to room[0..n), by pooling neighbours that rise. */
static void make_fall(const double values[], const double weights[], size_t n, double out[])
{
    size_t blocks = 0;
    double level[MODEL_KNOTS_MAX];
    double mass[MODEL_KNOTS_MAX];
    size_t length[MODEL_KNOTS_MAX];
    for (size_t i = 0; i < n; i++) {
        level[blocks] = values[i];
        mass[blocks] = weights[i];
        length[blocks++] = 1;
        while (blocks > 1 && level[blocks - 1] > level[blocks - 2]) {
            double sum = mass[blocks - 2] + mass[blocks - 1];
            level[blocks - 2] += (level[blocks - 1] - level[blocks - 2]) * mass[blocks - 1] / sum;
            mass[blocks - 2] = sum;
            length[blocks - 2] += length[blocks - 1];
            blocks--;
        }
    }
    for (size_t k = 0, i = 0; k < blocks; k++)
        for (size_t j = 0; j < length[k]; j++)
            out[i++] = level[k];
}

static void smooth(double values[], const double weights[], size_t n, double variance)
{
    double fallen[MODEL_KNOTS_MAX];
    make_fall(values, weights, n, fallen);
    for (size_t i = 0; i < n; i++) {
        double error = median_loss * sqrt(variance / weights[i]);
        if (fabs(fallen[i] - values[i]) > within * error)
            return;
    }
    memcpy(values, fallen, n * sizeof *values);
}

/* Knots of the cells [from, to), all of one size, without row `skip`; none below two executor
 * counts. */
static size_t make_curve(const struct builder *b,
                         struct span cells,
                         size_t skip,
                         double variance,
                         struct model_knot knots[])
{
    size_t n = 0;
    for (size_t c = cells.from; c < cells.to; c++) {
        double weight;
        double middle = middle_of(b, c, skip, &weight);
        if (!(weight > 0))
            continue;
        const struct observation *row = &b->data->rows[b->cells[c].first];
        knots[n] = (struct model_knot){row->problem_size, row->executors, 0};
        b->room[n] = middle;
        b->weights[n++] = weight;
    }
    if (n < 2)
        return 0;
    if (variance > 0)
        smooth(b->room, b->weights, n, variance);
    for (size_t i = 0; i < n; i++)
        knots[i].duration_s = exp(b->room[i]);
    return n;
}

static struct span cells_from(const struct builder *b, size_t from)
{
    size_t to = from + 1;
    while (to < b->n_cells && same_size(b, from, to))
        to++;
    return (struct span){from, to};
}

/* All curves; *held: weight of the runs that they are made of. */
static size_t
make_curves(const struct builder *b, double variance, struct model_knot knots[], double *held)
{
    size_t n = 0;
    *held = 0;
    for (size_t from = 0; from < b->n_cells;) {
        struct span cells = cells_from(b, from);
        size_t made = make_curve(b, cells, b->data->n, variance, &knots[n]);
        for (size_t c = cells.from; made > 0 && c < cells.to; c++)
            *held += b->cells[c].weight;
        n += made;
        from = cells.to;
    }
    return n;
}

/* --- without one row --- */

struct whole {
    double weight; /* of all rows */
    double held;   /* of those that curves are made of */
};

/* From the curve of the row's size alone: at its own size the others do not matter. NAN: without
 * the row there is no such curve. */
static double predict_on_curve(const struct builder *b,
                               size_t row,
                               struct span cells,
                               double variance,
                               struct model_knot room[])
{
    const struct observation *left = &b->data->rows[row];
    struct model_tables own = {.knots = room};
    own.n_knots = make_curve(b, cells, row, variance, room);
    if (own.n_knots == 0)
        return (double)NAN;
    return exp(curve_at(&own, (struct span){0, own.n_knots}, left->executors));
}

/* From the curves of other sizes. */
static double predict_off_curve(const struct builder *b,
                                size_t row,
                                double variance,
                                double least_held,
                                struct model_knot room[])
{
    double held = 0;
    struct model_law law = {.tables = {.knots = room}};
    for (size_t from = 0; from < b->n_cells;) {
        struct span cells = cells_from(b, from);
        const struct cell *last = &b->cells[cells.to - 1];
        bool own = row >= b->cells[from].first && row < last->first + last->n;
        size_t made = 0;
        if (!own)
            made = make_curve(b, cells, b->data->n, variance, &room[law.tables.n_knots]);
        for (size_t c = cells.from; made > 0 && c < cells.to; c++)
            held += b->cells[c].weight;
        law.tables.n_knots += made;
        from = cells.to;
    }
    if (law.tables.n_knots == 0 || held < least_held)
        return (double)NAN;
    return interpolated_duration(&law, b->data->rows[row].problem_size,
                                 b->data->rows[row].executors);
}

static void interpolation_leave_out(const struct builder *b,
                                    const struct whole *whole,
                                    struct model_knot room[],
                                    double left_out[])
{
    for (size_t from = 0; from < b->n_cells;) {
        struct span cells = cells_from(b, from);
        for (size_t c = cells.from; c < cells.to; c++) {
            for (size_t i = b->cells[c].first; i < b->cells[c].first + b->cells[c].n; i++) {
                double w = b->data->rows[i].weight;
                double variance = noise_without(b, i, c);
                double least = (whole->weight - w) / 2 * (1 - 1e-12);
                left_out[i] = predict_on_curve(b, i, cells, variance, room);
                if (isnan(left_out[i]))
                    left_out[i] = predict_off_curve(b, i, variance, least, room);
                else if (whole->held - w < least)
                    left_out[i] = (double)NAN;
            }
        }
        from = cells.to;
    }
}

/* --- the fit --- */

static enum pv_code
interpolation_prepare(const struct model_data *data, struct builder *b, struct pv_error *err)
{
    struct arena *scratch = data->scratch;
    double *logs = arena_array(scratch, data->n, sizeof *logs);
    *b = (struct builder){.data = data,
                          .logs = logs,
                          .cells = arena_array(scratch, data->n, sizeof *b->cells),
                          .room = arena_array(scratch, data->n, sizeof *b->room),
                          .weights = arena_array(scratch, data->n, sizeof *b->weights)};
    if (logs == NULL || b->cells == NULL || b->room == NULL || b->weights == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        logs[i] = log(data->rows[i].duration_s);
    find_cells(b);
    if (b->n_cells > MODEL_KNOTS_MAX)
        return pv_fail(err, PV_E_SINGULAR,
                       "interpolation holds at most %d different pairs of problem_size and "
                       "executors; in %zu observation%s there are %zu",
                       MODEL_KNOTS_MAX, data->n, PLURAL(data->n), b->n_cells);
    return PV_OK;
}

static enum pv_code
check_dense(const struct builder *b, const struct whole *whole, struct pv_error *err)
{
    if (whole->held > 0 && whole->held >= whole->weight / 2 * (1 - 1e-12))
        return PV_OK;
    return pv_fail(
        err, PV_E_TOO_FEW,
        "interpolation needs problem sizes that were run on two executor counts or more; "
        "%s of the %zu observation%s are of such sizes, and half of them have to be",
        quantity_share(whole->held / whole->weight).text, b->data->n, PLURAL(b->data->n));
}

static void set_sizes(const struct builder *b, struct model_fit *fit)
{
    const struct model_tables *t = &fit->model.tables;
    size_t apart = 0;
    for (size_t from = 0; from < b->n_cells;) {
        struct span cells = cells_from(b, from);
        if (cells.to - cells.from < 2)
            apart += b->cells[from].n;
        from = cells.to;
    }
    if (apart > 0)
        finding_count(finding_add(&fit->warnings, "sizes_without_curve",
                                  "%zu observation%s of problem sizes seen on one executor count "
                                  "only %s no part of a "
                                  "curve",
                                  apart, PLURAL(apart), PLURAL_VERB(apart, "is", "are")),
                      apart);
    if (span_with(t, 0).to == t->n_knots)
        (void)finding_add(
            &fit->warnings, "one_problem_size",
            "there is a curve of problem size %s only: times of other sizes are read off at "
            "the same problem_size per executor",
            quantity_number(t->knots[0].problem_size).text);
}

static enum pv_code
fit_interpolation(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct builder b;
    struct whole whole = {0};
    PV_TRY(interpolation_prepare(data, &b, err));
    struct model_knot *knots = arena_array(data->scratch, b.n_cells, sizeof *knots);
    struct model_knot *room = arena_array(data->scratch, b.n_cells, sizeof *room);
    if (knots == NULL || room == NULL)
        return pv_no_memory(err);
    size_t n = make_curves(&b, noise_without(&b, data->n, 0), knots, &whole.held);
    for (size_t c = 0; c < b.n_cells; c++)
        whole.weight += b.cells[c].weight;
    PV_TRY(check_dense(&b, &whole, err));
    fit->model.tables.knots = knots;
    fit->model.tables.n_knots = n;
    fit->freedom[0] = data->n > n ? (double)(data->n - n) : 0;
    set_sizes(&b, fit);
    if (!data->whole)
        interpolation_leave_out(&b, &whole, room, fit->left_out);
    return PV_OK;
}

static void interpolation_describe(const struct model *model, struct findings *findings)
{
    const struct model_tables *t = &model->tables;
    size_t curves = 0;
    for (size_t i = 0; i < t->n_knots; i = span_with(t, i).to)
        curves++;
    struct finding *finding =
        finding_add(findings, "measured",
                    "No law: %zu measured time%s of %zu problem size%s, joined in logarithms and "
                    "continued beyond them.",
                    t->n_knots, PLURAL(t->n_knots), curves, PLURAL(curves));
    finding_number(finding, "knots", (double)t->n_knots);
    finding_number(finding, "problem_sizes", (double)curves);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

const struct model_kind interpolation_kind = {
    .name = "interpolation",
    .forms = MODEL_OF_DURATIONS,
    .tables = MODEL_HAS_KNOTS,
    .fit = fit_interpolation,
    .duration_s = interpolated_duration,
    .turning_points = interpolated_turning_points,
    .describe = interpolation_describe,
};

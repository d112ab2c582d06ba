/*
 * How the load laws are fitted, and how they are fitted again without each run.
 *
 * Model. For problem size N on m executors
 *
 *     T(N, m) = fixed + grows N + shared s(N, m) + extra z(N, m),    all coefficients >= 0
 *
 *     load_per_executor    s = N / m               z absent
 *     power_law            s = N / m^exponent      z absent
 *     memory_spill         s = N / m               z = N / m^2
 *     memory_cliff         s = N / m               z = N where m < below, else 0
 *
 * With exponent 1 or extra 0 each is Amdahl's law (AFIPS 1967) for several problem sizes. N / m is
 * the load of an executor, of which USBA has the logarithm (USBA eq. 3.15). N / m^2 is that load
 * times 1 / m: a loss for each unit of load that grows as fewer executors, and so less memory, hold
 * the same data and read them again more often. The jump of the cliff is the step of IPSO's
 * internal scaling (IPSO section 2.5, TeraSort), over executors.
 *
 * Objective: the sum over runs of (f_i (T_i - prediction))^2, where f_i is the square root of the
 * run's weight, divided by T_i if relative errors were asked for. The constraints keep every
 * prediction, at any (N, m), above or at 0.
 *
 * Given the shape (exponent, below) the law is linear: prediction = x'b. The minimum then depends
 * on the data through three sums only,
 *
 *     A = sum f^2 x x'     g = sum f^2 T x     h = sum f^2 T^2
 *
 * as the objective is h - 2 g'b + b'A b. gram_solve (core/numerics/normal_equations.h) finds the
 * b >= 0 that minimises it by trying the 15 sets of columns. Shapes come from a small grid, one
 * triple of sums each, and the best of them is taken: the objective is not convex in the shape, and
 * histories seldom have the executor counts to determine it better than the grid does.
 *
 * Runs of one (N, m) have the same x. With W the sum of their f^2, mean their weighted mean time
 * and Q the weighted squares about it, sum f^2 (T - x'b)^2 = W (mean - x'b)^2 + Q. So such a cell
 * is one row of weight W, and Q, which no b can lower, is added to h.
 *
 * Leaving out. Without run i the sums are A - f^2 x x', g - f^2 T x, h - f^2 T^2. A fit to the
 * other runs therefore costs the same however many they are, and it can afford to choose the shape
 * again: an error with the shape kept would be too small, since the shape was chosen with that run
 * in view.
 *
 * The sums square the condition of the columns and lose half of the digits. That is enough to
 * choose and to predict; once shape and positive columns are known, the coefficients are estimated
 * again from the rows (load_laws_settle), by core/numerics/nonnegative.h, which does not form
 * products, and the covariance with them. It holds for the shape chosen; how uncertain the shape
 * itself is shows only in the left-out errors.
 *
 * Guards.
 *   - With one problem size N is a multiple of the constant column. `grows` is left out then; what
 *     belongs to it goes into `fixed`.
 *   - A column that a law does not have is 0 in every row; gram_solve leaves such a column at 0.
 *   - The plain shape is tried first, exponents by their distance from it, and a later one must
 *     lower the objective by more than 1e-9 of h. Equal fits so keep the plainest law, and
 *     rounding, which differs between machines, does not decide.
 *   - A cut needs two executor counts above it. With one, the jump would be read from a single
 *     count, which the extra coefficient fits exactly whatever the law. The same is required of
 *     what remains when runs are left out: a run that alone has its executor count takes that with
 *     it.
 *   - Two configurations and two executor counts are required: less cannot separate `fixed` from
 *     `shared`.
 *
 * Cost, for n runs in c cells and S <= 16 shapes: O(n + S c) for the sums, O(S) for each run left
 * out (O(S + n) for memory_cliff, which looks for others with the same count), O(S c) for each
 * range left out.
 */
#include "core/scaling/laws/load_laws.h"
#include "base/order.h"

#include <math.h>

#include "core/numerics/nonnegative.h"
#include "core/numerics/normal_equations.h"
#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/describe.h"

/* Columns of the least squares, and where the numbers stand among a kind's parameters. */
enum { FIXED, SHARED, EXTRA, GROWS, COLUMNS };
enum { P_FIXED, P_GROWS, P_SHARED, P_MORE };
enum { SHAPES_MAX = 16 };

static const size_t places[COLUMNS] = {P_FIXED, P_SHARED, P_MORE, P_GROWS};

/* Of the sum of squares of y: shapes whose residuals differ by less fit alike. */
static const double alike = 1e-9;

static const double exponents[] = {1, 0.75, 1.25, 0.5, 1.5, 0.25, 1.75, 2, 2.25, 2.5, 2.75, 3};

/* One law of the family. A parameter that it has stands after P_SHARED, the shape last. */
struct family {
    bool has_extra;
    bool has_exponent;
    bool has_cut;
};

static const struct family load_per_executor = {false, false, false};
static const struct family power_law = {false, true, false};
static const struct family memory_spill = {true, false, false};
static const struct family memory_cliff = {true, false, true};

static bool has_shape(const struct family *family)
{
    return family->has_exponent || family->has_cut;
}

/* The rows of one (N, m), which stand together: for the least squares they are one row. */
struct cell {
    const struct observation *row; /* the first */
    double weight;                 /* root of the sum of squared factors */
    double mean_s;
    double squares; /* what the rows are off their mean, weighted */
};

/* A fit in progress: sums of products for each shape that is tried. */
struct trial {
    const struct family *family;
    const struct model_data *data;
    struct cell *cells;
    size_t n_cells;
    size_t sizes;
    double *counts; /* executor counts, ascending, each once */
    size_t n_counts;
    double shapes[SHAPES_MAX]; /* exponent or cut; 1 and 0 are the plain ones */
    size_t n_shapes;
    struct gram grams[SHAPES_MAX];
};

struct found {
    double b[GRAM_COLUMNS_MAX];
    double shape;
    double rest;
};

/* --- the laws --- */

static double
share_of(const struct family *family, double shape, double problem_size, double executors)
{
    double m = family->has_exponent && shape != 1 ? pow(executors, shape) : executors;
    return problem_size / m;
}

static double
extra_of(const struct family *family, double shape, double problem_size, double executors)
{
    if (!family->has_extra)
        return 0;
    if (!family->has_cut)
        return problem_size / (executors * executors);
    return executors < shape ? problem_size : 0;
}

static void fill_columns(const struct family *family,
                         double shape,
                         const struct observation *row,
                         double x[COLUMNS])
{
    x[FIXED] = 1;
    x[SHARED] = share_of(family, shape, row->problem_size, row->executors);
    x[EXTRA] = extra_of(family, shape, row->problem_size, row->executors);
    x[GROWS] = row->problem_size;
}

static double load_laws_value_of(const struct family *family,
                                 const double b[COLUMNS],
                                 double shape,
                                 const struct observation *row)
{
    double x[COLUMNS];
    double sum = 0;
    fill_columns(family, shape, row, x);
    for (size_t j = 0; j < COLUMNS; j++)
        sum += b[j] * x[j];
    return sum;
}

static double duration_of(const struct family *family, const double p[], double size, double m)
{
    double extra = family->has_extra ? p[P_MORE] : 0;
    double shape = has_shape(family) ? p[P_MORE + family->has_extra] : 1;
    return p[P_FIXED] + p[P_GROWS] * size + p[P_SHARED] * share_of(family, shape, size, m) +
           extra * extra_of(family, shape, size, m);
}

/* --- shapes --- */

/* Between every two executor counts with two at or above; of too many, evenly many of them. */
static void take_cuts(struct trial *trial)
{
    size_t n = trial->n_counts;
    size_t cuts = n > 2 ? n - 2 : 0;
    size_t kept = cuts < SHAPES_MAX - 1 ? cuts : SHAPES_MAX - 1;
    trial->n_shapes = 1; /* 0: none */
    for (size_t c = 0; c < kept; c++) {
        size_t i = 1 + c * cuts / kept;
        trial->shapes[trial->n_shapes++] = sqrt(trial->counts[i - 1] * trial->counts[i]);
    }
}

static enum pv_code find_shapes(struct trial *trial, struct pv_error *err)
{
    const struct model_data *data = trial->data;
    trial->counts = arena_array(data->scratch, data->n, sizeof *trial->counts);
    if (trial->counts == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        trial->counts[i] = data->rows[i].executors;
    trial->n_counts = sort_distinct(trial->counts, data->n);
    if (trial->family->has_cut) {
        take_cuts(trial);
        return PV_OK;
    }
    trial->n_shapes = trial->family->has_exponent ? sizeof exponents / sizeof *exponents : 1;
    for (size_t s = 0; s < trial->n_shapes; s++)
        trial->shapes[s] = exponents[s];
    return PV_OK;
}

static enum pv_code gather_cells(struct trial *trial, struct pv_error *err)
{
    const struct model_data *data = trial->data;
    trial->cells = arena_array(data->scratch, data->n, sizeof *trial->cells);
    if (trial->cells == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n;) {
        struct cell cell = {.row = &data->rows[i]};
        double weight = 0;
        for (; i < data->n && data->rows[i].executors == cell.row->executors &&
               data->rows[i].problem_size == cell.row->problem_size;
             i++) {
            double square = data->factors[i] * data->factors[i];
            double off = data->rows[i].duration_s - cell.mean_s;
            weight += square;
            cell.mean_s += square / weight * off;
            cell.squares += square * off * (data->rows[i].duration_s - cell.mean_s);
        }
        cell.weight = sqrt(weight);
        trial->cells[trial->n_cells++] = cell;
    }
    return PV_OK;
}

static void add_cells(struct trial *trial)
{
    for (size_t s = 0; s < trial->n_shapes; s++) {
        gram_init(&trial->grams[s], trial->sizes > 1 ? COLUMNS : COLUMNS - 1);
        for (size_t c = 0; c < trial->n_cells; c++) {
            const struct cell *cell = &trial->cells[c];
            double x[COLUMNS];
            fill_columns(trial->family, trial->shapes[s], cell->row, x);
            gram_add(&trial->grams[s], x, cell->mean_s, cell->weight);
            trial->grams[s].yy += cell->squares;
        }
    }
}

/* Is it the only row with its executor count? */
static bool is_alone(const struct model_data *data, size_t i)
{
    for (size_t j = 0; j < data->n; j++)
        if (j != i && data->rows[j].executors == data->rows[i].executors)
            return false;
    return true;
}

/* Of the executor counts, but for one (NAN: none), how many lie above the cut? */
static size_t count_above(const struct trial *trial, double without, double cut)
{
    size_t above = 0;
    for (size_t i = 0; i < trial->n_counts; i++) {
        double m = trial->counts[i];
        above += m > cut && m != without;
    }
    return above;
}

static void take_out(const struct trial *trial, size_t row, double shape, struct gram *gram)
{
    const struct observation *at = &trial->data->rows[row];
    double x[COLUMNS];
    fill_columns(trial->family, shape, at, x);
    gram_drop(gram, x, at->duration_s, trial->data->factors[row]);
}

/* The best shape for all rows but that one; n of the data: for all. */
static void load_laws_find_best(const struct trial *trial, size_t without, struct found *best)
{
    const struct model_data *data = trial->data;
    double lost = (double)NAN; /* the executor count that goes with the row */
    if (without < data->n && trial->family->has_cut && is_alone(data, without))
        lost = data->rows[without].executors;
    *best = (struct found){.rest = (double)INFINITY};
    for (size_t s = 0; s < trial->n_shapes; s++) {
        struct gram gram = trial->grams[s];
        struct found here = {.shape = trial->shapes[s]};
        if (s > 0 && trial->family->has_cut && count_above(trial, lost, here.shape) < 2)
            continue;
        if (without < data->n)
            take_out(trial, without, here.shape, &gram);
        here.rest = gram_solve(&gram, here.b);
        if (here.rest < best->rest - alike * gram.yy)
            *best = here;
    }
}

static enum pv_code make_trial(const struct family *family,
                               const struct model_data *data,
                               size_t sizes,
                               struct trial **trial,
                               struct pv_error *err)
{
    struct trial *made = arena_calloc(data->scratch, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    *made = (struct trial){.family = family, .data = data, .sizes = sizes};
    PV_TRY(find_shapes(made, err));
    PV_TRY(gather_cells(made, err));
    add_cells(made);
    *trial = made;
    return PV_OK;
}

/* --- the fit --- */

/* The numbers of the best shape once more, as precisely as they can be had, with their variances.
 */
static enum pv_code load_laws_settle(const struct trial *trial,
                                     const struct found *best,
                                     struct model_fit *fit,
                                     struct pv_error *err)
{
    const struct model_data *data = trial->data;
    struct model *model = &fit->model;
    struct nonnegative_fit found;
    size_t used[COLUMNS];
    size_t k = 0;
    for (size_t j = 0; j < COLUMNS; j++)
        if (best->b[j] > 0)
            used[k++] = j;
    double *x = arena_array(data->scratch, data->n, COLUMNS * sizeof *x);
    double *y = arena_array(data->scratch, data->n, sizeof *y);
    if (x == NULL || y == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        double columns[COLUMNS];
        fill_columns(trial->family, best->shape, &data->rows[i], columns);
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = columns[used[j]];
        y[i] = data->rows[i].duration_s;
    }
    PV_TRY(nonnegative_fit(x, data->n, k, y, data->factors, data->scratch, NULL, &found, err));
    for (size_t a = 0; a < k; a++) {
        model->parameters[places[used[a]]].estimate = found.b[a];
        for (size_t b = 0; b < k; b++)
            model->uncertainty.covariance[places[used[a]]][places[used[b]]] =
                found.covariance[a][b];
    }
    for (size_t j = 0; j < model->kind->n_parameters; j++)
        fit->freedom[j] = found.freedom;
    return PV_OK;
}

static void start_from(const struct trial *trial, const struct found *best, struct model *model)
{
    size_t n = model->kind->n_parameters;
    for (size_t j = 0; j < n; j++)
        model->parameters[j].estimate = 0;
    for (size_t j = 0; j < COLUMNS; j++)
        if (j != EXTRA || trial->family->has_extra)
            model->parameters[places[j]].estimate = best->b[j];
    model->parameters[P_GROWS].dropped = trial->sizes < 2;
    if (has_shape(trial->family))
        model->parameters[n - 1].estimate = best->shape;
}

static enum pv_code fit_family(const struct family *family,
                               const struct model_data *data,
                               struct model_fit *fit,
                               struct pv_error *err)
{
    struct configurations design;
    struct found best;
    struct trial *trial = NULL;
    PV_TRY(configurations_require(data, fit->model.kind, 2, 2, &design, err));
    PV_TRY(make_trial(family, data, design.sizes, &trial, err));
    load_laws_find_best(trial, data->n, &best);
    start_from(trial, &best, &fit->model);
    fit->model.reference = MODEL_EXTRAPOLATED;
    if (data->whole)
        return PV_OK;
    for (size_t row = 0; row < data->n; row++) {
        struct found others;
        load_laws_find_best(trial, row, &others);
        fit->left_out[row] = load_laws_value_of(family, others.b, others.shape, &data->rows[row]);
    }
    return load_laws_settle(trial, &best, fit, err);
}

/* --- what it says --- */

static void
describe_family(const struct family *family, const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double size;
    double m;
    if (!describe_corner(model, &size, &m))
        return;
    double extra = family->has_extra ? law.p[P_MORE] : 0;
    double shape = has_shape(family) ? law.p[P_MORE + family->has_extra] : 1;
    const struct describe_part parts[] = {
        {"fixed_s", "a fixed time, whatever the size and the executors", law.p[P_FIXED]},
        {"grows_s", "work that grows with the data and is not shared", law.p[P_GROWS] * size},
        {"shared_s", "work that executors share",
         law.p[P_SHARED] * share_of(family, shape, size, m)},
        {"extra_s", "what overfull executors lose", extra * extra_of(family, shape, size, m)}};
    describe_parts(findings, parts, family->has_extra ? 4 : 3);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

/* --- kinds --- */

#define SECONDS(word)                                                                              \
    {                                                                                              \
        word, 0, HUGE_VAL, MODEL_OF_DURATIONS                                                      \
    }
#define COMMON_RULES SECONDS("fixed_s"), SECONDS("grows_s"), SECONDS("shared_s")

/* A kind: the word of its family, and the rules of the parameters that only it has. */
#define LOAD_KIND(word, ...)                                                                       \
    static enum pv_code fit_##word(const struct model_data *data, struct model_fit *fit,           \
                                   struct pv_error *err)                                           \
    {                                                                                              \
        return fit_family(&word, data, fit, err);                                                  \
    }                                                                                              \
    static double duration_##word(const struct model_law *law, double size, double m)              \
    {                                                                                              \
        return duration_of(&word, law->p, size, m);                                                \
    }                                                                                              \
    static void describe_##word(const struct model *model, struct findings *findings)              \
    {                                                                                              \
        describe_family(&word, model, findings);                                                   \
    }                                                                                              \
    static const struct model_parameter_rule word##_rules[] = {__VA_ARGS__};                       \
    const struct model_kind word##_kind = {                                                        \
        .name = #word,                                                                             \
        .forms = MODEL_OF_DURATIONS,                                                               \
        .rules = word##_rules,                                                                     \
        .n_parameters = sizeof word##_rules / sizeof *word##_rules,                                \
        .fit = fit_##word,                                                                         \
        .duration_s = duration_##word,                                                             \
        .describe = describe_##word,                                                               \
    };

LOAD_KIND(load_per_executor, COMMON_RULES)
LOAD_KIND(power_law, COMMON_RULES, {"exponent", 0.25, 3, MODEL_OF_DURATIONS})
LOAD_KIND(memory_spill, COMMON_RULES, SECONDS("spill_s"))
LOAD_KIND(memory_cliff, COMMON_RULES, SECONDS("excess_s"), SECONDS("below_executors"))

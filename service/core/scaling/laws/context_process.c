#include "core/scaling/laws/context_process.h"

#include <assert.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "core/scaling/model/context_traits.h"

enum { TUNED_MAX = 128, STEPS = 40, MEANS = 3 };
enum { OWN_CONTEXT = 1 }; /* of rows that are of 0, too */
enum { T_ERROR, T_AMPLITUDE, T_EXECUTORS, T_LABELS };
enum { THETA_MAX = T_LABELS + PROCESS_NUMBERS_MAX + PROCESS_WORDS_MAX };
static_assert((int)THETA_MAX == (int)PROCESS_THETA_MAX, "all of theta can be kept");

/* Medians of theta, of which the logarithm is normal with prior_std. */
static const double prior_error = 0.02;
static const double prior_amplitude = 0.7;
static const double prior_executors = 1;
static const double prior_word = 1;
static const double prior_number = 2;
static const double prior_std = 1.5;
/* Of logarithms of theta, how far from those medians: three standard deviations. */
static const double reach = 4.5;
/* Of ln T, of one run about its cell. */
static const double run_std = 0.015;
/* The length of a gradient (per cell) at which the search is over. */
static const double flat = 1e-3;

/* A cell's place, in the units of the covariance but for theta. */
struct place {
    double log_m;
    double log_size;
    double z[PROCESS_NUMBERS_MAX];
    unsigned words[PROCESS_WORDS_MAX];
};

struct process_cell {
    struct place place;
    double problem_size;
    double executors;
    bool own;
    double mean;   /* of ln T */
    double weight; /* of its rows */
};

struct process_shape {
    size_t n_numbers;
    size_t n_words;
    size_t numbers[PROCESS_NUMBERS_MAX]; /* of the traits; SIZE_MAX: ln N */
    size_t words[PROCESS_WORDS_MAX];
    double centre[PROCESS_NUMBERS_MAX];
    double width[PROCESS_NUMBERS_MAX];
    size_t means;            /* coefficients of the mean: 3 where sizes differ, else 2 */
    double theta[THETA_MAX]; /* error, amplitude, l of ln m, of words, of numbers */
    const struct context_traits *own;
    const struct process_cell *cells; /* own first, by N, then m */
    size_t n;
    double executors[2];
    struct process_theta learnt;
    const double *inverse; /* of the covariance of all cells */
};

struct process {
    const struct process_shape *shape;
    const struct process_cell **cells; /* those given */
    size_t n;
    double *inverse;
    double *alpha;  /* inverse (y - H b) */
    double *spread; /* inverse H, n by means */
    double b[MEANS];
    double b_covariance[MEANS * MEANS];
};

/* --- cells --- */

static size_t count_theta(const struct process_shape *shape)
{
    return T_LABELS + shape->n_words + shape->n_numbers;
}

/* The rows of one (N, m) of a context from `first`; returns how many. */
static size_t
take_cell(const struct observation rows[], size_t n, size_t first, struct process_cell *cell)
{
    const struct observation *row = &rows[first];
    size_t i = first;
    *cell = (struct process_cell){.problem_size = row->problem_size, .executors = row->executors};
    for (; i < n && rows[i].context == row->context && rows[i].executors == row->executors &&
           rows[i].problem_size == row->problem_size;
         i++) {
        cell->weight += rows[i].weight;
        cell->mean += rows[i].weight / cell->weight * (log(rows[i].duration_s) - cell->mean);
    }
    return i - first;
}

static void set_place(const struct process_shape *shape,
                      const struct context_traits *traits,
                      unsigned context,
                      double problem_size,
                      double executors,
                      struct place *place)
{
    *place = (struct place){.log_m = log(executors), .log_size = log(problem_size)};
    for (size_t j = 0; j < shape->n_numbers; j++) {
        bool size = shape->numbers[j] == SIZE_MAX;
        double value = size ? place->log_size : traits->numbers[shape->numbers[j]];
        place->z[j] = isnan(value) ? 0 : (value - shape->centre[j]) / shape->width[j];
    }
    for (size_t c = 0; c < shape->n_words; c++)
        place->words[c] = traits == NULL ? context : traits->words[shape->words[c]];
}

/* --- which members of the traits differ --- */

struct gathering {
    struct process_cell *cells;       /* own first */
    const struct observation **first; /* row of each cell */
    size_t *order;                    /* of the cells, whichever of them are the own ones */
    size_t n;
};

static double trait_of(const struct gathering *all, size_t cell, size_t number)
{
    if (number == SIZE_MAX)
        return log(all->cells[cell].problem_size);
    return all->first[cell]->traits->numbers[number];
}

/* A number takes part where it differs. */
static void add_number(const struct gathering *all, size_t number, struct process_shape *shape)
{
    double n = 0;
    double mean = 0;
    double squares = 0;
    for (size_t i = 0; i < all->n; i++) {
        double value = trait_of(all, all->order[i], number);
        if (isnan(value))
            continue;
        n++;
        double off = value - mean;
        mean += off / n;
        squares += off * (value - mean);
    }
    double std = n > 0 ? sqrt(squares / n) : 0;
    if (!(std > 1e-9) || shape->n_numbers == PROCESS_NUMBERS_MAX)
        return;
    shape->numbers[shape->n_numbers] = number;
    shape->centre[shape->n_numbers] = mean;
    shape->width[shape->n_numbers++] = std;
}

static void add_word(const struct gathering *all, size_t word, struct process_shape *shape)
{
    bool differs = false;
    for (size_t i = 1; i < all->n && !differs; i++)
        differs = all->first[i]->traits->words[word] != all->first[0]->traits->words[word];
    if (differs && shape->n_words < PROCESS_WORDS_MAX)
        shape->words[shape->n_words++] = word;
}

/* Where nothing is known of what tells contexts apart, that they differ is one word. */
static void find_members(const struct gathering *all, struct process_shape *shape)
{
    const struct context_traits *traits = all->first[0]->traits;
    add_number(all, SIZE_MAX, shape);
    shape->means = shape->n_numbers > 0 ? MEANS : MEANS - 1;
    for (size_t i = 0; i < all->n; i++)
        if (all->first[i]->traits == NULL)
            traits = NULL;
    if (traits == NULL) {
        shape->n_words = 1;
        return;
    }
    shape->own = traits;
    for (size_t j = 0; j < traits->n_numbers; j++)
        add_number(all, j, shape);
    for (size_t c = 0; c < traits->n_words; c++)
        add_word(all, c, shape);
}

/* --- covariance --- */

/* Squared distances along each member of theta from T_EXECUTORS on. */
static void set_distances(const struct process_shape *shape,
                          const struct place *a,
                          const struct place *b,
                          double squares[])
{
    size_t k = 0;
    squares[k++] = (a->log_m - b->log_m) * (a->log_m - b->log_m);
    for (size_t c = 0; c < shape->n_words; c++)
        squares[k++] = a->words[c] != b->words[c];
    for (size_t j = 0; j < shape->n_numbers; j++)
        squares[k++] = (a->z[j] - b->z[j]) * (a->z[j] - b->z[j]);
}

static double
covariance(const struct process_shape *shape, const struct place *a, const struct place *b)
{
    double squares[THETA_MAX];
    double sum = 0;
    set_distances(shape, a, b, squares);
    for (size_t k = T_EXECUTORS; k < count_theta(shape); k++)
        sum += squares[k - T_EXECUTORS] / (shape->theta[k] * shape->theta[k]);
    return shape->theta[T_AMPLITUDE] * shape->theta[T_AMPLITUDE] * exp(-sum / 2);
}

static double error_variance(const struct process_shape *shape, double weight)
{
    return shape->theta[T_ERROR] * shape->theta[T_ERROR] + run_std * run_std / weight;
}

/* Coefficients of the mean. */
static size_t count_means(const struct process_shape *shape)
{
    return shape->means < MEANS ? shape->means : MEANS;
}

static void set_means(const struct process_shape *shape, const struct place *place, double h[MEANS])
{
    h[0] = 1;
    h[1] = place->log_m;
    h[2] = shape->means > 2 ? place->log_size : 0;
}

static enum pv_code invert(double matrix[], size_t n, double *log_determinant, struct pv_error *err)
{
    gsl_matrix_view view = gsl_matrix_view_array(matrix, n, n);
    if (gsl_linalg_cholesky_decomp1(&view.matrix) != 0)
        return pv_fail(err, PV_E_SINGULAR, "the covariance of the runs is singular");
    *log_determinant = 0;
    for (size_t i = 0; i < n; i++)
        *log_determinant += 2 * log(matrix[i * n + i]);
    (void)gsl_linalg_cholesky_invert(&view.matrix);
    return PV_OK;
}

/* --- coefficients of the mean --- */

/* b by generalised least squares, and alpha = inverse (y - H b). spread: inverse H. */
static enum pv_code solve_means(const struct process_shape *shape,
                                const struct process_cell *const cells[],
                                size_t n,
                                const double inverse[],
                                double spread[],
                                double alpha[],
                                double b[MEANS],
                                double b_covariance[MEANS * MEANS],
                                struct pv_error *err)
{
    double normal[MEANS * MEANS] = {0};
    double right[MEANS] = {0};
    size_t k = count_means(shape);
    double ignored;
    for (size_t i = 0; i < n; i++) {
        double sums[MEANS] = {0};
        double y = 0;
        for (size_t j = 0; j < n; j++) {
            double h[MEANS];
            double weight = inverse[i * n + j];
            set_means(shape, &cells[j]->place, h);
            for (size_t a = 0; a < k; a++)
                sums[a] += weight * h[a];
            y += weight * cells[j]->mean;
        }
        double h[MEANS];
        set_means(shape, &cells[i]->place, h);
        for (size_t a = 0; a < k; a++) {
            spread[i * k + a] = sums[a];
            right[a] += h[a] * y;
            for (size_t c = 0; c < k; c++)
                normal[a * k + c] += h[a] * sums[c];
        }
        alpha[i] = y;
    }
    PV_TRY(invert(normal, k, &ignored, err));
    for (size_t a = 0; a < k; a++) {
        b[a] = 0;
        for (size_t c = 0; c < k; c++) {
            b[a] += normal[a * k + c] * right[c];
            b_covariance[a * k + c] = normal[a * k + c];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < k; a++)
            alpha[i] -= spread[i * k + a] * b[a];
    return PV_OK;
}

/* --- theta --- */

/* What the search works with. */
struct tuning {
    struct process_shape shape;
    const struct process_cell *cells[TUNED_MAX];
    size_t n;
    double *matrix; /* n by n: the covariance, then its inverse */
    double *signal; /* n by n: without errors */
    double *spread;
    double *alpha;
};

static double prior_median(const struct process_shape *shape, size_t k)
{
    return k == T_ERROR                    ? prior_error
           : k == T_AMPLITUDE              ? prior_amplitude
           : k == T_EXECUTORS              ? prior_executors
           : k < T_LABELS + shape->n_words ? prior_word
                                           : prior_number;
}

/* theta of logarithms beyond their priors' medians, kept within reach. */
static void set_theta(struct process_shape *shape, const double logs[])
{
    for (size_t k = 0; k < count_theta(shape); k++)
        shape->theta[k] = prior_median(shape, k) * exp(fmax(-reach, fmin(reach, logs[k])));
}

static double prior_loss(const double logs[], size_t n, double gradient[])
{
    double loss = 0;
    for (size_t k = 0; k < n; k++) {
        loss += logs[k] * logs[k] / (2 * prior_std * prior_std);
        gradient[k] = logs[k] / (prior_std * prior_std);
    }
    return loss;
}

static void fill_matrix(struct tuning *t)
{
    for (size_t i = 0; i < t->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double value = covariance(&t->shape, &t->cells[i]->place, &t->cells[j]->place);
            t->signal[i * t->n + j] = t->signal[j * t->n + i] = value;
            t->matrix[i * t->n + j] = t->matrix[j * t->n + i] = value;
            if (i == j)
                t->matrix[i * t->n + i] += error_variance(&t->shape, t->cells[i]->weight);
        }
}

/* d loss / d ln theta = 1/2 sum W dK, W = inverse - alpha alpha'. */
static void add_gradient(const struct tuning *t, double gradient[])
{
    size_t n = t->n;
    const double *theta = t->shape.theta;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double squares[THETA_MAX];
            double w = t->matrix[i * n + j] - t->alpha[i] * t->alpha[j];
            double share = (i == j ? 0.5 : 1) * w * t->signal[i * n + j];
            set_distances(&t->shape, &t->cells[i]->place, &t->cells[j]->place, squares);
            gradient[T_AMPLITUDE] += 2 * share;
            for (size_t k = T_EXECUTORS; k < count_theta(&t->shape); k++)
                gradient[k] += share * squares[k - T_EXECUTORS] / (theta[k] * theta[k]);
            if (i == j)
                gradient[T_ERROR] += w * theta[T_ERROR] * theta[T_ERROR];
        }
}

/* The negative logarithm of the posterior but for a constant, the coefficients of the mean at their
 * optimum; HUGE_VAL where the covariance is singular. */
static double loss_at(struct tuning *t, const double logs[], double gradient[])
{
    double b[MEANS];
    double b_covariance[MEANS * MEANS];
    double log_determinant;
    struct pv_error why = {0};
    double loss = prior_loss(logs, count_theta(&t->shape), gradient);
    set_theta(&t->shape, logs);
    fill_matrix(t);
    if (invert(t->matrix, t->n, &log_determinant, &why) != PV_OK ||
        solve_means(&t->shape, t->cells, t->n, t->matrix, t->spread, t->alpha, b, b_covariance,
                    &why) != PV_OK)
        return HUGE_VAL;
    loss += log_determinant / 2;
    for (size_t i = 0; i < t->n; i++)
        loss += t->cells[i]->mean * t->alpha[i] / 2;
    add_gradient(t, gradient);
    return loss;
}

static double gsl_f(const gsl_vector *x, void *context)
{
    double gradient[THETA_MAX];
    return loss_at(context, x->data, gradient);
}

static void gsl_df(const gsl_vector *x, void *context, gsl_vector *g)
{
    (void)loss_at(context, x->data, g->data);
}

static void gsl_fdf(const gsl_vector *x, void *context, double *f, gsl_vector *g)
{
    *f = loss_at(context, x->data, g->data);
}

static enum pv_code search_theta(struct tuning *t, struct pv_error *err)
{
    size_t k = count_theta(&t->shape);
    gsl_multimin_function_fdf function = {gsl_f, gsl_df, gsl_fdf, k, t};
    gsl_vector *start = gsl_vector_calloc(k);
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, k);
    if (start != NULL && minimizer != NULL) {
        (void)gsl_multimin_fdfminimizer_set(minimizer, &function, start, 0.3, 0.1);
        for (size_t step = 0; step < STEPS; step++)
            if (gsl_multimin_fdfminimizer_iterate(minimizer) != 0 ||
                gsl_multimin_test_gradient(minimizer->gradient, flat * (double)t->n) == 0)
                break;
        set_theta(&t->shape, minimizer->x->data);
    }
    bool failed = start == NULL || minimizer == NULL;
    if (minimizer != NULL)
        gsl_multimin_fdfminimizer_free(minimizer);
    if (start != NULL)
        gsl_vector_free(start);
    return failed ? pv_no_memory(err) : PV_OK;
}

/* --- learning --- */

struct ranked_cell {
    const struct process_cell *cell;
    size_t at;
};

/* By what the cells show: the mean of measured times is hardly ever the same twice. */
static int by_content(const void *a, const void *b)
{
    const struct ranked_cell *x = a;
    const struct ranked_cell *y = b;
    const double of_x[] = {x->cell->problem_size, x->cell->executors, x->cell->mean,
                           x->cell->weight};
    const double of_y[] = {y->cell->problem_size, y->cell->executors, y->cell->mean,
                           y->cell->weight};
    for (size_t i = 0; i < sizeof of_x / sizeof *of_x; i++)
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i] ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static enum pv_code rank_cells(struct gathering *all, struct arena *scratch, struct pv_error *err)
{
    struct ranked_cell *ranked = arena_array(scratch, all->n, sizeof *ranked);
    all->order = arena_array(scratch, all->n, sizeof *all->order);
    if (ranked == NULL || all->order == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < all->n; i++)
        ranked[i] = (struct ranked_cell){&all->cells[i], i};
    qsort(ranked, all->n, sizeof *ranked, by_content);
    for (size_t i = 0; i < all->n; i++)
        all->order[i] = ranked[i].at;
    return PV_OK;
}

static enum pv_code
gather(const struct model_data *data, struct gathering *all, struct pv_error *err)
{
    size_t most = data->n + data->n_others;
    all->n = 0;
    all->cells = arena_array(data->scratch, most, sizeof *all->cells);
    all->first = arena_array(data->scratch, most, sizeof *all->first);
    if (all->cells == NULL || all->first == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; all->n++) {
        all->first[all->n] = &data->rows[i];
        i += take_cell(data->rows, data->n, i, &all->cells[all->n]);
        all->cells[all->n].own = true;
    }
    for (size_t i = 0; i < data->n_others; all->n++) {
        all->first[all->n] = &data->others[i];
        i += take_cell(data->others, data->n_others, i, &all->cells[all->n]);
    }
    return rank_cells(all, data->scratch, err);
}

/* Where a cell lies from the own ones, before any theta is known: for which are kept. */
struct distance {
    double away;
    size_t cell;
};

static int by_distance(const void *a, const void *b)
{
    const struct distance *x = a;
    const struct distance *y = b;
    if (x->away != y->away)
        return x->away < y->away ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static enum pv_code keep_nearest(const struct process_shape *shape,
                                 struct arena *scratch,
                                 struct gathering *all,
                                 struct pv_error *err)
{
    if (all->n <= PROCESS_CELLS_MAX)
        return PV_OK;
    struct distance *distances = arena_array(scratch, all->n, sizeof *distances);
    struct process_cell *kept = arena_array(scratch, PROCESS_CELLS_MAX, sizeof *kept);
    if (distances == NULL || kept == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < all->n; i++) {
        double squares[THETA_MAX];
        distances[i] = (struct distance){(double)INFINITY, i};
        for (size_t o = 0; o < all->n && all->cells[o].own; o++) {
            double sum = 0;
            set_distances(shape, &all->cells[i].place, &all->cells[o].place, squares);
            for (size_t k = T_EXECUTORS; k < count_theta(shape); k++)
                sum += squares[k - T_EXECUTORS] / pow(prior_median(shape, k), 2);
            distances[i].away = fmin(distances[i].away, sum);
        }
    }
    qsort(distances, all->n, sizeof *distances, by_distance);
    for (size_t i = 0; i < PROCESS_CELLS_MAX; i++)
        kept[i] = all->cells[distances[i].cell];
    all->cells = kept;
    all->n = PROCESS_CELLS_MAX;
    return PV_OK;
}

static uint64_t hash_doubles(uint64_t hash, const double values[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = hash_number(hash, bits);
    }
    return hash;
}

/* Of what the search depends on: all cells, and which members they have. */
static uint64_t digest_cells(const struct process_shape *shape, const struct gathering *all)
{
    const size_t sizes[] = {all->n, shape->n_numbers, shape->n_words, shape->means};
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        hash = hash_number(hash, sizes[i]);
    for (size_t i = 0; i < all->n; i++) {
        const struct process_cell *cell = &all->cells[all->order[i]];
        const double values[] = {cell->place.log_m, cell->place.log_size, cell->mean, cell->weight};
        hash = hash_doubles(hash, values, sizeof values / sizeof *values);
        hash = hash_doubles(hash, cell->place.z, shape->n_numbers);
        hash = hash_bytes(hash, cell->place.words, shape->n_words * sizeof cell->place.words[0]);
    }
    return hash;
}

/* Take over what was kept of the same cells; false: there is nothing. */
static bool take_kept(const struct process_theta *kept, struct process_shape *shape)
{
    struct process_theta *learnt = &shape->learnt;
    if (kept == NULL || kept->cells != learnt->cells || kept->n != learnt->n)
        return false;
    for (size_t k = 0; k < kept->n; k++)
        if (!(kept->at[k] > 0) || !isfinite(kept->at[k]))
            return false;
    memcpy(shape->theta, kept->at, kept->n * sizeof *kept->at);
    learnt->kept = true;
    return true;
}

static enum pv_code tune(const struct gathering *all,
                         struct arena *scratch,
                         struct process_shape *shape,
                         struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct tuning *t = arena_calloc(scratch, 1, sizeof *t);
    if (t == NULL)
        return pv_no_memory(err);
    t->shape = *shape;
    t->n = all->n < TUNED_MAX ? all->n : TUNED_MAX;
    for (size_t i = 0; i < t->n; i++)
        t->cells[i] = &all->cells[all->order[i * all->n / t->n]];
    t->matrix = arena_array(scratch, t->n * t->n, sizeof(double));
    t->signal = arena_array(scratch, t->n * t->n, sizeof(double));
    t->spread = arena_array(scratch, t->n, MEANS * sizeof(double));
    t->alpha = arena_array(scratch, t->n, sizeof(double));
    if (t->matrix == NULL || t->signal == NULL || t->spread == NULL || t->alpha == NULL)
        return pv_no_memory(err);
    PV_TRY(search_theta(t, err));
    memcpy(shape->theta, t->shape.theta, sizeof shape->theta);
    arena_rewind(scratch, mark);
    return PV_OK;
}

static enum pv_code
invert_all(struct process_shape *shape, struct arena *scratch, struct pv_error *err)
{
    size_t n = shape->n;
    double ignored;
    double *matrix = arena_array(scratch, n * n, sizeof *matrix);
    if (matrix == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            matrix[i * n + j] = matrix[j * n + i] =
                covariance(shape, &shape->cells[i].place, &shape->cells[j].place) +
                (i == j ? error_variance(shape, shape->cells[i].weight) : 0);
    shape->inverse = matrix;
    return invert(matrix, n, &ignored, err);
}

enum pv_code process_learn(const struct model_data *data,
                           const struct process_shape **shape,
                           struct pv_error *err)
{
    struct gathering all;
    struct process_shape *made = arena_calloc(data->scratch, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    PV_TRY(gather(data, &all, err));
    find_members(&all, made);
    made->executors[0] = made->executors[1] = all.cells[0].executors;
    for (size_t i = 0; i < all.n; i++) {
        struct process_cell *cell = &all.cells[i];
        set_place(made, made->own == NULL ? NULL : all.first[i]->traits,
                  cell->own ? OWN_CONTEXT : all.first[i]->context, cell->problem_size,
                  cell->executors, &cell->place);
        made->executors[0] = fmin(made->executors[0], cell->executors);
        made->executors[1] = fmax(made->executors[1], cell->executors);
    }
    made->learnt.cells = digest_cells(made, &all);
    made->learnt.n = count_theta(made);
    if (!take_kept(data->rows[0].theta, made))
        PV_TRY(tune(&all, data->scratch, made, err));
    memcpy(made->learnt.at, made->theta, sizeof made->theta);
    PV_TRY(keep_nearest(made, data->scratch, &all, err));
    made->cells = all.cells;
    made->n = all.n;
    PV_TRY(invert_all(made, data->scratch, err));
    *shape = made;
    return PV_OK;
}

const struct process_theta *process_theta(const struct process_shape *shape)
{
    return &shape->learnt;
}

/* --- given some of the cells --- */

static bool is_present(const struct process_cell *cell, const struct model_data *data)
{
    if (!cell->own)
        return true;
    for (size_t i = 0; i < data->n; i++)
        if (data->rows[i].executors == cell->executors &&
            data->rows[i].problem_size == cell->problem_size)
            return true;
    return false;
}

/* Take cell `at` out of the inverse of n cells: inverse_ij - inverse_ia inverse_aj / inverse_aa. */
static void eliminate(double inverse[], size_t n, size_t at)
{
    double pivot = inverse[at * n + at];
    for (size_t i = 0; i < n; i++) {
        double factor = inverse[i * n + at] / pivot;
        for (size_t j = 0; i != at && j < n; j++)
            if (j != at)
                inverse[i * n + j] -= factor * inverse[at * n + j];
    }
}

enum pv_code process_condition(const struct process_shape *shape,
                               const struct model_data *data,
                               struct process **process,
                               struct pv_error *err)
{
    struct arena *scratch = data->scratch;
    size_t all = shape->n;
    struct process *made = arena_calloc(scratch, 1, sizeof *made);
    double *inverse = arena_array(scratch, all * all, sizeof *inverse);
    size_t *at = arena_array(scratch, all, sizeof *at);
    if (made == NULL || inverse == NULL || at == NULL)
        return pv_no_memory(err);
    made->shape = shape;
    made->cells = arena_array(scratch, all, sizeof *made->cells);
    made->alpha = arena_array(scratch, all, sizeof *made->alpha);
    made->spread = arena_array(scratch, all, MEANS * sizeof *made->spread);
    if (made->cells == NULL || made->alpha == NULL || made->spread == NULL)
        return pv_no_memory(err);
    memcpy(inverse, shape->inverse, all * all * sizeof *inverse);
    for (size_t i = 0; i < all; i++)
        if (is_present(&shape->cells[i], data)) {
            at[made->n] = i;
            made->cells[made->n++] = &shape->cells[i];
        } else {
            eliminate(inverse, all, i);
        }
    for (size_t i = 0; i < made->n && made->n < all; i++)
        for (size_t j = 0; j < made->n; j++)
            inverse[i * made->n + j] = inverse[at[i] * all + at[j]];
    made->inverse = inverse;
    *process = made;
    return solve_means(shape, made->cells, made->n, inverse, made->spread, made->alpha, made->b,
                       made->b_covariance, err);
}

void process_predict(const struct process *process,
                     double problem_size,
                     double executors,
                     double *mean,
                     double *variance)
{
    const struct process_shape *shape = process->shape;
    double near[PROCESS_CELLS_MAX];
    struct place place;
    double h[MEANS];
    size_t n = process->n;
    size_t k = count_means(shape);
    set_place(shape, shape->own, OWN_CONTEXT, problem_size, executors, &place);
    set_means(shape, &place, h);
    *mean = 0;
    for (size_t i = 0; i < n; i++) {
        near[i] = covariance(shape, &place, &process->cells[i]->place);
        *mean += near[i] * process->alpha[i];
    }
    for (size_t a = 0; a < k; a++)
        *mean += h[a] * process->b[a];
    if (variance == NULL)
        return;
    double explained = 0;
    double off[MEANS] = {h[0], h[1], h[2]};
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += process->inverse[i * n + j] * near[j];
        explained += near[i] * sum;
        for (size_t a = 0; a < k; a++)
            off[a] -= process->spread[i * k + a] * near[i];
    }
    double amplitude = shape->theta[T_AMPLITUDE];
    *variance =
        fmax(0, amplitude * amplitude - explained) + shape->theta[T_ERROR] * shape->theta[T_ERROR];
    for (size_t a = 0; a < k; a++)
        for (size_t c = 0; c < k; c++)
            *variance += off[a] * process->b_covariance[a * k + c] * off[c];
}

/* As if the whole cell were left out, where the row is alone in it; else its other runs show it. */
double process_without(const struct process *process, const struct model_data *data, size_t row)
{
    const struct observation *left = &data->rows[row];
    for (size_t i = 0; i < process->n; i++) {
        const struct process_cell *cell = process->cells[i];
        if (!cell->own || cell->executors != left->executors ||
            cell->problem_size != left->problem_size)
            continue;
        double without = cell->mean - process->alpha[i] / process->inverse[i * process->n + i];
        double rest = cell->weight - left->weight;
        if (!(rest > 1e-9 * cell->weight))
            return without;
        double others = cell->mean + left->weight / rest * (cell->mean - log(left->duration_s));
        double own = error_variance(process->shape, rest);
        double variance = fmax(1 / process->inverse[i * process->n + i] -
                                   error_variance(process->shape, cell->weight),
                               0);
        return (without * own + others * variance) / (own + variance);
    }
    return (double)NAN;
}

void process_range(const struct process *process, double executors[2])
{
    memcpy(executors, process->shape->executors, 2 * sizeof *executors);
}

size_t process_counts(const struct process *process, double counts[])
{
    const struct process_shape *shape = process->shape;
    for (size_t i = 0; i < shape->n; i++)
        counts[i] = shape->cells[i].executors;
    return sort_distinct(counts, shape->n);
}

size_t process_sizes(const struct process *process, bool own, double sizes[])
{
    const struct process_shape *shape = process->shape;
    size_t n = 0;
    for (size_t i = 0; i < shape->n; i++)
        if (!own || shape->cells[i].own)
            sizes[n++] = shape->cells[i].problem_size;
    return sort_distinct(sizes, n);
}

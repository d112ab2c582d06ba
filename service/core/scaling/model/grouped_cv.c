#include "core/scaling/model/grouped_cv.h"
#include "core/scaling/model/physical_bounds.h"

#include <math.h>

#include "core/numerics/quantile.h"
#include "core/scaling/model/extrapolation.h"

enum axis { BY_EXECUTORS, BY_SIZE };

/* Error of laws at a gap of 1 of sizes, in public histories. This prior and LAW_ERROR_STD count as
 * so many values. */
static const double size_prior = 0.07;
static const double prior_weight = 2.7;
/* If nothing could be left out, as with two executor counts or one problem size, laws err by more
 * than the prior. */
static const double unjudged = 2.2;
/* Errors of one law at different places differ in scale, not only in size: their tails are heavier
 * than the number of values shows. By public histories, as those above. */
static const double error_freedom = 3;
/* Runs of one (N, m) that differ by more do not belong together. */
static const double repetition_max = 0.15;
/* If no configuration ran twice, the share of the squared errors of counts left out that counts as
 * noise, and as how many values each error counts. */
static const double unrepeated_share = 0.5;

/* Of one axis: which block each row belongs to, and what came of leaving blocks out. */
struct holdout {
    const struct model_data *data;
    const struct model_kind *kind;
    const double *carried;
    enum axis axis;
    size_t *blocks;
    size_t n_blocks;
    double *errors;       /* of the configurations of one block, per gap */
    double squares;       /* of the blocks' medians */
    double whole_squares; /* of the same medians, not per gap */
    size_t judged;        /* blocks */
    double *left_out;
    /* Squared errors per gap on the axis of sizes, and their number, by executor count. */
    const struct gap_axis *counts;
    double count_squares[GAP_VALUES_MAX];
    double count_judged[GAP_VALUES_MAX];
};

static double grouped_cv_value_of(const struct observation *row, enum axis axis)
{
    return axis == BY_SIZE ? row->problem_size : row->executors;
}

static enum pv_code make_axis(const struct observation rows[],
                              size_t n,
                              enum axis which,
                              struct arena *scratch,
                              struct gap_axis *axis,
                              struct pv_error *err)
{
    double *values = arena_array(scratch, n, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    /* Rows of one value stand together: fewer to sort. */
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        double value = grouped_cv_value_of(&rows[i], which);
        if (kept == 0 || value != values[kept - 1])
            values[kept++] = value;
    }
    gap_axis_make(values, kept, axis);
    return PV_OK;
}

/* Neighbouring values share a block, as evenly as they can. */
static void assign_blocks(const struct gap_axis *axis, struct holdout *holdout)
{
    holdout->n_blocks = axis->n < GROUPED_CV_BLOCKS ? axis->n : GROUPED_CV_BLOCKS;
    for (size_t i = 0; i < holdout->data->n; i++) {
        double value = grouped_cv_value_of(&holdout->data->rows[i], holdout->axis);
        size_t at = 0;
        while (at + 1 < axis->n && axis->values[at + 1] <= value)
            at++;
        holdout->blocks[i] = axis->n == 0 ? 0 : at * holdout->n_blocks / axis->n;
    }
}

/* The rows of all other blocks. */
static enum pv_code take_rest(const struct holdout *holdout,
                              size_t block,
                              struct arena *scratch,
                              struct model_data *rest,
                              struct pv_error *err)
{
    const struct model_data *data = holdout->data;
    struct observation *rows = arena_array(scratch, data->n, sizeof *rows);
    double *factors = arena_array(scratch, data->n, sizeof *factors);
    if (rows == NULL || factors == NULL)
        return pv_no_memory(err);
    *rest = *data;
    rest->carried = holdout->carried;
    rest->n = 0;
    rest->whole = true;
    rest->scratch = scratch;
    for (size_t i = 0; i < data->n; i++) {
        if (holdout->blocks[i] == block)
            continue;
        rows[rest->n] = data->rows[i];
        factors[rest->n++] = data->factors[i];
    }
    rest->rows = rows;
    rest->factors = factors;
    return PV_OK;
}

/* Where the rows that share the (N, m) of row `from` end, and the mean of their ln T. */
static size_t cell_end(const struct model_data *data, size_t from, double *mean)
{
    const struct observation *first = &data->rows[from];
    double weight = 0;
    size_t i = from;
    *mean = 0;
    for (; i < data->n && data->rows[i].executors == first->executors &&
           data->rows[i].problem_size == first->problem_size;
         i++) {
        weight += data->rows[i].weight;
        *mean += data->rows[i].weight / weight * (log(data->rows[i].duration_s) - *mean);
    }
    return i;
}

/* A law may follow the growth with size at many executors and miss it at few. */
static void add_count_error(struct holdout *holdout, double executors, double error)
{
    const struct gap_axis *counts = holdout->counts;
    size_t nearest = 0;
    for (size_t c = 1; c < counts->n; c++)
        if (fabs(log(counts->values[c] / executors)) <
            fabs(log(counts->values[nearest] / executors)))
            nearest = c;
    holdout->count_squares[nearest] += error * error;
    holdout->count_judged[nearest]++;
}

/* At a count that no other block has, a law errs by the executors as well. */
static bool has_other_block(const struct holdout *holdout, size_t block, double executors)
{
    for (size_t i = 0; i < holdout->data->n; i++)
        if (holdout->blocks[i] != block && holdout->data->rows[i].executors == executors)
            return true;
    return false;
}

/* Repetitions are no error of the law: what they err is the mean's. */
static void
score_block(struct holdout *holdout, size_t block, struct model *model, const struct gap_axis *axis)
{
    const struct model_data *data = holdout->data;
    double gap = 0;
    size_t n = 0;
    for (size_t i = 0, end; i < data->n; i = end) {
        const struct observation *row = &data->rows[i];
        double mean;
        end = cell_end(data, i, &mean);
        if (holdout->blocks[i] != block)
            continue;
        model->context = row->context;
        double predicted_s = model_duration(model, row->problem_size, row->executors);
        gap = gap_at(axis, grouped_cv_value_of(row, holdout->axis));
        if (holdout->axis == BY_EXECUTORS)
            gap *= gap_below(axis, row->executors).longer;
        for (size_t k = i; k < end; k++)
            holdout->left_out[k] = predicted_s;
        if (!(gap > 0))
            continue;
        holdout->errors[n++] = prediction_score(exp(mean), predicted_s) / gap;
        if (holdout->axis == BY_SIZE && has_other_block(holdout, block, row->executors))
            add_count_error(holdout, row->executors, holdout->errors[n - 1]);
    }
    if (n == 0)
        return;
    double error = quantile_median(holdout->errors, n);
    holdout->squares += error * error;
    holdout->whole_squares += error * error * gap * gap;
    holdout->judged++;
}

static enum pv_code grouped_cv_leave_out(struct holdout *holdout,
                                         size_t block,
                                         struct arena *scratch,
                                         struct pv_error *err)
{
    struct model_data rest;
    struct gap_axis axis;
    struct pv_error why = {0};
    PV_TRY(take_rest(holdout, block, scratch, &rest, err));
    if (rest.n == 0 || rest.n == holdout->data->n)
        return PV_OK;
    struct model_fit *fit = arena_calloc(scratch, 1, sizeof *fit);
    if (fit == NULL)
        return pv_no_memory(err);
    fit->left_out = arena_array(scratch, rest.n, sizeof *fit->left_out);
    if (fit->left_out == NULL)
        return pv_no_memory(err);
    fit->model = model_bare(holdout->kind);
    fit->model.form = rest.form;
    enum pv_code code = holdout->kind->fit(&rest, fit, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    if (code != PV_OK) /* the rest does not determine the law */
        return PV_OK;
    PV_TRY(make_axis(rest.rows, rest.n, holdout->axis, scratch, &axis, err));
    fit->model.uncertainty.observations = rest.n;
    if (holdout->axis == BY_SIZE)
        PV_TRY(physical_bounds_find(&rest, scratch, &fit->model.uncertainty, err));
    score_block(holdout, block, &fit->model, &axis);
    return PV_OK;
}

/* With the prior of a variance. */
static double error_std(double prior, double squares, double judged)
{
    return sqrt((prior_weight * prior * prior + squares) / (prior_weight + judged));
}

/* Leave out each block along one axis; *axis and *scale are what remains of it. */
static enum pv_code judge_axis(struct holdout *holdout,
                               double prior,
                               size_t least,
                               struct arena *scratch,
                               struct gap_axis *axis,
                               struct model_error_scale *scale,
                               struct pv_error *err)
{
    size_t n = holdout->data->n;
    holdout->blocks = arena_array(scratch, n, sizeof *holdout->blocks);
    holdout->errors = arena_array(scratch, n, sizeof *holdout->errors);
    if (holdout->blocks == NULL || holdout->errors == NULL)
        return pv_no_memory(err);
    PV_TRY(make_axis(holdout->data->rows, n, holdout->axis, scratch, axis, err));
    assign_blocks(axis, holdout);
    for (size_t block = 0; block < holdout->n_blocks && holdout->n_blocks > 1; block++) {
        struct arena_mark mark = arena_mark(scratch);
        PV_TRY(grouped_cv_leave_out(holdout, block, scratch, err));
        arena_rewind(scratch, mark);
    }
    if (holdout->judged >= least)
        *scale = (struct model_error_scale){
            error_std(prior, holdout->squares, (double)holdout->judged), error_freedom};
    else if (axis->n > 1 || holdout->axis == BY_SIZE)
        *scale = (struct model_error_scale){unjudged * prior, error_freedom};
    return PV_OK;
}

/* `determined`: counts left out showed that the law holds at others. */
static void
set_size_errors(const struct holdout *sizes, bool determined, struct model_uncertainty *u)
{
    for (size_t c = 0; c < u->seen_executors.n; c++) {
        double judged = sizes->count_judged[c];
        double std = error_std(size_prior, sizes->count_squares[c], judged);
        double freedom = determined ? prior_weight + judged : error_freedom;
        if (judged > 0)
            u->size_errors[u->n_size_errors++] =
                (struct model_size_error){u->seen_executors.values[c], {std, freedom}};
    }
}

/* Of the runs about the median of their (N, m). Rows of one stand together. */
static enum pv_code find_repetition(const struct holdout *scale_outs,
                                    struct arena *scratch,
                                    double *std,
                                    struct pv_error *err)
{
    const struct model_data *data = scale_outs->data;
    double squares = 0;
    double freedom = 0;
    double *logs = arena_array(scratch, data->n, sizeof *logs);
    if (logs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n;) {
        double ignored;
        size_t n = 0;
        for (size_t end = cell_end(data, i, &ignored); i < end; i++)
            logs[n++] = log(data->rows[i].duration_s);
        double middle = quantile_median(logs, n);
        for (size_t k = 0; k < n; k++)
            squares += (logs[k] - middle) * (logs[k] - middle);
        freedom += (double)(n - 1);
    }
    double most = repetition_max;
    if (!(freedom > 0)) {
        squares = unrepeated_share * scale_outs->whole_squares;
        freedom = unrepeated_share * (double)scale_outs->judged;
        most = (double)INFINITY;
    }
    squares += REPETITION_FREEDOM * REPETITION_STD * REPETITION_STD;
    *std = fmin(sqrt(squares / (REPETITION_FREEDOM + freedom)), most);
    return PV_OK;
}

enum pv_code grouped_cv_run(const struct model_data *data,
                            struct arena *scratch,
                            struct model_fit *fit,
                            struct pv_error *err)
{
    struct model_uncertainty *u = &fit->model.uncertainty;
    double *left_out = arena_array(scratch, data->n, sizeof *left_out);
    double *ignored = arena_array(scratch, data->n, sizeof *ignored);
    if (left_out == NULL || ignored == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        left_out[i] = (double)NAN;
    struct holdout scale_outs = {.data = data,
                                 .kind = fit->model.kind,
                                 .carried = fit->carried,
                                 .axis = BY_EXECUTORS,
                                 .left_out = left_out};
    struct holdout sizes = scale_outs;
    sizes.axis = BY_SIZE;
    sizes.left_out = ignored;
    sizes.counts = &u->seen_executors;
    double learnt = data->rows[0].law_error;
    double prior = learnt > 0 ? learnt : LAW_ERROR_STD;
    PV_TRY(judge_axis(&scale_outs, prior, 2, scratch, &u->seen_executors, &u->new_executors, err));
    PV_TRY(judge_axis(&sizes, size_prior, 1, scratch, &u->seen_sizes, &u->new_sizes, err));
    set_size_errors(&sizes, scale_outs.judged > 1, u);
    PV_TRY(find_repetition(&scale_outs, scratch, &u->repetition_std, err));
    fit->scale_outs_judged = scale_outs.judged;
    fit->scale_out_squares = scale_outs.squares;
    for (size_t i = 0; i < data->n; i++)
        fit->residuals[i].left_scale_out = left_out[i];
    return PV_OK;
}

#include "core/scaling/model/grouped_cv.h"

#include <string.h>

#include "core/scaling/model/extrapolation.h"

enum axis { BY_EXECUTORS, BY_SIZE };

/* Of one axis: which block each row belongs to, and what came of leaving blocks out. */
struct holdout {
    const struct model_data *data;
    const struct model_kind *kind;
    enum axis axis;
    size_t *blocks;
    size_t n_blocks;
    struct group_score *scores;
    size_t n;
    size_t judged; /* blocks */
    double *left_out;
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
    for (size_t i = 0; i < n; i++)
        values[i] = grouped_cv_value_of(&rows[i], which);
    gap_axis_make(values, n, axis);
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

static void score_block(struct holdout *holdout,
                        size_t block,
                        const struct model *model,
                        const struct gap_axis *axis)
{
    struct model_law law = model_law(model);
    for (size_t i = 0; i < holdout->data->n; i++) {
        const struct observation *row = &holdout->data->rows[i];
        if (holdout->blocks[i] != block)
            continue;
        law.context = row->context;
        double predicted_s = law.kind->duration_s(&law, row->problem_size, row->executors);
        double gap = gap_at(axis, grouped_cv_value_of(row, holdout->axis));
        holdout->left_out[i] = predicted_s;
        if (gap > 0)
            holdout->scores[holdout->n++] = (struct group_score){
                prediction_score(row->duration_s, predicted_s) / gap, holdout->judged, row->weight};
    }
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
    score_block(holdout, block, &fit->model, &axis);
    return PV_OK;
}

/* Leave out each block along one axis; *axis and *table are what remains of it. */
static enum pv_code judge_axis(struct holdout *holdout,
                               struct arena *scratch,
                               struct gap_axis *axis,
                               struct score_table *table,
                               struct pv_error *err)
{
    size_t n = holdout->data->n;
    holdout->blocks = arena_array(scratch, n, sizeof *holdout->blocks);
    holdout->scores = arena_array(scratch, n, sizeof *holdout->scores);
    if (holdout->blocks == NULL || holdout->scores == NULL)
        return pv_no_memory(err);
    PV_TRY(make_axis(holdout->data->rows, n, holdout->axis, scratch, axis, err));
    assign_blocks(axis, holdout);
    for (size_t block = 0; block < holdout->n_blocks && holdout->n_blocks > 1; block++) {
        struct arena_mark mark = arena_mark(scratch);
        PV_TRY(grouped_cv_leave_out(holdout, block, scratch, err));
        arena_rewind(scratch, mark);
    }
    if (holdout->judged < 2)
        return PV_OK;
    return score_table_make(holdout->scores, holdout->n, holdout->judged, (double)holdout->judged,
                            scratch, table, err);
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
    struct holdout scale_outs = {
        .data = data, .kind = fit->model.kind, .axis = BY_EXECUTORS, .left_out = left_out};
    struct holdout sizes = {
        .data = data, .kind = fit->model.kind, .axis = BY_SIZE, .left_out = ignored};
    PV_TRY(judge_axis(&scale_outs, scratch, &u->seen_executors, &u->new_executors, err));
    PV_TRY(judge_axis(&sizes, scratch, &u->seen_sizes, &u->new_sizes, err));
    for (size_t i = 0; i < data->n; i++)
        fit->residuals[i].left_scale_out = left_out[i];
    return PV_OK;
}

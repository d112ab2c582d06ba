/*
 * Ernest (S. Venkataraman, Z. Yang, M. Franklin, B. Recht, I. Stoica, "Ernest: Efficient
 * Performance Prediction for Large-Scale Advanced Analytics", NSDI 2016, section 3):
 *
 *     T(N, m) = a + b N/m + c ln m + d m,  all coefficients >= 0
 *
 * a serial part, a part divided among the executors, a tree of aggregations, an overhead for each
 * executor. Here T is the whole duration and the fit is exact (docs/design.md, "Other kinds of
 * models").
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "core/scaling/laws/configurations.h"
#include "core/scaling/model/describe.h"

enum { A, B, C, D, COLUMNS };

static const struct model_parameter_rule rules[COLUMNS] = {
    [A] = {"a", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [B] = {"b", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [C] = {"c", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [D] = {"d", 0, HUGE_VAL, MODEL_OF_DURATIONS},
};

static double ernest_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    return p[A] + p[B] * problem_size / executors + p[C] * log(executors) + p[D] * executors;
}

/* dT/dm = 0: d m^2 + c m - b N = 0. */
static size_t ernest_turn(const struct model_law *law, double problem_size, double m[])
{
    const double *p = law->p;
    double work = p[B] * problem_size;
    double root = sqrt(p[C] * p[C] + 4 * p[D] * work);
    /* In this form nothing cancels, and d = 0 needs no case of its own. */
    if (!(p[C] + root > 0))
        return 0;
    m[0] = 2 * work / (p[C] + root);
    return 1;
}

static enum pv_code
fit_ernest(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    struct nonnegative_fit found;
    PV_TRY(configurations_require(data, &ernest_kind, COLUMNS, 3, &design, err));
    double *x = arena_array(data->scratch, data->n, COLUMNS * sizeof *x);
    double *y = arena_array(data->scratch, data->n, sizeof *y);
    if (x == NULL || y == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        const struct observation *row = &data->rows[i];
        x[i * COLUMNS + A] = 1;
        x[i * COLUMNS + B] = row->problem_size / row->executors;
        x[i * COLUMNS + C] = log(row->executors);
        x[i * COLUMNS + D] = row->executors;
        y[i] = row->duration_s;
    }
    PV_TRY(configurations_fit(&design, x, COLUMNS, y, fit, &found, err));
    for (size_t j = 0; j < COLUMNS; j++) {
        fit->model.parameters[j].estimate = found.b[j];
        for (size_t k = 0; k < COLUMNS; k++)
            fit->model.uncertainty.covariance[j][k] = found.covariance[j][k];
    }
    return PV_OK;
}

static void ernest_describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double size;
    double m;
    if (!describe_corner(model, &size, &m))
        return;
    const struct describe_part parts[] = {
        {"fixed_s", "a fixed time, whatever the size and the executors", law.p[A]},
        {"shared_s", "work that executors share", law.p[B] * size / m},
        {"tree_s", "gathering results in trees, ln(executors)", law.p[C] * log(m)},
        {"per_executor_s", "what every executor adds", law.p[D] * m}};
    describe_parts(findings, parts, 4);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

const struct model_kind ernest_kind = {
    .name = "ernest",
    .forms = MODEL_OF_DURATIONS,
    .rules = rules,
    .n_parameters = COLUMNS,
    .fit = fit_ernest,
    .duration_s = ernest_duration,
    .turning_points = ernest_turn,
    .describe = ernest_describe,
};

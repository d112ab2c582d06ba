#include "core/scaling/laws/usba.h"

#include <math.h>

#include "core/numerics/least_squares.h"
#include "core/scaling/laws/startup_overhead.h"
#include "core/scaling/laws/usba_internal.h"
#include "core/scaling/model/describe.h"

#define BOTH (MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS)

const struct model_parameter_rule usba_rules[USBA_PARAMETERS] = {
    [USBA_ALPHA] = {"alpha", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_BETA] = {"beta", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_GAMMA] = {"gamma", -HUGE_VAL, HUGE_VAL, BOTH},
    [USBA_EPSILON] = {"epsilon", 0, 1, BOTH},
    [USBA_THETA] = {"theta", 1, HUGE_VAL, BOTH},
    [USBA_INITIALIZATION] = {"initialization_s", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [USBA_PARALLEL] = {"parallel_s", -HUGE_VAL, HUGE_VAL, MODEL_OF_DURATIONS},
    [USBA_RATIO] = {"initialization_ratio", 0, HUGE_VAL, MODEL_OF_SPEEDUPS},
};

/* --- the law --- */

double usba_growth(const double p[], double problem_size, double executors)
{
    return 1 - p[USBA_BETA] - p[USBA_GAMMA] + p[USBA_ALPHA] * log(problem_size / executors) +
           p[USBA_BETA] * executors + p[USBA_GAMMA] * problem_size;
}

static double duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], executors);
    return p[USBA_INITIALIZATION] * q + p[USBA_PARALLEL] * usba_growth(p, problem_size, executors);
}

static double speedup(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    if (law->form == MODEL_OF_DURATIONS)
        return (p[USBA_INITIALIZATION] + problem_size * p[USBA_PARALLEL]) /
               duration(law, problem_size, executors);
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], executors);
    return (p[USBA_RATIO] + problem_size) /
           (p[USBA_RATIO] * q + usba_growth(p, problem_size, executors));
}

/* Where -alpha ln m + beta m + t0/T1 epsilon min(m, theta) can be least: flat below theta, at
 * theta, flat above it. */
static size_t turn(const struct model_law *law, double problem_size, double m[])
{
    const double *p = law->p;
    (void)problem_size;
    double ratio =
        law->form == MODEL_OF_SPEEDUPS ? p[USBA_RATIO] : p[USBA_INITIALIZATION] / p[USBA_PARALLEL];
    m[0] = p[USBA_ALPHA] / (p[USBA_BETA] + ratio * p[USBA_EPSILON]);
    m[1] = p[USBA_THETA];
    m[2] = p[USBA_ALPHA] / p[USBA_BETA];
    return 3;
}

/* --- the two parts of a duration --- */

double *usba_parallel_times(const struct model_data *data, struct arena *scratch)
{
    double *times_s = arena_array(scratch, data->n, sizeof *times_s);
    for (size_t i = 0; times_s != NULL && i < data->n; i++) {
        double before_s = data->rows[i].initialization_s;
        times_s[i] = data->rows[i].duration_s - (isnan(before_s) ? 0 : before_s);
    }
    return times_s;
}

enum pv_code usba_set_startup(const struct model_data *data,
                              struct arena *scratch,
                              double left_out_s[],
                              double freedom[],
                              struct model_fit *fit,
                              struct pv_error *err)
{
    static const size_t at[3] = {USBA_INITIALIZATION, USBA_EPSILON, USBA_THETA};
    struct startup startup;
    double *executors = arena_array(scratch, data->n, sizeof *executors);
    double *times_s = arena_array(scratch, data->n, sizeof *times_s);
    if (executors == NULL || times_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        executors[i] = data->rows[i].executors;
        times_s[i] = data->knows_initialization ? data->rows[i].initialization_s : 0;
    }
    enum pv_code code = startup_fit(executors, times_s, data->factors, data->n, scratch,
                                    data->whole ? NULL : left_out_s, &startup, err);
    if (code != PV_OK)
        return code;
    struct model *model = &fit->model;
    model->parameters[USBA_INITIALIZATION].estimate = startup.t0_s;
    model->parameters[USBA_EPSILON].estimate = startup.epsilon;
    model->parameters[USBA_THETA].estimate = startup.theta;
    for (size_t a = 0; a < 3; a++) {
        freedom[at[a]] = startup.freedom;
        for (size_t b = 0; b < 3; b++)
            model->uncertainty.covariance[at[a]][at[b]] =
                data->knows_initialization ? startup.covariance[a][b] : 0;
    }
    if (data->knows_initialization && !startup.saturates)
        (void)finding_add(
            &fit->warnings, "theta_not_reached",
            "initialization does not level off within the executor counts observed: theta "
            "stands at the largest of them");
    return PV_OK;
}

/* Derivatives of alpha, beta, gamma, T1 by c0..c3. */
static void differentiate(const double c[4], double t1, double jacobian[4][4])
{
    for (size_t i = 0; i < 3; i++) {
        /* Each is c[i + 1] / T1, and T1 = c0 + c2 + c3. */
        double value = c[i + 1] / t1;
        for (size_t j = 0; j < 4; j++)
            jacobian[i][j] = ((j == i + 1 ? 1 : 0) - (j == 1 ? 0 : value)) / t1;
    }
    for (size_t j = 0; j < 4; j++)
        jacobian[3][j] = j == 1 ? 0 : 1;
}

enum pv_code usba_set_parallel(const double c[4],
                               double covariance[4][4],
                               struct model *model,
                               struct pv_error *err)
{
    static const size_t at[4] = {USBA_ALPHA, USBA_BETA, USBA_GAMMA, USBA_PARALLEL};
    double jacobian[4][4];
    double t1 = c[0] + c[2] + c[3];
    double size = fabs(c[0]) + fabs(c[1]) + fabs(c[2]) + fabs(c[3]);
    if (!(fabs(t1) > 1e-9 * size))
        return pv_fail(
            err, PV_E_SINGULAR,
            "the time at problem_size 1 on one executor comes out as 0: add runs at small "
            "sizes, best at problem_size 1 on one executor");
    differentiate(c, t1, jacobian);
    for (size_t i = 0; i < 3; i++)
        model->parameters[at[i]].estimate = c[i + 1] / t1;
    model->parameters[USBA_PARALLEL].estimate = t1;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            double sum = 0;
            for (size_t a = 0; a < 4; a++)
                for (size_t b = 0; b < 4; b++)
                    sum += jacobian[i][a] * covariance[a][b] * jacobian[j][b];
            model->uncertainty.covariance[at[i]][at[j]] = sum;
        }
    }
    return PV_OK;
}

/* --- the parallel part by least squares --- */

struct parallel {
    const struct model_data *data;
    const struct design *design;
    struct arena *scratch;
    const double *times_s;
    double t1_s;        /* mean over the runs at N = m = 1; NAN without any */
    double unit_weight; /* of those together */
    size_t units;       /* how many those are */
};

static bool is_unit(const struct observation *row)
{
    return row->problem_size == 1 && row->executors == 1;
}

/* Rows for the fit: all of them, or those that are not at N = m = 1. gamma's column is the last. */
static size_t lay_out(
    const struct parallel *part, size_t skip, bool gamma, double x[], double y[], double weights[])
{
    bool measured = part->units > 0 && skip == part->data->n;
    size_t k = (measured ? 2u : 3u) + (gamma ? 1u : 0u);
    size_t n = 0;
    for (size_t i = 0; i < part->data->n; i++) {
        const struct observation *row = &part->data->rows[i];
        if (i == skip || (measured && is_unit(row)))
            continue;
        double one = measured ? 1 : 0;
        double *to = &x[n * k];
        if (!measured)
            *to++ = 1;
        *to++ = log(row->problem_size / row->executors);
        *to++ = row->executors - one;
        if (gamma)
            *to++ = row->problem_size - one;
        y[n] = measured ? part->times_s[i] / part->t1_s - 1 : part->times_s[i];
        weights[n++] = part->data->factors[i];
    }
    return n;
}

/* skip: the row that is left out (then always the extrapolated form), or n. */
static enum pv_code fit_linear(const struct parallel *part,
                               size_t skip,
                               bool gamma,
                               const double **y_out,
                               struct linear_fit *linear,
                               struct pv_error *err)
{
    size_t n = part->data->n;
    double *x = arena_array(part->scratch, n, 4 * sizeof *x);
    double *y = arena_array(part->scratch, n, sizeof *y);
    double *weights = arena_array(part->scratch, n, sizeof *weights);
    if (x == NULL || y == NULL || weights == NULL)
        return pv_no_memory(err);
    size_t rows = lay_out(part, skip, gamma, x, y, weights);
    size_t k = (part->units > 0 && skip == n ? 2u : 3u) + (gamma ? 1u : 0u);
    *y_out = y;
    return linear_fit(x, rows, k, y, weights, part->scratch, linear, err);
}

static enum pv_code set_measured(const struct parallel *part,
                                 const struct linear_fit *linear,
                                 struct model *model,
                                 double freedom[])
{
    double squares = 0;
    for (size_t i = 0; i < part->data->n; i++)
        if (is_unit(&part->data->rows[i]))
            squares += part->data->rows[i].weight * (part->times_s[i] - part->t1_s) *
                       (part->times_s[i] - part->t1_s);
    double units = (double)part->units;
    model->reference = MODEL_MEASURED;
    model->parameters[USBA_PARALLEL].estimate = part->t1_s;
    freedom[USBA_PARALLEL] = units - 1;
    model->uncertainty.covariance[USBA_PARALLEL][USBA_PARALLEL] =
        part->units > 1 ? squares / (units - 1) / part->unit_weight : 0;
    for (size_t a = 0; a < linear->k; a++) {
        model->parameters[a].estimate = linear->coefficients[a];
        for (size_t b = 0; b < linear->k; b++)
            model->uncertainty.covariance[a][b] =
                isnan(linear->variance) ? 0 : linear->variance * linear->inverse[a][b];
    }
    return PV_OK;
}

static enum pv_code set_parameters(const struct parallel *part,
                                   const struct linear_fit *linear,
                                   struct model *model,
                                   double freedom[],
                                   struct pv_error *err)
{
    for (size_t j = USBA_ALPHA; j <= USBA_GAMMA; j++)
        freedom[j] = (double)(linear->n - linear->k);
    model->parameters[USBA_GAMMA].estimate = 0;
    if (part->units > 0)
        return set_measured(part, linear, model, freedom);
    double c[4] = {0};
    double covariance[4][4] = {{0}};
    for (size_t a = 0; a < linear->k; a++) {
        c[a] = linear->coefficients[a];
        for (size_t b = 0; b < linear->k && !isnan(linear->variance); b++)
            covariance[a][b] = linear->variance * linear->inverse[a][b];
    }
    freedom[USBA_PARALLEL] = freedom[USBA_ALPHA];
    model->reference = MODEL_EXTRAPOLATED;
    return usba_set_parallel(c, covariance, model, err);
}

static bool gamma_is_insignificant(const struct model *model, const double freedom[])
{
    double variance = model->uncertainty.covariance[USBA_GAMMA][USBA_GAMMA];
    return linear_p_value(model->parameters[USBA_GAMMA].estimate, sqrt(variance),
                          freedom[USBA_GAMMA]) > USBA_SIGNIFICANT;
}

static void drop_gamma(struct model *model)
{
    model->parameters[USBA_GAMMA].dropped = true;
    for (size_t j = 0; j < USBA_PARAMETERS; j++)
        model->uncertainty.covariance[USBA_GAMMA][j] =
            model->uncertainty.covariance[j][USBA_GAMMA] = 0;
}

/* With gamma if the observations know it, else without. */
static enum pv_code choose_form(const struct parallel *part,
                                struct linear_fit *linear,
                                const double **y,
                                double freedom[],
                                struct model_fit *fit,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    struct model kept = fit->model;
    enum pv_code code = fit_linear(part, part->data->n, true, y, linear, &why);
    if (code == PV_OK)
        code = set_parameters(part, linear, &fit->model, freedom, err);
    else if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    bool known = code == PV_OK;
    if (known && !gamma_is_insignificant(&fit->model, freedom))
        return PV_OK;
    fit->model = kept;
    pv_error_clear(err);
    code = fit_linear(part, part->data->n, false, y, linear, &why);
    if (code == PV_E_SINGULAR)
        return design_blame(part->design, part->data, "usba", err);
    if (code == PV_OK)
        code = set_parameters(part, linear, &fit->model, freedom, err);
    if (code != PV_OK)
        return code;
    drop_gamma(&fit->model);
    if (known)
        (void)finding_add(&fit->warnings, "gamma_dropped",
                          "gamma is not significant (p > %g) and was left out", USBA_SIGNIFICANT);
    else
        (void)finding_add(
            &fit->warnings, "gamma_dropped",
            "the problem sizes observed do not tell gamma from the other effects: it was left "
            "out");
    return PV_OK;
}

/* A lone run at N = m = 1: without it the reference is extrapolated. */
static enum pv_code leave_reference_out(
    const struct parallel *part, size_t i, bool gamma, double *left_out_s, struct pv_error *err)
{
    struct linear_fit linear;
    struct pv_error why = {0};
    const double *y;
    enum pv_code code = fit_linear(part, i, gamma, &y, &linear, &why);
    *left_out_s = (double)NAN;
    if (code == PV_E_SINGULAR)
        return PV_OK;
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    *left_out_s = linear.coefficients[0] + linear.coefficients[2];
    if (gamma)
        *left_out_s += linear.coefficients[3];
    return PV_OK;
}

/* Mean of the runs at N = m = 1 other than row i. */
static double without_unit(const struct parallel *part, size_t i)
{
    double w = part->data->rows[i].weight;
    return (part->unit_weight * part->t1_s - w * part->times_s[i]) / (part->unit_weight - w);
}

static enum pv_code leave_out(const struct parallel *part,
                              const struct linear_fit *linear,
                              const double y[],
                              bool gamma,
                              double left_out_s[],
                              struct pv_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < part->data->n; i++) {
        if (part->units == 0)
            left_out_s[i] = linear_left_out(linear, y, i);
        else if (!is_unit(&part->data->rows[i]))
            left_out_s[i] = part->t1_s * (1 + linear_left_out(linear, y, at++));
        else if (part->units > 1)
            left_out_s[i] = without_unit(part, i);
        else {
            enum pv_code code = leave_reference_out(part, i, gamma, &left_out_s[i], err);
            if (code != PV_OK)
                return code;
        }
    }
    return PV_OK;
}

static enum pv_code prepare(const struct model_data *data,
                            const struct design *design,
                            struct arena *scratch,
                            struct parallel *part,
                            struct pv_error *err)
{
    *part = (struct parallel){.data = data, .design = design, .scratch = scratch};
    part->times_s = usba_parallel_times(data, scratch);
    if (part->times_s == NULL)
        return pv_no_memory(err);
    double sum = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (!is_unit(&data->rows[i]))
            continue;
        sum += data->rows[i].weight * part->times_s[i];
        part->unit_weight += data->rows[i].weight;
        part->units++;
    }
    part->t1_s = part->units > 0 ? sum / part->unit_weight : (double)NAN;
    if (part->units > 0 && !(part->t1_s > 0))
        return pv_fail(
            err, PV_E_DOMAIN,
            "the runs at problem_size 1 on one executor take no time after initialization");
    return PV_OK;
}

static enum pv_code fit_durations(const struct model_data *data,
                                  const struct design *design,
                                  struct arena *scratch,
                                  double left_out[],
                                  double freedom[],
                                  struct model_fit *fit,
                                  struct pv_error *err)
{
    struct parallel part;
    struct linear_fit linear = {.n = 0};
    const double *y = NULL;
    double *before_s = arena_array(scratch, data->n, sizeof *before_s);
    if (before_s == NULL)
        return pv_no_memory(err);
    enum pv_code code = prepare(data, design, scratch, &part, err);
    if (code == PV_OK)
        code = choose_form(&part, &linear, &y, freedom, fit, err);
    bool gamma = !fit->model.parameters[USBA_GAMMA].dropped;
    if (code == PV_OK && !data->whole)
        code = leave_out(&part, &linear, y, gamma, left_out, err);
    if (code == PV_OK)
        code = usba_set_startup(data, scratch, before_s, freedom, fit, err);
    if (code != PV_OK)
        return code;
    for (size_t i = 0; !data->whole && i < data->n; i++)
        left_out[i] += before_s[i];
    if (!(fit->model.parameters[USBA_PARALLEL].estimate > 0))
        (void)finding_add(
            &fit->warnings, "negative_reference",
            "the time at problem_size 1 on one executor is extrapolated to less than 0: "
            "durations can be predicted, speedups cannot");
    return PV_OK;
}

static enum pv_code fit_usba(const struct model_data *data,
                             struct arena *scratch,
                             double left_out[],
                             double freedom[],
                             struct model_fit *fit,
                             struct pv_error *err)
{
    struct design design;
    bool speedups = data->form == MODEL_OF_SPEEDUPS;
    enum pv_code code = design_survey(data, scratch, &design, err);
    if (code == PV_OK)
        code = design_require(&design, data, "usba", speedups ? 7 : 4, speedups ? 3 : 2, err);
    if (code != PV_OK)
        return code;
    if (speedups)
        return usba_fit_ratio(data, &design, scratch, left_out, freedom, fit, err);
    return fit_durations(data, &design, scratch, left_out, freedom, fit, err);
}

/* What bounds the speedup: a part that grows with executors, or nothing that was seen. */
static void describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double beta = law.p[USBA_BETA];
    struct finding *finding =
        beta > 0
            ? finding_add(findings, "executor_overhead",
                          "Each executor adds %.2g %% of the time of a problem of size 1 to the "
                          "parallel part: that is what ends the speedup.",
                          100 * beta)
            : finding_add(findings, "no_executor_overhead",
                          "Executors add nothing to the parallel part: it falls with their "
                          "logarithm as far as the law holds.");
    finding_number(finding, "beta", beta);
    finding_number(finding, "p_value", model->parameters[USBA_BETA].p_value);
    usba_describe_startup(model, findings);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

const struct model_kind usba_kind = {
    .name = "usba",
    .forms = BOTH,
    .wants_initialization = true,
    .rules = usba_rules,
    .n_parameters = USBA_PARAMETERS,
    .fit = fit_usba,
    .duration_s = duration,
    .speedup = speedup,
    .turning_points = turn,
    .describe = describe,
};

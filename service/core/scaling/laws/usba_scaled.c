/*
 * USBA whose parallel part shrinks with the executors (docs/design.md, "USBA"):
 *
 *     T(N, m) = t0 q(m) + T1 (N/m) p(N, m)
 *
 * with q and p as in core/scaling/laws/usba.h. T - initialization is linear in c0..c3 over (N/m)
 * (1, ln(N/m), m, N), all of them >= 0; alpha, beta, gamma and T1 follow from them as for USBA
 * (reference extrapolated). USBA as published has no term in 1/m.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "core/scaling/laws/startup_overhead.h"
#include "core/scaling/laws/usba.h"
#include "core/scaling/model/describe.h"

enum { COLUMNS = 4, PARAMETERS = USBA_RATIO };

static double
usba_scaled_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    double q = startup_factor(p[USBA_EPSILON], p[USBA_THETA], executors);
    return p[USBA_INITIALIZATION] * q +
           p[USBA_PARALLEL] * problem_size / executors * usba_growth(p, problem_size, executors);
}

/* Below theta, t0 epsilon m^2 = T1 N (p0 + gamma N + alpha (1 + ln(N/m))), whose left side rises
 * and right side falls with m; above theta more executors only help. */
static size_t usba_scaled_turn(const struct model_law *law, double problem_size, double m[])
{
    const double *p = law->p;
    double low = 0;
    double high = log(p[USBA_THETA]);
    double flat = 1 - p[USBA_BETA] - p[USBA_GAMMA] + p[USBA_GAMMA] * problem_size + p[USBA_ALPHA];
    for (size_t step = 0; step < 60; step++) {
        double middle = (low + high) / 2;
        double fall =
            p[USBA_PARALLEL] * problem_size * (flat + p[USBA_ALPHA] * (log(problem_size) - middle));
        double rise = p[USBA_INITIALIZATION] * p[USBA_EPSILON] * exp(2 * middle);
        *(rise < fall ? &low : &high) = middle;
    }
    m[0] = exp(high);
    m[1] = p[USBA_THETA];
    return 2;
}

static enum pv_code
fit_parallel(const struct configurations *design, struct model_fit *fit, struct pv_error *err)
{
    const struct model_data *data = design->data;
    struct nonnegative_fit found;
    double covariance[4][4];
    double *times_s = usba_parallel_times(data);
    double *x = arena_array(data->scratch, data->n, COLUMNS * sizeof *x);
    if (times_s == NULL || x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        const struct observation *row = &data->rows[i];
        double each = row->problem_size / row->executors;
        x[i * COLUMNS] = each;
        x[i * COLUMNS + 1] = each * log(each);
        x[i * COLUMNS + 2] = each * row->executors;
        x[i * COLUMNS + 3] = each * row->problem_size;
    }
    PV_TRY(configurations_fit(design, x, COLUMNS, times_s, fit, &found, err));
    for (size_t a = 0; a < COLUMNS; a++)
        for (size_t b = 0; b < COLUMNS; b++)
            covariance[a][b] = found.covariance[a][b];
    return usba_set_parallel(found.b, covariance, &fit->model, err);
}

static enum pv_code
fit_usba_scaled(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    PV_TRY(configurations_require(data, &usba_scaled_kind, COLUMNS, 2, &design, err));
    PV_TRY(fit_parallel(&design, fit, err));
    PV_TRY(usba_set_startup(data, fit, err));
    fit->model.reference = MODEL_EXTRAPOLATED;
    return PV_OK;
}

static void usba_scaled_describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    const double *p = law.p;
    double size;
    double m;
    usba_describe_startup(model, findings);
    if (!describe_corner(model, &size, &m))
        return;
    double each_s = p[USBA_PARALLEL] * size / m;
    const struct describe_part parts[] = {
        {"initialization_s", "starting",
         p[USBA_INITIALIZATION] * startup_factor(p[USBA_EPSILON], p[USBA_THETA], m)},
        {"shared_s", "work that executors share",
         each_s * (1 - p[USBA_BETA] - p[USBA_GAMMA] + p[USBA_ALPHA] * log(size / m))},
        {"serial_s", "work in step with the problem that executors do not share",
         each_s * p[USBA_BETA] * m},
        {"size_s", "work that grows faster than the problem", each_s * p[USBA_GAMMA] * size}};
    describe_parts(findings, parts, 4);
    describe_peak(model, findings);
    describe_doubling(model, findings);
}

const struct model_kind usba_scaled_kind = {
    .name = "usba_scaled",
    .forms = MODEL_OF_DURATIONS,
    .wants_initialization = true,
    .rules = usba_rules,
    .n_parameters = PARAMETERS,
    .fit = fit_usba_scaled,
    .duration_s = usba_scaled_duration,
    .turning_points = usba_scaled_turn,
    .describe = usba_scaled_describe,
};

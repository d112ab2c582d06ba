/*
 * G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing
 * capabilities", AFIPS 1967; as in USBA eq. 3.2, with n = executors:
 *
 *     S(n) = 1 / (eta/n + 1 - eta),  T(n) = T1 (eta/n + 1 - eta)
 *
 * for a problem of one size. Durations: T = a + b/n with a, b >= 0, so that eta = b/(a + b) and
 * T1 = a + b = `sequential_s`. Speedups: eta alone, least squared relative error.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/serial_fraction.h"
#include "core/scaling/model/describe.h"

enum { ETA = SHARE_ETA, SEQUENTIAL = SHARE_SEQUENTIAL, PARAMETERS = SHARE_PARAMETERS };

static const struct model_parameter_rule rules[PARAMETERS] = {
    [ETA] = {"eta", 0, 1, MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS},
    [SEQUENTIAL] = {"sequential_s", 0, HUGE_VAL, MODEL_OF_DURATIONS},
};

static double shared(double eta, double executors, double *slope)
{
    double speedup = 1 / (eta / executors + 1 - eta);
    *slope = speedup * speedup * (1 - 1 / executors);
    return speedup;
}

static double amdahl_speedup(const struct model_law *law, double problem_size, double executors)
{
    double ignored;
    (void)problem_size;
    return shared(law->p[ETA], executors, &ignored);
}

static double amdahl_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    (void)problem_size;
    return p[SEQUENTIAL] * (p[ETA] / executors + 1 - p[ETA]);
}

/* Fixed size without scale-out-induced work: the type hangs on eta alone (docs/design.md, "Scaling
 * types"). */
static const char *scaling_type(const struct model *model)
{
    return model->parameters[ETA].estimate >= 1 ? "Is" : "IIIs,1";
}

static enum pv_code
fit_durations(const struct configurations *design, struct model_fit *fit, struct pv_error *err)
{
    const struct model_data *data = design->data;
    double *x = arena_array(data->scratch, data->n, sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        x[i] = 1 / data->rows[i].executors;
    return serial_fraction_fit_durations(x, design, fit, err);
}

static enum pv_code
fit_amdahl(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    PV_TRY(configurations_require(data, &amdahl_kind, 2, 2, &design, err));
    if (design.sizes > 1)
        finding_count(
            finding_add(&fit->warnings, "problem_size_varies",
                        "amdahl is a law of one problem size; these observations hold %zu",
                        design.sizes),
            design.sizes);
    if (data->form == MODEL_OF_DURATIONS)
        return fit_durations(&design, fit, err);
    serial_fraction_fit(shared, data, fit);
    return PV_OK;
}

static void amdahl_describe(const struct model *model, struct findings *findings)
{
    double eta = model->parameters[ETA].estimate;
    double alone_s = model->parameters[SEQUENTIAL].estimate;
    describe_limit(findings, "the application", 1 / (1 - eta), eta / (1 - eta));
    if (model->form == MODEL_OF_SPEEDUPS)
        return;
    double m = fmax(1, model->uncertainty.executors[1]);
    const struct describe_part parts[] = {
        {"serial_s", "what no executor can share", alone_s * (1 - eta)},
        {"shared_s", "what executors share", alone_s * eta / m}};
    describe_parts(findings, parts, 2);
    describe_doubling(model, findings);
}

const struct model_kind amdahl_kind = {
    .name = "amdahl",
    .forms = MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS,
    .rules = rules,
    .n_parameters = PARAMETERS,
    .size_use = MODEL_IGNORES_SIZE,
    .fit = fit_amdahl,
    .duration_s = amdahl_duration,
    .speedup = amdahl_speedup,
    .scaling_type = scaling_type,
    .describe = amdahl_describe,
};

/*
 * J. L. Gustafson, "Reevaluating Amdahl's law", CACM 31, 1988; with n = executors:
 *
 *     S(n) = eta n + 1 - eta
 *
 * for a problem that grows along with the executors. Durations: the law says that T is the same for
 * all n as long as each executor gets as much as the one had; so a series of one N/m shows T1 and
 * nothing of eta. Runs of other N/m do: with N0 = `size_per_executor`, the mean N/m observed (sum
 * of N over sum of m),
 *
 *     T(N, m) = T1 (1 - eta + eta N/(m N0)),
 *
 * whose T(n N0, 1)/T(n N0, n) is the law above. Linear in T1 (1 - eta) and T1 eta, both >= 0;
 * T1 = `sequential_s`. Speedups: eta alone, least squared relative error.
 */
#include "base/quantity_text.h"
#include "core/scaling/laws/kinds.h"

#include <math.h>

#include "core/scaling/laws/configurations.h"
#include "core/scaling/laws/serial_fraction.h"
#include "core/scaling/model/describe.h"

enum { ETA = SHARE_ETA, SEQUENTIAL = SHARE_SEQUENTIAL, SIZE, PARAMETERS };

static const struct model_parameter_rule rules[PARAMETERS] = {
    [ETA] = {"eta", 0, 1, MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS},
    [SEQUENTIAL] = {"sequential_s", 0, HUGE_VAL, MODEL_OF_DURATIONS},
    [SIZE] = {"size_per_executor", 1e-12, 1e12, MODEL_OF_DURATIONS},
};

static double gustafson_scaled(double eta, double executors, double *slope)
{
    *slope = executors - 1;
    return 1 + eta * (executors - 1);
}

static double gustafson_speedup(const struct model_law *law, double problem_size, double executors)
{
    double ignored;
    (void)problem_size;
    return gustafson_scaled(law->p[ETA], executors, &ignored);
}

static double gustafson_duration(const struct model_law *law, double problem_size, double executors)
{
    const double *p = law->p;
    return p[SEQUENTIAL] * (1 - p[ETA] + p[ETA] * problem_size / (executors * p[SIZE]));
}

/* EX ~ n, IN constant, nothing induced: delta = 1, gamma = 0 (docs/design.md, "Scaling types"). */
static const char *scaling_type(const struct model *model)
{
    (void)model;
    return "It";
}

static enum pv_code
fit_durations(const struct configurations *design, struct model_fit *fit, struct pv_error *err)
{
    const struct model_data *data = design->data;
    double sizes = 0;
    double executors = 0;
    double *x = arena_array(data->scratch, data->n, sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        sizes += data->rows[i].weight * data->rows[i].problem_size;
        executors += data->rows[i].weight * data->rows[i].executors;
    }
    for (size_t i = 0; i < data->n; i++)
        x[i] = data->rows[i].problem_size / data->rows[i].executors * executors / sizes;
    fit->model.parameters[SIZE].estimate = sizes / executors;
    return serial_fraction_fit_durations(x, design, fit, err);
}

static enum pv_code
fit_gustafson(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct configurations design;
    bool durations = data->form == MODEL_OF_DURATIONS;
    PV_TRY(configurations_require(data, &gustafson_kind, 2, durations ? 1 : 2, &design, err));
    if (durations && design.shares == 1)
        return pv_fail(
            err, PV_E_SINGULAR,
            "durations at one problem_size per executor do not show eta: by this law they "
            "are all the same; add runs at another one, or give speedups");
    if (durations)
        return fit_durations(&design, fit, err);
    if (design.shares > 1)
        finding_count(
            finding_add(
                &fit->warnings, "size_per_executor_varies",
                "gustafson is a law of one problem_size per executor; these observations hold %zu",
                design.shares),
            design.shares);
    serial_fraction_fit(gustafson_scaled, data, fit);
    return PV_OK;
}

static void gustafson_describe(const struct model *model, struct findings *findings)
{
    double eta = model->parameters[ETA].estimate;
    double alone_s = model->parameters[SEQUENTIAL].estimate;
    struct finding *finding =
        finding_add(findings, "speedup_per_executor",
                    "Where the problem grows along with the executors, each of them adds %s to the "
                    "speedup, without end.",
                    quantity_number(eta).text);
    double size;
    double m;
    finding_number(finding, "speedup_per_executor", eta);
    if (model->form == MODEL_OF_SPEEDUPS || !describe_corner(model, &size, &m))
        return;
    double share = size / (m * model->parameters[SIZE].estimate);
    const struct describe_part parts[] = {
        {"serial_s", "what no executor can share", alone_s * (1 - eta)},
        {"shared_s", "what executors share", alone_s * eta * share}};
    describe_parts(findings, parts, 2);
    describe_doubling(model, findings);
}

const struct model_kind gustafson_kind = {
    .name = "gustafson",
    .forms = MODEL_OF_DURATIONS | MODEL_OF_SPEEDUPS,
    .rules = rules,
    .n_parameters = PARAMETERS,
    .fit = fit_gustafson,
    .duration_s = gustafson_duration,
    .speedup = gustafson_speedup,
    .scaling_type = scaling_type,
    .describe = gustafson_describe,
};

#include "core/scaling/laws/gustafson.h"

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

static double scaled(double eta, double executors, double *slope)
{
    *slope = executors - 1;
    return 1 + eta * (executors - 1);
}

static double speedup(const struct model_law *law, double problem_size, double executors)
{
    double ignored;
    (void)problem_size;
    return scaled(law->p[ETA], executors, &ignored);
}

static double duration(const struct model_law *law, double problem_size, double executors)
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

static enum pv_code fit_durations(const struct model_data *data,
                                  const struct configurations *design,
                                  struct arena *scratch,
                                  double left_out[],
                                  double freedom[],
                                  struct model_fit *fit,
                                  struct pv_error *err)
{
    double sizes = 0;
    double executors = 0;
    double *x = arena_array(scratch, data->n, sizeof *x);
    if (x == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        sizes += data->rows[i].weight * data->rows[i].problem_size;
        executors += data->rows[i].weight * data->rows[i].executors;
    }
    for (size_t i = 0; i < data->n; i++)
        x[i] = data->rows[i].problem_size / data->rows[i].executors * executors / sizes;
    fit->model.parameters[SIZE].estimate = sizes / executors;
    return serial_fraction_fit_durations("gustafson", x, data, design, scratch, left_out, freedom,
                                         fit, err);
}

static enum pv_code fit_gustafson(const struct model_data *data,
                                  struct arena *scratch,
                                  double left_out[],
                                  double freedom[],
                                  struct model_fit *fit,
                                  struct pv_error *err)
{
    struct configurations design;
    PV_TRY(configurations_count(data, scratch, &design, err));
    bool durations = data->form == MODEL_OF_DURATIONS;
    PV_TRY(configurations_require(&design, data, "gustafson", 2, durations ? 1 : 2, err));
    if (durations && design.shares == 1)
        return pv_fail(
            err, PV_E_SINGULAR,
            "durations at one problem_size per executor do not tell eta: by this law they "
            "are all the same; add runs at another one, or give speedups");
    if (durations)
        return fit_durations(data, &design, scratch, left_out, freedom, fit, err);
    if (design.shares > 1)
        finding_count(
            finding_add(
                &fit->warnings, "size_per_executor_varies",
                "gustafson is a law of one problem_size per executor; these observations hold %zu",
                design.shares),
            design.shares);
    fit->model.parameters[ETA].estimate = serial_fraction_fit(
        scaled, data, left_out, &fit->model.uncertainty.covariance[ETA][ETA], &freedom[ETA]);
    fit->model.reference = MODEL_RATIO;
    return PV_OK;
}

static void describe(const struct model *model, struct findings *findings)
{
    double eta = model->parameters[ETA].estimate;
    double alone_s = model->parameters[SEQUENTIAL].estimate;
    struct finding *finding = finding_add(
        findings, "speedup_per_executor",
        "Where the problem grows along with the executors, each of them adds %.3g to the "
        "speedup, without end.",
        eta);
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
    .duration_s = duration,
    .speedup = speedup,
    .scaling_type = scaling_type,
    .describe = describe,
};

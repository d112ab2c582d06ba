/*
 * IPSO as a kind of model: fitted to stage measures, its durations are times after initialization.
 * Parameters in the order of enum ipso_parameter: eta alpha delta beta gamma task_time_s
 * task_exponent, and what else a prediction needs.
 */
#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scaling/laws/ipso/ipso.h"
#include "core/scaling/laws/kinds.h"

#include <math.h>
#include <string.h>

#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit_types.h"

_Static_assert((int)IPSO_PARAMETERS <= (int)MODEL_PARAMETERS_MAX, "a model holds all parameters");

static const struct model_parameter_rule rules[IPSO_PARAMETERS] = {
    [IPSO_ETA] = {"eta", 1e-12, 1, MODEL_OF_STAGES},
    [IPSO_ALPHA] = {"alpha", 1e-12, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_DELTA] = {"delta", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_BETA] = {"beta", 0, HUGE_VAL, MODEL_OF_STAGES},
    [IPSO_GAMMA] = {"gamma", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES},
    [IPSO_TASK_TIME] = {"task_time_s", 1e-12, HUGE_VAL, MODEL_OF_STAGES},
    [IPSO_TASK_EXPONENT] = {"task_exponent", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES},
    [IPSO_EXTERNAL] = {"external_exponent", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_PARALLEL] = {"parallel_s", 1e-12, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_INTERNAL_OFFSET] = {"internal_offset", -HUGE_VAL, HUGE_VAL,
                              MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_STEP_AT] = {"step_executors", 1, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_STEP_OFFSET] = {"step_offset", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
    [IPSO_STEP_SLOPE] = {"step_slope", -HUGE_VAL, HUGE_VAL, MODEL_OF_STAGES | MODEL_OPTIONAL},
};

static double ipso_kind_duration(const struct model_law *law, double problem_size, double executors)
{
    (void)problem_size;
    struct ipso_prediction there;
    ipso_predict(law->p, executors, &there);
    return there.duration_s;
}

static double ipso_kind_speedup(const struct model_law *law, double problem_size, double executors)
{
    (void)problem_size;
    struct ipso_prediction there;
    ipso_predict(law->p, executors, &there);
    return there.speedup;
}

static size_t ipso_kind_turn(const struct model_law *law, double problem_size, double m[])
{
    (void)problem_size;
    struct ipso_peak peak = ipso_find_peak(law->p, 1e9);
    m[0] = peak.n;
    return peak.n > 0;
}

/* --- warnings --- */

static void warn_undetermined(const struct ipso_fit *found, struct model_fit *fit)
{
    if (found->type != IPSO_UNDETERMINED)
        return;
    if (found->workload == IPSO_MIXED)
        (void)finding_add(
            &fit->warnings, "workload_undetermined",
            "the parallel work grows as n^%s: neither fixed-size (0) nor fixed-time (1), "
            "so no type can be read off",
            quantity_number(found->parameters[IPSO_EXTERNAL].value).text);
    else if (found->gamma == IPSO_UNCLEAR)
        (void)finding_add(
            &fit->warnings, "gamma_undetermined",
            "the interval of gamma holds 0 and 1: more executor counts would show it");
    else if (found->delta == IPSO_UNCLEAR)
        (void)finding_add(
            &fit->warnings, "delta_undetermined",
            "the interval of delta holds 0 and 1: more executor counts would show it");
    else
        (void)finding_add(
            &fit->warnings, "serial_outgrows_parallel",
            "serial work grows faster than parallel work (delta %s), which is none of "
            "IPSO's types",
            quantity_number(found->parameters[IPSO_DELTA].value).text);
}

/* What a fit found, as warnings. */
static void ipso_kind_warn(const struct ipso_fit *found, struct model_fit *fit)
{
    if (found->step.found)
        (void)finding_add(&fit->warnings, "step_in_serial_work",
                          "serial work jumps by %.0f %% between n = %s and n = %s, as when memory "
                          "overflows; alpha and delta are those beyond",
                          found->step.jump_percent, quantity_number(found->step.last_before).text,
                          quantity_number(found->step.first_after).text);
    if (found->serial_induced)
        (void)finding_add(
            &fit->warnings, "serial_counts_as_induced",
            "serial time changes with n although the workload does not: what it grows by "
            "counts as induced");
    if (found->overhead_at_one)
        (void)finding_add(
            &fit->warnings, "overhead_at_one",
            "scale-out induces nothing at n = 1: the overhead measured there is not used");
    if (found->rows < 3 || found->distinct < 3)
        finding_count(
            finding_add(
                &fit->warnings, "few_points",
                "with %zu executor count%s exponents have no interval to speak of: one within "
                "0.05 of 0 or 1 counts as that",
                found->distinct, PLURAL(found->distinct)),
            found->distinct);
    if (found->peak.n > found->n_range[1])
        (void)finding_add(&fit->warnings, "peak_not_observed",
                          "the peak at n = %s lies beyond the counts observed, up to %s",
                          quantity_number(found->peak.n).text,
                          quantity_number(found->n_range[1]).text);
    warn_undetermined(found, fit);
}

/* --- the fit --- */

static double known_or_nan(double value)
{
    return value > 0 ? value : (double)NAN;
}

static void ipso_kind_put(const struct ipso_fit *found, struct model_fit *fit)
{
    struct model *model = &fit->model;
    for (size_t j = 0; j < IPSO_PARAMETERS; j++) {
        model->parameters[j].estimate = found->parameters[j].value;
        fit->freedom[j] = found->parameters[j].freedom;
    }
    memset(model->uncertainty.covariance, 0, sizeof model->uncertainty.covariance);
    for (size_t a = 0; a < IPSO_PARAMETERS; a++)
        for (size_t b = 0; b < IPSO_PARAMETERS; b++)
            model->uncertainty.covariance[a][b] = found->covariance[a][b];
    fit->freedom[0] = found->rows > found->laws ? (double)(found->rows - found->laws) : 0;
    model->reference = found->n_range[0] <= 1 ? MODEL_MEASURED : MODEL_EXTRAPOLATED;
    fit->scaling_type = ipso_type_name(found->type);
    if (found->peak.n > 0)
        fit->peak = (struct model_peak){(double)NAN, found->peak.n, found->peak.speedup};
    ipso_kind_warn(found, fit);
}

static enum pv_code
fit_ipso(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct ipso_fit found;
    struct ipso_observation *rows = arena_array(data->scratch, data->n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++)
        rows[i] = (struct ipso_observation){.n = data->rows[i].executors,
                                            .parallel_s = known_or_nan(data->rows[i].parallel_s),
                                            .serial_s = data->rows[i].serial_s,
                                            .induced_s = data->rows[i].induced_s,
                                            .max_task_s = known_or_nan(data->rows[i].max_task_s)};
    PV_TRY(ipso_fit(rows, data->n, data->scratch, &found, err));
    PV_TRY(ipso_leave_out(rows, data->n, data->scratch, fit->left_out, err));
    ipso_kind_put(&found, fit);
    return PV_OK;
}

/* --- in words --- */

static void describe_serial(const double p[], struct findings *findings)
{
    if (!(p[IPSO_ETA] < 1)) {
        (void)finding_add(findings, "no_serial_part", "All work is shared; none of it is serial.");
        return;
    }
    struct finding *finding =
        finding_add(findings, "serial_part",
                    "%s of the work of one executor is serial; parallel work over serial work "
                    "goes as %s n^%s.",
                    quantity_share(1 - p[IPSO_ETA]).text, quantity_number(p[IPSO_ALPHA]).text,
                    quantity_number(p[IPSO_DELTA]).text);
    finding_number(finding, "serial_percent", 100 * (1 - p[IPSO_ETA]));
    finding_number(finding, "alpha", p[IPSO_ALPHA]);
    finding_number(finding, "delta", p[IPSO_DELTA]);
    if (isnan(p[IPSO_STEP_AT]))
        return;
    finding = finding_add(findings, "step_in_serial_work",
                          "Beyond n = %s serial work is a step higher, as when what is merged no "
                          "longer fits into memory.",
                          quantity_number(p[IPSO_STEP_AT]).text);
    finding_number(finding, "executors", p[IPSO_STEP_AT]);
}

static void describe_overhead(const double p[], double most, struct findings *findings)
{
    struct ipso_prediction there;
    if (!(p[IPSO_BETA] > 0)) {
        (void)finding_add(findings, "no_overhead", "Scale-out itself induces no work.");
        return;
    }
    ipso_predict(p, most, &there);
    double task_s = p[IPSO_TASK_TIME];
    double share = 100 * there.induced * (isnan(p[IPSO_PARALLEL]) ? task_s : p[IPSO_PARALLEL]) *
                   there.external / most / there.duration_s;
    struct finding *finding =
        finding_add(findings, "scale_out_overhead",
                    "Scale-out induces %s n^%s times the work of "
                    "one executor; at n = %s that is %s "
                    "of the time.",
                    quantity_number(p[IPSO_BETA]).text, quantity_number(p[IPSO_GAMMA]).text,
                    quantity_number(most).text, quantity_percent(share).text);
    finding_number(finding, "beta", p[IPSO_BETA]);
    finding_number(finding, "gamma", p[IPSO_GAMMA]);
    finding_number(finding, "share_percent", share);
}

static void ipso_kind_describe(const struct model *model, struct findings *findings)
{
    const struct model_law law = model_law(model);
    double most = model->uncertainty.observations > 0 ? model->uncertainty.executors[1] : 1000;
    describe_serial(law.p, findings);
    describe_overhead(law.p, most, findings);
    struct ipso_peak peak = ipso_find_peak(law.p, 1e9);
    if (!(peak.n > 0))
        return;
    struct finding *finding = finding_add(
        findings, "peak", "The speedup is highest at n = %s, %s; more executors make it slower.",
        quantity_number(peak.n).text, quantity_number(peak.speedup).text);
    finding_number(finding, "executors", peak.n);
    finding_number(finding, "speedup", peak.speedup);
}

const struct model_kind ipso_kind = {
    .name = "ipso",
    .forms = MODEL_OF_STAGES,
    .rules = rules,
    .n_parameters = IPSO_PARAMETERS,
    .fit = fit_ipso,
    .duration_s = ipso_kind_duration,
    .speedup = ipso_kind_speedup,
    .turning_points = ipso_kind_turn,
    .describe = ipso_kind_describe,
};

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "core/scaling/laws/usba_internal.h"

/* Half the estimate: the interval at 95 percent then reaches about 0. */
static const double weak_share = 0.5;

static void judge(size_t which,
                  double low,
                  double high,
                  size_t rows,
                  const double freedom[],
                  struct model_fit *fit)
{
    const char *name = fit->model.kind->rules[which].name;
    double estimate = fit->model.parameters[which].estimate;
    double variance = fit->model.uncertainty.covariance[which][which];
    if (!(variance > 0)) {
        finding_count(
            finding_add(
                &fit->warnings, "poorly_determined",
                "%s is not determined: the observations leave %.3g without a standard error", name,
                estimate),
            rows);
        return;
    }
    double error = sqrt(variance);
    double reach = gsl_cdf_tdist_Pinv(0.975, freedom[which]) * error;
    bool covers = estimate - reach <= low && estimate + reach >= high;
    if (covers || error > weak_share * estimate)
        finding_count(finding_add(&fit->warnings, "poorly_determined",
                                  "%s is poorly determined: %.3g with a standard error of %.3g%s",
                                  name, estimate, error,
                                  covers ? ", so any value allowed is as good" : ""),
                      rows);
}

void usba_judge_startup(
    const double p[], double most, size_t rows, const double freedom[], struct model_fit *fit)
{
    bool grows = p[USBA_EPSILON] > USBA_BOUND;
    bool reached = grows && p[USBA_THETA] < most * (1 - USBA_BOUND);
    if (grows)
        judge(USBA_EPSILON, 0, 1, rows, freedom, fit);
    if (reached)
        judge(USBA_THETA, 1, most, rows, freedom, fit);
}

void usba_describe_startup(const struct model *model, struct findings *findings)
{
    double epsilon = model->parameters[USBA_EPSILON].estimate;
    double theta = model->parameters[USBA_THETA].estimate;
    struct finding *finding;
    if (!(epsilon > USBA_BOUND))
        finding = finding_add(findings, "constant_initialization",
                              "Starting takes as long on many executors as on one.");
    else
        finding = finding_add(findings, "growing_initialization",
                              "Starting takes %.2g %% longer with each executor, up to %.3g of "
                              "them.",
                              100 * epsilon, theta);
    finding_number(finding, "epsilon", epsilon);
    finding_number(finding, "theta", theta);
    finding_number(finding, "initialization_s", model->parameters[USBA_INITIALIZATION].estimate);
}

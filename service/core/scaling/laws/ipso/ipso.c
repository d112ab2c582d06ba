#include "core/scaling/laws/ipso/ipso.h"

#include <math.h>

double
ipso_speedup_statistical(double eta, double n, double ex, double in, double q, double max_task)
{
    double serial = eta < 1 ? (1 - eta) * in : 0;
    return (eta * ex + serial) / (max_task + serial + eta * ex * q / n);
}

double ipso_speedup(double eta, double n, double ex, double in, double q)
{
    return ipso_speedup_statistical(eta, n, ex, in, q, eta * ex / n);
}

double ipso_duration(const struct ipso_observation *row)
{
    double task_s = isnan(row->max_task_s) ? row->parallel_s / row->n : row->max_task_s;
    return task_s + row->serial_s + row->induced_s;
}

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static double external_of(const double p[])
{
    return or_else(p[IPSO_EXTERNAL], p[IPSO_TASK_EXPONENT] + 1 > 0.5 ? 1 : 0);
}

static double internal_at(const double p[], double external, double n)
{
    if (n <= 1 || !(p[IPSO_ETA] < 1) || isnan(p[IPSO_ALPHA]) || isnan(p[IPSO_DELTA]))
        return 1;
    if (n <= p[IPSO_STEP_AT])
        return p[IPSO_STEP_OFFSET] + p[IPSO_STEP_SLOPE] * n;
    return or_else(p[IPSO_INTERNAL_OFFSET], 0) + pow(n, external - p[IPSO_DELTA]) / p[IPSO_ALPHA];
}

void ipso_predict(const double p[IPSO_PARAMETERS], double n, struct ipso_prediction *prediction)
{
    double external = external_of(p);
    double parallel_s = or_else(p[IPSO_PARALLEL], p[IPSO_TASK_TIME]);
    double whole_s = parallel_s / p[IPSO_ETA]; /* W_p(1) + W_s(1) */
    *prediction = (struct ipso_prediction){
        .external = pow(n, external),
        .internal = internal_at(p, external, n),
        .induced = n > 1 && p[IPSO_BETA] > 0 ? p[IPSO_BETA] * pow(n, p[IPSO_GAMMA]) : 0,
        .max_task_s = p[IPSO_TASK_TIME] * pow(n, p[IPSO_TASK_EXPONENT])};
    double serial_s = (whole_s - parallel_s) * prediction->internal;
    double work_s = parallel_s * prediction->external;
    prediction->duration_s = prediction->max_task_s + serial_s + work_s / n * prediction->induced;
    prediction->speedup = (work_s + serial_s) / prediction->duration_s;
}

static double speedup_at(const double p[], double n)
{
    struct ipso_prediction there;
    ipso_predict(p, n, &there);
    return there.speedup;
}

/* Coarse steps first, since a step of IN makes more than one hill; then by thirds between the
 * neighbours of the best. */
struct ipso_peak ipso_find_peak(const double p[IPSO_PARAMETERS], double most)
{
    /* Between counts 5 % apart the laws change by little. */
    static const double ratio = 1.05;
    double best = 1;
    double top = speedup_at(p, 1);
    for (double n = 2; n < most; n = fmax(n + 1, floor(n * ratio))) {
        double speedup = speedup_at(p, n);
        if (speedup > top) {
            top = speedup;
            best = n;
        }
    }
    double low = fmax(1, floor(best / ratio) - 1);
    double high = fmin(most, ceil(best * ratio) + 1);
    while (high - low > 2) {
        double a = floor(low + (high - low) / 3);
        double b = ceil(high - (high - low) / 3);
        if (speedup_at(p, a) < speedup_at(p, b))
            low = a;
        else
            high = b;
    }
    for (double n = low; n <= high; n++) {
        if (speedup_at(p, n) > top) {
            top = speedup_at(p, n);
            best = n;
        }
    }
    /* What levels off is at its highest where rounding says. */
    if (!(top > speedup_at(p, most) * (1 + 1e-9)))
        return (struct ipso_peak){0, 0};
    return (struct ipso_peak){best, top};
}

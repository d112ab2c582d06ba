#include "core/scaling/laws/serial_fraction.h"

#include <float.h>
#include <math.h>

#include "core/numerics/levenberg_marquardt.h"

/* eta in steps of 1/32, near enough for the descent that follows; its steps are only bounded. */
enum { GRID = 33, STEPS = 60 };

struct problem {
    serial_fraction_law law;
    const struct model_data *data;
};

static double error_of(void *context, const double p[], size_t i, double slope[])
{
    const struct problem *problem = context;
    const struct observation *row = &problem->data->rows[i];
    double factor = problem->data->factors[i];
    double derivative;
    double off = factor * (problem->law(p[0], row->executors, &derivative) - row->speedup);
    if (slope != NULL)
        slope[0] = factor * derivative;
    return off;
}

static double find_start(const struct descent *d)
{
    double best = 0;
    double least = (double)INFINITY;
    for (size_t g = 0; g < GRID; g++) {
        double eta = (double)g / (GRID - 1);
        double sum = descent_squares(d, &eta, d->n);
        if (sum < least) {
            least = sum;
            best = eta;
        }
    }
    return best;
}

void serial_fraction_fit(serial_fraction_law law,
                         const struct model_data *data,
                         struct model_fit *fit)
{
    struct problem problem = {law, data};
    const struct descent d = {
        .n = data->n, .k = 1, .high = {1}, .context = &problem, .row = error_of};
    struct descent_sums sums;
    double slope;
    double best = find_start(&d);
    (void)descent_find(&d, d.n, STEPS, 1e-6, &best);
    (void)descent_polish(&d, 1e-12, &best);
    descent_sum(&d, &best, d.n, &sums);
    double freedom = (double)data->n - 1;
    bool inner = best > 0 && best < 1 && sums.curvature[0][0] > 0 && freedom > 0;
    double rounding = (double)data->n * 4096 * DBL_EPSILON * DBL_EPSILON;
    fit->model.uncertainty.covariance[SHARE_ETA][SHARE_ETA] =
        inner ? fmax(sums.squares, rounding) / freedom / sums.curvature[0][0] : 0;
    fit->freedom[SHARE_ETA] = freedom;
    fit->model.parameters[SHARE_ETA].estimate = best;
    fit->model.reference = MODEL_RATIO;
    descent_sharpen(&d, &best, &sums);
    for (size_t i = 0; i < data->n; i++) {
        double eta = best;
        descent_find_without(&d, &sums, i, 1e-6, &eta);
        fit->left_out[i] = law(eta, data->rows[i].executors, &slope);
    }
}

/* T = a + b x -> eta and the time at x = 1, with the covariance of both from that of a and b. */
static void share_of_line(const double line[2],
                          const double line_covariance[2][2],
                          double *eta,
                          double *sequential,
                          double covariance[2][2])
{
    double sum = line[0] + line[1];
    *sequential = sum;
    *eta = sum > 0 ? line[1] / sum : 0;
    const double jacobian[2][2] = {{-line[1] / (sum * sum), line[0] / (sum * sum)}, {1, 1}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            covariance[i][j] = 0;
            for (size_t a = 0; a < 2; a++)
                for (size_t b = 0; b < 2; b++)
                    covariance[i][j] += jacobian[i][a] * line_covariance[a][b] * jacobian[j][b];
        }
    }
}

enum pv_code serial_fraction_fit_durations(const double x[],
                                           const struct configurations *design,
                                           struct model_fit *fit,
                                           struct pv_error *err)
{
    const struct model_data *data = design->data;
    struct nonnegative_fit line;
    double covariance[2][2];
    double *columns = arena_array(data->scratch, data->n, 2 * sizeof *columns);
    double *y = arena_array(data->scratch, data->n, sizeof *y);
    if (columns == NULL || y == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n; i++) {
        columns[2 * i] = 1;
        columns[2 * i + 1] = x[i];
        y[i] = data->rows[i].duration_s;
    }
    PV_TRY(configurations_fit(design, columns, 2, y, fit, &line, err));
    const double part[2][2] = {{line.covariance[0][0], line.covariance[0][1]},
                               {line.covariance[1][0], line.covariance[1][1]}};
    share_of_line(line.b, part, &fit->model.parameters[SHARE_ETA].estimate,
                  &fit->model.parameters[SHARE_SEQUENTIAL].estimate, covariance);
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            fit->model.uncertainty.covariance[a][b] = covariance[a][b];
    fit->model.reference = MODEL_EXTRAPOLATED;
    return PV_OK;
}

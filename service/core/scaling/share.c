#include "core/scaling/share.h"

#include <float.h>
#include <math.h>

enum { GRID = 33, STEPS = 60 };

/* Sum of squared relative errors without row `skip`, its half slope and curvature (Gauss-Newton).
 */
static double evaluate(share_law law,
                       const struct model_data *data,
                       size_t skip,
                       double eta,
                       double *slope,
                       double *curvature)
{
    double sum = 0;
    *slope = *curvature = 0;
    for (size_t i = 0; i < data->n; i++) {
        if (i == skip)
            continue;
        double derivative;
        double observed = data->rows[i].speedup;
        double off = law(eta, data->rows[i].executors, &derivative) / observed - 1;
        sum += off * off;
        *slope += off * derivative / observed;
        *curvature += derivative * derivative / (observed * observed);
    }
    return sum;
}

static double descend(share_law law, const struct model_data *data, size_t skip, double eta)
{
    double slope;
    double curvature;
    double sum = evaluate(law, data, skip, eta, &slope, &curvature);
    for (size_t step = 0; step < STEPS && curvature > 0; step++) {
        double ignored[2];
        double move = -slope / curvature;
        double to = fmin(1, fmax(0, eta + move));
        while (fabs(to - eta) > DBL_EPSILON &&
               evaluate(law, data, skip, to, &ignored[0], &ignored[1]) > sum)
            to = eta + (to - eta) / 2;
        if (fabs(to - eta) <= DBL_EPSILON)
            break;
        eta = to;
        sum = evaluate(law, data, skip, eta, &slope, &curvature);
    }
    return eta;
}

double share_fit(share_law law,
                 const struct model_data *data,
                 double left_out[],
                 double *variance,
                 double *freedom)
{
    double best = 0;
    double least = (double)INFINITY;
    double slope;
    double curvature;
    for (size_t g = 0; g < GRID; g++) {
        double eta = (double)g / (GRID - 1);
        double sum = evaluate(law, data, data->n, eta, &slope, &curvature);
        if (sum < least) {
            least = sum;
            best = eta;
        }
    }
    best = descend(law, data, data->n, best);
    for (size_t i = 0; i < data->n; i++) {
        double eta = descend(law, data, i, best);
        left_out[i] = law(eta, data->rows[i].executors, &slope);
    }
    least = evaluate(law, data, data->n, best, &slope, &curvature);
    *freedom = (double)data->n - 1;
    bool inner = best > 0 && best < 1 && curvature > 0 && *freedom > 0;
    double rounding = (double)data->n * 4096 * DBL_EPSILON * DBL_EPSILON;
    *variance = inner ? fmax(least, rounding) / *freedom / curvature : 0;
    return best;
}

void share_of_line(const double line[2],
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

#ifndef CORE_SCALING_SHARE_H
#define CORE_SCALING_SHARE_H

#include "core/scaling/model.h"

/* A speedup law of one parameter, the share eta in [0, 1] that runs in parallel; *slope is dS/deta.
 */
typedef double (*share_law)(double eta, double executors, double *slope);

/*
 * eta of least squared relative error over the speedups of `data`, by damped Gauss-Newton steps
 * kept inside [0, 1], from the best of a grid; each row left out by fitting anew. *variance: of
 * eta, 0 where it lies on a bound or cannot be told; *freedom: n - 1. O(n^2).
 */
double share_fit(share_law law,
                 const struct model_data *data,
                 double left_out[],
                 double *variance,
                 double *freedom);

/*
 * T = a + b x -> time at x = 1 and the parallel share of it: sequential = a + b, eta = b / (a + b),
 * with the covariance of both (eta first) from that of a and b.
 */
void share_of_line(const double line[2],
                   const double line_covariance[2][2],
                   double *eta,
                   double *sequential,
                   double covariance[2][2]);

#endif

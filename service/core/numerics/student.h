#ifndef CORE_NUMERICS_STUDENT_H
#define CORE_NUMERICS_STUDENT_H

/*
 * The t >= 0 with P(|T| <= t) = level, for T of Student's distribution.
 *
 * level    inside (0, 1)
 * freedom  > 0; beyond 10^10 T is normal
 *
 * To seven digits or more, as gsl_cdf_tdist_Pinv((1 + level) / 2, freedom), in less time: the
 * start of G. W. Hill ("Algorithm 396: Student's t-quantiles", Communications of the ACM 13, 1970)
 * and a step of Halley's from there. Fewer than 2 degrees of freedom are left to GSL.
 */
double student_quantile(double level, double freedom);

#endif

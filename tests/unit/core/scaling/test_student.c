#include "core/numerics/student.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>

/* Also where few degrees of freedom or a level far out make the start a bad one; GSL's own inverse
 * does not converge at some of them. */
Test(student, quantiles_are_exceeded_as_often_as_said)
{
    static const double levels[] = {1e-6, 0.01, 0.3,  0.5,   0.6,    0.7,      0.8,
                                    0.9,  0.95, 0.99, 0.999, 0.9999, 0.9999999};
    for (double freedom = 2; freedom < 1e11; freedom *= 1.07)
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            double t = student_quantile(levels[i], freedom);
            double outside = 2 * gsl_cdf_tdist_Q(t, freedom);
            cr_expect(fabs(outside / (1 - levels[i]) - 1) < 1e-7,
                      "%g of %g degrees of freedom: %.12g, beyond which are %.12g", levels[i],
                      freedom, t, outside);
        }
}

/* With two degrees of freedom t has a closed form. */
Test(student, two_degrees_of_freedom)
{
    for (double level = 0.01; level < 1; level += 0.01) {
        double expected = level * sqrt(2 / (1 - level * level));
        cr_expect(fabs(student_quantile(level, 2) / expected - 1) < 1e-10, "%g", level);
    }
}

Test(student, fewer_than_two_degrees_of_freedom)
{
    for (double level = 0.01; level < 1; level += 0.01)
        cr_expect(fabs(student_quantile(level, 1) / tan(level * M_PI_2) - 1) < 1e-8, "%g", level);
    cr_expect(fabs(student_quantile(0.9, 1.5) / gsl_cdf_tdist_Pinv(0.95, 1.5) - 1) < 1e-8);
}

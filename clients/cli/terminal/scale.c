#include "cli/terminal/scale.h"

#include <math.h>
#include <stdio.h>

double scale_step(double range, size_t most, double least)
{
    double wanted = range / (double)(most > 0 ? most : 1);
    if (!(wanted > 0) || !isfinite(wanted))
        return least > 0 ? least : 1;
    double step = pow(10, floor(log10(wanted)));
    static const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (step * factors[i] >= wanted * (1 - 1e-9)) {
            step *= factors[i];
            break;
        }
    return step < least ? least : step;
}

void scale_label(double value, double step, char *out, size_t room)
{
    int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (fabs(value) < step * 1e-6)
        value = 0; /* no -0 */
    if (fabs(value) >= 1e7)
        (void)snprintf(out, room, "%.3g", value);
    else
        (void)snprintf(out, room, "%.*f", digits > 9 ? 9 : digits, value);
}

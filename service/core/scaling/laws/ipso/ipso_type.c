#include <math.h>

#include "core/scaling/laws/ipso/ipso.h"

enum ipso_order ipso_order_of(const struct ipso_estimate *exponent)
{
    /* With too few points for an interval; and what rounding leaves of exact data. */
    static const double few_points = 0.05;
    static const double rounding = 1e-6;
    double low = exponent->interval[0] - rounding;
    double high = exponent->interval[1] + rounding;
    if (isnan(low) || isnan(high)) {
        low = exponent->value - few_points;
        high = exponent->value + few_points;
    }
    bool zero = low <= 0 && high >= 0;
    bool one = low <= 1 && high >= 1;
    if (isnan(low) || (zero && one))
        return IPSO_UNCLEAR;
    if (zero)
        return IPSO_ZERO;
    if (one)
        return IPSO_ONE;
    if (high < 0)
        return IPSO_BELOW_ZERO;
    return low > 1 ? IPSO_ABOVE_ONE : IPSO_BETWEEN;
}

const char *ipso_type_name(enum ipso_type type)
{
    switch (type) {
    case IPSO_UNDETERMINED:
        return "undetermined";
    case IPSO_I_T:
        return "It";
    case IPSO_II_T:
        return "IIt";
    case IPSO_III_T1:
        return "IIIt,1";
    case IPSO_III_T2:
        return "IIIt,2";
    case IPSO_IV_T:
        return "IVt";
    case IPSO_I_S:
        return "Is";
    case IPSO_II_S:
        return "IIs";
    case IPSO_III_S1:
        return "IIIs,1";
    case IPSO_III_S2:
        return "IIIs,2";
    case IPSO_IV_S:
        return "IVs";
    }
    return "undetermined";
}

static enum ipso_type of_fixed_size(bool serial, enum ipso_order gamma)
{
    switch (gamma) {
    case IPSO_BELOW_ZERO:
    case IPSO_ZERO:
        return serial ? IPSO_III_S1 : IPSO_I_S;
    case IPSO_BETWEEN:
        return serial ? IPSO_III_S1 : IPSO_II_S;
    case IPSO_ONE:
        return IPSO_III_S2;
    case IPSO_ABOVE_ONE:
        return IPSO_IV_S;
    case IPSO_UNCLEAR:
        break;
    }
    return IPSO_UNDETERMINED;
}

/* gamma < 1: none: it counts as 0. */
static enum ipso_type of_slow_overhead(bool serial, enum ipso_order delta, bool none)
{
    if (!serial)
        return none ? IPSO_I_T : IPSO_II_T;
    switch (delta) {
    case IPSO_ONE:
    case IPSO_ABOVE_ONE:
        return none ? IPSO_I_T : IPSO_II_T;
    case IPSO_BETWEEN:
        return IPSO_II_T;
    case IPSO_ZERO:
        return IPSO_III_T1;
    case IPSO_BELOW_ZERO: /* serial work that outgrows the parallel is none of the paper's */
    case IPSO_UNCLEAR:
        break;
    }
    return IPSO_UNDETERMINED;
}

static enum ipso_type of_fixed_time(bool serial, enum ipso_order delta, enum ipso_order gamma)
{
    switch (gamma) {
    case IPSO_BELOW_ZERO:
    case IPSO_ZERO:
        return of_slow_overhead(serial, delta, true);
    case IPSO_BETWEEN:
        return of_slow_overhead(serial, delta, false);
    case IPSO_ONE:
        return IPSO_III_T2;
    case IPSO_ABOVE_ONE:
        return IPSO_IV_T;
    case IPSO_UNCLEAR:
        break;
    }
    return IPSO_UNDETERMINED;
}

enum ipso_type
ipso_type_of(enum ipso_workload workload, bool serial, enum ipso_order delta, enum ipso_order gamma)
{
    switch (workload) {
    case IPSO_FIXED_TIME:
        return of_fixed_time(serial, delta, gamma);
    case IPSO_FIXED_SIZE:
        return of_fixed_size(serial, gamma);
    case IPSO_MIXED:
        break;
    }
    return IPSO_UNDETERMINED;
}

#include "core/scaling/laws/idle_share.h"

#include <math.h>

static const double machine_odds = 2;
static const double executor_odds = 1.0 / 9.0;

/* Given s, how many of the others have an idle machine: chances[k], k up to n, but for what they
 * have in common. Each r_i enters as r_i / (1 + r_i). */
static void count_idle(const double evidence[], size_t n, double chances[])
{
    chances[0] = 1;
    for (size_t i = 0; i < n; i++) {
        double idle = 1 / (1 + exp(-evidence[i]));
        chances[i + 1] = 0;
        for (size_t k = i + 1; k > 0; k--)
            chances[k] = chances[k] * (1 - idle) + chances[k - 1] * idle;
        chances[0] *= 1 - idle;
    }
}

double idle_share_log_odds(bool counted, const double evidence[], size_t n)
{
    double chances[IDLE_APPLICATIONS_MAX + 1];
    double odds = counted ? executor_odds : machine_odds;
    double a = IDLE_PRIOR_APPLICATIONS * odds / (1 + odds);
    double b = IDLE_PRIOR_APPLICATIONS - a;
    if (n == 0)
        return log(odds);
    if (n > IDLE_APPLICATIONS_MAX)
        n = IDLE_APPLICATIONS_MAX;
    count_idle(evidence, n, chances);
    /* If k of them have one, s is Beta(a + k, b + n - k). How likely that is goes with that beta
     * function, taken from the one of k - 1. */
    double beta = 1;
    double idle = 0;
    double busy = 0;
    for (size_t k = 0; k <= n; k++) {
        double in = a + (double)k;
        double out = b + (double)(n - k);
        idle += chances[k] * beta * in;
        busy += chances[k] * beta * out;
        beta *= in / (out - 1);
    }
    return log(idle / busy);
}

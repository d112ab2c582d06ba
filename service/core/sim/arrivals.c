#include "core/sim/arrivals.h"

#include "core/sim/variates.h"

struct arrivals arrivals_poisson(size_t n, double rate_per_s, struct rng stream)
{
    return (struct arrivals){
        .kind = ARRIVALS_POISSON, .rate_per_s = rate_per_s, .rng = stream, .left = n};
}

struct arrivals arrivals_trace(const double times_s[], size_t n)
{
    return (struct arrivals){.kind = ARRIVALS_TRACE, .times = times_s, .left = n};
}

struct arrivals arrivals_batch(size_t n, double at_s)
{
    return (struct arrivals){.kind = ARRIVALS_BATCH, .now_s = at_s, .left = n};
}

bool arrivals_next(struct arrivals *arrivals, double *at_s)
{
    if (arrivals->left == 0)
        return false;
    arrivals->left--;
    if (arrivals->kind == ARRIVALS_POISSON)
        arrivals->now_s += variate_exponential(&arrivals->rng, arrivals->rate_per_s);
    else if (arrivals->kind == ARRIVALS_TRACE)
        arrivals->now_s = *arrivals->times++;
    *at_s = arrivals->now_s;
    return true;
}

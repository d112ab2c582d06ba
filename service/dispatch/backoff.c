#include "dispatch/backoff.h"

#include <math.h>

enum { FACTOR = 3 };

/* first * factor^steps, at most `most`. */
static int64_t grow_ms(int64_t first_ms, int64_t most_ms, double factor, int64_t steps)
{
    double grown = (double)first_ms * pow(factor, (double)(steps < 0 ? 0 : steps));
    return grown < (double)most_ms ? (int64_t)grown : most_ms;
}

int64_t backoff_delay_ms(const struct backoff_limits *limits,
                         int64_t failed,
                         int64_t retry_after_ms,
                         double random)
{
    int64_t even = grow_ms(limits->retry_first_ms, limits->retry_max_ms, FACTOR, failed - 1);
    int64_t delay = (int64_t)((double)even * (0.8 + 0.4 * random));
    return delay < retry_after_ms ? retry_after_ms : delay;
}

void health_init(struct endpoint_health *health,
                 int64_t concurrency,
                 int64_t failures,
                 int64_t pauses)
{
    *health = (struct endpoint_health){
        .concurrency = concurrency, .allowed = 1, .failures = failures, .pauses = pauses};
}

void health_succeeded(struct endpoint_health *health)
{
    health->failures = 0;
    health->pauses = 0;
    health->hold_ms = 0;
    health->allowed =
        2 * health->allowed < health->concurrency ? 2 * health->allowed : health->concurrency;
}

void health_failed(struct endpoint_health *health,
                   const struct backoff_limits *limits,
                   int64_t retry_after_ms,
                   bool is_late)
{
    health->failures++;
    health->allowed = 1;
    if (is_late)
        return;
    health->hold_ms = retry_after_ms;
    if (health->failures < limits->pause_after)
        return;
    int64_t pause_ms = grow_ms(limits->pause_first_ms, limits->pause_max_ms, 2, health->pauses);
    health->pauses++;
    if (health->hold_ms < pause_ms)
        health->hold_ms = pause_ms;
}

#include "cli/http/retry.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "threads/clock.h"

struct retry_policy retry_policy_default(void)
{
    return (struct retry_policy){.attempts_max = 5, .first_s = 0.2, .wait_s_max = 30.0};
}

double
retry_wait_s(const struct retry_policy *policy, unsigned attempt, double retry_after_s, double draw)
{
    if (attempt >= policy->attempts_max || retry_after_s > policy->wait_s_max)
        return -1.0;
    double ceiling = fmin(policy->first_s * exp2((double)attempt - 1.0), policy->wait_s_max);
    /* Who was asked to wait waits that long at least, and not all of them exactly that long. */
    return fmin(retry_after_s + ceiling * draw, policy->wait_s_max);
}

double retry_draw(void)
{
    uint8_t bytes[4];
    clock_random(bytes, sizeof bytes);
    uint32_t value = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24;
    return (double)value / 4294967296.0;
}

bool retry_status(long status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

bool retry_sleep(double seconds, const atomic_bool *stop)
{
    uint64_t end = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
    for (uint64_t now = clock_monotonic_ns(); now < end; now = clock_monotonic_ns()) {
        if (stop != NULL && atomic_load(stop))
            return false;
        uint64_t left_ms = (end - now) / 1000000 + 1;
        clock_sleep_ms((long)(left_ms < 100 ? left_ms : 100));
    }
    return stop == NULL || !atomic_load(stop);
}

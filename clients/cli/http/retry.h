#ifndef CLI_HTTP_RETRY_H
#define CLI_HTTP_RETRY_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * When to try again what may succeed later: exponential backoff with full jitter, and what the other
 * side asks for in Retry-After.
 */
struct retry_policy {
    unsigned attempts_max; /* of one request, the first among them */
    double first_s;        /* the wait after the first attempt is drawn from 0 to this */
    double wait_s_max;     /* no wait is longer, Retry-After included: then it is given up */
};

/* 5 attempts, 0.2 s, 30 s. */
struct retry_policy retry_policy_default(void);

/*
 * Seconds to wait after attempt number `attempt` (from 1). retry_after_s: what the other side asked
 * for, 0 for nothing. draw: uniform on [0, 1), from retry_draw. Negative: give up.
 */
double retry_wait_s(const struct retry_policy *policy,
                    unsigned attempt,
                    double retry_after_s,
                    double draw);

double retry_draw(void);

/* May a request that was answered with this status (0: not at all) succeed when it is repeated? */
bool retry_status(long status);

/* Wait; false when *stop was set meanwhile. stop may be NULL. */
bool retry_sleep(double seconds, const atomic_bool *stop);

#endif

#ifndef DISPATCH_BACKOFF_H
#define DISPATCH_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When to try again, and how much to ask of an endpoint. Computes only: times come in and go out as
 * milliseconds, random numbers as arguments from 0 to 1.
 */
struct backoff_limits {
    int64_t retry_first_ms; /* after the first failure; each further one: three times as long */
    int64_t retry_max_ms;
    int64_t pause_after;    /* failures in a row */
    int64_t pause_first_ms; /* twice as long after each further failure */
    int64_t pause_max_ms;
};

/* Milliseconds until the next attempt of a delivery after so many that failed (1 or more), longer or
 * shorter by up to 20 percent as `random` has it, and no less than what Retry-After asks for (0: nothing). */
int64_t backoff_delay_ms(const struct backoff_limits *limits,
                         int64_t failed,
                         int64_t retry_after_ms,
                         double random);

/*
 * How an endpoint fares. It gets one delivery at a time at first, and after a failure; each success
 * adds as many as it has got, up to its concurrency. After pause_after failures in a row it is paused:
 * left alone for a while, then asked with a single delivery.
 */
struct endpoint_health {
    int64_t concurrency; /* the most it may get */
    int64_t allowed;     /* at a time, now */
    int64_t failures;    /* in a row */
    int64_t pauses;      /* in a row; 0: not paused */
    int64_t hold_ms; /* nothing more before so long; 0: nothing holds it. Set by the last failure */
};

/* As it was when the endpoint was last asked: 0 and 0 for a new one. */
void health_init(struct endpoint_health *health,
                 int64_t concurrency,
                 int64_t failures,
                 int64_t pauses);
void health_succeeded(struct endpoint_health *health);
/* retry_after_ms: what the endpoint asks for all that it gets (429, 503); 0: nothing. is_late: the
 * attempt began before the present pause, which it does not make longer. */
void health_failed(struct endpoint_health *health,
                   const struct backoff_limits *limits,
                   int64_t retry_after_ms,
                   bool is_late);

#endif

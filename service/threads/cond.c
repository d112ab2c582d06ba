#define _GNU_SOURCE /* pthread_clockjoin_np, pthread_tryjoin_np */
#include "threads/cond.h"

#include <errno.h>
#include <time.h>

#include "threads/clock.h"

bool cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(cond, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return done;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                             .tv_nsec = (long)(ns % UINT64_C(1000000000))};
}

bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns)
{
    const struct timespec until = timespec_of(deadline_ns);
    return pthread_cond_timedwait(cond, lock, &until) != ETIMEDOUT;
}

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_THREAD_SANITIZER 1
#endif

#ifdef UNDER_THREAD_SANITIZER
/* ThreadSanitizer knows nothing of pthread_clockjoin_np. */
bool thread_join_until(pthread_t thread, uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        if (clock_monotonic_ns() >= deadline_ns)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}
#else
bool thread_join_until(pthread_t thread, uint64_t deadline_ns)
{
    const struct timespec until = timespec_of(deadline_ns);
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}
#endif

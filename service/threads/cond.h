#ifndef THREADS_COND_H
#define THREADS_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The only timed waits of the program. All follow the monotonic clock: one that followed the wall
 * clock would last an hour longer after the wall clock was set back by an hour, and leases, watches
 * and the end of the process with it. Deadlines are instants of clock_monotonic_ns.
 */

/* A condition variable for cond_wait_until; ended by pthread_cond_destroy. false: no memory. */
bool cond_init(pthread_cond_t *cond);

/* Wait for a signal; the lock is held before and after. false: the deadline has passed. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns);

/* Join the thread if it ends by then. false: it still runs and was not joined. */
bool thread_join_until(pthread_t thread, uint64_t deadline_ns);

#endif

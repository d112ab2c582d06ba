#ifndef THREADS_CLOCK_H
#define THREADS_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* The shell's clocks; the core gets instants as arguments. */
int64_t clock_wall_us(void);       /* since 1970-01-01 UTC */
uint64_t clock_monotonic_ns(void); /* since some start */
uint64_t clock_thread_ns(void);    /* that the calling thread has had of a processor */

/*
 * Random bytes for identifiers. They are drawn a thousand at a time and stay in memory until they are
 * used: nothing for secrets.
 */
void clock_random(uint8_t *bytes, size_t n);

/* A new UUIDv7 from the wall clock and the system's random numbers. */
void clock_uuid7(char out[37]);

/* A signal ends it early. */
void clock_sleep_ms(long ms);
/* A few milliseconds, more with each attempt from 1 on, by chance: who collided shall not meet
 * again. */
void clock_sleep_for_retry(unsigned attempt);

#endif
